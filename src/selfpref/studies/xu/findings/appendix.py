"""The sentences of the audits and variants about the released data, by key."""

from selfpref.statements import Statement, value
from selfpref.studies.xu.findings.cells import (
    BEST,
    CORRECTED,
    FEWEST,
    FORMAT,
    LAST,
    MOST,
    SHARED,
    SIZE,
    STYLE,
    above,
    audited,
    below,
    counted,
    integrity,
    paraphrases,
    plain_of,
)

FINDINGS: dict[str, Statement] = {
    "files_7b": Statement(
        "Llama2-7B in Yoruba: BLEURT changes in {moved:.0f} places where the text does not, and "
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
        "Llama2-70B in Yoruba: the self-score falls in {begin:.0f} sentences at step 3 and in "
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
        "Gemini in Javanese: {changed:.0f} texts change from step 0 to step 1 while BLEURT does "
        "not. Only the texts of step 0 are of another run; scores and BLEURT fit each other, so "
        "the step stays.",
        {"changed": integrity("text_without_truth", "gemini", "jav_Latn-en", 1)},
        {"change": lambda n: n.changed > 0},
    ),
    "files_second": Statement(
        "A second run of Gemini is there without its texts; its self-score falls in {fell:.0f} "
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
        "Best of k: {files:.0f} files of Llama2-7B do not hold a record a text, and are left out.",
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
    "human_printed": Statement(
        "What is quoted second-hand from the paper's table is met to the last digit printed: of "
        "{values:.0f} values the farthest is {apart:.2f} off.",
        {
            "values": counted("checks", len, item="human"),
            "apart": counted("checks", lambda rows: rows["difference"].abs().max(), item="human"),
        },
        {"met": lambda n: n.apart < 0.05},
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
    "format": Statement(
        "The printed range, {least_printed:.2f} to {greatest_printed:.2f}, quoted second-hand, "
        "does not come out: by the grammar declared here it is {least:.3f} to {greatest:.3f}. Of "
        "Gemini's feedback at step 5 a score can be read from {gemini:.2f}, whatever the grammar.",
        FORMAT,
        {
            "does not come out": lambda n: (
                n.least < n.least_printed and n.gemini.hi < n.least_printed
            )
        },
    ),
    "size": Statement(
        "Before refinement Llama2-70B is about as biased as Llama2-13B: the difference, "
        "{largest_first:+.2f}, includes 0. After ten steps it is less biased, by "
        "{largest_last:+.2f}. Llama2-7B can be compared at step 0 alone, where Llama2-13B is less "
        "biased ({middle:+.2f}): its later steps are mismatched.",
        SIZE,
        {
            "includes": lambda n: not n.largest_first.excludes(0),
            "After ten steps": lambda n: below(n.largest_last),
            "at step 0": lambda n: below(n.middle),
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
}
