"""Where the numbers of the sentences come from, and the sentences that a claim repeats."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from selfpref.statements import (
    AbsentError,
    Cell,
    Estimate,
    Frames,
    estimate,
    value,
)

AVERAGE = "average"
CORRECTED = {"convention": "corrected"}
# The steps that all languages reach, and those of one; the best of so many candidates.
SHARED, LAST, FEWEST, MOST = 5, 10, 4, 32
MADLAD, NLLB = "madlad400-10b-mt", "nllb-moe-54b"
# How near to 0 the end of an interval is that barely excludes it.
BARELY = 0.1
# Points of MQM from the top of the scale at which a mean score is at its ceiling: a minor error.
NEAR_TOP = 1.0
WHERE = "abstract"
# Of these at least one is in every table of the release.
NAMED = ("gpt-4", "mistral_moe")
OPEN = ("mistral_moe", "deepseek_moe", "llama2-7b")


def mean(table: str, column: str, model: str, step: int = SHARED) -> Cell:
    """A number of one model, the mean of the languages, with its interval."""
    return estimate(table, column, language=AVERAGE, model=model, step=step, **CORRECTED)


def text_mean(model: str) -> Cell:
    """The reference-metric score of a model's texts, the mean of the languages."""
    return value(
        *("translation", "truth_mean"), language=AVERAGE, model=model, step=SHARED, **CORRECTED
    )


def counted(table: str, what: Callable[[pd.DataFrame], Any], **where: object) -> Cell:
    """What is counted over a table's rows of the paper's models.

    Args:
        table: The frame.
        what: From its rows, with an empty text where a text is missing, to a number.
        where: Values that choose the rows.
    """

    def found(frames: Frames) -> float:
        rows = frames[table]
        who = rows.get("model", rows.get("judge", pd.Series(dtype=str)))
        if not who.isin(NAMED).any():
            raise AbsentError(table)
        for name, wanted in where.items():
            rows = rows[rows[name].eq(wanted)]
        if pd.isna(made := what(rows)):
            raise AbsentError(table)
        return float(made)

    return found


def audited(column: str, what: Callable[[pd.Series], float], finding: str, inside: str) -> Cell:
    """What is counted over the audit's rows of one finding, in files whose path holds a text."""

    def found(frames: Frames) -> float:
        rows = frames["audit"]
        held = rows["finding"].str.startswith(finding) & rows["file"].str.contains(inside)
        if not held.any():
            raise AbsentError(finding)
        return float(what(rows.loc[held, column]))

    return found


def plain_of(rows: pd.DataFrame, column: str) -> pd.Series:
    """A column of the plain condition."""
    return rows.loc[rows["condition"].fillna("").eq(""), column]


def chains_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Corrected rows of single languages."""
    return rows[rows["convention"].eq("corrected") & rows["language"].ne(AVERAGE)]


def last_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The last step of each chain of translation that has something beyond noise."""
    held = chains_of(rows)
    held = held[held["beyond"].notna() & held["language"].ne("commongen")]
    return held.sort_values("step").groupby(["model", "language"]).tail(1)


def gap_to_people(rows: pd.DataFrame) -> pd.Series:
    """What BLEURT's mean is above the raters'."""
    return rows["truth_mean"] - rows["human_mean"]


