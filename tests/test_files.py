"""Files get their name once they are complete; seeds follow from names."""

from zlib import crc32

import pytest

from selfpref.files import atomic, write_text
from selfpref.seeds import seed_of


def test_a_file_that_was_not_finished_leaves_the_former_one(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "é")
    with pytest.raises(ZeroDivisionError), atomic(path) as scratch:  # noqa: PT012
        scratch.write_text("half")
        raise ZeroDivisionError
    assert path.read_text(encoding="utf-8") == "é"
    write_text(path, "b")
    assert [one.name for one in path.parent.iterdir()] == ["a.txt"]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for name in ("one", "two"):
        # What a killed run left is in nobody's way.
        (tmp_path / ".model.new").mkdir()
        (tmp_path / ".model.new" / "left").touch()
        with atomic(tmp_path / "model") as scratch:
            scratch.mkdir()
            (scratch / name).touch()
    assert [one.name for one in tmp_path.rglob("*")] == ["model", "two"]


def test_a_seed_is_that_of_its_names_whatever_their_type():
    assert seed_of(7, "judge", "set/1", 0) == crc32(b"7/judge/set/1/0")
