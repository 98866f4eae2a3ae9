"""The fuzzing house finds each kind of fault where its mend is taken out, and none else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2] / "fuzz"
PLANTS = {
    "deep brackets": (
        "import tilec.frontend.parsing as m; m.excess = lambda text: None",
        "mlir/deep_arrays",
        "the process ended with -11",
    ),
    "a NUL for a blank": (
        "import tilec.frontend.parsing as m; m.without_nuls = str",
        "mlir/signs_and_nuls",
        "the process ended with -11",
    ),
    "half a character": (
        "import tilec.frontend.parsing as m; m.excess = lambda text: None",
        "mlir/half_a_character",
        "TypeError at",
    ),
    "map without strides": (
        "import tilec.passes.analysis.memory_facts as m\n"
        "m.strides_and_offset = lambda type_: type_.get_strides_and_offset()",
        "mlir/map_without_strides",
        "RuntimeError at",
    ),
    "wide elements": (
        "import tilec.dialects.tile.tiles as m; m._WIDEST = 1 << 20",
        "mlir/wide_elements",
        "KeyError at",
    ),
    "schema of the ABI": (
        "import tilec.launch.abi as m\nm.check = m._check_numbers = lambda *_: None",
        "sidecars/no_arguments",
        "TypeError at",
    ),
    "promise of zero": (
        "import tilec.launch.abi as m\nm.check = lambda *_: None",
        "sidecars/alignment_of_zero",
        "ZeroDivisionError at",
    ),
    "digits of PTX": (
        "import tilec.sim.ptx.constants as m; m._LONGEST = 1 << 20",
        "ptx/many_digits",
        "ValueError at",
    ),
    "nested pipelines": (
        "import tilec.passes.pipeline_text as m; m._DEEPEST = 1 << 20",
        "pipelines/deep",
        "RecursionError at",
    ),
    "two dashes": (
        "import argparse; from tilec.tools.common import Parser\n"
        "Parser.parse_known_args = argparse.ArgumentParser.parse_known_args",
        "commands/value_of_two_dashes",
        "internal error at",
    ),
    "an offset of -2^63": (
        "import tilec.sim.binding as m; m.wrapped = int",
        "ptx/lowest_offset",
        "OverflowError at",
    ),
    "dashes in comments": (
        "import re, tilec.frontend.structure as m\n"
        r"m._SIGN_FIRST = re.compile(r'-(?:(?:\s|//[^\n]*)*-){256}')",
        "mlir/dashes_in_comments",
        "no end within",
    ),
    "a closed stream": (
        "import tilec.tools.streams as m; m.open_streams = lambda: None",
        "faults/closed_stdout",
        "AttributeError: 'NoneType'",
    ),
    "a spoiled cache": (
        "import contextlib, sqlite3, tilec.cache.database as m\n"
        "m.Store._opened = lambda self: contextlib.closing(sqlite3.connect(self.file))",
        "faults/spoiled_cache",
        "DatabaseError",
    ),
    "a command told to end": (
        "import tilec.ending as m; m.end_on_signals = lambda: None\n"
        "import signal; signal.signal(15, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))",
        "faults/terminate",
        "KeyboardInterrupt",
    ),
    "a command interrupted": (
        "import tilec.ending as m; m.end_on_signals = lambda: None",
        "faults/interrupt",
        "KeyboardInterrupt",
    ),
    "the name of a file that is full": (
        "import contextlib, tilec.tools.files as m\n"
        "m._naming = lambda path: contextlib.nullcontext()",
        "faults/file_is_full",
        "names no file",
    ),
    "whose cache it is": (
        "import tilec.cache.database as m; m.distrust = lambda *_: None",
        "faults/others_cache",
        "what somebody else has put into the cache is believed",
    ),
    "what is in an entry": (
        "import tilec.cache.entries as m; m._MALFORMED = ()",
        "faults/poisoned_cache",
        "internal error at",
    ),
    "the time of ptxas": (
        "import tilec.backend.external_tools as m; run = m.run_tool\n"
        "m.run_tool = lambda *words, files=(), patience=None: run(\n"
        "    *words, files=files, patience=1e6)",
        "faults/ptxas_hangs",
        "no end within",
    ),
    "whether a cubin is one": (
        "import tilec.backend.cubin as m; m.check_cubin = lambda *_: None",
        "faults/ptxas_gives_text",
        "exit code 0 of a ptxas that gives text",
    ),
    "too little memory": (
        "import tilec.tools.import_errors as m; m.no_room = lambda error: None",
        "faults/address_space",
        "faults: ",
    ),
    "long numbers": (
        "import re, tilec.frontend.structure as m\n"
        "never = re.compile('(?!)')\n"
        "m._TOKEN = re.compile(m._TOKEN.pattern.replace(m._LONG_NUMBER.pattern, '(?!)'))\n"
        "m._LONG_NUMBER = never",
        "mlir/long_number",
        "no end within",
    ),
    "less shared memory than a row": (
        "import tilec.sim.native.matrix_loads as m; is_ = m._Text.is_\n"
        "m._Text.is_ = lambda self, how, *rest: is_(self, {'sgt': 'ugt'}.get(how, how), *rest)",
        "launches/no_shared_memory",
        "Overrun at",
    ),
    "a pointer that wraps": (
        "import tilec.sim.native.access_forms as m; is_ = m.AccessText.is_\n"
        "m.AccessText.is_ = lambda self, how, *rest: is_(\n"
        "    self, *('eq', '0', 0) if how == 'sle' else (how, *rest))",
        "launches/pointer_that_wraps",
        "the process ended with -11",
    ),
    "a vector of 512 bits": (
        "import tilec.sim.instructions.memory as m; m._WIDEST = 1 << 20",
        "launches/vector_of_512_bits",
        "ValueError at",
    ),
    "fork amid a compilation": (
        "import os; os.register_at_fork = lambda **_: None",
        "processes/fork",
        "does not end well",
    ),
    "damaged bytecode": (
        "import tilec.frontend.bytecode as m; m._as_text = lambda data: data",
        "bytecode/damaged",
        "the process ended with",
    ),
    "a worker killed when idle": (
        "import tilec.backend.codegen as m; m._ATTEMPTS = 1\n"
        "m.start = lambda: m._worker or m._worker.append(m._Worker())",
        "processes/idle_worker",
        "CodegenError at",
    ),
    "output over the input": (
        "import tilec.tools.files as m; m.check_outputs = lambda *_: None\n"
        "import tilec.tools.tilec as t; t.check_outputs = lambda *_: None\n"
        "t.write_outputs = lambda outputs: [open(p, 'w').write(c) for p, c in outputs.items()]",
        "commands/remarks_to_a_folder",
        "left after a failure",
    ),
}


SLOW = (
    "a NUL",
    "an offset",
    "dashes",
    "a closed",
    "a spoiled",
    "a worker",
    "fork",
    "a command",
    "the name",
    "whose",
    "what is",
    "the time",
    "whether",
    "too little",
    "long",
    "a pointer",
    "a vector",
)
"""Those that others like them stand for in CI, or that take long."""


def house(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HOUSE), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * name.startswith(SLOW)) for name in PLANTS],
)
def test_a_mend_that_is_taken_out_is_missed(name: str) -> None:
    if name == "two dashes" and sys.version_info >= (3, 12):
        pytest.skip("argparse reads it from Python 3.12 on")
    plant, case, found = PLANTS[name]
    patience = ("--patience", "5") if found == "no end within" else ()
    done = house("--plant", plant, *patience, str(HOUSE / "corpus" / f"{case}.json"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"WRONG {case.partition('/')[0]}: " in done.stdout
    assert found in done.stdout


def test_nothing_of_the_corpus_goes_wrong_nor_of_a_short_run(tmp_path: Path) -> None:
    """A second run, of one entry, goes on behind the first."""
    counts = tmp_path / "counts.json"
    for arguments in (("150",), ("20", "--entries", "sidecars")):
        done = house("--cases", *arguments, "--out", str(tmp_path), "--counts", str(counts))
        assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads(counts.read_text())
    corpus = len(list((HOUSE / "corpus").glob("*/*.json")))
    again = len(list((HOUSE / "corpus" / "sidecars").glob("*.json")))
    assert sum(kept["cases"].values()) == corpus + 150 + again + 20
    assert kept["core_seconds"] > 0
    assert [(run["first"], run["last"]) for run in kept["runs"]] == [(0, 170)]


def test_what_is_found_is_made_smaller_and_kept(tmp_path: Path) -> None:
    plant, case, _ = PLANTS["map without strides"]
    program = json.loads((HOUSE / "corpus" / f"{case}.json").read_text())
    program["text"] = "// much\n" * 50 + program["text"]
    (tmp_path / "case.json").write_text(json.dumps(program))
    done = house("--plant", plant, "--out", str(tmp_path / "out"), str(tmp_path / "case.json"))
    assert done.returncode == 1
    (kept,) = (tmp_path / "out" / "mlir").iterdir()
    smaller = json.loads(kept.read_text())["text"]
    assert "// much" not in smaller
    assert len(smaller) < 130
    assert house(str(kept)).returncode == 0
    assert house("--plant", plant, str(kept)).returncode == 1
