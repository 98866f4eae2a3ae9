"""Builders: types inferred, places of calls in ops and errors, what a wrong call says."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.frontend.parsing import operations
from tilec.ir.mlir import dialect, ir

FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
MEMORY = "memref<?x?xf16, strided<[?, 1]>>"


@pytest.fixture
def memory() -> Iterator[Any]:
    """A memref, in a kernel that is being built."""
    with tile.module("m"), tile.kernel("k", {"x": MEMORY}, block=32) as (x,):
        yield x


def here() -> tuple[str, int]:
    """File and line of the caller."""
    frame = inspect.stack()[1]
    return frame.filename, frame.lineno


def test_types_are_inferred(memory: Any) -> None:
    a, b, c = (tile.operand_fragment(FORM, name) for name in "abc")
    loaded = tile.load(memory, 0, 0, type=a)
    zero = tile.fill(0.0, c)
    product = tile.mma(FORM, loaded, tile.load(memory, 0, 0, type=b), zero)
    assert product.type == c
    assert tile.elementwise("arith.addf", product, zero).type == c
    narrow = tile.cast("arith.truncf", product, "f16")
    assert "tensor<16x8xf16>" in str(narrow.type)
    assert str(narrow.type.layout) == str(c.layout)
    pair = tile.frag_type((16, 16), "f16", "m16n8k16 a f16")
    assert tile.concat([narrow, narrow], type=pair).type == pair
    part = tile.slice(loaded, 1, type=narrow.type)
    assert part.type == narrow.type


def test_tensors_are_inferred(memory: Any) -> None:
    one_warp = (1, 1)
    a = tile.operand_tensor(FORM, "a", 32, 32, warps=one_warp)
    b = tile.operand_tensor(FORM, "b", 32, 16, warps=one_warp)
    c = tile.operand_tensor(FORM, "c", 32, 16, warps=one_warp)
    fa, fb = tile.load(memory, 0, 0, type=a), tile.load(memory, 0, 0, type=b)
    product = tile.dot(FORM, fa, fb, tile.fill(0.0, c))
    assert product.type == c
    registers, lanes = "[0,1] [0,2] [0,4] [0,8]", "[1,0] [2,0] [4,0] [8,0] [16,0]"
    other = f"register {registers}; lane {lanes}; warp -> row 32, col 16"
    assert tile.convert_layout(product, other).type == tile.tensor_type((32, 16), "f32", other)


def test_views_are_inferred(memory: Any) -> None:
    """At every level: of a fragment, of a tile of four warps, of one without a layout."""
    rows = tile.reduce("arith.maximumf", tile.fill(0.0, tile.operand_fragment(FORM, "c")), 1)
    layout = "register [8]; lane [0] [0] [1] [2] [4] -> row 16"
    assert rows.type == tile.frag_type((16,), "f32", layout)
    one = tile.expand(rows, 1)
    wide = tile.operand_fragment(FORM, "c")
    assert tile.broadcast(one, type=wide).type == wide
    c = tile.operand_tensor(FORM, "c", 64, 32, warps=(4, 1))
    turned = tile.transpose(tile.fill(0.0, c))
    assert turned.type.shape == [32, 64]
    assert tile.reshape(turned, (4, 8, 64)).type.shape == [4, 8, 64]
    plain = tile.iota(1, type=ir.Type.parse("tensor<8x16xi32>"))
    assert str(tile.reduce("arith.addi", plain, 0).type) == "tensor<16xi32>"
    assert str(tile.transpose(tile.expand(plain, 0), (1, 2, 0)).type) == "tensor<8x16x1xi32>"
    total = tile.reduce("arith.addi", tile.reshape(plain, (128,)), 0)
    assert str(total.type) == "i32"


def test_shared_memory(memory: Any) -> None:
    buffer = tile.alloc_shared((2, 16, 64), "f16", "128B")
    assert buffer.type == tile.shared_type((2, 16, 64), ir.F16Type.get(), "128B")
    tile.async_copy(memory, (0, 0), buffer, (1, 0, 0), vector=8)
    copy = list(ir.InsertionPoint.current.block.operations)[-1]
    assert list(copy.attributes["shape"]) == [16, 64]
    tile.async_commit()
    tile.async_wait(1)
    assert int(list(ir.InsertionPoint.current.block.operations)[-1].attributes["pending"]) == 1
    form = "ldmatrix.sync.aligned.m8n8.x4.b16"
    a = tile.operand_fragment(FORM, "a")
    loaded = tile.ldmatrix(form, buffer, 1, 0, 16, type=a)
    tile.stmatrix(form.replace("ld", "st"), loaded, buffer, 0, 0, 16)
    tile.store(loaded, buffer, 0, 0, 0)


def test_indices_may_be_numbers(memory: Any) -> None:
    a = tile.operand_fragment(FORM, "a")
    three = tile.index(3)
    loaded = tile.load(memory, three, 4, type=a)
    _, row, col = loaded.owner.operands
    assert row == three
    assert int(col.owner.attributes["value"]) == 4


def test_ops_are_located_at_the_call(memory: Any) -> None:
    a = tile.operand_fragment(FORM, "a")
    loaded, place = tile.load(memory, 0, 0, type=a), here()
    location = loaded.owner.location
    assert (location.filename, location.start_line) == place
    assert (
        location.start_col
        == inspect.getsource(test_ops_are_located_at_the_call).splitlines()[2].index("tile.load")
        + 1
    )


def test_upstream_ops_are_located_at_the_call(memory: Any) -> None:
    total, place = dialect("arith").addi(tile.index(1), tile.index(2)), here()
    location = total.owner.location
    if not hasattr(location, "child_loc"):
        pytest.skip("these bindings give upstream's ops no place on this Python")
    location = location.child_loc
    assert (location.filename, location.start_line) == place


def test_calls_through_functions_of_the_user(memory: Any) -> None:
    def mine(number: int) -> Any:
        return tile.index(number), here()

    value, place = mine(5)
    assert (value.owner.location.filename, value.owner.location.start_line) == place


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an index that is none": (
        lambda x: tile.load(x, 0, "1", type=tile.operand_fragment(FORM, "a")),
        "'tile.load' op takes MLIR values, not '1'",
    ),
    "too few indices": (
        lambda x: tile.load(x, 0, type=tile.operand_fragment(FORM, "a")),
        "takes 2 indices",
    ),
    "an unknown form": (
        lambda x: tile.operand_fragment("mma.sync.aligned.m16n8k17.row.col", "a"),
        "nearest legal: mma.sync.aligned",
    ),
    "an unknown operand": (lambda x: tile.operand_fragment(FORM, "q"), "has no operand 'q'"),
    "an operand in another's place": (
        lambda x: tile.mma(FORM, *[tile.fill(0.0, tile.operand_fragment(FORM, "c"))] * 3),
        "operand a of mma.sync.aligned.m16n8k16",
    ),
    "a type that does not parse": (
        lambda x: tile.alloc_shared((8, 8), "half"),
        "'half' is not an MLIR type",
    ),
    "an unknown swizzle": (
        lambda x: tile.alloc_shared((8, 8), "f16", "256B"),
        "unknown swizzle '256B'",
    ),
    "a layout of another tile": (
        lambda x: tile.frag_type((8, 8), "f16", "m16n8k16 a f16"),
        "is of a 16x16 tile",
    ),
    "a number of another type": (
        lambda x: tile.fill("0", tile.operand_fragment(FORM, "c")),
        "'0' is not a constant of type f32",
    ),
    "a scalar where a tile is wanted": (
        lambda x: tile.cast("arith.truncf", tile.index(0), "f16"),
        "operand must be a tensor with a #tile.layout",
    ),
    "an unknown function": (
        lambda x: tile.elementwise("arith.add", tile.fill(0.0, tile.operand_fragment(FORM, "c"))),
        "unknown elementwise op 'arith.add'",
    ),
    "a part that does not exist": (
        lambda x: tile.slice(
            tile.fill(0.0, tile.operand_fragment(FORM, "a")),
            4,
            type=tile.frag_type((16, 8), "f16", "m16n8k8 a f16"),
        ),
        "index 4 is outside the 2 parts",
    ),
    "an axis that does not exist": (
        lambda x: tile.reduce("arith.addf", tile.fill(0.0, tile.operand_fragment(FORM, "c")), 2),
        "axis 2 is outside the 2 dimensions",
    ),
    "a permutation that is none": (
        lambda x: tile.transpose(tile.fill(0.0, tile.operand_fragment(FORM, "c")), (0, 0)),
        "permutation must contain each of 0 to 1 once",
    ),
    "a shape of other elements": (
        lambda x: tile.reshape(tile.fill(0.0, tile.operand_fragment(FORM, "c")), (64,)),
        "16x8 elements cannot be 64",
    ),
    "a buffer for a matrix in global memory": (
        lambda x: tile.async_copy(x, (0, 0), x, (0, 0), shape=(8, 8)),
        "target must be in the space",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(memory: Any, name: str) -> None:
    """The error is one of tilec's, says where the call stands, and leaves no op after."""
    call, message = WRONG[name]
    with pytest.raises(tile.BuildError, match=re.escape(message)) as caught:
        call(memory)
    assert isinstance(caught.value, tilec.TilecError)
    place = caught.value.place
    lines, first = inspect.getsourcelines(call)
    assert place.file == __file__
    assert first <= place.line < first + len(lines)
    assert str(caught.value).startswith(f"{__file__}:{place.line}:{place.column}: ")
    text = lines[place.line - first]
    assert text[place.column - 1 :].startswith("tile.")
    left = {op.operation.name for op in ir.InsertionPoint.current.block.operations}
    assert left <= {"arith.constant", "tile.fill"}


