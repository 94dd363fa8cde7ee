"""Run one notebook as a DVC stage: execute a copy through papermill and normalise it.

A stage's section of params.yaml becomes the notebook's variable `section`, and stands in the cell
that papermill adds to the copy. The notebook under notebooks/ stays without outputs. The executed
copy is the same bytes from run to run on one machine: no times, no random cell ids, no progress
bars. A failure is told in one or two lines; the executed part of the notebook then lies beside the
wanted copy as `<name>.failed.ipynb`.
"""

import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from pprint import pformat
from typing import Any

import nbformat
import papermill
import psutil
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from selfpref import paths, progress
from selfpref.errors import SelfprefError
from selfpref.files import check_place, write_text
from selfpref.params import section_of
from selfpref.report.sections import of_source, without_empty


def _owner() -> int | None:
    """The number of the DVC process that this one belongs to, if any."""
    for process in psutil.Process().parents():
        with suppress(psutil.Error):
            if any(Path(word).name == "dvc" for word in process.cmdline()[:3]):
                return process.pid
    return None


def _pass_on(number: int, frame: Any) -> None:
    """A Ctrl-C goes to the kernel, whose cell may keep what is under way."""
    for child in psutil.Process().children():
        child.send_signal(number)


def _end_with(owner: int) -> None:
    """A DVC that was killed is no longer above its stage, and leaves it alive."""
    while owner in [above.pid for above in psutil.Process().parents()]:
        time.sleep(0.2)
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(1)


@contextmanager
def _around(scratch: str) -> Iterator[None]:
    """What a kernel needs of this process, which is as it was at the end of the block."""
    if owner := _owner():
        threading.Thread(target=_end_with, args=(owner,), daemon=True).start()
    before, handler = dict(os.environ), signal.signal(signal.SIGINT, _pass_on)
    # Neither the user's IPython profile nor its history belongs to a reproduction.
    os.environ |= {progress.VARIABLE: "1", "IPYTHONDIR": scratch, "PYTHONHASHSEED": "0"}
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        os.environ.clear()
        os.environ.update(before)


def _give(notebook: nbformat.NotebookNode, values: Mapping[str, Any]) -> None:
    """Put a cell with values of the parameters behind the cell that names them."""
    lines = ["# Parameters"]
    for name, value in values.items():
        lines.append(f"{name} = {pformat(value, width=100, compact=True, sort_dicts=False)}")
    tagged = ["parameters" in cell.metadata.get("tags", []) for cell in notebook.cells]
    place = tagged.index(True) + 1 if True in tagged else 0
    given = {"id": f"injected-{place}", "metadata": {"tags": ["injected-parameters"]}}
    notebook.cells.insert(place, nbformat.v4.new_code_cell("\n".join([*lines, ""]), **given))


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out of an executed notebook what differs from run to run, and what could be a script."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            # A warning names the kernel's process.
            if "text" in output:
                output["text"] = re.sub(r"/\S*/ipykernel_\d+/\d+\.py", "a cell", output["text"])
            # Beside a page's table its plain text depends on the width of the terminal.
            if "text/html" in data:
                data.pop("text/plain", None)
            # Captions hold names that came with the data; in Markdown these could be HTML.
            if "text/markdown" in data:
                data["text/markdown"] = data["text/markdown"].replace("<", "&lt;")
    return notebook


def run(
    notebook: Path, output: Path, parameters: Mapping[str, str], *, chapter: bool = False
) -> None:
    """Execute `notebook` with `parameters` and write `output`.

    Args:
        notebook: A notebook without outputs.
        output: Where the executed copy goes.
        parameters: Values for names of the notebook's parameter cell. With `stage` among them the
            notebook gets as `section` what dvc.yaml declares for that stage.
        chapter: Whether sections that have nothing to show are left out of the copy.

    Raises:
        SelfprefError: A cell failed; an earlier copy at `output` stays as it was. Or no file can be
            written there.
    """
    check_place(output)
    section = section_of(parameters["stage"]) if "stage" in parameters else {}
    given = of_source(nbformat.read(notebook, as_version=4), section.get("profile", ""))
    if parameters:
        _give(given, {**parameters} | ({"section": section} if section else {}))
    # Sockets lie in the folder; by the default name two runs could take the same.
    kernel = {"transport": "ipc", "ip": f"kernel-ipc-{os.getpid()}"}
    failed = output.with_suffix(".failed.ipynb")
    with tempfile.TemporaryDirectory(prefix="selfpref-") as scratch, _around(scratch):
        executed = Path(scratch) / "executed.ipynb"
        try:
            node = papermill.execute_notebook(
                given,
                str(executed),
                cwd=str(paths.root()),
                progress_bar=False,
                record_timing=False,
                shutdown_kernel="immediate",
                config=Config({"KernelManager": kernel}),
                # What libraries print on the terminal stays there, bars among it.
                extra_arguments=["--IPKernelApp.capture_fd_output=False"],
            )
        except PapermillExecutionError as error:
            if error.ename == KeyboardInterrupt.__name__:
                raise KeyboardInterrupt from None
            write_text(failed, executed.read_text(encoding="utf-8"))
            told = error.evalue.strip()
            if error.ename != SelfprefError.__name__:
                # Papermill has forty lines.
                reason = told.partition("\n")[0]
                told = f"{notebook.name}, cell {error.exec_count}: {error.ename}: {reason}"
            raise SelfprefError(told) from error
        except DeadKernelError as error:
            told = f"{notebook.name}: the kernel died; was it killed for want of memory?"
            raise SelfprefError(told) from error
    node = normalise(without_empty(node) if chapter else node)
    write_text(output, nbformat.writes(node) + "\n")
    failed.unlink(missing_ok=True)
