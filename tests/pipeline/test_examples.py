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
    "panickssery": "respond@smollm2 recognise@smollm2",
    "xu": "refine@smollm2",
    "livebench": "respond@smollm2 judge@smollm2 judge@smollm2-again tie-break@smollm2-breaks",
}


@pytest.mark.parametrize("study", sorted(ASKED))
def test_an_example_runs_from_items_to_its_report_and_counts_what_cannot_be_read(study, tmp_path):
    with cloned(tmp_path, {}) as clone:
        # The user's own downloads and weights.
        for name in ("SELFPREF_ARCHIVES", "SELFPREF_CACHE"):
            clone.environment.pop(name)
            clone.environment |= {name: os.environ[name]} if name in os.environ else {}
        assert clone.call("selfpref", "use", study).returncode == 0
        stages = ran(clone.repro())
    asked = {f"{study}-{stage}" for stage in ASKED[study].split()}
    assert stages >= asked | {f"metrics@{study}-{study}", f"chapter@{study}-{study}"}
    assert clone.stale() == set()
    assert (clone.folder / f"report/{study}/book/index.html").is_file()
    assert "smollm2" in (clone.folder / f"report/{study}/{study}.ipynb").read_text()
    for path in clone.folder.glob(f"data/{study}/{study}/*/smollm2*.parquet"):
        found = clone.table(str(path))
        # An arm's name stands in front of its items; of LiveBench one category of three is marked.
        assert 0 < found["item_id"].str.split("/").str[-2:].str.join("/").nunique() <= 10
        # What has no number says why.
        known = {"ratings": "score", "verdicts": "choice"}.get(path.parent.name)
        assert known is None or (found["status"].eq("ok") == found[known].notna()).all()
    if study == "xu":
        told = clone.table("data/xu/xu/responses/smollm2.parquet")["item_id"].str.rpartition("/")
        assert told[0].str.contains("self-consistency").any()
        assert clone.table("data/xu/xu/ratings/smollm2.parquet")["step"].max() == 10
