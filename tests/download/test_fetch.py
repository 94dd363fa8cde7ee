"""The downloader against real HTTP on loopback, servers that misbehave included."""

import hashlib
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from conftest import COMMIT, pin

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError

FILES = {"data/a.txt": "alpha\n", "data/b.txt": "beta\n" * 1000}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return pin(tmp_path / "mirror", "owner/name", FILES, tmp_path / "source.csv")


def faulty(tmp_path: Path, faults: int, misbehave):
    """A handler whose first `faults` answers for b.txt go wrong; counts the requests by path."""
    seen: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen[self.path] += 1
            body = (tmp_path / "mirror" / self.path.lstrip("/")).read_bytes()
            if self.path.endswith("b.txt") and seen[self.path] <= faults:
                misbehave(self, body)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler, seen


def status(code: int):
    return lambda handler, _: handler.send_error(code)


def cut_off(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.connection.close()


def whole_but_short(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body) - 5))
    handler.end_headers()
    handler.wfile.write(body[:-5])


def same_size_other_bytes(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[::-1])


def test_downloads_once_then_serves_from_the_cache(source, serve, tmp_path, monkeypatch):
    handler, seen = faulty(tmp_path, 0, status(500))
    monkeypatch.setenv("SELFPREF_ARCHIVES", serve(handler=handler))
    for _ in range(2):
        files = fetch(source)
        assert {path: local.read_text() for path, local in files.items()} == FILES
    assert sum(seen.values()) == len(FILES)


def test_a_directory_is_read_in_place(source, tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    assert fetch(source)["data/a.txt"] == tmp_path / "mirror/owner/name" / COMMIT / "data/a.txt"


@pytest.mark.parametrize("fault", [status(503), cut_off, whole_but_short, same_size_other_bytes])
def test_a_passing_fault_is_retried(source, serve, tmp_path, monkeypatch, fault):
    handler, seen = faulty(tmp_path, 2, fault)
    monkeypatch.setenv("SELFPREF_ARCHIVES", serve(handler=handler))
    assert fetch(source)["data/b.txt"].read_text() == FILES["data/b.txt"]
    assert seen[f"/owner/name/{COMMIT}/data/b.txt"] == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (status(503), "503"),
        (cut_off, ""),
        (whole_but_short, "4995 bytes instead of 5000"),
        (same_size_other_bytes, hashlib.sha256(FILES["data/b.txt"].encode()).hexdigest()),
    ],
)
def test_a_lasting_fault_names_file_and_address(source, serve, tmp_path, monkeypatch, fault, told):
    handler, _ = faulty(tmp_path, 99, fault)
    root = serve(handler=handler)
    monkeypatch.setenv("SELFPREF_ARCHIVES", root)
    with pytest.raises(SelfprefError) as failure:
        fetch(source)
    message = str(failure.value)
    assert f"data/b.txt from {root}/owner/name/{COMMIT}/data/b.txt" in message
    assert told in message
    assert len(message.splitlines()) <= 2


def test_a_404_is_final_and_told_at_once(source, serve, tmp_path, monkeypatch):
    handler, seen = faulty(tmp_path, 99, status(404))
    monkeypatch.setenv("SELFPREF_ARCHIVES", serve(handler=handler))
    with pytest.raises(SelfprefError, match=r"data/b\.txt: HTTP 404"):
        fetch(source)
    assert seen[f"/owner/name/{COMMIT}/data/b.txt"] == 1


def test_what_arrived_before_a_failure_is_kept(source, serve, tmp_path, monkeypatch):
    handler, seen = faulty(tmp_path, 4, cut_off)
    monkeypatch.setenv("SELFPREF_ARCHIVES", serve(handler=handler))
    with pytest.raises(SelfprefError):
        fetch(source)
    assert not list((tmp_path / "cache").rglob("b.txt"))
    fetch(source)
    assert seen[f"/owner/name/{COMMIT}/data/a.txt"] == 1


def test_a_damaged_file_in_the_cache_is_fetched_anew(source, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", serve(tmp_path / "mirror"))
    fetch(source)["data/a.txt"].write_text("omega\n")
    assert fetch(source)["data/a.txt"].read_text() == FILES["data/a.txt"]


def test_nobody_listening(source, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", "http://127.0.0.1:9")
    with pytest.raises(SelfprefError, match="name a mirror in"):
        fetch(source)


@pytest.mark.parametrize("path", ["../../escape", "/etc/passwd"])
def test_a_path_that_leaves_its_folder_is_refused(tmp_path, path):
    source = tmp_path / "source.csv"
    row = f"owner/name,{COMMIT},{path},1,{'0' * 64}"
    if path.startswith("/"):
        row = f",,{path},1,{'0' * 64}"
    source.write_text(f"repository,commit,path,bytes,sha256\n{row}\n")
    with pytest.raises(SelfprefError, match="line 2"):
        fetch(source)
