"""A card in plain words, which text and page render alike: a line a number.

A number is `value [lo, hi]`. One that rests on fewer than ten pairs of a human side is marked "too
few"; one that does not exist says why.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import __version__, texts
from selfpref.card.rule import Answer, Row, interval
from selfpref.errors import SelfprefError
from selfpref.statistics.bootstrap import ClusterBootstrap

# The first table: the key of the JSON, and the name of the column.
COLUMNS = {
    "regression_scaled": "its own term",
    "equal_opportunity": "EO",
    "no_preference": "a person's EO",
}
# These are shares; all other numbers have a sign.
SHARES = {"harmful", "legitimate", "agreement", "first_position", "flips", "reversals"}
# What each number of a card is, by its key in the JSON, in the order in which they are shown.
WORDS = {
    "pairs": "read by it, with a response of its own",
    "voted": "of these, with people's votes",
    "human_ties": "tied by people",
    "judge_ties": "tied by it",
    "no_verdict": "without a verdict",
    "equal_opportunity": "agrees where people prefer its own, less where they prefer the other",
    "no_preference": "the same of a person in its place, on pairs with two votes",
    "beyond_no_preference": "what it shows beyond that person",
    "demographic_parity": "how often it chooses itself: -1 never, +1 always",
    "dbg": "the share of its own, less people's",
    "harmful": "its own wins where people prefer the other; 0 if it follows them",
    "legitimate": "its own wins where people prefer it; 1 if it follows them",
    "excess": "equal opportunity, less other judges' towards the same responses",
    "excess_half_ties": "the same with judges' ties as halves",
    "regression_scaled": "what its own text adds, given author, votes and noise: this decides",
    "placebo": "the same for these responses",
    "regression": "the same with one scale for all judges",
    "latent_quality": "the same where judges and people read one quality",
    "towards": "equal opportunity towards these responses",
    "agreement": "with people, on all pairs",
    "first_position": "chooses what it read first; 0.50 is even",
    "flips": "another outcome in the other order",
    "reversals": "another winner in the other order",
    "pairs_to_show_0.1": "voted pairs that would show a bias of 0.1 (power 80 %)",
}
D = (
    "numbers below: D [95 % interval], items: how much higher it marks its own answer than another "
    "one, beyond what a third judge makes of the same two, by what the key says of them"
)


@dataclass(frozen=True)
class Card:
    """What a set of judgments, or of marks, shows.

    Attributes:
        answers: By judge, favours itself or not, and why.
        numbers: All of it, as `--json` writes it (docs/measure.md).
    """

    answers: Mapping[str, Answer]
    numbers: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The same as `--json` writes it."""
        return self.numbers

    def __str__(self) -> str:
        return text(**parts(self.numbers))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def made_by(bootstrap: ClusterBootstrap) -> dict[str, Any]:
    """What a card says of its making; the command adds its files and options."""
    made = {"selfpref": __version__, "date": datetime.now(UTC).date().isoformat()}
    made |= {key: getattr(bootstrap, key) for key in ("resamples", "seed", "level")}
    return made | {"files": {}, "options": ""}


def chosen(judge: str | None, judges: list[str]) -> list[str]:
    """The judges to have a card: the one that is named, or all.

    Raises:
        SelfprefError: The one that is named is not there.
    """
    if judge in (None, *judges):
        return judges if judge is None else [judge]
    there = ", ".join(judges[:8]) or "none"
    raise SelfprefError(f"--judge {judge}: no such judge, there are {there}; --alias joins names")


def shown(estimate: Row | int, sign: bool = True) -> str:
    """`value [lo, hi]`, with its counts; or why there is none; or so many pairs."""
    if isinstance(estimate, int):
        return f"{estimate} pairs"
    if estimate["value"] is None:
        return f"none: {estimate.get('reason', 'no such pairs')}"
    text = interval(estimate, sign) + f", n {estimate['n']:g}"
    if "human_own" in estimate:
        text += " (people prefer own {human_own}, other {human_other})".format(**estimate)
    return text + (", too few" if estimate.get("few") else "")


