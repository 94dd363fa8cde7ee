"""The same rows whatever kind of file holds them; a file cut short is told as that."""

import gzip
import json

import pandas as pd
import pytest

from selfpref.errors import SelfprefError
from selfpref.formats.judgments import read
from selfpref.formats.records import records

ROWS = [
    {"item": f"{n}", "responder_a": "me", "responder_b": "you", "label": "ab"[n % 2]}
    | {"judge": "me", "order": "ab", "verdict": "a"}
    for n in range(5)
]


def written(tmp_path, name):
    path, frame = tmp_path / name, pd.DataFrame(ROWS)
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif ".jsonl" in name:
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    return path


@pytest.mark.parametrize(
    "name", ["f.jsonl.gz", "f.csv.gz", "f.CSV", "f.tsv", "f.tsv.gz", "f.parquet"]
)
def test_rows_are_the_same_in_every_kind_of_file(name, tmp_path):
    wanted = read(written(tmp_path, "f.jsonl")).drop(columns="file")
    found = read(written(tmp_path, name)).drop(columns="file")
    # A table's first row stands below its names.
    columns = [column for column in wanted if column != "line"]
    pd.testing.assert_frame_equal(found[columns], wanted[columns])


def test_a_file_cut_short_is_told_in_a_line(tmp_path):
    whole = written(tmp_path, "f.parquet")
    whole.write_bytes(whole.read_bytes()[:-20])
    packed = tmp_path / "f.jsonl.gz"
    packed.write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode())[:-12])
    plain = tmp_path / "g.jsonl.gz"
    plain.write_text(json.dumps(ROWS[0]))
    for path, told in ((whole, "not parquet"), (packed, "cut off"), (plain, "not gzip")):
        with pytest.raises(SelfprefError, match=told) as refused:
            list(records(path))
        assert len(str(refused.value).splitlines()) == 1
        assert str(path) in str(refused.value)
