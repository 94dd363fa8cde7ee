"""Files of judgments: which format each has, by its fields, and its rows.

Each format of others is a function that takes a record and yields its rows
(`selfpref.formats.records`), `ValueError` where a value is none of the format. What could not be
read is missing, with its status, and never a tie.

| format | fields |
|---|---|
| pairs | item, responder_a, responder_b, judge: a user's own, below |
| fastchat | question_id, model_1, model_2, g1_winner, g2_winner, judge |
| arena | question_id or id, model_a, model_b, winner or winner_tie |
| arena-hard | uid or question_id, model, judge, games |
| alpaca-eval | instruction, generator_1, generator_2, annotator, preference |
| reviews | question_id or message_id, score; the names in the file's name |
| marks | item, judge, responder, score, key: no judgments of pairs (`selfpref.card.marks`) |

A format is recognised by the first record, which has to have all of its fields. A user's own file
has a row a verdict:

| column | value |
|---|---|
| item | any id of the prompt |
| responder_a, responder_b | who wrote the two responses |
| judge | who judged; its own responses are those of the responder of the same name |
| label | the human's vote: `a`, `b`, `tie` or a responder's name; empty where nobody voted |
| order | which response the judge read first: `ab` or `ba`; empty where it is not known |
| verdict | the judge's choice, spelled as the label; empty where it gave none |
| probability_a, probability_b | instead of, or beside, the verdict: of the two labels |

`label` may be left out beside a file of votes, `order` where it is nowhere known. Optional, too:
`repeat` (a number, where a judge read one pair in one order more than once), `annotator`
(who voted), `cluster` (what a bootstrap resamples; default: the item), `category`, `prompt`,
`text_a`, `text_b`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats.records import (
    HUMAN,
    NO_NAMES,
    Names,
    Record,
    Records,
    frames,
    records,
    refuse,
    typed,
)
from selfpref.tables.schemas import TIE

AUTO = "auto"
# What the first record of each format has.
FIELDS = {
    "pairs": "item responder_a responder_b judge",
    "fastchat": "question_id model_1 model_2 g1_winner g2_winner judge",
    "arena": "question_id|id model_a model_b winner|winner_tie",
    "arena-hard": "uid|question_id model judge games",
    "alpaca-eval": "instruction generator_1 generator_2 annotator preference",
    "reviews": "question_id|message_id score",
    "marks": "item judge responder score key",
}
# The same of votes.
VOTES = {
    "pairs": "item responder_a responder_b label",
    **{name: FIELDS[name] for name in ("arena", "alpaca-eval", "reviews")},
}
MISSING = (None, "", "error")
# What FastChat writes where a request failed.
ERROR = "$ERROR$"
# Whom Arena's releases name as people.
PERSON = r"human|(?:arena_user|expert|author)_\w+"
# The baseline of Arena-Hard's first version, which its files do not name.
BASELINE = "gpt-4-0314"
# By which text is read first, the one that each of Arena-Hard's labels names.
SAID = ("A>>B A>B B<A B<<A", "B>>A B>A A<B A<<B", "A=B B=A")
LABELS = {label: side for side, labels in enumerate(SAID) for label in labels.split()}
WINNERS = {"model_1": "a", "model_2": "b", "model_a": "a", "model_b": "b", "both_bad": TIE}
PREFERENCES = {-1.0: None, 0.0: TIE, 1.0: "a", 1.5: TIE, 2.0: "b"}
# One score of a review; a negative one says that nothing could be read.
SCORES = {1.0: "a", 2.0: "b", 3.0: TIE}
# The name of a review file, before and after its judge's.
REVIEWED, REVIEWER = r"(?:answer[_-])?(.+?)-vs-(?:answer[_-])?(.+)-", "-reviewer.*"


def _missing(value: Any) -> bool:
    return value in MISSING or value != value  # noqa: PLR0124


def _choice(record: Record, field: str) -> str | None:
    """The side that a field names; None where it says that there is none."""
    value = str(record[field])
    if _missing(record[field]):
        return None
    if value not in WINNERS and not value.startswith(TIE):
        raise ValueError(f"{field} {record[field]!r}; give {', '.join(WINNERS)}, tie or error")
    return WINNERS.get(value, TIE)


def _number(value: Any) -> float:
    """A number; NaN where it is missing."""
    return math.nan if _missing(value) else float(value)


def _asked(record: Record, *names: str, **row: Any) -> Record:
    """A row with its judge, its item (a turn of a question or all of it) and cluster, the question.

    Args:
        record: The record.
        names: Fields, the first of which that is there holds the question.
        row: What else is in the row.
    """
    question = record[next((name for name in names if name in record), names[-1])]
    turn = record.get("turn")
    item = question if _missing(turn) else f"{question}/{turn}"
    # A name, or a list of name and prompt.
    judge = record.get("judge")
    judge = next(iter(judge), None) if isinstance(judge, list) else judge
    return {"item": item, "cluster": question, "judge": judge} | row


def _said(row: Record, choice: str | None, people: str) -> Record:
    """The row with the choice of its judge; where people's names are like this, with a vote."""
    if re.fullmatch(people, str(row["judge"])):
        return row | {"judge": None, "annotator": row["judge"], "label": choice}
    return row | {"verdict": choice}


