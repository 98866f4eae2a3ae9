"""Tensor copies against numpy and formulas coded apart: boxes, swizzles, im2col, reductions."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from tilec.sim import Im2col, LaunchError, PtxError, Report, TensorMap, launch
from tilec.sim.map_bytes import Descriptor

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[65536];
.shared .align 8 .b64 full;
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out, .param .u32 bytes,
                  .param .s32 c0, .param .s32 c1, .param .s32 c2, .param .s32 c3, .param .s32 c4)
{
 .reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg .b16 %h<4>;
 mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [bytes];
 ld.param.u32 %r20, [c0]; ld.param.u32 %r21, [c1]; ld.param.u32 %r22, [c2];
 ld.param.u32 %r23, [c3]; ld.param.u32 %r24, [c4];
 mov.u32 %r2, %tid.x; mov.u32 %r3, tile; mov.u32 %r4, full; setp.eq.u32 %p1, %r2, 0;
 mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u16 %h3, 0;
"""
LOAD = """
 @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
 bar.sync 0;
 @!%p1 bra WAIT;
 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %r1;
 COPY
WAIT:
 mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
 @!%p2 bra WAIT;
"""
DUMP = """
 shl.b32 %r5, %r2, 4;
NEXT:
 setp.ge.u32 %p2, %r5, %r1; @%p2 bra END;
 add.u32 %r6, %r3, %r5; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];
 cvt.u64.u32 %rd3, %r5; add.s64 %rd3, %rd2, %rd3; st.global.v4.u32 [%rd3], {%r7, %r8, %r9, %r10};
 add.u32 %r5, %r5, 512; bra NEXT;
END:
 ret;
}
"""
FILL = """
 shl.b32 %r5, %r2, 4;
NEXT:
 setp.ge.u32 %p2, %r5, %r1; @%p2 bra DONE;
 cvt.u64.u32 %rd3, %r5; add.s64 %rd3, %rd2, %rd3; ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd3];
 add.u32 %r6, %r3, %r5; st.shared.v4.u32 [%r6], {%r7, %r8, %r9, %r10};
 add.u32 %r5, %r5, 512; bra NEXT;
DONE:
 fence.proxy.async.shared::cta;
 bar.sync 0;
 @!%p1 bra END;
 COPY
 cp.async.bulk.commit_group;
 cp.async.bulk.wait_group.read 0;
END:
 ret;
}
"""
COMPLETION = "mbarrier::complete_tx::bytes"


def coordinates(rank: int) -> str:
    return "{" + ", ".join(f"%r{20 + i}" for i in range(rank)) + "}"


def load_text(rank: int, *, im2col: bool = False, offsets: str = "") -> str:
    kind = "im2col" if im2col else "tile"
    copy = (
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{kind}.{COMPLETION} "
        f"[%r3], [%rd1, {coordinates(rank)}], [%r4]{offsets};"
    )
    return HEAD + LOAD.replace("COPY", copy) + DUMP


def store_text(rank: int, operation: str = "") -> str:
    head = f"cp.reduce.async.bulk.tensor.{rank}d" if operation else f"cp.async.bulk.tensor.{rank}d"
    copy = (
        f"{head}.global.shared::cta{operation and '.' + operation}.tile.bulk_group "
        f"[%rd1, {coordinates(rank)}], [%r3];"
    )
    return HEAD + FILL.replace("COPY", copy)


def run(text: str, map_: TensorMap, data: np.ndarray, first: tuple[int, ...]) -> Report:
    at = (*first, 0, 0, 0, 0, 0)[:5]
    return launch(text, "k", 1, 32, [map_, data, data.nbytes, *at])


def swizzle(data: np.ndarray, mode: str) -> np.ndarray:
    """Bytes of a packed box as they lie in shared memory: guide, `smem[y][((y / n) % m) ^ x]`."""
    width = {"none": 1, "32B": 2, "64B": 4, "128B": 8}[mode]
    chunks = data.view(np.uint8).reshape(-1, 16)
    found = np.empty_like(chunks)
    for index, chunk in enumerate(chunks):
        line, x = divmod(index, 8)
        found[line * 8 + (x ^ (line % width))] = chunk
    return found.reshape(-1)


