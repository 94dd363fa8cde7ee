"""A card in plain words, which text and page render alike: blocks of numbers, a sentence each.

A number is `value [lo, hi]`. One that rests on fewer than ten pairs of a human side is marked "too
few"; one that does not exist says why.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

# A card as JSON holds it, or a part of one.
Row = Mapping[str, Any]
# The first table: the key of the JSON, and the name of the column.
COLUMNS = {
    "equal_opportunity": "EO",
    "no_preference": "a person's EO",
    "regression_scaled": "its own term",
}
# These are shares; all other numbers have a sign.
SHARES = {"harmful", "legitimate", "agreement", "first_position", "flips", "reversals"}
READ = ("agreement", "first_position", "flips", "reversals")
# By title a sentence, and the keys of the numbers below it, which are their names.
BLOCKS = {
    "The pairs": (
        "With a response of its own, and those that people tied, it tied, or it did not decide.",
        ("pairs", "voted", "human_ties", "judge_ties", "no_verdict"),
    ),
    "Equal opportunity": (
        "How often it agrees with people where they prefer its response, less how often where they "
        "prefer the other: above 0 if it sides with itself. A person in its place (no preference) "
        "shows one too, where one side is better; what is beyond that is on the same votes.",
        ("equal_opportunity", "no_preference", "beyond_no_preference"),
    ),
    "How often it chooses itself": (
        "Demographic parity goes from -1 (never) to +1 (always); DBG is the share of its own less "
        "people's. Where people prefer the other, its own win is harmful, else legitimate.",
        ("demographic_parity", "dbg", "harmful", "legitimate"),
    ),
    "Against the other judges": (
        "Equal opportunity less that of the other judges towards the same responses. A judge with "
        "less noise than the others shows an excess as well.",
        ("excess", "excess_common", "excess_half_ties"),
    ),
    "Regression": (
        "What it adds to the probability of its own response, given who wrote the responses, "
        "people's votes and, scaled, each judge's noise: that number decides the first line. The "
        "same for another's responses is a placebo.",
        ("regression_scaled", "latent_quality", "regression", "placebo"),
    ),
    "Towards every responder": (
        "Equal opportunity. What it shows towards others is no self-preference.",
        ("towards",),
    ),
    "Agreement and position": ("Agreement on all pairs, the rest on its own.", READ),
    "How many pairs it takes": (
        "Votes on so many show a bias of 0.1 in four files of five, if they are like these.",
        ("pairs_to_show_0.1",),
    ),
}
MARKED = (
    "How much higher it marks its own answer than another one, beyond what a third judge makes of "
    "the same two, by what the key says of them. A judge without a favour is at 0; one that takes "
    "its own mistakes for right is above 0 where both are wrong, as one is that likes its own."
)


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


def number(value: float, sign: bool = True) -> str:
    """A number with two digits, never -0.00."""
    return f"{round(value, 2) + 0.0:{'+' if sign else ''}.2f}"


def interval(estimate: Row, sign: bool = True) -> str:
    """`value [lo, hi]`."""
    bounds = [number(estimate[end], sign) for end in ("lo", "hi") if estimate[end] is not None]
    return number(estimate["value"], sign) + (f" [{', '.join(bounds)}]" if bounds else "")


def shown(estimate: Row | int, sign: bool = True) -> str:
    """`value [lo, hi]`, with its counts; or why there is none; or so many pairs."""
    if isinstance(estimate, int):
        return f"{estimate} pairs"
    if estimate["value"] is None:
        return f"none: {estimate.get('reason', 'no such pairs')}"
    text = interval(estimate, sign) + f", n {estimate['n']:g}"
    if "human_own" in estimate:
        text += f" (people prefer own {estimate['human_own']}, other {estimate['human_other']})"
    return text + (", too few" if estimate.get("few") else "")


def _lines(card: Row, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A line an estimate; of several under one key, such as placebos, one each."""
    for key in keys:
        several = isinstance(card[key], dict) and "value" not in card[key]
        for name, row in (card[key] if several else {"": card[key]}).items():
            yield f"{key} {name}".replace("_", " ").strip(), shown(row, key not in SHARES)


def _marked(card: Row) -> Iterator[Block]:
    """The blocks of a judge of marks, a scale each."""
    for scale in dict.fromkeys(row["scale"] for row in card["third_judge"]):
        lines = [
            (row["kind"], f"{interval(row)}, {row['items']} items" if row["items"] else "none")
            for row in card["third_judge"]
            if row["scale"] == scale
        ]
        yield Block(f"The third judge, {scale}", MARKED, lines)


def blocks(card: Row) -> list[Block]:
    """The card of one judge."""
    if "third_judge" in card:
        return list(_marked(card))
    if "answer" not in card:
        return [Block("", "It wrote none of the responses.", list(_lines(card, READ)))]
    return [Block(title, told, list(_lines(card, keys))) for title, (told, keys) in BLOCKS.items()]


def brief(estimate: Row) -> str:
    """`value [lo, hi]`, marked where it rests on too few pairs; a dash where there is none."""
    if estimate["value"] is None:
        return "-"
    return interval(estimate) + (" few" if estimate.get("few") else "")


def _who(found: Row) -> list[str]:
    """Who is who, a line each."""
    if "responders" not in found:
        return ["numbers below: D [95 % interval], items"]

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
    alone = found.get("judges_without_own_responses", {})
    return {judge: card["nearest_responder"] for judge, card in alone.items()}


def _first(found: Row) -> list[tuple[str, str]]:
    """What the first lines answer, in two parts, a judge each."""
    if not found["judges"]:
        near = [f"{other}={name}" for other, name in nearest(found).items() if name]
        remedy = f"; if two names are one's: --alias {near[0]}" if near else ""
        return [("cannot tell", f"no judge wrote a response that it judged{remedy}")]
    return [
        (f"{judge}: {card['answer']}", card["because"]) for judge, card in found["judges"].items()
    ]


def _written(made: Row) -> list[str]:
    """By what, when, of what and how a card was made."""
    files = ", ".join(f"{name} (sha256 {digest})" for name, digest in made["files"].items())
    how = f"{made['resamples']} resamples, seed {made['seed']}, level {made['level']}"
    options = f"; options {made['options']}" if made["options"] else ""
    line = f"written by selfpref {made['selfpref']} on {made['date']}; {how}{options}"
    return [line, f"of {files}"] if files else [line]


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
    """The cards of a set of judgments, or of marks."""
    lines = [
        (judge, card["answer"], *(brief(card[key]) for key in COLUMNS))
        for judge, card in found["judges"].items()
        if "third_judge" not in card
    ]
    head = [("judge", "answer", *COLUMNS.values())] if lines else []
    judges = {**found["judges"], **found.get("judges_without_own_responses", {})}
    cards = {judge: blocks(card) for judge, card in judges.items()}
    return Parts(_first(found), [*head, *lines], _who(found), cards, _written(found["made"]))


def brief_text(shown: Parts) -> str:
    """A line a judge, and why."""
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
        head = [judge, "=" * len(judge)] if own else [f"{judge} (wrote none of the responses)"]
        lines += ["", *head]
        for block in made:
            lines += ["", block.title, f"  {block.sentence}"] if own else []
            lines += [f"  {name:<42} {value}" for name, value in block.lines]
    return "\n".join([*lines, "", *shown.written])
