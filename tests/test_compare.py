"""What `tools/compare.py` says of two tables, and its exit status."""

import io
import sys

import compare
import pandas as pd
import pytest

DROPPED = "table,column,reason\nxu/bias,n,elsewhere\nmetrics/xu/bias,n,elsewhere\n"


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
def test_what_differs_is_named_unless_listed(tmp_path, monkeypatch, capsys, new, told):
    for name, text in {"old": "model,bias,n\na,0.5,3\nb,,4", "new": f"model,bias\n{new}"}.items():
        for place in ("figures/lab/xu", "data/lab/metrics/xu"):
            (tmp_path / name / place).mkdir(parents=True)
        (tmp_path / name / "figures/lab/xu/bias.csv").write_text(text)
        frame = pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable")
        frame.to_parquet(tmp_path / name / "data/lab/metrics/xu/bias.parquet")
    monkeypatch.setattr(compare, "DROPPED", tmp_path / "dropped.csv")

    def said(one, other, dropped):
        compare.DROPPED.write_text(dropped)
        monkeypatch.setattr(compare, "ROOT", tmp_path / one)
        monkeypatch.setattr(sys, "argv", ["compare", "lab", "--with", str(tmp_path / other)])
        return compare.main(), capsys.readouterr().out

    status, out = said("new", "old", DROPPED)
    assert status == bool(told)
    assert told in out
    assert "2 tables compared" in out
    assert "2 tables and columns dropped as listed" in out
    # What is not listed is a difference, and what is new is none.
    status, out = said("new", "old", "table,column,reason\n")
    assert (status, "metrics/xu/bias: column n is gone" in out) == (1, True)
    status, out = said("old", "new", "table,column,reason\n")
    assert (status, "+ metrics/xu/bias: + column n" in out) == (bool(told), True)
