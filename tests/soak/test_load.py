"""100,000 pairs through all stages: how much memory each stage takes."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import pandas as pd
import pyarrow
import pytest
from conftest import REPOSITORY
from pyarrow import parquet

from selfpref import params, paths, tables
from selfpref.models import Choice, Choose, Likelihood
from selfpref.models.calls import Model
from selfpref.params.reading import mapping, validated
from selfpref.processes import SETTINGS
from selfpref.store import Store
from selfpref.studies.wataoka import stages

pytestmark = pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")

SIZES = (10_000, 100_000)
RESPONDERS = ("j", "k", "l", "m")
PAIRS = (("j", "k"), ("k", "l"), ("l", "m"), ("m", "j"))
JUDGES = ("j", "k")
# What a pair may add to the peak of a stage, in bytes. Metrics hold four verdicts and four
# perplexities a pair, of two judges; a stage that asks holds those of one; a chapter holds one
# judge's pairs, on which it computes.
A_PAIR = {"judge": 1300, "perplexity": 1000, "metrics": 2800, "figures": 150}
VALUES = mapping(REPOSITORY / "profiles/recorded.yaml")
VALUES["wataoka"] |= {
    "datasets": {"mine": {"reader": "pairs", "source": "mine.jsonl"}},
    "judge": {name: {"prompts": "chat", "min_mass": 0.5} for name in JUDGES},
    "perplexity": {name: {"prompts": "chat"} for name in JUDGES},
}
VALUES |= {"profile": "lab", "studies": ["wataoka"]}
VALUES["bootstrap"]["resamples"] = 200
VALUES["models"] = {name: {"engine": "transformers", "model": name} for name in JUDGES}
PARAMS = validated(VALUES, "params.yaml")


class Rule:
    """An engine whose answer the words of the prompt decide."""

    identity = {"provider": "soak"}  # noqa: RUF012

    def answer(self, calls):
        for number, call in enumerate(calls):
            if isinstance(call, Choose):
                a = crc32(call.prompt.messages[-1][1].encode()) % 97 / 97
                yield number, Choice((0.9 * a, 0.9 * (1 - a)), "ok")
            else:
                text = call.continuation
                yield number, Likelihood(float(len(text)), len(text.split()), "ok")


@contextmanager
def opens(_params, model, dataset, title):
    with Store(Path("store.sqlite")) as store:
        yield Model(Rule(), store, offline=False, title="")


def written(folder, count):
    """Tables of so many labelled pairs, four an item, with texts of 350 bytes."""
    ids = [f"mine/{number}" for number in range(count // 4)]
    question = [[{"role": "user", "content": f"question {item}? " + "why " * 20}] for item in ids]
    items = {"item_id": ids, "category": "c", "cluster": ids, "messages": question}
    responses = [
        {"item_id": item, "responder": name}
        | {"text": f"{name} on {item} " + "because " * (40 + number % 7)}
        for item in ids
        for number, name in enumerate(RESPONDERS)
    ]
    labels = [
        {"item_id": item, "responder_a": a, "responder_b": b, "annotator": "h"}
        | {"label": ("a", "b", "tie", "a")[(number + place) % 4]}
        for number, item in enumerate(ids)
        for place, (a, b) in enumerate(PAIRS)
    ]
    items = pd.DataFrame(items).assign(reference=None, metadata="{}")
    made = {"items": items, "responses": responses, "labels": labels}
    for name in tables.TABLES:
        frame = tables.fill(made.get(name, []), name, study="wataoka")
        tables.write(frame, name, folder / f"data/lab/wataoka/{name}/mine.parquet")
    (folder / "data/published").mkdir()
    for name in ("published/wataoka.csv", "names.csv", "claims.yaml"):
        shutil.copy(REPOSITORY / "data" / name, folder / "data" / name)


def asking(fill, table):
    path = paths.table_dir("lab", table, "wataoka") / f"{JUDGES[0]}.parquet"
    tables.write(fill(PARAMS, JUDGES[0], opens)[table], table, path)


def agreeing(folder):
    """The second judge says what the first one said."""
    first, second = JUDGES
    for table in ("verdicts", "perplexities"):
        place = folder / f"data/lab/wataoka/{table}"
        made = parquet.read_table(place / f"{first}.parquet")
        names = pyarrow.repeat(second, len(made))
        renamed = made.set_column(made.column_names.index("judge"), "judge", names)
        parquet.write_table(renamed, place / f"{second}.parquet")


def run(notebook):
    """The cells of a notebook that run in the profile `lab`, in this process with `PARAMS`."""
    made = json.loads((REPOSITORY / f"notebooks/{notebook}.ipynb").read_text())["cells"]
    code = [
        "".join(cell["source"])
        for cell in made
        if cell["cell_type"] == "code" and {*cell["metadata"].get("tags", [])} <= {"lab"}
    ]
    with patch.object(params, "gather", lambda *_: PARAMS):
        exec("\n".join(code), {"stage": "", "section": {}})


STAGES = {
    "judge": partial(asking, stages.judge, "verdicts"),
    "perplexity": partial(asking, stages.perplexity, "perplexities"),
    "metrics": partial(run, "wataoka_metrics"),
    "figures": partial(run, "wataoka"),
}


def peak(folder, stage):
    """Peak resident memory of one stage in a process of its own, in bytes."""
    path = os.pathsep.join(map(str, (REPOSITORY / "src", REPOSITORY / "tests")))
    done = subprocess.run(
        [sys.executable, __file__, stage],
        cwd=folder, env=os.environ | SETTINGS | {"PYTHONPATH": path}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_memory_of_a_hundred_thousand_pairs(tmp_path):
    peaks = {}
    for size in SIZES:
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "dvc.yaml").touch()
        written(folder, size)
        peaks[size] = {}
        for stage in STAGES:
            if stage == "metrics":
                agreeing(folder)
            peaks[size][stage] = peak(folder, stage)
        shown = {stage: f"{value / 2**20:.0f} MiB" for stage, value in peaks[size].items()}
        print(size, "pairs:", shown)
    small, large = peaks.values()
    for stage, allowed in A_PAIR.items():
        assert large[stage] - small[stage] < allowed * (SIZES[1] - SIZES[0]), stage


if __name__ == "__main__":
    STAGES[sys.argv[1]]()
    # Not ru_maxrss, which starts with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    print(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024)
