"""The LiveBench study's controls: excess over other judges, position, answer keys."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, interval, wilson
from selfpref.plots.forest import forest
from selfpref.plots.frame import GREY, ORANGE, Look, long, looks
from selfpref.plots.save import Plate, nothing
from selfpref.studies.livebench.draw import ALL, CLUSTERS, titled, variants

ALPHA = 0.05
KINDS = {"harmful": "own is worse", "neutral": "as good as best", "legitimate": "own is best"}
# Columns of the frame `by_orders`.
QUANTITIES = {
    "chose itself": "own",
    "excess over the others": "excess",
    "chose what it read first": "first",
}


def excess(rows: pd.DataFrame, params: Params) -> Plate:
    """Each judge's excess of choosing itself, by category and by task; hollow unless Holm rejects.

    Args:
        rows: The frame `excess`.
        params: With `bootstrap`.
    """
    if rows.empty or not rows["excess"].notna().any():
        return nothing("no judge with a response of its own and a second judge", rows)
    whole = rows["task"].eq(ALL)
    names = rows["task"].mask(whole, rows["category"].map(titled))
    scope = whole.map({True: "by category", False: "by task"})
    shown = rows.assign(
        name=names, scope=scope, value=rows["excess"], hollow=rows["p_holm"].ge(ALPHA)
    )
    figure = forest(
        shown.sort_values(["scope", "category", "task"]),
        row="name",
        panel="scope",
        wrap=2,
        rows_by_panel=True,
        series="judge",
        looks=looks(set(rows["judge"])),
        hollow="not significant (Holm)",
        label="own share minus the other judges' mean share of the same responses",
    )
    counts = shown.groupby(["scope", "judge"])["hollow"].agg(
        lambda weak: f"{(~weak).sum()} of {len(weak)}"
    )
    found = [
        f"{name}: {', '.join(f'{judge} {count}' for judge, count in part.droplevel(0).items())}"
        for name, part in counts.groupby("scope")
    ]
    told = caption(
        "How much more often a judge chooses itself than the other judges choose it on the same "
        f"{rows.loc[whole, 'n'].max()} or fewer rows of a category",
        f"Different from 0 at 5 % after Holm's adjustment, {'; '.join(found)}",
        "Families: all categories and judges; the tasks of each judge",
        "p by random signs of the clusters' sums",
        params=params,
        of=CLUSTERS,
    )
    return Plate(figure, rows, told)


def position(rows: pd.DataFrame, models: pd.DataFrame, params: Params) -> Plate:
    """Choices by position in the prompt: the first candidate, and the earliest of identical ones.

    Args:
        rows: The frame `position`.
        models: The frame of this name.
        params: With `bootstrap` and `livebench`.
    """
    if rows.empty:
        return nothing("no choice whose order of presentation is known", rows)
    few = params.livebench.few
    shown = rows.assign(
        value=rows["share"],
        name=rows["category"].map(titled),
        hollow=rows["n"].lt(few),
        later=~rows["quantity"].str.startswith("first"),
        part=rows["category"].ne(ALL),
    )
    figure = forest(
        shown.sort_values(["later", "quantity", "part", "category"]),
        row="name",
        panel="quantity",
        series="judge",
        looks=looks(set(rows["judge"])),
        reference="chance",
        limits=(-0.03, 1.03),
        hollow=f"fewer than {few} choices",
        label="share of choices (grey: by chance)",
    )
    whole = rows[rows["category"].eq(ALL)].groupby("quantity", sort=True)
    parts = [
        f"{quantity}: {part['n'].sum()} choices on {part['items'].max()} items"
        for quantity, part in whole
    ]
    told = caption(
        "How choices depend on the position in the prompt",
        "; ".join(parts),
        "Grey: by chance",
        "Copies say word for word the same; only their position tells them apart",
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, rows, told)


def by_orders(rows: pd.DataFrame, params: Params) -> Plate:
    """Own share, excess and first position of each judge, by one drawn order and by all orders.

    Args:
        rows: The frame `by_orders`.
        params: With `bootstrap`.
    """
    if rows.empty:
        return nothing("every item was read in one order only", rows)
    figure = forest(
        long(rows, QUANTITIES, into="quantity"),
        row="judge",
        panel="quantity",
        series="orders",
        looks=looks(rows["orders"].unique()),
        label="share of items, difference of shares, share of choices",
    )
    told = caption(
        "The same judges by one drawn order an item, and by all orders: a choice counts if it "
        f"survives them. {rows['n'].min()} to {rows['n'].max()} items a judge",
        "A judge that picks what it reads first chooses itself by one order as often as by "
        "chance, and by all orders never",
        f"Shares: {wilson(CLUSTERS, params)}; excess: {interval(CLUSTERS, params)}",
    )
    return Plate(figure, rows, told)


def objective(
    rows: pd.DataFrame, items: pd.DataFrame, models: pd.DataFrame, params: Params
) -> Plate:
    """How often a judge chooses itself where its response is worse, as good or best by the key.

    Args:
        rows: The frame `objective`.
        items: The frame of this name.
        models: The frame of this name.
        params: With `bootstrap` and `livebench`.
    """
    if rows.empty or not rows["n"].gt(0).any():
        return nothing("no item with objective scores for all responses", rows)
    few, margin = params.livebench.few, params.livebench.margin
    itself, others = "the judge itself", "the other judges, same rows"
    ordered = rows.assign(part=rows["category"].ne(ALL), name=rows["category"].map(titled))
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
    figure = forest(
        shown.sort_values(["scoring", "kind"], kind="stable"),
        row="name",
        group="judge",
        panel="panel",
        wrap=6,
        looks={itself: Look(ORANGE, "D"), others: Look(GREY, "o")},
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
        f"{rows['n'].max()} items; {whole['items'].sum() - whole['keyed'].sum()} without a usable "
        f"key dropped. Hollow: fewer than {few} rows. Equal: within {margin:g}",
        variants(models),
        wilson(CLUSTERS, params),
    )
    return Plate(figure, rows, told)
