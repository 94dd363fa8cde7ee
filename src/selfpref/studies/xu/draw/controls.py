"""Figures of the controls: selection by noise, other runs, equally good texts, wording."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import beyond, caption
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLUE, COLUMN, GREY, SKY, YELLOW, Look, long
from selfpref.plots.frame import looks as looks_of
from selfpref.plots.lines import lines
from selfpref.plots.save import Plate, nothing
from selfpref.studies.xu.draw import BIAS, NOISE, SENTENCES, STEP, looks, only, scores
from selfpref.studies.xu.draw.names import AVERAGE, named

ONE = "one candidate at random"
# Which part of a rise is nearly the whole.
NEARLY = 0.8
KEY = ["language", "model", "k", "convention"]


def refined_by_noise(rows: pd.DataFrame, noise: pd.DataFrame, params: Params) -> Plate:
    """Bias by step, corrected, beside that of a judge of pure noise under the same accept rule.

    Args:
        rows: The frame `translation`, or one of another task with its columns.
        noise: The frame `refined_by_noise`.
        params: With `bootstrap`.
    """
    held, null = only(rows, convention="corrected"), only(noise, convention="corrected")
    null = null[null["language"].isin(held["language"])] if len(held) else held
    if held.empty or null.empty:
        return nothing("no step with scores and truths", noise)
    own = null[null["language"].ne(AVERAGE)]
    drawn_from = f"{own.loc[own['step'].eq(0), 'scores'].sum():g} in all"
    ends = own[own["beyond"].notna()].sort_values("step").groupby(["model", "language"]).tail(1)
    below, above = beyond(ends, "beyond")
    counted = scores(only(rows[rows["language"].ne(AVERAGE)], convention="corrected"))
    if held["language"].eq(AVERAGE).any():
        held, null = only(held, language=AVERAGE), only(null, language=AVERAGE)
    # Where most steps are mismatched nothing measured is left to compare with noise.
    held = held[held.groupby(["model", "language"])["bias"].transform("count").gt(1)]
    null = null[null["model"].isin(held["model"])]
    told = caption(
        "Bias by step, corrected (the mean of the languages where there are several)",
        "Crosses: the same accept rule with scores drawn at random from those that the model gave "
        f"its first texts ({drawn_from}), and no text better or worse for it",
        f"At the last step the measured bias less the crosses has an interval above 0 in {above} "
        f"of {len(ends)} chains (a model and a language each), below 0 in {below}",
        counted,
        params=params,
        of=SENTENCES,
    )
    seen = {"measured": Look(BLUE)} | NOISE
    drawn = [long(held, {"measured": "bias"}), long(null, {"judge of pure noise": "noise_bias"})]
    shown = named(pd.concat(drawn, ignore_index=True))
    several = held["language"].nunique() > 1
    shown["panel"] = shown["model"] + (", " + shown["language"] if several else "")
    place = {name: at for at, name in enumerate(looks(shown["model"]))}
    figure = lines(
        shown.sort_values("model", key=lambda names: names.map(place), kind="stable"),
        x="step",
        label=(STEP, "bias (share)" if "matcher" in held else BIAS),
        looks=seen,
        panel="panel",
        wrap=3,
        reference=0,
        width=COLUMN,
        message=_message(shown[shown["value"].notna()]),
    )
    return Plate(figure, noise, told)


def _message(rows: pd.DataFrame) -> str:
    """That noise rises nearly as much or more, where it does so for every model that is drawn."""
    ends = rows.sort_values("step").groupby(["series", "panel"])["value"].agg(["first", "last"])
    rise = (ends["last"] - ends["first"]).unstack("series")
    alike = rise["judge of pure noise"].ge(NEARLY * rise["measured"]) & rise["measured"].gt(0)
    return "Under this rule random scores rise about as much, or more" if alike.all() else ""


def best_of_k(rows: pd.DataFrame, noise: pd.DataFrame, params: Params) -> Plate:
    """Bias of the best of k by k, beside that of a judge whose scores are noise.

    Args:
        rows: The frame `best_of_k`.
        noise: The frame `best_of_noise`.
        params: With `bootstrap`.
    """
    one = only(rows, convention="corrected")
    known = one[one["n"].gt(0)] if len(one) else one
    if known.empty:
        return nothing("no best-of-k choice with readable scores", rows)
    best = "the model's own choice"
    null = only(noise, convention="corrected").rename(columns={"candidate_mean": "drawn"})
    null = null.merge(known[[*KEY, "truth_mean"]], on=KEY)
    shown = pd.concat(
        [
            long(known, {best: "bias"}),
            long(null, {"judge of pure noise": "noise_bias"}),
            null.assign(series=ONE, value=null["drawn"] - null["truth_mean"]),
        ],
        ignore_index=True,
    )
    figure = lines(
        named(shown).assign(k=pd.Categorical(shown["k"], sorted(set(shown["k"])), ordered=True)),
        x="k",
        label=("candidates k", BIAS),
        looks={best: Look(BLUE)} | NOISE | {ONE: Look(YELLOW, "P", ":")},
        panel="model",
        wrap=3,
        reference=0,
    )
    bare = ", ".join(f"{row.model} k={row.k}" for row in named(only(one, n=0)).itertuples())
    below, above = beyond(one[one["beyond"].notna()], "beyond")
    told = caption(
        "Bias of the candidate that a model scores highest among k of its own; " + scores(one),
        bare and f"Not readable, and not drawn: {bare}",
        "Crosses: the greatest of k scores drawn at random from those that the model gave the "
        f"candidates of this k ({null['scores'].sum():g} in all), whatever their text; plus signs: "
        "the mean of these scores. Both against the truth of the chosen texts",
        f"The model's choice less the crosses has an interval above 0 in {above} of "
        f"{int(one['beyond'].notna().sum())}, below 0 in {below}",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def arms(rows: pd.DataFrame, params: Params) -> Plate:
    """Bias by step under each condition: another run, another accept rule.

    Args:
        rows: The frame `arms`.
        params: With `bootstrap`.
    """
    shown = only(rows, convention="released")
    if shown.empty:
        return nothing("no refinement under a second condition", rows)
    shown = named(shown).sort_values(["language", "model"], kind="stable")
    figure = lines(
        long(shown.assign(panel=shown["model"] + ", " + shown["language"]), {"": "bias"}),
        x="step",
        label=(STEP, BIAS),
        looks=looks_of(shown["condition"]),
        series="condition",
        panel="panel",
        wrap=3,
        reference=0,
    )
    told = caption(
        f"{', '.join(sorted(set(shown['condition'])))}; {shown['n'].sum():g} scores as released",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def matched(rows: pd.DataFrame, params: Params) -> Plate:
    """Own texts against others' texts that are equally good, corrected.

    Args:
        rows: The frame `matched`.
        params: With `bootstrap`.
    """
    shown = only(rows, convention="corrected")
    if shown.empty:
        return nothing("no judge that read its own texts and others'", rows)
    kinds = {"against texts as good": "matched", "against all texts": "difference"}
    drawn = long(named(shown.replace({"control": {"none": ""}})), kinds)
    drawn = drawn.sort_values(["judge", "control"], kind="stable")
    control = drawn["control"].map(lambda name: name and f", controlled by {name}")
    figure = forest(
        drawn.assign(row=drawn["judge"] + control),
        row="row",
        label="over-rating of own texts, beyond that of others' (points)",
        looks=dict(zip(kinds, (Look(BLUE), Look(GREY, "|")), strict=True)),
    )
    one = only(shown, control="none")
    told = caption(
        f"Texts before refinement, corrected: {one['n_own'].sum():g} own, "
        f"{one['n_others'].sum():g} of others. As good: within bins of the reference-metric score, "
        "weighted by the own texts",
        "Controlled by another judge: the gaps are to its scores of the same texts, a difference "
        "in differences",
        _above(one, "without a control"),
        _above(shown[shown["control"].ne("none")], "controlled by another judge"),
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)


def _above(rows: pd.DataFrame, which: str) -> str:
    """How many differences at equal quality have an interval above 0."""
    if rows.empty:
        return ""
    return f"Intervals above 0, {which}: {beyond(rows, 'matched')[1]} of {len(rows)}"


def paraphrase(rows: pd.DataFrame, params: Params) -> Plate:
    """Score, truth and bias before and after a judge has put a translation into its own words.

    Args:
        rows: The frame `style`.
        params: With `bootstrap`.
    """
    shown = only(rows, convention="corrected")
    if shown.empty:
        return nothing("no translator's text that judges have paraphrased", rows)
    panels = {
        "the judge's score": "self_mean",
        "reference-metric score": "truth_mean",
        "bias": "bias",
    }
    shown = named(shown.sort_values(["system", "judge"], kind="stable"))
    drawn = long(shown.assign(row=shown["judge"] + " on " + shown["system"]), panels, into="panel")
    figure = forest(
        drawn.assign(none=drawn["panel"].map({"bias": 0.0})),
        row="row",
        label="points of MQM",
        looks={"translation": Look(SKY, "v"), "paraphrase": Look(BLUE)},
        series="text",
        panel="panel",
        share_x=False,
        reference="none",
    )
    told = caption(
        "A translator's text scored by a judge, and the judge's own paraphrase of it scored by the "
        f"same judge; {scores(shown)}",
        params=params,
        of=SENTENCES,
    )
    return Plate(figure, rows, told)
