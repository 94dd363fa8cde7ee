"""The formats of others: what one record of each says, as rows of `selfpref.formats.rows`.

Each function takes a record and yields its rows, `ValueError` where a value is none of the format.
What could not be read is missing, with its status, and never a tie.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.records import Record
from selfpref.formats.rows import HUMAN
from selfpref.tables.schemas import TIE

MISSING = (None, "", "error")
# What FastChat writes where a request failed.
ERROR = "$ERROR$"
# Whom Arena's releases name as people.
PERSON = r"human|(?:arena_user|expert|author)_\w+"
# The baseline of Arena-Hard's first version, which its files do not name.
BASELINE = "gpt-4-0314"
# By which text is read first, the one that each of Arena-Hard's labels names.
LABELS = {
    **dict.fromkeys(("A>>B", "A>B", "B<A", "B<<A"), 0),
    **dict.fromkeys(("B>>A", "B>A", "A<B", "A<<B"), 1),
    **dict.fromkeys(("A=B", "B=A"), 2),
}
PREFERENCES = {-1.0: None, 0.0: TIE, 1.0: "a", 1.5: TIE, 2.0: "b"}
# One score of a review; a negative one says that nothing could be read.
SCORES = {1.0: "a", 2.0: "b", 3.0: TIE}
REVIEW = re.compile(r"(?:answer[_-])?(.+?)-vs-(?:answer[_-])?(.+)-reviewer.*")


def _missing(value: Any) -> bool:
    return value in MISSING or (isinstance(value, float) and math.isnan(value))


def _choice(field: str, value: Any, known: Mapping[str, str]) -> str | None:
    """The side that a value names; None where it says that there is none."""
    if _missing(value):
        return None
    if str(value) not in known:
        raise ValueError(f"{field} {value!r}; give {', '.join(known)} or error")
    return known[str(value)]


def _number(value: Any) -> float:
    """A number; NaN where it is missing, infinite where there is something else."""
    try:
        return math.nan if _missing(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def _turn(record: Record, question: Any) -> Record:
    """The item, a turn of a question, and its cluster, the question."""
    turn = record.get("turn")
    item = question if _missing(turn) else f"{question}/{turn}"
    return {"item": item, "cluster": question}


def _judge(record: Record) -> Any:
    """The judge's name: itself, or the first of a list of name and prompt."""
    judge = record.get("judge")
    return next(iter(judge), None) if isinstance(judge, list) else judge


def fastchat(record: Record) -> Iterator[Record]:
    """FastChat's pairwise judgments, such as `model_judgment/gpt-4_pair.jsonl`: a row a game.

    `model_1` is read first in the first game (`g1_winner`), `model_2` in the second. A game is an
    `error` where FastChat got no answer (`failed`) or found no verdict in it (`unparsable`).
    """
    pair = {"responder_a": record["model_1"], "responder_b": record["model_2"]}
    pair |= _turn(record, record["question_id"]) | {"judge": _judge(record)}
    for game, order in (("g1", "ab"), ("g2", "ba")):
        winner = record[f"{game}_winner"]
        known = {"model_1": "a", "model_2": "b", "tie": TIE}
        verdict = _choice(f"{game}_winner", winner, known)
        text = record.get(f"{game}_judgment", verdict)
        status = "failed" if _missing(text) or ERROR in str(text) else "unparsable"
        yield pair | {"order": order, "verdict": verdict, "status": status}


def arena(record: Record) -> Iterator[Record]:
    """Battles as Chatbot Arena releases them, and MT-Bench's votes and merged verdicts.

    `winner` is `model_a`, `model_b`, `tie`, `tie (...)` or `both_bad`; in one release there is a
    column of 0 and 1 for each of the first three. Which response was read first is not told. Every
    row of a person is a vote of its own.
    """
    if "winner" in record:
        winner = record["winner"]
    else:
        told = [
            side for side in ("model_a", "model_b", TIE) if _number(record[f"winner_{side}"]) == 1
        ]
        winner = told[0] if len(told) == 1 else "no winner, or several"
    tied = str(winner).startswith(TIE) or winner == "both_bad"
    choice = TIE if tied else _choice("winner", winner, {"model_a": "a", "model_b": "b"})
    question = record["question_id"] if "question_id" in record else record["id"]
    row = {"responder_a": record["model_a"], "responder_b": record["model_b"]}
    row |= _turn(record, question) | {"status": "failed" if winner == "error" else "unparsable"}
    if re.fullmatch(PERSON, str(judge := _judge(record))):
        yield row | {"annotator": judge, "label": choice}
    else:
        yield row | {"judge": judge, "verdict": choice}


def arena_hard(record: Record) -> Iterator[Record]:
    """Arena-Hard-Auto's judgments, `model_judgment/<judge>/<model>.jsonl`, v0.1 and v2.

    The `model` against the `baseline`, and two `games`, in the first of which the baseline is read
    first. A game's `score` is a label such as `A>>B`, `B>A` or `A=B`; one that is none is
    `unparsable`, a game that was never answered `failed`.
    """
    shared = {"item": record["uid"] if "uid" in record else record["question_id"]}
    shared |= {"judge": record["judge"], "category": record.get("category")}
    shared |= {"responder_a": record.get("baseline") or BASELINE, "responder_b": record["model"]}
    games = [*(record["games"] or ()), None, None]
    for game, order, sides in zip(games, ("ab", "ba"), ("ab", "ba"), strict=False):
        label = LABELS.get(str(game["score"]).strip("[]\n ")) if game else None
        verdict = None if label is None else (*sides, TIE)[label]
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
        told = repr(record["preference"])[:40]
        raise ValueError(f"preference {told}; give 1, 2, 1.5, between, or null")
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
    numbers = [_number(one) for one in (score if isinstance(score, list) else [score])]
    if not any(math.isnan(one) or one < 0 for one in numbers):
        sides = [*numbers, math.inf]
        choice = TIE if sides[0] == sides[1] else "ab"[sides[0] < sides[1]]
        choice = SCORES.get(numbers[0]) if len(numbers) == 1 else choice
        if choice is None or len(numbers) > 2 or math.inf in numbers:
            wanted = "1, 2, 3, two scores, -1 or null; a score of a single text compares nothing"
            raise ValueError(f"score {score!r}; give {wanted}")
    item = record["question_id"] if "question_id" in record else record["message_id"]
    row = {"item": item, **record["names"]}
    if row["judge"] == HUMAN:
        yield row | {"judge": None, "annotator": HUMAN, "label": choice}
    else:
        yield row | {"verdict": choice}


def named(path: Path, judges: Sequence[str]) -> Record:
    """Who is compared by whom in a review file, from its name.

        [answer_]<first>-vs-[answer_]<second>-<judge>-reviewer....jsonl

    The first response is the one read first. Where a hyphenated name ends and the judge begins
    cannot be told: the judge is one of those that are given, or of the folder, `ratings-<judge>`.

    Raises:
        SelfprefError: The name does not tell who is who.
    """
    match = REVIEW.fullmatch(path.stem)
    first, rest = match.groups() if match else ("", "")
    known = [*judges, *(part.name.removeprefix("ratings-") for part in path.parents)]
    judge = next((one for one in known if one and rest.endswith(f"-{one}")), "")
    if not judge:
        raise SelfprefError(
            f"{path}: a review's name is <first>-vs-<second>-<judge>-reviewer.jsonl; rename it, or "
            "give --judge NAME"
        )
    second = rest.removesuffix(f"-{judge}")
    return {"responder_a": first, "responder_b": second, "judge": judge, "order": "ab"}
