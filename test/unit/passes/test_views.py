"""Views of tiles against numpy's, on the simulator, under any layout.

Were registers renamed wrongly, elements would come out at other places.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.layout.tiling import operand_tile
from tilec.layout.views import collapse, drop_dim, expand, reshape, transpose

DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}
ALL = settings(suppress_health_check=list(HealthCheck), derandomize=True)
SHAPES = st.sampled_from([(64,), (16, 16), (1, 64), (8, 32), (4, 8, 8), (2, 64, 1), (2, 2, 4, 16)])


def numbers(shape, dtype):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@settings(ALL, max_examples=25)
@given(st.data())
def test_transpose(run_tile, tile_layouts, data):
    shape = data.draw(SHAPES)
    layout = data.draw(tile_layouts(shape, data.draw(st.sampled_from([1, 2]))))
    permutation = data.draw(st.permutations(range(len(shape))))
    element = data.draw(st.sampled_from(list(DTYPES)))
    attribute = f"{{permutation = array<i64: {', '.join(map(str, permutation))}>}}"
    values = numbers(shape, DTYPES[element])
    got, _ = run_tile(
        layout,
        transpose(layout, tuple(permutation)),
        (element, element),
        f'%r = "tile.transpose"(%s) {attribute} : (!S) -> !R',
        values,
        DTYPES[element],
    )
    np.testing.assert_array_equal(got, values.transpose(permutation))


@settings(ALL, max_examples=25)
@given(st.data())
def test_reshape_of_a_transpose(run_tile, tensor_text, tile_layouts, data):
    """Which, unlike a reshape alone, changes the order of what is in memory."""
    shape = data.draw(SHAPES)
    layout = data.draw(tile_layouts(shape, data.draw(st.sampled_from([1, 2]))))
    last_first = tuple(reversed(range(len(shape))))
    turned = transpose(layout, last_first)
    into = data.draw(SHAPES.filter(lambda s: np.prod(s) == np.prod(shape)))
    element = data.draw(st.sampled_from(list(DTYPES)))
    values = numbers(shape, DTYPES[element])
    attribute = f"{{permutation = array<i64: {', '.join(map(str, last_first))}>}}"
    type_ = tensor_text(turned, element)
    got, _ = run_tile(
        layout,
        reshape(turned, into),
        (element, element),
        f'%t = "tile.transpose"(%s) {attribute} : (!S) -> {type_}\n'
        f'%r = "tile.reshape"(%t) : ({type_}) -> !R',
        values,
        DTYPES[element],
    )
    np.testing.assert_array_equal(got, values.transpose(last_first).reshape(into))


@settings(ALL, max_examples=30)
@given(st.data())
def test_broadcast(run_tile, tensor_text, tile_layouts, data):
    """Of a tile that is a slice of the result's layout, its registers in another order."""
    shape = data.draw(SHAPES)
    result = data.draw(tile_layouts(shape, data.draw(st.sampled_from([1, 2]))))
    axis = data.draw(st.integers(0, len(shape) - 1))
    element = data.draw(st.sampled_from(list(DTYPES)))
    source = expand(drop_dim(result, axis), axis)
    one = tuple(source.out_sizes.values())
    values = numbers(one, DTYPES[element])
    held = collapse(result, [axis])
    body = '%r = "tile.broadcast"(%s) : (!S) -> !R'
    if data.draw(st.booleans()):  # from a layout that keeps every register of the result
        copies = tensor_text(held, element)
        body = (
            f'%c = "tile.broadcast"(%s) : (!S) -> {copies}\n'
            f'%r = "tile.broadcast"(%c) : ({copies}) -> !R'
        )
    got, _ = run_tile(source, result, (element, element), body, values, DTYPES[element])
    np.testing.assert_array_equal(got, np.broadcast_to(values, shape))


@settings(ALL, max_examples=25)
@given(st.data())
def test_iota(run_tile, tile_layouts, data):
    shape = data.draw(SHAPES)
    layout = data.draw(tile_layouts(shape, data.draw(st.sampled_from([1, 2, 4]))))
    axis = data.draw(st.integers(0, len(shape) - 1))
    element = data.draw(st.sampled_from(["i8", "i16", "i32"]))
    zeros = np.zeros(shape, DTYPES[element])
    body = f'%i = "tile.iota"() {{axis = {axis}}} : () -> !R\n%r = arith.addi %i, %s : !R'
    got, _ = run_tile(layout, layout, (element, element), body, zeros, DTYPES[element])
    np.testing.assert_array_equal(got, np.indices(shape)[axis])


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_views_of_an_accumulator_move_nothing(run_tile, tensor_text, mma_form, element):
    """Row maxima, taken off again: as few instructions as registers, no shared memory."""
    layout = operand_tile(mma_form, "c", 64, 32, (2, 2))
    columns = operand_tile(mma_form, "c", 64, 32, (4, 1))
    for held, staged in ((columns, False), (layout, True)):
        left = drop_dim(held, 1)
        rows, one = tensor_text(left, element), tensor_text(expand(left, 1), element)
        body = (
            f'%m = "tile.reduce"(%s) {{axis = 1, fn = "arith.maximumf"}} : (!S) -> {rows}\n'
            f'%e = "tile.expand"(%m) {{axis = 1}} : ({rows}) -> {one}\n'
            f'%b = "tile.broadcast"(%e) : ({one}) -> !S\n'
            "%r = arith.subf %s, %b : !S"
        )
        values = np.random.default_rng(0).permutation(2048).reshape(64, 32).astype(DTYPES[element])
        got, ptx = run_tile(held, held, (element, element), body, values, DTYPES[element])
        np.testing.assert_array_equal(got, values - values.max(axis=1, keepdims=True))
        assert (".shared" in ptx) == staged
