"""Files get their name once they are complete; seeds follow from names."""

import os
from pathlib import Path
from zlib import crc32

import pytest
from conftest import refused

from selfpref.files import atomic, atomic_folder, write_text
from selfpref.seeds import seed_of


def test_a_file_that_was_not_finished_leaves_the_former_one(tmp_path):
    path = tmp_path / "new/er/a.txt"
    write_text(path, "é")
    with pytest.raises(ZeroDivisionError), atomic(path) as scratch:  # noqa: PT012
        scratch.write_text("half")
        raise ZeroDivisionError
    assert path.read_text(encoding="utf-8") == "é"
    write_text(path, "b")
    assert [one.name for one in path.parent.iterdir()] == ["a.txt"]
    # A folder with the name of what is being written stays.
    (tmp_path / ".a.new").mkdir()
    with refused(match="left as it is"):
        write_text(tmp_path / "a", "lost")
    assert {one.name for one in tmp_path.iterdir()} == {"new", ".a.new"}


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for name in ("one", "two"):
        # What a killed run left is in nobody's way.
        (tmp_path / ".model.new").mkdir()
        (tmp_path / ".model.new" / "left").touch()
        with atomic_folder(tmp_path / "model") as scratch:
            scratch.mkdir()
            (scratch / name).touch()
    assert [one.name for one in tmp_path.rglob("*")] == ["model", "two"]


@pytest.mark.parametrize(
    "name", ["folder", "link", "folder/..", "file/a", "/dev/null", "shut/new/a"]
)
def test_no_file_replaces_a_folder_or_stands_where_none_may(repository, monkeypatch, name):
    # Modes do not hold for root; what the system says of a mode is not ours to test.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != Path("shut"))
    for made in ("folder", "shut"):
        Path(made).mkdir()
    Path("file").write_text("kept")
    Path("link").symlink_to("folder")
    before = sorted(repository.rglob("*"))
    with refused(match=f"^{Path(name)}: "):
        write_text(Path(name), "lost")
    assert sorted(repository.rglob("*")) == before
    assert Path("file").read_text() == "kept"
    assert Path("/dev/null").is_char_device()


def test_a_seed_is_that_of_its_names_whatever_their_type():
    assert seed_of(7, "judge", "set/1", 0) == crc32(b"7/judge/set/1/0")
