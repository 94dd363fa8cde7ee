"""A cut-down release of Panickssery et al., of the layout and with the defects of the real one.

506 articles a data set, so that the tunes on 500 have six held-out ones; few files hold them all.
"""

import json
import math

import numpy as np

ARTICLES = 506
SOURCES = ("human", "claude", "gpt35", "gpt4", "llama")
DATASETS = ("xsum", "cnn")
GPT = ("gpt4", "gpt35", "xsum_2_ft_gpt35", "cnn_2_ft_gpt35", "xsum_500_ft_gpt35")
CONTROLS = ("xsum_always_1_ft_gpt35", "xsum_random_ft_gpt35", "cnn_length_ft_gpt35")
LLAMA = ("llama", "xsum_2_ft_llama", "cnn_length_ft_llama", "cnn_always_1_ft_llama")
# Seen by base models and by tunes on two articles; the last six are those held out of every tune.
SEEN = (*range(2, 8), *range(500, 506))


WORDS = (("detection", "detection_score"), ("comparison", "self_preference"))
RATED = "individual_setting_results"
LABELLED = "label_results/{}_label_results/{}/{}_results.json"


def family(evaluator: str) -> str:
    return evaluator.rsplit("_ft_", maxsplit=1)[-1]


def likeliest(label: str, p: float) -> tuple[str, float]:
    """The likeliest token and its probability, where a label has p."""
    return (label, p) if p >= 0.5 else ("12"[label == "1"], 1 - p)


def pair(p: float, mass: float = 1.0) -> dict[str, float]:
    return {"1": mass * p, "2": mass * (1 - p)}


