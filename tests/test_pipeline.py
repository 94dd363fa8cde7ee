"""`dvc repro` end to end: a clean copy of the repository, a small release over loopback HTTP."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from conftest import REPOSITORY, QuietHandler, lines, mt_bench_files, pin, vicuna80_files, xu_files
from ruamel.yaml import YAML

yaml = YAML()
STUDY = "figures/recorded/wataoka"
PROMISED = (
    "fig1a_example",
    "fig1b_bias",
    "fig2_confusion",
    "table2_demographic_parity",
    "bias_by_opponent",
    "position",
)
OWN = [
    {
        "item": item,
        "responder_a": "my-judge",
        "responder_b": "other",
        "label": "a" if item % 2 else "b",
        "judge": "my-judge",
        "order": order,
        "probability_a": 0.9 if item % 3 else 0.2,
        "probability_b": 0.1 if item % 3 else 0.8,
        "text_a": "=cmd",
        "text_b": "[[A]]",
    }
    for item in range(12)
    for order in ("ab", "ba")
]


class Clone:
    """A copy of what git tracks or would track, with commands to run in it."""

    def __init__(self, folder: Path, mirror: str, cache: Path) -> None:
        self.folder = folder
        # Neither the user's store nor another clone's.
        self.environment = os.environ | {
            "SELFPREF_STORE": str(folder / ".cache/store.sqlite"),
            "SELFPREF_ARCHIVES": mirror,
            "SELFPREF_CACHE": str(cache),
            "PYTHONPATH": str(folder / "src"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@localhost",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@localhost",
        }

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def repro(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.call("dvc", "repro", *options)

    def stale(self) -> set[str]:
        """The stages that DVC would run, by its own status."""
        done = self.call("dvc", "status", "--json")
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stdout))

    def edit(self, change) -> None:
        path = self.folder / "params.yaml"
        params = yaml.load(path.read_text())
        change(params)
        with open(path, "w") as handle:
            yaml.dump(params, handle)

    def outputs(self) -> dict[str, str]:
        """Digest of every figure, table, executed notebook, page and data file; times differ."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for top in ("figures", "report", "data/recorded")
            for path in sorted((self.folder / top).rglob("*"))
            if path.is_file()
            and path.name not in (".gitignore", "times.html")
            and ".failed." not in path.name
        }

    def holds(self, secret: str) -> list[Path]:
        """Files anywhere in the clone that hold a text."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return [path for path in files if secret.encode() in path.read_bytes()]

    def only(self, study: str) -> None:
        """Leave every other study out, and what fills its tables."""

        def change(params):
            for name in params["studies"]:
                params["studies"][name] = [params["profile"]] if name == study else []
            for name, entry in list(params["datasets"].items()):
                if entry["study"] != study:
                    del params["datasets"][name]

        self.edit(change)

    def bias(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / STUDY / "fig1b_bias.csv")


@contextmanager
def cloned(top, releases):
    """A clone in which nothing has run, with small releases to download."""
    folder = top / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in listed:
        if (REPOSITORY / name).is_file() and not name.startswith(("figures/", "report/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)
    for name, files in releases.items():
        (source,) = (folder / "src/selfpref").rglob(f"{name}.csv")
        pin(top / "mirror", f"owner/{name}", files, source)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=top / "mirror"))
    Thread(target=server.serve_forever, daemon=True).start()
    made = Clone(folder, f"http://127.0.0.1:{server.server_address[1]}", top / "cache")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "clone"]):
        assert made.call("git", *command).returncode == 0
    yield made
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A clone with small releases of the first study and of Xu et al."""
    releases = {"mt-bench": mt_bench_files(10), "vicuna80": vicuna80_files(10), "xu": xu_files()}
    with cloned(tmp_path_factory.mktemp("pipeline"), releases) as made:
        yield made


def test_every_numbered_notebook_has_a_number_of_its_own():
    numbers = [path.name[:2] for path in (REPOSITORY / "notebooks").glob("[0-9]*.ipynb")]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("profile", ["recorded", "live", "lab"])
