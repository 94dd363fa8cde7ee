"""Captions of the study of Xu et al.: what a figure shows, with n, what was dropped, the interval.

Every number in a caption comes from the frame that the figure draws.
"""

from functools import partial
from typing import Any

import pandas as pd

from selfpref.plots.intervals import interval
from selfpref.plots.steps import flawed

AVERAGE = "average"
HOLLOW = "Hollow: contaminated steps, left out of the corrected convention"
_interval = partial(interval, "sentences")


def _scores(rows: pd.DataFrame) -> str:
    """Scores, and what of them is unusable, in both conventions."""
    parts = []
    for name, part in rows.groupby("convention", sort=False):
        parts.append(f"{name}: {part['n'].sum():g} scores with a truth")
    one = rows[rows["convention"].eq("released")]
    return f"{'; '.join(sorted(parts, reverse=True))}; {one['unusable'].sum():g} unusable replies"


def rows_used(translation: pd.DataFrame, audit: pd.DataFrame, params: Any) -> str:
    """What the tables hold, and what they are compared with."""
    own = translation[translation["language"].ne(AVERAGE)]
    left = audit["finding"].str.startswith("left out")
    files = (
        f"Files read: {audit['file'].nunique() - audit.loc[left, 'file'].nunique()}, left out: "
        f"{audit.loc[left, 'file'].nunique()}. "
        if len(audit)
        else ""
    )
    return (
        f"Profile `{params.profile}`. {files}Translation: {own['model'].nunique()} models, "
        f"{own['language'].nunique()} languages, {_scores(own)}. True score: "
        f"`{params.xu.truth}`; gamma {params.xu.gamma:g}. {_interval(params)}."
    )


def defects(audit: pd.DataFrame, integrity: pd.DataFrame) -> str:
    """What the checks found, each with its count."""
    if audit.empty:
        return "No released files here, and nothing to check in them."
    lines = []
    for finding, part in audit[audit["finding"].str.startswith("left out")].groupby("finding"):
        # The folder says whose file it is, and of which kind.
        folders = part["file"].str.split("/").str[-2].value_counts(sort=False)
        whose = ", ".join(f"`{name}`" + (f" ({n})" if n > 1 else "") for name, n in folders.items())
        reasons = "; ".join(part["detail"].dropna())
        lines.append(f"- {finding}: {whose}{f' ({reasons})' if reasons else ''}.")
    told = {
        "contaminated": "contaminated",
        "truth_without_text": "the true score moved though the text had not",
        "text_without_truth": "the text changed, its true score did not",
        "self_decreased": "the own score fell, which the accept rule forbids",
    }
    for column, meaning in told.items():
        part = integrity[integrity[column].astype(int).gt(0)]
        cells = "; ".join(
            f"{model} in {_named(language, condition)}, {_ranges(steps)}"
            for (condition, language, model), steps in part.groupby(
                ["condition", "language", "model"]
            )["step"]
        )
        if cells:
            rows = "" if column == "contaminated" else f" ({part[column].sum():g} sentences)"
            lines.append(f"- {meaning}{rows}: {cells}.")
    counts = audit.groupby("finding")["affected"].agg(["size", "sum"])
    shown = ("boilerplate", "blocked text", "blocked", "unparsable", "unknown severity")
    for finding in (*shown, "instruction repeated", "lost characters", "duplicate"):
        if finding in counts.index:
            files, rows = counts.loc[finding]
            lines.append(f"- {finding}: {rows:g} rows in {files:g} files.")
    return "\n".join(lines)


def _named(language: str, condition: str) -> str:
    return f"{language} ({condition})" if condition else language


def _ranges(steps: pd.Series) -> str:
    """Such as `steps 1-3, 5`."""
    ordered = sorted(steps)
    parts: list[list[int]] = []
    for step in ordered:
        if parts and step == parts[-1][-1] + 1:
            parts[-1].append(step)
        else:
            parts.append([step])
    told = ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts)
    return f"step{'s' if len(ordered) > 1 else ''} {told}"


