"""`tile.reduce` of any layout against numpy, on the simulator, and how many shuffles it takes.

What is added up are small integers, so that every order of a sum gives the same bits; one test
adds up fractions, and compares them with a sum in doubles.
"""

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.dialects.tile.ops import REDUCTIONS
from tilec.layout import fragment
from tilec.layout.tiling import operand_tile, row_tile
from tilec.layout.views import drop_dim, expand

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
FLOATS = ("f16", "bf16", "f32", "f64")
NUMPY = {
    "addf": np.add,
    "addi": np.add,
    "mulf": np.multiply,
    "muli": np.multiply,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "maxui": np.maximum,
    "minui": np.minimum,
}
ALL = settings(suppress_health_check=list(HealthCheck), derandomize=True)


def numbers(name, shape, dtype, seed=0):
    """Numbers whose reduction is exact in their type."""
    random = np.random.default_rng(seed)
    if name == "mulf":
        return random.choice([-1.0, 1.0, 1.0, 2.0], shape, p=[0.1, 0.44, 0.44, 0.02]).astype(dtype)
    if name == "addf":
        return random.choice([-1, 0, 1, 3], shape, p=[0.3, 0.3, 0.3, 0.1]).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    values = random.integers(-100, 100, shape).astype(dtype)
    values[random.random(shape) < 0.02] = np.nan
    return values


