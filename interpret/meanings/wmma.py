"""`tile.wmma_*`: a fragment is the matrix that it stands for, as where elements lie is not said."""

from __future__ import annotations

import numpy as np
from tilec.dialects.tile.dialect import WmmaType
from tilec.dialects.tile.tiles import element_name
from tilec.dialects.tile.wmma import wmma_operand
from tilec.interpret.call import Call
from tilec.interpret.meanings.arith import apply
from tilec.interpret.meanings.memory import Access
from tilec.interpret.meanings.products import Factors, multiply
from tilec.interpret.memory import View
from tilec.interpret.numbers import BYTE, Array, Number, named
from tilec.interpret.places import find_places
from tilec.interpret.registry import meaning
from tilec.ir.aliases import Type
from tilec.isa import Major, Operand, Product, WmmaMemory, form


def _operand(type_: Type) -> Operand:
    assert isinstance(type_, WmmaType)
    return wmma_operand(type_)


def _number(call: Call, type_: Type) -> Number:
    return call.fact(("number", type_), lambda: named(element_name(_operand(type_))))


class _Access(Access):
    """What a load or store of a fragment does to memory."""

    def __init__(self, call: Call, type_: Type, view: View, indices: tuple[Array, ...]) -> None:
        operand, named = _operand(type_), form(call.word("form"))
        assert isinstance(named, WmmaMemory)
        self.call, self.view = call, view
        self.number, self.each = _number(call, type_), True
        self.transposed = named.fragment.major is Major.COL
        self._axis = -2 if self.transposed else -1
        self.as_bytes = view.buffer.number == BYTE and self.number != BYTE
        shape = self._shape((operand.rows, operand.cols))
        self.places, inside = find_places(
            call, view, indices, shape, each=True, transposed=self.transposed
        )
        wanted = np.broadcast_to(call.warps[:, None, None], inside.shape)
        if (wanted & ~inside).any():
            call.report("bounds", "accesses memory outside the memref")
        self.inside = inside & wanted


@meaning("tile.wmma_load")
def _load(call: Call, view: View, *indices: Array) -> Array:
    return _Access(call, call.result_type(), view, indices).read()


@meaning("tile.wmma_store")
def _store(call: Call, values: Array, view: View, *indices: Array) -> None:
    _Access(call, call.operand_type(0), view, indices).write(values)


@meaning("tile.wmma_mma")
def _product(call: Call, a: Array, b: Array, c: Array) -> Array:
    found = call.fact("form", lambda: form(call.word("form")))
    assert isinstance(found, Product)
    x, y, z = (_number(call, call.operand_type(at)) for at in range(3))
    numbers = x, y, z, _number(call, call.result_type())
    return multiply(call, found, Factors(a, b, c), numbers)


@meaning("tile.wmma_fill")
def _fill(call: Call, value: Array) -> Array:
    operand = call.fact("operand", lambda: _operand(call.result_type()))
    shape = call.cta.warps, operand.rows, operand.cols
    return np.broadcast_to(call.by_warp(value).reshape(-1, 1, 1), shape)


@meaning("tile.wmma_elementwise")
def _elementwise(call: Call, *values: Array) -> Array:
    return apply(call, call.word("fn"), _number(call, call.result_type()), *values)
