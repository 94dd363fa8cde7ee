"""llama.cpp's server, run by the Python that `make test-servers` names in $SELFPREF_SERVERS."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON = os.environ["SELFPREF_SERVERS"]


def converted(folder: Path, file: Path, *split: str) -> Path:
    """A model folder as one GGUF file of fp32 weights."""
    program = Path(__file__).with_name("convert.py")
    subprocess.run([PYTHON, program, folder, file, *split], check=True)
    return file


@contextmanager
def serving(file: Path) -> Iterator[str]:
    """The address of a server of this file."""
    command = [PYTHON, Path(__file__).with_name("serve.py"), file]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        address = process.stdout.readline().strip()
        assert address, "the server ended"
        try:
            yield address
        finally:
            process.stdin.close()
