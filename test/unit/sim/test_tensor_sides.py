"""`tcgen05.mma` with metadata and scale factors, of one CTA and of pairs, against numpy.

Where they lie in tensor memory is coded once more here, from PTX ISA 9.7.16.10.5 to 9.7.16.10.8.
Small whole numbers and powers of two make every sum exact.
"""

from __future__ import annotations

import re
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from tilec.isa import TARGETS
from tilec.isa.instructions import instructions, named
from tilec.isa.tensor_product_kernel import tensor_product_kernel
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.tensor_shapes import KINDS, columns
from tilec.sim import launch

LANES = 128
NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
    "ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
NARROW = {"e2m3": 6, "e3m2": 6, "e2m1": 4}
PACKED = ("mxf4", "mxf4nvf4")
CHUNKS = {"tf32": 2, "mxf4": 8, "mxf4nvf4": 8}
"""Columns that a code of the metadata is of, where they are not four."""


def accumulator_place(m, n, extents, group, *, stationary, sparse):
    """CTA, lane and column of D's element (m, n)."""
    rows, cols = extents
    if group == 2 and rows == 256:
        return m // 128, m % 128, n
    if group == 2 and sparse:
        return m // 64, 32 * (m % 64 // 16) + m % 16, n
    if group == 2:
        return m // 64, m % 64 + 64 * (n // (cols // 2)), n % (cols // 2)
    if rows == 128:
        return 0, m, n
    if not stationary:
        return 0, 32 * (m // 16) + m % 16, n
    banks = 128 // rows
    return 0, m + rows * (n // (cols // banks)), n % (cols // banks)


def codes_of(rng, shape, chunk):
    """Random codes, and which of the elements of a row are stored, in ascending order."""
    rows, k = shape
    if chunk == 2:
        kept = rng.integers(0, 2, (rows, k // 2))
        return np.where(kept, 0b1110, 0b0100), 2 * np.arange(k // 2) + kept
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    chosen = pairs[rng.integers(0, 6, (rows, k // chunk))]
    codes = chosen[..., 0] | chosen[..., 1] << 2
    run = chunk // 4
    each = chosen[..., None] * run + np.arange(run)  # (rows, chunks, 2, run)
    start = chunk * np.arange(k // chunk)[:, None, None]
    return codes, (start + each).reshape(rows, -1)


def metadata_words(codes, kind, selector):
    """Two columns of a CTA, from the formulas for 128 rows."""
    held = np.full((LANES, 2), 0x5A5A5A5A, np.uint64)
    chunk = CHUNKS.get(kind, 4)
    for m, place in product(range(len(codes)), range(codes.shape[1])):
        k = chunk * place
        if kind == "f16":
            lane, column, bit = (
                m % 8 + 8 * (k // 16) + 16 * (m // 16),
                0,
                16 * (m // 8 % 2) + k % 16,
            )
        elif kind == "tf32":
            lane, column, bit = (
                m % 8 + 8 * (k // 8) + 16 * (m // 16),
                0,
                16 * (m // 8 % 2) + 2 * (k % 8),
            )
        elif kind in PACKED:
            lane, column, bit = m, k // 64, k // 2 % 32
        else:
            lane, column, bit = m, k // 32, k % 32
        column += selector
        held[lane, column] &= ~np.uint64(0xF << bit)
        held[lane, column] |= np.uint64(int(codes[m, place]) << bit)
    return held.astype(np.uint32)


def in_shared(matrix, type_, kind):
    """Bytes of rows: packed, or packed at the beginning of every 16 bytes of elements."""
    bits = NARROW.get(type_)
    if bits is None:
        return np.ascontiguousarray(matrix).view(np.uint8)
    codes = np.ascontiguousarray(matrix).view(np.uint8)
    if kind in PACKED:
        return codes[:, 0::2] | codes[:, 1::2] << 4
    runs = codes.reshape(len(codes), -1, 16)
    each = np.unpackbits(runs[..., None], axis=-1, bitorder="little")[..., :bits]
    packed = np.packbits(each.reshape(*runs.shape[:2], -1), axis=-1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, 0), (0, 16 - packed.shape[-1]))).reshape(len(codes), -1)


def in_tensor(matrix, type_, kind):
    """Words of rows of A."""
    if kind in PACKED:
        return in_shared(matrix, type_, kind).view(np.uint32)
    data = np.ascontiguousarray(matrix)
    if type_ in NARROW:
        data = data.view(np.uint8) << (2 if type_ == "e2m1" else 0)
    return np.ascontiguousarray(data).view(np.uint32).reshape(len(matrix), -1)


def scale_words(values, group, m, *, first, of_a):
    """Columns of each CTA, (CTAs, lanes, columns): the formulas of 9.7.16.10.7."""
    rows, chunks = values.shape
    halves = 2 if group == 2 and m == 128 and not of_a else 1
    held = np.full((group, LANES, -(-rows // (group if of_a else 1) // 32), 4), 0x70, np.uint8)
    for row, chunk in product(range(rows), range(chunks)):
        code = values[row, chunk].view(np.uint8)
        if of_a:
            cta, inside = divmod(row, rows // group)
            held[cta, inside % 32 :: 32, inside // 32, first + chunk] = code
            continue
        part, inside = divmod(row, rows // halves)
        for lane in range(64 * part + inside % 32, 64 * (part + 1) if halves == 2 else LANES, 32):
            held[:, lane, inside // 32, first + chunk] = code
    return held.view(np.uint32)[..., 0]


def numbers(rng, type_, shape):
    return rng.integers(0 if type_ == "u8" else -2, 3, shape).astype(NUMPY[type_])


def check(one, descriptor, numerics="fast", spoil=None):
    """Run it on the simulator, and compare D with numpy's.

    Args:
        spoil: what is done to B before.
    """
    rng = np.random.default_rng(descriptor.encode() + one.group)
    m, n, k = descriptor.shape
    group, kind = one.group, one.kind
    dense, b = numbers(rng, descriptor.a, (m, k)), numbers(rng, descriptor.b, (n, k))
    if spoil is not None:
        spoil(b)
    stored, meta, present = dense, None, np.ones((m, k), bool)
    if one.sparse:
        codes, kept = codes_of(rng, (m, k), CHUNKS.get(kind, 4))
        stored = np.take_along_axis(dense, kept, axis=1)
        present = np.zeros((m, k), bool)
        np.put_along_axis(present, kept, True, axis=1)
        parts = codes.reshape(group, m // group, -1)
        meta = np.concatenate([metadata_words(part, kind, descriptor.selector) for part in parts])
    made = tensor_product_kernel(one, TARGETS["sm_100a"], descriptor)
    given = {"stationary": one.stationary, "sparse": one.sparse}
    places = [[accumulator_place(i, j, (m, n), group, **given) for j in range(n)] for i in range(m)]
    ctas, lanes, cols = np.moveaxis(np.array(places), -1, 0)
    lanes = lanes + LANES * ctas
    c = numbers(rng, descriptor.d, (m, n))
    words = np.uint16 if NUMPY[descriptor.d] is np.float16 else np.uint32
    before = np.zeros(made.buffers[0].shape, np.uint32)
    before[lanes, cols] = np.ascontiguousarray(c).view(words)
    if one.a == "tensor":
        rows = in_tensor(stored, descriptor.a, kind)
        a = np.full((group * LANES, rows.shape[1]), 0x7F7F7F7F, np.uint32)
        # Half of a pair's columns go to the other 64 lanes, where A stands again.
        for copy in range(2 if group == 2 and m == 128 and not one.sparse else 1):
            a[lanes[:, 0] + 64 * copy] = rows
    else:
        a = in_shared(stored, descriptor.a, kind)
    held = {"d": np.zeros_like(before), "a": a, "b": in_shared(b, descriptor.b, kind)}
    held |= {"c": before, "meta": meta}
    left, right = (side.astype(np.float64) for side in (dense, b))
    if one.scaled:
        scales = [
            (2.0 ** rng.integers(-2, 3, (rows, one.chunks))).astype(NUMPY[descriptor.scale])
            for rows in (m, n)
        ]
        for name, values, first in zip(
            ("sfa", "sfb"), scales, (descriptor.sfa_id, descriptor.sfb_id), strict=True
        ):
            found = scale_words(values, group, m, first=first, of_a=name == "sfa")
            held[name] = found.reshape(group * LANES, -1)
        left, right = (
            side * values.astype(np.float64).repeat(k // one.chunks, axis=1)
            for side, values in zip((left, right), scales, strict=True)
        )
    shown = [held[buffer.name] for buffer in made.buffers]
    assert [array.shape for array in shown] == [buffer.shape for buffer in made.buffers]
    launch(
        made.ptx, "try_instruction", (group,), (128,), shown, arch="sm_100a", numerics=numerics
    ).require_ok()
    if one.sparse:
        terms = left[:, :, None] * right.T[None]
        wide = np.where(present[:, :, None], terms, 0).sum(axis=1)
    else:
        wide = left @ right.T
    found = held["d"][lanes, cols].astype(words).view(NUMPY[descriptor.d])
    wanted = (wide + c.astype(np.float64)).astype(NUMPY[descriptor.d])
    np.testing.assert_array_equal(found, wanted, err_msg=f"{one.ptx} {descriptor}")


EVERY = [
    one
    for one in instructions().values()
    if isinstance(one, TensorProduct) and not re.search("collector|ashift", one.ptx)
]
SPARSE = [one for one in EVERY if one.sparse]
PAIRS = [one for one in EVERY if one.group == 2 and not one.sparse]


def extents(one, *, every):
    """M and N: of sparse products those whose metadata are published."""
    if one.group == 2:
        rows = (256,) if one.sparse else (128, 256)
    else:
        rows = (32, 64, 128) if one.stationary else (128,)
    cols = list(columns(KINDS[one.kind], one.group, stationary=one.stationary, sparse=one.sparse))
    return product(rows, (cols[0], cols[len(cols) // 2 - 1], cols[-1]) if every else cols[1:2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", [1, 2])
def test_sparse(kind, group):
    """A in shared memory, by the last of its types."""
    one = next(o for o in SPARSE if (o.kind, o.group, o.a) == (kind, group, "descriptor"))
    for m, n in extents(one, every=False):
        check(one, one.describe(KINDS[kind].types[-1], m=m, n=n), "exact" if group == 1 else "fast")


def test_sparse_in_tensor_memory_and_stationary():
    for key in ("cta_group::1.kind::f16", "cta_group::1.kind::f8f6f4"):
        one = named(f"tcgen05.mma.sp.{key}.a::tensor")
        check(one, one.describe(KINDS[one.kind].types[-1], n=16))
    one = named("tcgen05.mma.ws.sp.cta_group::1.kind::f16.a::descriptor")
    for m in (32, 64):
        check(one, one.describe(m=m, n=64))


def test_metadata_of_a_later_column():
    for kind in ("f16", "tf32"):
        one = named(f"tcgen05.mma.sp.cta_group::1.kind::{kind}.a::descriptor")
        check(one, one.describe(m=128, n=16, selector=1))


def test_absent_elements_do_not_meet_infinities():
    """As with `mma.sp`: what is not stored is not multiplied."""

    def spoil(b):
        b[3, ::2] = np.inf

    one = named("tcgen05.mma.sp.cta_group::1.kind::tf32.a::descriptor")
    descriptor = one.describe(m=128, n=8)
    for numerics in ("fast", "exact"):
        with np.errstate(all="ignore"):
            check(one, descriptor, numerics, spoil)


@pytest.mark.parametrize("scaling", ["", "scale_vec::1X", "scale_vec::2X", "scale_vec::4X"])
def test_pairs(scaling):
    """Each with its own scale factors of A; of 128 rows, those of B are split."""
    one = next(o for o in PAIRS if o.a == "descriptor" and o.scaling == scaling)
    first = {0: {}, 1: {"sfa_id": 2, "sfb_id": 1}, 2: {"sfb_id": 2}, 4: {}}[one.chunks]
    for m in (128, 256):
        check(one, one.describe(KINDS[one.kind].types[0], m=m, n=32, **first))


def test_pairs_in_tensor_memory():
    one = named("tcgen05.mma.cta_group::2.kind::f16.a::tensor")
    for m in (128, 256):
        check(one, one.describe(m=m, n=32), "exact")


@pytest.mark.parametrize("m", [128, 256])
def test_a_mask_of_the_lanes_of_a_pair(m):
    """Eight words: those of the first CTA's lanes, then the second's, as we read the ISA."""
    one = named("tcgen05.mma.cta_group::2.kind::f16.a::descriptor")
    shape = one.describe(("f32", "f16", "f16"), m=m, n=16)
    made = tensor_product_kernel(one, TARGETS["sm_100a"], shape)
    words = [0xF, 0, 0, 0, 1, 0, 0x80000000, 0xFFFFFFFF]
    names = ", ".join(f"%m{n}" for n in range(8))
    text, count = re.subn(r"(kind::f16 .*?, 0x\w+), %adds;", rf"\1, {{{names}}}, %adds;", made.ptx)
    assert count == 1
    moves = " ".join(f"mov.b32 %m{n}, {word:#x};" for n, word in enumerate(words))
    text = text.replace("    mov.u32 %lane", f"    .reg .b32 %m<8>; {moves}\n    mov.u32 %lane", 1)
    shown = []
    for buffer in made.buffers:
        ones = np.ones(buffer.shape[0] * 16, np.float16).view(np.uint8)
        shown.append(ones.reshape(buffer.shape) if buffer.name in "ab" else None)
        if shown[-1] is None:
            shown[-1] = np.full(buffer.shape, 0 if buffer.name == "d" else 24, np.float32)
    launch(text, "try_instruction", (2,), (128,), shown, arch="sm_100a").require_ok()
    kept = np.array([words[lane // 32] >> lane % 32 & 1 for lane in range(256)], bool)
    np.testing.assert_array_equal(shown[0], np.where(kept, 24, 40)[:, None] + 0 * shown[0])


@pytest.mark.slow
@pytest.mark.parametrize("ptx", [one.ptx for one in SPARSE + PAIRS])
def test_every_type_and_shape(ptx):
    one = named(ptx)
    for types in KINDS[one.kind].types:
        for m, n in extents(one, every=True):
            check(one, one.describe(types, m=m, n=n))


WRONG = {
    "rows": (
        {"m": 64, "n": 16},
        None,
        "metadata of 64 rows of a CTA are published only as a picture",
    ),
    "a selector": ({"n": 16, "selector": 2}, None, "metadata of selector 2 is published only as"),
    "a column": ({"n": 16}, r"(\[%acc\+)16(\], 0x)", "its metadata begin in column 17; legal: an"),
    "none": ({"n": 16}, r"(\[%acc\+)16(\], 0x)", "memory as metadata, which nothing has written"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_metadata(what):
    fields, pattern, message = WRONG[what]
    one = named("tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor")
    made = tensor_product_kernel(one, TARGETS["sm_100a"], one.describe(**fields))
    text = made.ptx
    if pattern:
        text, count = re.subn(pattern, rf"\g<1>{17 if what == 'a column' else 20}\2", text)
        assert count == 1
    shown = [np.zeros(b.shape, f"u{b.bits // 8}") for b in made.buffers]
    report = launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    assert any(message in finding.message for finding in report.findings), report.findings