def average(rows: pd.DataFrame, integrity: pd.DataFrame, params: Any) -> str:
    """Curves averaged over languages."""
    mean = rows[rows["language"].eq(AVERAGE)]
    if mean.empty:
        return "No model with scores and truths in several languages."
    spoilt = mean[flawed(mean, integrity) & mean["convention"].eq("released")]
    lacking = ", ".join(sorted(spoilt["model"].unique()))
    note = (
        f" {HOLLOW}: the mean of {lacking} lacks a language there, and is not drawn."
        if lacking
        else ""
    )
    return (
        "Bias and D of each model by step, each the mean of the languages' values, not of pooled "
        f"rows. {rows.loc[rows['language'].ne(AVERAGE), 'language'].nunique()} languages, "
        f"{_scores(mean)}, over all steps. Bands: {_interval(params)}.{note}"
    )


def by_language(rows: pd.DataFrame, integrity: pd.DataFrame, params: Any) -> str:
    """Curves by language."""
    own = rows[rows["language"].ne(AVERAGE)]
    if own.empty:
        return "No step with scores and truths."
    count = int((flawed(own, integrity) & own["convention"].eq("released")).sum())
    largest = own.loc[own["convention"].eq("released"), "n"].max()
    return (
        f"By language and step; {_scores(own)}; at most {largest:g} a step. {HOLLOW} "
        f"({count} steps). Bands: {_interval(params)}."
    )


def band(rows: pd.DataFrame, params: Any) -> str:
    """The grey band of D, and how many cells the signs drawn at random tell from symmetry.

    Args:
        rows: The frame `skewness`.
        params: For the level.
    """
    known = rows[rows["convention"].eq("released") & rows["n"].gt(0)] if len(rows) else rows
    if known.empty:
        return ""
    widest = known.loc[known["n"].idxmax()]
    far = int(known["p"].lt(1 - params.bootstrap.level).sum())
    return (
        f" Grey: where D of {widest['n']:g} values of a normal distribution about 0 lies with "
        f"probability {params.bootstrap.level:.0%} (up to {widest['band_upper']:.3f}). A bootstrap "
        "interval of D never holds 0, so that the band, and signs drawn at random (in the table), "
        f"are the tests: by the latter {far} of {len(known)} steps are asymmetric."
    )


def perceived(rows: pd.DataFrame, human: pd.DataFrame) -> str:
    """Perceived and real quality."""
    if rows.empty:
        return "No step with scores and truths."
    people = f" Stars: human MQM of the first {human['n'].max():g} sentences." if len(human) else ""
    return (
        f"Mean score that a model gives its own texts, and mean true scores; {_scores(rows)}. "
        f"Dotted: usable feedback only. {HOLLOW.split(',', maxsplit=1)[0]}.{people}"
    )


def human(rows: pd.DataFrame, params: Any) -> str:
    """The human study."""
    if rows.empty:
        return "No human ratings here."
    return (
        "Own scores, by the release's rule, against human MQM: bias and D. "
        f"{rows['n'].sum():g} texts, {rows['model'].nunique()} models. {_interval(params)}. "
        "Crosses: printed in the paper, as quoted by others."
    )


def human_gap(rows: pd.DataFrame) -> str:
    """How far the learned metric is from people."""
    if rows.empty:
        return "No human ratings here."
    gap = (rows["truth_mean"] - rows["human_mean"]).mean()
    low, high = rows["correlation"].min(), rows["correlation"].max()
    return (
        f"On the same texts the mapped metric lies {gap:.1f} points above the human raters in the "
        f"mean of {len(rows)} cells, and correlates with them over sentences at {low:.2f} to "
        f"{high:.2f}."
    )


def coverage(rows: pd.DataFrame, params: Any) -> str:
    """Constrained generation."""
    if rows.empty:
        return "No sentence with given concepts."
    one = rows[rows["matcher"].eq(params.xu.matcher)]
    return (
        f"Constrained generation: {one['model'].nunique()} models; {_scores(one)}. True: every "
        "concept is a word of the sentence, or the lemma of one by simplemma's dictionary, which "
        f"knows no part of speech. {HOLLOW}."
    )


