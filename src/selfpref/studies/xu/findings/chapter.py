"""The sentences of the chapter about the released data, by key."""

from selfpref.statements import Statement, estimate, value
from selfpref.studies.xu.findings.cells import (
    BEST,
    BEYOND,
    BEYOND_HOLDS,
    BEYOND_TEXT,
    CORRECTED,
    FEWEST,
    FORMAT,
    GAINS,
    GAP,
    HUMAN,
    HUMAN_HOLDS,
    HUMAN_TEXT,
    LAST,
    MOST,
    NOISE_OF_PEOPLE,
    NOISE_OF_PEOPLE_HOLDS,
    NOISE_OF_PEOPLE_TEXT,
    SHARED,
    SIZE,
    SIZE_HOLDS,
    SIZE_TEXT,
    STYLE,
    WORDS,
    above,
    against_people,
    apart_by_chrf,
    audited,
    below,
    chains_of,
    counted,
    covered,
    integrity,
    open_models,
    paraphrases,
    plain_of,
    pooled,
)

FINDINGS: dict[str, Statement] = {
    "files_7b": Statement(
        "`llama2-7b` in Yoruba: BLEURT changes in {moved:.0f} places where the text does not, and "
        "{announced:.0f} texts of step 10 announce a translation. Texts and scores are of "
        "different runs.",
        {
            "moved": counted(
                "integrity",
                lambda rows: plain_of(rows, "truth_without_text").sum(),
                model="llama2-7b",
                language="yor-en",
            ),
            "announced": integrity("boilerplate", "llama2-7b", "yor-en", LAST),
        },
        {"different": lambda n: n.moved > 0},
    ),
    "files_70b": Statement(
        "`llama2-70b` in Yoruba: the self-score falls in {begin:.0f} sentences at step 3 and in "
        "{end:.0f} at step 5, and {announced:.0f} texts of step 3 announce a translation. Between "
        "these steps stands another run.",
        {
            "begin": integrity("self_decreased", "llama2-70b", "yor-en", 3),
            "end": integrity("self_decreased", "llama2-70b", "yor-en", 5),
            "announced": integrity("boilerplate", "llama2-70b", "yor-en", 3),
        },
        {"falls": lambda n: n.begin > 0 and n.end > 0},
    ),
    "files_gemini": Statement(
        "`gemini` in Javanese: {changed:.0f} texts change from step 0 to step 1 while BLEURT does "
        "not. Only the texts of step 0 are of another run; scores and BLEURT fit each other, so "
        "the step stays.",
        {"changed": integrity("text_without_truth", "gemini", "jav_Latn-en", 1)},
        {"change": lambda n: n.changed > 0},
    ),
    "files_second": Statement(
        "A second run of `gemini` is there without its texts; its self-score falls in {fell:.0f} "
        "sentences at step 1, so that its step 0 was scored apart.",
        {
            "fell": value(
                *("integrity", "self_decreased"),
                condition="second-run",
                model="gemini",
                language="yor-en",
                step=1,
            )
        },
        {"falls": lambda n: n.fell > 0},
    ),
    "files_echo": Statement(
        "CommonGen: {rows:.0f} replies in {files:.0f} files repeat the instruction, which holds "
        "the words that the release's rule takes for the verdict.",
        {
            "rows": audited("affected", lambda held: held.sum(), "instruction repeated", ""),
            "files": audited("affected", len, "instruction repeated", ""),
        },
        {"repeat": lambda n: n.rows > 0},
    ),
    "files_best": Statement(
        "Best of k: {files:.0f} files of `llama2-7b` do not hold a record a text, and are left "
        "out.",
        {"files": audited("file", len, "left out", "llama2-7b")},
        {"left out": lambda n: n.files > 0},
    ),
    "unusable": Statement(
        "In Igbo {first:.0f} of {n:.0f} replies of Gemini cannot be read at step 0, and {last:.0f} "
        "at step 5: the share rises.",
        {
            "first": integrity("unusable", "gemini", "ibo_Latn-en", 0),
            "last": integrity("unusable", "gemini", "ibo_Latn-en", SHARED),
            "n": integrity("n", "gemini", "ibo_Latn-en", 0),
        },
        {"rises": lambda n: n.last > n.first},
    ),
    "gains": Statement(
        "Corrected, the self-score rises in {rose:.0f} of {chains:.0f} chains, with an interval "
        "above 0; the reference-metric score does so in only {better:.0f}, and falls in "
        "{worse:.0f}. Its mean is greatest before refinement in {best:.0f}.",
        {
            **GAINS,
            "best": counted("gains", lambda rows: chains_of(rows)["best_step"].eq(0).sum()),
        },
        {
            "rises": lambda n: n.rose > n.chains / 2,
            "only": lambda n: n.better < n.rose / 2,
            "falls": lambda n: n.worse > 0,
        },
    ),
    "human_printed": Statement(
        "What a sheet quotes from the paper's table is met to the last digit printed: of "
        "{values:.0f} values the farthest is {apart:.2f} off.",
        {
            "values": counted("checks", len, item="human"),
            "apart": counted("checks", lambda rows: rows["difference"].abs().max(), item="human"),
        },
        {"met": lambda n: n.apart < 0.05},
    ),
    "human_change": Statement(HUMAN_TEXT + ".", HUMAN, HUMAN_HOLDS),
    "human_quality": Statement(
        "The raters' own score changes by {gpt4:+.2f} (GPT-4), {gpt35:+.2f} (GPT-3.5) and "
        "{gemini:+.2f} (Gemini): a rise shows for none of them.",
        {
            "gpt4": against_people("human_change", "gpt-4"),
            "gpt35": against_people("human_change", "gpt-3.5-turbo"),
            "gemini": against_people("human_change", "gemini"),
        },
        {"none": lambda n: not (above(n.gpt4) or above(n.gpt35) or above(n.gemini))},
    ),
    "human_noise": Statement(
        NOISE_OF_PEOPLE_TEXT + " ({n:.0f} Yoruba sentences for each).",
        {**NOISE_OF_PEOPLE, **HUMAN},
        {**NOISE_OF_PEOPLE_HOLDS, "for each": HUMAN_HOLDS["each"]},
    ),
    "human_gap": Statement(
        "On the same texts BLEURT, mapped, lies {least:.1f} to {most:.1f} points above the human "
        "raters and correlates with them over sentences at {low:.2f} to {high:.2f}. So the level "
        "of a bias depends on whose score is taken for true.",
        {
            **GAP,
            "low": counted("human_truth", lambda rows: rows["correlation"].min()),
            "high": counted("human_truth", lambda rows: rows["correlation"].max()),
        },
        {"above": lambda n: n.least > 0},
    ),
    "second_truth": Statement(
        "Between steps and models chrF and BLEURT agree: over {steps:.0f} steps the corrected "
        "biases correlate at {r:.3f}, and differ by {middle:.2f} points in the median and "
        "{most:.2f} at most. Of the level chrF says nothing, since it is put on BLEURT's scale.",
        {
            "r": counted(
                "second_truth", lambda rows: rows["bias"].corr(rows["bias_chrf"]), **CORRECTED
            ),
            "steps": counted("second_truth", lambda rows: rows["bias"].notna().sum(), **CORRECTED),
            "middle": counted(
                "second_truth", lambda rows: apart_by_chrf(rows).median(), **CORRECTED
            ),
            "most": counted("second_truth", lambda rows: apart_by_chrf(rows).max(), **CORRECTED),
        },
        {"agree": lambda n: 0.95 < n.r <= 1},
    ),
    "commongen": Statement(
        "From step 0 to step 10 GPT-4 comes to say of {gpt4:.0%} instead of {gpt4_first:.0%} of "
        "its sentences that all words are there, and it is true of {true:.0%} instead of "
        "{true_first:.0%}; GPT-3.5 says so of {gpt35:.0%} instead of {gpt35_first:.0%}, and it is "
        "true of {gpt35_true:.0%} instead of {gpt35_true_first:.0%}. What is said rises more than "
        "what is true, which rises too.",
        {
            "gpt4": covered("predicted", "gpt-4", LAST),
            "gpt4_first": covered("predicted", "gpt-4", 0),
            "true": covered("true", "gpt-4", LAST),
            "true_first": covered("true", "gpt-4", 0),
            "gpt35": covered("predicted", "gpt-3.5-turbo", LAST),
            "gpt35_first": covered("predicted", "gpt-3.5-turbo", 0),
            "gpt35_true": covered("true", "gpt-3.5-turbo", LAST),
            "gpt35_true_first": covered("true", "gpt-3.5-turbo", 0),
        },
        {
            "more": lambda n: (
                n.gpt4 - n.gpt4_first > n.true - n.true_first
                and n.gpt35 - n.gpt35_first > n.gpt35_true - n.gpt35_true_first
            ),
            "rises too": lambda n: n.true > n.true_first and n.gpt35_true > n.gpt35_true_first,
        },
    ),
    "commongen_noise": Statement(
        "At step 10 the bias of GPT-4 lies below that of the noise judge ({gpt4:+.2f}) and that of "
        "GPT-3.5 above it ({gpt35:+.2f}); Gemini's difference ({gemini:+.2f}) includes 0.",
        WORDS,
        {
            "below": lambda n: below(n.gpt4),
            "above": lambda n: above(n.gpt35),
            "includes 0": lambda n: not n.gemini.excludes(0),
        },
    ),
    "commongen_open": Statement(
        "The open models of the release are no refinement curves: none of their {links:.0f} pairs "
        "of a step and its predecessor has another text. With the instruction cut off, Mixtral "
        "says “all covered” of {mixtral:.0%} of its sentences at step 0, DeepSeek of "
        "{deepseek:.0%} and Llama2-7B of {llama:.0%}; {deepseek_announced:.0f} of DeepSeek's and "
        "{llama_announced:.0f} of Llama2-7B's texts open with talk about the sentence.",
        {
            "edited": counted("rescoring", lambda rows: open_models(rows)["edited"].sum()),
            "links": counted("rescoring", lambda rows: open_models(rows)["links"].sum()),
            "mixtral": covered("predicted", "mistral_moe", 0),
            "deepseek": covered("predicted", "deepseek_moe", 0),
            "llama": covered("predicted", "llama2-7b", 0),
            "deepseek_announced": integrity("boilerplate", "deepseek_moe", "commongen", 0),
            "llama_announced": integrity("boilerplate", "llama2-7b", "commongen", 0),
        },
        {"none": lambda n: n.edited == 0},
    ),
    "size": Statement(SIZE_TEXT + ".", SIZE, SIZE_HOLDS),
    "noise": Statement(BEYOND_TEXT + ".", BEYOND, BEYOND_HOLDS),
    "rescoring": Statement(
        "Of DeepSeek's gain in the self-score of translations about half, {deepseek:.0%}, came "
        "without any change of the text. Of Llama2's it was {llama7:.0%} (7B), {llama13:.0%} (13B) "
        "and {llama70:.0%} (70B). Of Mixtral's it was little, {mixtral:.0%}, and so for Gemini, "
        "{gemini:.0%}, GPT-3.5, {gpt35:.0%}, and GPT-4, {gpt4:.0%}.",
        {
            "deepseek": pooled("deepseek_moe"),
            "llama7": pooled("llama2-7b"),
            "llama13": pooled("llama2-13b"),
            "llama70": pooled("llama2-70b"),
            "mixtral": pooled("mistral_moe"),
            "gemini": pooled("gemini"),
            "gpt35": pooled("gpt-3.5-turbo"),
            "gpt4": pooled("gpt-4"),
        },
        {
            "half": lambda n: n.deepseek.lo <= 0.5 <= n.deepseek.hi and n.deepseek.lo >= 0,
            "little": lambda n: max(n.mixtral.hi, n.gemini.hi, n.gpt35.hi, n.gpt4.hi) < 0.1,
        },
    ),
    "best_of_k": Statement(
        "Mixtral's bias rises from {few:.2f} at k = {k_few:.0f} to {many:.2f} at k = {k:.0f}. But "
        "in {lower:.0f} of {all:.0f} cases the model's choice has a lower score than the noise "
        "judge's, at the greatest k by {beyond:+.2f} for Mixtral and {deepseek:+.2f} for DeepSeek. "
        "Selection is enough for a rise of this kind.",
        BEST,
        {
            "rises": lambda n: n.many.lo > n.few.hi,
            "lower": lambda n: n.lower > n.all / 2 and below(n.beyond) and below(n.deepseek),
        },
    ),
    "candidates": Statement(
        "The candidates of one k are not those of another with more added: the mean score that "
        "Mixtral gives one of them is {few:.2f} at k = {k_few:.0f} and higher, {many:.2f}, at "
        "k = {k:.0f}.",
        {
            "few": value(
                "best_of_noise", "candidate_mean", model="mistral_moe", k=FEWEST, **CORRECTED
            ),
            "many": value(
                "best_of_noise", "candidate_mean", model="mistral_moe", k=MOST, **CORRECTED
            ),
            "k_few": BEST["k_few"],
            "k": BEST["k"],
        },
        {"higher": lambda n: n.many > n.few},
    ),
    "cross_judge": Statement(
        "Of {readings:.0f} readings {quoting:.0f} quote the text that they are filed under, and "
        "{other:.0f} quote texts of other runs. Of the remaining {unknown:.0f} the text is not "
        "released.",
        {
            "readings": counted("cross_judge", len, **CORRECTED),
            "quoting": counted(
                "cross_judge", lambda rows: rows["reads_its_text"].sum(), **CORRECTED
            ),
            "other": counted(
                "cross_judge",
                lambda rows: (rows["spans"].gt(0) & ~rows["reads_its_text"].astype(bool)).sum(),
                **CORRECTED,
            ),
            "unknown": counted("cross_judge", lambda rows: rows["spans"].eq(0).sum(), **CORRECTED),
        },
        {"remaining": lambda n: n.quoting + n.other + n.unknown == n.readings},
    ),
    "human_twice": Statement(
        "Gemini read the human reference translations twice, and scored them lower the first time, "
        "{first:.2f} against {second:.2f}. What it takes off them is no bias towards a model.",
        {
            "first": value(
                *("cross_judge", "judge_mean"), model="human", judge="gemini", repeat=0, **CORRECTED
            ),
            "second": value(
                *("cross_judge", "judge_mean"), model="human", judge="gemini", repeat=1, **CORRECTED
            ),
        },
        {"lower": lambda n: n.first < n.second},
    ),
    "matched": Statement(
        "Within bins of BLEURT GPT-4 over-rates its own texts by {gpt4:.2f} points more than "
        "others', GPT-3.5 by {gpt35:.2f} and Gemini by {gemini:.2f}; with Gemini's scores of the "
        "same texts as control GPT-4 does so by {control:.2f}. The others are translators that are "
        "no chat models; a metric that does not do justice to the fluency of chat models would "
        "give the same sign.",
        {
            "gpt4": estimate("matched", "matched", judge="gpt-4", control="none", **CORRECTED),
            "gpt35": estimate(
                "matched", "matched", judge="gpt-3.5-turbo", control="none", **CORRECTED
            ),
            "gemini": estimate("matched", "matched", judge="gemini", control="none", **CORRECTED),
            "control": estimate("matched", "matched", judge="gpt-4", control="gemini", **CORRECTED),
        },
        {
            "more": lambda n: (
                above(n.gpt4) and above(n.gpt35) and above(n.gemini) and above(n.control)
            )
        },
    ),
    "style": Statement(
        "BLEURT falls in {fell:.0f} of {pairs:.0f} paraphrases and the bias rises in {rose:.0f}, "
        "with intervals that exclude 0; the judge's own score rises in {kinder:.0f}. GPT-4's bias "
        "towards Madlad's translations changes by {more:+.2f} with its own paraphrase, because its "
        "score rises ({kinder_gpt4:+.2f}) more than BLEURT falls ({text:+.2f}). Gemini's changes "
        "by {gemini_more:+.2f}, because the text gets worse ({gemini_text:+.2f}) and Gemini's "
        "score does not fall with it ({gemini_kinder:+.2f}).",
        {
            "fell": counted("style", lambda rows: paraphrases(rows)["truth_change_hi"].lt(0).sum()),
            "pairs": counted("style", lambda rows: len(paraphrases(rows))),
            "rose": counted("style", lambda rows: paraphrases(rows)["bias_change_lo"].gt(0).sum()),
            "kinder": counted(
                "style", lambda rows: paraphrases(rows)["self_change_lo"].gt(0).sum()
            ),
            **{name: cell for name, cell in STYLE.items() if name != "kinder"},
            "kinder_gpt4": STYLE["kinder"],
        },
        {
            "BLEURT falls": lambda n: n.fell > n.pairs / 2,
            "bias rises": lambda n: n.rose > n.pairs / 2,
            "score rises": lambda n: above(n.kinder_gpt4),
            "more than": lambda n: n.kinder_gpt4.value > -n.text.value > 0,
            "worse": lambda n: below(n.gemini_text),
            "does not fall": lambda n: not n.gemini_kinder.excludes(0),
        },
    ),
    "format": Statement(
        "The printed range, {least_printed:.2f} to {greatest_printed:.2f} by way of a sheet, does "
        "not come out: by the grammar declared here it is {least:.3f} to {greatest:.3f}. Of "
        "Gemini's feedback at step 5 a score can be read from {gemini:.2f}, whatever the grammar.",
        FORMAT,
        {
            "does not come out": lambda n: (
                n.least < n.least_printed and n.gemini.hi < n.least_printed
            )
        },
    ),
}
