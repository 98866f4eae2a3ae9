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
        patience: seconds that a case has.
    """

    plant: str
    entry: str
    wrong: str
    patience: float = 60


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
    "a NUL for a blank": Mend(
        "import tilec.frontend.parsing as m; m.without_nuls = str",
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
    "nested pipelines": Mend(
        "import tilec.passes.pipeline_text as m; m._DEEPEST = 1 << 20",
        "pipelines",
        "RecursionError at",
    ),
    "a decorator with a number": Mend(
        "import tilec.lang.source as m; m.FunctionType = object", "kernels", "AttributeError at"
    ),
    "deep expressions": Mend(
        "import tilec.lang.source as m; m._check_depth = lambda *_: None",
        "kernels",
        "RecursionError at",
    ),
    "dashes in comments": Mend(
        "import re, tilec.frontend.structure as m\n"
        r"m._SIGN_FIRST = re.compile(r'-(?:(?:\s|//[^\n]*)*-){256}')",
        "mlir",
        "no end within",
        patience=5,
    ),
    "damaged bytecode": Mend(
        "import tilec.frontend.bytecode as m; m._as_text = lambda data: data",
        "bytecode",
        "the process ended with",
    ),
    "wide elements": Mend(
        "import tilec.dialects.tile.tiles as m; m._WIDEST = 1 << 20", "mlir", "KeyError at"
    ),
    "a number that its type lacks": Mend(
        "import tilec.tools.run_arguments as m\n"
        "m._scalar = lambda type_, text: type_.type(m._number(text))",
        "sidecars",
        "OverflowError at",
    ),
    "a deep filter": Mend(
        "import tilec.tools.pass_flags as m; m._pattern = str", "commands", "internal error at"
    ),
    "a word of blanks": Mend(
        "import tilec.tools.common as m\n"
        "error, meant = m.Parser.error, m.Parser._meant\n"
        "m.Parser._meant = lambda self, given: meant(self, given.split()[0])",
        "commands",
        "IndexError",
    ),
    "output over the input": Mend(
        "import tilec.tools.files as m; m.check_outputs = lambda *_: None\n"
        "import tilec.tools.tilec as t; t.check_outputs = lambda *_: None\n"
        "t.write_outputs = lambda outputs: [open(p, 'w').write(c) for p, c in outputs.items()]",
        "commands",
        "left after a failure",
    ),
    "a worker killed when busy": Mend(
        "import tilec.backend.codegen as m; m._ATTEMPTS = 1", "processes", "CodegenError at"
    ),
    "long numbers": Mend(
        "import re, tilec.frontend.structure as m\n"
        "m._TOKEN = re.compile(m._TOKEN.pattern.replace(m._LONG_NUMBER.pattern, '(?!)'))\n"
        "m._LONG_NUMBER = re.compile('(?!)')",
        "mlir",
        "no end within",
        patience=5,
    ),
    "a command told to end": Mend(
        "import tilec.ending as m; m.end_on_signals = lambda: None", "faults", "KeyboardInterrupt"
    ),
    "the name of a file that is full": Mend(
        "import contextlib, tilec.tools.files as m\n"
        "m._naming = lambda path: contextlib.nullcontext()",
        "faults",
        "names no file",
    ),
    "whose cache it is": Mend(
        "import tilec.cache.database as m; m.distrust = lambda *_: None",
        "faults",
        "what somebody else has put into the cache is believed",
    ),
    "what is in an entry": Mend(
        "import tilec.cache.entries as m; m._MALFORMED = ()", "faults", "internal error at"
    ),
    "whether a cubin is one": Mend(
        "import tilec.backend.cubin as m; m.check_cubin = lambda *_: None",
        "faults",
        "exit code 0 of a ptxas",
    ),
    "too little memory": Mend(
        "import tilec.tools.import_errors as m; m.no_room = lambda error: None",
        "faults",
        "ImportError",
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
         "--first", "0", "--cases", str(cases), "--until-wrong", mend.wrong,
         "--patience", str(mend.patience)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


QUICK = (
    "a huge number of a result", "braces in comments", "a description against its schema",
    "a comparison of NaN", "a decorator with a number",
)  # fmt: skip
"""Those that some hundred cases find; the others are for `-m slow`."""


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MENDS],
)
def test_drawn_cases_find_a_mend_that_is_taken_out(name: str) -> None:
    mend = MENDS[name]
    done = tried(mend, 20_000)
    found = [line for line in done.stdout.splitlines() if line.startswith("WRONG ")]
    assert any(mend.wrong in line for line in found), done.stdout[-3000:] + done.stderr[-3000:]