def fastchat(record: Record) -> Iterator[Record]:
    """FastChat's pairwise judgments, such as `model_judgment/gpt-4_pair.jsonl`: a row a game.

    `model_1` is read first in the first game (`g1_winner`), `model_2` in the second. A game is an
    `error` where FastChat got no answer (`failed`) or found no verdict in it (`unparsable`).
    """
    pair = _asked(
        record,
        "question_id",
        responder_a=record["model_1"],
        responder_b=record["model_2"],
    )
    for game, order in (("g1", "ab"), ("g2", "ba")):
        verdict = _choice(record, f"{game}_winner")
        text = record.get(f"{game}_judgment", verdict)
        status = "failed" if _missing(text) or ERROR in str(text) else "unparsable"
        yield pair | {"order": order, "verdict": verdict, "status": status}


def arena(record: Record) -> Iterator[Record]:
    """Battles as Chatbot Arena releases them, and MT-Bench's votes and merged verdicts.

    `winner` is `model_a`, `model_b`, `tie`, `tie (...)` or `both_bad`; in one release there is a
    column of 0 and 1 for each of the first three. Which response was read first is not told. Every
    row of a person is a vote of its own.
    """
    if "winner" not in record:
        known = ("model_a", "model_b", TIE)
        sides = [side for side in known if _number(record[f"winner_{side}"]) == 1]
        record["winner"] = sides[0] if len(sides) == 1 else "no winner, or several"
    choice = _choice(record, "winner")
    row = _asked(
        record,
        "question_id",
        "id",
        responder_a=record["model_a"],
        responder_b=record["model_b"],
        status="failed" if record["winner"] == "error" else "unparsable",
    )
    yield _said(row, choice, PERSON)


def arena_hard(record: Record) -> Iterator[Record]:
    """Arena-Hard-Auto's judgments, `model_judgment/<judge>/<model>.jsonl`, v0.1 and v2.

    The `model` against the `baseline`, and two `games`, in the first of which the baseline is read
    first. A game's `score` is a label such as `A>>B`, `B>A` or `A=B`; one that is none is
    `unparsable`, a game that was never answered `failed`.
    """
    shared = _asked(
        record,
        "uid",
        "question_id",
        category=record.get("category"),
        responder_a=record.get("baseline") or BASELINE,
        responder_b=record["model"],
    )
    games = [*(record["games"] or ()), None, None]
    for game, order in zip(games, ("ab", "ba"), strict=False):
        label = LABELS.get(str(game["score"]).strip("[]\n ")) if game else None
        verdict = None if label is None else (*order, TIE)[label]
        status = "unparsable" if game else "failed"
        yield shared | {"order": order, "verdict": verdict, "status": status}


