"""Reader of the release of Panickssery, Bowman & Feng (arXiv 2404.13076).

A thousand articles each of XSum and CNN/DailyMail, five sources of summaries, 35 judges: three
models and 32 that were fine-tuned from two of them. The release has no licence; it is read where it
lies, and only numbers derived from it are kept. The articles' texts are not part of the source.

- `item_id` is `xsum/<key>` or `cnn/<key>`, the cluster the article, the metadata its index: models
  were tuned on the first articles.
- A pair is two verdicts, one an order of presentation. The probabilities are those of the two
  labels in that order, as released; a GPT row holds the top token's probability p alone and gets
  p and 1 - p. A verdict of the task *inferiority* is the judge's answer: whom it named as worse.
- `stored` is the release's own score. It belongs to the pair, and both its verdicts carry it: the
  confidence in the own text, also where the question was which is worse. It is kept as it stands,
  with every defect; the metrics show it as the convention `released`.
- No release file holds the backward probability of GPT's recognition, nor any probability of the
  two base GPT models on XSum: those verdicts are choices without probabilities, and `stored` is
  all there is.
- Variants: `plain`; `rerun` (recognition asked again beside the inverted question);
  `others-named-human` and `others-named-model`; `labels-correct`, `labels-swapped`,
  `labels-random-correct` and `labels-random-swapped` (the random labels, split by what fell);
  `generations` (the tuned model's new summary, under the tuned model's name, against its base's).
- What a row lacks becomes a status: `unparsable` (a token that is no label), `low-mass` (no
  probability on the labels), `failed` (not a number, an order or a value missing, an article that
  is not among the thousand).
- `audit` lists every file, and how many of its rows are of a foreign article, or of one that the
  judge was tuned on. What is odd in the scores is shown from the tables
  (`selfpref.studies.panickssery.defects`).

`answers` reads the kinds of files. `articles` is apart: it reads XSum and CNN/DailyMail themselves.
"""

import json
import re
from pathlib import Path

import pandas as pd

from selfpref import progress, tables
from selfpref.download.fetch import fetch
from selfpref.formats.datasets import judges_of, written
from selfpref.params import Dataset
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.read import answers
from selfpref.studies.panickssery.read.answers import Released
from selfpref.studies.panickssery.read.articles import article_items

_SET, _EVALUATOR = r"(?P<dataset>xsum|cnn)", r"(?P<evaluator>\w+)"
_RESULTS = rf"{_SET}/{_EVALUATOR}_results\.json"
# What each path holds, in the order in which they are read: scores of one order come before the raw
# probabilities that they belong to. The wordings that name the others were tried on XSum alone.
PATTERNS = {
    "summaries": rf"summaries/{_SET}/\w+?_train_{_EVALUATOR}_responses\.json",
    "pairwise": rf"results/{_RESULTS}",
    "worse": rf"results_with_worse/{_RESULTS}",
    "named": rf"results_vs_(?P<condition>human|model)/{_EVALUATOR}_results\.json",
    "labels": rf"label_results/(?P<condition>correct|wrong|random)_label_results/{_RESULTS}",
    "raw-labels": rf"label_results/raw_llama_label_results/{_SET}_label_{_EVALUATOR}_raw\.json",
    "generations": rf"comparisons/{_SET}/{_EVALUATOR}_comparisons\.json",
    "recognition": rf"individual_setting_results/recognition_results/{_RESULTS}",
    "quality": rf"individual_setting_results/score_results/{_RESULTS}",
}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
        Released(path, files[path], kind, **match.groupdict())
        for kind, pattern in PATTERNS.items()
        for path in sorted(files)
        if (match := re.fullmatch(pattern, path))
    ]
    texts = {f: json.loads(f.local.read_bytes()) for f in known if f.kind == "summaries"}
    judged = [file for file in known if file not in texts]
    index: dict[str, dict[str, int]] = {}
    for file, found in texts.items():
        index.setdefault(file.dataset, {key: place for place, key in enumerate(found)})
    said = [
        (f"{file.dataset}/{key}", file.evaluator, text)
        for file, found in texts.items()
        for key, text in found.items()
    ]
    items = [
        article_items(name, [f"{name}/{key}" for key in keys], [""] * len(keys))
        for name, keys in index.items()
    ]
    parts: dict[str, list[pd.DataFrame]] = {"verdicts": [], "ratings": []}
    names = {file.evaluator for file in judged}
    wanted = judges_of(dataset, entry, names)
    table = evaluators.from_names(names).set_index("evaluator")
    single = {file.evaluator for file in judged if file.kind == "raw-labels"}
    scores: answers.Scores = {}
    told = [(file.path, "read", len(found), 0) for file, found in texts.items()]
    judged = [file for file in judged if file.evaluator in wanted]
    with progress.bar(len(judged), f"read {dataset}", unit="file") as bar:
        for file in judged:
            bar.update()
            frame = _placed(file, index[file.dataset], table.loc[file.evaluator])
            foreign, tuned_on = (~frame["known"]).sum(), frame["tuned_on"].sum()
            counts = [("read", 0), ("article of the other data set", foreign)]
            counts.append(("article that the judge was tuned on", tuned_on))
            told += [(file.path, name, len(frame), n) for name, n in counts if n or name == "read"]
            if file.kind in ("recognition", "quality"):
                parts["ratings"].append(answers.read_ratings(file, frame))
            elif file.kind == "labels" and file.evaluator in single:
                parts["verdicts"] += answers.keep_scores(file, frame, scores)
            else:
                parts["verdicts"] += answers.read_pairs(file, frame, scores)
    made = {"items": pd.concat(items, ignore_index=True), "responses": written(said, entry.study)}
    parts["audit"] = [pd.DataFrame(told, columns=["file", "finding", "rows", "affected"])]
    # The parts are let go one table after another.
    for name in [name for name, found in parts.items() if found]:
        rows = pd.concat(parts.pop(name), ignore_index=True)
        made[name] = tables.fill(rows, name, study=entry.study)
    return made


def _placed(file: Released, articles: dict[str, int], judge: pd.Series) -> pd.DataFrame:
    """The rows of a file with their articles and sources.

    Args:
        file: The file.
        articles: The data set's keys and their places.
        judge: Its row of the evaluators.

    Returns:
        The rows with `item_id`, `known` (the article is one of the data set), `tuned_on` (and the
        judge was tuned on it), `own` (whose text is the judge's own) and `other` (the text beside
        it).
    """
    # A bare NaN stands for a missing number.
    frame = pd.DataFrame(json.loads(file.local.read_bytes()))
    place, new = frame["key"].map(articles), file.kind == "generations"
    return frame.assign(
        item_id=f"{file.dataset}/" + frame["key"],
        known=place.notna(),
        tuned_on=place.lt(judge["held_out_from"]) & (judge["trained_on"] == file.dataset),
        own=file.evaluator if new else judge["family"],
        other=judge["family"] if new else frame.get("model"),
    )
