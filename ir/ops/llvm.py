"""`llvm`: scalars, pointers, memory, calls."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import overload

from ..aliases import Attribute, Type, Value
from ..attributes import i32_attribute, i64_attribute
from ..creation import create, emit, once
from ..mlir import ir
from ..types import i1, i32
from .shapes import binary, cast, ternary


class ICmp(IntEnum):
    """Predicates of `llvm.icmp`."""

    EQ = 0
    NE = 1
    SLT = 2
    SLE = 3
    SGT = 4
    SGE = 5
    ULT = 6
    ULE = 7
    UGT = 8
    UGE = 9


_create = ir.Operation.create

DYNAMIC = -(1 << 31)
"""What stands for a value among the constant indices of `llvm.getelementptr`."""

add, sub, mul = binary("llvm.add"), binary("llvm.sub"), binary("llvm.mul")
and_, or_, xor = binary("llvm.and"), binary("llvm.or"), binary("llvm.xor")
shl, lshr = binary("llvm.shl"), binary("llvm.lshr")
smin = binary("llvm.intr.smin")
fma = ternary("llvm.intr.fma")
bitcast, trunc = cast("llvm.bitcast"), cast("llvm.trunc")
sext, zext = cast("llvm.sext"), cast("llvm.zext")
addrspacecast, ptrtoint = cast("llvm.addrspacecast"), cast("llvm.ptrtoint")


def pointer(space: int = 0) -> Type:
    """The type of a pointer into an address space."""
    return ir.Type.parse(f"!llvm.ptr<{space}>" if space else "!llvm.ptr")


def struct(fields: Sequence[Type]) -> Type:
    """The type of a struct."""
    return ir.Type.parse(f"!llvm.struct<({', '.join(map(str, fields))})>")


def constant(type_: Type, value: int) -> ir.OpResult:
    """A constant of an integer type."""
    return create("llvm.mlir.constant", (), type_, value=ir.IntegerAttr.get(type_, value))


def constant_of(type_: Type, value: Attribute) -> ir.OpResult:
    """A constant of a type of numbers, or of vectors of them, as its attribute says."""
    return create("llvm.mlir.constant", (), type_, value=value)


def constant_i32(value: int) -> ir.OpResult:
    """A constant of type i32."""
    return once(_i32, value)


def _i32(value: int) -> ir.OpResult:
    return constant(i32(), value)


def constant_i64(value: int) -> ir.OpResult:
    """A constant of type i64; what it has more bits than that wraps around."""
    return once(_i64, value)


def _i64(value: int) -> ir.OpResult:
    type_ = ir.IntegerType.get_signless(64)
    wrapped = (
        value if -(1 << 63) <= value < 1 << 63 else (value + (1 << 63)) % (1 << 64) - (1 << 63)
    )
    return create("llvm.mlir.constant", (), type_, value=ir.IntegerAttr.get(type_, wrapped))


def zero(type_: Type) -> ir.OpResult:
    """The value whose bits are all zero."""
    return create("llvm.mlir.zero", (), type_)


def poison(type_: Type) -> ir.OpResult:
    """A value of which nothing is known."""
    return create("llvm.mlir.poison", (), type_)


def icmp(predicate: ICmp, a: Value, b: Value) -> ir.OpResult:
    """A comparison of integers, an i1."""
    return create("llvm.icmp", [a, b], i1(), predicate=i64_attribute(predicate))


def select(condition: Value, on_true: Value, on_false: Value) -> ir.OpResult:
    """`on_true` where the condition holds, else `on_false`."""
    return create("llvm.select", [condition, on_true, on_false], on_true.type)


def extractvalue(whole: Value, position: Sequence[int], result: Type) -> ir.OpResult:
    """A field of a struct or array, of type `result`."""
    at = ir.DenseI64ArrayAttr.get(position)
    return create("llvm.extractvalue", (whole,), result, position=at)


def extract_fields(
    whole: Value, positions: Sequence[Attribute], types: Sequence[Type]
) -> list[Value]:
    """The fields of a struct.

    Args:
        whole: the struct.
        positions: those of the fields, as attributes, which are the same for many structs.
        types: the types of the fields.
    """
    return [
        _create("llvm.extractvalue", (type_,), (whole,), {"position": at}).result
        for at, type_ in zip(positions, types, strict=True)
    ]


def insertvalue(whole: Value, field: Value, position: Sequence[int]) -> ir.OpResult:
    """A struct or array with another field."""
    at = ir.DenseI64ArrayAttr.get(position)
    return create("llvm.insertvalue", [whole, field], whole.type, position=at)


def getelementptr(base: Value, index: Value | int, element: Type) -> ir.OpResult:
    """The pointer `index` elements further; a constant is less than 2^31 in magnitude."""
    operands, constant_ = ([base], index) if isinstance(index, int) else ([base, index], DYNAMIC)
    return create(
        "llvm.getelementptr",
        operands,
        base.type,
        elem_type=ir.TypeAttr.get(element),
        rawConstantIndices=ir.DenseI32ArrayAttr.get([constant_]),
    )


def addressof(symbol: str, type_: Type) -> ir.OpResult:
    """The address of a global, a pointer of the type."""
    return create("llvm.mlir.addressof", (), type_, global_name=ir.FlatSymbolRefAttr.get(symbol))


def load(source: Value, result: Type, alignment: int) -> ir.OpResult:
    """A load, from a multiple of so many bytes."""
    return create("llvm.load", [source], result, alignment=i64_attribute(alignment))


def store(value: Value, target: Value, alignment: int) -> None:
    """A store, to a multiple of so many bytes."""
    emit("llvm.store", [value, target], alignment=i64_attribute(alignment))


@overload
def inline_asm(
    code: str, constraints: str, operands: Sequence[Value], result: Type, *, effects: bool = True
) -> ir.OpResult: ...
@overload
def inline_asm(code: str, constraints: str, operands: Sequence[Value], result: None) -> None: ...
@overload
def inline_asm(
    code: str, constraints: str, operands: Sequence[Value], result: Type | None
) -> ir.OpResult | None: ...
def inline_asm(
    code: str,
    constraints: str,
    operands: Sequence[Value],
    result: Type | None,
    *,
    effects: bool = True,
) -> ir.OpResult | None:
    """Inline assembly; its result of that type, or None if the type is None.

    Args:
        code: the text.
        constraints: of its registers.
        operands: what it takes.
        result: the type of what it gives.
        effects: whether it does more than compute its result.
    """
    attributes: dict[str, Attribute] = {
        "asm_string": ir.StringAttr.get(code),
        "constraints": ir.StringAttr.get(constraints),
    }
    if effects:
        attributes["has_side_effects"] = ir.UnitAttr.get()
    if result is None:
        emit("llvm.inline_asm", operands, **attributes)
        return None
    return create("llvm.inline_asm", operands, result, **attributes)


def opaque_i64(value: Value) -> ir.OpResult:
    """The same i64, of whose bits LLVM knows nothing; no instruction."""
    return create(
        "llvm.inline_asm",
        [value],
        value.type,
        asm_string=ir.StringAttr.get("mov.b64 $0, $1;"),
        constraints=ir.StringAttr.get("=l,l"),
    )


def call(
    attributes: dict[str, Attribute], operands: Sequence[Value], result: Type | None
) -> ir.OpResult | None:
    """A call; its result of that type, or None if the type is None.

    Args:
        attributes: what `call_attributes` gives.
        operands: what the function takes.
        result: the type of what it gives.
    """
    if result is None:
        _create("llvm.call", None, operands, attributes)
        return None
    return _create("llvm.call", (result,), operands, attributes).result


def call_attributes(callee: str, operands: int, *, convergent: bool) -> dict[str, Attribute]:
    """The attributes of a call.

    Args:
        callee: the function.
        operands: how many it takes.
        convergent: whether all threads that are together must make it together.
    """
    attributes: dict[str, Attribute] = {
        "callee": ir.FlatSymbolRefAttr.get(callee),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([operands, 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    if convergent:
        attributes["convergent"] = ir.UnitAttr.get()
    return attributes


def global_bytes(
    module: ir.Block, name: str, size: int, *, space: int, alignment: int, external: bool
) -> None:
    """Define or declare an array of bytes, at the top of the block of a module.

    Args:
        module: the block.
        name: the array's.
        size: its bytes.
        space: its address space.
        alignment: of its address, in bytes.
        external: whether it is declared only.
    """
    linkage = f"#llvm.linkage<{'external' if external else 'internal'}>"
    ir.Operation.create(
        "llvm.mlir.global",
        regions=1,
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{size} x i8>")),
            "linkage": ir.Attribute.parse(linkage),
            "addr_space": i32_attribute(space),
            "alignment": i64_attribute(alignment),
        },
        ip=ir.InsertionPoint.at_block_begin(module),
        loc=ir.Location.unknown(),
    )


def declare(module: ir.Block, name: str, arguments: Sequence[Type], result: Type | None) -> None:
    """Declare an external function, at the top of the block of a module."""
    returned = "void" if result is None else str(result)
    type_ = ir.Type.parse(f"!llvm.func<{returned} ({', '.join(map(str, arguments))})>")
    ir.Operation.create(
        "llvm.func",
        regions=1,
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(type_),
            "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
        },
        ip=ir.InsertionPoint.at_block_begin(module),
        loc=ir.Location.unknown(),
    )
