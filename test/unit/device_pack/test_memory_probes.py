"""Probes of how Hopper reads and writes shared memory: on simulators that differ, the verdicts do.

Their kernels are written by hand: ptxas assembles each.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import target as find_target
from tilec.sim import boxes, map_bytes, warpgroup_product
from tilec.sim.instructions import tensor_copy


def test_every_kernel_is_assembled(assemblers_for):
    from device_run.probes import base_offsets, fences, sparse_lines, tensor_loads

    texts = [base_offsets.program(), sparse_lines.program(), tensor_loads.program(512)]
    texts += [text for case in fences.cases() for text in (case.text, case.without)]
    judge = assemblers_for(find_target("sm_90a"))[-1]
    for text in dict.fromkeys(texts):
        status, report = judge.run(text, "sm_90a")
        assert (status, report) == (0, "")


def test_other_targets_have_none(cuda):
    from device_run.probes import (
        base_offsets,
        fences,
        fills,
        narrow_boxes,
        single_bits,
        sparse_lines,
        tensor_map_bytes,
    )

    some = (base_offsets, fences, fills, narrow_boxes, single_bits, sparse_lines, tensor_map_bytes)
    for probe in some:
        assert not list(probe.probes(cuda, "sm_80"))


def verdicts(rows):
    return {row["question"]: row["verdict"] for row in rows}


def test_base_offsets(monkeypatch, cuda, library):
    """The simulator refuses them; hardware that counts lines from the pattern's start is told."""
    from device_run.driver import DeviceError
    from device_run.probes import base_offsets

    with pytest.raises(DeviceError):
        list(base_offsets.probes(cuda, "sm_90a"))
    monkeypatch.setattr(base_offsets, "SWIZZLES", {"128B": (1, 8), "64B": (2, 4)})
    library.checks = False
    assert set(verdicts(base_offsets.probes(cuda, "sm_90a")).values()) == {"none"}

    chunks = warpgroup_product.chunks

    def from_pattern(operand, word, *, transposed):
        descriptor, at = chunks(operand, word & ~(7 << 49), transposed=transposed)
        moved = (1 << descriptor.swizzle.bits) - 1
        plain = at ^ (at >> 7 & moved) << 4
        return descriptor, plain ^ ((plain >> 7) - (word >> 49 & 7) & moved) << 4

    monkeypatch.setattr(warpgroup_product, "_NO_BASE", -1)
    monkeypatch.setattr(warpgroup_product, "chunks", from_pattern)
    rows = list(base_offsets.probes(cuda, "sm_90a"))
    assert {row["verdict"] for row in rows} == {"subtracted from the number of a line"}
    assert all(row["agreement"]["none"] < 1 for row in rows)
    assert library.allocated == 2  # of the launch that failed, which ends a process on a GPU


def test_narrow_boxes(monkeypatch, cuda):
    from device_run.probes import narrow_boxes

    rows = list(narrow_boxes.probes(cuda, "sm_90a"))
    assert {row["verdict"] for row in rows} == {"rows follow each other"}
    assert all(row["completed"] for row in rows)

    tile = tensor_copy.tile

    def a_line_each(descriptor, first):
        found = tile(descriptor, first)
        width = descriptor.box[0] * found.size
        line = int(descriptor.swizzle.removesuffix("B"))
        row, inside = np.divmod(found.offset, width)
        return boxes.Elements(found.size, found.source, found.inside, row * line + inside)

    def touched(descriptor, elements, place):
        return np.unique(boxes.swizzled(place.offset + elements.offset, descriptor.swizzle) & -16)

    monkeypatch.setattr(tensor_copy, "tile", a_line_each)
    monkeypatch.setattr(tensor_copy, "_granules", touched)
    rows = list(narrow_boxes.probes(cuda, "sm_90a"))
    assert {row["verdict"] for row in rows} == {"a row takes a line of the swizzle"}
    # Of 16 bytes with swizzle 128B row r lies in line r, in chunk r mod 8.
    assert rows[0]["given"]["bytes of each chunk"][:10] == [
        [128 * row + 16 * (row % 8)] for row in range(10)
    ]


