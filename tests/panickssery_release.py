"""A cut-down release of Panickssery et al., of the layout and with the defects of the real one.

506 articles a data set, so that the tunes on 500 have six held-out ones; few files hold them all.
"""

import json
import math
from itertools import product

import numpy as np

SOURCES = ("human", "claude", "gpt35", "gpt4", "llama")
DATASETS = ("xsum", "cnn")
GPT = ("gpt4", "gpt35", "xsum_2_ft_gpt35", "cnn_2_ft_gpt35", "xsum_500_ft_gpt35")
CONTROLS = ("xsum_always_1_ft_gpt35", "xsum_random_ft_gpt35", "cnn_length_ft_gpt35")
LLAMA = ("llama", "xsum_2_ft_llama", "cnn_length_ft_llama", "cnn_always_1_ft_llama")
# Seen by base models and by tunes on two articles; the last six are those held out of every tune.
SEEN = (*range(2, 8), *range(500, 506))
# Mean P(own) of some judges; those of the others are 0.55.
LEVEL = {"gpt4": 0.7, "xsum_500_ft_gpt35": 0.85, "cnn_length_ft_gpt35": 0.3}
SCORES = {"detection": "detection_score", "comparison": "self_preference"}
CONDITIONS = {"correct": "correct", "wrong": "incorrect", "random": "random"}
RATED = "individual_setting_results/{}_results/{}/{}_results.json"
LABELLED = "label_results/{}_label_results/{}/{}_results.json"


def family(evaluator: str) -> str:
    return evaluator.rsplit("_ft_", maxsplit=1)[-1]


