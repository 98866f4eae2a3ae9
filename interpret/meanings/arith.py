"""`arith`, `math`, and the tile ops that apply them element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from tilec.dialects.tile.casts import CASTS
from tilec.dialects.tile.ops import ELEMENTWISE
from tilec.interpret import integers
from tilec.interpret.call import Call
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array, Number, unsigned, wrap
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir

_COMPARED = ("arith.cmpf", "arith.cmpi")
_INDEX_CASTS = ("arith.index_cast", "arith.index_castui")


@meaning("arith.constant")
def _constant(call: Call) -> Array:
    return call.fact("value", lambda: _constant_value(call))


def _constant_value(call: Call) -> Array:
    attribute, type_ = call.op.attributes["value"], call.result_type()
    number = call.number(type_)
    shape = tuple(type_.shape) if isinstance(type_, ir.ShapedType) else ()
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        value = _scalar(attribute.get_splat_value())
        return np.broadcast_to(_number(call, np.asarray(value), number), shape)
    if isinstance(attribute, ir.DenseElementsAttr):
        values = np.array([_scalar(one) for one in _elements(attribute)]).reshape(shape)
        return _number(call, values, number)
    if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr)):
        return _number(call, np.asarray(_scalar(attribute)), number)
    call.unknown("a constant that is neither a number nor dense")


def _elements(attribute: Any) -> Any:
    """The elements of a dense attribute, which only its own class lets one go through."""
    return attribute


def _scalar(attribute: Any) -> Any:
    """A number, be it an attribute or not."""
    return getattr(attribute, "value", attribute)


def _number(call: Call, values: Array, number: Number) -> Array:
    if number.is_float:
        return call.arithmetic.constant(values.astype(np.float64), number)
    if values.dtype == np.uint64:
        values = values.view(np.int64)
    return wrap(values.astype(np.int64), number.bits)


def apply(call: Call, fn: str, number: Number, *values: Array) -> Array:
    """An upstream op on elements of one type."""
    try:
        if integers.knows(fn):
            return np.asarray(integers.apply(fn, number.bits, *values))
        return np.asarray(call.arithmetic.apply(fn, values, number))
    except KeyError:
        call.unknown(f"{fn} of {number}")


@meaning(*(name for name in ELEMENTWISE))
def _upstream(call: Call, *values: Array) -> Array:
    return apply(call, call.node.name, call.number(call.result_type()), *values)


@meaning("tile.elementwise")
def _elementwise(call: Call, *values: Array) -> Array:
    fn = call.word("fn")
    if fn in _COMPARED:
        return np.asarray(_compare(call, *values))
    return apply(call, fn, call.number(call.result_type()), *values)


@meaning(*_COMPARED)
def _compare(call: Call, a: Array, b: Array) -> Array:
    number, predicate = call.number(call.operand_type(0)), call.integer("predicate")
    if number.is_float:
        return call.arithmetic.compare(predicate, *np.broadcast_arrays(a, b))
    return integers.compare(predicate, number.bits, a, b)


@meaning("arith.select")
def _select(call: Call, condition: Array, one: Array | View, other: Array | View) -> Any:
    if isinstance(one, np.ndarray) and not isinstance(other, View):
        if call.tile(call.result_type()) is not None and not _is_tile(call, 0):
            condition = np.asarray(call.uniform(condition, "a condition"))
        return np.where(condition, one, other)
    return one if call.uniform(condition, "a condition") else other


def _is_tile(call: Call, at: int) -> bool:
    return call.tile(call.operand_type(at)) is not None


@meaning("tile.select")
def _select_tile(call: Call, condition: Array, one: Array, other: Array) -> Array:
    if not _is_tile(call, 0):
        condition = call.by_warp(condition, "a condition")
        condition = condition.reshape(-1, *(1,) * (one.ndim - 1))
    return np.where(condition, one, other)


def cast(call: Call, fn: str, values: Array, source: Number, result: Number) -> Array:
    """An upstream cast of elements."""
    arithmetic = call.arithmetic
    match fn:
        case "arith.truncf" | "arith.extf" | "arith.convertf":
            return arithmetic.convert(values, source, result)
        case "arith.fptosi" | "arith.fptoui":
            return arithmetic.to_integer(values, result, signed=fn.endswith("si"))
        case "arith.sitofp":
            return arithmetic.from_integer(integers.as_numbers(values), result)
        case "arith.uitofp":
            return arithmetic.from_integer(unsigned(values, source.bits), result)
        case "arith.trunci" | "arith.extsi" | "arith.index_cast":
            return wrap(integers.as_numbers(values), result.bits)
        case "arith.extui" | "arith.index_castui":
            return wrap(unsigned(values, source.bits).view(np.int64), result.bits)
        case "arith.bitcast":
            codes = arithmetic.encode(values, source) if source.is_float else values
            if result.is_float:
                return arithmetic.decode(codes & ((1 << result.bits) - 1), result)
            return wrap(codes, result.bits)
    call.unknown(f"a cast by {fn}")


@meaning(*CASTS, *_INDEX_CASTS)
def _cast(call: Call, values: Array) -> Array:
    numbers = call.number(call.operand_type(0)), call.number(call.result_type())
    return cast(call, call.node.name, values, *numbers)


@meaning("tile.cast")
def _cast_tile(call: Call, values: Array) -> Array:
    numbers = call.number(call.operand_type(0)), call.number(call.result_type())
    return cast(call, call.word("fn"), values, *numbers)
