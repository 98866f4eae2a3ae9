"""The README's commands print what it says they print, and its Python runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tilec.backend.cubin import tools

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"^    \$ (.+)\n((?:    (?!\$).+\n)+)", README, re.MULTILINE)
COMMANDS = re.findall(r"^    ((?:tilec|tile-\w+) [^\n#]+?)\s*(?:#.*)?$", README, re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(command: str) -> str:
    words = shlex.split(command)
    words[0] = str(Path(sys.executable).with_name(words[0]))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_something_to_check():
    assert SHOWN
    assert COMMANDS
    assert PYTHON


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[c for c, _ in SHOWN])
def test_output(command, output):
    assert run(command) == re.sub("^    ", "", output, flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command):
    if "sass" in command and not (tools("ptxas") and tools("nvdisasm")):
        pytest.skip("no ptxas or nvdisasm on PATH nor from the ptxas extra")
    assert run(command)


@pytest.mark.parametrize("code", PYTHON)
def test_python(code, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(code + CHECKS[code.count("tilec.kernel")])
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


CHECKS = [
    "assert '.target sm_90a' in compiled.ptx",
    "np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), atol=1e-3); print('equal')",
]
"""What must hold after the program that compiles a file, and after the kernel."""