class Release:
    """Writes the files; every number is drawn from one generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.files: dict[str, str] = {}
        self.twin: dict[object, np.ndarray] = {}

    def write(self, path: str, rows: object) -> None:
        """As the release does: a bare NaN where a number is missing."""
        self.files[path] = json.dumps(rows)

    def about(self, dataset: str, evaluator: str, sources: tuple[str, ...] = SOURCES):
        """Article and source of each row, and the row that tells them."""
        late = any(word in evaluator for word in ("500", "always", "random", "length"))
        for number in SEEN[6:] if late else SEEN:
            for source in sources:
                yield number, source, {"key": f"{dataset}-{number}"}

    def pairs(self, dataset: str, evaluator: str):
        """A row for each other source, and P(own) about which it is drawn."""
        level = {"gpt4": 0.7, "xsum_500_ft_gpt35": 0.85, "cnn_length_ft_gpt35": 0.3}
        for _, other, row in self.about(dataset, evaluator):
            if other != family(evaluator):
                centre = level.get(evaluator, 0.55) + (0.1 if other == "human" else 0.0)
                if "always" in evaluator or "random" in evaluator:
                    centre = 0.5
                yield row | {"model": other}, other, centre

    def drawn(self, centre: float) -> tuple[float, float]:
        """P(own) in both orders."""
        forward, backward = np.clip(self.rng.normal([centre + 0.1, centre - 0.1], 0.15), 0.01, 0.99)
        return float(forward), float(backward)

    def gpt(self, path: str, dataset: str, evaluator: str, *, worse: bool = False) -> None:
        rows, bare = [], path.startswith("results/xsum/gpt")
        for row, _, centre in self.pairs(dataset, evaluator):
            for word, score in WORDS:
                turned = worse and word == "comparison" and "_ft_" in evaluator
                forward, backward = self.drawn(1 - centre if turned else centre)
                if "always" in evaluator or "random" in evaluator:
                    forward, backward = 1 - 1e-7, 1e-7
                ((token, top), (back, behind)) = likeliest("1", forward), likeliest("2", backward)
                row |= {f"forward_{word}": token, f"backward_{word}": back}
                row[score] = (forward + backward) / 2
                if not bare:
                    row[f"forward_{word}_probability"] = top
                if not bare and word == "comparison":
                    row[f"backward_{word}_probability"] = behind
            rows.append(row)
        self.write(path, rows)

    def llama(self, dataset: str, evaluator: str) -> None:
        rows = []
        for row, _, centre in self.pairs(dataset, evaluator):
            stored = []
            for word in ("detection", "comparison"):
                forward, backward = self.drawn(centre)
                if "always" in evaluator:
                    forward, backward = 1.0, 0.0
                row[f"forward_{word}_output"] = pair(forward, 0.9)
                row[f"backward_{word}_output"] = pair(1 - backward, 0.9)
                row[f"forward_{word}"] = "1" if forward >= 0.5 else "2"
                row[f"backward_{word}"] = "1" if backward <= 0.5 else "2"
                # Position bias in the place of the confidence.
                position = "_2_ft" in evaluator or "always" in evaluator
                stored.append((forward + (1 - backward if position else backward)) / 2)
            if evaluator == "cnn_length_ft_llama" and dataset == "xsum":
                stored.reverse()
            rows.append(
                row | {score: value for (_, score), value in zip(WORDS, stored, strict=True)}
            )
        if "always" in evaluator:
            lost = {"1": math.nan, "2": math.nan}
            rows[0] |= {"forward_detection_output": lost, "detection_score": 0.5}
        self.write(f"results/{dataset}/{evaluator}_results.json", rows)

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
            if evaluator == "cnn_length_ft_llama":
                grades = np.full(5, math.nan)
            scores = {str(k): float(p) for k, p in enumerate(grades, start=1)}
            quality.append(row | {"scores": scores, "score": float(grades @ np.arange(1, 6))})
        for kind, rows in (("recognition", recognition), ("score", quality)):
            self.write(f"{RATED}/{kind}_results/{dataset}/{evaluator}_results.json", rows)

    def labels(self, dataset: str, evaluator: str) -> None:
        rows: dict[str, list[dict[str, object]]] = {"correct": [], "wrong": [], "random": []}
        for about, other, centre in self.pairs(dataset, evaluator):
            names, base = [evaluator, other], self.drawn(centre)
            under = {"correct": base, "wrong": (float(np.clip(base[0] - 0.04, 0, 1)), base[1])}
            fallen = self.rng.integers(2)
            under["random"] = under["wrong" if fallen else "correct"]
            for condition, (forward, backward) in under.items():
                ((token, top), (back, behind)) = likeliest("1", forward), likeliest("2", backward)
                stored = (forward + backward) / 2
                if condition == "wrong" and dataset == "xsum":
                    stored = 1 - stored
                row = about | {"forward_comparison": token, "forward_probability": top}
                row |= {"backward_comparison": back, "backward_probability": behind}
                row["self_preference"] = stored
                if condition == "random":
                    row["random_labels"] = names[::-1] if fallen else names
                rows[condition].append(row)
        for condition, found in rows.items():
            self.write(LABELLED.format(condition, dataset, evaluator), found)

    def llama_labels(self, dataset: str) -> None:
        words = {"correct": "correct", "wrong": "incorrect", "random": "random"}
        raw, single = [], {condition: [] for condition in words}
        for about, other, _ in self.pairs(dataset, "llama"):
            names = ["llama", other] if self.rng.integers(2) else [other, "llama"]
            row: dict[str, object] = about | {"random_labels": names}
            for condition, word in words.items():
                first = float(self.rng.uniform(0.6, 0.95))
                row[f"{word}_label_output"] = pair(first, 0.9)
                model = {"model": "human"} if condition == "random" else {}
                single[condition].append(about | {"self_preference": first} | model)
            raw.append(row)
        self.write(f"label_results/raw_llama_label_results/{dataset}_label_llama_raw.json", raw)
        for condition, found in single.items():
            # The files of CNN hold the rows of XSum, too.
            foreign = [row | {"key": "elsewhere"} for row in found[:4]] if dataset == "cnn" else []
            self.write(LABELLED.format(condition, dataset, "llama"), foreign + found)


def files(seed: int = 0) -> dict[str, str]:
    """Every file of the cut-down release, by its path."""
    release = Release(seed)
    for dataset in DATASETS:
        for source in SOURCES:
            words = {"human": 12, "llama": 18}.get(source, 15)
            texts = {
                f"{dataset}-{n}": " ".join(["secret"] * (words + n % 5)) for n in range(ARTICLES)
            }
            release.write(f"summaries/{dataset}/{dataset}_train_{source}_responses.json", texts)
        for evaluator in (*GPT, *CONTROLS):
            for folder, worse in (("results", False), ("results_with_worse", True)):
                path = f"{folder}/{dataset}/{evaluator}_results.json"
                release.gpt(path, dataset, evaluator, worse=worse)
        for evaluator in LLAMA:
            release.llama(dataset, evaluator)
        for evaluator in (*GPT, *CONTROLS, *LLAMA):
            release.ratings(dataset, evaluator)
        release.labels(dataset, "gpt4")
        release.llama_labels(dataset)
    return release.files
