"""Tensor maps among a kernel's arguments: 128 bytes passed by value, which no thread writes.

Upstream's conversion of `gpu.func` drops `llvm.byval`, so it is said of the `llvm.func`.
"""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.attributes import ABI
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.isa.limits import MAP_BYTES
from tilec.launch.abi import TensorMap
from tilec.launch.kernels import described_arguments

KIND = "tensor_map"
"""What `tile.abi` calls one."""


def pass_by_value(function: Any) -> None:
    """Say of the arguments of an `llvm.func` that are tensor maps how they are passed.

    Raises:
        TilecError: if `tile.abi` does not fit the function.
    """
    text = given_attribute(function, ABI, ir.StringAttr)
    if text is None or f'"{KIND}"' not in text.value:
        return
    count = sum(isinstance(one, TensorMap) for one in described_arguments(function))
    others = len(function.regions[0].blocks[0].arguments) - count
    if others < 0:
        raise TilecError(f"{ABI} names {count} tensor maps; the kernel takes {others + count}")
    given = [ir.DictAttr.get({}) for _ in range(others)]
    if "arg_attrs" in function.attributes:
        given = [ir.DictAttr(one) for one in ir.ArrayAttr(function.attributes["arg_attrs"])]
    maps = [_by_value() for _ in range(count)]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*given[:others], *maps])


def _by_value() -> ir.DictAttr:
    return ir.DictAttr.get(
        {
            "llvm.byval": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{MAP_BYTES} x i8>")),
            "llvm.align": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), MAP_BYTES),
            "nvvm.grid_constant": ir.UnitAttr.get(),
        }
    )
