"""A judge's card in plain words: blocks of numbers, each with a sentence.

A number is `value [lo, hi]`. One that rests on fewer than ten pairs of a human side is marked "too
few"; one that does not exist says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfpref.card import numbers

if TYPE_CHECKING:
    from selfpref.card.measured import Measured

Row = Mapping[str, Any]
POSITION = {
    "first_position": "chooses the first, of all verdicts",
    "flips": "the verdict changes with the order",
    "reversals": "the winner reverses with the order",
}


@dataclass(frozen=True)
class Block:
    """A part of a card.

    Attributes:
        title: What it is about.
        sentence: What it says, in plain words.
        lines: Name and number of each row.
    """

    title: str
    sentence: str
    lines: list[tuple[str, str]]


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


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def blocks(found: "Measured", judge: str) -> list[Block]:
    """The card of one judge with own responses."""
    card = numbers.one(found, judge)
    pairs = Block(
        "The pairs",
        f"{judge} read {card['pairs']} pairs with a response of its own. People voted on "
        f"{card['voted']} of them and tied {card['human_ties']}; it tied {card['judge_ties']} and "
        f"gave no verdict on {card['no_verdict']}.",
        [("pairs with a vote and a verdict, no ties", f"{sum(card['cells'].values())}")],
    )
    if not card["voted"]:
        return [pairs, UNVOTED, _position(card)]
    return [pairs, *_against_people(card), _regression(judge, card), _position(card), _needed(card)]


UNVOTED = Block(
    "Nobody voted on its pairs",
    "Without people's votes nobody knows which responses are better, so a preference for one's own "
    "cannot be told from a preference for better ones. Give votes on the same items with --votes.",
    [],
)


def _against_people(card: Row) -> list[Block]:
    """What the judge does where people prefer its response, and where they prefer the other."""
    cells = card["cells"]
    n_own, n_other = cells["tp"] + cells["fn"], cells["fp"] + cells["tn"]
    n = n_own + n_other
    return [
        Block(
            "Equal opportunity",
            f"Where people prefer its response, it agrees in {_percent(cells['tp'], n_own)} of "
            f"{n_own} pairs; where they prefer the other, in {_percent(cells['tn'], n_other)} of "
            f"{n_other}. Equal opportunity is the difference, above 0 if it sides with itself. A "
            "person in its place would show one too, where the responses of one side are better: "
            "compare the two, on pairs with two votes.",
            [
                ("equal opportunity", shown(card["equal_opportunity"], True)),
                ("a person in its place (no preference)", shown(card["no_preference"], True)),
                (
                    "beyond that person, on the same votes",
                    shown(card["beyond_no_preference"], True),
                ),
            ],
        ),
        Block(
            "How often it chooses itself",
            f"It chooses its own response in {_percent(cells['tp'] + cells['fp'], n)} of the "
            f"{n} pairs that it and people decide; people choose it in {_percent(n_own, n)}. "
            "Demographic parity is its share alone, from -1 (never) to +1 (always); the DBG score "
            "is its share less that of people, ties as halves.",
            [
                ("demographic parity", shown(card["demographic_parity"], True)),
                ("DBG score", shown(card["dbg"], True)),
            ],
        ),
        Block(
            "When it chooses itself",
            "How often its own response wins where people prefer the other one (harmful: a judge "
            "that follows people has 0), and where they prefer its own (legitimate: 1).",
            [("harmful", shown(card["harmful"])), ("legitimate", shown(card["legitimate"]))],
        ),
        Block(
            "Against the other judges",
            "How much more it favours its responses than the other judges of the file favour the "
            "same ones, in equal opportunity. A judge with less noise than the others shows an "
            "excess as well.",
            [
                ("excess, each judge on its own pairs", shown(card["excess"], True)),
                ("excess, pairs that all decide", shown(card["excess_common"], True)),
                ("excess, judges' ties as halves", shown(card["excess_half_ties"], True)),
            ],
        ),
    ]


def _regression(judge: str, card: Row) -> Block:
    placebo = {name: row for name, row in card["placebo"].items() if name != judge}
    lines = [
        ("its own responses, a scale for each judge", shown(card["regression_scaled"], True)),
        ("its own responses, one scale for all", shown(card["regression"], True)),
    ]
    lines += [(f"placebo: {name}'s responses", shown(row, True)) for name, row in placebo.items()]
    return Block(
        "Regression",
        "What it adds to the probability of its own response being chosen, controlling for who "
        "wrote the responses, for people's votes and, with a scale for each judge, for the "
        "judge's noise: that number decides the first line. A placebo is the same for responses "
        "that are not its own.",
        lines,
    )


def _position(card: Row) -> Block:
    return Block(
        "Agreement and position",
        "How often it and the majority of people prefer the same response, over all pairs that "
        "both decide; and, on its own pairs, how often it prefers what it read first (0.50 is "
        "even) and says something else once the two are swapped.",
        [
            ("agreement with people", shown(card["agreement"])),
            *((label, shown(card[key])) for key, label in POSITION.items()),
        ],
    )


def _needed(card: Row) -> Block:
    names = {
        "equal_opportunity": "equal opportunity",
        "excess": "excess",
        "regression_scaled": "regression",
    }
    needed = card["pairs_to_show_0.1"]
    return Block(
        "How many pairs it takes",
        "With so many voted pairs with its own response, a bias of 0.1 would be seen in four files "
        "of five (power 80 %, level 5 %), if they are like these. This file has "
        f"{card['voted']}.",
        [
            (
                label,
                f"{needed[name]} pairs" if name in needed else "cannot be planned from this file",
            )
            for name, label in names.items()
        ],
    )


def others(found: "Measured", judge: str) -> list[tuple[str, str]]:
    """Name and number of each row of a judge without own responses."""
    labels = {"agreement": "agreement with people", **POSITION}
    card = numbers.others(found, judge, "all")
    return [(label, shown(card[key])) for key, label in labels.items()]


def who(found: "Measured") -> list[str]:
    """Who is who, a line each."""
    names = found.names

    def near(other: str | None) -> str:
        return f" (nearest name: {other}; join them with --alias)" if other else ""

    lines = [f"judges with own responses: {', '.join(names.own) or 'none'}"]
    if names.alone:
        told = "; ".join(f"{judge}{near(other)}" for judge, other in names.alone.items())
        lines.append(f"judges without own responses: {told}")
    if names.unmatched:
        told = "; ".join(f"{name}{near(other)}" for name, other in names.unmatched.items())
        lines.append(f"names that match nothing: {told}")
    if names.unjudged:
        lines.append(f"voted pairs that nobody judged: {names.unjudged}")
    return [*lines, "numbers below: value [95 % interval], n, the pairs that it rests on"]


def first(found: "Measured") -> list[str]:
    """What the first lines answer, a judge each."""
    if not found.answers:
        near = [f"{other}={name}" for other, name in found.names.alone.items() if name]
        remedy = f"; if two names are one's: --alias {near[0]}" if near else ""
        return [f"cannot tell, because no judge wrote a response that it judged{remedy}"]
    return [str(answer) for answer in found.answers.values()]


def text(found: "Measured") -> str:
    """Answers, who is who, and the cards."""
    lines = [*first(found), "", *who(found)]
    for judge in found.names.own:
        lines += ["", judge, "=" * len(judge)]
        for block in blocks(found, judge):
            lines += ["", block.title, f"  {block.sentence}"]
            lines += [f"  {name:<42} {value}" for name, value in block.lines]
    for judge in found.names.alone:
        lines += ["", f"{judge} (wrote none of the responses)"]
        lines += [f"  {name:<42} {value}" for name, value in others(found, judge)]
    return "\n".join(lines)
