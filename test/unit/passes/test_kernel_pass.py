"""A pass on kernels, of what `tilec.passes` exports; and the package's own table of passes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
import tilec.passes
from tilec.frontend.contexts import new_context
from tilec.ir.attributes import is_positive_zero
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.passes import Diagnostic, Kernel, KernelPass, PassError, Report, defining_op, walk
from tilec.passes.base import remarks
from tilec.passes.pipeline import run_pipeline
from tilec.passes.registry import PASSES

FOLDER = Path(tilec.passes.__file__).parent

PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @first(%a: index) kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    %x = gpu.block_id x
    %z = gpu.thread_id z
    %y = gpu.grid_dim y
    %s = arith.addi %x, %z : index
    gpu.return
  }
  gpu.func @second(%a: f32) {
    %t = arith.addf %a, %a : f32
    gpu.return
  }
}
"""


@dataclass(frozen=True)
class Tell(KernelPass):
    """Does to each kernel what a test asks for.

    In and out: any level.
    """

    name: ClassVar[str] = "test-tell"

    do: Callable[[Kernel], None] = field(default=lambda _: None)

    def run(self, kernel: Kernel) -> None:
        """Do it."""
        self.do(kernel)


def run(do: Callable[[Kernel], None], text: str = PROGRAM) -> ir.Module:
    """The program, after a pass that does so to each kernel."""
    with new_context():
        module = ir.Module.parse(text)
        run_pipeline(module, Tell(do))
        return module


def errors_of(do: Callable[[Kernel], None], text: str = PROGRAM) -> list[tuple[int, str]]:
    """Line and message of what a pass finds wrong."""
    with pytest.raises(PassError) as raised:
        run(do, text)
    return [(_line(one), one.message) for one in raised.value.diagnostics]


def _line(found: Diagnostic) -> int:
    assert isinstance(found.location, ir.FileLineColLoc)
    return found.location.start_line


def _name(kernel: Kernel) -> str:
    return kernel.function.attributes["sym_name"].value  # type: ignore[attr-defined, no-any-return]


def test_kernels_in_order_with_their_facts() -> None:
    seen = []

    def look(kernel: Kernel) -> None:
        size = kernel.block_size
        seen.append(
            (_name(kernel), str(kernel.target), size, kernel.is_entry, len(kernel.arguments))
        )
        if size:
            assert (kernel.threads, kernel.warps) == (128, 4)

    run(look)
    assert seen == [("first", "sm_80", (64, 2, 1), True, 1), ("second", "sm_80", None, False, 1)]


def test_errors_of_all_kernels_in_program_order() -> None:
    def refuse(kernel: Kernel) -> None:
        for op in kernel.named("arith.addi", "arith.addf"):
            kernel.error(op, "adds; legal: nothing")

    adds = "op adds; legal: nothing"
    assert errors_of(refuse) == [(7, f"'arith.addi' {adds}"), (11, f"'arith.addf' {adds}")]


def test_what_leaves_the_pass_is_of_the_whole_kernel() -> None:
    def fail(kernel: Kernel) -> None:
        raise TilecError(f"is {_name(kernel)}")

    assert errors_of(fail) == [(3, "'gpu.func' op is first"), (10, "'gpu.func' op is second")]


def test_at_an_op() -> None:
    """What goes wrong is the op's error, what is made has its place; then it goes on."""

    def double(kernel: Kernel) -> None:
        for op in kernel.named("arith.addi", "arith.addf"):
            with kernel.at(op):
                with ir.InsertionPoint(op):
                    made = op.operation.clone()
                assert made.location == op.location
                raise TilecError("is here twice")
            with kernel.at(kernel.function):
                raise PassError([Diagnostic(op.location, "found by a part")])

    assert errors_of(double) == [
        (7, "'arith.addi' op is here twice"),
        (7, "found by a part"),
        (11, "'arith.addf' op is here twice"),
        (11, "found by a part"),
    ]


def test_an_error_is_not_repeated() -> None:
    def repeat(kernel: Kernel) -> None:
        for message in ("one", "one", "two", "one"):
            kernel.error(kernel.function, message, argument=0)

    found = errors_of(repeat)
    assert [m.rpartition(" ")[2] for line, m in found if line == 3] == ["one", "two", "one"]
    assert found[0] == (3, "'gpu.func' op argument 0: one")


def test_remarks_name_op_and_pass() -> None:
    with remarks() as found:
        run(lambda kernel: kernel.remark(kernel.function, "is a kernel"))
    assert [(one.message, one.decided_by, one.severity) for one in found] == 2 * [
        ("'gpu.func' op is a kernel", "test-tell", "remark")
    ]


def test_an_unknown_target_is_an_error_of_who_asks() -> None:
    text = PROGRAM.replace("sm_80", "sm_81")
    run(lambda kernel: None, text)
    found = errors_of(lambda kernel: print(kernel.target), text)
    assert [line for line, _ in found] == [3, 10]
    assert all("sm_81" in message for _, message in found)


def test_report_of_nothing() -> None:
    Report().raise_errors()


def test_dimensions() -> None:
    def look(kernel: Kernel) -> None:
        for op in kernel.named("gpu.block_id", "gpu.thread_id", "gpu.grid_dim"):
            written = re.search(r"(\w)$", str(op).partition(" loc")[0].strip())
            assert written is not None
            assert "xyz"[dimension_of(op)] == written[1]

    run(look)


def test_defining_op_is_of_the_class_or_none() -> None:
    def look(kernel: Kernel) -> None:
        for op in walk(kernel.function):
            for operand in op.operands:
                owner = operand.owner
                found = defining_op(operand, ir.OpView)
                assert found == (None if isinstance(owner, ir.Block) else owner)

    run(look)


@pytest.mark.parametrize(
    ("text", "zero"),
    [
        *(("0.0 : f32", True), ("-0.0 : f32", False), ("-0.0 : f64", False), ("1.0 : f16", False)),
        *(("0 : i32", True), ("0 : index", True), ("-1 : i8", False), ('"0"', False)),
        *(("0x7FC00000 : f32", False), ("0.0 : bf16", True), ("-0.0 : bf16", False)),
    ],
)
def test_positive_zero(text: str, zero: bool) -> None:
    with new_context():
        assert is_positive_zero(ir.Attribute.parse(text)) == zero


def test_the_import_is_cheap_and_exports_are_there() -> None:
    code = """
import sys
import tilec.passes
assert not any("mlir._mlir_libs" in name for name in sys.modules), "MLIR"
for name in tilec.passes.__all__:
    assert getattr(tilec.passes, name).__module__.startswith("tilec.passes."), name
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_table_of_passes_is_in_order_and_whole() -> None:
    """The package's docstring names every pass in the registry's order, and every other file."""
    text = tilec.passes.__doc__ or ""
    table, _, rest = text.partition("Level 1 is")
    files = [where.partition(":")[0].rpartition(".")[2] for where in PASSES.values()]
    assert [word for word in re.findall(r"\w+", table) if word in files] == files
    others = {path.stem for path in FOLDER.glob("*.py")} - {*files, "__init__"}
    assert {name for name in others if f"`{name}`" not in rest} == set()
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert {name for name in folders if f"{name}/" not in text} == set()
    assert set(re.findall(r"(\w+)/", text)) == folders
