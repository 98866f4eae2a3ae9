"""Which arguments a kernel writes, and which of them must therefore lie apart."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.dialects.semantics import root_memory
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.attributes import WRITTEN
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir

from .cta_accesses import CtaAccess, Role
from .effects import is_alone


def record_written(function: ir.OpView, accesses: Iterable[CtaAccess]) -> None:
    """Let a kernel say which of its arguments it may write.

    Args:
        function: the kernel.
        accesses: all to global memory, and to arrays in shared memory, which do not count.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    if not any(map(is_alone, arguments)):
        return  # nobody asks
    roots = [
        None if access.memref is None else root_memory(access.memref)
        for access in accesses
        if access.role is not Role.READ
        and not (access.memref is not None and is_shared_array(access.memref.type))
    ]
    known = [root for root in roots if root is not None and root in arguments]
    if len(known) == len(roots):
        numbers = [number for number, argument in enumerate(arguments) if argument in known]
        function.operation.attributes[WRITTEN] = ir.DenseI64ArrayAttr.get(numbers)


def disjoint_arguments(function: ir.OpView) -> dict[int, list[int]]:
    """Of each memref that is `llvm.noalias` those that it must have no memory in common with.

    Where neither of two is written they may be one.

    Raises:
        TilecError: if `tile.written` lists no numbers.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    memrefs = [a.arg_number for a in arguments if isinstance(a.type, ir.MemRefType)]
    known = given_attribute(function.operation, WRITTEN, ir.DenseI64ArrayAttr)
    written = set(memrefs if known is None else known)
    found = {
        number: [other for other in memrefs if other != number and written & {number, other}]
        for number in memrefs
        if is_alone(arguments[number])
    }
    return {number: others for number, others in found.items() if others}