def lines(card: Row) -> Iterator[tuple[str, str, str]]:
    """Name, number and words of everything in a judge's card; of placebos and such one each."""
    for row in card.get("third_judge", ()):
        told = f"{interval(row)}, {row['items']} items" if row["items"] else "none"
        yield f"{row['scale']}, {row['kind']}", told, ""
    for key, words in WORDS.items():
        value = card.get(key, {})
        several = isinstance(value, dict) and "value" not in value
        for name, row in (value if several else {"": value}).items():
            yield f"{key} {name}".replace("_", " ").strip(), shown(row, key not in SHARES), words


def _named(names: Mapping[str, str | None]) -> str:
    """Names, each with the one that it may be meant to be."""
    joined = "{} (nearest name: {}; join them with --alias)"
    return "; ".join(joined.format(*pair) if pair[1] else pair[0] for pair in names.items())


def _who(found: Row) -> list[str]:
    """Who is who, a line each."""
    if "responders" not in found:
        return [D]
    others = found["judges_without_own_responses"].items()
    nearest = {judge: card["nearest_responder"] for judge, card in others}
    told = {
        "judges with own responses": ", ".join(found["judges"]) or "none",
        "judges without own responses": _named(nearest),
        "names that match nothing": _named(found["names_that_match_nothing"]),
        "voted pairs that nobody judged": found["voted_pairs_that_nobody_judged"],
    }
    lines = [f"{name}: {value}" for name, value in told.items() if value]
    if found["labels_are_a_key"]:
        lines.append('the labels are an answer key\'s: read "the key" for "people" below')
    return [*lines, "numbers below: value [95 % interval], n, the pairs that it rests on"]


def _written(made: Row) -> list[str]:
    """By what, when, of what and how a card was made."""
    files = ", ".join(f"{name} (sha256 {digest})" for name, digest in made["files"].items())
    how = "{resamples} resamples, seed {seed}, level {level}".format(**made)
    options = f"; options {made['options']}" if made["options"] else ""
    line = f"written by selfpref {made['selfpref']} on {made['date']}; {how}{options}"
    return [line, *([f"of {files}"] if files else [])]


def parts(found: Row) -> dict[str, Any]:
    """A card as it is shown.

    Returns:
        first: What the first lines answer, in two parts, a judge each.
        table: The same with the numbers, a judge each, below the names of the columns.
        who: Who is who, a line each.
        cards: Name, number and words of each line of each judge.
        written: By what, when, of what and how, a line each.
    """
    judges, table = found["judges"], []
    for judge, card in judges.items():
        values = [card[key] for key in COLUMNS if key in card]
        cells = ["-" if one["value"] is None else interval(one) for one in values]
        table += [[judge, card["answer"], *cells]] if cells else []
    first = [(f"{judge}: {card['answer']}", card["because"]) for judge, card in judges.items()]
    every = {**judges, **found.get("judges_without_own_responses", {})}
    return {
        "first": first or [("cannot tell", "no judge wrote a response that it judged")],
        "table": [["judge", "answer", *COLUMNS.values()], *table] if table else [],
        "who": _who(found),
        "cards": {judge: list(lines(card)) for judge, card in every.items()},
        "written": _written(found["made"]),
    }


def brief_text(table: list[list[str]], first: list[tuple[str, str]], **_: Any) -> str:
    """A line a judge, and why."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    layout = "  ".join(f"{{:<{width}}}" for width in widths)
    rows = [layout.format(*row).rstrip() for row in table]
    return "\n".join([*rows, *(f"{said}, because {why}" for said, why in first)])


def text(who: list[str], cards: Row, written: list[str], **shown: Any) -> str:
    """Answers, who is who, and the cards."""
    found = [brief_text(**shown), "", *who]
    for judge, card in cards.items():
        found += ["", judge, "=" * len(judge)]
        found += [f"{name:<35}  {value:<28}  {words}".rstrip() for name, value, words in card]
    return "\n".join([*found, "", *written])


def html(found: Card) -> str:
    """The cards as one HTML file: no script, no network, every text escaped."""
    environment = Environment(
        loader=PackageLoader("selfpref.card"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("card.html.j2")
    return texts.visible(page.render(**found.numbers, **parts(found.numbers)))
