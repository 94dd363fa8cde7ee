"""`make verify` in small: two runs from scratch, in folders of their own, give the same bytes."""

import os

import pytest
from campaign import pipeline

pytestmark = pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")


def test_two_runs_from_scratch_are_the_same(tmp_path, monkeypatch, capfd):
    import verify

    with pipeline(tmp_path, "recorded") as clone:
        for command in (["add", "-A"], ["commit", "-qm", "reduced"]):
            assert clone.call("git", *command).returncode == 0
        monkeypatch.setattr(verify, "ROOT", clone.folder)
        for name, value in clone.environment.items():
            monkeypatch.setenv(name, value)
        assert verify.main(["recorded"]) == 0
    told = capfd.readouterr().out
    assert "recorded: " in told
    assert " files the same, 0 not" in told
    assert "Not committed" not in told
