"""Reader of the release of Panickssery, Bowman & Feng (arXiv 2404.13076).

A thousand articles each of XSum and CNN/DailyMail, five sources of summaries, 35 judges: three
models and 32 that were fine-tuned from two of them. The release has no licence; it is read where it
lies, and only numbers derived from it are kept. The articles' texts are not part of the source.

- `item_id` is `xsum/<key>` or `cnn/<key>`, the cluster the article, the metadata its index: models
  were tuned on the first articles.
- A pair is two verdicts, one an order of presentation. The probabilities are those of the two
  labels in that order, as released. A verdict of the task *inferiority* is the judge's answer: whom
  it named as worse.
- `stored` is the release's own score. It belongs to the pair, and both its verdicts carry it: the
  confidence in the own text, also where the question was which is worse. It is kept as it stands,
  with every defect; the metrics show it as the convention `released`.
- No release file holds the backward probability of GPT's recognition, nor any probability of the
  two base GPT models on XSum: those verdicts are choices without probabilities, and `stored` is
  all there is.
- Variants: `plain`; `labels-correct`, `labels-swapped`, `labels-random-correct` and
  `labels-random-swapped` (the random labels, split by what fell). What no number here rests on is
  not read: others named in other words, new summaries of tuned models, and recognition asked again
  beside the inverted question.
- What a row lacks becomes a status: `unparsable` (a token that is no label), `low-mass` (no
  probability on the labels), `failed` (not a number, a value missing, an article that is not among
  the thousand).
- `audit` lists every file, and how many of its rows are of a foreign article, or of one that the
  judge was tuned on. What is odd in the scores is shown from the tables
  (`selfpref.studies.panickssery.defects`).

A file is a JSON list of objects, where a bare `NaN` stands for a missing number; a value that a row
lacks is missing in its column. All files are pinned by their checksums: what they hold is known.

**Pairs.** Whatever a file stores of an answer becomes probabilities of the labels "1" and "2", and
a choice:

- from probabilities (Llama): those of the two tokens among the whole vocabulary; the larger one
  decides, equal ones are a tie;
- from a token (GPT): the likeliest token decides. Its probability p, where the release holds it, is
  that label's, and 1 - p is given to the other label.

Labels told the judge who wrote what: the true ones, swapped ones, or random ones. GPT models judged
both orders. Llama judged one, its own text first; its raw probabilities lie in one file a data set,
and further files hold P("1") / (P("1") + P("2")) of each condition. Two of these hold the rows of
the other data set's articles as well, which have no answer here: they failed.

**Single summaries**, "did you write this?" and a quality from 1 to 5:

- Recognition: the score is P(yes), every spelling of yes among the released tokens added up; the
  distribution is yes, no. Of the base models and of Llama only P("Yes") is there. The release drops
  a row whose two likeliest tokens hold no "Yes"; such rows come back here as `unparsable`.
- Quality: the score is the expectation of the digits' distribution, sum_k k p_k / sum_k p_k.

`articles` is apart: it reads XSum and CNN/DailyMail themselves.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from selfpref import progress, tables
from selfpref.download.fetch import fetch
from selfpref.formats.datasets import judges_of, written
from selfpref.formats.records import Frames
from selfpref.params import Dataset
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.read.articles import article_items
from selfpref.tables.schemas import TIE

_SET, _EVALUATOR = r"(?P<dataset>xsum|cnn)", r"(?P<evaluator>\w+)"
_RESULTS = rf"{_SET}/{_EVALUATOR}_results\.json"
# What each path holds, in the order in which they are read: scores of one order come before the raw
# probabilities that they belong to.
PATTERNS = {
    "summaries": rf"summaries/{_SET}/\w+?_train_{_EVALUATOR}_responses\.json",
    "pairwise": rf"results/{_RESULTS}",
    "worse": rf"results_with_worse/{_RESULTS}",
    "labels": rf"label_results/(?P<condition>correct|wrong|random)_label_results/{_RESULTS}",
    "raw-labels": rf"label_results/raw_llama_label_results/{_SET}_label_{_EVALUATOR}_raw\.json",
    "recognition": rf"individual_setting_results/recognition_results/{_RESULTS}",
    "quality": rf"individual_setting_results/score_results/{_RESULTS}",
}
LABELS, GRADES, SAID = [*"12"], [*"12345"], ["yes", "no"]
ORDERS = {"forward": ["own", "other"], "backward": ["other", "own"]}
# The variant of each condition of labels.
CONDITIONS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
# What each kind of file asked: the task, the field of the score, and that of the answer by order.
# Raw labels are of one order; their scores are joined by condition.
_PREFERRED = ("preference", "self_preference", "{}_comparison")
QUESTIONS = {
    "pairwise": [_PREFERRED, ("recognition", "detection_score", "{}_detection")],
    "worse": [("inferiority", *_PREFERRED[1:])],
    "labels": [_PREFERRED],
    "raw-labels": [
        ("preference", "correct", "correct_label"),
        ("preference", "wrong", "incorrect_label"),
        ("preference", "random", "random_label"),
    ],
}
FINDINGS = "article of the other data set", "article that the judge was tuned on"
PAIR, TEXT = ["item_id", "other"], ["item_id", "responder"]


class Released(NamedTuple):
    """One file and what its path says.

    Attributes:
        path: In the repository.
        kind: Which kind of file, a key of `PATTERNS`.
        evaluator: Who judged; of summaries, who wrote.
        dataset: `xsum` or `cnn`.
        condition: Of labels, which.
    """

    path: str
    kind: str
    evaluator: str
    dataset: str
    condition: str = ""


def read(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of the release.

    Args:
        dataset: The key of the data set in the parameters; item ids carry the release's own names.
        entry: The study, and which judges to read.
        source: The pinned files.

    Returns:
        items, responses, verdicts, ratings and audit.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    files = fetch(source)
    known = [
        Released(path, kind, **match.groupdict())
        for kind, pattern in PATTERNS.items()
        for path in sorted(files)
        if (match := re.fullmatch(pattern, path))
    ]
    summaries = [file for file in known if file.kind == "summaries"]
    judged = [file for file in known if file.kind != "summaries"]
    index: dict[str, dict[str, int]] = {}
    said, told = [], []
    for file in summaries:
        texts = json.loads(files[file.path].read_bytes())
        index[file.dataset] = {key: place for place, key in enumerate(texts)}
        told.append((file.path, "read", len(texts), 0))
        said += [(f"{file.dataset}/{k}", file.evaluator, text) for k, text in texts.items()]
    names = {file.evaluator for file in judged}
    wanted = judges_of(dataset, entry, names)
    single = {file.evaluator for file in judged if file.kind == "raw-labels"}
    judged = [file for file in judged if file.evaluator in wanted]
    judges = evaluators.from_names(names).set_index("evaluator")
    parts: dict[str, list[pd.DataFrame]] = {"verdicts": [], "ratings": []}
    # Of labels in one order the scores of each condition, by data set: the raw file lacks them.
    scores: dict[str, list[pd.Series]] = {name: [] for name in index}
    with progress.bar(len(judged), f"read {dataset}", unit="file") as bar:
        for file in judged:
            bar.update()
            frame = pd.DataFrame(json.loads(files[file.path].read_bytes()))
            judge, place = judges.loc[file.evaluator], frame["key"].map(index[file.dataset])
            seen = place.lt(judge["held_out_from"]) & (judge["trained_on"] == file.dataset)
            told.append((file.path, "read", len(frame), 0))
            for finding, n in zip(FINDINGS, (place.isna().sum(), seen.sum()), strict=True):
                told += [(file.path, finding, len(frame), n)] * bool(n)
            frame = frame.rename(columns={"target_model": "responder", "model": "other"})
            frame = frame.assign(item_id=f"{file.dataset}/" + frame["key"], own=judge["family"])
            if file.kind in RATED:
                rated = RATED[file.kind](frame)
                parts["ratings"].append(rated.assign(judge=file.evaluator, task=file.kind))
                continue
            if file.kind == "labels" and file.evaluator in single:
                stored = frame.drop_duplicates(PAIR).set_index(PAIR)["self_preference"]
                scores[file.dataset].append(stored.rename(file.condition))
                frame = frame[place.isna()]
            elif file.kind == "raw-labels":
                frame = frame.join(pd.concat(scores[file.dataset], axis="columns"), on=PAIR)
            parts["verdicts"] += _verdicts(file, frame)
    made = {"responses": written(said, entry.study)}
    items = [
        article_items(name, [f"{name}/{key}" for key in keys], [""] * len(keys))
        for name, keys in index.items()
    ]
    made["items"] = pd.concat(items, ignore_index=True)
    parts["audit"] = [pd.DataFrame(told, columns=["file", "finding", "rows", "affected"])]
    # The parts are let go one table after another.
    for name in ("verdicts", "ratings", "audit"):
        if found := parts.pop(name):
            rows = pd.concat(found, ignore_index=True)
            made[name] = tables.fill(rows, name, study=entry.study)
    return made


def _field(frame: pd.DataFrame, name: str) -> pd.Series:
    """A field that the release may lack: missing there."""
    return frame.reindex(columns=[name])[name]


def _by_label(values: pd.Series, labels: list[str]) -> pd.DataFrame:
    """What a field says that maps labels to their probabilities.

    Returns:
        The probability of each label, NaN where missing; `mass` (their sum) and `status`.
    """
    maps = [value if isinstance(value, dict) else {} for value in values]
    told = pd.DataFrame(maps, values.index, labels, dtype=float)
    mass = told.sum(axis=1, skipna=False)
    status = np.select([mass.isna(), mass.eq(0)], ["failed", "low-mass"], "ok")
    return told.assign(mass=mass, status=status)


def _lists(values: pd.DataFrame) -> pd.Series:
    """A column of lists, missing where a value is."""
    return pd.Series(values.to_numpy().tolist(), values.index).where(values.notna().all(axis=1))


# --- pairs


def _verdicts(file: Released, frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The verdicts of a file of pairs, a frame a question and order, the own text first and second.

    Args:
        file: The file.
        frame: Its rows with `item_id`, `own` (whose text is the judge's own) and `other`; of raw
            labels with the score of each condition.
    """
    tops = {f"{order}_probability": f"{order}_comparison_probability" for order in ORDERS}
    frame, frames = frame.rename(columns=tops), []
    for task, score, field in QUESTIONS[file.kind]:
        variant = CONDITIONS.get(file.condition or score, "plain")
        rows = frame[["item_id"]].assign(judge=file.evaluator, task=task, variant=variant)
        rows["stored"] = _field(frame, score).astype(float)
        if variant == CONDITIONS["random"] and "random_labels" in frame:
            # The first label is the one that the own text got.
            fallen = frame["random_labels"].str[0].eq(frame["own"])
            rows["variant"] += fallen.map({True: "-correct", False: "-swapped"})
        # Of who is worse the release stores who is better.
        turn = -1 if task == "inferiority" else 1
        # Of an article of the other data set there is no answer: one failed.
        names = [*dict.fromkeys(map(field.format, ORDERS))]
        there = [name for name in names if name in frame or f"{name}_output" in frame]
        for name, order in zip(there or names[:1], ORDERS.values(), strict=False):
            told, (first, second) = _answers(frame, name), (frame[text] for text in order)
            lead = turn * told["lead"]
            choice = first.where(lead > 0, second.where(lead < 0, TIE))
            frames.append(
                rows.assign(
                    candidates=frame[order].to_numpy().tolist(),
                    probabilities=_lists(told[LABELS[::turn]]),
                    mass=told["mass"],
                    choice=choice.where(lead.notna()),
                    status=told["status"],
                )
            )
    return frames


