"""`tile-kernel-abi`: a kernel's arguments as the launch passes them."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from tilec.dialects.tile.attributes import (
    ABI,
    ALIGNED,
    CLUSTER_TILES,
    CTAS_PER_SM,
    SIZES,
    STRIDES,
    TENSOR_MAPS,
    WRITTEN,
)
from tilec.ir.aliases import Block, Value
from tilec.ir.attributes import given_attribute, signature
from tilec.ir.mlir import gpu, ir
from tilec.ir.ops import arith, builtin, llvm
from tilec.ir.types import i32, strides_and_offset
from tilec.isa import TilecError

from .analysis.memory_facts import argument_attributes, memory_facts
from .analysis.written_arguments import disjoint_arguments
from .kernel_pass import Kernel, KernelPass

_OF_MAP = {"array", "box", "swizzle"}
"""What `tile-fragments-to-nvvm` says of a tensor map."""
_OF_SOME_MAPS = {"element_strides", "im2col"}
"""What it says of some besides."""
_AXES = "xyz"


class KernelAbi(KernelPass):
    """Replace the memref arguments of kernels by scalars.

    In: `gpu.func … kernel` with memref and scalar arguments. Out: each memref becomes a
    pointer, then its dynamic sizes, its dynamic strides, and its offset if dynamic, i64 each;
    scalars do not change, `index` becomes i64. Inside, the memref is rebuilt as the descriptor
    that upstream's conversions expect. The attribute `tile.abi` lists the arguments as JSON:
    `{"name", "kind", "type"}`, and for memrefs `{"shape", "strides", "offset", "space"}`, where
    null stands for a value that is passed. `{"promised"}` gives the argument's attributes
    `tile.aligned`, `tile.sizes` and `tile.strides`. For an argument that is `llvm.noalias`,
    `disjoint` lists the memrefs with which it must not overlap, if one of the two is written.
    Then follow the extents of the grid, if tile-make-persistent has added them, `{"name",
    "kind", "type", "axis"}`, and tensor maps, `{"name", "kind", "type", "array", "box",
    "swizzle"}`, where `array` is the number of the argument that the map describes, and the
    box's extents are in the argument's order.
    """

    name: ClassVar[str] = "tile-kernel-abi"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if kernel.is_entry and ABI not in kernel.function.attributes:
            _rewrite(kernel.function)


def _rewrite(function: gpu.GPUFuncOp) -> None:
    block = function.entry_block
    old = list(block.arguments)
    attributes = function.attributes
    maps = _tensor_maps(function)
    count = len(signature(function).inputs) - len(maps)
    given = count - _extents(function, count)
    disjoint = disjoint_arguments(function)
    described = []
    with ir.InsertionPoint.at_block_begin(block):
        for number, argument in enumerate(old[:given]):
            found = _replace(block, argument, _name(argument) or f"arg{number}")
            if number in disjoint:
                found.setdefault("promised", {})["disjoint"] = disjoint[number]
            described.append(found)
        for axis, argument in enumerate(old[given:count]):
            found = _replace(block, argument, f"grid_{_AXES[axis]}")
            described.append({**found, "kind": "grid", "axis": axis})
        for argument, map_ in zip(old[count : count + len(maps)], maps, strict=True):
            argument.replace_all_uses_with(block.add_argument(argument.type, argument.location))
            array = described[map_["array"]]
            name = f"{array['name']}_map"
            described.append({"name": name, "kind": "tensor_map", "type": array["type"], **map_})
    types = [argument.type for argument in list(block.arguments)[len(old) :]]
    # Behind the arguments stand buffers that the function declares for itself.
    for buffer in old[count + len(maps) :]:
        buffer.replace_all_uses_with(block.add_argument(buffer.type, buffer.location))
    for _ in old:
        block.erase_argument(0)
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    for name in ("arg_attrs", "res_attrs", WRITTEN, TENSOR_MAPS):
        if name in attributes:
            del attributes[name]
    attributes[ABI] = ir.StringAttr.get(json.dumps(described))


def _extents(function: gpu.GPUFuncOp, count: int) -> int:
    """How many of the first `count` arguments, the last of them, are the extents of the grid.

    Raises:
        TilecError: if the attribute and they are not as `tile-make-persistent` writes them.
    """
    ctas = given_attribute(function, CTAS_PER_SM, ir.IntegerAttr)
    tiles = given_attribute(function, CLUSTER_TILES, ir.DenseI64ArrayAttr)
    if ctas is None and tiles is None:
        return 0
    name, legal = CTAS_PER_SM, "1 or more"
    right = ctas is not None and ctas.value >= 1
    if tiles is not None:
        name, legal = CLUSTER_TILES, "three numbers of 1 or more"
        right = ctas is None and len(tiles) == len(_AXES) and min(tiles) >= 1
    first = count - len(_AXES)
    types = list(signature(function).inputs)[max(first, 0) : count]
    if not right or first < 0 or any(type_ != i32() for type_ in types):
        raise TilecError(
            f"{name} does not have the form that tile-make-persistent writes: {legal}, on a kernel "
            f"whose last {len(_AXES)} arguments are the grid's extents, i32"
        )
    return len(_AXES)


def _tensor_maps(function: gpu.GPUFuncOp) -> list[dict[str, Any]]:
    """The tensor maps that the last arguments are.

    Raises:
        TilecError: if the attribute is not as `tile-fragments-to-nvvm` writes it.
    """
    given = given_attribute(function, TENSOR_MAPS, ir.StringAttr)
    if given is None:
        return []
    try:
        found: list[dict[str, Any]] = json.loads(given.value)
        arrays = len(signature(function).inputs) - len(found)
        right = all(
            _OF_MAP <= set(one) <= _OF_MAP | _OF_SOME_MAPS and 0 <= one["array"] < arrays
            for one in found
        )
    except (TypeError, ValueError, RecursionError):
        right = False
    if not right:
        raise TilecError(
            f"{TENSOR_MAPS} does not have the form that tile-fragments-to-nvvm writes: {given}"
        )
    return found


def _name(argument: Value) -> str | None:
    """The name that an argument's location gives it, as in `%0: index loc("n")`."""
    location = argument.location
    return location.name_str if isinstance(location, ir.NameLoc) else None


