"""Data sets of the Hub at a pinned revision."""

import subprocess
import sys
from http.server import BaseHTTPRequestHandler

import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")

from selfpref.download import hub
from selfpref.errors import SelfprefError


def test_a_source_is_one_row(tmp_path):
    source = tmp_path / "pinned.csv"
    source.write_text("repository,split\nx/y,train\n")
    with pytest.raises(SelfprefError, match="one row of repository, revision, split"):
        hub.load(source, ())
    with pytest.raises(SelfprefError, match="correct `source`"):
        hub.load(tmp_path / "none.csv", ())


class Gated(BaseHTTPRequestHandler):
    """A Hub whose set nobody may read without the owner's consent."""

    def do_HEAD(self):
        self.send_response(401)
        self.send_header("X-Error-Code", "GatedRepo")
        self.send_header("X-Error-Message", "Access is restricted; log in")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD  # noqa: N815

    def log_message(self, *given):
        pass


def test_a_gated_set_says_how_to_get_access(serve, tmp_path, monkeypatch):
    source = tmp_path / "pinned.csv"
    source.write_text(f"repository,revision,split\nlmsys/gated,{'0' * 40},train\n")
    monkeypatch.setenv("HF_ENDPOINT", serve(handler=Gated))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    # The address is read when the library is imported.
    code = (
        "import sys; from pathlib import Path; from selfpref.download import hub\n"
        "try: hub.load(Path(sys.argv[1]), ())\n"
        "except hub.SelfprefError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "accept the terms on https://huggingface.co/datasets/lmsys/gated" in done.stdout
    assert "HF_TOKEN" in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
