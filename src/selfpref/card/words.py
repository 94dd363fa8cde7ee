"""A judge's card in plain words: blocks of numbers, each with a sentence.

A number is `value [lo, hi]`. One that rests on fewer than ten pairs of a human side is marked "too
few"; one that does not exist says why.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# A card as JSON holds it, or a part of one.
Row = Mapping[str, Any]


# The first table: the key of the JSON, and the name of the column.
COLUMNS = {
    "judge": "judge",
    "answer": "answer",
    "equal_opportunity": "EO",
    "no_preference": "a person's EO",
    "regression_scaled": "its own term",
}


class Block(NamedTuple):
    """A part of a card.

    Attributes:
        title: What it is about.
        sentence: What it says, in plain words.
        lines: Name and number of each row.
    """

    title: str
    sentence: str
    lines: list[tuple[str, str]]


# Names of rows, by key of the JSON. These are shares; all other numbers have a sign.
SHARES = {
    "harmful": "harmful",
    "legitimate": "legitimate",
    "agreement": "agreement with people",
    "first_position": "chooses the first, of all verdicts",
    "flips": "the verdict changes with the order",
    "reversals": "the winner reverses with the order",
}
READ = ("agreement", "first_position", "flips", "reversals")
NAMES = SHARES | {
    "equal_opportunity": "equal opportunity",
    "no_preference": "a person in its place (no preference)",
    "beyond_no_preference": "beyond that person, on the same votes",
    "demographic_parity": "demographic parity",
    "dbg": "DBG score",
    "excess": "excess, each judge on its own pairs",
    "excess_common": "excess, pairs that all decide",
    "excess_half_ties": "excess, judges' ties as halves",
    "regression_scaled": "its own responses, a scale for each judge",
    "regression": "its own responses, one scale for all",
    "latent_quality": "its own responses, latent quality",
}
NEEDED = {
    "equal_opportunity": "equal opportunity",
    "excess": "excess",
    "regression_scaled": "regression",
}
# Where people voted: title, sentence, and the numbers below it.
VOTED = (
    (
        "Equal opportunity",
        "Where people prefer its response, it agrees in {agrees_own} of {n_own} pairs; where they "
        "prefer the other, in {agrees_other} of {n_other}. Equal opportunity is the difference, "
        "above 0 if it sides with itself. A person in its place would show one too, where the "
        "responses of one side are better: compare the two, on pairs with two votes.",
        ("equal_opportunity", "no_preference", "beyond_no_preference"),
    ),
    (
        "How often it chooses itself",
        "It chooses its own response in {chosen} of the {n} pairs that it and people decide; "
        "people choose it in {won}. Demographic parity is its share alone, from -1 (never) to +1 "
        "(always); the DBG score is its share less that of people, ties as halves.",
        ("demographic_parity", "dbg"),
    ),
    (
        "When it chooses itself",
        "How often its own response wins where people prefer the other one (harmful: a judge that "
        "follows people has 0), and where they prefer its own (legitimate: 1).",
        ("harmful", "legitimate"),
    ),
    (
        "Against the other judges",
        "How much more it favours its responses than the other judges of the file favour the same "
        "ones, in equal opportunity. A judge with less noise than the others shows an excess as "
        "well.",
        ("excess", "excess_common", "excess_half_ties"),
    ),
    (
        "Regression",
        "What it adds to the probability of its own response being chosen, controlling for who "
        "wrote the responses, for people's votes and, with a scale for each judge, for the "
        "judge's noise: that number decides the first line. A placebo is the same for responses "
        "that are not its own. With latent quality judges and people are all readers of what each "
        "pair is worth.",
        ("regression_scaled", "latent_quality", "regression"),
    ),
)
UNVOTED = Block(
    "Nobody voted on its pairs",
    "Without people's votes nobody knows which responses are better, so a preference for one's own "
    "cannot be told from a preference for better ones. Give votes on the same items with --votes.",
    [],
)


def shown(estimate: Row, sign: bool = False) -> str:
    """`value [lo, hi]`, with its counts; or why there is none."""
    if estimate["value"] is None:
        return f"none: {estimate.get('reason') or 'no such pairs'}"
    form = "{:+.2f}" if sign else "{:.2f}"
    values = [
        "" if estimate[key] is None else form.format(round(estimate[key], 2) + 0.0)
        for key in ("value", "lo", "hi")
    ]
    text = values[0] + (f" [{values[1]}, {values[2]}]" if values[1] else "")
    text += f", n {estimate['n']:g}"
    if "human_own" in estimate:
        text += f" (people prefer own {estimate['human_own']}, other {estimate['human_other']})"
    return text + (", too few" if estimate.get("few") else "")


def _rows(card: Row, keys: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(NAMES[key], shown(card[key], key not in SHARES)) for key in keys]


def _shares(cells: Row) -> dict[str, object]:
    """What the judge does where people prefer its response, and where they prefer the other."""
    tp, fn, fp, tn = (cells[name] for name in ("tp", "fn", "fp", "tn"))

    def percent(part: float, whole: float) -> str:
        return f"{100 * part / whole:.0f} %" if whole else "none"

    n_own, n_other, n = tp + fn, fp + tn, tp + fn + fp + tn
    return {
        **{"n_own": n_own, "n_other": n_other, "n": n},
        **{"agrees_own": percent(tp, n_own), "agrees_other": percent(tn, n_other)},
        **{"chosen": percent(tp + fp, n), "won": percent(n_own, n)},
    }


def blocks(judge: str, card: Row) -> list[Block]:
    """The card of one judge with own responses."""
    counted = _shares(card["cells"])
    pairs = Block(
        "The pairs",
        f"{judge} read {card['pairs']} pairs with a response of its own. People voted on "
        f"{card['voted']} of them and tied {card['human_ties']}; it tied {card['judge_ties']} and "
        f"gave no verdict on {card['no_verdict']}.",
        [("pairs with a vote and a verdict, no ties", str(counted["n"]))],
    )
    position = Block(
        "Agreement and position",
        "How often it and the majority of people prefer the same response, over all pairs that "
        "both decide; and, on its own pairs, how often it prefers what it read first (0.50 is "
        "even) and says something else once the two are swapped.",
        _rows(card, READ),
    )
    if not card["voted"]:
        return [pairs, UNVOTED, position]
    told = [Block(title, said.format(**counted), _rows(card, keys)) for title, said, keys in VOTED]
    told[-1].lines.extend(
        (f"placebo: {name}'s responses", shown(row, True))
        for name, row in card["placebo"].items()
        if name != judge
    )
    towards = Block(
        "Towards every responder",
        "Equal opportunity towards the responses of each, its own among them: where people prefer "
        "the responder's, how often it agrees, less how often it prefers them where people do not. "
        "What it shows towards others is no self-preference.",
        [(name, shown(row, True)) for name, row in card["towards"].items()],
    )
    needed = {name: f"{number} pairs" for name, number in card["pairs_to_show_0.1"].items()}
    planned = Block(
        "How many pairs it takes",
        "With so many voted pairs with its own response, a bias of 0.1 would be seen in four files "
        "of five (power 80 %, level 5 %), if they are like these. This file has "
        f"{card['voted']}.",
        [(of, needed.get(key, "cannot be planned from this file")) for key, of in NEEDED.items()],
    )
    return [pairs, *told, towards, position, planned]


def table(found: Row) -> list[tuple[str, ...]]:
    """A line a judge with own responses, below the names of `COLUMNS`."""
    return [
        (judge, card["answer"], *(brief(card[key]) for key in [*COLUMNS][2:]))
        for judge, card in found["judges"].items()
    ]


def brief(estimate: Row) -> str:
    """`value [lo, hi]`, marked where it rests on too few pairs; a dash where there is none."""
    if estimate["value"] is None:
        return "-"
    shown = [
        f"{round(estimate[key], 2) + 0.0:+.2f}"
        for key in ("value", "lo", "hi")
        if estimate[key] is not None
    ]
    return (
        shown[0]
        + (f" [{', '.join(shown[1:])}]" if shown[1:] else "")
        + (" few" if estimate.get("few") else "")
    )


def written(made: Row) -> list[str]:
    """By what, when, of what and how a card was made."""
    files = [f"{name} (sha256 {digest})" for name, digest in made["files"].items()]
    how = f"{made['resamples']} resamples, seed {made['seed']}, level {made['level']}"
    options = f"; options {made['options']}" if made["options"] else ""
    return [
        f"written by selfpref {made['selfpref']} on {made['date']}; {how}{options}",
        *(["of " + ", ".join(files)] if files else []),
    ]


def who(found: Row) -> list[str]:
    """Who is who, a line each."""

    def told(names: Mapping[str, str | None]) -> str:
        joined = "{} (nearest name: {}; join them with --alias)"
        return "; ".join(joined.format(*pair) if pair[1] else pair[0] for pair in names.items())

    alone, unmatched = nearest(found), found["names_that_match_nothing"]
    unjudged = found["voted_pairs_that_nobody_judged"]
    lines = [f"judges with own responses: {', '.join(found['judges']) or 'none'}"]
    lines += [f"judges without own responses: {told(alone)}"] if alone else []
    lines += [f"names that match nothing: {told(unmatched)}"] if unmatched else []
    lines += [f"voted pairs that nobody judged: {unjudged}"] if unjudged else []
    if found["labels_are_a_key"]:
        lines.append('the labels are an answer key\'s: read "the key" for "people" below')
    return [*lines, "numbers below: value [95 % interval], n, the pairs that it rests on"]


def nearest(found: Row) -> dict[str, str | None]:
    """The judges without own responses, each with the responder of nearly the same name."""
    alone = found["judges_without_own_responses"]
    return {judge: card["nearest_responder"] for judge, card in alone.items()}


def first(found: Row) -> list[tuple[str, str]]:
    """What the first lines answer, in two parts, a judge each."""
    if not found["judges"]:
        near = [f"{other}={name}" for other, name in nearest(found).items() if name]
        remedy = f"; if two names are one's: --alias {near[0]}" if near else ""
        return [("cannot tell", f"no judge wrote a response that it judged{remedy}")]
    return [
        (f"{judge}: {card['answer']}", card["because"]) for judge, card in found["judges"].items()
    ]


def cards(found: Row) -> dict[str, list[Block]]:
    """The blocks of each judge, those without own responses last."""
    made = {judge: blocks(judge, card) for judge, card in found["judges"].items()}
    for judge, card in found["judges_without_own_responses"].items():
        made[judge] = [Block("", "It wrote none of the responses.", _rows(card, READ))]
    return made


class Parts(NamedTuple):
    """A card as it is shown.

    Attributes:
        first: What the first lines answer, in two parts, a judge each.
        table: The same with the numbers, a judge each, below the names of the columns.
        who: Who is who, a line each.
        cards: The blocks of each judge; one that wrote nothing has a block without title.
        written: By what, when, of what and how, a line each.
    """

    first: list[tuple[str, str]]
    table: list[tuple[str, ...]]
    who: list[str]
    cards: dict[str, list[Block]]
    written: list[str]


def parts(found: Row) -> Parts:
    """The cards of a set of judgments."""
    lines = table(found)
    head = [tuple(COLUMNS.values())] if lines else []
    return Parts(first(found), [*head, *lines], who(found), cards(found), written(found["made"]))


def brief_text(shown: Parts) -> str:
    """A line a judge, and why."""
    lines = []
    if shown.table:
        widths = [max(map(len, column)) for column in zip(*shown.table, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in shown.table
        ]
    return "\n".join([*lines, *(f"{said}, because {why}" for said, why in shown.first)])


def text(shown: Parts) -> str:
    """Answers, who is who, and the cards."""
    lines = [brief_text(shown), "", *shown.who]
    for judge, made in shown.cards.items():
        own = all(block.title for block in made)
        lines += [
            "",
            *([judge, "=" * len(judge)] if own else [f"{judge} (wrote none of the responses)"]),
        ]
        for block in made:
            lines += ["", block.title, f"  {block.sentence}"] if own else []
            lines += [f"  {name:<42} {value}" for name, value in block.lines]
    return "\n".join([*lines, "", *shown.written])
