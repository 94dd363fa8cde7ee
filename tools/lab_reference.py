"""Run the testbed once a seed and set what comes of it side by side (`make lab-reference`).

    python tools/lab_reference.py [SEED ...]       default: 0 1 2 3 4

Each seed runs in a clone of what is committed, below .cache/lab-reference; what an earlier call has
done there is not done again. lab_reference.yaml says where each quantity stands in a run's frames.
A seed that fails is told and left out.
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from ruamel.yaml import YAML
from verify import ran

ROOT = Path(__file__).resolve().parents[1]
CLONES = ROOT / ".cache" / "lab-reference"
ADDRESSES = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml"))
DIFFERENCES = ADDRESSES.pop("differences")
ADDRESS = re.compile(r"(?P<frame>[\w/]+)(\[(?P<rows>.+)\])?\.(?P<value>.+)")
SEEDS = (0, 1, 2, 3, 4)
# The lines of the testbed's seed, and of sampling.
SEEDED, SAMPLED = r"(?m)^  seeds: \[(\d+)\]$", r"(?m)^seed: (\d+)$"
OUT = ROOT / "docs" / "lab-reference"


def of_seed(params: str, seed: int) -> str:
    """The text of params.yaml for another seed of the testbed.

    Models, data sets and their names are the seed's. The seed of sampling moves along: names that
    two runs share, such as `notes`, would otherwise be given the same draws.
    """
    old, own = (int(re.findall(where, params)[0]) for where in (SEEDED, SAMPLED))
    params = re.sub(rf"\bseed(-|: ){old}\b", rf"seed\g<1>{seed}", params)
    params = re.sub(SEEDED, f"  seeds: [{seed}]", params)
    return re.sub(SAMPLED, f"seed: {own + seed - old}", params)


def run(seed: int) -> Path:
    """Reproduce the testbed with a seed in a clone, from where an earlier call left it.

    Returns:
        The folder of the run's frames.

    Raises:
        CalledProcessError: A command failed; it has said why.
    """
    folder = CLONES / f"seed-{seed}"
    lock, params = folder / "dvc.lock", folder / "params.yaml"
    if not folder.is_dir():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        lock.write_text("schema: '2.0'\nstages: {}\n")
    done = lock.read_text()
    ran(folder, "git", "fetch", "--quiet", "origin", "HEAD")
    ran(folder, "git", "reset", "--quiet", "--hard", "FETCH_HEAD")
    lock.write_text(done)
    params.write_text(of_seed(params.read_text(), seed))
    ran(folder, "dvc", "repro", "metrics", "beyond-metrics")
    return folder / "data" / "lab"


def quantities(folder: Path) -> dict[str, float]:
    """Every quantity of one run by name; NaN where no row has it."""
    found = {}
    for address, named in ADDRESSES.items():
        frame, rows, value = ADDRESS.fullmatch(address).group("frame", "rows", "value")
        table = pd.read_parquet(folder / f"{frame}.parquet")
        table = table.query(rows, engine="python") if rows else table
        for name, own in named.items():
            found[name] = table.query(own, engine="python").eval(value, engine="python").mean()
    return found | {name: found[one] - found[other] for name, (one, other) in DIFFERENCES.items()}


def over_seeds(runs: Mapping[int, Path]) -> pd.DataFrame:
    """A row a quantity: a column a seed, and over the seeds that have it mean, least, greatest.

    Raises:
        LookupError: No run has a quantity.
    """
    seeds = pd.DataFrame({f"seed_{seed}": quantities(folder) for seed, folder in runs.items()})
    if (nowhere := seeds.isna().all(axis=1)).any():
        raise LookupError(f"no run has {nowhere.idxmax()!r}; correct lab_reference.yaml")
    ends = {name: seeds.agg(name, axis=1) for name in ("mean", "min", "max")}
    return seeds.assign(**ends).rename_axis("quantity").reset_index()


def collected() -> str:
    """When, from what and where the seeds were run."""
    commit = subprocess.getoutput(f"git -C '{ROOT}' rev-parse --short HEAD")
    name = re.search(r"(?m)^Model name: +(.+)$", subprocess.getoutput("lscpu"))
    made = f"{name[1] if name else 'unknown processor'}; torch {version('torch')}."
    return f"Collected on {datetime.now(UTC):%Y-%m-%d} at commit {commit}; {made}"


def main(seeds: Sequence[int]) -> int:
    """Run these seeds and write what came of those that have run; 1 if one failed."""
    runs = {}
    for seed in seeds:
        try:
            runs[seed] = run(seed)
        except subprocess.CalledProcessError as error:
            print(f"seed {seed}: {error}", file=sys.stderr)
    if runs:
        over_seeds(runs).to_csv(OUT / "seeds.csv", index=False, float_format="%.6g")
        page = OUT / "README.md"
        page.write_text(re.sub(r"(?m)^Collected on .*$", collected(), page.read_text()))
    return 0 if len(runs) == len(seeds) else 1


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or SEEDS))
