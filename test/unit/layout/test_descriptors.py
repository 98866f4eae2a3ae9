"""Descriptors of wgmma's operands in shared memory, and TMA's boxes, against formulas coded apart.

PTX ISA 9.7.15.5.1: the address of each element that a descriptor tells, for every N, swizzle,
direction and size of element; and 5.5: where a copy of a box puts each.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from tilec.isa import form, forms
from tilec.layout import (
    SWIZZLES,
    Descriptor,
    Digit,
    LayoutError,
    LinearLayout,
    RepeatedLayout,
    SharedMatrix,
    Swizzle,
    find_boxes,
    shared_layout,
    solve_descriptor,
)
from tilec.layout.descriptors import indices
from tilec.tools import tile_layout

B16 = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16"
CHUNKS = {"none": 1, "32B": 2, "64B": 4, "128B": 8}
MODES = {0: "none", 1: "128B", 2: "64B", 3: "32B"}


def address(word, transposed, bits, r, k):
    """The byte of element (r, k), r along M or N, of what a descriptor word tells."""
    start, leading, stride = ((word >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    wide = CHUNKS[MODES[word >> 62]]
    per_chunk = 128 // bits
    if not transposed:
        at = r // 8 * stride + r % 8 * 16 * wide + k % per_chunk * bits // 8
        at += k // per_chunk * (leading if wide == 1 else 16)
    elif wide == 1:
        at = r // per_chunk * stride + k // 8 * leading + k % 8 * 16 + r % per_chunk * bits // 8
    else:
        panel, chunk = divmod(r // per_chunk, wide)
        at = panel * leading + chunk * 16 + k // 8 * stride + k % 8 * 16 * wide
        at += r % per_chunk * bits // 8
    at += start
    return at ^ ((at >> 7) & (wide - 1)) << 4


def operands():
    """A form for each different operand that a descriptor tells, and the operand's name."""
    found = {}
    for one in forms().values():
        if one.family.startswith("wgmma"):
            for name in "ab":
                operand = one.operand(name)
                if not operand.threads:
                    key = (name, operand.type.bits, operand.rows, operand.cols)
                    found.setdefault(key, (one, name))
    return list(found.values())


OPERANDS = operands()


def drawn(extent, most):
    """Numbers below an extent: all up to some, then some of them, the last too."""
    few = {*range(min(extent, most)), *range(0, extent, 5 if extent < 65 else 13), extent - 1}
    return sorted(few)


def check(one, name, matrix, start):
    """Every instruction reads, by the formula, the elements that are its own."""
    operand, (along, k) = one.operand(name), indices(name)
    own = {"row": operand.rows, "col": operand.cols}
    told = solve_descriptor(one, name, matrix)
    assert start % told.alignment == 0
    assert len(told.steps) == matrix.extents[k] // own[k]
    assert len(told.blocks) == matrix.extents[along] // own[along]
    for step, at in enumerate(told.steps):
        for block, further in enumerate(told.blocks):
            word = told.descriptor.encode(start + at + further)
            for r in drawn(own[along], 24):
                for kk in drawn(own[k], 16):
                    place = {along: block * own[along] + r, k: step * own[k] + kk}
                    read = address(word, told.transposed, matrix.bits, r, kk)
                    assert read == matrix.address(start, **place), (place, told)
    return told


def whole_matrix(one, name, swizzle, transposed, steps=4, blocks=2):
    """A matrix as TMA fills it, of so many instructions."""
    operand, (along, k) = one.operand(name), indices(name)
    extents = {"row": operand.rows, "col": operand.cols}
    extents[k] *= steps
    extents[along] *= blocks
    contiguous = along if transposed else k
    return SharedMatrix.panels(extents, operand.type.bits, SWIZZLES[swizzle], contiguous)


@pytest.mark.parametrize("swizzle", CHUNKS)
def test_every_operand_contiguous_along_k(swizzle):
    seen = set()
    for one, name in OPERANDS:
        operand = one.operand(name)
        k_bytes = (operand.cols if name == "a" else operand.rows) * operand.type.bits // 8
        if k_bytes == 64 and swizzle == "32B":
            with pytest.raises(LayoutError, match="64 bytes along K, more than a line of swizzle"):
                solve_descriptor(one, name, whole_matrix(one, name, swizzle, False))
            continue
        matrix = whole_matrix(one, name, swizzle, False, blocks=1 if one.shape.n > 64 else 2)
        told = check(one, name, matrix, 4096)
        line = 16 * CHUNKS[swizzle]
        lines = matrix.extents[indices(name)[0]]
        wanted = (16 * lines, 128) if swizzle == "none" else (16, 8 * line)
        if lines > 8:
            assert (told.descriptor.leading, told.descriptor.stride) == wanted
        # 32 bytes further within a line, then a whole panel.
        assert told.steps == tuple(
            s * k_bytes % line + s * k_bytes // line * lines * line for s in range(4)
        )
        assert not told.transposed
        seen.add((operand.type.bits, one.shape.n))
    assert {bits for bits, _ in seen} == {1, 8, 16, 32}
    assert {n for bits, n in seen if bits == 16} == set(range(8, 257, 8))


