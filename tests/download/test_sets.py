"""Data sets of the Hub at a pinned revision."""

import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")

import datasets

from selfpref.download.fetch import open_set
from selfpref.errors import SelfprefError


def test_a_source_is_one_row(tmp_path):
    source = tmp_path / "pinned.csv"
    source.write_text("repository,split\nx/y,train\n")
    with pytest.raises(SelfprefError, match="one row of repository, revision, split"):
        open_set(source, ())
    with pytest.raises(SelfprefError, match="correct `source`"):
        open_set(tmp_path / "none.csv", ())


def test_a_gated_set_says_how_to_get_access(tmp_path, monkeypatch):
    source = tmp_path / "pinned.csv"
    source.write_text(f"repository,revision,split\nlmsys/gated,{'0' * 40},train\n")

    def refuse(name, *_, **given):
        raise datasets.exceptions.DatasetNotFoundError(f"{name} is gated.\nLog in.")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(SelfprefError) as failure:
        open_set(source, ())
    first, second = str(failure.value).splitlines()
    assert first == "lmsys/gated: lmsys/gated is gated."
    assert "accept the terms on https://huggingface.co/datasets/lmsys/gated" in second
    assert "HF_TOKEN" in second
