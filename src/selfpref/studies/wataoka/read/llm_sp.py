"""Reader of LLM-SP: eleven judges' probabilities on answers known to be right or wrong.

Data of W.-L. Chen et al. (arXiv 2504.03846, `wlchen0206/llm-sp`, no licence): each judge on its own
answers beside those of seven other models, in both orders. MATH500, MBPP+ and 1,000 questions of
MMLU become data sets of their own, `<key>-math`, `<key>-mbpp` and `<key>-mmlu`: accuracy, and with
it everything else, differs between them. A file is a judge and an opponent, a row a question. What
matters in reading them:

- `assistent_1_answer` is always the judge's. `game_1_spb_score` is [A, tie, B] with it as A,
  `game_2_spb_score` the same with the texts swapped, so that B is the judge's own.
- The three sum to 1: they are shares of each other. How much probability the judge left for other
  words is not told, so no verdict is `low-mass`.
- Beside them stands the judge's first word (`game_1_output`), `T` for a tie, but not in most files
  of MATH500. It can be none of the labels, or not the likeliest of the three: it is counted, and
  the probabilities are the verdict.
- A tie can hold all of the probability; Eq. 3 is then a ratio of two numbers next to 0.
- Two texts can be the same to the letter. More often, since the judges' logits are coarse, both
  orders cancel, and rounding decides on which side of 1/2 the mean score lies.
- Which option of a question of MMLU is right is told nowhere. It is the one that all of its right
  answers name, if they agree (metadata `key`).
- Nobody voted. The annotator `key` prefers the right answer; two right or two wrong ones are a tie,
  which `truths` tells apart (`correct`, 1 or 0). No judge reads another's answers: no excess.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.seeds import sampled
from selfpref.studies.wataoka.read import SIDES, item, tables_of
from selfpref.tables.schemas import CORRECT, KEY, TIE
from selfpref.texts import option

FILES = re.compile(r"sp/(math|mbpp|mmlu)[^/]*/[^/]+/(.+)_(.+)_eval\.jsonl")
LABELS = ["A", "T", "B"]
# Shares of both responses below which Eq. 3 weighs what a label for a tie has left.
NOTHING = 1e-6
# Single precision: sums of two scores that are no further from 1 differ from it by rounding.
ROUNDED = 2e-7


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the three sets.

    Args:
        dataset: Prefix of the item ids, `<dataset>-<set>/<question>`.
        entry: The study, and which of the judges to read.
        source: The pinned files.

    Returns:
        items, responses, labels, truths, verdicts and audit.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    named = {
        match.groups(): local
        for path, local in sorted(fetch(source).items())
        if (match := FILES.fullmatch(path))
    }
    judges = judges_of(dataset, entry, (judge for _, judge, _ in named))
    rows = pd.concat(_rows(dataset, named, judges), ignore_index=True)
    sets = rows["item_id"].groupby(rows["item_id"].str.partition("/")[0])
    drawn = {name for _, names in sets for name in sampled(names.unique(), entry.sample)}
    rows = rows[rows["item_id"].isin(drawn)].reset_index(drop=True)
    both = [
        rows[["item_id", side, f"assistent_{n}_answer", f"assistent_{n}_is_correct"]].set_axis(
            ["item_id", "responder", "text", "score"], axis=1
        )
        for n, side in enumerate(SIDES, start=1)
    ]
    # Each answer stands in the files of all its opponents.
    texts = pd.concat(both).drop_duplicates(["item_id", "responder"])
    asked = rows.drop_duplicates("item_id")
    right = texts[texts["score"].astype(bool) & texts["item_id"].str.contains("-mmlu/")]
    named_by = right["text"].map(option).groupby(right["item_id"]).agg(set)
    keys = {name: next(iter(found)) for name, found in named_by.items() if len(found) == 1}
    items = [
        item(name, name, [text], key=keys.get(name))
        for name, text in asked[["item_id", "problem"]].to_numpy()
    ]
    right = [rows[f"assistent_{n}_is_correct"].astype(int) for n in (1, 2)]
    votes = rows[["item_id", *SIDES]].assign(
        who=KEY, winner=np.select([right[0] > right[1], right[0] < right[1]], ["a", "b"], TIE)
    )
    answers = texts[["item_id", "responder", "text"]]
    truths = texts[["item_id", "responder", "score"]].astype({"score": float})
    return tables_of(entry.study, items, answers, votes) | {
        "truths": tables.fill(truths, "truths", study=entry.study, metric=CORRECT),
        "verdicts": tables.fill(_verdicts(rows), "verdicts", study=entry.study),
        "audit": pd.concat([_audit(entry.study, *part) for part in rows.groupby("file")]),
    }


def _rows(
    dataset: str, named: Mapping[tuple[str, ...], Path], judges: set[str]
) -> Iterator[pd.DataFrame]:
    """The rows of each file of these judges, with its names."""
    for (of, judge, opponent), local in named.items():
        if judge in judges:
            rows = pd.read_json(local, lines=True, engine="pyarrow")
            yield rows.assign(
                file=f"{dataset}-{of}/{judge}",
                responder_a=judge,
                responder_b=opponent,
                item_id=f"{dataset}-{of}/" + rows["unique_id"].astype(str),
            )


def _shares(rows: pd.DataFrame, game: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """[A, tie, B] of each row in one order; NaN without a score."""
    scores = rows[f"game_{game}_spb_score"]
    missing = np.full(len(LABELS), np.nan)
    return np.array([missing if one is None else one for one in scores], dtype=float)


def _verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of both orders, the responses as they were read."""
    made = []
    for game, sides in enumerate((SIDES, SIDES[::-1]), start=1):
        shares = _shares(rows, game)
        a, tie, b = shares.T
        one, two = (rows[side].astype("str") for side in sides)
        # Without any score no comparison holds, and nothing is chosen.
        least = [tie >= np.maximum(a, b), a > b, a < b, a == b]
        found = rows[["item_id"]].assign(judge=rows["responder_a"], mass=shares.sum(axis=1))
        said = pd.Series(np.select(least, [TIE, one, two, TIE], ""), found.index)
        found["choice"] = said.where(said.ne(""), None)
        found["status"] = np.where(found["choice"].isna(), "unparsable", "ok")
        pairs = {"candidates": np.stack([one, two], 1), "probabilities": shares[:, [0, 2]]}
        for name, pair in pairs.items():
            found[name] = pd.Series([*pair], found.index)
        found["probabilities"] = found["probabilities"].where(found["status"].eq("ok"), None)
        made.append(found)
    return pd.concat(made, ignore_index=True)


def _audit(study: str, file: str, rows: pd.DataFrame) -> pd.DataFrame:
    """What misleads in the files of one judge; of rows with both orders, in either."""
    found = {"both texts are the same": rows["assistent_1_answer"].eq(rows["assistent_2_answer"])}
    one, two = (_shares(rows, game)[:, [0, 2]] for game in (1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = one[:, 0] / one.sum(axis=1) + two[:, 1] / two.sum(axis=1)
    found["both orders cancel but for rounding"] = np.abs(total - 1) < ROUNDED
    for game in (1, 2):
        shares, name = _shares(rows, game), f"order {game}"
        said = rows.get(f"game_{game}_output", pd.Series(np.nan, rows.index))
        label, best = said.isin(LABELS), np.take(LABELS, shares.argmax(axis=1))
        found |= {
            f"{name}: no score": np.isnan(shares).any(axis=1),
            f"{name}: no stored output": said.isna(),
            f"{name}: stored output is no label": said.notna() & ~label,
            f"{name}: stored label is not the likeliest": label & said.ne(best),
            f"{name}: next to nothing for either response": shares[:, [0, 2]].sum(1) < NOTHING,
        }
    return audited(study, file, len(rows), {name: int(at.sum()) for name, at in found.items()})
