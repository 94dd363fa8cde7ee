"""The recorded profile end to end: one run, and what of it is run once more after a change."""

import json
import re

import pytest
from clones import MINE, parameters, ran
from conftest import STAGED, xu_files
from panickssery_release import files as panickssery_files

# Texts of the releases.
TEXTS = {"wataoka": b"gpt4 says", "livebench": b"A tidy text", "panickssery": b"secret"}
TEXTS |= {"xu": b"red fox"}
TOPS, WATAOKA = ("report", "figures"), "figures/recorded/wataoka"
# Of these the small releases know too little.
UNKNOWN = {"figures/recorded/xu/size.svg", f"{WATAOKA}/in_place.svg"}
UNKNOWN |= {"figures/recorded/livebench/preference_shares_others.svg"}


def of(*studies):
    """The metrics and the chapters of these studies."""
    return {f"{part}@{study}-recorded" for study in studies for part in ("metrics", "chapter")}


def drawn(folder):
    """Figures and tables of the profile that are not empty."""
    found = [path for path in (folder / "figures/recorded").rglob("*.*") if path.stat().st_size]
    return {str(path.relative_to(folder)) for path in found}


def headline(clone):
    """The numbers of the first study that DVC compares."""
    return json.loads((clone.folder / "data/recorded/headlines/wataoka.json").read_text())


def test_every_promised_figure_and_table_is_there_of_every_judge_and_every_file(recorded):
    assert recorded.stale() == set()
    # In git but for the example, which shows texts of the release.
    promised = drawn(STAGED) | {f"{WATAOKA}/fig1a_example.{kind}" for kind in ("csv", "svg")}
    assert promised - drawn(recorded.folder) == UNKNOWN
    bias = recorded.table(f"{WATAOKA}/fig1b_bias.csv")
    assert bias["dataset"].value_counts().to_dict() == {"vicuna80": 5, "mt-bench": 1, "mine": 1}
    assert "my-judge" in set(bias["judge"])
    for study, files in {"panickssery": panickssery_files(), "xu": xu_files()}.items():
        assert set(recorded.table(f"figures/recorded/{study}/audit.csv")["file"]) == set(files)


def test_released_texts_stay_out_of_git_and_no_text_is_obeyed(recorded):
    told = recorded.call("git", "status", "--porcelain", "-uall").stdout
    shown = set(re.findall(r"\?\? (.+)", told))
    drivers = re.compile(r"report/recorded/(book|.*-(items|metrics))")
    assert not any("fig1a_example" in name or drivers.match(name) for name in shown)
    for study, text in TEXTS.items():
        tops = "report/recorded/judges.md", *(f"{top}/recorded/{study}" for top in TOPS)
        of_study = [name for name in shown if name.startswith(tops)]
        assert len(of_study) > 20
        assert f"report/recorded/{study}.ipynb" in of_study
        assert not [name for name in of_study if text in (recorded.folder / name).read_bytes()]
    pages = [*recorded.folder.glob("report/recorded/**/*.html")]
    assert not [path for path in pages if b"<script>alert" in path.read_bytes()]


def test_a_study_needs_its_own_stages_and_a_change_of_a_set_what_reads_it(recorded):
    with recorded.dvc() as repo:
        needed = {stage.addressing for stage in repo.stage.collect("chapter@xu-recorded", True)}
    assert needed == {"check", "xu-items@xu", *of("xu")}
    always = {"check", "report@recorded", "beyond-metrics@recorded", *of("wataoka")}
    with recorded.edited(lambda params: params["wataoka"]["datasets"].update(more=MINE)):
        assert recorded.stale() == always | {"wataoka-items@more"}
    with recorded.edited(lambda params: params["wataoka"]["datasets"].pop("mine")):
        assert recorded.stale() == always


# What is run once more, in a copy: a value tried out in the notebook alone, or as an experiment.


@pytest.fixture(scope="module")
def tried(recorded, tmp_path_factory):
    """A copy that git has with all that ran: what DVC compares experiments with."""
    clone = recorded.copied(tmp_path_factory.mktemp("tried") / "clone")
    clone.commit("run")
    return clone


def test_an_executed_copy_tells_the_declared_values_and_papermill_alone_others(recorded, tried):
    section, said = parameters(recorded.folder / "report/recorded/wataoka-metrics.ipynb")
    assert {"threshold": 0.5, "judge_ties": "drop"}.items() <= section["wataoka"].items()
    assert {"resamples": 100, "level": 0.95}.items() <= section["bootstrap"].items()
    before = headline(recorded)
    assert json.loads(said) == before
    given = "section: {wataoka: {threshold: 0.8}}"
    done = tried.call("papermill", "notebooks/wataoka_metrics.ipynb", "out.ipynb", "-y", given)
    assert done.returncode == 0
    section, said = parameters(tried.folder / "out.ipynb")
    assert section == {"wataoka": {"threshold": 0.8}}
    # 0.8 decides nothing any longer, and with it the pairs that told against the judge.
    mine = json.loads(said)["mine"]["my-judge"]
    assert mine["eo"] != before["mine"]["my-judge"]["eo"]
    (tried.folder / "out.ipynb").unlink()
    # DVC gives back what the run made.
    tried.call("dvc", "checkout", "--force")
    assert headline(tried) == before


def test_an_experiment_without_pairs_goes_on_and_a_second_run_gives_the_same_bytes(recorded, tried):
    """Whole, it would take as long as what it leaves stale here."""

    def less(params):
        for name in ("mine", "mt-bench"):
            del params["wataoka"]["datasets"][name]

    former, stages = tried.edit(less), {"check", *of("wataoka")}
    done = tried.call("dvc", "exp", "run", "-S", "wataoka.turns=second", "chapter@wataoka-recorded")
    assert ran(done) == stages
    assert tried.stale() == {"beyond-metrics@recorded", "claims", "report@recorded"}
    # What an earlier run drew goes.
    assert tried.lacks("recorded", "wataoka fig1b_bias", "svg")
    chapter = (tried.folder / "report/recorded/wataoka.ipynb").read_text()
    assert "Left out, since these data have nothing to show there: A judge" in chapter
    # DVC names the change.
    compared = json.loads(tried.call("dvc", "metrics", "diff", "--json").stdout)
    change = compared["data/recorded/headlines/wataoka.json"]["vicuna80.claude-1.eo"]
    assert change["old"] == headline(recorded)["vicuna80"]["claude-1"]["eo"]
    assert change.get("new") is None
    assert tried.call("dvc", "plots", "show").returncode == 0
    assert (tried.folder / "dvc_plots/index.html").read_text().count("vegaEmbed(") == 4
    # All comes back, figures and executed copies too.
    (tried.folder / "params.yaml").write_text(former)
    again = {"wataoka-items@mine", "wataoka-items@mt-bench"}
    assert ran(tried.repro("chapter@wataoka-recorded")) == stages | again
    assert tried.outputs() == recorded.outputs()
    assert tried.stale() == set()
