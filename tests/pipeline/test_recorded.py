"""The recorded profile end to end: one run, what DVC finds stale after a change, and runs again."""

import html
import json
import re
import shutil
from typing import Any

import pytest
from clones import MINE, cloned, ran
from conftest import REPOSITORY, xu_files
from dvc.exceptions import DvcException
from panickssery_release import CONTROLS, GPT, LLAMA
from panickssery_release import files as panickssery_files

from selfpref.__main__ import main
from selfpref.commands import profiles
from selfpref.errors import SelfprefError
from selfpref.params import TASKS, load
from selfpref.studies import registry

# By study, names of figures, and of tables.
FIGURES = {
    "wataoka": (
        *("fig1a_example", "fig1b_bias", "fig2_confusion", "table2_demographic_parity"),
        *("bias_by_opponent", "position", "bias_by_judge_and_responder", "without_a_self"),
    ),
    "livebench": (
        *("preference_shares", "preference_shares_by_task", "excess", "objective", "heatmap"),
        *("position", "released_coding", "released_math"),
    ),
    "panickssery": (
        *("pairwise", "fig1_recognition_vs_preference", "fig2_recognition_before"),
        *("fig3_preference_before", "fig4_training_size", "fig7_self_recognition", "controls"),
        *("inverted", "individual", "labels"),
    ),
    "xu": (
        *("fig1_bias", "translation", "translation_bias", "translation_dskew"),
        *("perceived", "gains", "human", "commongen", "best_of_k", "style", "format"),
        *("matched", "refined_by_noise"),
    ),
}
TABLES = {
    "wataoka": FIGURES["wataoka"],
    "livebench": (
        *("preference_shares", "majority_vote", "excess", "scores", "position", "objective"),
        *("agreement", "audit"),
    ),
    "panickssery": (
        *FIGURES["panickssery"],
        *("correlation", "audit", "ordering", "deltas", "wordings", "inverted_correlation"),
        "checks",
    ),
    # These small releases hold nothing to draw of the last two.
    "xu": (*FIGURES["xu"], "fig2_skewness", "size"),
    "beyond": (
        *("beyond", "beyond_wide", "forest_pairs", "forest_contests", "ratings", "preferences"),
        *("rates_pairs", "rates_contests", "ratings_rubric", "preferences_controls"),
        *("placebo", "scales", "recovery", "mitigations", "mitigation_changes", "power"),
    ),
}
WATAOKA = "figures/recorded/wataoka"
# What every change of params.yaml touches: it is checked, and the report tells it.
ALWAYS = {"check", "report@recorded"}


def of(*studies):
    """The metrics and the chapters of these studies."""
    return {f"{part}@{study}-recorded" for study in studies for part in ("metrics", "chapter")}


def headline(clone):
    """The numbers of the first study that DVC compares."""
    return json.loads((clone.folder / "data/recorded/metrics/wataoka/headline.json").read_text())


@pytest.mark.parametrize("study", FIGURES)
def test_every_promised_figure_is_there(recorded, study):
    assert recorded.lacks(f"figures/recorded/{study}", FIGURES[study], ("svg",)) == []


@pytest.mark.parametrize("study", TABLES)
def test_every_promised_table_is_there(recorded, study):
    assert recorded.lacks(f"figures/recorded/{study}", TABLES[study], ("csv",)) == []


def test_every_judge_of_a_release_and_of_a_users_own_file_has_its_bias(recorded):
    bias = recorded.table(f"{WATAOKA}/fig1b_bias.csv")
    assert bias["dataset"].value_counts().to_dict() == {"vicuna80": 5, "mt-bench": 1, "mine": 1}
    assert "my-judge" in set(bias["judge"])
    shares = recorded.table("figures/recorded/livebench/preference_shares.csv")
    assert shares.query("task == 'all'")["category"].nunique() == 6


