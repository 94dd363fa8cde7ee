"""The LiveBench study's controls: position, excess over other judges, answer keys."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, interval, span, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import BLACK, BLUE, COLUMN, GREY, Look, long
from selfpref.plots.frame import looks as looks_of
from selfpref.plots.save import Plate, nothing
from selfpref.studies.livebench.draw import ALL, CLUSTERS, variants
from selfpref.studies.livebench.draw.names import looks, named

ALPHA = 0.05
KINDS = {"harmful": "own is worse", "neutral": "as good as best", "legitimate": "own is best"}
# Columns of the frame `by_orders`.
QUANTITIES = {
    "chose itself": "own",
    "excess over the others": "excess",
    "chose what it read first": "first",
}
COPIES = "earliest of"
READS = {
    "first position": "first of all responses",
    "earliest of 2 copies": "first of 2 identical",
    "earliest of 3 copies": "first of 3 identical",
    "changed with the order": "changes with the order",
}


def excess(rows: pd.DataFrame, params: Params, *, tasks: bool = False) -> Plate:
    """Each judge's excess of choosing itself, by category or by task; hollow unless Holm rejects.

    Args:
        rows: The frame `excess`.
        params: With `bootstrap`.
        tasks: By task instead of by category, which comes with the plotted numbers.
    """
    table = None if tasks else rows
    shown = rows[rows["task"].ne(ALL).eq(tasks) & rows["excess"].notna()] if len(rows) else rows
    if shown.empty:
        return nothing("no judge with a response of its own and a second judge", table)
    shown = named(shown.sort_values(["category", "task"], kind="stable"))
    shown = shown.assign(value=shown["excess"], hollow=shown["p_holm"].ge(ALPHA))
    figure = forest(
        shown,
        row="task" if tasks else "category",
        group="category" if tasks else None,
        series="judge",
        looks=looks(shown["judge"]),
        hollow="not significant (Holm)",
        label="own share minus the other judges' mean share of the same responses",
    )
    clear = shown.groupby("judge")["hollow"].agg(lambda weak: f"{(~weak).sum()} of {len(weak)}")
    told = caption(
        "How much more often a judge chooses itself than the other judges choose it, on "
        f"{span(shown['n'])} rows of a {'task' if tasks else 'category'}",
        "Different from 0 at 5 % after Holm's adjustment: "
        + ", ".join(f"{judge} {count}" for judge, count in clear.items()),
        "Adjusted over " + ("the tasks of each judge" if tasks else "all categories and judges"),
        "p-values: the signs of question clusters are drawn at random",
        params=params,
        of=CLUSTERS,
    )
    return Plate(figure, table, told)


def position(rows: pd.DataFrame, models: pd.DataFrame, params: Params) -> Plate:
    """Choices by position over all categories: the first candidate, the first of identical ones.

    Args:
        rows: The frame `position`.
        models: The frame of this name.
        params: With `bootstrap` and `livebench`.
    """
    whole = rows[rows["category"].eq(ALL)] if len(rows) else rows
    if whole.empty:
        return nothing("no choice whose order of presentation is known", rows)
    few = params.livebench.few
    # What depends on the position alone comes first.
    shown = named(whole).assign(
        value=whole["share"],
        hollow=whole["n"].lt(few),
        later=~whole["quantity"].str.startswith(COPIES),
        panel=whole["quantity"].map(lambda name: READS.get(name, name)),
    )
    figure = forest(
        shown.sort_values(["later", "quantity", "judge"], kind="stable"),
        row="judge",
        panel="panel",
        looks={"": Look(BLUE)},
        reference="chance",
        limits=(-0.03, 1.03),
        label="share of choices (grey: by chance)",
        width=COLUMN,
        message=_message(shown[~shown["later"] & ~shown["hollow"]]),
    )
    parts = [
        f"{READS.get(name, name)}: {part['n'].sum()} choices on {part['items'].max()} items"
        for name, part in whole.groupby("quantity", sort=True)
    ]
    told = caption(
        "How often each judge takes the response that it reads first, among identical ones and "
        "among all" + _hollow(shown, few),
        "; ".join(parts),
        "Identical: the same word for word; only their position tells them apart",
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, rows, told)


def _hollow(rows: pd.DataFrame, few: int) -> str:
    return f". Hollow: fewer than {few} choices" if rows["hollow"].any() else ""


def _message(copies: pd.DataFrame) -> str:
    """That judges take the first of identical responses, where all of their intervals say so."""
    if copies.empty or not copies["lo"].gt(copies["chance"]).all():
        return ""
    return "Judges favour the first of identical responses"


def position_by_category(rows: pd.DataFrame, models: pd.DataFrame, params: Params) -> Plate:
    """As `position`, by category, a colour a judge.

    Args:
        rows: The frame `position`.
        models: The frame of this name.
        params: With `bootstrap` and `livebench`.
    """
    if rows.empty:
        return nothing("no choice whose order of presentation is known")
    few = params.livebench.few
    shown = named(rows).assign(
        value=rows["share"],
        hollow=rows["n"].lt(few),
        later=~rows["quantity"].str.startswith(COPIES),
        part=rows["category"].ne(ALL),
        panel=rows["quantity"].map(lambda name: READS.get(name, name)),
    )
    figure = forest(
        shown.sort_values(["later", "quantity", "part", "category"]),
        row="category",
        panel="panel",
        series="judge",
        looks=looks(shown["judge"]),
        reference="chance",
        limits=(-0.03, 1.03),
        hollow=f"fewer than {few} choices",
        label="share of choices (grey: by chance)",
    )
    told = caption(
        "How often each judge takes the response that it reads first, by category",
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, None, told)


def by_orders(rows: pd.DataFrame, params: Params) -> Plate:
    """Own share, excess and first position of each judge, by one drawn order and by all orders.

    Args:
        rows: The frame `by_orders`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("every item was read in one order only", rows)
    figure = forest(
        long(named(rows), QUANTITIES, into="quantity"),
        row="judge",
        panel="quantity",
        series="orders",
        looks=looks_of(rows["orders"].unique()),
        label="share of items, difference of shares, share of choices",
    )
    told = caption(
        "The same judges by one drawn order an item, and by all orders: a choice counts if it "
        f"survives them. {span(rows['n'])} items a judge",
        "A judge that picks what it reads first chooses itself by one order as often as by "
        "chance, and by all orders never",
        f"Shares: {wilson(CLUSTERS, params)}; excess: {interval(CLUSTERS, params)}",
    )
    return Plate(figure, rows, told)