def _replace(block: Block, argument: ir.BlockArgument, name: str) -> dict[str, Any]:
    """Append what is passed for `argument`, use it instead, and describe it."""
    type_, location = argument.type, argument.location
    if isinstance(type_, ir.MemRefType):
        return _replace_memref(block, argument, type_, name)
    i64 = ir.IntegerType.get_signless(64)
    if isinstance(type_, ir.IndexType):
        passed = block.add_argument(i64, location)
        argument.replace_all_uses_with(arith.index_cast(passed, type_))
        return {"name": name, "kind": "scalar", "type": "i64"}
    if isinstance(type_, (ir.IntegerType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
        argument.replace_all_uses_with(block.add_argument(type_, location))
        return {"name": name, "kind": "scalar", "type": str(type_)}
    if type_.typeid == llvm.pointer().typeid:
        argument.replace_all_uses_with(block.add_argument(type_, location))
        return {"name": name, "kind": "pointer", "type": "ptr"}
    raise TilecError(
        f"cannot take an argument of type {type_}; legal: memrefs, pointers, integers, index, "
        "f16, bf16, f32, f64"
    )


def _replace_memref(
    block: Block, argument: ir.BlockArgument, type_: ir.MemRefType, name: str
) -> dict[str, Any]:
    location = argument.location
    promised = _promised(argument)
    strides, offset = strides_and_offset(type_)
    space = type_.memory_space
    number = space.value if isinstance(space, ir.IntegerAttr) else 0
    if number > 1 or not (space is None or isinstance(space, ir.IntegerAttr)):
        raise TilecError(f"cannot take {type_}: arguments are in global memory")
    pointer = llvm.pointer(number)
    i64 = ir.IntegerType.get_signless(64)
    unknown_size = ir.ShapedType.get_dynamic_size()
    unknown_stride = ir.ShapedType.get_dynamic_stride_or_offset()
    base = block.add_argument(pointer, location)

    def take(values: list[int], unknown: int) -> list[Value]:
        return [
            block.add_argument(i64, location) if value == unknown else llvm.constant_i64(value)
            for value in values
        ]

    fields: list[tuple[Value, list[int]]] = [(base, [0]), (base, [1])]
    sizes = take(list(type_.shape), unknown_size)
    steps = take(list(strides), unknown_stride)
    (start,) = take([offset], unknown_stride)
    fields.append((start, [2]))
    fields += [(size, [3, at]) for at, size in enumerate(sizes)]
    fields += [(step, [4, at]) for at, step in enumerate(steps)]
    array = f"array<{type_.rank} x i64>"
    tail = f", {array}, {array}" if type_.rank else ""
    text = str(pointer).removeprefix("!llvm.")
    struct = ir.Type.parse(f"!llvm.struct<({text}, {text}, i64{tail})>")
    value = llvm.poison(struct)
    for field, position in fields:
        value = llvm.insertvalue(value, field, position)
    argument.replace_all_uses_with(builtin.unrealized_conversion_cast(value, type_))

    def known_or_none(values: list[int], unknown: int) -> list[int | None]:
        return [None if value == unknown else value for value in values]

    return {
        "name": name,
        "kind": "memref",
        "type": str(type_.element_type),
        "shape": known_or_none(list(type_.shape), unknown_size),
        "strides": known_or_none(list(strides), unknown_stride),
        "offset": known_or_none([offset], unknown_stride)[0],
        "space": number,
        **promised,
    }


def _promised(argument: Value) -> dict[str, Any]:
    """What the attributes of a memref argument promise, none if nothing.

    Raises:
        TilecError: for attributes that promise nothing.
    """
    memory_facts(argument)
    found: dict[str, Any] = {}
    attributes = {one.name: one.attr for one in argument_attributes(argument)}
    for name, key in ((ALIGNED, "aligned"), (SIZES, "sizes"), (STRIDES, "strides")):
        match attributes.get(name):
            case ir.IntegerAttr() as number:
                found[key] = number.value
            case ir.DenseI64ArrayAttr() as numbers:
                found[key] = list(numbers)
    return {"promised": found} if found else {}
