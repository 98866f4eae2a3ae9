"""`arith`: constants, integers, floating-point numbers, casts."""

from __future__ import annotations

from enum import IntEnum

from ..aliases import Attribute, Location, Type, Value
from ..attributes import i64_attribute
from ..creation import create, once
from ..mlir import ir
from ..types import i1
from .shapes import binary, cast, unary


class CmpI(IntEnum):
    """Predicates of `arith.cmpi`."""

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


class CmpF(IntEnum):
    """Predicates of `arith.cmpf`: ordered, which NaN fails, and unordered."""

    ALWAYS_FALSE = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    ALWAYS_TRUE = 15


addi, subi, muli = binary("arith.addi"), binary("arith.subi"), binary("arith.muli")
divsi, divui = binary("arith.divsi"), binary("arith.divui")
remsi, remui = binary("arith.remsi"), binary("arith.remui")
andi, ori, xori = binary("arith.andi"), binary("arith.ori"), binary("arith.xori")
shli, shrsi, shrui = binary("arith.shli"), binary("arith.shrsi"), binary("arith.shrui")
maxsi, maxui = binary("arith.maxsi"), binary("arith.maxui")
minsi, minui = binary("arith.minsi"), binary("arith.minui")
addf, subf, mulf = binary("arith.addf"), binary("arith.subf"), binary("arith.mulf")
divf = binary("arith.divf")
negf = unary("arith.negf")

bitcast = cast("arith.bitcast")
extf, truncf = cast("arith.extf"), cast("arith.truncf")
extsi, extui, trunci = cast("arith.extsi"), cast("arith.extui"), cast("arith.trunci")
index_cast, index_castui = cast("arith.index_cast"), cast("arith.index_castui")
sitofp, uitofp = cast("arith.sitofp"), cast("arith.uitofp")


def constant(type_: Type, value: Attribute, location: Location | None = None) -> ir.OpResult:
    """A constant.

    Args:
        type_: its type.
        value: an attribute of this type.
        location: where it comes from; None for the location in force.
    """
    if location is not None:
        attributes = {"value": value}
        return ir.Operation.create("arith.constant", [type_], [], attributes, loc=location).result
    return create("arith.constant", (), type_, value=value)


def integer(type_: Type, value: int) -> ir.OpResult:
    """A constant of an integer type or index."""
    return create("arith.constant", (), type_, value=ir.IntegerAttr.get(type_, value))


def index(value: int) -> ir.OpResult:
    """A constant of type index."""
    return once(_index, value)


def _index(value: int) -> ir.OpResult:
    type_ = ir.IndexType.get()
    return create("arith.constant", (), type_, value=ir.IntegerAttr.get(type_, value))


def number(type_: Type, value: float) -> ir.OpResult:
    """A constant of a floating-point type."""
    return constant(type_, ir.FloatAttr.get(type_, value))


def splat(type_: Type, value: Attribute) -> ir.OpResult:
    """A constant vector or tensor whose elements all are `value`."""
    return constant(type_, ir.DenseElementsAttr.get_splat(type_, value))


def cmpi(predicate: CmpI, a: Value, b: Value, result: Type | None = None) -> ir.OpResult:
    """A comparison of integers; of vectors and tensors `result` is the type, else i1."""
    return create("arith.cmpi", [a, b], result or i1(), predicate=i64_attribute(predicate))


def cmpf(predicate: CmpF, a: Value, b: Value, result: Type | None = None) -> ir.OpResult:
    """A comparison of floats; of vectors and tensors `result` is the type, else i1."""
    return create("arith.cmpf", [a, b], result or i1(), predicate=i64_attribute(predicate))


def select(condition: Value, on_true: Value, on_false: Value) -> ir.OpResult:
    """`on_true` where the condition holds, else `on_false`."""
    return create("arith.select", [condition, on_true, on_false], on_true.type)