def alpaca_eval(record: Record) -> Iterator[Record]:
    """AlpacaEval's `annotations.json`: `generator_1` against `generator_2`, one annotation.

    The `preference` of the `annotator` is 1 or 2; 1.5 (0 in older files) for a draw; between 1 and
    2 where it is weighted, 1 + P(output_2); null, or -1, where none could be read. AlpacaEval
    shuffles the two outputs and does not say how, so the order is not known. An item is the
    instruction, by its hash. The annotator's name is that of its configuration: name the model
    behind it with an alias.
    """
    number = _number(record["preference"])
    weighted = 1 < number < 2 and number not in PREFERENCES
    if not (weighted or math.isnan(number) or number in PREFERENCES):
        raise ValueError(f"preference {number:g}; give 1, 2, 1.5, between, or null")
    yield {
        "item": sha256(str(record["instruction"]).encode()).hexdigest()[:16],
        "responder_a": record["generator_1"],
        "responder_b": record["generator_2"],
        "judge": record["annotator"],
        "verdict": PREFERENCES.get(number),
        "probability_a": 2 - number if weighted else None,
        "probability_b": number - 1 if weighted else None,
        "category": record.get("dataset"),
        "prompt": record["instruction"],
        "text_a": record.get("output_1"),
        "text_b": record.get("output_2"),
    }


def reviews(record: Record) -> Iterator[Record]:
    """Review files as QLoRA and PRD released them: a row a question.

    `score` is 1, 2 or 3 (a tie), or two scores of which the higher one wins and equal ones tie. -1,
    a negative score and null say that nothing could be read. `names` are those of the file's name
    (`named`). The judge `human` is people, and each of their rows a vote.
    """
    score, choice = record["score"], None
    match [_number(one) for one in (score if isinstance(score, list) else [score])]:
        case numbers if not all(one >= 0 for one in numbers):
            pass
        case [one, two]:
            choice = TIE if one == two else "ab"[one < two]
        case [one] if one in SCORES:
            choice = SCORES[one]
        case _:
            wanted = "1, 2, 3, two scores, -1 or null; a score of a single text compares nothing"
            raise ValueError(f"score {score!r}; give {wanted}")
    row = _asked(record, "question_id", "message_id", **record["names"])
    yield _said(row, choice, HUMAN)


def named(path: Path, judges: Sequence[str]) -> Record:
    """Who is compared by whom in a review file, from its name.

        [answer_]<first>-vs-[answer_]<second>-<judge>-reviewer....jsonl

    The first response is the one read first. Where a hyphenated name ends and the judge begins
    cannot be told: the judge is one of those that are given, or of the folder, `ratings-<judge>`.

    Raises:
        SelfprefError: The name does not tell who is who.
    """
    for judge in (*judges, *(part.name.removeprefix("ratings-") for part in path.parents)):
        name = rf"{REVIEWED}{re.escape(judge)}{REVIEWER}"
        if judge and (match := re.fullmatch(name, path.stem)):
            first, second = match.groups()
            return {"responder_a": first, "responder_b": second, "judge": judge, "order": "ab"}
    raise SelfprefError(
        f"{path}: a review's name is <first>-vs-<second>-<judge>-reviewer.jsonl; rename it, or "
        "give --judge NAME"
    )


# From a record to its rows; in the others a record is a row.
ROWS: dict[str, Callable[[Record], Iterable[Record]]] = {
    form.__name__.replace("_", "-"): form
    for form in (fastchat, arena, arena_hard, alpaca_eval, reviews)
}


def _files(path: Path) -> list[Path]:
    """The file, or the review files of a folder."""
    if not path.is_dir():
        return [path]
    name = f"{REVIEWED}.*{REVIEWER}"
    found = sorted(file for file in path.rglob("*.json*") if re.fullmatch(name, file.stem))
    if not found:
        raise SelfprefError(f"{path}: a folder without review files; give one file")
    return found


