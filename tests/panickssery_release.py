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


def key(dataset: str, number: int) -> str:
    return f"{dataset}-{number}"


def family(evaluator: str) -> str:
    return evaluator.rsplit("_ft_", maxsplit=1)[-1]


def articles(evaluator: str) -> tuple[int, ...]:
    late = any(word in evaluator for word in ("500", "always", "random", "length"))
    return SEEN[6:] if late else SEEN


def others(evaluator: str) -> list[str]:
    return [source for source in SOURCES if source != family(evaluator)]


def dumped(rows: object) -> str:
    """As the release writes them: a bare NaN where a number is missing."""
    return json.dumps(rows)


def tops(forward: float, backward: float) -> tuple[str, float, str, float]:
    """Likeliest tokens and their probabilities from P(own) in both orders."""
    one = ("1", forward) if forward >= 0.5 else ("2", 1 - forward)
    two = ("2", backward) if backward >= 0.5 else ("1", 1 - backward)
    return (*one, *two)


class Release:
    """Writes the files; every number is drawn from one generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.files: dict[str, str] = {}

    def drawn(self, centre: float) -> tuple[float, float]:
        """P(own) in both orders."""
        forward, backward = np.clip(self.rng.normal([centre + 0.1, centre - 0.1], 0.15), 0.01, 0.99)
        return float(forward), float(backward)

    def centre(self, evaluator: str, other: str) -> float:
        if "always" in evaluator or "random" in evaluator:
            return 0.5
        level = {"gpt4": 0.7, "xsum_500_ft_gpt35": 0.85, "cnn_length_ft_gpt35": 0.3}
        return level.get(evaluator, 0.55) + (0.1 if other == "human" else 0.0)

    def gpt(self, path: str, dataset: str, evaluator: str, *, worse: bool = False) -> None:
        rows = []
        bare = path.startswith("results/xsum/gpt")
        for number in articles(evaluator):
            for other in others(evaluator):
                row: dict[str, object] = {"key": key(dataset, number), "model": other}
                for word, score in (
                    ("detection", "detection_score"),
                    ("comparison", "self_preference"),
                ):
                    centre = self.centre(evaluator, other)
                    turned = worse and word == "comparison" and "_ft_" in evaluator
                    forward, backward = self.drawn(1 - centre if turned else centre)
                    if "always" in evaluator or "random" in evaluator:
                        forward, backward = 1 - 1e-7, 1e-7
                    token, top, back, behind = tops(forward, backward)
                    row |= {f"forward_{word}": token, f"backward_{word}": back}
                    row[score] = (forward + backward) / 2
                    if not bare:
                        row[f"forward_{word}_probability"] = top
                    if not bare and word == "comparison":
                        row[f"backward_{word}_probability"] = behind
                rows.append(row)
        self.files[path] = dumped(rows)

    def llama(self, dataset: str, evaluator: str) -> None:
        rows = []
        for number in articles(evaluator):
            for other in others(evaluator):
                row: dict[str, object] = {"key": key(dataset, number), "model": other}
                confidence, position = {}, {}
                for word in ("detection", "comparison"):
                    forward, backward = self.drawn(self.centre(evaluator, other))
                    if "always" in evaluator:
                        forward, backward = 1.0, 0.0
                    mass = 0.9
                    row[f"forward_{word}_output"] = {"1": mass * forward, "2": mass * (1 - forward)}
                    row[f"backward_{word}_output"] = {
                        "1": mass * (1 - backward),
                        "2": mass * backward,
                    }
                    row[f"forward_{word}"] = "1" if forward >= 0.5 else "2"
                    row[f"backward_{word}"] = "1" if backward <= 0.5 else "2"
                    confidence[word] = (forward + backward) / 2
                    position[word] = (forward + 1 - backward) / 2
                stored = position if "_2_ft" in evaluator or "always" in evaluator else confidence
                words = ("detection", "comparison")
                if evaluator == "cnn_length_ft_llama" and dataset == "xsum":
                    words = words[::-1]
                row["detection_score"] = stored[words[0]]
                row["self_preference"] = stored[words[1]]
                rows.append(row)
        if "always" in evaluator:
            rows[0] |= {
                "forward_detection_output": {"1": math.nan, "2": math.nan},
                "detection_score": 0.5,
            }
        self.files[f"results/{dataset}/{evaluator}_results.json"] = dumped(rows)

    def ratings(self, dataset: str, evaluator: str) -> None:
        recognition, quality = [], []
        for number in articles(evaluator):
            for target in SOURCES:
                about = {"key": key(dataset, number), "target_model": target}
                own = target == family(evaluator)
                yes = float(np.clip(self.rng.normal(0.6 if own else 0.4, 0.2), 0.01, 0.98))
                row = about | {"model": evaluator, "recognition_score": yes, "ground_truth": own}
                if "_ft_gpt35" in evaluator:
                    row |= {"res": {"Yes": yes, "yes": 0.01}, "ground_truth": 0}
                # A confident no is dropped.
                if not (target == "human" and "500_ft_gpt35" in evaluator and number == 500):
                    recognition.append(row)
                grades = self.rng.dirichlet(np.ones(5) * 2)
                if evaluator == "xsum_random_ft_gpt35":
                    grades = self.twin[dataset, number, target]
                elif evaluator == "xsum_always_1_ft_gpt35":
                    self.twin[dataset, number, target] = grades
                scores = {str(k): float(p) for k, p in enumerate(grades, start=1)}
                score = float(grades @ np.arange(1, 6))
                if evaluator == "cnn_length_ft_llama":
                    scores, score = dict.fromkeys(scores, math.nan), math.nan
                quality.append(about | {"model": evaluator, "scores": scores, "score": score})
        folder = "individual_setting_results"
        path = f"{dataset}/{evaluator}_results.json"
        self.files[f"{folder}/recognition_results/{path}"] = dumped(recognition)
        self.files[f"{folder}/score_results/{path}"] = dumped(quality)

    def labels(self, dataset: str, evaluator: str) -> None:
        rows: dict[str, list[dict[str, object]]] = {"correct": [], "wrong": [], "random": []}
        for number in articles(evaluator):
            for other in others(evaluator):
                about = {"key": key(dataset, number), "model": other}
                names = [evaluator, other]
                base = self.drawn(self.centre(evaluator, other))
                under = {
                    "correct": base,
                    "wrong": (float(np.clip(base[0] - 0.04, 0, 1)), base[1]),
                }
                fallen = self.rng.integers(2)
                under["random"] = under["wrong" if fallen else "correct"]
                for condition, (forward, backward) in under.items():
                    token, top, back, behind = tops(forward, backward)
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
            path = f"label_results/{condition}_label_results/{dataset}/{evaluator}_results.json"
            self.files[path] = dumped(found)

    def llama_labels(self, dataset: str) -> None:
        raw, single = [], {"correct": [], "wrong": [], "random": []}
        for number in SEEN:
            for other in others("llama"):
                about = {"key": key(dataset, number), "model": other}
                row: dict[str, object] = dict(about)
                row["random_labels"] = (
                    ["llama", other] if self.rng.integers(2) else [other, "llama"]
                )
                for condition, word in (
                    ("correct", "correct"),
                    ("wrong", "incorrect"),
                    ("random", "random"),
                ):
                    first = float(self.rng.uniform(0.6, 0.95))
                    row[f"{word}_label_output"] = {"1": 0.9 * first, "2": 0.9 * (1 - first)}
                    kept = dict(about) | {"self_preference": first}
                    if condition == "random":
                        kept["model"] = "human"
                    single[condition].append(kept)
                raw.append(row)
        folder = "label_results"
        self.files[f"{folder}/raw_llama_label_results/{dataset}_label_llama_raw.json"] = dumped(raw)
        for condition, found in single.items():
            # The files of CNN hold the rows of XSum, too.
            foreign = [row | {"key": "elsewhere"} for row in found[:4]] if dataset == "cnn" else []
            path = f"{folder}/{condition}_label_results/{dataset}/llama_results.json"
            self.files[path] = dumped(foreign + found)

    def generations(self, dataset: str, evaluator: str) -> None:
        rows = []
        for number in range(5):
            row: dict[str, object] = {"key": key(dataset, number)}
            forward, backward = self.drawn(0.4)
            if "llama" in evaluator:
                row |= {
                    "forward": {"1": forward, "2": 1 - forward},
                    "backward": {"1": 1 - backward, "2": backward},
                }
            row["new_preference"] = (forward + backward) / 2
            rows.append(row)
        if "llama" not in evaluator:
            del rows[0]["new_preference"]
        self.files[f"comparisons/{dataset}/{evaluator}_comparisons.json"] = dumped(rows)


def files(seed: int = 0) -> dict[str, str]:
    """Every file of the cut-down release, by its path."""
    release = Release(seed)
    release.twin = {}
    for dataset in DATASETS:
        for source in SOURCES:
            words = {"human": 12, "llama": 18}.get(source, 15)
            release.files[f"summaries/{dataset}/{dataset}_train_{source}_responses.json"] = dumped(
                {
                    key(dataset, number): " ".join(["secret"] * (words + number % 5))
                    for number in range(ARTICLES)
                }
            )
        for evaluator in (*GPT, *CONTROLS):
            release.gpt(f"results/{dataset}/{evaluator}_results.json", dataset, evaluator)
            release.gpt(
                f"results_with_worse/{dataset}/{evaluator}_results.json",
                dataset,
                evaluator,
                worse=True,
            )
        for evaluator in LLAMA:
            release.llama(dataset, evaluator)
        for evaluator in (*GPT, *CONTROLS, *LLAMA):
            release.ratings(dataset, evaluator)
            if "_ft_" in evaluator:
                release.generations(dataset, evaluator)
        release.labels(dataset, "gpt4")
        release.llama_labels(dataset)
    for named in ("human", "model"):
        for evaluator in ("gpt4", "gpt35"):
            release.gpt(f"results_vs_{named}/{evaluator}_results.json", "xsum", evaluator)
    return release.files
