"""Data sets of the Hub at a pinned revision."""

import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")

import datasets

from selfpref.download import hub
from selfpref.errors import SelfprefError


def test_a_gated_set_says_how_to_get_access(tmp_path, monkeypatch):
    source = tmp_path / "pinned.csv"
    source.write_text(f"repository,revision,split\nlmsys/gated,{'0' * 40},train\n")

    def refuse(name, *_, **given):
        raise datasets.exceptions.DatasetNotFoundError(f"{name} is gated.\nLog in.")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(SelfprefError) as failure:
        hub.load(source, ())
    first, second = str(failure.value).splitlines()
    assert first == "lmsys/gated: lmsys/gated is gated."
    assert "https://huggingface.co/datasets/lmsys/gated and export HF_TOKEN" in second
