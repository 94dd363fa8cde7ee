"""Fixtures: a seeded generator, a small release in the layout of the real ones, an HTTP server."""

import hashlib
import itertools
import json
import signal
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from selfpref.errors import SelfprefError
from selfpref.params import Dataset
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.judged import Settings

# Machines are shared: how long an example takes says nothing.
settings.register_profile("selfpref", deadline=None)
settings.load_profile("selfpref")
# A shell ignores Ctrl-C for what it starts in the background, and so would every child.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The clones of the repository in which pipelines run.
pytest_plugins = ["clones"]


def pytest_collection_modifyitems(items):
    """Whole pipelines begin first, so that no process is left alone with one in the end."""
    items.sort(key=lambda item: item.path.parent.name != "pipeline")


REPOSITORY = Path(__file__).resolve().parents[1]
# Parameters and recorded outputs as git has them staged: what a user wrote over them, or took away,
# plays no part in a test.
_STAGED = TemporaryDirectory(prefix="selfpref-staged-")
STAGED = Path(_STAGED.name)
subprocess.run(
    "git ls-files -z params.yaml profiles data figures/recorded docs dvc.yaml"
    f" | git checkout-index -z --stdin --prefix='{STAGED}/'",
    shell=True,
    cwd=REPOSITORY,
    check=True,
)
PUBLISHED = pd.read_csv(REPOSITORY / "data/published/wataoka.csv")
SETTINGS = Settings(bootstrap=ClusterBootstrap(200, seed=1), bins=4)
COMMIT = "0" * 40
refused = partial(pytest.raises, SelfprefError)


def entry(study, reader, judges=None):
    """An entry of `datasets`."""
    return Dataset(study=study, reader=reader, source="source.csv", judges=judges)


def counted(responses):
    """Responses as `StudyTables.by_dataset` gives them."""
    return responses.assign(length=responses["text"].str.len()).drop(columns="text")


MT_BENCH_MODELS = ("gpt-4", "gpt-3.5-turbo", "claude-v1")
VICUNA = {"gpt4": "gpt-4", "gpt35": "x", "claude": "x", "vicuna-13b": "x", "bard": "x"}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _no_user_settings(monkeypatch, tmp_path):
    """Neither the user's mirror nor the user's cache plays a part in a test."""
    monkeypatch.delenv("SELFPREF_ARCHIVES", raising=False)
    monkeypatch.setenv("SELFPREF_CACHE", str(tmp_path / "cache"))


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a directory and logs nothing."""

    def log_message(self, format, *args):
        pass


@contextmanager
def serving(handler):
    """The address of a server on loopback that answers so."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty folder that is taken for the repository, and where the test works."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def pin(root, repository, files, source):
    """Write files below a mirror's root and the source that pins them."""
    rows = ["repository,commit,path,bytes,sha256"]
    for path, text in files.items():
        body, target = text.encode(), root / repository / COMMIT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
        rows.append(f"{repository},{COMMIT},{path},{len(body)},{hashlib.sha256(body).hexdigest()}")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join([*rows, ""]))
    return source


FASTCHAT = "fastchat/llm_judge/data/mt_bench/"


def reference_files(category):
    """Questions with their categories, and a reference answer to both turns of each."""
    asked = ({"question_id": n, "category": kind} for n, kind in category.items())
    told = {n: [{"turns": [f"reference {n}.1", f"reference {n}.2"]}] for n in category}
    answers = ({"question_id": n, "choices": choices} for n, choices in told.items())
    files = {"question": asked, "reference_answer/gpt-4": answers}
    return {f"{FASTCHAT}{name}.jsonl": lines(*rows) for name, rows in files.items()}


