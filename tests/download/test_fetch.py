"""The downloader against real HTTP on loopback, servers that misbehave included; the Hub."""

import hashlib
from collections import Counter

import pytest
from conftest import COMMIT, QuietHandler, pin, serving

from selfpref.download.fetch import fetch, open_set
from selfpref.errors import SelfprefError

FILES = {"data/a.txt": "alpha\n", "data/b.txt": "beta\n" * 1000}
FOLDER = f"/owner/name/{COMMIT}/data"
HASH = hashlib.sha256(FILES["data/b.txt"].encode()).hexdigest()


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return pin(tmp_path / "mirror", "owner/name", FILES, tmp_path / "source.csv")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of the mirror: what it was asked, and the `faults` of its answers for b.txt."""
    seen, faults = Counter(), []

    class Handler(QuietHandler):
        def do_GET(self):  # noqa: N802
            seen[self.path] += 1
            body = (tmp_path / "mirror" / self.path.lstrip("/")).read_bytes()
            fault = faults.pop() if faults and self.path.endswith("b.txt") else None
            if fault == "503":
                self.send_error(503)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body) - 5 * (fault == "short")))
            self.end_headers()
            self.wfile.write(body[:-5] if fault else body)

    with serving(Handler) as address:
        monkeypatch.setenv("SELFPREF_ARCHIVES", address)
        yield address, seen, faults


def test_downloads_once_then_serves_from_the_cache_and_mends_it(source, server):
    _, seen, _ = server
    for _ in range(2):
        files = fetch(source)
        assert {path: local.read_text() for path, local in files.items()} == FILES
    assert seen.total() == len(FILES)
    files["data/a.txt"].write_text("omega\n")
    assert fetch(source)["data/a.txt"].read_text() == "alpha\n"
    assert seen == {f"{FOLDER}/a.txt": 2, f"{FOLDER}/b.txt": 1}


def test_a_directory_is_read_in_place_and_its_files_are_checked(source, tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    local = fetch(source)["data/a.txt"]
    assert local == tmp_path / "mirror/owner/name" / COMMIT / "data/a.txt"
    local.write_text("omega\n")
    with pytest.raises(SelfprefError, match=r"a\.txt: sha256 is not .* unpack"):
        fetch(source)


@pytest.mark.parametrize(("fault", "told"), [("503", "503"), ("cut", "go on"), ("short", HASH)])
def test_a_lasting_fault_is_named_and_what_arrived_is_kept(source, server, tmp_path, fault, told):
    root, seen, faults = server
    faults += [fault] * 4
    with pytest.raises(SelfprefError, match=r"b.txt: (.|\n)*\n4 tries; ") as failure:
        fetch(source)
    assert f"{root}{FOLDER}/b.txt" in str(failure.value)
    assert told in str(failure.value)
    assert not list((tmp_path / "cache").rglob("b.txt"))
    fetch(source)
    assert seen == {f"{FOLDER}/a.txt": 1, f"{FOLDER}/b.txt": 5}


@pytest.mark.parametrize(
    "row",
    ["owner/name,c,../../escape,1,0", ",,/etc/passwd,1,0", "a/b,c,file,-1,0", "a/b,c,file"],
)
def test_a_path_that_leaves_its_folder_or_a_row_that_is_none_is_refused(tmp_path, row):
    source = tmp_path / "source.csv"
    source.write_text(f"repository,commit,path,bytes,sha256\n{row}\n")
    with pytest.raises(SelfprefError, match="line 2"):
        fetch(source)


@pytest.mark.parametrize(
    ("pinned", "told"),
    [
        ("repository,split\nx/y,train\n", "one row of repository, revision, split"),
        ("repository,revision,split\nx/y,0,train\n", "gated.\n.*datasets/x/y .* HF_TOKEN"),
        (None, "correct `source`"),
    ],
)
def test_a_set_of_the_hub_is_one_row_and_a_gated_one_says_how_to_get_access(
    tmp_path, monkeypatch, pinned, told
):
    datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")
    if pinned:
        (tmp_path / "pinned.csv").write_text(pinned)

    def refuse(*_, **given):
        raise datasets.exceptions.DatasetNotFoundError("is gated.\nLog in.")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(SelfprefError, match=told):
        open_set(tmp_path / "pinned.csv", ())
