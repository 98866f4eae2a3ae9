"""Functions on the host that are products of linalg's, as kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilec.ir.aliases import Location, Op
from tilec.ir.attributes import attribute, signature
from tilec.ir.mlir import ir
from tilec.ir.ops import gpu
from tilec.ir.visits import visit
from tilec.isa import TilecError

from ..base import Diagnostic
from ..functions import gpu_modules
from ..report import Report

_NAME = "kernels"


def linalg_ops(op: Op) -> list[ir.Operation]:
    """The ops of linalg's inside `op`, without what is inside them."""
    return outermost(op, lambda inner: inner.name.startswith("linalg."))


def outermost(op: Op, wanted: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    """The ops inside `op` that are wanted, without what is inside them.

    They are `ir.Operation`s: classes of their own would import all of linalg's.
    """
    found: list[ir.Operation] = []

    def look(inner: ir.Operation) -> ir.WalkResult:
        if not wanted(inner):
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.SKIP

    visit(op.operation, look, ir.WalkOrder.PRE_ORDER)
    return found


def outline_functions(module: ir.Module) -> None:
    """Turn every `func.func` with ops of linalg's into a kernel of the same name and arguments.

    It goes to the module's `gpu.module`, or to a new one called `kernels`.

    Raises:
        PassError: for functions that cannot be kernels.
    """
    report = Report()
    for function in list(_functions(module)):
        if linalg_ops(function) and not _is_called(module, function, report):
            with report.at(function):
                _check(function)
                _outline(module, function)
    report.raise_errors()


def _functions(module: ir.Module) -> Iterator[ir.Operation]:
    """The functions of the host, as `ir.Operation`s."""
    for op in module.body.operations:
        if op.operation.name == "func.func":
            yield op.operation


def _is_called(module: ir.Module, function: ir.Operation, report: Report) -> bool:
    """Whether the host calls a function, which no kernel can be; reported."""
    callee = attribute(function, "sym_name", ir.StringAttr).value
    calls = outermost(module.operation, lambda op: op.name == "func.call" and _callee(op) == callee)
    if calls:
        note = Diagnostic(calls[0].location, "here", "note")
        message = "is called; it becomes a kernel, which is launched instead"
        report.error(function, message, notes=(note,))
    return bool(calls)


def _callee(call: ir.Operation) -> str:
    return attribute(call, "callee", ir.FlatSymbolRefAttr).value


def _check(function: ir.Operation) -> None:
    type_ = signature(function)
    for passed in (*type_.inputs, *type_.results):
        if isinstance(passed, (ir.RankedTensorType, ir.UnrankedTensorType)):
            raise TilecError(
                f"has tensors, {passed}; a kernel works on memrefs: bufferize the program first "
                "(one-shot-bufferize)"
            )
    if type_.results:
        raise TilecError(f"returns {type_.results[0]}; a kernel writes results to memrefs")
    if len(function.regions[0].blocks) != 1:
        raise TilecError("has several blocks; to be made a kernel it must have one")


def _outline(module: ir.Module, function: ir.Operation) -> None:
    home = next(gpu_modules(module), None) or _gpu_module(module, function.location)
    attributes = {
        name: function.attributes[name]
        for name in function.attributes
        if name in ("arg_attrs", "function_type", "sym_name") or name.startswith("tile.")
    }
    with ir.InsertionPoint(home.regions[0].blocks[0]), function.location:
        kernel = gpu.func({**attributes, "kernel": ir.UnitAttr.get()})
    block = function.regions[0].blocks[0]
    block.append_to(kernel.regions[0])
    end = block.operations[len(block.operations) - 1]
    with ir.InsertionPoint(end), end.location:
        gpu.return_()
    end.operation.erase()
    function.erase()


def _gpu_module(module: ir.Module, location: Location) -> Op:
    with ir.InsertionPoint(module.body), location:
        return gpu.module(_NAME)
