"""Functions on the host that are products of linalg's, as kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..base import Diagnostic, PassError
from ..functions import gpu_modules

_NAME = "kernels"


def linalg_ops(op: Any) -> list[Any]:
    """The ops of linalg's inside `op`, without what is inside them."""
    return outermost(op, lambda inner: inner.name.startswith("linalg."))


def outermost(op: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """The ops inside `op` that are wanted, without what is inside them.

    They are `ir.Operation`s: classes of their own would import all of linalg's.
    """
    found: list[Any] = []

    def look(inner: Any) -> Any:
        if not wanted(inner):
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.SKIP

    op.operation.walk(look, ir.WalkOrder.PRE_ORDER)
    return found


def outline_functions(module: Any) -> None:
    """Turn every `func.func` with ops of linalg's into a kernel of the same name and arguments.

    It goes to the module's `gpu.module`, or to a new one called `kernels`.

    Raises:
        PassError: for functions that cannot be kernels.
    """
    errors: list[Diagnostic] = []
    for function in list(_functions(module)):
        if linalg_ops(function):
            try:
                _check(module, function)
                _outline(module, function)
            except PassError as error:
                errors += error.diagnostics
            except TilecError as error:
                errors.append(Diagnostic(function.location, f"'func.func' op {error}"))
    if errors:
        raise PassError(errors)


def _functions(module: Any) -> Iterator[Any]:
    """The functions of the host, as `ir.Operation`s."""
    for op in module.body.operations:
        if op.operation.name == "func.func":
            yield op.operation


def _check(module: Any, function: Any) -> None:
    callee = str(function.attributes["sym_name"].value)
    calls = outermost(
        module, lambda op: op.name == "func.call" and op.attributes["callee"].value == callee
    )
    if calls:
        note = Diagnostic(calls[0].location, "here", "note")
        message = "'func.func' op is called; it becomes a kernel, which is launched instead"
        raise PassError([Diagnostic(function.location, message, notes=(note,))])
    type_ = function.attributes["function_type"].value
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


def _outline(module: Any, function: Any) -> None:
    home = next(gpu_modules(module), None) or _gpu_module(module, function.location)
    attributes = {
        name: function.attributes[name]
        for name in function.attributes
        if name in ("arg_attrs", "function_type", "sym_name") or name.startswith("tile.")
    }
    kernel = ir.Operation.create(
        "gpu.func",
        attributes={**attributes, "kernel": ir.UnitAttr.get()},
        regions=1,
        loc=function.location,
        ip=ir.InsertionPoint(home.regions[0].blocks[0]),
    )
    block = function.regions[0].blocks[0]
    block.append_to(kernel.regions[0])
    end = block.operations[len(block.operations) - 1]
    ir.Operation.create("gpu.return", loc=end.location, ip=ir.InsertionPoint(end))
    end.operation.erase()
    function.erase()


def _gpu_module(module: Any, location: Any) -> Any:
    made = ir.Operation.create(
        "gpu.module",
        attributes={"sym_name": ir.StringAttr.get(_NAME)},
        regions=1,
        loc=location,
        ip=ir.InsertionPoint(module.body),
    )
    made.regions[0].blocks.append()
    return made