def box_of(
    array: np.ndarray, first: tuple[int, ...], box: tuple[int, ...], steps: tuple[int, ...], fill
) -> np.ndarray:
    """The elements of a box, in the array's order of dimensions."""
    ranges = [
        range(at, at + extent, step) for at, extent, step in zip(first, box, steps, strict=True)
    ]
    found = np.full([len(r) for r in ranges], fill, array.dtype)
    for place in itertools.product(*(range(len(r)) for r in ranges)):
        at = tuple(r[i] for r, i in zip(ranges, place, strict=True))
        if all(0 <= i < n for i, n in zip(at, array.shape, strict=True)):
            found[place] = array[at]
    return found


ARRAYS = [
    # shape, dtype, box, first, steps
    ((100,), np.float32, (32,), (80,), (1,)),
    ((40, 72), np.float16, (16, 64), (-3, 16), (1, 1)),
    ((40, 80), np.uint8, (8, 16), (36, 70), (1, 1)),
    ((5, 9, 24), np.int32, (2, 4, 8), (4, 7, -4), (1, 1, 1)),
    ((9, 20, 64), ml_dtypes.bfloat16, (4, 8, 32), (2, 3, 8), (2, 3, 1)),
    ((3, 4, 5, 16), np.float64, (2, 2, 3, 2), (1, -1, 3, 14), (1, 1, 1, 1)),
    ((2, 3, 4, 5, 16), np.uint16, (2, 2, 2, 2, 16), (1, 2, 3, 4, 8), (1, 1, 2, 1, 1)),
]


@pytest.mark.parametrize(("shape", "dtype", "box", "first", "steps"), ARRAYS)
@pytest.mark.parametrize("fill", ["zeros", "nan"])
def test_loads(shape, dtype, box, first, steps, fill) -> None:
    if fill == "nan" and not np.issubdtype(dtype, np.floating):
        pytest.skip("floats alone have NaNs")
    array = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)
    expected = box_of(array, first, box, steps, np.nan if fill == "nan" else 0)
    found = np.zeros(expected.shape, dtype)
    map_ = TensorMap(array, box=box, element_strides=steps, fill=fill)
    run(load_text(len(shape)), map_, found, first[::-1]).require_ok()
    equal_nan = np.issubdtype(np.dtype(dtype), np.floating)
    assert np.array_equal(found, expected, equal_nan=equal_nan)