def mathematics(rows: pd.DataFrame, params: Any) -> str:
    """Mathematics."""
    if rows.empty:
        return "No problems: the release of the paper has none."
    last = rows.loc[rows.groupby(["model", "condition"])["step"].idxmax()]
    said = "; ".join(
        f"{row.model}, {row.condition}: bias {row.bias:.2f} at step {row.step:g} ({row.n:g} "
        f"problems, {row.unusable:g} without usable feedback)"
        for row in last.itertuples()
    )
    return (
        "Share of answers that the model calls correct, and share whose box holds the right one. "
        f"self-consistency: the judge is the majority of samples. {said}. Bands: "
        f"{_interval(params)}."
    )


def size(rows: pd.DataFrame, integrity: pd.DataFrame, params: Any) -> str:
    """Model size."""
    if rows.empty:
        return "No models that differ in size alone."
    return (
        f"{', '.join(dict.fromkeys(rows['model']))} in {', '.join(sorted(set(rows['language'])))}; "
        f"{_scores(rows)}. {HOLLOW} ({int(flawed(rows, integrity).sum()) // 2} steps). Bands: "
        f"{_interval(params)}."
    )


def best_of_k(rows: pd.DataFrame, noise: pd.DataFrame, params: Any) -> str:
    """Best of k."""
    if rows.empty:
        return "No choices among candidates."
    one = rows[rows["convention"].eq("released")]
    bare = ", ".join(f"{row.model} k={row.k}" for row in one[one["n"].eq(0)].itertuples())
    broken = f" Not readable, and not drawn: {bare}." if bare else ""
    return (
        f"Bias of the candidate that a model scores highest among k of its own; {_scores(rows)}."
        f"{broken} Crosses: the scores drawn at random from all that the model gave its candidates "
        f"({noise.groupby('model')['scores'].max().sum():g} in all), whatever their text. "
        f"{_interval(params)}."
    )


def refined_by_noise(rows: pd.DataFrame, noise: pd.DataFrame, params: Any) -> str:
    """The null curve of refinement."""
    if noise.empty:
        return "No step with scores and truths."
    one = noise[noise["convention"].eq("released") & noise["step"].eq(0)]
    own = one[one["language"].ne(AVERAGE)]
    return (
        "Bias by step, as released (the mean of the languages where there are several). Crosses: "
        "the same rule of acceptance with scores drawn at random from those that the model gave "
        f"its first texts ({own['scores'].sum():g} in all), and no text better or worse for it. "
        f"{_scores(rows[rows['language'].ne(AVERAGE)])}. Bands: {_interval(params)}."
    )


def paraphrase(rows: pd.DataFrame, params: Any) -> str:
    """Style."""
    if rows.empty:
        return "No paraphrases."
    return (
        "A translator's text scored by a judge, and the judge's own paraphrase of it scored by the "
        f"same judge; {_scores(rows)}. {_interval(params)}."
    )


def format_accuracy(rows: pd.DataFrame, steps: tuple[int, ...]) -> str:
    """Format of feedback."""
    here = rows[rows["step"].isin(steps)] if len(rows) else rows
    if here.empty:
        return "No feedback."
    own = here[here["language"].ne(AVERAGE)]
    return (
        f"{own['n'].sum():g} replies at steps {' and '.join(map(str, steps))}; mean of the "
        "languages for models that have all of them. Well formed: every line is a quoted span, a "
        "severity and a category, or the whole reply says that there is no error. The paper's "
        "grammar is not known."
    )


def rescoring(rows: pd.DataFrame) -> str:
    """Re-scoring."""
    if rows.empty:
        return "No chains."
    one = rows[rows["convention"].eq("released")]
    return (
        f"Of {one['links'].sum():g} pairs of a step and its predecessor, {one['edited'].sum():g} "
        f"changed the text and {one['rescored'].sum():g} only the feedback (the number beside each "
        "model). Share of the summed gain in the own score that came with the latter; models "
        "without any gain are not drawn. Intervals resample sentences."
    )


def second_readings(rows: pd.DataFrame) -> str:
    """Cross-judging."""
    if rows.empty:
        return "No text that a second judge read."
    one = rows[rows["convention"].eq("released")]
    sure = int(one["reads_its_text"].sum())
    return (
        f"{len(one)} readings of texts by a judge that did not write them. Filled: the feedback "
        f"quotes the text that it is filed under ({sure} readings); hollow: it does not, or the "
        "text is not released, so that nothing follows from the mark beside it. Right: what the "
        "writer's own score exceeds the judge's by, on the same sentences."
    )


