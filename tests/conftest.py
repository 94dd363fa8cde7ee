"""Fixtures: a seeded generator, a small release in the layout of the real ones, an HTTP server."""

import csv
import hashlib
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selfpref.metrics.bootstrap import ClusterBootstrap
from selfpref.metrics.judged import Settings

REPOSITORY = Path(__file__).resolve().parents[1]
PUBLISHED = pd.read_csv(REPOSITORY / "data/published/wataoka.csv")
SETTINGS = Settings(
    threshold=0.5,
    human_ties="drop",
    judge_ties="drop",
    turns="all",
    bins=4,
    binning="count",
    scale="log-perplexity",
    bootstrap=ClusterBootstrap(200),
    seed=1,
)
COMMIT = "0" * 40
MT_BENCH_MODELS = ("gpt-4", "gpt-3.5-turbo", "claude-v1")
VICUNA = {"gpt4": "gpt-4", "gpt35": "x", "claude": "x", "vicuna-13b": "x", "bard": "x"}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the user's mirror nor the user's cache plays a part in a test."""
    monkeypatch.delenv("SELFPREF_ARCHIVES", raising=False)
    monkeypatch.setenv("SELFPREF_CACHE", str(tmp_path / "cache"))


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a directory and logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Start servers on loopback: a directory, or any handler class; returns the address."""
    servers = []

    def start(directory: Path | None = None, handler: type | None = None) -> str:
        kind = handler or partial(QuietHandler, directory=str(directory))
        server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def pin(root: Path, repository: str, files: dict[str, str], source: Path) -> Path:
    """Write files below a mirror's root and the source that pins them."""
    source.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["repository", "commit", "path", "bytes", "sha256"])
        for path, text in files.items():
            body = text.encode()
            target = root / repository / COMMIT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
            digest = hashlib.sha256(body).hexdigest()
            writer.writerow([repository, COMMIT, path, len(body), digest])
    return source


def mt_bench_files(questions: int, seed: int = 0) -> dict[str, str]:
    """A release of the same schema as the real one: random votes, pairs in either orientation."""
    rng = np.random.default_rng(seed)
    human, verdicts = [], []
    numbers = range(81, 81 + questions)
    for question, turn in itertools.product(numbers, (1, 2)):
        for a, b in itertools.combinations(MT_BENCH_MODELS, 2):
            key = {"question_id": question, "turn": turn}
            human += [
                {
                    "judge": f"expert_{voter}",
                    "model_a": b,
                    "model_b": a,
                    **key,
                    "winner": str(rng.choice(["model_a", "model_b", "tie"], p=[0.3, 0.5, 0.2])),
                }
                for voter in range(2)
            ]
            winner = rng.choice(
                ["model_a", "model_b", "tie", "tie (inconsistent)"], p=[0.6, 0.3, 0.05, 0.05]
            )
            verdicts.append(
                {"judge": "gpt4_pair", "model_a": a, "model_b": b, **key, "winner": str(winner)}
            )
    folder = "fastchat/llm_judge/data/mt_bench/"
    return {
        "data/snapshots/mtbench/human.jsonl": lines(*human),
        "data/snapshots/mtbench/gpt4_pair.jsonl": lines(*verdicts),
        f"{folder}question.jsonl": lines(
            *({"question_id": q, "category": "math", "turns": ["first?", "then?"]} for q in numbers)
        ),
        **{
            f"{folder}model_answer/{model}.jsonl": lines(
                *(
                    {
                        "question_id": q,
                        "model_id": model,
                        "choices": [{"index": 0, "turns": [f"{model} one", f"{model} two"]}],
                    }
                    for q in numbers
                )
            )
            for model in MT_BENCH_MODELS
        },
    }


def vicuna80_files(questions: int, seed: int = 1) -> dict[str, str]:
    """The same for Vicuna-80: every judge on every ordered pair, votes split over directions."""
    rng = np.random.default_rng(seed)
    folder = "data/vicuna80/"
    numbers = range(1, questions + 1)
    files = {
        f"{folder}prompts/vicuna_questions.jsonl": lines(
            *({"question_id": q, "text": f"question {q}?", "category": "generic"} for q in numbers)
        )
    }
    for name in VICUNA:
        files[f"{folder}generations/answer_{name}.jsonl"] = lines(
            *({"question_id": q, "text": f"{name} says {q}"} for q in numbers)
        )
    for first, second in itertools.permutations(VICUNA, 2):
        half = [q for q in numbers if (q % 2 == 0) == (first < second)]
        files[
            f"{folder}ratings-human/answer_{first}-vs-answer_{second}-human-reviewer_threeclass.jsonl"
        ] = lines(
            *(
                {"question_id": q, "score": int(rng.choice([1, 2, 3], p=[0.45, 0.4, 0.15]))}
                for q in half
                for _ in range(3)
            )
        )
        for judge in VICUNA:
            files[
                f"{folder}ratings-{judge}/answer_{first}-vs-answer_{second}-{judge}-reviewer.jsonl"
            ] = lines(
                *(
                    {"question_id": q, "score": int(rng.choice([1, 2, 3], p=[0.5, 0.4, 0.1]))}
                    for q in numbers
                )
            )
    return files
