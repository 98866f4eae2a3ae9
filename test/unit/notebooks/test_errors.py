"""Errors in a notebook: the user's own lines, no frame of tilec's; by IPython, and by a kernel."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

IMPORTS = "import numpy as np, tilec, tilec.lang as tl"
KERNEL = """\
@tilec.kernel
def k(a: tl.Array[tl.float16, int]) -> None:
    x = tl.load(a, 0, 32)
    tl.store(a, 0, x + "a")
"""
HELPER = """\
def helper():
    k[1](np.zeros(32, np.float16))
"""
PROGRAM = "tilec.compile('''gpu.module @m { \"tile.nothing\"() : () -> () }''')"

SHELL = """\
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="nocolor")
for cell in {cells!r}:
    shell.run_cell(cell, store_history=True)
"""


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    """What IPython prints of each cell that fails."""
    pytest.importorskip("IPython", reason="no IPython")
    cells = [IMPORTS, KERNEL, HELPER]
    wrong = ["helper()", "k[1](1, 2)", PROGRAM, "tl.sinn", "tilec.isa.form('mmma')"]
    marked = [part for cell in wrong for part in ("print('====')", cell)]
    command = [sys.executable, "-c", SHELL.format(cells=[*cells, *marked])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.split("====\n")[1:]


def test_an_error_in_a_kernel(outputs: list[str]) -> None:
    """The call, the helper that it goes through, and the kernel's line with its cell."""
    assert outputs[0].splitlines() == [
        "Cell In[5], line 1",
        "    helper()",
        "Cell In[3], line 2",
        "    k[1](np.zeros(32, np.float16))",
        "KernelError: Cell In[2]:4:20: error: add takes tiles and numbers, not str 'a'",
        '    tl.store(a, 0, x + "a")',
        "                   ^",
    ]


def test_no_error_shows_a_line_of_tilec_s(outputs: list[str]) -> None:
    assert len(outputs) == 5
    for text in outputs:
        assert "File " not in text
        assert "Traceback" not in text
        assert "---->" not in text
        assert text.startswith("Cell In[")


def test_other_errors_name_what_is_wrong(outputs: list[str]) -> None:
    launch, program, missing, form = outputs[1:]
    assert "LaunchError: k: too many positional arguments; it takes (a)" in launch
    assert "ProgramError: <string>:1:17: error: unknown operation 'tile.nothing'" in program
    assert "'tilec.lang' has no attribute 'sinn'; nearest: sin" in missing
    assert "UnknownNameError: unknown instruction form 'mmma'" in form


def test_errors_of_others_keep_their_traceback() -> None:
    """What is not tilec's to say is IPython's."""
    assert not hasattr(ValueError(), "_render_traceback_")


@pytest.mark.slow
def test_in_a_notebook() -> None:
    """The same through Jupyter's protocol, and what a report and a compilation show."""
    nbformat: Any = pytest.importorskip("nbformat.v4", reason="no nbformat")
    nbclient: Any = pytest.importorskip("nbclient", reason="no nbclient")
    pytest.importorskip("ipykernel", reason="no ipykernel")
    good = KERNEL.replace('"a"', "1")
    cells = [IMPORTS, good, "k[1](np.zeros(32, np.float16))", "k.compile()", "k[1](1, 2)"]
    book = nbformat.new_notebook(cells=[nbformat.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, kernel_name="python3", allow_errors=True).execute()
    report, compiled, error = (cell.outputs[0] for cell in book.cells[2:])
    assert "kernel <b>k</b>: completed" in report.data["text/html"]
    assert "PTX" in compiled.data["text/html"]
    assert error.ename == "LaunchError"
    assert error.traceback[-1].startswith("LaunchError: k: too many positional arguments")
    assert not any("/lang/kernels.py" in line for line in error.traceback)
