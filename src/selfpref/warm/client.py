"""Where a stage asks the warm server for a fork of its own, and starts one if there is none."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

POLL = 0.5
# Seconds in which the server must be there; it listens before it imports.
PATIENCE = 30.0


def owner() -> psutil.Process | None:
    """The DVC process that this one belongs to, if any."""
    for process in psutil.Process().parents():
        with contextlib.suppress(psutil.Error):
            if any(Path(word).name == "dvc" for word in process.cmdline()[:3]):
                return process
    return None


def alive(process: psutil.Process) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _address(dvc: psutil.Process) -> Path:
    folder = Path(tempfile.gettempdir()) / f"selfpref-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return folder / f"{dvc.pid}-{int(dvc.create_time() * 100)}.sock"


def usable(dvc: psutil.Process | None) -> bool:
    """Whether a stage of this DVC process can start warm."""
    return dvc is not None and sys.platform == "linux" and "SELFPREF_COLD" not in os.environ


def connect(dvc: psutil.Process) -> socket.socket:
    """A connection to the server of this DVC process, which is started where it is missing.

    Raises:
        OSError: There is none to be had, such as where the temporary folder's name is too long.
    """
    address = _address(dvc)
    server, end = None, time.monotonic() + PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(address))
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
        else:
            return connection
        if server is None:
            # One BLAS thread: forks of a process with threads are not safe, and sums stay the same.
            threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            server = subprocess.Popen(
                [sys.executable, "-m", "selfpref.warm.server", str(address), str(dvc.pid)],
                env=os.environ | threads | {"PYTHONHASHSEED": "0"},
                start_new_session=True,
                stdin=subprocess.DEVNULL,
            )
        if server.poll() is not None or time.monotonic() > end:
            raise ConnectionError("the warm server did not start")
        time.sleep(0.02)


def request(
    connection: socket.socket, dvc: psutil.Process, arguments: Sequence[str], *, models: bool
) -> int:
    """Run `selfpref <arguments>` in a fork of the server, on this process's terminal.

    Args:
        connection: As `connect` returns it; closed afterwards.
        dvc: The DVC process that this stage belongs to.
        arguments: The command line behind `selfpref`.
        models: Whether the stage imports torch and transformers.

    The first Ctrl-C is passed on, and the stage ends by itself; the second ends it here and now.

    Returns:
        The exit status; 1 if the fork died or DVC is gone.
    """
    interrupted = False
    with connection:
        order = {
            "arguments": list(arguments),
            "folder": os.getcwd(),
            "environment": dict(os.environ),
            "models": models,
        }
        body = json.dumps(order).encode()
        socket.send_fds(connection, [len(body).to_bytes(8, "big")], [1, 2])
        connection.sendall(body)
        while alive(dvc):
            try:
                if select.select([connection], [], [], POLL)[0]:
                    answer = connection.recv(1)
                    return answer[0] if answer else 1
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                connection.sendall(b"i")
    return 1
