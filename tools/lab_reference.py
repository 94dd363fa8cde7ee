"""Run the testbed once a seed and keep what comes of it (`make lab-reference`).

    python tools/lab_reference.py [SEED ...]       default: 0 1 2 3 4

Each seed runs in a clone of what is committed, below .cache/lab-reference; what an earlier call has
done there is not done again. lab_reference.yaml says which numbers of its metrics are kept,
over_seeds.py computes what holds over them, and lab_reference.md is the page that says so. A seed
that fails is told and left out.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import pandas as pd
from over_seeds import over_seeds
from ruamel.yaml import YAML

from selfpref.plots.frame import BLACK, BLUE, GREY, Look, legend
from selfpref.plots.lines import scatter
from selfpref.plots.save import drawing
from selfpref.studies import reference

ROOT = Path(__file__).resolve().parents[1]
CLONES = ROOT / ".cache" / "lab-reference"
KEPT = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml"))
SEEDS = (0, 1, 2, 3, 4)
OUT = ROOT / "docs" / "lab-reference"

PAGE = Path(__file__).with_suffix(".md").read_text()


def of_seed(params: str, seed: int) -> str:
    """The text of params.yaml for another seed of the testbed.

    Models, data sets and their names are the seed's. The seed of sampling moves along: names that
    two runs share, such as `notes`, would otherwise be given the same draws.
    """
    old = int(re.findall(r"^  seeds: \[(\d+)\]$", params, re.MULTILINE)[0])
    text = re.sub(rf"\bseed-{old}\b", f"seed-{seed}", params)
    text = re.sub(rf"\bseed: {old}\b", f"seed: {seed}", text)
    text = re.sub(r"^  seeds: \[\d+\]$", f"  seeds: [{seed}]", text, flags=re.MULTILINE)
    return re.sub(
        r"^seed: (\d+)$", lambda at: f"seed: {int(at[1]) + seed - old}", text, flags=re.MULTILINE
    )


def clone(seed: int) -> Path:
    """What is committed, with the parameters of a seed, and what an earlier call has done there."""
    folder = CLONES / f"seed-{seed}"
    lock = folder / "dvc.lock"
    if not folder.is_dir():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        lock.write_text("schema: '2.0'\nstages: {}\n")
    done = lock.read_text()
    for command in ("fetch --quiet origin HEAD", "reset --quiet --hard FETCH_HEAD"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    lock.write_text(done)
    params = folder / "params.yaml"
    params.write_text(of_seed(params.read_text(), seed))
    return folder


def run(seed: int) -> Path:
    """Reproduce the testbed with a seed, from where an earlier call left it.

    Returns:
        The clone.

    Raises:
        CalledProcessError: A command failed; it has said why.
    """
    folder = clone(seed)
    own = {
        "PYTHONPATH": str(folder / "src"),
        "SELFPREF_STORE": str(folder / ".cache" / "store.sqlite"),
    }
    subprocess.run(
        ["dvc", "repro", "metrics", "beyond-metrics"], cwd=folder, env=os.environ | own, check=True
    )
    return folder


def machine() -> str:
    """The processor and what computes on it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.is_file() else []
    name = next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")
    wide = "with" if any("avx512f" in line for line in lines) else "without"
    return f"{name.strip()}, {wide} AVX-512; torch {version('torch')}"


def times(folder: Path) -> str:
    """What the last run of each stage of a clone took, and when the models were trained."""
    stages = [json.loads(path.read_text()) for path in (folder / ".cache/runs/lab").glob("*.json")]
    (trained,) = (stage["end"] for stage in stages if stage["stage"].startswith("train@"))
    seconds, processor = (sum(stage[key] for stage in stages) for key in ("seconds", "cpu_seconds"))
    return f"{trained} | {seconds:,.0f} | {processor:,.0f}"


def frames(folder: Path, study: str) -> Path:
    """Where a clone's metrics of a study lie."""
    return folder / "data/lab" / (study if study == "beyond" else f"metrics/{study}")


def draw(folders: Sequence[Path]) -> None:
    """The picture of measured against injected bias of every model, and its numbers."""
    read = [pd.read_parquet(frames(folder, "wataoka") / "planted.parquet") for folder in folders]
    rows = pd.concat(read, ignore_index=True)
    rows = rows.rename(columns=lambda name: name.replace("planted", "injected"))
    rows.to_csv(OUT / "injected_vs_measured.csv", index=False, float_format="%.6g")
    looks = {"measured": Look(BLUE), "oracle rule (no preference)": Look(BLACK, "x")}
    measured, oracle = (rows[["injected"]].assign(series=name) for name in looks)
    measured[["bias", "bias_lo", "bias_hi"]] = rows[["measured", "measured_lo", "measured_hi"]]
    marks = pd.concat([measured, oracle.assign(bias=rows["oracle_rule"])])
    label = ("injected bias (the rule that made the labels)", "EO bias on the same pairs")
    with drawing():
        figure = scatter(marks, x="injected", y="bias", label=label, looks=looks)
        line = {"color": GREY, "linewidth": 0.8, "zorder": 1}
        figure.axes[0].axline((0, 0), slope=1, label="measured = injected", **line)
        legend(figure)
        figure.savefig(OUT / "injected_vs_measured.svg", metadata={"Date": None})


def page(runs: Mapping[int, Path], missing: Sequence[int]) -> str:
    """README.md: when and where the seeds were run, and what holds over them."""
    head = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = [f"| {seed} | {times(folder)} |" for seed, folder in runs.items()]
    said = [[f"## {study}", "", *map("- {}".format, reference.said(study)), ""] for study in KEPT]
    return PAGE.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=commit.strip(),
        machine=machine(),
        seeds="\n".join(rows),
        missing=f"Not run: seed {', '.join(map(str, missing))}.\n\n" if missing else "",
        findings="\n".join(chain(*said)),
    )


def main(seeds: Sequence[int]) -> int:
    """Run these seeds and write what came of those that have run; 1 if one failed."""
    runs: dict[int, Path | None] = {}
    for seed in seeds:
        try:
            runs[seed] = run(seed)
        except subprocess.CalledProcessError as error:
            runs[seed] = None
            print(f"seed {seed}: {error}", file=sys.stderr)
    done = {seed: folder for seed, folder in runs.items() if folder}
    if done:
        OUT.mkdir(parents=True, exist_ok=True)
        for study, kept in KEPT.items():
            figures = {seed: at and frames(at, study) for seed, at in runs.items()}
            rows = over_seeds(figures, kept)
            rows.to_csv(OUT / f"{study}.csv", index=False, float_format="%.6g")
        draw([*done.values()])
        (OUT / "README.md").write_text(page(done, [seed for seed in seeds if seed not in done]))
    return 0 if len(done) == len(seeds) else 1


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or SEEDS))