def matched(rows: pd.DataFrame, params: Any) -> str:
    """Own texts against others' of equal quality."""
    if rows.empty:
        return "No judge that read its own texts and others'."
    one = rows[rows["convention"].eq("released") & rows["control"].eq("none")]
    return (
        f"Texts before refinement: {one['n_own'].sum():g} own, {one['n_others'].sum():g} of "
        "others, within bins of the true score, weighted by the own texts. With another judge as "
        "control the gaps are to its scores of the same texts, a difference in differences. Of "
        f"{len(rows)} intervals {int((rows['matched_lo'] > 0).sum())} lie above 0, "
        f"{int((rows['matched_hi'] < 0).sum())} below. {_interval(params)}."
    )


def scale(rows: pd.DataFrame) -> str:
    """The recovered map."""
    if rows.empty:
        return "No text with a raw and a mapped score."
    return (
        f"Recovered from {rows['pairs'].iloc[0]:g} pairs of a raw and a mapped score, "
        f"{rows['values'].iloc[0]:g} different raw values: each has one mapped value, and the map "
        "never falls. Steps of the human scale show as plateaus."
    )


def second_truth(rows: pd.DataFrame) -> str:
    """The second truth."""
    one = rows[rows["convention"].eq("released") & rows["bias"].notna()] if len(rows) else rows
    if one.empty:
        return "No text with a reference and a true score."
    apart = (one["bias_chrf"] - one["bias"]).abs()
    return (
        f"{len(one)} steps. chrF (sacrebleu) is put on the same scale by equal ranks, pooled over "
        f"all of them. The two biases differ by {apart.median():.2f} points in the median, by "
        f"{apart.max():.2f} at most."
    )


def gains(rows: pd.DataFrame, params: Any) -> str:
    """Gains."""
    own = rows[rows["language"].ne(AVERAGE)] if len(rows) else rows
    if own.empty:
        return "No chain of steps with a truth."
    one = own[own["convention"].eq("released")]
    better = int((one["truth_change_lo"] > 0).sum())
    worse = int((one["truth_change_hi"] < 0).sum())
    risen = int((one["self_change_lo"] > 0).sum())
    return (
        f"Change from step 0 to the last step with a truth, {len(one)} chains as released. The own "
        f"score rises in {risen} of them with an interval above 0; the true score rises in "
        f"{better}, falls in {worse}. {_interval(params)}."
    )


def arms(rows: pd.DataFrame, params: Any) -> str:
    """Other conditions."""
    if rows.empty:
        return "No second condition."
    one = rows[rows["convention"].eq("released")]
    return (
        f"{', '.join(sorted(set(one['condition'])))}; {one['n'].sum():g} scores as released. "
        f"Bands: {_interval(params)}."
    )


def unusable(rows: pd.DataFrame) -> str:
    """Unusable feedback."""
    own = rows[rows["condition"].eq("")] if len(rows) else rows
    if own.empty:
        return "No feedback."
    return (
        f"{own['n'].sum():g} replies, {own['unusable'].sum():g} of them without a score that can "
        "be read: blocked, empty, refused, or naming neither error nor the lack of one. Of a "
        "translation the release's rule reads them as perfect."
    )


def fluency(rows: pd.DataFrame) -> str:
    """Length and diversity."""
    own = rows[rows["condition"].eq("")] if len(rows) else rows
    if own.empty:
        return "No refined text."
    return (
        f"{own['n'].sum():g} texts. Distinct pairs of words: different ones among all that a "
        "step's texts hold; it falls with length by itself."
    )


def example(rows: pd.DataFrame, skewness: pd.DataFrame, params: Any) -> str:
    """The schematic figures."""
    if rows.empty:
        return "No such step."
    row = rows.iloc[0]
    bands = skewness.loc[skewness["n"].eq(len(rows)), "band_upper"]
    chance = (
        f" (normal values of this n stay below {bands.iloc[0]:.3f} with probability "
        f"{params.bootstrap.level:.0%})"
        if len(bands)
        else ""
    )
    return (
        f"{len(rows)} sentences of {row['model']}, {row['language']}, step {row['step']}: bias "
        f"{row['bias']:.2f} (orange line), D {row['dskew']:.3f}{chance}."
    )
