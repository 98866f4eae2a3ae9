"""Cases that are drawn find each kind of fault that there has been where its mend is taken out.

Nothing tells the harness what to look for: it draws case after case until one goes wrong so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

HOUSE = Path(__file__).parents[2] / "fuzz"
UNCHECKED = "import tilec.frontend.parsing as m; m.excess = lambda text: None"


class Mend(NamedTuple):
    """How a mend is taken out.

    Attributes:
        plant: Python that does.
        entry: where the fault is met.
        wrong: what goes wrong, as the harness says it.
    """

    plant: str
    entry: str
    wrong: str


MENDS = {
    "a huge number of a result": Mend(
        "import tilec.frontend.structure as m; m.MOST_RESULTS = 1 << 62; import re\n"
        "m._RESULT = re.compile('(?!)')",
        "mlir",
        "the process ended with",
    ),
    "deep brackets": Mend(
        "import tilec.frontend.structure as m; m.DEEPEST = 1 << 30\n"
        "m._may_nest_deep = lambda text: False",
        "mlir",
        "the process ended with -11",
    ),
    "half a character": Mend(UNCHECKED, "mlir", "TypeError at"),
    "braces in comments": Mend(
        "import tilec.frontend.structure as m; m._blank = lambda quoted: quoted[0]",
        "mlir",
        "a comment makes a program an error",
    ),
    "a map without strides": Mend(
        "import tilec.passes.analysis.memory_facts as m\n"
        "m.strides_and_offset = lambda type_: type_.get_strides_and_offset()",
        "mlir",
        "RuntimeError at",
    ),
    "elements of 128 bits": Mend(
        "import tilec.dialects.tile.tiles as m; m._WIDEST = 1 << 20", "mlir", "KeyError at"
    ),
    "an attribute of another type": Mend(
        "import tilec.passes.analysis.memory_facts as m\n"
        "m._integer = lambda promised, name: m._power(promised[name].value)",
        "mlir",
        "TypeError at",
    ),
    "a description against its schema": Mend(
        "import tilec.launch.abi as m\nm.check = m._check_numbers = lambda *_: None",
        "sidecars",
        "Error at",
    ),
    "PTX taken for a path": Mend(
        "import tilec.tools.run_program as m; read = m.read_text\n"
        "m.read_text = lambda text, name: read(\n"
        "    text if '.version' in text else open(text).read(), name)",
        "commands",
        "a file that nobody has named is not found",
    ),
    "a NUL in PTX": Mend(
        "import tilec.tools.run_program as m; read = m.read_text\n"
        "m.read_text = lambda text, name: read(\n"
        "    text if '.version' in text else open(text).read(), name)",
        "commands",
        "embedded null byte",
    ),
    "digits of PTX": Mend(
        "import tilec.sim.ptx.constants as m; m._LONGEST = 1 << 20", "ptx", "ValueError at"
    ),
    "an argument that is no number": Mend(
        "import tilec.isa.launch as m\n"
        "m._scalar = lambda parameter, value, _: int(value).to_bytes(8, 'little', signed=True)",
        "commands",
        "internal error at <string>",
    ),
    "a huge argument": Mend(
        "import numpy, tilec.tools.run_arguments as m, tilec.tools.tile_run as t\n"
        "import tilec.tools.common as c; m._check_bytes = lambda *_: None\n"
        "t.argument = lambda *a: m._value(a[0], numpy.random.default_rng(a[1:]))\n"
        "old = c._in_a_line\n"
        "c._in_a_line = lambda e: 'internal error' if isinstance(e, MemoryError) else old(e)",
        "commands",
        "internal error",
    ),
    "a value of two dashes": Mend(
        "import argparse; from tilec.tools.common import Parser\n"
        "Parser.parse_known_args = argparse.ArgumentParser.parse_known_args",
        "commands",
        "internal error at",
    ),
    "a filter that nests": Mend(
        "import re, tilec.tools.pass_flags as m\n"
        "m._pattern = lambda text: re.compile(text).pattern\n"
        "import tilec.tools.common as c; old = c._in_a_line\n"
        "c._in_a_line = lambda e: (f'internal error: {type(e).__name__}'\n"
        "    if isinstance(e, RecursionError) else old(e))",
        "commands",
        "RecursionError",
    ),
    "outputs one after the other": Mend(
        "import tilec.tools.files as m; m.check_outputs = lambda *_: None\n"
        "import tilec.tools.tilec as t; t.check_outputs = lambda *_: None\n"
        "t.write_outputs = lambda outputs: [open(p, 'w').write(c) for p, c in outputs.items()]",
        "commands",
        "left after a failure",
    ),
    "nested pipelines": Mend(
        "import tilec.passes.pipeline_text as m; m._DEEPEST = 1 << 20",
        "pipelines",
        "RecursionError at",
    ),
    "a fork while a thread compiles": Mend(
        "import os; os.register_at_fork = lambda **_: None",
        "processes",
        "a process forked while a thread compiles",
    ),
    "an idle worker killed": Mend(
        "import tilec.backend.codegen as m; m._ATTEMPTS = 1\n"
        "m.start = lambda: m._worker or m._worker.append(m._Worker())",
        "processes",
        "CodegenError at",
    ),
    "a decorator with a number": Mend(
        "import tilec.lang.source as m; m.FunctionType = object", "kernels", "AttributeError at"
    ),
    "facts of zero": Mend(
        "import tilec.lang.specialization as m; m.joined = lambda one, other, *_: other",
        "kernels",
        "ZeroDivisionError at",
    ),
    "deep expressions": Mend(
        "import tilec.lang.source as m; m._check_depth = lambda *_: None",
        "kernels",
        "RecursionError at",
    ),
    "a comparison of NaN": Mend(
        "import numpy, tilec.sim.alu.compare as m\nm._ordered_unequal = numpy.not_equal",
        "arithmetic",
        "setp.ne",
    ),
}


def tried(mend: Mend, cases: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HOUSE), "--plant", mend.plant, "--entries", mend.entry,
         "--first", "0", "--cases", str(cases), "--until-wrong", mend.wrong],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


QUICK = (
    "a huge number of a result", "deep brackets", "braces in comments", "deep expressions",
    "a description against its schema",
)  # fmt: skip
"""Those that some hundred cases find; the others are for `-m slow`."""


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MENDS],
)
def test_drawn_cases_find_a_mend_that_is_taken_out(name: str) -> None:
    if name == "a value of two dashes" and sys.version_info >= (3, 12):
        pytest.skip("argparse reads it from Python 3.12 on")
    mend = MENDS[name]
    done = tried(mend, 20_000)
    found = [line for line in done.stdout.splitlines() if line.startswith("WRONG ")]
    assert any(mend.wrong in line for line in found), done.stdout[-3000:] + done.stderr[-3000:]
