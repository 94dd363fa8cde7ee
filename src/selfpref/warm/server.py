"""The process that imports once and forks a runner a stage; it ends with its DVC."""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from selfpref.settings import settle
from selfpref.warm import kernel
from selfpref.warm.client import POLL, alive

# What stages import; the models' libraries only once a stage asks for them.
LIBRARIES = (
    *("ipykernel.kernelapp", "papermill", "nbconvert.exporters.html", "dvc.parsing", "pandas"),
    *("pyarrow.parquet", "pandera.pandas", "pydantic", "scipy.stats", "pooch", "seaborn"),
    "dvc.repo",
)
MODELS = ("torch", "transformers.models.llama.modeling_llama", "transformers.models.auto")


def serve(address: Path, dvc: psutil.Process) -> None:
    """Import, accept and fork, until DVC ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        partial = address.with_suffix(f".{os.getpid()}")
        listener.bind(str(partial))
        listener.listen()
        os.rename(partial, address)
        # Nobody waits for the forks here; the kernel takes them away.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        settle()
        _import(LIBRARIES)
        try:
            while alive(dvc):
                if select.select([listener], [], [], POLL)[0]:
                    connection, _ = listener.accept()
                    # A client that died halfway through its order is none of the others' business.
                    with contextlib.suppress(ConnectionError):
                        _fork_runner(listener, connection)
        finally:
            address.unlink(missing_ok=True)


def _import(names: Sequence[str]) -> None:
    for name in names:
        importlib.import_module(name)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, fds, _, _ = socket.recv_fds(connection, 8, 2)
    body = b""
    while len(body) < int.from_bytes(head, "big"):
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionError("the client is gone")
        body += part
    if len(fds) != 2:
        raise ConnectionError("the client is gone")
    return json.loads(body), fds


def _fork_runner(listener: socket.socket, connection: socket.socket) -> None:
    order, fds = _receive(connection)
    if order["models"]:
        _import(MODELS)
    # What was imported stays: no fork's collector walks through half a million objects again.
    gc.freeze()
    if os.fork():
        connection.close()
        for fd in fds:
            os.close(fd)
        return
    status = 1
    try:
        listener.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for target, fd in enumerate(fds, start=1):
            os.dup2(fd, target)
            os.close(fd)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        # The package itself is imported in the fork, so that an edited module is never stale.
        for path in reversed(os.environ.get("PYTHONPATH", "").split(os.pathsep)):
            if path and path not in sys.path:
                sys.path.insert(0, path)
        status = _runner(connection, order["arguments"])
    except BaseException:
        # Nothing above this frame is the fork's to unwind.
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            connection.sendall(bytes([status]))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _runner(connection: socket.socket, arguments: Sequence[str]) -> int:
    """In the fork: keep a kernel at hand, watch the client, run the command."""
    forked = kernel.at_hand = kernel.ForkedKernel(connection)

    def watch() -> None:
        # The client sends nothing more but a byte for Ctrl-C; no byte means that it is gone.
        while connection.recv(1):
            os.kill(os.getpid(), signal.SIGINT)
        with contextlib.suppress(OSError):
            os.killpg(forked.pid, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    from selfpref.__main__ import main  # noqa: PLC0415

    return main(arguments)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), psutil.Process(int(sys.argv[2])))
