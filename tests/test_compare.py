import importlib.util
import io
import sys

import pandas as pd
import pytest
from conftest import REPOSITORY


@pytest.fixture
def compared(tmp_path, monkeypatch, capsys):
    """Compare two tables: the exit status and what is printed."""
    spec = importlib.util.spec_from_file_location("compare", REPOSITORY / "tools/compare.py")
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)

    def run(old, new, dropped=""):
        for name, text in (("old", old), ("new", new)):
            folder = tmp_path / name / "figures/lab/xu"
            folder.mkdir(parents=True)
            (folder / "bias.csv").write_text(text)
            frames = tmp_path / name / "data/lab/metrics/xu"
            frames.mkdir(parents=True)
            found = pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable")
            found.to_parquet(frames / "bias.parquet")
        (tmp_path / "dropped.csv").write_text(f"table,column,reason\n{dropped}")
        monkeypatch.setattr(compare, "ROOT", tmp_path / "new")
        given = ["--with", str(tmp_path / "old"), "--dropped", str(tmp_path / "dropped.csv")]
        monkeypatch.setattr(sys, "argv", ["compare", "lab", *given])
        return compare.main(), capsys.readouterr().out

    return run


def test_equal_numbers_and_new_columns_pass(compared):
    status, told = compared("model,bias\na,0.5\nb,\n", "model,bias,n\na,0.50000000001,3\nb,,4\n")
    assert status == 0
    assert "xu/bias: + column n" in told
    assert "metrics/xu/bias: + column n" in told
    assert "2 tables compared, 0 differences, 0 tables and columns dropped as listed" in told


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("model,bias\na,0.51\nb,\n", "0.5 is now 0.51"),
        ("model,bias\na,0.5\nb,0\n", "in row 2"),
        ("model,bias\nc,0.5\nb,\n", "a is now c"),
        ("model,bias\na,0.5\n", "2 rows, now 1"),
        ("model\na\nb\n", "column bias is gone"),
    ],
)
def test_what_differs_is_named(compared, new, words):
    status, told = compared("model,bias\na,0.5\nb,\n", new)
    assert status == 1
    assert words in told


def test_what_is_listed_may_be_gone(compared):
    listed = "xu/bias,n,counted elsewhere\n"
    status, told = compared("model,bias,n\na,0.5,3\n", "model,bias\na,0.5\n", listed)
    assert status == 1
    assert told.splitlines()[0] == "metrics/xu/bias: column n is gone"
    assert "1 differences, 1 tables and columns dropped as listed" in told
