"""Loads and stores of tensor memory move what the ISA's pictures say; what must not be is found."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tilec.isa import TARGETS, TilecError, forms
from tilec.isa.kernel import kernel
from tilec.sim import launch

SM_100A = TARGETS["sm_100a"]


def place(shape, t, i):
    """Lane, column and half of register i of thread t, coded once more from PTX ISA 9.7.16.2.3."""
    match shape:
        case "32x32b":
            return t, i, 0
        case "16x64b":
            return t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i, 0
        case "16x128b":
            return t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2), 0
        case "16x256b":
            return t // 4 + 8 * (i // 2 % 2), i % 2 + 2 * (t % 4) + 8 * (i // 4), 0
    return t % 16, i, t // 16


def run(made, rng):
    """Run a kernel of one move on random words; its buffers by name."""
    buffers = {}
    for buffer in made.buffers:
        words = rng.integers(0, 1 << 32, buffer.shape, dtype=np.uint32)
        buffers[buffer.name] = np.zeros_like(words) if buffer.written else words
    launch(
        made.ptx, "try_instruction", (1,), (32,), [*buffers.values()], arch="sm_100a"
    ).require_ok()
    return buffers


def expected(shape, registers, memory, offset, *, packed):
    """Registers that hold this memory, (lanes, registers)."""
    found = np.zeros((32, registers), np.uint32)
    for t in range(32):
        for i in range(registers):
            lane, column, half = place(shape, t, i)
            if packed:
                at = 2 * column + half * offset
                low, high = memory[lane, at] & 0xFFFF, memory[lane, at + 1] & 0xFFFF
                found[t, i] = low | high << 16
            else:
                found[t, i] = memory[lane, column + half * offset]
    return found


CASES = [
    *((shape, count) for shape in ("32x32b", "16x64b", "16x32bx2") for count in (1, 2, 16)),
    ("32x32b", 128), ("16x128b", 1), ("16x128b", 8), ("16x256b", 1), ("16x256b", 4),
]  # fmt: skip


def reduced(memory, operation):
    """What numpy says of the columns of each lane; of floats that are no NaN."""
    name, *words, type_ = operation.split(".")
    values = memory.view({"f32": np.float32, "s32": np.int32, "u32": np.uint32}[type_])
    values = abs(values) if "abs" in words else values
    return getattr(np, name)(values, axis=1).view(np.uint32)


@pytest.mark.parametrize("count", [2, 16])
@pytest.mark.parametrize("operation", ["min.f32", "max.abs.f32", "min.u32", "max.s32"])
def test_loads_that_reduce(operation, count):
    """The columns come as they are, and one number of each lane beside them."""
    load = forms()[f"tcgen05.ld.red.sync.aligned.32x32b.x{count}.{operation}"]
    made = kernel(load, TARGETS["sm_103f"])
    rng = np.random.default_rng(count)
    memory = rng.normal(size=(32, count)).astype(np.float32).view(np.uint32)
    found = {"d": np.zeros((32, count), "u4"), "red": np.zeros((32, 1), "u4"), "memory": memory}
    launch(made.ptx, "try_instruction", (1,), (32,), [*found.values()], arch="sm_103f").require_ok()
    np.testing.assert_array_equal(found["d"], found["memory"])
    np.testing.assert_array_equal(found["red"][:, 0], reduced(found["memory"], operation))


@pytest.mark.parametrize(
    ("operation", "wanted"), [("max.f32", 2.0), ("max.NaN.f32", np.nan), ("min.abs.f32", 1.0)]
)
def test_a_nan_among_what_is_reduced(operation, wanted):
    made = kernel(forms()[f"tcgen05.ld.red.sync.aligned.32x32b.x4.{operation}"], TARGETS["sm_103f"])
    memory = np.tile(np.array([-3, np.nan, 2, 1], np.float32), (32, 1))
    shown = [np.zeros((32, 4), np.float32), np.zeros((32, 1), np.float32), memory]
    launch(made.ptx, "try_instruction", (1,), (32,), shown, arch="sm_103f").require_ok()
    np.testing.assert_array_equal(shown[1], np.full((32, 1), wanted, np.float32))


def test_halves_that_are_reduced_are_refused():
    made = kernel(forms()["tcgen05.ld.red.sync.aligned.16x32bx2.x4.max.f32"], TARGETS["sm_103f"])
    shown = [np.zeros(buffer.shape, np.uint32) for buffer in made.buffers]
    with pytest.raises(TilecError, match="whether both halves are reduced together is not publ"):
        launch(made.ptx, "try_instruction", (1,), (32,), shown, arch="sm_103f")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("shape", "count"), CASES)
def test_moves(shape, count, packed):
    """A load finds in registers what memory holds; a store leaves what registers hold."""
    rng = np.random.default_rng(count)
    offset = 2 * count * (2 if packed else 1) if shape == "16x32bx2" else 0
    selectors = {"offset": offset} if shape == "16x32bx2" else {}
    name = f"sync.aligned.{shape}.x{count}"
    load = forms()[f"tcgen05.ld.{name}{'.pack::16b' * packed}.b32"]
    found = run(kernel(load, SM_100A, selectors=selectors), rng)
    registers = found["d"].shape[1]
    wanted = expected(shape, registers, found["memory"], offset, packed=packed)
    np.testing.assert_array_equal(found["d"], wanted)
    store = forms()[f"tcgen05.st.{name}{'.unpack::16b' * packed}.b32"]
    found = run(kernel(store, SM_100A, selectors=selectors), rng)
    wanted = expected(shape, registers, found["memory"], offset, packed=packed)
    np.testing.assert_array_equal(found["r"], wanted)


LOAD = kernel(forms()["tcgen05.ld.sync.aligned.32x32b.x4.b32"], SM_100A).ptx
FAULTS = {
    "a wait for stores": (r"tcgen05.wait::ld\S*;", "", "before a tcgen05.wait::ld for 'tcgen05.ld"),
    "columns given back": (r"tcgen05.dealloc.*", "", "of which 32 are still allocated"),
    "another number given back": (r"(dealloc.*) 32;", r"\1 64;", "deallocates 64 columns"),
    "another warp's lanes": (
        r"b32 (\{%d0.*), \[%t0\]",
        r"b32 \1, [%t0+2097152]",
        "reaches lanes 32 to 63 of tensor memory; warp 0 has 0 to 31",
    ),
    "columns of nobody": (
        r"b32 (\{%d0.*), \[%t0\]", r"b32 \1, [%t0+30]", "reaches column 32 of tensor memory",
    ),
    "nothing written": (r"tcgen05.st.*", "", "reads lane 0, column 0 of tensor mem"),
    "too late an allocation": (
        r"(tcgen05.alloc)", r"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; \1",
        "allocates after tcgen05.relinquish_alloc_permit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    old, new, message = FAULTS[fault]
    text, count = re.subn(old, new, LOAD)
    assert count
    args = [np.zeros((32, 4), np.uint32), np.ones((32, 4), np.uint32)]
    report = launch(text, "try_instruction", (1,), (32,), args, arch="sm_100a")
    assert any(message in finding.message for finding in report.findings), report.findings


def test_more_columns_than_there_are():
    """It would wait for ever: for columns that nobody gives back."""
    taken = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;"
    text = re.sub(r"(tcgen05.alloc.*)", rf"{taken}\n\1", LOAD)
    args = [np.zeros((32, 4), np.uint32), np.ones((32, 4), np.uint32)]
    report = launch(text, "try_instruction", (1,), (32,), args, arch="sm_100a")
    assert "deadlock" in {finding.kind for finding in report.findings}
    assert "columns of tensor memory" in report.findings[-1].message


COPY = """\
.version 8.6
.target sm_100a
.address_size 64
.visible .entry copy(.param .u64 out) {{
    .reg .b32 %t, %word, %to, %acc, %own, %r<8>;
    .reg .b64 %desc, %out;
    .reg .pred %row, %first, %one, %p;
    .shared .align 1024 .b8 image[{bytes}];
    .shared .align 4 .b32 place;
    .shared .align 8 .b64 done;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %first, %t, 32;
    setp.eq.u32 %one, %t, 0;
    setp.lt.u32 %row, %t, {rows};
    @%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;
    @%one mbarrier.init.shared::cta.b64 [done], 1;
    mul.lo.u32 %word, %t, 100;
    mov.u32 %to, image;
    mad.lo.u32 %to, %t, 16, %to;
    {fill}
    fence.proxy.async.shared::cta;
    bar.sync 0;
    ld.shared.b32 %acc, [place];
    mov.u32 %to, image;
    shr.u32 %to, %to, 4;
    cvt.u64.u32 %desc, %to;
    or.b64 %desc, %desc, {fixed:#x};
    @%one tcgen05.cp.cta_group::1.{shape} [%acc], %desc;
    @%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
$again:
    mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
    @!%p bra $again;
    tcgen05.fence::after_thread_sync;
    and.b32 %own, %t, 0x60;
    shl.b32 %own, %own, 16;
    add.u32 %own, %own, %acc;
    tcgen05.ld.sync.aligned.32x32b.x{words}.b32 {{{loaded}}}, [%own];
    tcgen05.wait::ld.sync.aligned;
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %t, {row_bytes}, %out;
    {store}
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    @%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %acc, 32;
    ret;
}}
"""
#: Shape: rows, words of a row, and the row that stands in a lane.
COPIES = {
    "128x256b": (128, 8, lambda lane: lane),
    "128x128b": (128, 4, lambda lane: lane),
    "64x128b.warpx2::02_13": (64, 4, lambda lane: lane % 64),
    "64x128b.warpx2::01_23": (64, 4, lambda lane: 32 * (lane // 64) + lane % 32),
    "32x128b.warpx4": (32, 4, lambda lane: lane % 32),
}


@pytest.mark.parametrize("shape", COPIES)
def test_copies_from_shared_memory(shape):
    """Chunks of 16 bytes of a row stand a whole column of rows apart, without a swizzle."""
    rows, words, row_of = COPIES[shape]
    chunk = 16 * rows
    fill = [
        f"add.u32 %r0, %word, {n}; @%row st.shared.b32 [%to+{n // 4 * chunk + n % 4 * 4}], %r0;"
        for n in range(words)
    ]
    text = COPY.format(
        bytes=4 * words * rows, rows=rows, words=words, shape=shape, row_bytes=4 * words,
        fixed=1 << 46 | 128 >> 4 << 32 | chunk >> 4 << 16, fill="\n    ".join(fill),
        loaded=", ".join(f"%r{n}" for n in range(words)),
        store="\n    ".join(f"st.global.b32 [%out+{4 * n}], %r{n};" for n in range(words)),
    )  # fmt: skip
    out = np.zeros((128, words), np.uint32)
    launch(text, "copy", (1,), (128,), [out], arch="sm_100a").require_ok()
    wanted = [[100 * row_of(lane) + n for n in range(words)] for lane in range(128)]
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(("source", "bits"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
def test_copies_of_packed_elements(source, bits):
    """Sixteen elements at the beginning of 16 bytes become a byte each, as A has them."""
    word = 0x9F3A_5C71
    fill = [f"xor.b32 %r0, %word, {word + n}; st.shared.b32 [%to+{4 * n}], %r0;" for n in range(4)]
    text = COPY.format(
        bytes=2048, rows=128, words=4, shape=f"128x128b.b8x16.{source}", row_bytes=16,
        fixed=1 << 46 | 128 >> 4 << 32, fill="\n    ".join(fill), loaded="%r0, %r1, %r2, %r3",
        store="\n    ".join(f"st.global.b32 [%out+{4 * n}], %r{n};" for n in range(4)),
    )  # fmt: skip
    out = np.zeros((128, 4), np.uint32)
    launch(text, "copy", (1,), (128,), [out], arch="sm_100a").require_ok()
    for lane in range(128):
        packed = sum((100 * lane ^ word + n) << 32 * n for n in range(4))
        codes = [packed >> bits * at & (1 << bits) - 1 for at in range(16)]
        wanted = [code << 2 if bits == 4 else code for code in codes]
        assert out[lane].view(np.uint8).tolist() == wanted


def test_copies_of_four_rows():
    """One for the first lane of each quarter, as we read the ISA's picture."""
    fill = [
        f"add.u32 %r0, %word, {n}; @%row st.shared.b32 [%to+{n // 4 * 128 + n % 4 * 4}], %r0;"
        for n in range(8)
    ]
    zeros = "{%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0}"
    text = COPY.format(
        bytes=256, rows=4, words=8, shape="4x256b", row_bytes=32,
        fixed=1 << 46 | 128 >> 4 << 32 | 128 >> 4 << 16, fill="\n    ".join(fill),
        loaded=", ".join(f"%r{n}" for n in range(8)),
        store="\n    ".join(f"st.global.b32 [%out+{4 * n}], %r{n};" for n in range(8)),
    )  # fmt: skip
    before = f"""shl.b32 %own, %t, 0; and.b32 %own, %own, 0x60; shl.b32 %own, %own, 16;
    ld.shared.b32 %acc, [place]; add.u32 %own, %own, %acc; mov.b32 %r0, 7;
    tcgen05.st.sync.aligned.32x32b.x8.b32 [%own], {zeros}; tcgen05.wait::st.sync.aligned;
    tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"""
    text = text.replace(
        "bar.sync 0;\n    ld.shared", f"bar.sync 0;\n    {before}\n    ld.shared", 1
    )
    out = np.zeros((128, 8), np.uint32)
    launch(text, "copy", (1,), (128,), [out], arch="sm_100a").require_ok()
    wanted = np.full((128, 8), 7)
    wanted[::32] = 100 * np.arange(4)[:, None] + np.arange(8)
    np.testing.assert_array_equal(out, wanted)


TWO_WARPS = """\
.version 8.6
.target sm_100a
.address_size 64
.visible .entry take() {
    .reg .b32 %warp, %acc, %to;
    .shared .align 4 .b32 places[2];
    mov.u32 %warp, %tid.x;
    shr.u32 %warp, %warp, 5;
    mov.u32 %to, places;
    mad.lo.u32 %to, %warp, 4, %to;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%to], 512;
    bar.warp.sync 0xffffffff;
    ld.shared.b32 %acc, [%to];
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %acc, 512;
    ret;
}
"""


def test_a_warp_waits_for_the_columns_of_another():
    """Both ask at once, and there are enough for one."""
    launch(TWO_WARPS, "take", (3,), (64,), [], arch="sm_100a").require_ok()


def test_columns_of_a_pair_take_a_pair():
    """Both CTAs of one allocate together; a CTA that has no other cannot (PTX ISA 9.7.16.3)."""
    text = TWO_WARPS.replace("cta_group::1", "cta_group::2")
    launch(text, "take", (4,), (64,), [], arch="sm_100a", cluster=2).require_ok()
    with pytest.raises(TilecError, match=r":11: its CTA has no peer: the cluster size is 1"):
        launch(text, "take", (4,), (64,), [], arch="sm_100a")


SECOND = """\
    {between}
    setp.eq.u32 %one, %t, 32;
    @%one tcgen05.cp.cta_group::1.32x128b.warpx4 [%acc], %desc;
    @%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
$again:
"""


@pytest.mark.parametrize("between", ["tcgen05.fence::before_thread_sync; bar.sync 0;", ""])
def test_copies_of_two_warps(between):
    """A barrier between those who issue them is enough, if they are issued in turn."""
    shape, words = "32x128b.warpx4", 4
    text = COPY.format(
        bytes=512, rows=32, words=words, shape=shape, row_bytes=16, fixed=0x400800200000,
        fill=" ".join(f"@%row st.shared.b32 [%to+{4 * n}], %word;" for n in range(words)),
        loaded="%r0, %r1, %r2, %r3", store="st.global.b32 [%out], %r0;",
    )  # fmt: skip
    text = text.replace("[done], 1;", "[done], 2;")
    text = text.replace("$again:\n", SECOND.format(between=between))
    out = np.zeros((128, words), np.uint32)
    report = launch(text, "copy", (1,), (128,), [out], arch="sm_100a")
    if between:
        report.require_ok()
        assert (out[:, 0] == 100 * (np.arange(128) % 32)).all()
    else:
        said = report.findings[0].message
        assert re.search("writes columns of .*(no tcgen05.commit follows|before the wait)", said)
