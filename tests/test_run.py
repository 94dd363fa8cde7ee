"""The runner: same bytes every time, short errors, progress on the terminal, no orphans."""

import ast
import os
import signal
import subprocess
import sys
import time

import nbformat
import psutil
import pytest
from conftest import REPOSITORY, refused

from selfpref.commands.run import normalise, run

ENVIRONMENT = os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}


@pytest.fixture
def notebook(repository):
    """Write a notebook with these code cells, the first one its parameters."""

    def write(*cells):
        made = [nbformat.v4.new_code_cell(cell, id=f"cell-{n}") for n, cell in enumerate(cells)]
        made[0].metadata["tags"] = ["parameters"]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        node = nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel})
        nbformat.write(node, repository / "work.ipynb")
        return repository / "work.ipynb"

    return write


def dvc(folder, *arguments):
    """A process called dvc that runs `selfpref run` and, like DVC, leaves Ctrl-C to it."""
    command = [sys.executable, "-m", "selfpref", "run", *arguments]
    (folder / "dvc").write_text(
        "import signal, subprocess, sys\n"
        f"process = subprocess.Popen({command!r})\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "sys.exit(process.wait())\n"
    )
    settings = {"cwd": folder, "env": ENVIRONMENT, "text": True, "start_new_session": True}
    return subprocess.Popen([sys.executable, folder / "dvc"], stderr=subprocess.PIPE, **settings)


def wait_for(path):
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_the_executed_copy_is_the_same_bytes_by_hand_and_below_dvc(notebook, tmp_path, capfd):
    source = notebook(
        "a = 'x'",
        "import pandas as pd\nfrom selfpref import progress\nprint(a)\n"
        "with progress.bar(3, 'counting') as b:\n    b.update(3)\n"
        "pd.DataFrame({'n': [len(a)]})",
    )
    before = dict(os.environ)
    run(source, tmp_path / "out/one.ipynb", {"a": "yy"}, chapter=True)
    assert dict(os.environ) == before
    # Each state is written over the one before.
    assert "\rcounting: 100%" in capfd.readouterr().err
    one = (tmp_path / "out/one.ipynb").read_bytes()
    assert b'"yy\\n"' in one
    assert not any(held in one for held in (b"counting:", b"text/plain"))
    assert not nbformat.read(source, 4).cells[1].outputs
    with dvc(tmp_path, str(source), "below.ipynb", "-p", "a=yy") as process:
        assert process.wait(300) == 0
    assert (tmp_path / "below.ipynb").read_bytes() == one


def test_a_failure_is_told_shortly_on_the_terminal_and_leaves_the_former_copy(notebook, tmp_path):
    output = tmp_path / "out.ipynb"
    output.write_text("former")
    fails = "from selfpref.errors import SelfprefError\nraise SelfprefError('f.csv: do this')"
    with refused() as failure:
        run(notebook("a = 1", fails), output, {})
    assert str(failure.value) == "f.csv: do this"
    with dvc(tmp_path, str(notebook("a = 1", "1 / 0")), "out.ipynb") as process:
        _, told = process.communicate(timeout=300)
    assert process.returncode == 1
    assert told.strip() == "error: work.ipynb, cell 2: ZeroDivisionError: division by zero"
    assert output.read_text() == "former"
    assert (tmp_path / "out.failed.ipynb").is_file()


def test_a_page_has_no_html_of_captions_and_no_number_of_a_process():
    shown = nbformat.v4.new_output("display_data", {"text/markdown": "judge <script>, p < 1"})
    told = "/tmp/ipykernel_23/12.py:14: UserWarning: x\n"
    outputs = [shown, nbformat.v4.new_output("stream", text=told)]
    cell = nbformat.v4.new_code_cell(outputs=outputs)
    caption, warning = normalise(nbformat.v4.new_notebook(cells=[cell])).cells[0].outputs
    assert caption["data"]["text/markdown"] == "judge &lt;script>, p &lt; 1"
    assert warning["text"] == "a cell:14: UserWarning: x\n"


def test_the_kernel_ends_with_a_killed_dvc(notebook, tmp_path):
    """DVC leaves its child alive when it is killed; the child must notice."""
    source = notebook("a = 1", "open('started', 'w').close()\nimport time\ntime.sleep(60)")
    with dvc(tmp_path, str(source), "out.ipynb") as process:
        wait_for(tmp_path / "started")
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    assert not (tmp_path / "out.ipynb").exists()


def test_ctrl_c_lets_the_cell_end_cleanly(notebook, tmp_path):
    """Answers that were paid for are still kept, and nothing is left running."""
    source = notebook(
        "a = 1",
        "import time\nopen('started', 'w').close()\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
        "    time.sleep(0.5)\n    open('kept', 'w').close()\n    raise",
    )
    with dvc(tmp_path, str(source), "out.ipynb") as process:
        wait_for(tmp_path / "started")
        # What a terminal does; dvc itself waits for its stage.
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert told.strip() == "interrupted; run again to go on"
    assert (tmp_path / "kept").exists()
    assert not (tmp_path / "out.ipynb").exists()


def test_notebooks_are_chapters_and_no_programs():
    """Stored without outputs, at most 40 code cells, no function longer than a figure."""
    for path in (REPOSITORY / "notebooks").glob("*.ipynb"):
        code = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        assert len(code) <= 40
        assert not any(cell.outputs or cell.execution_count for cell in code), path
        nodes = [node for cell in code for node in ast.walk(ast.parse(cell.source))]
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        assert all(node.end_lineno - node.lineno < 14 for node in functions), path
