"""The downloader against real HTTP on loopback, servers that misbehave included."""

import hashlib
from collections import Counter
from contextlib import ExitStack

import pytest
from conftest import COMMIT, QuietHandler, pin, serving

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError

FILES = {"data/a.txt": "alpha\n", "data/b.txt": "beta\n" * 1000}
FOLDER = f"/owner/name/{COMMIT}/data"
HASH = hashlib.sha256(FILES["data/b.txt"].encode()).hexdigest()


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return pin(tmp_path / "mirror", "owner/name", FILES, tmp_path / "source.csv")


# From a body to the length that is told, and what is sent.
FAULTS = {
    "cut off": lambda body: (len(body), body[:2500]),
    "short": lambda body: (len(body) - 5, body[:-5]),
}


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    """A server whose first answers for b.txt go wrong; its address and the requests by path."""

    def start(fault, count):
        seen = Counter()

        class Handler(QuietHandler):
            def do_GET(self):  # noqa: N802
                seen[self.path] += 1
                body = (tmp_path / "mirror" / self.path.lstrip("/")).read_bytes()
                wrong = seen[self.path] <= count and self.path.endswith("b.txt")
                if wrong and fault not in FAULTS:
                    self.send_error(int(fault))
                    return
                length, sent = FAULTS[fault](body) if wrong else (len(body), body)
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(sent)

        address = servers.enter_context(serving(Handler))
        monkeypatch.setenv("SELFPREF_ARCHIVES", address)
        return address, seen

    with ExitStack() as servers:
        yield start


def test_downloads_once_then_serves_from_the_cache_and_mends_it(source, faulty):
    _, seen = faulty("503", 0)
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


@pytest.mark.parametrize(
    ("fault", "told"),
    [("503", "503"), ("cut off", "run again to go on"), ("short", HASH)],
)
def test_a_lasting_fault_is_named_and_what_arrived_is_kept(source, faulty, tmp_path, fault, told):
    root, seen = faulty(fault, 4)
    with pytest.raises(SelfprefError) as failure:
        fetch(source)
    assert f"{root}{FOLDER}/b.txt" in str(failure.value)
    assert told in str(failure.value)
    assert str(failure.value).splitlines()[1].startswith("4 tries; ")
    assert seen[f"{FOLDER}/b.txt"] == 4
    assert not list((tmp_path / "cache").rglob("b.txt"))
    fetch(source)
    assert seen[f"{FOLDER}/a.txt"] == 1


@pytest.mark.parametrize(
    "row",
    ["owner/name,c,../../escape,1,0", ",,/etc/passwd,1,0", "a/b,c,file,-1,0", "a/b,c,file"],
)
def test_a_path_that_leaves_its_folder_or_a_row_that_is_none_is_refused(tmp_path, row):
    source = tmp_path / "source.csv"
    source.write_text(f"repository,commit,path,bytes,sha256\n{row}\n")
    with pytest.raises(SelfprefError, match="line 2"):
        fetch(source)