def test_beyond_the_papers_every_judge_stands_and_a_gap_has_its_reason(recorded):
    table = recorded.table("figures/recorded/beyond/beyond.csv")
    bias = recorded.table(f"{WATAOKA}/fig1b_bias.csv")
    of_pairs = table[table["study"].eq("wataoka")]
    assert set(of_pairs["judge"]) == {*bias["judge"], "all judges"}
    assert table.loc[table["n"].eq(0), ["value", "lo", "hi"]].isna().all(axis=None)
    assert table.loc[table["n"].eq(0), "reason"].notna().all()


@pytest.mark.parametrize(
    ("study", "texts"),
    [
        ("wataoka", ["gpt4 says"]),
        ("livebench", ["A tidy text"]),
        ("panickssery", ["secret"]),
        ("xu", ["red fox"]),
    ],
)
def test_released_texts_stay_out_of_git(recorded, study, texts):
    shown = set(re.findall(r"\?\? (.+)", recorded.shown()))
    names = (f"{study}.ipynb", f"{study}.html")
    assert {f"report/recorded/{name}" for name in names} <= shown
    drivers = re.compile(r"report/recorded/.*-(items|metrics)")
    assert not any("fig1a_example" in name or drivers.match(name) for name in shown)
    tops = (f"report/recorded/{study}", "report/recorded/judges.md", f"figures/recorded/{study}/")
    of_study = [name for name in shown if name.startswith(tops)]
    assert len(of_study) > 20
    for name in of_study:
        body = (recorded.folder / name).read_bytes()
        assert not [text for text in texts if text.encode() in body], name


def test_every_file_of_a_release_is_in_the_audit(recorded):
    for study, files in {"panickssery": panickssery_files(), "xu": xu_files()}.items():
        audit = recorded.table(f"figures/recorded/{study}/audit.csv")
        assert set(audit["file"]) == set(files)


def test_the_chapter_of_panickssery_tells_the_defects(recorded):
    chapter = (recorded.folder / "report/recorded/panickssery.ipynb").read_text()
    assert "4 store the position bias as the score of both questions" in chapter


def test_the_book_leads_to_the_chapters_and_tells_of_each_judge(recorded):
    folder = recorded.folder / "report/recorded"
    index = (folder / "book/index.html").read_text()
    assert {'href="wataoka.html"', 'href="xu.html"'} <= set(re.findall(r'href="\S+"', index))
    text = (folder / "judges.md").read_text()
    assert "fig1a" not in index + text
    told = {html.unescape(name) for name in re.findall(r"^- \*\*(.+?)\*\* ", text, re.MULTILINE)}
    tuned = text.partition("<summary>Fine-tuned evaluators")[2].partition("</details>")[0]
    folded = {html.unescape(name) for name in re.findall("<tr><td[^>]*>([^<]+)</td>", tuned)}
    assert told == {
        *("gpt-4", "gpt-3.5-turbo", "claude-1", "vicuna-13b", "bard", "my-judge", "gemini"),
        *("claude-3-7-sonnet", "gemini-2.0-flash", "o3-mini", "o1-preview", "llama"),
        *("gpt4", "gpt35"),
    }
    assert {name for name in (*GPT, *CONTROLS, *LLAMA) if "_ft_" in name} == folded
    shown = recorded.shown()
    assert "report/recorded/judges.md" in shown
    assert "report/recorded/book" not in shown


# What a change makes stale, and nothing else.


def test_nothing_is_left_to_do(recorded):
    assert recorded.stale() == set()


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (
            lambda params: params["wataoka"].update(threshold=0.8),
            {*of("wataoka"), "beyond-metrics@recorded"},
        ),
        (
            lambda params: params["livebench"].update(margin=0.1),
            {*of("livebench"), "beyond-metrics@recorded"},
        ),
        (lambda params: params["panickssery"].update(min_mass=0.1), of("panickssery")),
        (lambda params: params["studies"].remove("xu"), {"beyond-metrics@recorded"}),
        (
            lambda params: params["wataoka"]["datasets"].update(more=MINE),
            {"wataoka-items@more", *of("wataoka")},
        ),
        (lambda params: params["wataoka"]["datasets"].pop("mine"), of("wataoka")),
        (
            lambda params: params["wataoka"]["datasets"]["vicuna80"].update(judges=["gpt-4"]),
            {"wataoka-items@vicuna80", *of("wataoka")},
        ),
    ],
    ids=[
        *("a setting of one study", "of another", "of a third", "a study left out"),
        *("a new data set", "a data set less", "a judge less"),
    ],
)
def test_a_change_makes_stale_what_reads_it_and_nothing_else(recorded, change, stale):
    assert recorded.stale_after(change) == ALWAYS | stale


