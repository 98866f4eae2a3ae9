"""Custom to generic and back, on every committed program; MLIR judges what is the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.assembly import to_custom
from tilec.ir.assembly.registry import known
from tilec.ir.mlir import ir
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text

ROOT = Path(__file__).parents[3]
FOLDERS = ("examples", "test/lit", "benchmarks", "docs")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.mlir"))
_SPLIT = re.compile(r"^// -----.*\n?", re.MULTILINE)
_GENERIC = re.compile(r'"tile\.\w+"\(')


@pytest.fixture(scope="module")
def context() -> ir.Context:
    return new_context()


def programs(path: Path, context: ir.Context) -> Iterator[ir.Module]:
    """The parts of a file that are right."""
    for part in _SPLIT.split(path.read_text(encoding="utf-8")):
        try:
            yield parse(Source(path.name, part), context)
        except ProgramError:
            continue


def plain(text: str) -> str:
    """A printed module; resources have new names each time."""
    return re.sub(r"(dense_resource<\w+?)(_\d+)?>", r"\1>", text)


def everything(module: ir.Module) -> str:
    """All of a module, as MLIR's own printer has it."""
    text = module.operation.get_asm(
        enable_debug_info=True, use_local_scope=True, print_generic_op_form=True
    )
    return plain(text)


def placed(module: ir.Module) -> str:
    """A module with all places that are printed, which those of what is implied are not."""
    return plain(module.operation.get_asm(enable_debug_info=True, use_local_scope=True))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_come_back(path: Path, context: ir.Context) -> None:
    for module in programs(path, context):
        for locations in (False, True):
            printed = module.operation.get_asm(enable_debug_info=locations)
            custom = to_custom(printed)
            assert not _GENERIC.search(custom)
            read = parse(Source("-", custom), context)
            again = read.operation.get_asm(enable_debug_info=locations)
            assert plain(again) == plain(printed)
            assert plain(to_custom(again)) == plain(custom)
            if locations:
                assert everything(read) == everything(parse(Source("-", printed), context))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_shown_comes_back(path: Path, context: ir.Context) -> None:
    for module in programs(path, context):
        shown = to_text(module, locations=True)
        printed = module.operation.get_asm(enable_debug_info=True)
        assert placed(parse(Source("-", shown), context)) == placed(
            parse(Source("-", printed), context)
        )


def test_every_op_has_a_format_and_is_tried(context: ir.Context) -> None:
    names = {name for name in known().classes if name.startswith("tile.")}
    from tilec.dialects.tile import ops

    declared = {getattr(op, "OPERATION_NAME", "") for op in vars(ops).values()}
    assert {name for name in declared if name.startswith("tile.")} <= names
    seen = set()
    for path in FILES:
        for module in programs(path, context):
            seen |= set(re.findall(r'"(tile\.\w+)"\(', module.operation.get_asm()))
    assert names <= seen
