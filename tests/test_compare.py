"""What `tools/compare.py` says of two tables, and its exit status."""

import io
import sys

import pandas as pd
import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import compare


@pytest.mark.parametrize(
    ("new", "status", "told"),
    [
        ("a,0.50000000001\nb,", 0, "xu/bias: column n is gone"),
        ("a,0.51\nb,", 1, "bias: 1 of 2 rows, first in row 1: 0.5 is now 0.51"),
        ("a,0.5\nb,0", 1, "first in row 2"),
        ("c,0.5\nb,", 1, "a is now c"),
        ("a,0.5", 1, "2 rows, now 1"),
    ],
)
def test_what_differs_is_named_and_what_is_listed_may_be_gone(
    tmp_path, monkeypatch, capsys, new, status, told
):
    for name, text in {
        "old": "model,bias,n\na,0.5,3\nb,,4\n",
        "new": f"model,bias\n{new}\n",
    }.items():
        for place in ("figures/lab/xu", "data/lab/metrics/xu"):
            (tmp_path / name / place).mkdir(parents=True)
        (tmp_path / name / "figures/lab/xu/bias.csv").write_text(text)
        frame = pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable")
        frame.to_parquet(tmp_path / name / "data/lab/metrics/xu/bias.parquet")
    dropped = tmp_path / "dropped.csv"
    dropped.write_text("table,column,reason\nxu/bias,n,elsewhere\nmetrics/xu/bias,n,elsewhere\n")
    monkeypatch.setattr(compare, "DROPPED", dropped)

    def status_of(one, other):
        monkeypatch.setattr(compare, "ROOT", tmp_path / one)
        monkeypatch.setattr(sys, "argv", ["compare", "lab", "--with", str(tmp_path / other)])
        return compare.main()

    assert status_of("new", "old") == status
    said = capsys.readouterr().out
    assert "2 tables compared" in said
    assert "2 tables and columns dropped as listed" in said
    assert (told in said) is bool(status)
    # What is not listed is a difference, and what is new is none.
    dropped.write_text("table,column,reason\n")
    assert status_of("new", "old") == 1
    assert "metrics/xu/bias: column n is gone" in capsys.readouterr().out
    assert status_of("old", "new") == status
    assert "+ metrics/xu/bias: + column n" in capsys.readouterr().out