def test_a_study_needs_its_own_stages_and_beyond_needs_all(recorded):
    with recorded.dvc() as repo:
        needed = {
            target: {stage.addressing for stage in repo.stage.collect(target, True)}
            for target in ("chapter@xu-recorded", "beyond@recorded")
        }
        every = {stage.addressing for stage in repo.index.stages}
    assert needed["chapter@xu-recorded"] == {"check", "xu-items@xu", *of("xu")}
    chapters = {name for name in every if name.startswith("chapter@")}
    assert len(chapters) == 4
    assert needed["beyond@recorded"] == every - {"report@recorded", "claims"} - chapters


# What is run once more, in a copy.


@pytest.fixture(scope="module")
def again(recorded, tmp_path_factory):
    """A copy in which two studies ran again from nothing."""
    clone = recorded.copied(tmp_path_factory.mktemp("again") / "clone")
    for name in ("figures", "report", "data/recorded", ".dvc/cache", "dvc.lock"):
        path = clone.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    data = {
        f"wataoka-items@{name}" for name in ("mt-bench", "vicuna80", "arena", "smollm2", "mine")
    }
    data |= {"panickssery-items@panickssery"}
    done = clone.repro("chapter@wataoka-recorded", "chapter@panickssery-recorded")
    assert ran(done) == {"check", *data, *of("wataoka", "panickssery")}
    return clone, clone.outputs()


def test_from_scratch_again_gives_the_same_bytes(recorded, again):
    before, (_, after) = recorded.outputs(), again
    of_both = re.compile(r"(figures|report|data)/recorded/(metrics/)?(wataoka|panickssery)\b")
    assert set(filter(of_both.match, before)) <= set(after)
    assert after.items() <= before.items()


@pytest.fixture(scope="module")
def reduced(again):
    """The same with a judge and a data set less."""
    clone, _ = again

    def change(params):
        params["wataoka"]["datasets"]["vicuna80"]["judges"].remove("bard")
        del params["wataoka"]["datasets"]["mine"]

    clone.edit(change)
    done = clone.repro("chapter@wataoka-recorded")
    assert ran(done) == {"check", "wataoka-items@vicuna80", *of("wataoka")}
    return clone, done.stdout


def test_a_removed_judge_leaves_every_figure(reduced):
    clone, _ = reduced
    judges = {"gpt-4", "gpt-3.5-turbo", "claude-1", "vicuna-13b"}
    assert set(clone.table(f"{WATAOKA}/fig1b_bias.csv")["judge"]) == judges
    for name in ("position", "excess"):
        assert not {"bard", "my-judge"} & set(clone.table(f"{WATAOKA}/{name}.csv")["judge"])


def test_the_tables_of_a_removed_data_set_go_and_come_back(recorded, reduced):
    clone, told = reduced
    folder = "data/recorded/wataoka"
    of_mine = sorted((recorded.folder / folder).glob("*/mine.parquet"))
    assert len(of_mine) == 7
    gone = [str(path.relative_to(recorded.folder)) for path in of_mine]
    assert re.findall(r"^(\S+): no entry .* removed$", told, re.MULTILINE) == gone
    assert not list((clone.folder / folder).glob("*/mine.parquet"))
    assert "mine" not in headline(clone)
    clone.edit(lambda params: params["wataoka"]["datasets"].update(mine=MINE))
    assert ran(clone.repro("wataoka-items@mine")) == {"check", "wataoka-items@mine"}
    for name, path in zip(gone, of_mine, strict=True):
        assert (clone.folder / name).read_bytes() == path.read_bytes()
    clone.edit(lambda params: params["wataoka"]["datasets"].pop("mine"))