def _form(fields: Sequence[str], where: Path | str, wanted: str, voted: bool) -> str:
    """The format of a record with these fields."""
    lacking, forms = [], VOTES if voted else FIELDS
    for name in forms if wanted == AUTO else {wanted} & forms.keys():
        lack = [one for one in forms[name].split() if not {*one.split("|")} & {*fields}]
        if not lack:
            return name
        lacking.append(f"{name} needs {', '.join(lack)}".replace("|", " or "))
    raise SelfprefError(
        f"{where}: of no known format; it has the fields {', '.join(map(repr, fields[:12]))}\n"
        f"besides them, {'; '.join(lacking)} (other names: --columns item=NAME)"
    )


def recognised(path: Path, wanted: str, columns: Names, *, voted: bool = False) -> str:
    """The format of a file.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        columns: What the file calls a column, by its name.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: Its first record has not all fields of the wanted format, or of any.
    """
    file = _files(path)[0]
    _, first = next(records(file, columns), (None, None))
    if first is None:
        raise SelfprefError(f"{file}: no record; is the file empty?")
    for name, there in columns.items():
        if name not in first:
            told = f"--columns {name}={there}: no such column; it has {', '.join(first)}"
            raise SelfprefError(f"{file}: {told}")
    return _form([*first], file, wanted, voted)


def _rows(path: Path, form: str, columns: Names, judges: Sequence[str]) -> Records:
    """The rows of every record, with its place."""
    more = {"names": named(path, judges)} if form == "reviews" else {}
    for place, record in records(path, columns):
        try:
            rows = ROWS[form](record | more) if form in ROWS else [record]
            yield from ((place, row) for row in rows)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            lacks = f"no field {error}; it needs {FIELDS[form].replace(' ', ', ')}"
            told = lacks if isinstance(error, KeyError) else f"{error}; correct the record"
            raise SelfprefError(f"{place}: {told}") from error


def _checked(found: pd.DataFrame, form: str, voted: bool) -> pd.DataFrame:
    """Rows that have a judge or a vote; of votes, without a judge."""
    if not voted:
        nobody = found["judge"].isna() & (found["annotator"].isna() | found["verdict"].notna())
        refuse(found, nobody, "no judge; name the judge, or give votes as --votes")
        return found
    if form != "pairs":
        # Whoever judges in a file of votes of others is a person.
        found["annotator"] = found["annotator"].fillna(found["judge"])
        found["label"] = found["label"].fillna(found["verdict"])
    return found.assign(judge=pd.Series(None, found.index, "str"))


def called(judges: Sequence[str], aliases: Names) -> list[str]:
    """The names that judges may have in a file: their own, and those that aliases turn into them.

    >>> called(["gpt-4"], {"gpt4": "gpt-4", "x": "y"})
    ['gpt-4', 'gpt4']
    """
    return [*judges, *(old for old, new in aliases.items() if new in judges)]


def read(
    path: Path,
    wanted: str = AUTO,
    judges: Sequence[str] = (),
    *,
    texts: bool = False,
    columns: Names = NO_NAMES,
    voted: bool = False,
) -> pd.DataFrame:
    """The rows of a file of judgments, or of a folder of review files.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        judges: Names that judges may have, where only file names tell them.
        texts: Whether prompts and responses are kept.
        columns: What columns of the file are to be called, by their names there.
        voted: Whether it holds votes alone, each of which is a row.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    form = recognised(path, wanted, columns, voted=voted)
    parts = (
        typed(part, texts)
        for file in _files(path)
        for part in frames(_rows(file, form, columns, judges))
    )
    return _checked(pd.concat(parts, ignore_index=True), form, voted)


def of_frame(frame: pd.DataFrame, name: str, *, voted: bool = False) -> pd.DataFrame:
    """The rows of a frame in the columns of a user's own file.

    Args:
        frame: A row a verdict; a vote, where it was `voted`.
        name: Of the frame, for errors.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: A row breaks the rules of the format; names row and column.
    """
    form = _form([*map(str, frame)], name, "pairs", voted)
    places = [f"{name}, row {number}" for number in range(len(frame))]
    raw = frame.astype(object).rename(columns=str).assign(place=places)
    return _checked(typed(raw), form, voted)
