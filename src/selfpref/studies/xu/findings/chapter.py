"""The sentences of the chapter about the released data, by key."""

from selfpref.statements import Statement, estimate, value
from selfpref.studies.xu.findings.cells import (
    BEST,
    BEYOND,
    BEYOND_HOLDS,
    BEYOND_TEXT,
    CORRECTED,
    GAINS,
    GAP,
    HUMAN,
    HUMAN_HOLDS,
    HUMAN_TEXT,
    LAST,
    NEAR_TOP,
    NOISE_OF_PEOPLE,
    NOISE_OF_PEOPLE_HOLDS,
    NOISE_OF_PEOPLE_TEXT,
    WORDS,
    above,
    against_people,
    below,
    chains_of,
    counted,
    covered,
    integrity,
    mean,
    open_models,
)

FINDINGS: dict[str, Statement] = {
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
        NOISE_OF_PEOPLE_TEXT + " ({n:.0f} sentences of each).",
        {**NOISE_OF_PEOPLE, **HUMAN},
        {**NOISE_OF_PEOPLE_HOLDS, "of each": HUMAN_HOLDS["each"]},
    ),
    "human_ceiling": Statement(
        "At the top of the scale the bias of any judge is minus the raters' mean. That of noise at "
        "step 10 is {gpt4_noise:.2f}, {gpt35_noise:.2f} and {gemini_noise:.2f}, and the raters "
        "scored the first texts {gpt4:.2f}, {gpt35:.2f} and {gemini:.2f} (GPT-4, GPT-3.5, Gemini). "
        "Before this ceiling models differ from noise. At step 1, against BLEURT and over the "
        "languages, the bias lies above that of noise for Mixtral ({mixtral_first:+.2f}) and "
        "Gemini ({gemini_first:+.2f}), and below it for GPT-4 ({gpt4_first:+.2f}).",
        {
            **{
                name: NOISE_OF_PEOPLE[name]
                for name in ("gpt4_noise", "gpt35_noise", "gemini_noise")
            },
            "gpt4": value("human", "human_mean", model="gpt-4", step=0),
            "gpt35": value("human", "human_mean", model="gpt-3.5-turbo", step=0),
            "gemini": value("human", "human_mean", model="gemini", step=0),
            **{name: BEYOND[name] for name in ("mixtral_first", "gemini_first", "gpt4_first")},
        },
        {
            "minus the raters' mean": lambda n: (
                max(
                    abs(n.gpt4_noise + n.gpt4),
                    abs(n.gpt35_noise + n.gpt35),
                    abs(n.gemini_noise + n.gemini),
                )
                < NEAR_TOP
            ),
            "above": lambda n: above(n.mixtral_first) and above(n.gemini_first),
            "below": lambda n: below(n.gpt4_first),
        },
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
            "edited": open_models("text_changed"),
            "links": open_models("n"),
            "mixtral": covered("predicted", "mistral_moe", 0),
            "deepseek": covered("predicted", "deepseek_moe", 0),
            "llama": covered("predicted", "llama2-7b", 0),
            "deepseek_announced": integrity("boilerplate", "deepseek_moe", "commongen", 0),
            "llama_announced": integrity("boilerplate", "llama2-7b", "commongen", 0),
        },
        {"none": lambda n: n.edited == 0},
    ),
    "noise": Statement(BEYOND_TEXT + ".", BEYOND, BEYOND_HOLDS),
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
    "matched": Statement(
        "Within bins of BLEURT GPT-4 over-rates its own texts by {gpt4:.2f} points more than "
        "others', GPT-3.5 by {gpt35:.2f} and Gemini by {gemini:.2f}. These three are without a "
        "control. With Gemini's scores of the same texts as control GPT-4 does so by "
        "{control:.2f}; no other judge has a control. The others are translators that are no chat "
        "models; a metric that does not do justice to the fluency of chat models would give the "
        "same sign.",
        {
            "gpt4": estimate("matched", "matched", judge="gpt-4", control="none", **CORRECTED),
            "gpt35": estimate(
                "matched", "matched", judge="gpt-3.5-turbo", control="none", **CORRECTED
            ),
            "gemini": estimate("matched", "matched", judge="gemini", control="none", **CORRECTED),
            "control": estimate("matched", "matched", judge="gpt-4", control="gemini", **CORRECTED),
            "controlled": counted(
                "matched", lambda rows: rows["control"].ne("none").sum(), **CORRECTED
            ),
        },
        {
            "no other": lambda n: n.controlled == 1,
            "more": lambda n: (
                above(n.gpt4) and above(n.gpt35) and above(n.gemini) and above(n.control)
            ),
        },
    ),
    "start": Statement(
        "Before refinement the mean over four languages is {gpt4:.2f} for GPT-4, which includes 0, "
        "and {gemini:.2f} for Gemini, which under-rates itself; it is above 0 for GPT-3.5, "
        "{gpt35:.2f}, Mixtral, {mixtral:.2f}, DeepSeek, {deepseek:.2f}, and Llama2-7B, "
        "{llama:.2f}. Against professional raters ({n:.0f} Yoruba sentences for each model) "
        "GPT-4's is {people:.2f} and Gemini's {gemini_people:.2f}: on the same texts BLEURT, "
        "mapped, lies {least:.1f} to {most:.1f} points above the raters.",
        {
            "gpt4": mean("translation", "bias", "gpt-4", 0),
            "gemini": mean("translation", "bias", "gemini", 0),
            "gpt35": mean("translation", "bias", "gpt-3.5-turbo", 0),
            "mixtral": mean("translation", "bias", "mistral_moe", 0),
            "deepseek": mean("translation", "bias", "deepseek_moe", 0),
            "llama": mean("translation", "bias", "llama2-7b", 0),
            "people": against_people("bias", "gpt-4", 0),
            "gemini_people": against_people("bias", "gemini", 0),
            "n": HUMAN["n"],
            "n_most": HUMAN["n_most"],
            **GAP,
        },
        {
            "includes 0": lambda n: not n.gpt4.excludes(0),
            "under-rates": lambda n: below(n.gemini),
            "above 0": lambda n: (
                above(n.gpt35) and above(n.mixtral) and above(n.deepseek) and above(n.llama)
            ),
            "each": HUMAN_HOLDS["each"],
            "above the raters": lambda n: n.least > 0,
        },
    ),
    "skewness": Statement(
        "D rises by {gpt4:.2f} for GPT-4 and {mixtral:.2f} for Mixtral, and does not rise for "
        "Gemini ({gemini:+.2f}), whose bias comes from below 0: D has no sign. Of {chains:.0f} "
        "chains it rises in {up:.0f} and falls in {down:.0f}, with intervals that exclude 0.",
        {
            "gemini": mean("change", "dskew_change", "gemini"),
            "gpt4": mean("change", "dskew_change", "gpt-4"),
            "mixtral": mean("change", "dskew_change", "mistral_moe"),
            "chains": GAINS["chains"],
            "up": counted("gains", lambda rows: chains_of(rows)["dskew_change_lo"].gt(0).sum()),
            "down": counted("gains", lambda rows: chains_of(rows)["dskew_change_hi"].lt(0).sum()),
        },
        {
            "D rises": lambda n: above(n.gpt4) and above(n.mixtral),
            "does not rise": lambda n: not above(n.gemini),
            "falls": lambda n: n.down > 0,
        },
    ),
    "given_words": Statement(
        "In ten steps bias rises from {first:.2f} to {last:.2f} of the sentences for GPT-4, and "
        "stays below that of the noise judge ({gpt4:+.2f}); GPT-3.5's lies above it "
        "({gpt35:+.2f}) and Gemini's difference ({gemini:+.2f}) includes 0. The feedback of the "
        "open models repeats the instruction, and their texts never change.",
        {
            "gpt4": WORDS["gpt4"],
            "gpt35": WORDS["gpt35"],
            "gemini": WORDS["gemini"],
            "first": covered("bias", "gpt-4", 0),
            "last": covered("bias", "gpt-4", LAST),
            "edited": open_models("text_changed"),
        },
        {
            "rises": lambda n: n.last > n.first,
            "below": lambda n: below(n.gpt4),
            "above": lambda n: above(n.gpt35),
            "includes 0": lambda n: not n.gemini.excludes(0),
            "never": lambda n: n.edited == 0,
        },
    ),
}
