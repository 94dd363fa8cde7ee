"""A kernel that is at hand before the notebook asks for it: a fork that waits to become one."""

import json
import os
import signal
import socket
import sys
import time
import traceback

# In a forked runner: what launches its kernel. None in every other process.
at_hand: "ForkedKernel | None" = None


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
