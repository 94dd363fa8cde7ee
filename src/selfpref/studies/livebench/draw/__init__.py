"""The figures of the LiveBench study from the frames of `selfpref.studies.livebench.measure`.

`measure.compute` says which function fills which frame; nearly all share its name.

Whom judges choose, and their totals, are drawn here; the tests of self-preference in `controls`.
"""

from collections.abc import Iterable, Iterator

import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.params import Params
from selfpref.plots.captions import caption, span, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, GREY, PAGE, STYLE, Look, empty, legend
from selfpref.plots.heatmap import heatmap
from selfpref.plots.save import Plate, nothing
from selfpref.studies.livebench.draw.names import ITSELF, MODELS, looks, named, titled

ALL = "all"
# What rows are clustered by, and bootstrap intervals resample.
CLUSTERS = "question clusters"
# How the rules of the vote are headed in the figures.
RULES = {
    "released": "vote, as released",
    "corrected": "vote, index corrected",
    "two-of-three": "majority only",
}


def _verdicts(shares: pd.DataFrame, outcomes: pd.DataFrame) -> str:
    """Verdicts in the figure, and what became of the others."""
    one = shares.drop_duplicates(["category", "task", "judge"])
    whole = outcomes[outcomes["task"].eq(ALL)].groupby("outcome")["n"].sum()
    lost = int(whole.drop(["chosen", "tie", "unstable"], errors="ignore").sum())
    judges = ", ".join(sorted(set(named(one)["judge"])))
    counts = {
        "ties": whole.get("tie", 0),
        "ties because the orders disagree": whole.get("unstable", 0),
        "others without a verdict, and dropped": lost,
    }
    n = one.loc[one["task"].eq(ALL), "n"].sum()
    told = (f"{count} {what}" for what, count in counts.items() if count)
    return "; ".join([f"{n} verdicts of {one['judge'].nunique()} judges ({judges})", *told])


def variants(models: pd.DataFrame) -> str:
    """Names that stand for more than one model."""
    told = []
    for responder, part in models.groupby("responder", sort=True):
        kinds = part.groupby("model")["category"].agg(
            lambda names: ", ".join(map(titled, sorted(names)))
        )
        if len(kinds) > 1:
            which = (f"{model.rpartition('/')[2]} in {where}" for model, where in kinds.items())
            told.append(f"{MODELS.get(responder, responder)} is {'; '.join(which)}")
    return ". ".join(told)


def data(items: pd.DataFrame, outcomes: pd.DataFrame, models: pd.DataFrame, params: Params) -> str:
    """How much data there is."""
    if items.empty:
        return "No items."
    whole = items[items["task"].eq(ALL)]
    parts = ", ".join(f"{titled(row.category)} {row.items}" for row in whole.itertuples())
    judged = outcomes[outcomes["task"].eq(ALL)]
    return caption(
        f"{whole['items'].sum()} questions ({parts}) in {whole['clusters'].sum()} clusters; "
        f"{whole['keyed'].sum()} have a usable answer key",
        f"{judged['n'].sum()} choices; {whole['failed'].sum()} ratings have no total",
        variants(models),
        wilson(CLUSTERS, params),
    )


Bar = tuple[float, str, pd.DataFrame]


def _bars(shares: pd.DataFrame, votes: pd.DataFrame) -> Iterator[Bar]:
    """Height, label and shares of each bar: every judge, as a whole and by task, then the votes."""
    at = 0.0
    for task in [ALL, *sorted(set(shares["task"]) - {ALL})]:
        for judge, bar in shares[shares["task"].eq(task)].groupby("judge", sort=True):
            yield at, f"{judge}  {task}, n={bar['n'].iloc[0]}", bar
            at += 1
        at += 0.5
    for rule, heading in RULES.items():
        bar = votes[votes["rule"].eq(rule)]
        if len(bar):
            yield at, f"{heading}, n={bar['n'].iloc[0]}", bar
            at += 1