def a_loop_without_a_yield() -> None:
    with tile.module("m"), tile.kernel("k", {}, block=32):
        for _ in dialect("scf").for_(0, 4, 1):
            tile.index(5)


def test_an_illegal_op_of_upstream_is_found_at_the_end() -> None:
    with pytest.raises(tile.BuildError, match="terminator") as caught:
        a_loop_without_a_yield()
    last_of_loop = inspect.getsourcelines(a_loop_without_a_yield)[1] + 3
    assert caught.value.place.line == last_of_loop


def test_kernels() -> None:
    """Names, block, target; several kernels in one module; what the launch is told."""
    with tile.module("two", target="sm_90a") as module:
        with tile.kernel("one", {"x": MEMORY, "n": "index"}, block=(8, 4, 2)) as (x, n):
            assert str(x.type) == MEMORY
            assert isinstance(n.type, ir.IndexType)
        with tile.kernel("other", {"alpha": ir.F32Type.get()}, block=64):
            pass
    compiled = tilec.compile(module)
    assert str(compiled.target) == "sm_90a"
    one, other = compiled.kernels
    assert (one.name, one.block, [a.name for a in one.arguments]) == ("one", (8, 4, 2), ["x", "n"])
    assert (other.name, other.block) == ("other", (64, 1, 1))
    assert ".visible .entry one" in compiled.ptx


