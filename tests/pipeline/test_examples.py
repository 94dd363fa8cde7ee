"""The example profiles with a real model, as they are shipped (`make test-model`).

Ten items each: that the way from items to figures is there, not what a model of 135 million
parameters is worth as a judge.
"""

import os

import pytest

if not os.environ.get("SELFPREF_MODEL"):
    pytest.skip("make test-model installs what this needs", allow_module_level=True)

from clones import cloned, ran

ASKED = {
    "panickssery": {"panickssery-respond@smollm2", "panickssery-recognise@smollm2"},
    "xu": {"xu-refine@smollm2"},
    "livebench": {
        *("livebench-respond@smollm2", "livebench-judge@smollm2", "livebench-judge@smollm2-again"),
        "livebench-tie-break@smollm2-breaks",
    },
}


@pytest.fixture(scope="module", params=sorted(ASKED))
def example(request, tmp_path_factory):
    """One profile after its run, with the user's own downloads and weights."""
    with cloned(tmp_path_factory.mktemp(request.param), {}) as clone:
        for name in ("SELFPREF_ARCHIVES", "SELFPREF_CACHE"):
            clone.environment.pop(name)
            if name in os.environ:
                clone.environment[name] = os.environ[name]
        used = clone.call("python", "-m", "selfpref", "use", request.param)
        assert used.returncode == 0, used.stderr
        yield request.param, clone, ran(clone.repro())


def test_an_example_runs_from_items_to_its_report_and_counts_what_cannot_be_read(example):
    study, clone, stages = example
    assert ASKED[study] <= stages
    assert {f"metrics@{study}-{study}", f"chapter@{study}-{study}", f"report@{study}"} <= stages
    assert clone.stale() == set()
    assert (clone.folder / f"report/{study}/book/index.html").is_file()
    assert "smollm2" in (clone.folder / f"report/{study}/{study}.ipynb").read_text()
    for name in ("responses", "ratings", "verdicts"):
        path = f"data/{study}/{study}/{name}/smollm2.parquet"
        if name != "responses" and not (clone.folder / path).is_file():
            continue
        found = clone.table(path)
        # An arm's name stands in front of its items.
        items = found["item_id"].str.split("/").str[-2:].str.join("/")
        # Of LiveBench one category of three is marked.
        assert items.nunique() == (6 if (study, name) == ("livebench", "ratings") else 10)
        # What has no number says why.
        known = {"ratings": "score", "verdicts": "choice"}.get(name)
        assert known is None or (found["status"].eq("ok") == found[known].notna()).all()
    if study == "livebench":
        folder = clone.folder / "data/livebench/livebench"
        (broken,) = folder.rglob("smollm2-breaks.parquet")
        assert len(clone.table(str(broken.relative_to(clone.folder)))) > 0
    if study == "xu":
        told = clone.table("data/xu/xu/responses/smollm2.parquet")["item_id"].str.rpartition("/")
        assert told[0].str.contains("self-consistency").any()
        assert clone.table("data/xu/xu/ratings/smollm2.parquet")["step"].max() == 10