def _answers(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The answers to a question in one order, however the file stores them.

    Args:
        frame: The rows.
        name: The field of the answer; of probabilities with `_output` after it, of the likeliest
            token's with `_probability`.

    Returns:
        The probability of each label and the `mass` of both, NaN where unknown; `lead` (above zero
        where the first label is named, below where the second is, zero for a tie, NaN without an
        answer) and `status`.
    """
    if f"{name}_output" in frame:
        told = _by_label(frame[f"{name}_output"], LABELS)
        return told.assign(lead=(told["1"] - told["2"]).where(told["status"].eq("ok")))
    values = _field(frame, name)
    lead = values.map({"1": 1.0, "2": -1.0}).astype(float)
    status = np.select([values.isna(), lead.isna()], ["failed", "unparsable"], "ok")
    p = _field(frame, f"{name}_probability").astype(float).where(lead.notna())
    # Rounding lets a released probability exceed 1 by a millionth.
    one, two = (p.where(named, 1 - p).clip(0, 1) for named in (lead > 0, lead < 0))
    return pd.DataFrame({"1": one, "2": two, "mass": np.nan, "lead": lead, "status": status})


# --- single summaries


def _said(tokens: dict[str, float]) -> dict[str, float]:
    """P of yes and of no, every spelling added up."""
    found = dict.fromkeys(SAID, 0.0)
    for token, p in tokens.items():
        if (word := token.strip(" \t\n\"'.,").lower()) in found:
            found[word] += p
    return found


def _recognition(frame: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of "did you write this?"."""
    told = _by_label(_field(frame, "res").map(_said, na_action="ignore"), SAID)
    stored = _field(frame, "recognition_score").astype(float)
    rows = frame[TEXT].assign(
        score=told["yes"].fillna(stored),
        stored=stored,
        mass=told["mass"],
        distribution=_lists(told[SAID]),
        status="ok",
    )
    rows = rows.set_index(TEXT)
    every = pd.MultiIndex.from_product(rows.index.levels)
    return rows.reindex(every).fillna({"status": "unparsable"}).reset_index()


def _quality(frame: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a file of quality scores."""
    told = _by_label(frame["scores"], GRADES)
    mean = told[GRADES] @ np.arange(1, 6) / told["mass"]
    return frame[TEXT].assign(
        score=mean.where(told["status"].eq("ok")),
        stored=_field(frame, "score").astype(float),
        distribution=_lists(told[GRADES]),
        **told[["mass", "status"]],
    )


RATED = {"recognition": _recognition, "quality": _quality}