def test_modules_are_independent() -> None:
    """One built while another is open has a context of its own."""
    with tile.module("outer") as outer, tile.kernel("k", {}, block=32):
        with tile.module("inner") as inner, tile.kernel("k", {}, block=32):
            tile.index(1)
        tile.index(2)
    assert outer.context is not inner.context
    assert "constant 2" in str(outer)
    assert "constant 1" in str(inner)
    assert "constant 1" not in str(outer)


def test_every_op_has_a_builder() -> None:
    names = {name.removeprefix("tile.") for name in operations()}
    assert names <= set(tile.__all__)


SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
)


def filled(form: str, names: str, *further: str) -> list[Any]:
    types = [tile.operand_fragment(form, name) for name in (*names, *further)]
    numbers = [0 if isinstance(t.tile.element_type, ir.IntegerType) else 0.0 for t in types]
    return [tile.fill(n, t) for n, t in zip(numbers, types, strict=True)]


def test_sparse_and_scaled_products(memory: Any) -> None:
    a, b, c = filled(SPARSE, "abc")
    e = tile.load(tile.alloc_shared((16, 32), "i8"), 0, 0, type=tile.operand_fragment(SPARSE, "e"))
    product = tile.mma_sp(SPARSE, a, b, c, e, selector=1)
    assert product.type == c.type
    assert int(product.owner.attributes["selector"]) == 1
    a, b, c, sfa, sfb = filled(SCALED, "abc", "sfa", "sfb")
    product = tile.mma_scaled(SCALED, a, b, c, sfa, sfb, byte_id_b=2)
    assert product.type == c.type
    assert int(product.owner.attributes["byte_id_b"]) == 2


def test_wmma() -> None:
    multiply = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    with (
        tile.module("m"),
        tile.kernel("k", {"x": MEMORY, "y": MEMORY.replace("f16", "f32")}, block=32) as (x, y),
    ):
        a = tile.wmma_load("wmma.load.a.sync.aligned.row.m16n16k16.f16", x, 0, 0)
        b = tile.wmma_load("wmma.load.b.sync.aligned.col.m16n16k16.f16", x, 0, 0)
        c = tile.wmma_fill(0.0, tile.operand_fragment(multiply, "c"))
        d = tile.wmma_elementwise("arith.addf", tile.wmma_mma(multiply, a, b, c), c)
        assert str(d.type) == '!tile.wmma<"m16n16k16 c f32">'
        tile.wmma_store("wmma.store.d.sync.aligned.row.m16n16k16.f32", d, y, 0, 0)


def test_movmatrix(memory: Any) -> None:
    form = "movmatrix.sync.aligned.m8n8.trans.b16"
    rows = "register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8"
    moved = tile.movmatrix(form, tile.load(memory, 0, 0, type=tile.frag_type((8, 8), "f16", rows)))
    columns = "register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8"
    assert moved.type == tile.frag_type((8, 8), "f16", columns)