def test_boxes_that_count_other_bytes(monkeypatch, cuda, library):
    """The phase does not complete, which the kernel does not wait for without an end."""
    from device_run.probes import tensor_loads

    monkeypatch.setattr(tensor_loads, "POLLS", 4)
    library.checks = False
    loads = tensor_loads.Loads(cuda, np.arange(64, dtype=np.uint16).reshape(8, 8), 512)
    described = {"type": "i16", "box": [8, 8], "swizzle": "none"}
    held, completed = loads.load(described, (0, 0), 128)
    assert completed
    assert (held[:128].view(np.uint16) == np.arange(64)).all()
    assert (held[128:] == 0xA5).all()
    _, completed = loads.load(described, (0, 0), 256)
    assert not completed
    loads.close()


def test_maps_that_the_driver_refuses(cuda, library):
    from device_run.probes import narrow_boxes

    library.faults["cuTensorMapEncodeTiled"] = 1
    rows = list(narrow_boxes.probes(cuda, "sm_90a"))
    assert all("the driver refuses the map" in row["says"] for row in rows)


def test_nans_that_are_filled_in(monkeypatch, cuda):
    from device_run.probes import fills

    def found():
        named = verdicts(fills.probes(cuda, "sm_90a"))
        return {verdict for name, verdict in named.items() if name.startswith("NaN")}

    assert found() == {"every bit but the sign"}
    quiet = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}
    monkeypatch.setattr(map_bytes, "_NANS", quiet)
    monkeypatch.setattr(fills, "NANS", {"f16": 16, "f32": 32, "tf32": 32, "f64": 64})
    assert found() == {"quiet, without a payload"}


def test_conversions_by_maps():
    """By the definitions of tf32, 10 bits of fraction, and of flushing."""
    from device_run.probes import fills

    given = np.array([0x3F801000, 0x3F803000, 0x3F803FFF, 0x80000001, 0x7F800001], np.uint32)
    found = fills.conversions(given)
    assert found["unchanged"].tolist() == given.tolist()
    cut = found["the low 13 bits cut"].tolist()
    assert cut == [0x3F800000, 0x3F802000, 0x3F802000, 0x80000000, 0x7F800000]
    even = found["rounded to tf32, ties to even, subnormals flushed, NaNs quiet"].tolist()
    assert even == [0x3F800000, 0x3F804000, 0x3F804000, 0x80000000, 0x7FC00000]
    away = found["rounded to tf32, ties away from zero"].tolist()
    assert away[:2] == [0x3F802000, 0x3F804000]


def test_maps_that_convert(monkeypatch, cuda):
    """As simulated, elements are copied as they are; each conversion is told from all others."""
    from device_run.probes import fills

    named = verdicts(fills.probes(cuda, "sm_90a"))
    assert {named[f"elements of a map of {name}"] for name in fills.CONVERTED} == {"unchanged"}
    made = {what.tobytes() for what in fills.conversions(fills.BITS).values()}
    assert len(made) == len(fills.conversions(fills.BITS))


@pytest.fixture
def small(cuda):
    cuda.limits["multiprocessors"] = 1
    return cuda


def test_fences(small, library):
    """The one that the ISA asks for the simulator asks for, too."""
    from device_run.driver import DeviceError
    from device_run.probes import fences

    found = fences.probes(small, "sm_90a", rounds=2)
    assert len([next(found) for _ in range(3)]) == 3
    with pytest.raises(DeviceError):
        next(found)
    library.checks = False
    rows = list(fences.probes(small, "sm_90a", rounds=2))
    assert [row["question"] for row in rows] == [case.question for case in fences.cases()]
    assert all(row["verdict"].startswith("no difference") for row in rows)
    assert rows[0]["words"] == 2 * 2 * 4096


def test_words_that_are_wrong(monkeypatch, small):
    """Kernels that expect other numbers stand in for hardware on which a fence is missed."""
    from device_run.probes import fences

    load, _, product, _ = fences.cases()
    cases = [
        load._replace(without=load.text.replace("%want, %row, 32;", "%want, %box, 32;")),
        load._replace(text=load.text.replace("%want, %row, 32;", "%want, %box, 32;")),
        product._replace(without=product.text.replace("shl.b32 %at, %at, 4;", "")),
    ]
    monkeypatch.setattr(fences, "cases", lambda: cases)
    found = [row["verdict"] for row in fences.probes(small, "sm_90a", rounds=2)]
    # All but those of the first box of the first CTA, and what is sixteen times zero.
    assert found[0] == "the fence is needed: 12,288 of 16,384 words wrong without it"
    assert found[1] == "wrong even with a fence, 12,288 of 16,384 words"
    assert found[2] == "the fence is needed: 2,048 of 2,048 words wrong without it"


