"""Start stages warm: one process imports the heavy libraries once, every stage is a fork of it.

DVC starts a process a stage, and each would spend seconds importing pandas, matplotlib, torch and
transformers twice over, for the runner and for the kernel. Instead the first stage of a `dvc repro`
starts a server that imports them and does nothing else; it ends with that `dvc`. A stage then is

    dvc ── selfpref run (client) ──socket── server ──fork── runner ──fork── kernel

The client hands over its command line, environment, folder, and its standard output and error. The
runner and the kernel are forked from a process that has run no model and started no thread, so the
stages stay as independent as before. If client, runner or DVC die, what hangs on them dies too.
Linux only; elsewhere, and outside `dvc repro`, stages start cold and give the same results.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

# What stages import; the models' libraries only once a stage asks for them.
LIBRARIES = (
    *("ipykernel.kernelapp", "papermill", "nbconvert.exporters.html", "dvc.api", "pandas"),
    *("pyarrow.parquet", "pandera.pandas", "pydantic", "scipy.stats", "pooch", "seaborn"),
)
MODELS = ("torch", "transformers.models.llama.modeling_llama", "transformers.models.auto")
POLL = 0.5
# Seconds in which the server must be there; it listens before it imports.
PATIENCE = 30.0

# In a forked runner: what launches its kernel. None in every other process.
kernel: "ForkedKernel | None" = None


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


# --- client -------------------------------------------------------------------------------------


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
                [sys.executable, "-m", "selfpref.warm", str(address), str(dvc.pid)],
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


# --- server -------------------------------------------------------------------------------------


def serve(address: Path, dvc: psutil.Process) -> None:
    """Import, accept and fork, until DVC ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        partial = address.with_suffix(f".{os.getpid()}")
        listener.bind(str(partial))
        listener.listen()
        os.rename(partial, address)
        # Nobody waits for the forks here; the kernel takes them away.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
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
    global kernel  # noqa: PLW0603
    sys.modules["selfpref.warm"] = sys.modules[__name__]
    kernel = ForkedKernel(connection)

    def watch() -> None:
        # The client sends nothing more but a byte for Ctrl-C; no byte means that it is gone.
        while connection.recv(1):
            os.kill(os.getpid(), signal.SIGINT)
        with contextlib.suppress(OSError):
            os.killpg(kernel.pid, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    from selfpref.__main__ import main  # noqa: PLC0415

    return main(arguments)


class ForkedKernel:
    """A process that waits to become an IPython kernel; looks like `subprocess.Popen` to Jupyter.

    Args:
        connection: Closed in the kernel, which must not keep the client waiting.
    """

    stdin = stdout = stderr = None

    def __init__(self, connection: socket.socket) -> None:
        ours, theirs = os.pipe()[::-1]
        self.returncode: int | None = None
        self._order = ours
        self.pid = os.fork()
        if self.pid:
            os.close(theirs)
            return
        try:
            os.setsid()
            os.close(ours)
            connection.close()
            self._become(theirs)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    @staticmethod
    def _become(pipe: int) -> None:
        with os.fdopen(pipe, "rb") as stream:
            body = stream.read()
        if not body:
            return
        order = json.loads(body)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415

        # ipykernel reads its parent from the environment when it is imported, which was long ago.
        parent = f"--IPKernelApp.parent_handle={os.getppid()}"
        sys.argv = ["ipykernel_launcher", "-f", order["connection"], parent]
        IPKernelApp.launch_instance(argv=sys.argv[1:])

    def start(self, connection: str, folder: str, environment: dict[str, str]) -> None:
        """Become a kernel on this connection file."""
        order = {"connection": connection, "folder": folder, "environment": environment}
        with os.fdopen(self._order, "wb") as stream:
            stream.write(json.dumps(order).encode())

    def poll(self) -> int | None:
        """Exit status, None while it runs."""
        if self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self) -> int:
        """Wait for the end."""
        while (status := self.poll()) is None:
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Signal the process."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), psutil.Process(int(sys.argv[2])))