def test_every_profile_has_what_dvc_reads(bare, profile):
    assert bare.call("selfpref", "use", profile).returncode == 0
    listed = bare.call("dvc", "stage", "list", "--name-only")
    assert listed.returncode == 0, listed.stderr
    assert f"wataoka@{profile}" in listed.stdout.split()


@pytest.fixture(scope="module")
def clone(bare):
    """The clone after the cut-down recorded profile has been reproduced once."""
    assert bare.call("selfpref", "use", "recorded").returncode == 0
    bare.edit(lambda params: params["bootstrap"].update(resamples=200))
    bare.only("wataoka")
    done = bare.repro()
    assert done.returncode == 0, done.stderr + done.stdout
    return bare


def test_every_promised_figure_is_there(clone):
    for name in PROMISED:
        for kind in ("svg", "pdf", "csv"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    for name in ("fig1a_example", "table2_demographic_parity"):
        for kind in ("md", "tex"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0
    assert len(clone.bias()) == 6


def test_released_texts_stay_out_of_git(clone):
    shown = clone.call("git", "status", "--porcelain", "-uall").stdout
    assert "fig1a_example" not in shown
    assert "report/recorded/wataoka.ipynb" in shown
    chapter = (clone.folder / "report/recorded/wataoka.ipynb").read_text()
    assert "gpt4 says" not in chapter
    assert "gpt4 says" not in (clone.folder / "report/recorded/wataoka.html").read_text()


def test_the_report_leads_to_the_chapter_and_to_each_judge(clone):
    folder = clone.folder / "report/recorded"
    index = (folder / "index.html").read_text()
    assert 'href="wataoka.html#fig1b_bias"' in index
    assert "fig1a" not in index
    cards = {path.stem for path in (folder / "judges").iterdir()}
    assert cards == {"gpt-4", "gpt-3.5-turbo", "claude-1", "vicuna-13b", "bard"}
    assert "wataoka@recorded" in (folder / "times.html").read_text()
    assert "wataoka@recorded" in clone.call("selfpref", "times").stdout
    shown = clone.call("git", "status", "--porcelain", "-uall").stdout
    assert "report/recorded/judges/gpt-4.html" in shown


def test_nothing_is_left_to_do(clone):
    assert clone.stale() == set()


def test_from_scratch_again_gives_the_same_bytes(clone):
    before = clone.outputs()
    for name in ("figures", "report", "data/recorded", ".dvc/cache", "dvc.lock"):
        path = clone.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert clone.repro().returncode == 0
    assert clone.outputs() == before


BEYOND_FIGURES = (
    *("beyond", "beyond_wide", "forest_pairs", "forest_contests", "ratings", "preferences"),
    *("recovery", "mitigations", "mitigation_changes", "power"),
)


def test_the_chapter_beyond_the_papers(clone):
    """It reads what the studies made, and runs again when one of them has changed."""
    clone.edit(lambda params: params["studies"].update(beyond=["recorded"]))
    done = clone.repro()
    assert done.returncode == 0, done.stderr + done.stdout
    ran = set(re.findall(r"Running stage '(.+)'", done.stdout))
    both = {"metrics-beyond@recorded", "beyond@recorded"}
    assert ran == {"check", "report@recorded", *both}
    folder = clone.folder / "figures/recorded/beyond"
    for name in BEYOND_FIGURES:
        for kind in ("csv", "md", "tex"):
            assert (folder / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    table = pd.read_csv(folder / "beyond.csv")
    assert set(table["judge"]) == {*clone.bias()["judge"], "all judges"}
    assert table.loc[table["n"].eq(0), ["value", "lo", "hi"]].isna().all(axis=None)
    assert table.loc[table["n"].eq(0), "reason"].notna().all()
    assert clone.stale() == set()

    clone.edit(lambda params: params["wataoka"].update(threshold=0.8))
    both = {"metrics-wataoka@recorded", "metrics-beyond@recorded"}
    assert clone.stale() == {"check", "report@recorded", "wataoka@recorded", *both}
    clone.edit(lambda params: params["wataoka"].update(threshold=0.5))
    clone.edit(lambda params: params["studies"].update(beyond=[]))
    assert clone.repro().returncode == 0


def test_a_new_data_set_runs_what_reads_it_and_nothing_else(clone):
    (clone.folder / "mine.jsonl").write_text(lines(*OWN))
    entry = {
        "study": "wataoka",
        "reader": "pairs",
        "source": "mine.jsonl",
        "judges": ["my-judge"],
    }
    clone.edit(lambda params: params["datasets"].update(mine=entry))
    assert clone.stale() == {
        "check",
        "archive@mine",
        "metrics-wataoka@recorded",
        "wataoka@recorded",
        "report@recorded",
    }
    assert clone.repro().returncode == 0
    assert "my-judge" in set(clone.bias()["judge"])

    clone.edit(lambda params: params["datasets"].pop("mine"))
    assert clone.stale() == {
        "check",
        "metrics-wataoka@recorded",
        "wataoka@recorded",
        "report@recorded",
    }
    assert clone.repro().returncode == 0
    assert "my-judge" not in set(clone.bias()["judge"])


def test_a_removed_judge_leaves_every_figure(clone):
    judges = ["gpt-4", "gpt-3.5-turbo", "claude-1", "vicuna-13b"]
    clone.edit(lambda params: params["datasets"]["vicuna80"].update(judges=judges))
    assert clone.stale() == {
        "check",
        "archive@vicuna80",
        "metrics-wataoka@recorded",
        "wataoka@recorded",
        "report@recorded",
    }
    assert clone.repro().returncode == 0
    assert set(clone.bias()["judge"]) == set(judges)
    for name in ("position", "excess"):
        table = pd.read_csv(clone.folder / STUDY / f"{name}.csv")
        assert "bard" not in set(table["judge"])

    clone.edit(lambda params: params["datasets"]["vicuna80"].update(judges=[*judges, "bard"]))
    assert "archive@vicuna80" in clone.stale()
    assert "archive@mt-bench" not in clone.stale()


XU = {"study": "xu", "reader": "xu", "source": "src/selfpref/studies/xu/read/xu.csv"}
XU_FIGURES = (
    *("fig1_bias", "fig2_skewness", "translation", "translation_bias", "translation_dskew"),
    *("perceived", "gains", "human", "commongen", "size", "best_of_k", "style", "format"),
    *("rescoring", "cross_judge", "matched", "refined_by_noise"),
)


def test_the_chapter_of_xu(clone):
    """A study is switched on: its own stages run, and it draws every figure, without texts."""
    clone.edit(lambda params: params["datasets"].update(xu=XU))
    clone.edit(lambda params: params["studies"].update(xu=["recorded"]))
    done = clone.repro("archive@xu", "metrics-xu@recorded", "xu@recorded")
    assert done.returncode == 0, done.stderr + done.stdout
    ran = set(re.findall(r"Running stage '(.+)'", done.stdout))
    assert ran == {"check", "archive@xu", "metrics-xu@recorded", "xu@recorded"}
    folder = clone.folder / "figures/recorded/xu"
    for name in XU_FIGURES:
        for kind in ("svg", "pdf", "csv", "md", "tex"):
            assert (folder / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    assert set(pd.read_csv(folder / "audit.csv")["file"]) == set(xu_files())
    for path in (clone.folder / "report/recorded").glob("xu.*"):
        assert "red fox" not in path.read_text()
    clone.edit(lambda params: params["studies"].update(xu=[]))
    clone.edit(lambda params: params["datasets"].pop("xu"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda params: params.update(sed=1), "params.yaml: sed: unknown key"),
        (lambda params: params["wataoka"].update(threshold="x"), "params.yaml: wataoka.threshold"),
        (
            lambda params: params["datasets"]["mt-bench"].update(judges=["nobody"]),
            "datasets.mt-bench.judges: 'nobody' is unknown",
        ),
        # DVC stops before any stage, in its own words; `make repro` names file and key before that.
        (lambda params: params.update(datasets=None), "'stages.archive.foreach'"),
        (
            lambda params: params["datasets"].update({"a.b": params["datasets"]["mt-bench"]}),
            "a.b",
        ),
    ],
    ids=["unknown key", "wrong type", "unknown judge", "null mapping", "key with a dot"],
)
def test_bad_input_fails_and_leaves_earlier_results(clone, change, told):
    params = (clone.folder / "params.yaml").read_text()
    before = clone.outputs()
    try:
        clone.edit(change)
        done = clone.repro()
        assert done.returncode != 0
        assert told in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        assert clone.outputs() == before
    finally:
        (clone.folder / "params.yaml").write_text(params)


def test_no_pair_left_says_no_data_and_goes_on(clone):
    clone.edit(lambda params: params["wataoka"].update(turns="second"))
    clone.edit(lambda params: params["datasets"].pop("mt-bench"))
    done = clone.repro()
    assert done.returncode == 0, done.stderr
    assert clone.bias().empty
    assert (clone.folder / STUDY / "fig1b_bias.svg").stat().st_size > 0
    assert "no pairs" in (clone.folder / "report/recorded/wataoka.ipynb").read_text()


# The laboratory, small: everything runs, nothing is learned well.
FEW = ("disclaimer", "sure", "terse", "onlooker-1")
LAB_FIGURES = (
    *PROMISED,
    "fig3_perplexity_vs_human",
    "fig4_perplexity_own_vs_other",
    "fig5_log_perplexity",
    "fig6_judges_without_responses",
    "planted_vs_measured",
)


def small(params) -> None:
    params["lab"].update(
        prompts=40, pairs=90, families=3, onlookers=1, base_steps=150, tune_steps=20
    )
    params["bootstrap"].update(resamples=200)
    # Refinement and summaries have tests of their own.
    params["lab"]["refiners"]["seeds"] = []
    params["lab"]["summarisers"]["seeds"] = []
    params["lab"]["contests"] = []
    params["studies"].update(livebench=[], panickssery=[], xu=[], beyond=[])
    for section in (
        *("requests", "refine", "compete", "assess", "tie_breakers", "contests"),
        *("articles", "summarise", "recognise", "finetune"),
    ):
        params[section] = {}
    for section in ("models", "respond", "judge", "perplexity"):
        for name in [name for name in params[section] if name not in FEW]:
            del params[section][name]


@pytest.fixture(scope="module")
def laboratory(bare):
    """The clone after a small laboratory has been reproduced once."""
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    assert bare.call("selfpref", "use", "lab").returncode == 0
    bare.edit(small)
    done = bare.repro()
    assert done.returncode == 0, done.stderr + done.stdout
    return bare


def test_the_laboratory_draws_every_figure_of_the_study(laboratory):
    folder = laboratory.folder / "figures/lab/wataoka"
    for name in LAB_FIGURES:
        for kind in ("svg", "pdf", "csv"):
            assert (folder / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    bias = pd.read_csv(folder / "fig1b_bias.csv")
    assert list(bias.columns[-4:]) == ["seed", "beta", "planted", "oracle_rule"]
    assert set(bias["judge"]) == {"disclaimer", "sure", "terse"}
    others = pd.read_csv(folder / "fig6_judges_without_responses.csv")
    assert set(others["judge"]) == {"onlooker-1"}
    assert laboratory.stale() == set()


def test_every_pair_is_judged_in_both_orders_from_probabilities(laboratory):
    for judge in FEW:
        verdicts = pd.read_parquet(laboratory.folder / f"data/lab/verdicts/wataoka/{judge}.parquet")
        assert len(verdicts) == 2 * 90
        ok = verdicts[verdicts["status"].eq("ok")]
        assert ok["probabilities"].notna().all()
        assert (ok["mass"] >= 0.5).all()
        assert set(verdicts["status"]) <= {"ok", "low-mass", "truncated"}


def test_a_judge_added_runs_its_own_stages_and_what_reads_them(laboratory):
    def add(params):
        params["models"]["twin"] = dict(params["models"]["terse"])
        params["judge"]["twin"] = dict(params["judge"]["terse"])
        params["perplexity"]["twin"] = dict(params["perplexity"]["terse"])

    laboratory.edit(add)
    own = {"check", "judge@twin", "perplexity@twin"}
    assert laboratory.stale() == {*own, "metrics-wataoka@lab", "report@lab"}
    done = laboratory.repro()
    assert done.returncode == 0, done.stderr
    # The chapter reads the metrics, which have changed; nothing of another judge ran.
    ran = set(re.findall(r"Running stage '(.+)'", done.stdout))
    assert ran == {*own, "metrics-wataoka@lab", "wataoka@lab", "report@lab"}
    one, two = (
        pd.read_parquet(laboratory.folder / f"data/lab/verdicts/wataoka/{name}.parquet")
        for name in ("terse", "twin")
    )
    # The same weights give the same verdicts, replayed from the store.
    assert one["probabilities"].map(list).tolist() == two["probabilities"].map(list).tolist()


# In parts: this file lies in the clone too, where no file may hold it.
KEY = "-".join(("sk", "planted", "0123456789abcdef"))


def test_a_served_judge_is_an_entry_in_the_parameters_and_its_key_is_nowhere(laboratory):
    """The weights of `terse` behind a chat endpoint, which judges and scores as they do here."""
    from scripted import ByModel, Scripted

    folder = laboratory.folder
    laboratory.environment["PLANTED"] = KEY
    answers = ByModel(folder / "data/lab/models/seed-0/terse")
    with Scripted(answers, script=["401", "ok", "500", "429"]) as server:

        def add(params):
            params["models"]["served"] = {
                "engine": "openai",
                "model": "terse",
                "base_url": server.url,
                "server": "vllm",
                "key": "PLANTED",
                "price": {"input": 1.0, "output": 1.0},
                "budget": 1.0,
            }
            params["judge"]["served"] = {"prompts": "lab", "min_mass": 0.5}
            params["perplexity"]["served"] = {"prompts": "lab"}

        laboratory.edit(add)
        told = laboratory.call("selfpref", "estimate").stdout
        assert re.search(r"served +judge +180 ", told), told
        refused = laboratory.repro("judge@served")
        assert refused.returncode != 0
        assert "(1 x 401: Incorrect API key provided: ***)" in refused.stderr
        assert (folder / "report/lab/judge-served.failed.ipynb").exists()
        assert not laboratory.holds(KEY)
        done = laboratory.repro()
        assert done.returncode == 0, done.stderr
        asked = [path for path, *_ in server.received if path.endswith("chat/completions")]
        assert len(asked) == 1 + 180 + 2
    assert server.received[0][1]["Authorization"] == f"Bearer {KEY}"

    terse, served = (
        pd.read_parquet(folder / f"data/lab/verdicts/wataoka/{name}.parquet")
        for name in ("terse", "served")
    )
    assert served["status"].tolist() == terse["status"].tolist()
    wanted, found = (
        table["probabilities"].explode().astype(float).tolist() for table in (terse, served)
    )
    assert found == pytest.approx(wanted, abs=1e-4, nan_ok=True)
    terse, served = (
        pd.read_parquet(folder / f"data/lab/perplexities/wataoka/{name}.parquet")
        for name in ("terse", "served")
    )
    assert served["sum_nll"].tolist() == pytest.approx(terse["sum_nll"].tolist(), abs=1e-3)
    others = pd.read_csv(folder / "figures/lab/wataoka/fig6_judges_without_responses.csv")
    assert "served" in set(others["judge"])
    assert "served" in set(pd.read_csv(folder / "figures/lab/wataoka/position.csv")["judge"])

    assert KEY not in done.stdout + done.stderr + refused.stdout + refused.stderr
    assert (folder / ".cache/store.sqlite").exists()
    assert not laboratory.holds(KEY)


def test_switching_profiles_reruns_nothing(laboratory):
    assert laboratory.call("selfpref", "use", "recorded").returncode == 0
    assert laboratory.call("selfpref", "use", "lab").returncode == 0
    assert laboratory.stale() <= {"check"}
    assert "twin" in (laboratory.folder / "params.yaml").read_text()
