"""The dialect loads any number of times, in any number of contexts, in any order."""

from __future__ import annotations

import gc

import pytest
from tilec import dialects
from tilec.dialects.tile.dialect import FragType, LayoutAttr
from tilec.dialects.tile.tiles import resolve, tile_layout, tile_value
from tilec.ir.mlir import ir
from tilec.ir.state import holding
from tilec.isa import warp_forms

FILL = """
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @f(%x: f16) -> !A {
  %0 = "tile.fill"(%x) : (f16) -> !A
  return %0 : !A
}
"""
WRONG = FILL.replace("%x: f16", "%x: f32").replace("(f16)", "(f32)")


def _context() -> ir.Context:
    context = ir.Context()
    dialects.load(context)
    return context


def _type(context: ir.Context) -> object:
    module = ir.Module.parse(FILL, context)
    (function,) = module.body.operations
    fill, _ = function.body.blocks[0].operations
    return fill.results[0].type


def test_again_in_one_context() -> None:
    context = _context()
    for _ in range(3):
        dialects.load(context)
        assert isinstance(_type(context), FragType)


def test_the_current_context_is_the_default() -> None:
    with ir.Context() as context:
        dialects.load()
        assert context.is_dialect_loaded("tile")


def test_contexts_in_turn() -> None:
    first, second = _context(), _context()
    for context in (first, second, first, _context(), second, first):
        type_ = _type(context)
        assert isinstance(type_, FragType)
        assert isinstance(type_.layout, LayoutAttr)
        with pytest.raises(ir.MLIRError, match="must be of the element type f16, not f32"):
            ir.Module.parse(WRONG, context)


def test_contexts_are_let_go() -> None:
    for _ in range(3):
        context = _context()
        assert tile_value(_type(context)) is not None
        del context
        gc.collect()
    # What is kept of tiles between programs, layouts, belongs to no context.
    survivor = _context()
    assert tile_value(_type(survivor)) is not None
    gc.collect()


def test_a_layout_is_resolved_once() -> None:
    more = "\n".join(f'%{n} = "tile.fill"(%x) : (f16) -> !A' for n in range(1, 50))
    text, context = FILL.replace("return %0", f"{more}\nreturn %0"), _context()
    tile_layout.cache_clear()
    with holding(context):
        ir.Module.parse(text, context)
        found = tile_layout.cache_info()
        assert (found.hits, found.misses) == (0, 1)  # asked once: the type is known after that
    ir.Module.parse(text, context)  # nobody holds what is known of types
    assert tile_layout.cache_info().hits >= 50


def test_every_named_fragment_is_a_type() -> None:
    """The short names stand for what the instruction takes, for each dense form."""
    context = _context()
    names = {
        f"{form.shape} {operand.name} {operand.type}"
        for form in warp_forms().values()
        if form.family == "mma" and form.products == 1
        for operand in form.operands
    }
    assert len(names) > 50
    with context:
        for name in names:
            layout = resolve(name)
            extents = "x".join(str(n) for n in layout.out_sizes.values())
            type_ = ir.Type.parse(f'!tile.frag<tensor<{extents}xi8>, #tile.layout<"{name}">>')
            found = tile_value(type_)
            assert found is not None
            assert found.layout == layout