def _by_category(shares: pd.DataFrame, votes: pd.DataFrame) -> Iterator[Bar]:
    """As `_bars`: of each category every judge as a whole, and the first of the votes."""
    at = 0.0
    for category, part in shares[shares["task"].eq(ALL)].groupby("category", sort=True):
        for judge, bar in part.groupby("judge", sort=True):
            yield at, f"{category}: {judge}, n={bar['n'].iloc[0]}", bar
            at += 1
        cast = votes[votes["category"].eq(category)]
        for rule in [name for name in RULES if cast["rule"].eq(name).any()][:1]:
            yield at, f"{category}: {RULES[rule]}", cast[cast["rule"].eq(rule)]
            at += 1
        at += 0.5


@style.context(STYLE)
def _stacked(bars: list[Bar], responders: Iterable[str], title: str = "") -> Figure:
    """Stacked bars with every percentage printed; what is left is a tie or undecided."""
    seen = looks(pd.Series([*responders]))
    bottom = bars[-1][0] + 1
    figure = empty(PAGE, 0.19 * bottom + 0.85)
    axes = figure.subplots()

    def stretch(at: float, start: float, share: float, color: str, edge: str | None = None) -> None:
        axes.barh(at, share, left=start, height=0.78, color=color, edgecolor=edge, linewidth=0.5)
        # The number of a narrow stretch at an edge stays inside the axes.
        middle = min(max(start + share / 2, 1.6), 98.4)
        axes.text(middle, at, f"{share:.1f}", ha="center", va="center", fontsize=6.5)

    for at, _, bar in bars:
        start = 0.0
        shares = 100 * bar.set_index("responder")["share"].reindex(seen).dropna()
        for name, share in shares.items():
            if share > 0:
                stretch(at, start, share, f"{seen[name].color}8C")
            start += share
        if start < 99.95:
            stretch(at, start, 100 - start, "white", GREY)
    axes.set_yticks([at for at, *_ in bars], [label for _, label, _ in bars])
    axes.set(ylim=(bottom - 0.4, -0.6), xlim=(0, 100), title=title)
    axes.set_xlabel("responses chosen, % of rows (white: tie or undecided)")
    axes.grid(visible=False)
    axes.tick_params(axis="y", labelsize=7)
    for name, look in seen.items():
        axes.barh(0, 0, color=f"{look.color}8C", label=name)
    legend(figure)
    return figure


def overview(
    shares: pd.DataFrame, votes: pd.DataFrame, outcomes: pd.DataFrame, models: pd.DataFrame
) -> Plate:
    """Whom each judge chose in each category, and whom the vote chose.

    Args:
        shares: The frame `preference_shares`.
        votes: The frame `majority_vote`.
        outcomes: The frame of this name.
        models: The frame of this name.
    """
    whole = shares[shares["task"].eq(ALL)]
    if whole.empty or not whole["n"].gt(0).any():
        return nothing("no judge chose a response")
    bars = [*_by_category(named(shares), named(votes))]
    figure = _stacked(bars, named(shares)["responder"])
    told = caption(
        "Whom each judge chose in each category, and the majority vote",
        _verdicts(shares, outcomes),
        variants(models),
    )
    return Plate(figure, None, told)


def released(
    shares: pd.DataFrame,
    votes: pd.DataFrame,
    checks: pd.DataFrame,
    outcomes: pd.DataFrame,
    models: pd.DataFrame,
    category: str,
) -> Plate:
    """One category's pies as bars, every percentage printed; what is left is a tie or undecided.

    Args:
        shares: The frame `preference_shares`.
        votes: The frame `majority_vote`.
        checks: The frame of this name, with the release's percentages.
        outcomes: The frame of this name.
        models: The frame of this name.
        category: Which category.
    """
    part, cast, printed, ended, whose = (
        frame[frame["category"].eq(category)] for frame in (shares, votes, checks, outcomes, models)
    )
    if part.empty or not part["n"].gt(0).any():
        return nothing(f"no judge chose a response in {titled(category)}")
    bars = [*_bars(named(part), named(cast))]
    figure = _stacked(bars, named(part)["responder"], titled(category))
    compared = (
        f"The release prints {len(printed)} of these percentages, rounded to a tenth; the largest "
        f"difference is {printed['difference'].abs().max():.2f} points"
    )
    told = caption(
        f"Whom each judge chose in {titled(category)}, as a whole and by task, and the majority "
        "vote",
        _verdicts(part, ended),
        compared if len(printed) else "",
        f"Models: {'; '.join(whose['responder'] + ': ' + whose['model'])}" if len(whose) else "",
    )
    return Plate(figure, None, told)