@pytest.mark.parametrize("mode", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32])
def test_swizzles(mode: str, dtype: type) -> None:
    width = {"none": 64, "32B": 32, "64B": 64, "128B": 128}[mode] // np.dtype(dtype).itemsize
    array = np.random.default_rng(0).integers(1, 200, (50, 128)).astype(dtype)
    found = np.zeros(32 * width * array.itemsize, np.uint8)
    map_ = TensorMap(array, box=(32, width), swizzle=mode)
    run(load_text(2), map_, found, (16 // array.itemsize, 30)).require_ok()
    expected = box_of(array, (30, 16 // array.itemsize), (32, width), (1, 1), 0)
    assert np.array_equal(found, swizzle(np.ascontiguousarray(expected), mode))
    # And back: what the array lacks is not written.
    copy = np.zeros_like(array)
    back = TensorMap(copy, box=(32, width), swizzle=mode)
    run(store_text(2), back, found, (16 // array.itemsize, 30)).require_ok()
    inside = np.zeros(array.shape, np.bool_)
    inside[30:62, 16 // array.itemsize : 16 // array.itemsize + width] = True
    assert np.array_equal(copy, np.where(inside, array, 0))


@pytest.mark.parametrize(("shape", "dtype", "box", "first", "steps"), ARRAYS)
def test_stores(shape, dtype, box, first, steps) -> None:
    first = tuple(max(at, 0) for at in first)
    counts = [-(-extent // step) for extent, step in zip(box, steps, strict=True)]
    data = np.arange(1, np.prod(counts) + 1).reshape(counts).astype(dtype)
    found, expected = np.zeros(shape, dtype), np.zeros(shape, dtype)
    map_ = TensorMap(found, box=box, element_strides=steps)
    run(store_text(len(shape)), map_, data, first[::-1]).require_ok()
    for place in itertools.product(*map(range, counts)):
        at = tuple(f + p * s for f, p, s in zip(first, place, steps, strict=True))
        if all(i < n for i, n in zip(at, shape, strict=True)):
            expected[at] = data[place]
    assert np.array_equal(found, expected)


def rows_text(way: str) -> str:
    """A copy of four rows, gathered or scattered."""
    if way == "gather":
        copy = (
            f"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.{COMPLETION} "
            f"[%r3], [%rd1, {coordinates(5)}], [%r4];"
        )
        text = HEAD + LOAD.replace("COPY", copy) + DUMP
    else:
        copy = (
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
            f"[%rd1, {coordinates(5)}], [%r3];"
        )
        text = HEAD + FILL.replace("COPY", copy)
    return text.replace(".target sm_90a", ".target sm_100a")


ROWS = [(7, 0, 30, 3), (5, 5, 5, 5), (49, -1, 50, 8)]


@pytest.mark.parametrize("mode", ["none", "128B"])
@pytest.mark.parametrize("rows", ROWS)
def test_gathers_and_scatters(rows: tuple[int, ...], mode: str) -> None:
    """Rows in any order; what lies outside of the array is filled in, and not written."""
    array = np.random.default_rng(0).integers(1, 200, (50, 104)).astype(np.float16)
    map_ = TensorMap(array, box=(1, 64), swizzle=mode)
    expected = np.zeros((4, 64), np.float16)
    for line, row in enumerate(rows):
        if 0 <= row < 50:
            expected[line, :56] = array[row, 48:]
    found = np.zeros(expected.nbytes, np.uint8)
    run(rows_text("gather"), map_, found, (48, *rows)).require_ok()
    assert np.array_equal(found, swizzle(expected, mode))
    if len(set(rows)) < len(rows):
        return  # of rows that go to one place any may remain
    copy, wanted = np.zeros_like(array), np.zeros_like(array)
    back = TensorMap(copy, box=(1, 64), swizzle=mode)
    run(rows_text("scatter"), back, found, (48, *rows)).require_ok()
    for row in rows:
        if 0 <= row < 50:
            wanted[row, 48:] = array[row, 48:]
    assert np.array_equal(copy, wanted)


def test_rows_take_boxes_of_one_row() -> None:
    array, found = np.zeros((50, 104), np.float16), np.zeros(512, np.uint8)
    report = run(rows_text("gather"), TensorMap(array, box=(4, 64)), found, (0, 1, 2, 3, 4))
    assert "its box has 4 rows; tile::gather4 takes boxes of one" in str(report.findings)
    text = rows_text("gather").replace(coordinates(5), coordinates(2))
    with pytest.raises(PtxError, match="takes 5 coordinates"):
        run(text, TensorMap(array, box=(1, 64)), found, (0, 1))


REDUCTIONS = [
    ("add", np.uint32, np.add), ("add", np.float32, np.add), ("add", np.float16, np.add),
    ("add", ml_dtypes.bfloat16, np.add), ("min", np.int32, np.minimum),
    ("max", np.float16, np.maximum), ("and", np.uint32, np.bitwise_and),
    ("or", np.uint64, np.bitwise_or), ("xor", np.uint32, np.bitwise_xor),
    ("inc", np.uint32, lambda old, new: np.where(old >= new, 0, old + 1)),
    ("dec", np.uint32, lambda old, new: np.where((old == 0) | (old > new), new, old - 1)),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "dtype", "function"), REDUCTIONS)
def test_reductions(operation, dtype, function) -> None:
    rng = np.random.default_rng(1)
    array, data = (rng.integers(0, 9, (8, 16)).astype(dtype) for _ in range(2))
    expected = function(array, data).astype(dtype)
    map_ = TensorMap(array, box=(8, 16))
    run(store_text(2, operation), map_, data, (0, 0)).require_ok()
    assert np.array_equal(array, expected)


@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (2, 3)])
def test_im2col(steps: tuple[int, int]) -> None:
    """A 3x3 filter's pixels (h + 2, w + 1) of images of 6x5, a border of one pixel filled in."""
    n, h, w, c = 3, 6, 5, 16
    array = np.arange(1, n * h * w * c + 1).reshape(n, h, w, c).astype(np.int32)
    pixels, channels, first = 20, 8, (4, -1, 2, 0)  # channel, w, h, image
    box = Im2col((-1, -1), (-1, -1), channels, pixels)
    map_ = TensorMap(array, im2col=box, element_strides=(1, *steps, 1))
    found = np.zeros((pixels, channels), np.int32)
    text = load_text(4, im2col=True, offsets=", {%h1, %h2}")
    run(text, map_, found, first).require_ok()
    # Pixels run along W, then H, then N, inside [lower, extent + upper).
    along_w, along_h = range(-1, w - 1, steps[1]), range(-1, h - 1, steps[0])
    walk = [(i, y, x) for i in range(n) for y in along_h for x in along_w]
    if (0, 2, -1) not in walk:
        walk = [(0, 2 + d, x) for d in range(0, h, steps[0]) if 2 + d < h - 1 for x in along_w] + [
            place for place in walk if place[0] > 0
        ]
    else:
        walk = walk[walk.index((0, 2, -1)) :]
    expected = np.zeros_like(found)
    for number, (image, y, x) in enumerate(walk[:pixels]):
        if 0 <= y + 2 < h and 0 <= x + 1 < w and image < n:
            expected[number] = array[image, y + 2, x + 1, 4:12]
    assert np.array_equal(found, expected)


REPLACE = """
 .shared .align 128 .b8 map[128];
 mov.u32 %r5, map; shl.b32 %r6, %r2, 2; add.u32 %r7, %r5, %r6; mov.u32 %r8, 0;
 st.shared.u32 [%r7], %r8; bar.sync 0;
 @!%p1 bra MADE;
 cvt.u64.u32 %rd5, %r5; cvta.shared.u64 %rd5, %rd5;
 ld.param.u64 %rd6, [c0]; mov.u64 %rd7, 144;
 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r5], %rd4;
 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r5], 1;
 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r5], 0, 64;
 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r5], 1, 16;
 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r5], 0, 72;
 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r5], 1, 40;
 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r5], 0, %rd7;
 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r5], 0, 1;
 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r5], 1, 1;
 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r5], 6;
 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r5], 0;
 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r5], 3;
 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r5], 0;
MADE:
 bar.sync 0;
 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
  [%rd1], [%r5], 128;
 fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
"""


def replace_text() -> str:
    """A map is made in shared memory, published in global memory, and used from there."""
    text = load_text(2).replace(".param .align 64 .b8 m[128]", ".param .u64 m, .param .u64 array")
    text = text.replace(
        "mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;",
        "ld.param.u64 %rd1, [m]; ld.param.u64 %rd4, [array];",
    )
    made = REPLACE.replace(" ld.param.u64 %rd6, [c0];", "")
    return text.replace(" @%p1 mbarrier.init", f"{made} @%p1 mbarrier.init")


def test_a_map_made_on_the_device() -> None:
    text = replace_text()
    array = np.random.default_rng(2).standard_normal((40, 72)).astype(np.float16)
    room, found = np.zeros(256, np.uint8), np.zeros(16 * 128, np.uint8)
    report = launch(text, "k", 1, 32, [room, array, found, found.nbytes, 16, 30, 0, 0, 0])
    report.require_ok()
    expected = box_of(array, (30, 16), (16, 64), (1, 1), 0)
    assert np.array_equal(found, swizzle(np.ascontiguousarray(expected), "128B"))
    told = replace(TensorMap(array, box=(16, 64), swizzle="128B").descriptor, address=0)
    assert replace(Descriptor.decode(room[:128].tobytes()), address=0) == told


BAD_MAPS = [
    (np.zeros((4, 6), np.float16), {"box": (4, 6)}, "dimension 1 has a stride of 12 bytes"),
    (np.zeros((4, 64), np.float16), {"box": (4, 128), "swizzle": "128B"}, "takes 128"),
    (np.zeros((4, 64), np.float16), {"box": (4, 4)}, "rows of the box have 8 bytes"),
    (np.zeros((400, 64), np.float16), {"box": (257, 8)}, "dimension 1 of the box has 257"),
    (np.zeros((4, 64), np.float16), {"box": (4,)}, "the array has 2 dimensions, box 1"),
    (np.zeros((4, 64), np.float16), {"box": (4, 8), "element_strides": (9, 1)}, "stride of 9"),
    (np.zeros((4, 64), np.complex64), {"box": (4, 8)}, "a tensor map of complex64"),
    (np.zeros((4, 64), np.uint16), {"box": (4, 8), "fill": "nan"}, "fill 'nan'"),
    (np.zeros((4, 64), np.uint16), {"box": (4, 8), "swizzle": "256B"}, "legal: none, 32B"),
    (np.zeros((4, 64), np.uint16), {"box": (4, 8), "interleave": "16B"}, "rank 2; legal: 3 to 5"),
    (np.zeros((2,) * 6, np.uint16), {"box": (2,) * 6}, "rank 6"),
    (np.zeros((4, 64), np.uint16).T, {"box": (4, 8)}, "are not contiguous"),
    (np.zeros((4, 64), np.uint16), {}, "either box or im2col"),
]


@pytest.mark.parametrize(("array", "given", "words"), BAD_MAPS)
def test_maps_that_are_not_legal(array: np.ndarray, given: dict[str, object], words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        TensorMap(array, **given)


def test_a_map_is_no_pointer() -> None:
    text = load_text(2).replace(".param .align 64 .b8 m[128]", ".param .u64 m")
    array = np.zeros((40, 72), np.float16)
    with pytest.raises(LaunchError):
        run(text, TensorMap(array, box=(8, 8)), np.zeros(128, np.uint8), (0, 0))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("[%r3], [%rd1", "[%r3+64], [%rd1", "misaligned"),
        ("[%r3], [%rd1", "[%r3+65024], [%rd1", "out-of-bounds"),
        ("[%rd1, ", "[%rd2, ", "tensor-map"),
        ("2d.shared", "1d.shared", "tensor-map"),
    ],
)
def test_copies_that_are_wrong(old: str, new: str, kind: str) -> None:
    text = load_text(2).replace(old, new)
    if "1d" in new:
        text = text.replace("{%r20, %r21}", "{%r20}")
    array, found = np.ones((40, 72), np.float16), np.zeros(2048, np.uint8)
    report = run(text, TensorMap(array, box=(16, 64)), found, (0, 0))
    assert report.findings[0].kind == kind


def test_texts_assemble(assemblers: list) -> None:
    texts = [load_text(rank) for rank in range(1, 6)]
    texts += [store_text(rank) for rank in range(1, 6)]
    texts += [store_text(2, operation) for operation, *_ in REDUCTIONS]
    texts.append(replace_text())
    texts.append(load_text(4, im2col=True, offsets=", {%h1, %h2}"))
    for ptxas in assemblers:
        for text in texts:
            assert ptxas.run(text, "sm_90a") == (0, "")


def changed_map(old: str, new: str) -> tuple[str, Report]:
    """A map made on the device, one of whose fields is another."""
    text = replace_text()
    assert old in text
    text = text.replace(old, new)
    array, room = np.ones((40, 72), np.float16), np.zeros(256, np.uint8)
    found = np.zeros(16 * 128, np.uint8)
    return text, launch(text, "k", 1, 32, [room, array, found, found.nbytes, 16, 30, 0, 0, 0])


BAD_FIELDS = [
    ("[%r5], %rd4;", "[%r5], 24;", "gives .global_address of a tensor map 0x18; legal: multiples"),
    ("b1024.b32 [%r5], 1;\n tensormap.replace.tile.box", "b1024.b32 [%r5], 5;\n tensormap.replace"
     ".tile.box", "gives .rank of a tensor map 5; legal: 0 to 4"),
    ("[%r5], 0, 64;", "[%r5], 0, 257;", "gives .box_dim 0 of a tensor map 257; legal: 1 to 256"),
    ("[%r5], 1, 16;", "[%r5], 1, 0;", "gives .box_dim 1 of a tensor map 0; legal: 1 to 256"),
    ("[%r5], 1, 40;", "[%r5], 1, 0;", "gives .global_dim 1 of a tensor map 0; legal: 1 to"),
    ("%rd7, 144;", "%rd7, 150;", "gives .global_stride 0 of a tensor map 150; legal: multiples of"),
    ("%rd7, 144;", f"%rd7, {1 << 40};",
     f"gives .global_stride 0 of a tensor map {1 << 40}; legal: multiples of 16 up to"),
    ("[%r5], 0, 1;", "[%r5], 0, 9;", "gives .element_stride 0 of a tensor map 9; legal: 1 to 8"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), BAD_FIELDS)
def test_fields_that_are_not_legal(old: str, new: str, words: str) -> None:
    """One finding, at the line that writes the field."""
    text, report = changed_map(old, new)
    (finding,) = report.findings
    assert finding.kind == "tensor-map"
    assert words in finding.message
    field = words.split()[1]
    assert f"tile{field}." in text.splitlines()[finding.line - 1]


BAD_CODES = [
    ("[%r5], 6;", "[%r5], 13;", "gives .elemtype of a tensor map 13; legal: 0 to 12"),
    ("[%r5], 3;", "[%r5], 4;", "gives .swizzle_mode of a tensor map 4; legal: 0 to 3"),
    ("fill_mode.shared::cta.b1024.b32 [%r5], 0", "fill_mode.shared::cta.b1024.b32 [%r5], 2",
     "gives .fill_mode of a tensor map 2; legal: 0 to 1"),
    ("layout.shared::cta.b1024.b32 [%r5], 0", "layout.shared::cta.b1024.b32 [%r5], 3",
     "gives .interleave_layout of a tensor map 3; legal: 0 to 2"),
    ("[%r5], 6;", "[%r5], %r1;", "takes a constant"),
    ("[%r5], 0, 64;", "[%r5], 5, 64;", "takes a constant dimension, 0 to 4"),
    ("[%r5], 0, %rd7;", "[%r5], 4, %rd7;", "takes a constant dimension, 0 to 3"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), BAD_CODES)
def test_codes_that_are_not_legal(old: str, new: str, words: str, assemblers: list) -> None:
    """What ptxas refuses is refused where it is reached; and a fifth stride, which it takes."""
    with pytest.raises(PtxError, match=re.escape(words)):
        changed_map(old, new)
    text = replace_text().replace(old, new).replace(".version 8.6", ".version 8.8")
    if "%rd7" not in new:
        assert all(ptxas.run(text, "sm_90a")[0] for ptxas in assemblers)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[%r5], 0, 64;", "[%r5], 0, 72;", "rows of the box have 144 bytes; swizzle 128B takes"),
        ("[%r5], 0, 64;", "[%r5], 0, 60;", "rows of the box have 120 bytes; legal: multiples"),
        ("rank.shared::cta.b1024.b32 [%r5], 1", "rank.shared::cta.b1024.b32 [%r5], 2", "3 dim"),
        ("layout.shared::cta.b1024.b32 [%r5], 0", "layout.shared::cta.b1024.b32 [%r5], 1",
         "rank 2; legal: 3 to 5 when interleaved"),
    ],
)  # fmt: skip
def test_fields_that_do_not_go_together(old: str, new: str, words: str) -> None:
    """One finding, at the copy: before, other fields might still have been written."""
    text, report = changed_map(old, new)
    (finding,) = report.findings
    assert finding.kind == "tensor-map"
    assert words in finding.message
    assert "cp.async.bulk.tensor" in text.splitlines()[finding.line - 1]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("b1024.b32 [%r5], 6;", "b1024.b32 [%r5+65536], 6;", "out-of-bounds"),
        ("b1024.b32 [%r5], 6;", "b1024.b32 [%r5+-32], 6;", "misaligned"),
        ("  [%rd1], [%r5], 128;", "  [%rd1+192], [%r5], 128;", "out-of-bounds"),
        ("  [%rd1], [%r5], 128;", "  [%rd1], [%r5+65536], 128;", "out-of-bounds"),
    ],
)
def test_places_of_maps_that_are_not_legal(old: str, new: str, kind: str) -> None:
    text, report = changed_map(old, new)
    place = text[: text.index(new)].count("\n") + 1
    assert report.findings[0].kind == kind
    assert report.findings[0].line in (place, place - 1)
