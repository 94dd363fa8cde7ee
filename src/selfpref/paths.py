"""Where things lie. Every path of the repository is named here and nowhere else."""

from collections.abc import Iterable
from pathlib import Path

from selfpref.errors import SelfprefError

PARAMS = "params.yaml"
# The profile of what authors released, whose figures' tables are in git.
RELEASED = "recorded"


def root() -> Path:
    """The repository: the nearest folder above the working directory that holds dvc.yaml.

    Raises:
        SelfprefError: There is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").is_file():
            return folder
    raise SelfprefError(f"{here}: no dvc.yaml here or above; run inside the selfpref repository")


def params_file() -> Path:
    """The active parameters."""
    return root() / PARAMS


def profile_file(profile: str) -> Path:
    """Where the parameters of a profile lie while another one is active."""
    return root() / f"profiles/{profile}.yaml"


def study_dir(profile: str, study: str) -> Path:
    """The tables of a study, one folder each."""
    return root() / f"data/{profile}/{study}"


def table_dir(profile: str, table: str, study: str) -> Path:
    """The parquet files of one table and study, one file a data set or model."""
    return study_dir(profile, study) / table


def models_dir(profile: str) -> Path:
    """The checkpoints that a profile trains, a folder `seed-<n>` each."""
    return root() / f"data/{profile}/models"


def finetuned_dir(profile: str, entry: str) -> Path:
    """The evaluators that one entry of `finetune` makes: a folder each, and their examples."""
    return root() / f"data/{profile}/finetuned/{entry}"


def metrics_dir(profile: str, study: str) -> Path:
    """The frames that a study's figures draw."""
    # What reads the metrics of all studies cannot lie among them.
    return study_dir(profile, study if study == "beyond" else f"metrics/{study}")


def published_file(study: str) -> Path:
    """The numbers that the paper prints."""
    return root() / f"data/published/{study}.csv"


def data_file(name: str) -> Path:
    """The papers' `claims` beside what came out; or the `names` of data sets and models."""
    return root() / f"data/{name}.csv"


def judge_prompts_file() -> Path:
    """The list that pins the prompts of FastChat's judges."""
    return root() / "src/selfpref/prompts/judge-prompts.csv"


def author_prompts_file(study: str) -> Path:
    """The list that pins the programs from which a study's own prompts are taken."""
    return root() / f"src/selfpref/prompts/{study}-authors.csv"


def figure_dir(profile: str, study: str = "") -> Path:
    """Figures and tables of one study; left out: the folders of all."""
    return root() / f"figures/{profile}/{study}"


def report_dir(profile: str) -> Path:
    """Executed notebooks, their pages, and what leads to them."""
    return root() / f"report/{profile}"


def always_there(profile: str, studies: Iterable[str]) -> list[Path]:
    """Folders that stages of these studies read whole, whoever fills them here, if anyone."""
    tables = [
        table_dir(profile, table, study)
        for study in studies
        for table in ("items", "labels", "responses", "verdicts")
    ]
    drawn = [figure_dir(name) for name in (profile, RELEASED)]
    return [models_dir(profile), study_dir(profile, "metrics"), *tables, *drawn]


def ray_log() -> Path:
    """What Ray and its workers print."""
    return root() / ".cache/ray.log"