def preference_shares(
    shares: pd.DataFrame,
    votes: pd.DataFrame,
    outcomes: pd.DataFrame,
    models: pd.DataFrame,
    params: Params,
    *,
    tasks: bool,
) -> Plate:
    """The same shares with intervals, one panel a category or a task, one row a responder.

    The plotted numbers come with the panels of categories.

    Args:
        shares: The frame `preference_shares`.
        votes: The frame `vote_intervals`; drawn in the panels of categories.
        outcomes: The frame of this name.
        models: The frame of this name.
        params: With `bootstrap`.
        tasks: One panel a task instead of one a category.
    """
    table = None if tasks else shares
    shown = shares[shares["task"].ne(ALL).eq(tasks)]
    if shown.empty or not shown["n"].gt(0).any():
        return nothing("no judge chose a response", table)
    shown, votes = named(shown), named(votes)
    judges = {f"judge {name}": look for name, look in looks(shown["judge"]).items()}
    rules = {RULES["released"]: Look(BLACK, "|"), RULES["corrected"]: Look(GREY, "|")}
    counts = shown.groupby(["category", "task"])["n"].max()
    own = shown["judge"].eq(shown["responder"])
    marks = shown.assign(series=("judge " + shown["judge"]).mask(own, ITSELF))
    if not tasks:
        cast = votes.assign(task=ALL, series=votes["rule"].map(RULES))
        marks = pd.concat([marks, cast[cast["series"].isin(rules)]])
    marks["panel"] = [
        f"{task if tasks else category}, n={counts[category, task]}"
        for category, task in zip(marks["category"], marks["task"], strict=True)
    ]
    figure = forest(
        marks.rename(columns={"share": "value"}).sort_values(["category", "task", "responder"]),
        row="responder",
        panel="panel",
        wrap=3,
        looks={ITSELF: Look(BLACK, "*"), **judges, **rules},
        reference=None,
        limits=(-0.03, 1.03),
        label="share of rows on which the responder is chosen",
    )
    told = caption(
        "Share of rows on which each responder is chosen, by judge; star: by itself",
        _verdicts(shares, outcomes),
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, table, told)


@style.context(STYLE)
def matrices(scores: pd.DataFrame, models: pd.DataFrame) -> Plate:
    """Mean rubric total by judge and responder, one panel a category.

    Args:
        scores: The frame of this name.
        models: The frame of this name.
    """
    key = ["category", "judge", "responder"]
    totals = scores.reindex(columns=[*key, "mean", "n"])
    if not totals["mean"].notna().any():
        return nothing("no judge gave a total")
    # Totals saturate near 11: their shades begin at 8.5, or at a lower mean.
    low = min(8.5, totals["mean"].min())
    rated = totals.assign(
        value=totals["mean"].sub(low) / (11 - low), text=totals["mean"].map("{:.1f}".format)
    )
    cells = named(rated.sort_values(key))
    figure = heatmap(
        cells,
        row="judge",
        column="responder",
        text="text",
        panel="category",
        wrap=cells["category"].nunique(),
        limits=(0, 1),
        label=("responder", "judge"),
        height=0.35,
    )
    for axes in figure.axes if figure else ():
        axes.tick_params(axis="x", rotation=90)
    told = caption(
        f"Mean rubric total of 11, shaded from {low:.1f} to 11; {totals['n'].sum():g} ratings, "
        f"{span(totals['n'])} of each judge for each responder",
        variants(models),
    )
    return Plate(figure, None, told)


def vote_outcomes(ends: pd.DataFrame) -> str:
    """How the votes ended."""
    if ends.empty:
        return "No votes."
    counts = ends.groupby(["rule", "outcome"])["n"].sum()
    lines = [
        f"- {rule}: " + ", ".join(f"{outcome} {n}" for outcome, n in part.droplevel(0).items())
        for rule, part in counts.groupby("rule", sort=True)
    ]
    return "How the votes ended, all categories:\n\n" + "\n".join(lines)