@pytest.mark.parametrize("swizzle", CHUNKS)
def test_every_operand_contiguous_along_m_or_n(swizzle):
    seen = set()
    for one, name in OPERANDS:
        operand, (along, k) = one.operand(name), indices(name)
        extents = {"row": operand.rows, "col": operand.cols}
        line = 16 * CHUNKS[swizzle]
        blocks = math.lcm(extents[along], line * 8 // operand.type.bits) // extents[along]
        matrix = whole_matrix(one, name, swizzle, True, steps=2, blocks=blocks)
        if operand.type.bits != 16:
            with pytest.raises(LayoutError, match="must be along K: only f16 and bf16 are transp"):
                solve_descriptor(one, name, matrix)
            continue
        if blocks > 1 and extents[along] % (line // 2) and (line // 2) % extents[along]:
            # A block ends within a line and the next goes on in the next panel.
            with pytest.raises(LayoutError, match="are not laid out like the first ones"):
                solve_descriptor(one, name, matrix)
            continue
        told = check(one, name, matrix, 8192)
        assert told.transposed
        height = matrix.extents[k]
        assert told.steps == (0, extents[k] * line)
        if swizzle == "none":
            assert told.descriptor.leading == 128
            assert told.descriptor.stride == 16 * (height if extents[along] > 8 else 1)
        else:
            assert told.descriptor.stride == 8 * line
            assert told.descriptor.leading == (16 if extents[along] * 2 <= line else height * line)
        seen.add(one.shape.n)
    assert {"none": 32, "32B": 17, "64B": 10, "128B": 7}[swizzle] == len(seen)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("swizzle", CHUNKS)
def test_what_a_descriptor_reads_is_what_it_was_solved_from(swizzle, transposed):
    one = form(B16.format(n=192), "descriptor")
    descriptor = Descriptor(3072 if swizzle == "none" else 6144, 2048, SWIZZLES[swizzle])
    if not transposed and swizzle != "none":
        descriptor = Descriptor(16, 2048, SWIZZLES[swizzle])
    assert Descriptor.decode(descriptor.encode(1024)) == (descriptor, 1024)
    matrix = descriptor.matrix({"row": 16, "col": 192}, 16, "row", transposed=transposed)
    for n in range(192):
        for k in range(16):
            read = address(descriptor.encode(1024), transposed, 16, n, k)
            assert matrix.address(1024, row=k, col=n) == read
    told = solve_descriptor(one, "b", matrix)
    assert (told.descriptor, told.transposed) == (descriptor, transposed)


def test_words():
    """The bits as the ISA's table of the descriptor has them."""
    word = Descriptor(6144, 1024, SWIZZLES["64B"]).encode(0x2340)
    fields = word & 0x3FFF, word >> 16 & 0x3FFF, word >> 32 & 0x3FFF, word >> 49 & 7, word >> 62
    assert fields == (0x234, 384, 64, 0, 2)
    with pytest.raises(LayoutError, match="base offset 5"):
        Descriptor.decode(word | 5 << 49)
    with pytest.raises(LayoutError, match="start of 8 is not a multiple of 16"):
        Descriptor(16, 16, SWIZZLES["none"]).encode(8)
    with pytest.raises(LayoutError, match="leading byte offset of 262144"):
        Descriptor(1 << 18, 16, SWIZZLES["none"])


# Layouts that somebody else made


@pytest.mark.parametrize("swizzle", CHUNKS)
def test_a_linear_layout_is_read_as_strides(swizzle):
    width = 8 * CHUNKS[swizzle]
    layout = shared_layout({"row": 64, "col": width}, 16, SWIZZLES[swizzle])
    matrix = SharedMatrix.of(layout, 16)
    assert str(matrix.swizzle) == swizzle
    offsets = layout.inverse()
    for row in range(64):
        for col in range(width):
            assert matrix.address(row=row, col=col) == 2 * offsets(row=row, col=col)[0]
    if swizzle == "none":
        return
    check(form(B16.format(n=64), "descriptor"), "a", matrix, 0)


def test_a_count_of_units_that_is_no_power_of_two():
    unit = shared_layout({"col": 64, "row": 64}, 16, SWIZZLES["128B"])
    matrix = SharedMatrix.of(RepeatedLayout(unit, 3, "offset", "col"), 16)
    assert matrix.extents == {"row": 64, "col": 192}
    told = check(form(B16.format(n=96), "descriptor"), "b", matrix, 1024)
    assert told.blocks == (0, 96 * 128)
    # Of few lines a wide swizzle is a narrow one.
    small = shared_layout({"col": 4, "row": 64}, 16, SWIZZLES["128B"])
    found = SharedMatrix.of(RepeatedLayout(small, 3, "offset", "col"), 16)
    assert (str(found.swizzle), found.extents) == ("64B", {"row": 64, "col": 12})
    back = small.inverse()
    for col in range(12):
        for row in range(64):
            at = 512 * (col // 4) + 2 * back(col=col % 4, row=row)[0]
            assert found.address(row=row, col=col) == at


INEXPRESSIBLE = [
    # Rows one behind the other, no swizzle: rows of a core matrix are 16 bytes apart.
    ({"row": 64, "col": 64}, Swizzle.parse("none"), "row 1 lies 128 bytes from the start, not 16"),
    # A row of 256 bytes under a swizzle of 128.
    ({"row": 64, "col": 128}, Swizzle.parse("128B"), "row 1 lies 256 bytes from the start, not 12"),
]


@pytest.mark.parametrize(("extents", "swizzle", "why"), INEXPRESSIBLE)
def test_what_no_descriptor_tells(extents, swizzle, why):
    matrix = SharedMatrix.of(shared_layout(extents, 16, swizzle), 16)
    one = form(B16.format(n=64), "descriptor")
    with pytest.raises(LayoutError, match=f"no descriptor of {one.mnemonic()}.*{why}"):
        solve_descriptor(one, "a", matrix)


def test_other_reasons():
    one = form(B16.format(n=64), "descriptor")
    with pytest.raises(LayoutError, match="its 32 rows are not a multiple of 64"):
        solve_descriptor(one, "a", SharedMatrix(16, (Digit("col", 64, 16), Digit("row", 32, 1024))))
    with pytest.raises(LayoutError, match="elements have 16 bits, not 8"):
        solve_descriptor(one, "a", SharedMatrix(8, (Digit("col", 64, 8), Digit("row", 64, 512))))
    with pytest.raises(LayoutError, match="neither its rows nor its columns are contiguous"):
        solve_descriptor(one, "a", SharedMatrix(16, (Digit("col", 64, 32), Digit("row", 64, 2048))))
    matrix = SharedMatrix.panels({"row": 64, "col": 64}, 16, SWIZZLES["128B"], "col")
    with pytest.raises(LayoutError, match="it lies in registers of a warpgroup"):
        solve_descriptor(form(B16.format(n=64), "registers"), "a", matrix)
    with pytest.raises(LayoutError, match="swizzle<3,3,3> is not one of none, 32B, 64B, 128B"):
        solve_descriptor(one, "a", replace(matrix, swizzle=Swizzle(3, 3, 3)))
    with pytest.raises(LayoutError, match="is not one of the swizzles"):
        SharedMatrix.of(LinearLayout.parse("offset [1,1] [0,1] -> row 2, col 2"), 16)
    with pytest.raises(
        LayoutError, match="40 elements of 16 bits along col are not a multiple of 64"
    ):
        SharedMatrix.panels({"row": 64, "col": 40}, 16, SWIZZLES["128B"], "col")


# Boxes


def landed(boxes, bits):
    """Byte of each element (contiguous index first) after all copies, as the ISA has a tile load.

    The box is packed, dimension 0 contiguous; the swizzle changes the absolute address.
    """
    wide = CHUNKS[str(boxes.swizzle)]
    width, height = boxes.box[0] * (8 // bits if bits < 8 else 1), boxes.box[1]
    found = {}
    for (first, line), offset in boxes.copies:
        for y in range(height):
            for x in range(width):
                at = offset + (y * width + x) * bits // 8
                place = first + x, line + y
                assert place not in found
                found[place] = at ^ ((at >> 7) & (wide - 1)) << 4
    return found


@pytest.mark.parametrize("bits", [1, 8, 16, 32])
@pytest.mark.parametrize("contiguous", ["row", "col"])
@pytest.mark.parametrize("swizzle", CHUNKS)
def test_boxes_fill_the_matrix(swizzle, contiguous, bits):
    other = "col" if contiguous == "row" else "row"
    extents = {contiguous: 256 * 8 // bits, other: 96}
    matrix = SharedMatrix.panels(extents, bits, SWIZZLES[swizzle], contiguous)
    boxes = find_boxes(matrix)
    assert boxes.indices == (contiguous, other)
    assert boxes.bytes == 16 * CHUNKS[swizzle] * 96
    assert len(boxes.copies) == 16 // CHUNKS[swizzle]
    for (inner, outer), at in landed(boxes, bits).items():
        assert matrix.address(**{contiguous: inner, other: outer}) == at
    assert len(landed(boxes, bits)) == math.prod(extents.values())


def test_a_box_has_at_most_256_lines():
    matrix = SharedMatrix.panels({"row": 320, "col": 64}, 16, SWIZZLES["128B"], "col")
    boxes = find_boxes(matrix)
    assert (boxes.box, len(boxes.copies)) == ((64, 160), 2)
    assert len(landed(boxes, 16)) == 320 * 64


def test_what_no_box_fills():
    plain = SharedMatrix.of(shared_layout({"row": 8, "col": 512}, 8), 8)
    with pytest.raises(LayoutError, match="its lines have 512 elements, and a box 256 at most"):
        find_boxes(plain)
    wide = SharedMatrix.of(shared_layout({"row": 8, "col": 128}, 16, SWIZZLES["128B"]), 16)
    with pytest.raises(LayoutError, match="256 bytes apart; with swizzle 128B they are 128"):
        find_boxes(wide)
    with pytest.raises(LayoutError, match="8 bytes apart, not a multiple of 16"):
        find_boxes(SharedMatrix.of(shared_layout({"row": 8, "col": 4}, 16), 16))
    with pytest.raises(LayoutError, match="start at byte 64, not a multiple of 128"):
        find_boxes(SharedMatrix.panels({"row": 4, "col": 16}, 16, SWIZZLES["none"], "col"))
    with pytest.raises(LayoutError, match="neither of two indices is contiguous"):
        find_boxes(SharedMatrix(16, (Digit("row", 8, 256), Digit("col", 8, 32))))


# tile-layout


def test_tile_layout_tells_who_reads_what(capsys):
    argv = [B16.format(n=96), "--operand", "b", "--descriptor", "--swizzle", "64B"]
    assert tile_layout.main([*argv, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    word = int(told["descriptor"]["word"], 16)
    assert told["shape"] == [64, 96]
    for step, at in enumerate(told["steps"]):
        mine = {address(word + (at >> 4), False, 16, n, k) for n in range(96) for k in range(16)}
        ranges = told["reads"][step]
        assert mine == {b for start, end in ranges for b in range(start, end, 2)}
    everything = sorted(b for reads in told["reads"] for one in reads for b in range(*one))
    assert everything == list(range(64 * 96 * 2)) == list(range(told["bytes"]))
    assert told["box"] == {
        "extents": [32, 96], "indices": ["row", "col"], "bytes": 6144,
        "copies": [{"place": [0, 0], "offset": 0}, {"place": [32, 0], "offset": 6144}],
    }  # fmt: skip


def test_tile_layout_draws_it(capsys):
    argv = [B16.format(n=16), "--operand", "b", "--descriptor"]
    assert tile_layout.main(argv) == 0
    text = capsys.readouterr().out
    assert "descriptor 0x4000004000010000 + (address >> 4): leading byte offset 16" in text
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    # Line 1 is column 1: its chunks change places in pairs.
    assert lines["128"][:4] == ["0:8-15,1", "0:0-7,1", "1:24-31,1", "1:16-23,1"]
    assert tile_layout.main([*argv, "--format", "svg"]) == 0
    svg = capsys.readouterr().out
    assert svg.count("<rect") == 16 * 8
    assert "line at 128: instruction 0 along K reads 8-15,1" in svg
    assert tile_layout.main([*argv, "--major", "row", "--shape", "32x16"]) == 0
    assert "imm_trans_b = 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([B16.format(n=16), "--descriptor"], "descriptors are of operands a and b; give --operand"),
        ([B16.format(n=16), "--operand", "d", "--descriptor"], "descriptors are of operands a"),
        (["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "--operand", "a", "--descriptor"],
         "takes no descriptor; wgmma.mma_async does"),
        ([B16.format(n=20), "--operand", "b", "--descriptor"], "nearest legal: wgmma"),
        ([B16.format(n=16), "--operand", "b", "--descriptor", "--swizzle", "96B"],
         "unknown swizzle '96B'; legal: none, 32B, 64B, 128B"),
        ([B16.format(n=16), "--operand", "b", "--descriptor", "--shape", "24x16"],
         "its 24 rows are not a multiple of 16"),
        ([B16.format(n=16), "--operand", "b", "--descriptor", "--major", "k"],
         "no major 'k'; legal: row, col"),
        ([B16.format(n=16) + ".a::registers", "--operand", "a", "--descriptor"],
         "it lies in registers of a warpgroup"),
        ([B16.format(n=16), "--operand", "b", "--descriptor", "--format", "csv"],
         "a descriptor is shown as text, json, svg, png"),
        ([B16.format(n=16), "--operand", "d", "--swizzle", "64B"], "give --descriptor"),
    ],
)  # fmt: skip
def test_mistakes(argv, message, capsys):
    assert tile_layout.main(argv) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
    assert message in err