def test_no_pair_left_is_told_and_goes_on(reduced):
    clone, _ = reduced
    clone.edit(lambda params: params["wataoka"].update(turns="second"))
    clone.edit(lambda params: params["wataoka"]["datasets"].pop("mt-bench"))
    assert ran(clone.repro("chapter@wataoka-recorded")) == {"check", *of("wataoka")}
    assert clone.table(f"{WATAOKA}/fig1b_bias.csv").empty
    # What an earlier run drew is gone.
    assert clone.lacks(WATAOKA, ["fig1b_bias"], ["svg"])
    chapter = (clone.folder / "report/recorded/wataoka.ipynb").read_text()
    assert "Left out, since these data have nothing to show there: A judge" in chapter


# A value tried out: in the notebook alone, or as an experiment of DVC.


@pytest.fixture(scope="module")
def tried(recorded, tmp_path_factory):
    """A copy that git has with all that ran: what DVC compares experiments with."""
    clone = recorded.copied(tmp_path_factory.mktemp("tried") / "clone")
    for command in (["add", "-A"], ["commit", "-qm", "run"]):
        assert clone.call("git", *command).returncode == 0
    return clone


def told_by(clone, notebook):
    """The section that was added to an executed notebook, and all that it printed."""
    cells = json.loads((clone.folder / notebook).read_text())["cells"]
    (added,) = [
        "".join(cell["source"])
        for cell in cells
        if "injected-parameters" in cell["metadata"].get("tags", [])
    ]
    names: dict[str, Any] = {}
    exec(added, names)
    said = [
        text for cell in cells for one in cell.get("outputs", ()) for text in one.get("text", ())
    ]
    return names["section"], "".join(said)


def test_an_executed_copy_tells_the_declared_values(recorded):
    section, said = told_by(recorded, "report/recorded/wataoka-metrics.ipynb")
    assert {"threshold": 0.5, "judge_ties": "drop"}.items() <= section["wataoka"].items()
    assert {"resamples": 200, "level": 0.95}.items() <= section["bootstrap"].items()
    assert json.loads(said) == headline(recorded)


def test_a_value_given_to_papermill_alone_changes_the_number(tried):
    before = headline(tried)
    given = "section: {wataoka: {threshold: 0.8}}"
    done = tried.call("papermill", "notebooks/wataoka_metrics.ipynb", "out.ipynb", "-y", given)
    assert done.returncode == 0, done.stderr
    section, said = told_by(tried, "out.ipynb")
    assert section == {"wataoka": {"threshold": 0.8}}
    # 0.8 decides nothing any longer, and with it the pairs that told against the judge.
    mine = json.loads(said)["mine"]["my-judge"]
    assert mine["eo"] != before["mine"]["my-judge"]["eo"]
    (tried.folder / "out.ipynb").unlink()
    # DVC gives back what the run made.
    assert tried.call("dvc", "checkout", "--force").returncode == 0
    assert headline(tried) == before
    assert tried.stale() == set()


def test_an_experiment_of_dvc_changes_what_reads_the_value_and_names_the_change(tried):
    """Whole, with figures and report, it takes as long as what it leaves stale here."""
    before = headline(tried)
    done = tried.call(
        "dvc", "exp", "run", "-S", "wataoka.judge_ties=half", "metrics@wataoka-recorded"
    )
    assert ran(done) == {"check", "metrics@wataoka-recorded"}
    assert tried.stale() == {
        *("chapter@wataoka-recorded", "beyond-metrics@recorded", "report@recorded"),
    }
    compared = json.loads(tried.call("dvc", "metrics", "diff", "--json").stdout)
    (path,) = compared
    assert path == "data/recorded/metrics/wataoka/headline.json"
    change = compared[path]["vicuna80.claude-1.eo"]
    told = [found["vicuna80"]["claude-1"]["eo"] for found in (before, headline(tried))]
    assert [change["old"], change["new"]] == told