def mt_bench_files(questions, seed=0):
    """A release of the same schema as the real one: random votes, pairs in either orientation."""
    rng = np.random.default_rng(seed)
    human, verdicts = [], []
    numbers = range(81, 81 + questions)
    known = ["model_a", "model_b", "tie", "tie (inconsistent)"]
    pairs = list(itertools.combinations(MT_BENCH_MODELS, 2))
    for question, turn, (a, b) in itertools.product(numbers, (1, 2), pairs):
        key = {"question_id": question, "turn": turn}
        for voter in range(2):
            winner = {"winner": str(rng.choice(known[:3], p=[0.3, 0.5, 0.2]))}
            human.append({"judge": f"expert_{voter}", "model_a": b, "model_b": a} | key | winner)
        winner = {"winner": str(rng.choice(known, p=[0.6, 0.3, 0.05, 0.05]))}
        verdicts.append({"judge": "gpt4_pair", "model_a": a, "model_b": b} | key | winner)
    asked = [{"question_id": q, "category": "math", "turns": ["first?", "then?"]} for q in numbers]
    folder, files = "data/snapshots/mtbench/", {f"{FASTCHAT}question.jsonl": lines(*asked)}
    files |= {f"{folder}human.jsonl": lines(*human), f"{folder}gpt4_pair.jsonl": lines(*verdicts)}
    for model in MT_BENCH_MODELS:
        choices = [{"index": 0, "turns": [f"{model} one", f"{model} two"]}]
        answers = [{"question_id": q, "model_id": model, "choices": choices} for q in numbers]
        files[f"{FASTCHAT}model_answer/{model}.jsonl"] = lines(*answers)
    return files


def vicuna80_files(questions, seed=1):
    """The same for Vicuna-80: every judge on every ordered pair, votes split over directions."""
    rng = np.random.default_rng(seed)
    folder, numbers = "data/vicuna80/", range(1, questions + 1)

    def scores(asked, shares):
        drawn = ({"question_id": q, "score": int(rng.choice([1, 2, 3], p=shares))} for q in asked)
        return lines(*drawn)

    asked = [{"question_id": q, "text": f"question {q}?", "category": "generic"} for q in numbers]
    files = {f"{folder}prompts/vicuna_questions.jsonl": lines(*asked)}
    for name in VICUNA:
        answers = [{"question_id": q, "text": f"{name} says {q}"} for q in numbers]
        files[f"{folder}generations/answer_{name}.jsonl"] = lines(*answers)
    for first, second in itertools.permutations(VICUNA, 2):
        half = [q for q in numbers if (q % 2 == 0) == (first < second) for _ in range(3)]
        pair = f"answer_{first}-vs-answer_{second}"
        voted = f"{folder}ratings-human/{pair}-human-reviewer_threeclass.jsonl"
        files[voted] = scores(half, [0.45, 0.4, 0.15])
        for judge in VICUNA:
            path = f"{folder}ratings-{judge}/{pair}-{judge}-reviewer.jsonl"
            files[path] = scores([*numbers], [0.5, 0.4, 0.1])
    return files


XU_END = "[SEP_TOKEN_WENDA]"


