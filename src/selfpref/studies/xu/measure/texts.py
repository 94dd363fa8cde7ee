"""The texts themselves: format, another reference metric, length and diversity."""

import itertools
import re

import numpy as np
import pandas as pd

from selfpref.statistics.shares import share_interval
from selfpref.studies.xu import feedback
from selfpref.studies.xu.measure.grid import AVERAGE, grid
from selfpref.studies.xu.measure.rows import (
    CONVENTIONS,
    Settings,
    chained,
    paper_chains,
    read_as,
    truth_of,
)
from selfpref.studies.xu.truths import chrf, quantile_map, recovered

_WORD = re.compile(r"\w+")


FORMS = ("well_formed", "but_for_cut", "usable")


def format_accuracy(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.shares`).

    Returns:
        `language` (and `average`, the mean of the languages), `model, step, n`, and the shares
        `well_formed` (`selfpref.studies.xu.feedback.well_formed`), `but_for_cut` (well formed, or
        so but for a last line that was cut off) and `usable` (a score can be read), each with its
        bounds.
    """
    own = paper_chains(rows, "mqm")
    own = own[own["reply"].notna()]
    whole = [feedback.well_formed(reply) for reply in own["reply"]]
    cut = [
        good or feedback.well_formed(_without_last_line(reply))
        for good, reply in zip(whole, own["reply"], strict=True)
    ]
    own = own.assign(
        well_formed=whole, but_for_cut=cut, usable=own["status"].eq("ok"), weight=1.0
    ).rename(columns={"responder": "model"})
    languages = own["language"].nunique()
    cell = own.groupby(["language", "model", "step"])["weight"].transform("size")
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    # Each language counts the same, however many replies it has.
    mean = own.assign(language=AVERAGE, weight=1 / cell)[held.eq(languages) & (languages > 1)]
    level, found = settings.bootstrap.level, []
    for place in (own, mean):
        for values, part in place.groupby(["language", "model", "step"]):
            row: dict[str, object] = dict(zip(("language", "model", "step"), values, strict=True))
            row["n"] = len(part)
            for name in FORMS:
                each = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                row |= share_interval(each, part["cluster"], level).columns(name)
            found.append(row)
    bounded = [f"{name}{end}" for name in FORMS for end in ("", "_lo", "_hi")]
    return pd.DataFrame(found, columns=["language", "model", "step", "n", *bounded])


def _without_last_line(reply: str) -> str:
    return reply.rstrip().rpartition("\n")[0]


def second_truth(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Bias and D against chrF, on the scale of the truth by pooled quantile mapping.

    chrF compares characters with the reference and is no neural metric. Its scores of all texts in
    all languages and steps are put beside their true scores rank by rank; mismatched steps too,
    since chrF is that of the text at hand.

    Returns:
        `language, model, step, convention, truth_mean, chrf` (0..100), `chrf_mean` (mapped), `bias,
        bias_chrf, dskew, dskew_chrf, n` (of chrF); the scores are of `released` or `corrected`.
    """
    own = paper_chains(rows, "mqm")
    own = own[own["text"].notna() & own["reference"].notna()]
    own = own.assign(chrf=chrf(own["text"], own["reference"]))
    paired = own[own["truth"].notna()]
    columns = ["language", "model", "step", "convention", "truth_mean", "chrf", "chrf_mean"]
    columns += ["bias", "bias_chrf", "dskew", "dskew_chrf", "n"]
    if paired.empty:
        return pd.DataFrame(columns=columns)
    scale = quantile_map(paired["chrf"].to_numpy(), paired["truth"].to_numpy())
    own = own.assign(mapped=scale(own["chrf"].to_numpy()))
    key = ["language", "responder", "step"]
    found = []
    for convention in CONVENTIONS:
        read = read_as(own, convention)
        first, second = (
            grid(read.assign(truth=read[name]), key, settings) for name in ("truth", "mapped")
        )
        table = second.cells.drop(columns="unusable").assign(convention=convention)
        for held, end in ((first, ""), (second, "_chrf")):
            whole = held.statistics(np.ones((held.clusters, 1)))
            once = {name: values[:, 0] for name, values in whole.items()}
            table[f"bias{end}"], table[f"dskew{end}"] = once["bias"], once["dskew"]
            table["chrf_mean" if end else "truth_mean"] = once["truth"]
        raw = read[read["said"].notna()].groupby(key)["chrf"].mean().reset_index()
        found.append(table.merge(raw, on=key, how="left"))
    return pd.concat(found, ignore_index=True).rename(columns={"responder": "model"})[columns]


def scale(truths: pd.DataFrame) -> pd.DataFrame:
    """The map from BLEURT to the scale of MQM, recovered from texts that have both.

    Returns:
        `bleurt, mqm`: the knots of the map, without those inside a straight line's plateau; the
        numbers of pairs and of different values as `pairs` and `values`, the same in each row.
    """
    both = truths[truths["metric"].isin(["bleurt", "bleurt-mqm"])]
    wide = both.pivot(index=["item_id", "responder", "step"], columns="metric", values="score")
    if not {"bleurt", "bleurt-mqm"} <= set(wide):
        return pd.DataFrame(columns=["bleurt", "mqm", "pairs", "values"])
    wide = wide.dropna()
    held = recovered(wide["bleurt"].to_numpy(), wide["bleurt-mqm"].to_numpy())
    level = held.mapped
    inner = np.zeros(len(level), dtype=bool)
    inner[1:-1] = (level[1:-1] == level[:-2]) & (level[1:-1] == level[2:])
    knots = pd.DataFrame({"bleurt": held.raw[~inner], "mqm": level[~inner]})
    return knots.assign(pairs=len(wide), values=len(level))


def fluency(
    responses: pd.DataFrame, rows: pd.DataFrame, perplexities: pd.DataFrame
) -> pd.DataFrame:
    """Length and diversity of the refined texts, and their perplexity to models that wrote none.

    Returns:
        `condition, language, model, step, n, words` (mean a text), `distinct_1` and `distinct_2`
        (different words and pairs of words, of all that the step's texts hold), and `nats` (mean
        negative log-likelihood a token under other models; NaN where nobody computed it).
    """
    own = chained(rows)
    key = ["item_id", "responder", "step"]
    texts = own[["condition", "language", *key]].merge(
        responses.loc[responses["sample"].eq(0), [*key, "text"]], on=key
    )
    others = perplexities[
        perplexities["judge"].ne(perplexities["responder"]) & perplexities["status"].eq("ok")
    ]
    sums = others.groupby(key)[["sum_nll", "n_tokens"]].sum()
    texts = texts.join(sums, on=key)
    found = []
    for cell, part in texts.groupby(["condition", "language", "responder", "step"]):
        words = [_WORD.findall(text.lower()) for text in part["text"]]
        pairs = [list(itertools.pairwise(line)) for line in words]
        held = part["n_tokens"].sum()
        found.append(
            dict(zip(("condition", "language", "model", "step"), cell, strict=True))
            | {
                "n": len(part),
                "words": float(np.mean([len(line) for line in words])),
                "distinct_1": _distinct(words),
                "distinct_2": _distinct(pairs),
                "nats": part["sum_nll"].sum() / held if held else np.nan,
            }
        )
    columns = ["condition", "language", "model", "step", "n", "words", "distinct_1", "distinct_2"]
    return pd.DataFrame(found, columns=[*columns, "nats"])


def _distinct(lines: list[list[str]] | list[list[tuple[str, str]]]) -> float:
    every = [piece for line in lines for piece in line]
    return len(set(every)) / len(every) if every else np.nan


def human_truth(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mean human MQM by step beside the truth used here, on the same sentences.

    Returns:
        `language, model, step, human_mean` with its bounds, `truth_mean, n, correlation` (over
        sentences).
    """
    own = paper_chains(rows)
    own = own.assign(human=truth_of(own, truths, "human-mqm"))
    own = own[own["human"].notna() & own["truth"].notna()]
    found: list[dict[str, object]] = []
    for (language, model, step), part in own.groupby(["language", "responder", "step"]):
        names = ("human truth", str(language), str(model), str(step))
        mean = settings.intervals.mean(part["human"], part["cluster"], *names)
        row: dict[str, object] = {"language": language, "model": model, "step": step}
        row |= mean.columns("human_mean") | {"truth_mean": part["truth"].mean(), "n": len(part)}
        found.append(row | {"correlation": part["human"].corr(part["truth"])})
    columns = ["language", "model", "step", "human_mean", "truth_mean", "n", "correlation"]
    return pd.DataFrame(found, columns=[*columns, "human_mean_lo", "human_mean_hi"])