def judged_by_noise(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a noise judge beside the model."""
    return rows[rows["beyond"].notna()]


def paraphrases(rows: pd.DataFrame) -> pd.DataFrame:
    """Corrected rows of paraphrases."""
    return rows[rows["convention"].eq("corrected") & rows["text"].eq("paraphrase")]


def turning(rows: pd.DataFrame) -> pd.DataFrame:
    """The biases of GPT-4 and Gemini towards translations, with those of paraphrases as `_after`.

    Args:
        rows: Of one scoring.
    """
    rows = rows[rows["judge"].isin(["gpt-4", "gemini"])].set_index(["system", "judge"])
    before, after = (rows[rows["text"].eq(text)] for text in ("translation", "paraphrase"))
    return before.join(after.add_suffix("_after"), how="inner")


def below(number: Estimate) -> bool:
    """Whether the whole interval lies below 0."""
    return number.hi < 0


def above(number: Estimate) -> bool:
    """Whether the whole interval lies above 0."""
    return number.lo > 0


def integrity(column: str, model: str, language: str, step: int) -> Cell:
    """What the checks count at one step."""
    return counted(
        "integrity",
        lambda rows: plain_of(rows, column).sum(),
        model=model,
        language=language,
        step=step,
    )


def open_models(column: str) -> Cell:
    """What the checks count of the open models' sentences from given words after step 0."""
    return counted(
        "integrity",
        lambda rows: plain_of(rows[rows["model"].isin(OPEN) & rows["step"].gt(0)], column).sum(),
        language="commongen",
    )


def styled(column: str, judge: str, system: str) -> Cell:
    """A change by a judge's paraphrase of a translator's text, with its interval."""
    return estimate("style", column, judge=judge, system=system, text="paraphrase", **CORRECTED)


def chosen(column: str, model: str, k: int) -> Cell:
    """A number of the best of k, with its interval."""
    return estimate("best_of_k", column, model=model, k=k, **CORRECTED)


def covered(column: str, model: str, step: int) -> Cell:
    """A share of the sentences from given words, by lemmas."""
    where = {"model": model, "step": step, "matcher": "lemma"}
    return value("commongen_corrected", column, **where)


def against_people(column: str, model: str, step: int = LAST) -> Cell:
    """A number of the human study with its interval."""
    return estimate("human", column, model=model, step=step)


def given_words(model: str) -> Cell:
    """What the bias of sentences from given words is beyond that of noise at the last step."""
    where = {"language": "commongen", "model": model, "step": LAST}
    return estimate("refined_by_noise", "beyond", **where, **CORRECTED)


def style_bias(judge: str, text: str, system: str = MADLAD) -> Cell:
    """The bias towards a translator's texts or their paraphrases."""
    where = {"judge": judge, "system": system, "text": text}
    return estimate("style", "bias", **where, **CORRECTED)


# What is said of the release alone needs its models.
RELEASE: Mapping[str, Cell] = {"translations": counted("translation", len)}
GAINS: Mapping[str, Cell] = {
    "rose": counted("gains", lambda rows: chains_of(rows)["self_change_lo"].gt(0).sum()),
    "chains": counted("gains", lambda rows: len(chains_of(rows))),
    "better": counted("gains", lambda rows: chains_of(rows)["truth_change_lo"].gt(0).sum()),
    "worse": counted("gains", lambda rows: chains_of(rows)["truth_change_hi"].lt(0).sum()),
}
BEYOND: Mapping[str, Cell] = {
    "gpt4": mean("refined_by_noise", "beyond", "gpt-4"),
    "deepseek": mean("refined_by_noise", "beyond", "deepseek_moe"),
    "mixtral": mean("refined_by_noise", "beyond", "mistral_moe"),
    "gpt35": mean("refined_by_noise", "beyond", "gpt-3.5-turbo"),
    "gemini": mean("refined_by_noise", "beyond", "gemini"),
    "gpt4_first": mean("refined_by_noise", "beyond", "gpt-4", 1),
    "deepseek_first": mean("refined_by_noise", "beyond", "deepseek_moe", 1),
    "mixtral_first": mean("refined_by_noise", "beyond", "mistral_moe", 1),
    "gpt35_first": mean("refined_by_noise", "beyond", "gpt-3.5-turbo", 1),
    "gemini_first": mean("refined_by_noise", "beyond", "gemini", 1),
    "under": counted("refined_by_noise", lambda rows: last_steps(rows)["beyond_hi"].lt(0).sum()),
    "over": counted("refined_by_noise", lambda rows: last_steps(rows)["beyond_lo"].gt(0).sum()),
    "ends": counted("refined_by_noise", lambda rows: len(last_steps(rows))),
    "earliest": counted("refined_by_noise", lambda rows: last_steps(rows)["step"].min()),
    "latest": counted("refined_by_noise", lambda rows: last_steps(rows)["step"].max()),
}
BEYOND_TEXT = (
    "At step 1 the measured bias, the mean of the languages, lies above that of the noise judge "
    "for Mixtral ({mixtral_first:+.2f}) and Gemini ({gemini_first:+.2f}) and below it for GPT-4 "
    "({gpt4_first:+.2f}); DeepSeek's difference ({deepseek_first:+.2f}) and GPT-3.5's "
    "({gpt35_first:+.2f}) include 0. At step 5 it lies below for GPT-4 ({gpt4:+.2f}) and DeepSeek "
    "({deepseek:+.2f}) and above for Gemini ({gemini:+.2f}) and, barely, GPT-3.5 ({gpt35:+.2f}); "
    "Mixtral's lead is gone ({mixtral:+.2f}). Of {ends:.0f} chains, at their last step "
    "({earliest:.0f} to {latest:.0f}), {under:.0f} end below the noise judge and {over:.0f} above "
    "it, with intervals that exclude 0"
)
BEYOND_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    "above at step 1": lambda n: above(n.mixtral_first) and above(n.gemini_first),
    "below at step 1": lambda n: below(n.gpt4_first),
    "include 0": lambda n: not (n.deepseek_first.excludes(0) or n.gpt35_first.excludes(0)),
    "below": lambda n: below(n.gpt4) and below(n.deepseek),
    "above": lambda n: above(n.gemini),
    "barely": lambda n: 0 < n.gpt35.lo < BARELY,
    "gone": lambda n: not n.mixtral.excludes(0),
}
HUMAN: Mapping[str, Cell] = {
    "gpt4": against_people("bias", "gpt-4"),
    "gpt4_first": against_people("bias", "gpt-4", 0),
    "gpt4_more": against_people("bias_change", "gpt-4"),
    "gpt35": against_people("bias", "gpt-3.5-turbo"),
    "gpt35_first": against_people("bias", "gpt-3.5-turbo", 0),
    "gpt35_more": against_people("bias_change", "gpt-3.5-turbo"),
    "gemini": against_people("bias", "gemini"),
    "gemini_first": against_people("bias", "gemini", 0),
    "gemini_more": against_people("bias_change", "gemini"),
    "n": counted("human", lambda rows: rows["n"].min()),
    "n_most": counted("human", lambda rows: rows["n"].max()),
}
HUMAN_TEXT = (
    "Against professional raters, on {n:.0f} Yoruba sentences for each model, bias rises in ten "
    "steps from {gpt4_first:.2f} to {gpt4:.2f} for GPT-4, from {gpt35_first:.2f} to {gpt35:.2f} "
    "for GPT-3.5, and from {gemini_first:.2f} to {gemini:.2f} for Gemini: by {gpt4_more:.2f}, "
    "{gpt35_more:.2f} and {gemini_more:.2f}"
)
HUMAN_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    "each": lambda n: n.n == n.n_most,
    "rises": lambda n: above(n.gpt4_more) and above(n.gpt35_more) and above(n.gemini_more),
}
NOISE_OF_PEOPLE: Mapping[str, Cell] = {
    "gpt4_noise": value("human", "noise_bias", model="gpt-4", step=LAST),
    "gpt35_noise": value("human", "noise_bias", model="gpt-3.5-turbo", step=LAST),
    "gemini_noise": value("human", "noise_bias", model="gemini", step=LAST),
    "gpt4_self": value("human", "self_mean", model="gpt-4", step=LAST),
    "gpt35_self": value("human", "self_mean", model="gpt-3.5-turbo", step=LAST),
    "gemini_self": value("human", "self_mean", model="gemini", step=LAST),
}
NOISE_OF_PEOPLE_TEXT = (
    "A judge of pure noise under the same rule reaches about as much, {gpt4_noise:.2f}, "
    "{gpt35_noise:.2f} and {gemini_noise:.2f}, but all self-scores end near the top of the scale "
    "({gpt4_self:.2f}, {gpt35_self:.2f}, {gemini_self:.2f}): this match tells nothing of the models"
)
NOISE_OF_PEOPLE_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    "about as much": lambda n: (
        max(
            abs(n.gpt4_noise - n.gpt4.value),
            abs(n.gpt35_noise - n.gpt35.value),
            abs(n.gemini_noise - n.gemini.value),
        )
        < NEAR_TOP
    ),
    "near the top": lambda n: min(n.gpt4_self, n.gpt35_self, n.gemini_self) > -NEAR_TOP,
}
GAP: Mapping[str, Cell] = {
    "least": counted("human_truth", lambda rows: gap_to_people(rows).min()),
    "most": counted("human_truth", lambda rows: gap_to_people(rows).max()),
}
STYLE: Mapping[str, Cell] = {
    "more": styled("bias_change", "gpt-4", MADLAD),
    "kinder": styled("self_change", "gpt-4", MADLAD),
    "text": styled("truth_change", "gpt-4", MADLAD),
    "gemini_more": styled("bias_change", "gemini", MADLAD),
    "gemini_kinder": styled("self_change", "gemini", MADLAD),
    "gemini_text": styled("truth_change", "gemini", MADLAD),
}
FORMAT: Mapping[str, Cell] = {
    "least": value("checks", "recomputed", quantity="least share"),
    "least_printed": value("checks", "published", quantity="least share"),
    "greatest": value("checks", "recomputed", quantity="greatest share"),
    "greatest_printed": value("checks", "published", quantity="greatest share"),
    "gemini": estimate("format", "usable", language=AVERAGE, model="gemini", step=SHARED),
}
SIZE: Mapping[str, Cell] = {
    "largest_last": estimate("size", "difference", model="llama2-70b", step=LAST, **CORRECTED),
    "largest_first": estimate("size", "difference", model="llama2-70b", step=0, **CORRECTED),
    "middle": estimate("size", "difference", model="llama2-13b", step=0, **CORRECTED),
}
SIZE_TEXT = (
    "Before refinement Llama2-13B is less biased than Llama2-7B ({middle:+.2f}), and Llama2-70B is "
    "not less biased than Llama2-13B ({largest_first:+.2f}); after ten steps it is "
    "({largest_last:+.2f}). The later steps of Llama2-7B are mismatched. One model family in one "
    "language is all there is"
)
SIZE_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    "is less biased": lambda n: below(n.middle),
    "not less biased": lambda n: not below(n.largest_first),
    "after ten steps it is": lambda n: below(n.largest_last),
}
WORDS: Mapping[str, Cell] = {
    "gpt4": given_words("gpt-4"),
    "gpt35": given_words("gpt-3.5-turbo"),
    "gemini": given_words("gemini"),
}
BEST: Mapping[str, Cell] = {
    "beyond": chosen("beyond", "mistral_moe", MOST),
    "deepseek": chosen("beyond", "deepseek_moe", MOST),
    "few": chosen("bias", "mistral_moe", FEWEST),
    "many": chosen("bias", "mistral_moe", MOST),
    "lower": counted(
        "best_of_k", lambda rows: judged_by_noise(rows)["beyond_hi"].lt(0).sum(), **CORRECTED
    ),
    "all": counted("best_of_k", lambda rows: len(judged_by_noise(rows)), **CORRECTED),
    "k": counted("best_of_k", lambda rows: judged_by_noise(rows)["k"].max(), **CORRECTED),
    "k_few": counted("best_of_k", lambda rows: judged_by_noise(rows)["k"].min(), **CORRECTED),
}