def reference(name, values, axis):
    function = NUMPY[name]
    if name.endswith("ui"):
        unsigned = values.view(f"u{values.dtype.itemsize}")
        return function.reduce(unsigned, axis=axis, keepdims=True).view(values.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return function.reduce(values, axis=axis, keepdims=True, dtype=values.dtype)


def same(got, wanted):
    as_known = np.float64 if got.dtype == ml_dtypes.bfloat16 else got.dtype
    np.testing.assert_array_equal(got.astype(as_known), wanted.astype(as_known))


def body(axis, name, layout, element, tensor):
    """Reduced, and the dimension put in again; to a scalar and back for rank 1."""
    left = drop_dim(layout, axis)
    attributes = f'{{axis = {axis}, fn = "arith.{name}"}}'
    if not left.outs:
        return (
            f'%m = "tile.reduce"(%s) {attributes} : (!S) -> {element}\n'
            f'%r = "tile.fill"(%m) : ({element}) -> !R'
        )
    one = tensor(left, element)
    return (
        f'%m = "tile.reduce"(%s) {attributes} : (!S) -> {one}\n'
        f'%r = "tile.expand"(%m) {{axis = {axis}}} : ({one}) -> !R'
    )


@pytest.fixture(scope="session")
def reduce(run_tile, tensor_text):
    def run(layout, axis, name, element, values, target="sm_90"):
        left = expand(drop_dim(layout, axis), axis)
        ops = body(axis, name, layout, element, tensor_text)
        dtype = DTYPES[element]
        return run_tile(layout, left, (element, element), ops, values, dtype, target=target)

    return run


@settings(ALL, max_examples=60)
@given(st.data())
def test_any_layout(reduce, tile_layouts, data):
    shape = data.draw(
        st.sampled_from([(64,), (256,), (32, 8), (8, 32), (4, 64), (16, 16), (4, 8, 8), (2, 4, 32)])
    )
    layout = data.draw(tile_layouts(shape, data.draw(st.sampled_from([1, 1, 2, 4]))))
    axis = data.draw(st.integers(0, len(shape) - 1))
    element = data.draw(st.sampled_from(list(DTYPES)))
    names = [n.removeprefix("arith.") for n in REDUCTIONS]
    name = data.draw(st.sampled_from([n for n in names if n.endswith("f") == (element in FLOATS)]))
    values = numbers(name, shape, DTYPES[element], data.draw(st.integers(0, 9)))
    target = data.draw(st.sampled_from(["sm_75", "sm_80", "sm_90", "sm_120"]))
    got, _ = reduce(layout, axis, name, element, values, target)
    same(got, reference(name, values, axis))


_MIXED = """
    %i = "tile.iota"() {{axis = 0}} : () -> !T
    %j = "tile.iota"() {{axis = 1}} : () -> !T
    %a = arith.constant dense<1234567> : !T
    %b = arith.constant dense<89> : !T
    %ia = arith.muli %i, %a : !T
    %jb = arith.muli %j, %b : !T
    %x = arith.xori %ia, %jb : !T
    %v = "tile.reduce"(%x) {{axis = {axis}, fn = "arith.addi"}} : (!T) -> !V
    %k = "tile.iota"() {{axis = 0}} : () -> !V
    %w = arith.muli %v, %k : !V
    %y = "tile.reduce"(%w) {{axis = 0, fn = "arith.xori"}} : (!V) -> i32
    %r = "tile.fill"(%y) : (i32) -> !R
"""


@settings(ALL, max_examples=30)
@given(st.data())
def test_any_mixture_of_bits(run_tile, tensor_text, tile_layouts, data):
    """Of the indices, which no memory holds: registers and lanes that set the same bits."""
    rows, cols = data.draw(st.sampled_from([(8, 16), (4, 64), (32, 32)]))
    layout = data.draw(tile_layouts((rows, cols), 1, mixed=True))
    axis = data.draw(st.integers(0, 1))
    one = row_tile(1, 32, 1, 1)
    types = {"!T": layout, "!V": drop_dim(layout, axis)}
    got, _ = run_tile(
        one,
        one,
        ("i32", "i32"),
        _MIXED.format(axis=axis),
        np.zeros((1, 32), np.int32),
        np.int32,
        types="\n".join(f"{name} = {tensor_text(of, 'i32')}" for name, of in types.items()),
    )
    i, j = np.indices((rows, cols), dtype=np.int32)
    left = ((i * 1234567) ^ (j * 89)).sum(axis=axis, dtype=np.int32)
    wanted = np.bitwise_xor.reduce(left * np.arange(len(left), dtype=np.int32))
    assert (got == wanted).all()


@pytest.mark.parametrize("name", [n.removeprefix("arith.") for n in REDUCTIONS])
def test_every_function(reduce, mma_form, name):
    """An accumulator's rows and columns, one warp and several."""
    element = "f32" if name.endswith("f") else "i32"
    values = numbers(name, (64, 32), DTYPES[element])
    layout = operand_tile(mma_form, "c", 64, 32, (2, 2))
    for axis in (0, 1):
        got, _ = reduce(layout, axis, name, element, values)
        same(got, reference(name, values, axis))


@pytest.mark.parametrize("warps", [(4, 1), (1, 4)])
def test_the_order_of_a_sum_is_one_of_all(reduce, mma_form, warps):
    """Fractions: pairwise sums of n numbers are off by at most log2(n) roundings of the sizes."""
    values = np.random.default_rng(1).normal(size=(128, 64)).astype(np.float32)
    layout = operand_tile(mma_form, "c", 128, 64, warps)
    got, _ = reduce(layout, 1, "addf", "f32", values)
    exact = values.astype(np.float64).sum(axis=1, keepdims=True)
    bound = 6 * 2.0**-24 * np.abs(values.astype(np.float64)).sum(axis=1, keepdims=True)
    assert (np.abs(got - exact) <= bound).all()
    assert (got != exact.astype(np.float32)).any()  # the bound is not idle


@pytest.mark.parametrize(("name", "function"), [("andi", np.all), ("ori", np.any)])
@pytest.mark.parametrize("warps", [(4, 1), (1, 4)])
def test_conditions(run_tile, tensor_text, mma_form, warps, name, function):
    """Whether all, or any, of a row's elements are positive; and of the whole tile's."""
    layout = operand_tile(mma_form, "c", 64, 32, warps)
    left = drop_dim(layout, 1)
    types = {
        "!B": tensor_text(layout, "i1"),
        "!M": tensor_text(left, "i1"),
        "!E": tensor_text(expand(left, 1), "i1"),
        "!Z": tensor_text(expand(left, 1), "i32"),
    }
    body = (
        "%z = arith.constant dense<0> : !S\n"
        "%b = arith.cmpi sgt, %s, %z : !S\n"
        f'%m = "tile.reduce"(%b) {{axis = 1, fn = "arith.{name}"}} : (!B) -> !M\n'
        f'%a = "tile.reduce"(%m) {{axis = 0, fn = "arith.{name}"}} : (!M) -> i1\n'
        '%e = "tile.expand"(%m) {axis = 1} : (!M) -> !E\n'
        "%w = arith.extui %e : !E to !Z\n"
        "%two = arith.constant 2 : i32\n"
        "%wide = arith.extui %a : i1 to i32\n"
        "%twice = arith.muli %wide, %two : i32\n"
        '%t = "tile.fill"(%twice) : (i32) -> !Z\n'
        "%r = arith.addi %w, %t : !Z"
    )
    random = np.random.default_rng(3)
    for share in (0.0, 0.03, 0.97, 1.0):
        values = (random.random((64, 32)) < share).astype(np.int32)
        got, _ = run_tile(
            layout,
            expand(left, 1),
            ("i32", "i32"),
            body,
            values,
            np.int32,
            types="\n".join(f"{alias} = {type_}" for alias, type_ in types.items()),
        )
        wanted = function(values, axis=1, keepdims=True) + 2 * function(values)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_nibbles(run_tile, tensor_text, mma_form, axis):
    """Sums of i4 wrap around; eight of them share a register."""
    layout = operand_tile(mma_form, "c", 32, 32, (2, 2))
    left = expand(drop_dim(layout, axis), axis)
    wide, narrow = tensor_text(layout, "i4"), tensor_text(drop_dim(layout, axis), "i4")
    one = tensor_text(left, "i4")
    body = (
        f"%n = arith.trunci %s : !S to {wide}\n"
        f'%m = "tile.reduce"(%n) {{axis = {axis}, fn = "arith.addi"}} : ({wide}) -> {narrow}\n'
        f'%e = "tile.expand"(%m) {{axis = {axis}}} : ({narrow}) -> {one}\n'
        f"%r = arith.extsi %e : {one} to !R"
    )
    values = np.random.default_rng(5).integers(-8, 8, (32, 32)).astype(np.int32)
    got, _ = run_tile(layout, left, ("i32", "i32"), body, values, np.int32)
    wanted = (values.sum(axis=axis, keepdims=True) + 8) % 16 - 8
    np.testing.assert_array_equal(got, wanted)


def _count(ptx, mnemonic):
    return len(re.findall(rf"^\s*{re.escape(mnemonic)}", ptx, re.MULTILINE))


@pytest.mark.parametrize(
    ("element", "axis", "shuffles"),
    [
        # 64x64 over (4, 1) warps: a lane has 2 rows, 16 columns. A row is in 4 lanes, a
        # column in 8.
        ("f32", 1, 2 * 2),
        ("f32", 0, None),
        ("f16", 1, 2),  # both rows in a word
        ("f64", 1, 2 * 2 * 2),
        ("i8", 1, 2),
    ],
)
def test_shuffles_are_as_few_as_there_are_words_and_lanes(
    reduce, mma_form, element, axis, shuffles
):
    layout = operand_tile(mma_form, "c", 64, 64, (4, 1))
    name = "maximumf" if element in FLOATS else "maxsi"
    values = numbers(name, (64, 64), DTYPES[element])
    got, ptx = reduce(layout, axis, name, element, values)
    same(got, reference(name, values, axis))
    if shuffles is None:  # 16 columns over 8 lanes; then what 4 warps have, in registers
        shuffles = 16 * 3
    assert _count(ptx, "shfl.sync.bfly.b32") == shuffles
    assert _count(ptx, "shfl.sync") == shuffles


def test_columns_of_packed_accumulators(reduce, mma_form):
    """Neighbouring columns of f16 are in one word, and stay: half the shuffles, vector ops."""
    layout = operand_tile(mma_form, "c", 64, 64, (1, 1))
    values = numbers("addf", (64, 64), np.float16)
    got, ptx = reduce(layout, 0, "addf", "f16", values)
    same(got, reference("addf", values, 0))
    assert _count(ptx, "shfl.sync.bfly.b32") == 8 * 3
    assert _count(ptx, "add.rn.f16x2") == 8 * (7 + 3)
    assert _count(ptx, "add.rn.f16 ") == 0


def test_copies_are_not_exchanged(reduce):
    """A tile that all lanes hold whole needs no lane of them."""
    layout = row_tile(2, 2, 1, 1)
    values = numbers("addf", (2, 2), np.float32)
    got, ptx = reduce(layout, 1, "addf", "f32", values)
    same(got, reference("addf", values, 1))
    assert _count(ptx, "shfl.sync") == 1


@pytest.mark.parametrize(("target", "has"), [("sm_75", False), ("sm_80", True)])
def test_integers_of_a_whole_warp_are_reduced_at_once(reduce, target, has):
    layout = row_tile(8, 128, 4, 1)
    values = numbers("addi", (8, 128), np.int32)
    got, ptx = reduce(layout, 1, "addi", "i32", values, target)
    same(got, reference("addi", values, 1))
    assert _count(ptx, "redux.sync.add") == (8 if has else 0)
    assert _count(ptx, "shfl.sync") == (0 if has else 8 * 5)


def test_part_of_a_warp_is_not(reduce):
    layout = fragment("m16n8k32", "c", "s32").rename({})
    layout = layout * layout.zeros(1, "warp")
    values = numbers("addi", (16, 8), np.int32)
    got, ptx = reduce(layout, 1, "addi", "i32", values)
    same(got, reference("addi", values, 1))
    assert _count(ptx, "redux.sync") == 0
    assert _count(ptx, "shfl.sync") == 2 * 2
