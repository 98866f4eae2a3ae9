"""The MLIR context of a process: a new one for each case would take longer than most cases."""

from __future__ import annotations

from typing import Any

from tilec.frontend.contexts import Lease, new_context

_MANY = 100
"""Programs after which another context is made: it keeps all types and places that it has met."""
_held: list[Any] = [None, 0]


def context() -> Any:
    """An `ir.Context` in which other programs may have been."""
    lease, served = _held
    if lease is None or served >= _MANY:
        if lease is not None:
            lease.retire()
        lease, served = Lease(new_context()), 0
    _held[:] = lease, served + 1
    return lease.context


def compiled_once() -> None:
    """Import what a compilation needs."""
    import tilec

    tilec.compile(_SMALL).ptx  # noqa: B018 (it is made when it is asked for)


_SMALL = """gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = "tile.load"(%a, %c0, %c0) : (memref<16x16xf16>, index, index) -> tensor<16x16xf16>
    "tile.store"(%t, %a, %c0, %c0) : (tensor<16x16xf16>, memref<16x16xf16>, index, index) -> ()
    gpu.return
  }
}
"""
