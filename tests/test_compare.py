"""What `tools/compare.py` says of two tables, and its exit status."""

import io
import sys

import compare
import pandas as pd
import pytest


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """The status and output of a comparison of one text as a table and as a frame with another."""

    def compared(one, other):
        for name, text in {"one": one, "other": other}.items():
            table = tmp_path / name / "figures/lab/xu/bias.csv"
            frame = tmp_path / name / "data/lab/metrics/xu/bias.parquet"
            for path in (table, frame):
                path.parent.mkdir(parents=True, exist_ok=True)
            table.write_text(text)
            pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable").to_parquet(frame)
        monkeypatch.setattr(compare, "ROOT", tmp_path / "one")
        monkeypatch.setattr(sys, "argv", ["compare", "lab", "--with", str(tmp_path / "other")])
        return compare.main(), capsys.readouterr().out

    return compared


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("a,0.50000000001\nb,", ""),
        ("a,0.51\nb,", "bias: 1 of 2 rows, first in row 1: 0.5 is now 0.51"),
        ("a,0.5\nb,0", "first in row 2"),
        ("c,0.5\nb,", "a is now c"),
        ("a,0.5", "2 rows, now 1"),
    ],
)
def test_what_differs_is_named(said, new, told):
    status, out = said(f"model,bias\n{new}", "model,bias\na,0.5\nb,")
    assert status == bool(told)
    assert told in out
    assert "2 tables compared" in out


def test_what_is_gone_is_a_difference_and_what_is_new_is_none(said):
    less, more = "model,bias\na,0.5", "model,bias,n\na,0.5,3"
    status, out = said(less, more)
    assert (status, "metrics/xu/bias: column n is gone" in out) == (1, True)
    status, out = said(more, less)
    assert (status, "+ metrics/xu/bias: + column n" in out) == (0, True)
