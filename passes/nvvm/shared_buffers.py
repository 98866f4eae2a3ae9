"""`tile.alloc_shared`: all buffers of a kernel in one array of shared memory."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.attributes import DYNAMIC_SHARED
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.mlir import ir
from tilec.isa import TARGETS, TilecError

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .addresses import step
from .kernel import Kernel

ALIGNMENT = 1024
"""Bytes to which buffers are aligned: every swizzle repeats within them."""


class SharedBuffers:
    """Places of the buffers of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._bytes = 0
        self._said: bool | None = None
        name = ir.StringAttr(kernel.function.operation.attributes["sym_name"]).value
        self._symbol = f"{name}_shared"

    def alloc(self, op: Any, _: Expansion) -> list[Values]:
        """`tile.alloc_shared`: the array's address and the buffer's place in it."""
        size = shared_buffer(op.results[0].type).bytes
        at = self._place(op)
        end = (at + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self._bytes = max(self._bytes, end)
        target = self._kernel.target
        limit = max(t.shared_per_cta for t in ([target] if target else TARGETS.values()))
        if self._bytes > limit:
            raise TilecError(
                f"brings the kernel's shared memory to {self._bytes} bytes; "
                f"{target or 'no target'} has {'' if target else 'more than '}{limit} for a CTA"
            )
        pointer = create(
            "llvm.mlir.addressof",
            [],
            ir.Type.parse("!llvm.ptr<3>"),
            global_name=ir.FlatSymbolRefAttr.get(self._symbol),
        )
        return [[step(pointer, at)]]

    def _place(self, op: Any) -> int:
        """Where a buffer begins, in bytes."""
        says = "offset" in op.attributes
        if self._said not in (None, says):
            raise TilecError("either every buffer of a kernel says its offset or none does")
        self._said = says
        if not says:
            return self._bytes
        at = int(op.attributes["offset"].value)
        if at % ALIGNMENT:
            raise TilecError(f"offset {at} is no multiple of {ALIGNMENT}, as swizzles need")
        return at

    def finish(self) -> None:
        """Declare the array: static up to what a kernel has without asking, else dynamic."""
        if not self._bytes:
            return
        static = next(iter(TARGETS.values())).static_shared
        dynamic = self._bytes > static
        i64 = ir.IntegerType.get_signless(64)
        if dynamic:
            self._kernel.function.operation.attributes[DYNAMIC_SHARED] = ir.IntegerAttr.get(
                i64, self._bytes
            )
        size = 0 if dynamic else self._bytes
        ir.Operation.create(
            "llvm.mlir.global",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(self._symbol),
                "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{size} x i8>")),
                "linkage": ir.Attribute.parse(
                    f"#llvm.linkage<{'external' if dynamic else 'internal'}>"
                ),
                "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 3),
                "alignment": ir.IntegerAttr.get(i64, ALIGNMENT),
            },
            ip=ir.InsertionPoint.at_block_begin(self._kernel.module.regions[0].blocks[0]),
            loc=ir.Location.unknown(),
        )
