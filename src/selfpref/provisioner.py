"""Jupyter's way to a kernel that is forked instead of started; see `selfpref.warm`."""

import os
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

from selfpref.warm import kernel

# As pyproject.toml registers it with jupyter_client.
NAME = "selfpref-forked"


class ForkedProvisioner(LocalProvisioner):  # type: ignore[misc]
    """Hands the connection file to the kernel process that the runner keeps at hand."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Let the waiting process become the kernel."""
        waiting = kernel.at_hand
        assert waiting is not None
        # papermill has changed to the notebook's folder already, and names none.
        self.cwd = options.get("cwd") or os.getcwd()
        waiting.start(cmd[cmd.index("-f") + 1], str(self.cwd), dict(options["env"]))
        self.process = waiting
        self.pid = self.pgid = waiting.pid
        return self.connection_info