def objective(
    rows: pd.DataFrame,
    items: pd.DataFrame,
    models: pd.DataFrame,
    params: Params,
    *,
    categories: bool = False,
) -> Plate:
    """How often a judge chooses itself where its response is worse, as good or best by the key.

    Args:
        rows: The frame `objective`.
        items: The frame of this name.
        models: The frame of this name.
        params: With `bootstrap` and `livebench`.
        categories: By category and by both readings of the key, not over all and by the strict one,
            which comes with the plotted numbers.
    """
    table = None if categories else rows
    if rows.empty or not rows["n"].gt(0).any():
        return nothing("no item with objective scores for all responses", table)
    few, margin = params.livebench.few, params.livebench.margin
    itself, others = "the judge itself", "the other judges, same rows"
    kept = rows if categories else rows[rows["category"].eq(ALL) & rows["scoring"].eq("strict")]
    ordered = named(kept).assign(part=kept["category"].ne(ALL))
    ordered = ordered.sort_values(["scoring", "judge", "part", "category"])
    shown = pd.concat(
        [
            long(ordered, {itself: kind, others: f"others_{kind}"}).assign(
                panel=[f"{scoring}:\n{title}" for scoring in [*ordered["scoring"]] * 2],
                hollow=[n < few for n in [*ordered[f"n_{kind}"]] * 2],
                kind=place,
            )
            for place, (kind, title) in enumerate(KINDS.items())
        ]
    )
    if not categories:
        shown["panel"] = shown["panel"].str.partition("\n")[2]
    figure = forest(
        shown.sort_values(["scoring", "kind"], kind="stable"),
        row="category" if categories else "judge",
        group="judge" if categories else None,
        panel="panel",
        wrap=6,
        looks={itself: Look(BLACK, "*"), others: Look(GREY, "o")},
        reference=None,
        limits=(-0.06, 1.06),
        hollow=f"fewer than {few} rows",
        label="share of such rows on which the judge's response is chosen",
    )
    whole = items[items["task"].eq(ALL)]
    told = caption(
        "How often a judge chooses itself where, by the answer key, its own response is worse than "
        "the best other, as good, or better than all; and how often the other judges choose the "
        "same response on the same rows",
        f"{kept['n'].max()} items; {whole['items'].sum() - whole['keyed'].sum()} without a usable "
        f"key dropped. As good: {f'within {margin:g}' if margin else 'the same score'}",
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, table, told)