def test_what_dvc_plots_is_a_page(tried):
    done = tried.call("dvc", "plots", "show")
    assert done.returncode == 0, done.stderr
    page = (tried.folder / "dvc_plots/index.html").read_text()
    assert '"my-judge"' in page
    assert page.count("vegaEmbed(") == 2
    assert "dvc_plots" not in tried.shown()


# What is wrong is named, and earlier results stay.


def test_bad_input_fails_and_leaves_earlier_results(recorded):
    before = recorded.outputs()
    with recorded.edited(lambda params: params.update(sed=1)):
        done = recorded.repro()
    assert done.returncode != 0
    assert "params.yaml: sed: unknown key" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert recorded.outputs() == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda params: params["wataoka"].update(threshold="x"), "params.yaml: wataoka.threshold"),
        (
            lambda params: params["wataoka"]["datasets"].update(
                {"a.b": params["wataoka"]["datasets"]["mt-bench"]}
            ),
            "params.yaml: wataoka.datasets.a.b",
        ),
        (
            lambda params: params["panickssery"].update(min_mass=2),
            "params.yaml: panickssery.min_mass",
        ),
    ],
    ids=["wrong type", "key with a dot", "too large"],
)
def test_the_stage_before_all_others_stops_at_a_bad_setting(recorded, change, told, capsys):
    with recorded.edited(change), recorded.inside():
        assert main(["check"]) == 1
    assert told in capsys.readouterr().err


def test_dvc_stops_at_a_null_mapping_before_any_stage(recorded):
    """In its own words; `make repro` names file and key before that."""

    def change(params):
        params["wataoka"]["datasets"] = None

    with pytest.raises(DvcException, match=r"'stages\.wataoka-items\.foreach'"):
        recorded.stale_after(change)
    with (
        recorded.edited(change),
        recorded.inside(),
        pytest.raises(SelfprefError, match=r"wataoka\.datasets"),
    ):
        load(recorded.folder / "params.yaml")


def test_a_judge_that_a_release_lacks_is_named(recorded):
    def change(params):
        params["wataoka"]["datasets"]["mt-bench"]["judges"] = ["nobody"]

    told = r"wataoka\.datasets\.mt-bench\.judges: 'nobody' is unknown"
    with recorded.edited(change), recorded.inside(), pytest.raises(SelfprefError, match=told):
        registry.read(load(recorded.folder / "params.yaml"), "wataoka", "mt-bench")


def test_a_broken_file_of_a_release_is_named(recorded):
    source = recorded.folder / "src/selfpref/studies/panickssery/read/panickssery.csv"
    pinned = source.read_bytes()
    try:
        source.write_bytes(pinned.replace(b"results/xsum/gpt4_", b"results/xsum/gpt9_"))
        assert "panickssery-items@panickssery" in recorded.stale()
        with recorded.inside(), pytest.raises(SelfprefError, match="results/xsum/gpt9_results"):
            registry.read(load(recorded.folder / "params.yaml"), "panickssery", "panickssery")
    finally:
        source.write_bytes(pinned)


# Every profile, and the notebooks.


def test_every_notebook_is_run_by_a_stage():
    text = (REPOSITORY / "dvc.yaml").read_text()
    run = set(re.findall(r"selfpref run (?:--page )?notebooks/(\S+)", text))
    filled = {name.replace("${item.study}", study) for name in run for study in TASKS}
    there = {path.name for path in (REPOSITORY / "notebooks").glob("*.ipynb")}
    assert filled == there


@pytest.mark.parametrize("profile", ["recorded", "live", "paper", "lab", "demo"])
def test_every_profile_has_what_dvc_reads(tmp_path, profile):
    with cloned(tmp_path, {}) as clone:
        with clone.inside():
            profiles.use(profile)
        with clone.dvc() as repo:
            assert f"chapter@wataoka-{profile}" in {stage.addressing for stage in repo.index.stages}
