"""Bytecode and both texts of every committed program and of the generators' come back the same."""

from __future__ import annotations

import os
import random
import re
import signal
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tilec.frontend import bytecode
from tilec.frontend.bytecode import read_bytecode, write_bytecode
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.assembly.registry import known
from tilec.ir.mlir import ir
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text

from ..tiles import random_memory, random_tiles

ROOT = Path(__file__).parents[3]
FOLDERS = ("examples", "test/lit", "benchmarks", "docs")
FILES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.mlir")
    if "tile." in path.read_text(encoding="utf-8")
)
_SPLIT = re.compile(r"^// -----.*\n?", re.MULTILINE)


def parts(path: Path) -> list[ir.Module]:
    """The parts of a file that are right."""
    context, found = unused_context(), []
    for part in _SPLIT.split(path.read_text(encoding="utf-8")):
        try:
            found.append(parse(Source(path.name, part), context))
        except ProgramError:
            continue
    return found


def plain(text: str) -> str:
    """A printed module; resources have new names each time."""
    return re.sub(r"(dense_resource<\w+?)(_\d+)?>", r"\1>", text)


def asm(module: ir.Module) -> str:
    """All of a module with its places, by MLIR's own printer."""
    return plain(
        module.operation.get_asm(
            enable_debug_info=True, use_local_scope=True, print_generic_op_form=True
        )
    )


def unused_context() -> ir.Context:
    """One that reads what the files have."""
    made = new_context()
    made.allow_unregistered_dialects = True
    return made


def check(module: ir.Module, fresh: ir.Context) -> None:
    """Compare a module with what its bytecode describes, in a context that has not seen it."""
    data = write_bytecode(module)
    read = read_bytecode(data, fresh)
    assert asm(read) == asm(module)
    # What was read from bytecode is printed as what was parsed, and reads so.
    shown = to_text(read)
    assert plain(shown) == plain(to_text(module))
    assert '"tile.' not in re.sub(r'= "[^"]*"', "", shown)
    again = parse(Source("-", shown), fresh)
    generic = parse(Source("-", to_text(module, generic=True)), fresh)
    assert plain(to_text(again)) == plain(to_text(generic)) == plain(shown)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_come_back_from_bytecode(path: Path) -> None:
    fresh = unused_context()
    for module in parts(path):
        check(module, fresh)


def test_every_op_is_tried() -> None:
    seen = {
        name
        for path in FILES
        for module in parts(path)
        for name in re.findall(r'"(tile\.\w+)"\(', module.operation.get_asm())
    }
    assert {name for name in known().classes if name.startswith("tile.")} <= seen


@pytest.mark.parametrize("generator", [random_tiles, random_memory])
def test_random_programs_come_back_from_bytecode(generator: ModuleType) -> None:
    tried, context, fresh = 0, new_context(), unused_context()
    for seed in range(24):
        text = generator.Program(seed).text
        try:
            module = parse(Source("-", text), context)
        except ProgramError:
            continue  # some are wrong on purpose
        check(module, fresh)
        tried += 1
    assert tried > 16


def changed(data: bytes, rng: random.Random) -> bytes:
    """Bytecode with some bytes that are others."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 2, 5, 20))):
        made[rng.randrange(4, len(made))] = rng.randrange(256)
    return bytes(made)


@pytest.mark.parametrize("seed", range(2))
def test_damaged_bytecode_ends_no_process(seed: int) -> None:
    """MLIR's reader dies of one in a hundred such files, or says what is no UTF-8."""
    (module,) = parts(ROOT / "examples/gemm.mlir")
    data = write_bytecode(module)
    rng = random.Random(seed)
    said, context = set[str](), new_context()
    for _ in range(60):
        try:
            read_bytecode(changed(data, rng), context)
        except ProgramError as error:
            said.add(error.diagnostics[0].message.partition(":")[0])
    assert "damaged bytecode" in said
    assert len(said) > 1


def test_bytecode_of_which_the_reader_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def die(data: bytes) -> None:
        read.append(len(data))
        os.kill(os.getpid(), signal.SIGSEGV)

    dying = SimpleNamespace(
        Module=SimpleNamespace(parse=die), MLIRError=ir.MLIRError, Location=ir.Location
    )
    monkeypatch.setattr(bytecode, "ir", dying)
    with pytest.raises(ProgramError, match="MLIR's reader ends with SIGSEGV"):
        read_bytecode(b"ML\xefR", new_context())
    assert not read  # not here, but in the process that died


def test_bytecode_that_was_cut_off_is_refused() -> None:
    (module,) = parts(ROOT / "examples/gemm.mlir")
    data = write_bytecode(module)
    for at in (len(data) // 3, len(data) // 2):
        with pytest.raises(ProgramError):
            read_bytecode(data[:at], new_context())
