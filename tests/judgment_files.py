"""One set of judgments as files of each format that `selfpref measure` reads.

Verdicts are `item, first, second, judge, choice`, the first read first; votes as `labels` has them.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from conftest import lines

Files = tuple[Path, Path | None]
CHOICES = {"a": "model_a", "b": "model_b", "tie": "tie"}
SCORES = {"a": 1, "b": 2, "tie": 3}
PREFERENCES = {"a": 1, "b": 2, "tie": 1.5}


def _side(row) -> str | None:
    """`a` where the one read first won."""
    known = {row.first: "a", row.second: "b", "tie": "tie"}
    return known.get(row.choice)


def _json(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows) if path.suffix == ".json" else lines(*rows))
    return path


def pairs(verdicts: pd.DataFrame, votes: pd.DataFrame, folder: Path, name: str) -> Files:
    rows = []
    for row in verdicts.itertuples():
        one, two = sorted((row.first, row.second))
        verdict = row.choice if isinstance(row.choice, str) else None
        said = {"order": "ab" if row.first == one else "ba", "label": None, "verdict": verdict}
        key = {"item": row.item, "responder_a": one, "responder_b": two, "judge": row.judge}
        rows.append(key | said)
    voted = folder / "votes.csv"
    columns = ["item", "responder_a", "responder_b", "label", "annotator"]
    votes[columns].to_csv(voted, index=False)
    return _json(folder / f"{name}.jsonl", rows), voted


def _battle(item: str, a: str, b: str, choice: str | None, judge: str) -> dict:
    pair = {"question_id": item, "model_a": a, "model_b": b}
    return pair | {"winner": CHOICES.get(choice), "judge": judge}


def _voted(votes: pd.DataFrame, made: Callable[..., dict]) -> list[dict]:
    columns = ["item", "responder_a", "responder_b", "label", "annotator"]
    return [made(*row) for row in votes[columns].itertuples(index=False)]


def fastchat(verdicts: pd.DataFrame, votes: pd.DataFrame, folder: Path, name: str) -> Files:
    games: dict[tuple, dict] = {}
    for row in verdicts.itertuples():
        one, two = sorted((row.first, row.second))
        key = {"question_id": row.item, "model_1": one, "model_2": two, "judge": [row.judge, "p"]}
        game = games.setdefault((row.item, one, two, row.judge), key)
        known = {one: "model_1", two: "model_2", "tie": "tie"}
        game["g1_winner" if row.first == one else "g2_winner"] = known.get(row.choice, "error")
    path = _json(folder / f"{name}.jsonl", list(games.values()))
    return path, _json(folder / "votes.jsonl", _voted(votes, _battle))


def arena(verdicts: pd.DataFrame, votes: pd.DataFrame, folder: Path, name: str) -> Files:
    rows = [
        _battle(row.item, row.first, row.second, _side(row), row.judge)
        for row in verdicts.itertuples()
    ]
    battles = _json(folder / "votes.jsonl", _voted(votes, _battle))
    return _json(folder / f"{name}.jsonl", rows), battles


def _annotated(item: str, one: str, two: str, choice: str | None, who: str) -> dict:
    shown = {"output_1": "x", "output_2": "y", "generator_1": one, "generator_2": two}
    return {**shown, "instruction": item, "annotator": who, "preference": PREFERENCES.get(choice)}


def alpaca_eval(verdicts: pd.DataFrame, votes: pd.DataFrame, folder: Path, name: str) -> Files:
    rows = [
        _annotated(row.item, row.first, row.second, _side(row), row.judge)
        for row in verdicts.itertuples()
    ]
    voted = _json(folder / "votes.json", _voted(votes, _annotated))
    return _json(folder / f"{name}.json", rows), voted


def reviews(verdicts: pd.DataFrame, votes: pd.DataFrame, folder: Path, name: str) -> Files:
    def put(judge: str, one: str, two: str, rows: list[dict]) -> None:
        path = f"ratings-{judge}/answer_{one}-vs-answer_{two}-{judge}-reviewer.jsonl"
        _json(folder / name / path, rows)

    for (judge, one, two), part in verdicts.groupby(["judge", "first", "second"]):
        read = [
            {"question_id": row.item, "text": "", "score": SCORES.get(_side(row), -1)}
            for row in part.itertuples()
        ]
        put(judge, one, two, read)
    for (one, two), part in votes.groupby(["responder_a", "responder_b"]):
        said = [{"question_id": row.item, "score": SCORES[row.label]} for row in part.itertuples()]
        put("human", one, two, said)
    return folder / name, None


WRITERS: dict[str, Callable[[pd.DataFrame, pd.DataFrame, Path, str], Files]] = {
    **{"pairs": pairs, "fastchat": fastchat, "arena": arena},
    **{"alpaca-eval": alpaca_eval, "reviews": reviews},
}
# These do not say which response was read first.
WITHOUT_ORDER = ("arena", "alpaca-eval")