def single_bits_of(monkeypatch, cuda):
    from device_run.probes import single_bits

    monkeypatch.setattr(single_bits, "BITS", (0, 31))
    monkeypatch.setattr(single_bits, "THREADS", (0, 69))
    return list(single_bits.probes(cuda, "sm_90a"))


def test_single_bits(monkeypatch, cuda):
    """As laid out by the rule of the 8-bit forms; and hardware whose registers come otherwise."""
    rows = single_bits_of(monkeypatch, cuda)
    assert [row["verdict"] for row in rows] == ["as laid out"] * 2

    from device_run.probes import single_bits

    read = single_bits.Warp.execute

    def swapped(self, operands):
        return read(self, {**operands, "a": operands["a"][[0, 2, 1, 3]]})

    monkeypatch.setattr(single_bits.Warp, "execute", swapped)
    quads, threads = single_bits_of(monkeypatch, cuda)
    assert quads["verdict"].startswith("16 of 32 differ; register 1, bit 0, threads 0 mod 4: ")
    assert threads["verdict"].startswith("4 of 8 differ")


def test_where_single_bits_lie():
    """PTX ISA, the fragment of A of 8-bit elements, each of which stands for eight bits here."""
    from device_run.probes import single_bits
    from tilec.isa import form as find_form

    layout = single_bits.Layout(find_form(single_bits.FORM))
    for register in range(4):
        for bit in (0, 7, 8, 31):
            for thread in (0, 5, 37, 127):
                warp, lane = divmod(thread, 32)
                row = 16 * warp + lane // 4 + 8 * (register & 1)
                column = 32 * (lane % 4) + 128 * (register >> 1) + bit
                mask = np.arange(128) == thread
                assert layout.places(register, bit, mask) == {(row, column)}


def test_sparse_lines(monkeypatch, cuda, library):
    """The simulator refuses lines too short; unchecked it goes on at the leading offset."""
    from device_run.driver import DeviceError
    from device_run.probes import sparse_lines

    found = sparse_lines.probes(cuda, "sm_90a")
    assert [next(found)["verdict"] for _ in range(2)] == ["in its line"] * 2
    with pytest.raises(DeviceError):
        next(found)
    library.checks = False
    *_, last = sparse_lines.probes(cuda, "sm_90a")
    assert last["verdict"] == "the second half a leading offset on"

    chunks = warpgroup_product.chunks

    def in_next_line(operand, word, *, transposed):
        descriptor, at = chunks(operand, word, transposed=transposed)
        if operand.name == "b" and descriptor.swizzle.line == 32:
            plain = np.arange(8)[:, None] * 32 + np.arange(4) % 2 * 16 + np.arange(4) // 2 * 32
            at = at.min() // 1024 * 1024 + (plain ^ (plain >> 7 & 1) << 4)
        return descriptor, at

    monkeypatch.setattr(warpgroup_product, "chunks", in_next_line)
    *_, last = sparse_lines.probes(cuda, "sm_90a")
    assert last["verdict"] == "the second half in the next line"


def test_tensor_map_bytes(cuda, library):
    """The places of `tensormap.replace`, in SASS of ptxas; of the rest those that the fake has."""
    from device_run.probes import tensor_map_bytes

    named = verdicts(tensor_map_bytes.probes(cuda, "sm_90a"))
    assert named["a tiled map, against the simulator's"] == "no bit differs"
    word = "of the word at byte 0x08 bits "
    assert named["swizzle of tiled maps"] == word + "13, 14"
    assert named["fill of tiled maps"] == word + "15"
    assert named["promotion of tiled maps"] == word + "21, 22"
    assert named["promotion of im2col maps"] == word + "21, 22"
    assert named["box of tiled maps"] == "of the word at byte 0x34 bits 27, 28, 29"
    assert named["lower of im2col maps"] != named["upper of im2col maps"]
    assert library.allocated == 0