def xu_feedback(points):
    """Feedback in the release's grammar that costs so many points."""
    said = "'fox' is a major accuracy/mistranslation error\n" * (points // 5)
    said += "'fox' is a minor fluency/grammar error\n" * (points % 5)
    return said.rstrip() or "No errors found."


def xu_said(points):
    return xu_feedback(points) + XU_END


def xu_numbers(values):
    return "".join(f"{value!r}\n" for value in values)


def xu_scores(raw, mapped, values):
    """Raw BLEURT, and by a rising map with plateaus, as the release has it, on the scale of MQM."""
    on_mqm = (float(min(0.0, np.floor(value * 10) * 5 - 30)) for value in values)
    return {raw: xu_numbers(values), mapped: xu_numbers(on_mqm)}


def xu_step(model, language, step, texts, points, raw):
    """The four files of a step: texts, points lost by the model's own feedback, and raw BLEURT."""
    n = len(texts)
    top = f"model_outputs/{model}/self_refine/{language}"
    name = f"{language}_refinement_{n}_{model}_new_{step}_rerun"
    scores = f"{language}_eval_{n}_one-shot_{model}_new_{step}_rerun"
    mapped = f"{top}/bleurt-nor/{model}_{step}_bleurt_nor.txt"
    return {
        f"{top}/{model}-outputs/{name}.txt": "".join(f"{text}\n" for text in texts),
        f"{top}/{model}-scores/{scores}.txt": "".join(map(xu_said, points)),
        **xu_scores(f"{top}/bleurt-raw/{name}_bleurt.txt", mapped, raw),
    }


def xu_chain(n, model, language, rng):
    """Three steps: half the texts change, and their own score rises; the others stay."""
    texts = [f"the red fox {i} runs to its den" for i in range(n)]
    points, raw, files = rng.integers(4, 12, n).tolist(), rng.uniform(0.1, 0.7, n).tolist(), {}
    for step in range(1, 4):
        files |= xu_step(model, language, step - 1, texts, points, raw)
        for i in range(step % 2, n, 2):
            if points[i]:
                texts[i] = f"the red fox {i} walks to its den, draft {step}"
                points[i] -= 1
                raw[i] = float(rng.uniform(0.1, 0.7))
    return files


def xu_files(sentences=8, seed=3):
    """A release of Xu et al. in small: two models, two languages, three steps, all side studies."""
    rng, n = np.random.default_rng(seed), sentences
    concepts = [["fox", "den", "run"] for _ in range(n + 2)]
    sources = "".join(f"source sentence {i}\n" for i in range(n))
    files = {
        f"refs/en_ref_{n}.txt": "".join(f"the red fox {i} goes to its den\n" for i in range(n)),
        "srcs/commongen_hard.jsonl": lines(*({"concepts": held} for held in concepts)),
    }
    for language in ("yor-en", "jav_Latn-en"):
        files[f"srcs/{language}_src_{n}.txt"] = sources
        for model in ("gpt-4", "gemini"):
            files |= xu_chain(n, model, language, rng)
    yoruba = "model_outputs/gpt-4/self_refine/yor-en"
    for step in (0, 2):
        files[f"{yoruba}/human/human_{step}.txt"] = "-25\n-20\n-11\n-6"
    for step in range(3):
        top, name = f"{yoruba[:-6]}commongen/gpt-4", f"{n}_gpt-4_new_{step}_rerun.txt"
        uses = f"A fox runs to its den, draft {step}.\n"
        texts = uses * min(step, n) + "A fox in its den.\n" * (n - step)
        said = [("all covered" if i <= step else "['run']") + XU_END for i in range(n)]
        files[f"{top}-outputs/commongen_refinement_{name}"] = texts
        scores = name.replace("gpt-4_new", "one-shot_gpt-4_new")
        files[f"{top}-scores/commongen_eval_{scores}"] = "".join(said)
    # Best of 2: the second candidate of each sentence is scored higher.
    end = f"yor-en_refinement_{n}_gpt-4_new_0_rerun"
    judged = f"yor-en_eval_{n}_one-shot_gpt-4_new_0_rerun.txt"
    both = [f"the fox {i}, candidate {j}\n" for i in range(n) for j in range(2)]
    files |= {
        f"{yoruba}/gpt-4-outputs-2/{end}.txt": "".join(both),
        f"{yoruba}/gpt-4-scores-2/{judged}": (xu_said(6) + xu_said(1)) * n,
        f"{yoruba}/gpt-4-outputs-1of2/{end}.txt": "".join(both[1::2]),
        f"{yoruba}/gpt-4-scores-1of2/{judged}": xu_said(1) * n,
    }
    raw, mapped = f"bleurt-raw/{end}_bleurt.txt", "bleurt-nor/gpt-4_0_bleurt_nor.txt"
    values = rng.uniform(0.1, 0.7, n).tolist()
    files |= xu_scores(f"{yoruba}/1of2-{raw}", f"{yoruba}/1of2-{mapped}", values)
    # A translator, judged and paraphrased by gpt-4.
    system = f"model_outputs/nllb-moe-54b/yor-en_{n}"
    for name, points in (("", 7), ("_gpt-4_paraphrase", 3)):
        judge, values = "" if name else "_gpt-4", rng.uniform(0.1, 0.7, n).tolist()
        files[f"{system}{name}.txt"] = "".join(f"a red fox {i}{name}\n" for i in range(n))
        files[f"{system}{name}{judge}_feedback.txt"] = xu_said(points) * n
        files |= xu_scores(
            *(f"{system}{name}_bleurt_{kind}.txt" for kind in ("raw", "nor")), values
        )
    # Gemini reads gpt-4's first texts, and the references twice; gpt-4 runs once for itself.
    beside = f"model_outputs/gemini/yor-en_eval_{n}_one-shot"
    quoting = "'red fox' is a major accuracy/mistranslation error\n'the den' is a minor style error"
    files[f"{beside}_gpt-4_rerun.txt"] = (quoting.replace("the den", "its den") + XU_END) * n
    for again in ("", "_rerun"):
        files[f"{beside}_human{again}.txt"] = xu_said(5) * n
    for step, name in enumerate(("base_outputs_gemini_bleurt", "")):
        raw = name or f"self_refinement_{n}_gemini_new_{step}_rerun_bleurt"
        files[f"model_outputs/gemini/yor-en_{raw}.txt"] = xu_numbers([0.3] * n)
        mark = f"_new_{step}" if step else ""
        files[f"{beside}_gemini{mark}_rerun.txt"] = xu_said(5 - step) * n
    return files