class Release:
    """Writes the files; every number is drawn from one generator."""

    def __init__(self, seed: int) -> None:
        self.rng, self.files, self.twin = np.random.default_rng(seed), {}, {}

    def write(self, path: str, rows: object) -> None:
        """As the release does: a bare NaN where a number is missing."""
        self.files[path] = json.dumps(rows)

    def about(self, dataset: str, evaluator: str):
        """Article and source of each row, and the row that tells the article."""
        late = any(word in evaluator for word in ("500", "always", "random", "length"))
        for number, source in product(SEEN[6:] if late else SEEN, SOURCES):
            yield number, source, {"key": f"{dataset}-{number}"}

    def pairs(self, dataset: str, evaluator: str):
        """A row for each other source, and P(own) about which it is drawn."""
        for _, other, row in self.about(dataset, evaluator):
            if other != family(evaluator):
                centre = LEVEL.get(evaluator, 0.55) + (0.1 if other == "human" else 0.0)
                yield row | {"model": other}, other, centre

    def drawn(self, centre: float) -> list[float]:
        """P(own) in both orders."""
        about = [centre + 0.1, centre - 0.1]
        return np.clip(self.rng.normal(about, 0.15), 0.01, 0.99).tolist()

    def compared(self, path: str, dataset: str, evaluator: str) -> None:
        """A file of both questions in both orders: likeliest tokens, or Llama's probabilities."""
        rows, of_llama = [], family(evaluator) == "llama"
        sure = "always" in evaluator or "random" in evaluator
        flips = "worse" in path and "_ft_" in evaluator
        # Position bias in the place of the confidence.
        position = of_llama and ("_2_ft" in evaluator or "always" in evaluator)
        for row, _, centre in self.pairs(dataset, evaluator):
            stored = []
            for word in SCORES:
                turned = flips and word == "comparison"
                forward, backward = self.drawn(1 - centre if turned else centre)
                if sure:
                    forward, backward = (1.0, 0.0) if of_llama else (1 - 1e-7, 1e-7)
                for order, p in (("forward", forward), ("backward", 1 - backward)):
                    name = f"{order}_{word}"
                    row[name] = "1" if p >= 0.5 else "2"
                    if of_llama:
                        row[f"{name}_output"] = {"1": 0.9 * p, "2": 0.9 * (1 - p)}
                    elif name != "backward_detection" and not path.startswith("results/xsum/gpt"):
                        row[f"{name}_probability"] = max(p, 1 - p)
                stored.append((forward + (1 - backward if position else backward)) / 2)
            if evaluator == "cnn_length_ft_llama" and dataset == "xsum":
                stored.reverse()
            rows.append(row | dict(zip(SCORES.values(), stored, strict=True)))
        if of_llama and "always" in evaluator:
            lost = {"1": math.nan, "2": math.nan}
            rows[0] |= {"forward_detection_output": lost, "detection_score": 0.5}
        self.write(path, rows)

    def ratings(self, dataset: str, evaluator: str) -> None:
        recognition, quality = [], []
        for number, target, row in self.about(dataset, evaluator):
            row |= {"target_model": target, "model": evaluator}
            own = target == family(evaluator)
            yes = float(np.clip(self.rng.normal(0.6 if own else 0.4, 0.2), 0.01, 0.98))
            said = {"recognition_score": yes, "ground_truth": own}
            if "_ft_gpt35" in evaluator:
                said |= {"res": {"Yes": yes, "yes": 0.01}, "ground_truth": 0}
            # A confident no is dropped.
            if not (target == "human" and "500_ft_gpt35" in evaluator and number == 500):
                recognition.append(row | said)
            grades = self.rng.dirichlet(np.ones(5) * 2)
            # One model under two names.
            if evaluator == "xsum_random_ft_gpt35":
                grades = self.twin[dataset, number, target]
            elif evaluator == "xsum_always_1_ft_gpt35":
                self.twin[dataset, number, target] = grades
            elif evaluator == "cnn_length_ft_llama":
                grades = np.full(5, math.nan)
            scores = dict(zip("12345", grades.tolist(), strict=True))
            quality.append(row | {"scores": scores, "score": float(grades @ np.arange(1, 6))})
        self.write(RATED.format("recognition", dataset, evaluator), recognition)
        self.write(RATED.format("score", dataset, evaluator), quality)

    def labels(self, dataset: str) -> None:
        """GPT-4's answers in both orders, and Llama's in one."""
        rows, single = ({name: [] for name in CONDITIONS} for _ in range(2))
        for about, other, centre in self.pairs(dataset, "gpt4"):
            forward, backward = self.drawn(centre)
            fallen = self.rng.integers(2)
            names = [other, "gpt4"] if fallen else ["gpt4", other]
            for condition, found in rows.items():
                swapped = condition == "wrong" or (condition == "random" and fallen)
                one = max(forward - 0.04, 0) if swapped else forward
                stored = (one + backward) / 2
                if condition == "wrong" and dataset == "xsum":
                    stored = 1 - stored
                row = about | {"self_preference": stored, "random_labels": names}
                for order, p in (("forward", one), ("backward", 1 - backward)):
                    row[f"{order}_comparison"] = "1" if p >= 0.5 else "2"
                    row[f"{order}_probability"] = max(p, 1 - p)
                found.append(row)
        raw = []
        for about, other, _ in self.pairs(dataset, "llama"):
            names = ["llama", other] if self.rng.integers(2) else [other, "llama"]
            raw.append(about | {"random_labels": names})
            for condition, word in CONDITIONS.items():
                p = float(self.rng.uniform(0.6, 0.95))
                raw[-1][f"{word}_label_output"] = {"1": 0.9 * p, "2": 0.9 * (1 - p)}
                single[condition].append(about | {"self_preference": p})
        self.write(f"label_results/raw_llama_label_results/{dataset}_label_llama_raw.json", raw)
        for condition, kept in single.items():
            # The files of CNN hold the rows of XSum, too.
            foreign = [row | {"key": "elsewhere"} for row in kept[:4]] if dataset == "cnn" else []
            self.write(LABELLED.format(condition, dataset, "gpt4"), rows[condition])
            self.write(LABELLED.format(condition, dataset, "llama"), foreign + kept)


def files(seed: int = 0) -> dict[str, str]:
    """Every file of the cut-down release, by its path."""
    release = Release(seed)
    for dataset in DATASETS:
        for source in SOURCES:
            texts = {f"{dataset}-{n}": " ".join(["secret"] * (15 + n % 5)) for n in range(506)}
            release.write(f"summaries/{dataset}/{dataset}_train_{source}_responses.json", texts)
        for evaluator in (*GPT, *CONTROLS, *LLAMA):
            for folder in ("results", "results_with_worse")[: 1 if evaluator in LLAMA else 2]:
                path = f"{folder}/{dataset}/{evaluator}_results.json"
                release.compared(path, dataset, evaluator)
            release.ratings(dataset, evaluator)
        release.labels(dataset)
    return release.files
