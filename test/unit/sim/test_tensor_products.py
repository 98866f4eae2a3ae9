"""`tcgen05.mma` on the simulator against numpy, by kernels that tilec emits.

Where elements lie in tensor memory is coded once more here, from the tables of PTX ISA 9.7.16.10.5;
small whole numbers make every sum exact, so that one element in a wrong place shows.
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
from tilec.isa.tensor_shapes import KINDS, columns, rows
from tilec.sim import PtxError, launch

SM_100A = TARGETS["sm_100a"]
NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
}  # fmt: skip
BITS = {"e2m3": 6, "e3m2": 6, "e2m1": 4}
CONTAINER = {"f16": 16, "tf32": 32, "f8f6f4": 8, "i8": 8}


def lane_and_column(m, n, extents, *, stationary):
    """Where element (m, n) of D lies."""
    rows_, cols = extents
    if rows_ == 128:
        return m, n
    if rows_ == 64 and not stationary:
        return 32 * (m // 16) + m % 16, n
    banks = 128 // rows_
    return m + rows_ * (n // (cols // banks)), n % (cols // banks)


def numbers(rng, type_, shape):
    """Small whole numbers that every type holds, with and without a sign."""
    low = 0 if type_ == "u8" else -2
    return rng.integers(low, 3, shape).astype(NUMPY[type_])


def in_shared(matrix, type_):
    """Bytes of rows; elements of 4 and 6 bits packed into the beginning of every 16 bytes."""
    bits = BITS.get(type_)
    if bits is None:
        return np.ascontiguousarray(matrix).view(np.uint8)
    codes = matrix.view(np.uint8).reshape(len(matrix), -1, 16)
    each = np.unpackbits(codes[..., None], axis=-1, bitorder="little")[..., :bits]
    packed = np.packbits(each.reshape(*codes.shape[:2], -1), axis=-1, bitorder="little")
    return np.pad(packed, ((0, 0), (0, 0), (0, 16 - packed.shape[-1]))).reshape(len(matrix), -1)


def in_tensor(matrix, type_, *, extents, stationary):
    """Words of A, lane by lane: elements of 4 bits in the middle of their byte."""
    data = np.ascontiguousarray(matrix)
    if type_ in BITS:
        data = data.view(np.uint8) << (2 if type_ == "e2m1" else 0)
    words = data.astype(data.dtype).view(np.uint32).reshape(len(matrix), -1)
    found = np.full((128, words.shape[1]), 0x7F7F7F7F, np.uint32)
    for m in range(len(matrix)):
        found[lane_and_column(m, 0, extents, stationary=stationary)[0]] = words[m]
    return found


def run(one, descriptor, rng, numerics="fast"):
    """D as the simulator leaves it, and as it is."""
    m, n, k = descriptor.shape
    a, b = numbers(rng, descriptor.a, (m, k)), numbers(rng, descriptor.b, (n, k))
    c = numbers(rng, descriptor.d, (m, n))
    made = tensor_product_kernel(one, SM_100A, descriptor)
    places = [
        [lane_and_column(i, j, (m, n), stationary=one.stationary) for j in range(n)]
        for i in range(m)
    ]
    lanes, cols = np.moveaxis(np.array(places), -1, 0)
    words = np.uint16 if NUMPY[descriptor.d] is np.float16 else np.uint32
    before = np.zeros(made.buffers[0].shape, np.uint32)
    before[lanes, cols] = np.ascontiguousarray(c).view(words)
    after = np.zeros_like(before)
    shown = [after]
    if one.a == "tensor":
        shown.append(in_tensor(a, descriptor.a, extents=(m, n), stationary=one.stationary))
    else:
        shown.append(in_shared(a.T if descriptor.transpose_a else a, descriptor.a))
    shown.append(in_shared(b.T if descriptor.transpose_b else b, descriptor.b))
    shown.append(before)
    assert [one.shape for one in shown] == [buffer.shape for buffer in made.buffers]
    launch(
        made.ptx, "try_instruction", (1,), (128,), shown, arch="sm_100a", numerics=numerics
    ).require_ok()
    found = after[lanes, cols].astype(words).view(NUMPY[descriptor.d])
    sides = [-1.0 if negated else 1.0 for negated in (descriptor.negate_a, descriptor.negate_b)]
    wide = (sides[0] * a.astype(np.float64)) @ (sides[1] * b.astype(np.float64)).T
    return found, (wide + c.astype(np.float64)).astype(NUMPY[descriptor.d])


def check(one, descriptor, numerics="fast"):
    rng = np.random.default_rng(descriptor.encode())
    found, wanted = run(one, descriptor, rng, numerics)
    np.testing.assert_array_equal(found, wanted, err_msg=f"{one.ptx} {descriptor}")


def shapes(one, types):
    """Every M with the smallest, a middle and the largest N."""
    given = {"stationary": one.stationary, "sparse": False}
    kind = KINDS[one.kind]
    every = list(columns(kind, 1, **given))
    for m, n in product(rows(kind, 1, **given), (every[0], every[len(every) // 2 - 1], every[-1])):
        yield one.describe(types, m=m, n=n)


BASIC = [
    one
    for one in instructions().values()
    if isinstance(one, TensorProduct)
    and one.group == 1
    and not one.sparse
    and not re.search("collector|ashift", one.ptx)
]


@pytest.mark.parametrize("kind", KINDS)
def test_algebraic_numerics_are_of_integers_alone(kind):
    """The others are refused where they stand, and not computed as floats."""
    one = next(found for found in BASIC if found.kind == kind)
    descriptor = one.describe(KINDS[kind].types[0], n=64)
    if kind == "i8":
        check(one, descriptor, "algebraic")
        return
    made = tensor_product_kernel(one, SM_100A, descriptor)
    shown = [np.zeros(buffer.shape, np.uint32) for buffer in made.buffers]
    with pytest.raises(
        PtxError, match=rf":\d+: '{re.escape(one.mnemonic)}' has no meaning in algebraic numerics"
    ):
        launch(made.ptx, "try_instruction", (1,), (128,), shown, numerics="algebraic")


@pytest.mark.parametrize("ptx", [one.ptx for one in BASIC if not one.scaled])
def test_every_kind(ptx):
    """The first and the last of its types, of every M and with different N."""
    one = named(ptx)
    types = KINDS[one.kind].types
    for number, descriptor in enumerate(shapes(one, types[-1])):
        if number % 2 == 0 and descriptor.n < 256:
            check(one, descriptor)


@pytest.mark.slow
@pytest.mark.parametrize("ptx", [one.ptx for one in BASIC if not one.scaled])
def test_every_type_and_shape(ptx):
    one = named(ptx)
    for types in KINDS[one.kind].types:
        for descriptor in shapes(one, types):
            check(one, descriptor)


@pytest.mark.parametrize("kind", ["f16", "f8f6f4", "i8"])
@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0), (1, 1)])
def test_transposed(kind, a, b):
    one = named(f"tcgen05.mma.cta_group::1.kind::{kind}")
    types = KINDS[kind].types[0 if kind != "f8f6f4" else -25]
    check(one, one.describe(types, m=64, n=32, transpose_a=a, transpose_b=b))


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0), (1, 1)])
def test_words_along_m_and_n(a, b, assemblers_for):
    """tf32, in panels of which pieces of 32 bytes are exchanged: PTX ISA 9.7.16.4.1."""
    one = named("tcgen05.mma.cta_group::1.kind::tf32")
    for n in (8, 40):
        descriptor = one.describe(m=64, n=n, transpose_a=a, transpose_b=b)
        check(one, descriptor)
        made = tensor_product_kernel(one, SM_100A, descriptor)
        assert assemblers_for(SM_100A)[-1].run(made.ptx, "sm_100a") == (0, "")


def panels(matrix):
    """Rows of 8 along K as they lie in shared memory, element by element.

    CuTe's `Swizzle<2,5,2> o ((8,n),(4,k)):((1,LBO),(4,SBO))`, in units of 16 bytes.
    """
    rows, k = matrix.shape
    found = np.zeros(-(-rows // 32) * 1024 * (k // 8), np.uint8)
    for row, line in product(range(rows), range(k)):
        at = 4 * row // 128 * (128 * k) + line // 4 * 512 + line % 4 * 128 + 4 * row % 128
        at ^= (at >> 7 & 3) << 5
        found[at : at + 4] = np.array([matrix[row, line]], np.float32).view(np.uint8)
    return found


def test_panels_lie_as_cute_has_them():
    """What a kernel of ours puts there, read by nobody of ours: the bytes themselves."""
    one = named("tcgen05.mma.cta_group::1.kind::tf32")
    descriptor = one.describe(m=64, n=40, transpose_b=1)
    text = tensor_product_kernel(one, SM_100A, descriptor).ptx
    copied = "".join(
        f"ld.shared.b32 %w0, [image_b+{at}]; st.global.b32 [%far+{at}], %w0;\n"
        for at in range(0, 2048, 4)
    )
    text = text.replace(
        "    fence.proxy.async.shared::cta;",
        f"    bar.sync 0; ld.param.u64 %far, [d]; @!%one bra $done;\n{copied}$done:\n"
        "    fence.proxy.async.shared::cta;",
        1,
    )
    end = "bar.sync 0;\n@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %acc, 64;\nret;\n}\n"
    text = text.partition("$done:")[0] + f"$done: {end}"
    b = np.arange(320, dtype=np.float32).reshape(40, 8)
    d = np.zeros(2048, np.uint8)
    shown = [d, np.zeros((64, 32), np.uint8), np.ascontiguousarray(b.T).view(np.uint8)]
    shown.append(np.zeros((128, 40), np.float32))
    launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    wanted = panels(b)
    held = panels(np.ones_like(b)) != 0
    np.testing.assert_array_equal(d[held], wanted[held])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0x2000", "0x4000", "operand b lies with swizzle 128B; where elements of 32 bits are"),
        ("0x2000", "0x2002", "base offset 1 of operand b is not simulated: its effect is not publ"),
        ("0x2000", "0x2010", "operand b has an absolute address, which is not simulated"),
    ],
)
def test_descriptors_of_words_along_n(old, new, says):
    one = named("tcgen05.mma.cta_group::1.kind::tf32")
    text = tensor_product_kernel(one, SM_100A, one.describe(m=64, n=8, transpose_b=1)).ptx
    text, count = re.subn(rf"(or.b64 %b0, %b0, ){old}", rf"\g<1>{new}", text)
    assert count == 1
    shown = [np.zeros((128, 8), np.float32), np.zeros((64, 32), np.uint8)]
    shown += [np.zeros((8, 32), np.uint8), np.zeros((128, 8), np.float32)]
    report = launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    assert any(says in one.message for one in report.findings), report.findings


def test_signs_and_rounding():
    one = named("tcgen05.mma.cta_group::1.kind::f16")
    for negate_a, negate_b in ((1, 0), (0, 1), (1, 1)):
        check(one, one.describe(m=64, n=16, negate_a=negate_a, negate_b=negate_b))
    for kind in ("f16", "tf32", "f8f6f4"):
        found = named(f"tcgen05.mma.cta_group::1.kind::{kind}")
        check(found, found.describe(m=64, n=16), "exact")


def test_integers_clamp():
    one = named("tcgen05.mma.cta_group::1.kind::i8")
    for saturate, wanted in ((1, np.iinfo(np.int32).max), (0, -(1 << 31) + 32 * 127 * 127 - 1)):
        descriptor = one.describe(("s32", "s8", "s8"), m=64, n=8, saturate=saturate)
        made = tensor_product_kernel(one, SM_100A, descriptor)
        after, full = np.zeros((128, 8), np.int32), np.iinfo(np.int32).max
        shown = [np.full(buffer.shape, 127, np.uint8) for buffer in made.buffers[1:3]]
        shown.append(np.full((128, 8), full, np.int32))
        launch(made.ptx, "try_instruction", (1,), (128,), [after, *shown], arch="sm_100a")
        assert (after[:16] == wanted).all()


def test_a_mask_of_lanes_and_an_exponent():
    """Lanes whose bit is 1 stay; D is divided before."""
    one = named("tcgen05.mma.cta_group::1.kind::f16")
    made = tensor_product_kernel(one, SM_100A, one.describe(("f32", "f16", "f16"), m=128, n=8))
    text = re.sub(
        r"(kind::f16 .*?, 0x\w+), %adds;", r"\1, {%m0, %m1, %m2, %m3}, %adds, 3;", made.ptx
    )
    masks = "mov.b32 %m0, 0xf; mov.b32 %m1, 0; mov.b32 %m2, 0x80000000; mov.b32 %m3, -1;"
    text = text.replace("    mov.u32 %lane", f"    .reg .b32 %m<4>; {masks}\n    mov.u32 %lane", 1)
    a = np.ones((128, 16), np.float16)
    b, c, d = (
        np.ones((8, 16), np.float16),
        np.full((128, 8), 24, np.float32),
        np.zeros((128, 8), "f4"),
    )
    views = [a.view(np.uint8), b.view(np.uint8)]
    launch(text, "try_instruction", (1,), (128,), [d, *views, c], arch="sm_100a").require_ok()
    kept = np.zeros(128, np.bool_)
    kept[:4] = kept[95] = kept[96:] = True
    assert (d[kept] == 24).all()
    assert (d[~kept] == 16 + 24 / 8).all()


KERNEL = tensor_product_kernel(
    named("tcgen05.mma.cta_group::1.kind::f16"),
    SM_100A,
    named("tcgen05.mma.cta_group::1.kind::f16").describe(("f32", "f16", "f16"), m=128, n=32),
).ptx
_DESCRIBED = r"(@%one tcgen05.mma.*)0x8080010"
FAULTS = {
    "a wait for the product": (r"@!%some bra \$again;", "", "before the wait for its commit"),
    "a commit": (r"@%one tcgen05.commit.*", "", "deadlock"),
    "a wait for stores": (r"tcgen05.wait::st.*", "", "before a tcgen05.wait::st for"),
    "a fence": (r"fence.proxy.async.*", "", "no fence.proxy.async between"),
    "a barrier": (
        r"(bar.sync 0;\n    tcgen05.fence::after)",
        "tcgen05.fence::after",
        "barrier betw",
    ),
    "columns": (r"\[%acc\], %a0", "[%acc+8], %a0", "D reaches column 32 of tensor memory"),
    "lanes": (r"\[%acc\], %a0", "[%acc+65536], %a0", "D reaches lane 128"),
    "the descriptor": (
        _DESCRIBED, r"mov.b32 %word, 0x8080090; \1%word", "has no f32 bf16 f16 of D, A, B",
    ),
    "M": (
        _DESCRIBED, r"mov.b32 %word, 0x6080010; \1%word",
        "M = 96 is not legal for kind::f16, cta_group::1",
    ),
    "the other descriptor": (r"0x4\w{11}", "0x10", "in bits 46 to 48, not 1"),
    "columns given back": (r"@%first tcgen05.dealloc.*", "", "of which 32 are still allocated"),
    "whether D is added": (r"setp.eq.u32 %adds.*", "", "has an operand made of"),
    "a factor's descriptor": (r"or.b64 %b0.*", "or.b64 %b0, %p_u, 0x400800200000;", "operand made"),
    "a wait for loads": (r"tcgen05.wait::ld.*", "", "before a tcgen05.wait::ld for"),
    "a fence before the barrier": (
        r"tcgen05.fence::before_thread_sync;", "",
        r"without a tcgen05.fence::before_thread_sync between 'tcgen05.st",
    ),
    "a fence behind the barrier": (
        r"(bar.sync 0;\n\s*)tcgen05.fence::after_thread_sync;", r"\1",
        "without a tcgen05.fence::after_thread_sync behind the barrier after 'tcgen05.st",
    ),
    "a fence behind the wait": (
        r"(bra \$again;\n\s*)tcgen05.fence::after_thread_sync;", r"\1",
        "without a tcgen05.fence::after_thread_sync behind the wait for its commit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    old, new, message = FAULTS[fault]
    text, count = re.subn(old, new, KERNEL)
    assert count
    text = text.replace(".reg .b64 %a0;", ".reg .b64 %a0, %p_u; .reg .b32 %word;")
    shown = [np.zeros((128, 32), np.float32), np.zeros((128, 32), np.uint8)]
    shown += [np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.float32)]
    report = launch(
        text, "try_instruction", (1,), (128,), shown, arch="sm_100a", max_steps=5000
    )  # fmt: skip
    said = [f"{finding.kind}: {finding.message}" for finding in report.findings]
    assert any(message in one for one in said), said


def test_a_kernel_without_fences_gets_advice():
    """As Triton's are, which hardware makes right; a kernel with some lacks one."""
    text, count = re.subn(r"tcgen05.fence::\w+;", "", KERNEL)
    assert count == 4
    shown = [np.zeros((128, 32), np.float32), np.zeros((128, 32), np.uint8)]
    shown += [np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.float32)]
    report = launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    assert report.ok
    assert {one.kind for one in report.advice} == {"tensor-fence"}
    said = "\n".join(map(str, report.advice))
    assert "without a tcgen05.fence::after_thread_sync behind the wait for its commit" in said
    assert "without a tcgen05.fence::before_thread_sync between 'tcgen05.st" in said
    assert launch(KERNEL, "try_instruction", (1,), (128,), shown, arch="sm_100a").advice == []


def again(text, change, columns=0):
    """The kernel with another product behind the first, into the same columns or later ones."""
    line = re.search(r"\n *@%one tcgen05.mma.*", text)[0]
    other = line.replace("0x8080010", change).replace("[%acc]", f"[%acc+{columns}]")
    return text.replace(line, line + other)


@pytest.mark.parametrize(
    ("change", "columns", "says"),
    [
        ("0x8080010", 0, ""),
        ("0x8040010", 0, "which 'tcgen05.mma.cta_group::1.kind::f16' of line"),
        ("0x8040010", 16, "writes as another shape, and no tcgen05.commit follows that"),
    ],
)
def test_products_of_other_shapes_do_not_follow_each_other(change, columns, says):
    """PTX ISA 9.7.16.6.2: those of the same accumulator and shape do."""
    made = again(KERNEL, change, columns)
    shown = [np.zeros((128, 32), np.float32), np.zeros((128, 32), np.uint8)]
    shown += [np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.float32)]
    report = launch(made, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    said = "\n".join(map(str, report.findings))
    assert says in said if says else not said


@pytest.mark.parametrize(
    ("uses", "wrong"),
    [
        (("fill", "use", "use", "lastuse"), None), (("discard", "fill", "lastuse"), None),
        (("use",), 0), (("fill", "lastuse", "use"), 2), (("fill", "discard", "lastuse"), 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stationary", [False, True])
def test_a_collector_is_filled_before_it_is_used(uses, wrong, stationary):
    """PTX ISA 9.7.16.10.9: of A, or of B in one of four buffers; others do not count."""
    one = named(f"tcgen05.mma{'.ws' * stationary}.cta_group::1.kind::f16")
    text = tensor_product_kernel(one, SM_100A, one.describe(m=128, n=64)).ptx
    line = re.search(r"\n *@%one tcgen05.mma.*", text)[0]
    buffer = "b1" if stationary else "a"
    lines = [line.replace("kind::f16", f"kind::f16.collector::{buffer}::{use}") for use in uses]
    if stationary:
        lines.insert(0, line.replace("kind::f16", "kind::f16.collector::b2::fill"))
    text = text.replace(line, "".join(lines))
    shown = [np.zeros((128, 64), np.float32), np.zeros((128, 32), np.uint8)]
    shown += [np.zeros((64, 32), np.uint8), np.zeros((128, 64), np.float32)]
    report = launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
    if wrong is None:
        assert not report.findings
        return
    (found,) = report.findings
    said = (
        f"takes {buffer.upper()} from the collector, which no product has filled, or the last has"
    )
    assert said in found.message
    at = text[: text.index(lines[wrong + stationary])].count("\n") + 2
    assert found.line == at


def test_requests_for_columns_do_not_grow():
    """PTX ISA 9.7.16.7.1; columns given back between do not help."""
    alloc = "@%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], {};"
    free = "@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %acc, {};"
    shown = [np.zeros((128, 32), np.float32), np.zeros((128, 32), np.uint8)]
    shown += [np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.float32)]
    for count, says in ((32, ""), (64, "asks for 64 columns after 32; requests may not grow")):
        more = f"bar.sync 0; ld.shared.b32 %acc, [place];\n{free.format(count)}\n"
        text = KERNEL.replace("\n    ret;", f"\n{alloc.format(count)}\n{more}    ret;")
        assert text != KERNEL
        report = launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")
        said = "\n".join(map(str, report.findings))
        assert says in said if says else not said


TWO_COMMITS = [
    (r"(\.shared .align 8 .b64 done;)", r"\1 .shared .align 8 .b64 first;"),
    (r"(@%one mbarrier.init\S* )\[done\], 1;", r"\1[first], 1; \1[done], 1;"),
    (r"(@%one tcgen05.commit\S*) \[done\];", r"\1 [first]; \1 [done];"),
    (
        r"(@%first tcgen05.dealloc)",
        r"$end: mbarrier.try_wait.parity.shared::cta.b64 %some, [first], 0; @!%some bra $end; \1",
    ),
]


def test_a_commit_covers_what_one_before_has_covered():
    """PTX ISA 9.7.16.12: all that the thread has begun, whoever else has been told of it."""
    text = KERNEL
    for old, new in TWO_COMMITS:
        text, count = re.subn(old, new, text)
        assert count == 1, old
    args = [np.zeros((128, 32), np.float32), np.zeros((128, 32), np.uint8)]
    args += [np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.float32)]
    assert launch(text, "try_instruction", (1,), (128,), args, arch="sm_100a").findings == []


SCALED = [one for one in BASIC if one.scaled]
SCALES = {"ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn}


def packed(matrix, kind):
    """Rows in shared memory: of `mxf4` and `mxf4nvf4` two elements a byte, without padding."""
    if kind == "mxf8f6f4":
        return None
    codes = matrix.view(np.uint8)
    return codes[:, 0::2] | codes[:, 1::2] << 4


def factors(rng, rows, chunks, first, scale):
    """Columns of scale factors, (128 lanes, columns of 32 bits), and what they are."""
    held = np.full((128, -(-rows // 32), 4), 0x70, np.uint8)
    values = (2.0 ** rng.integers(-2, 3, (rows, chunks))).astype(SCALES[scale])
    for row, chunk in product(range(rows), range(chunks)):
        held[row % 32 :: 32, row // 32, first + chunk] = values[row, chunk].view(np.uint8)
    return held.view(np.uint32)[..., 0], values.astype(np.float64)


def check_scaled(one, descriptor, numerics):
    rng = np.random.default_rng(descriptor.encode())
    m, n, k = descriptor.shape
    a, b = numbers(rng, descriptor.a, (m, k)), numbers(rng, descriptor.b, (n, k))
    sfa, x = factors(rng, m, one.chunks, descriptor.sfa_id, descriptor.scale)
    sfb, y = factors(rng, n, one.chunks, descriptor.sfb_id, descriptor.scale)
    made = tensor_product_kernel(one, SM_100A, descriptor)
    d, c = np.zeros((128, n), np.float32), rng.integers(-9, 9, (128, n)).astype(np.float32)
    if one.a == "tensor":
        narrow = one.kind != "mxf8f6f4"
        left = packed(a, one.kind).view(np.uint32) if narrow else None
        given = (
            in_tensor(a, descriptor.a, extents=(m, n), stationary=False) if left is None else left
        )
    else:
        given = packed(a, one.kind)
        given = in_shared(a, descriptor.a) if given is None else given
    right = packed(b, one.kind)
    right = in_shared(b, descriptor.b) if right is None else right
    shown = [d, given, right, c, sfa, sfb]
    assert [one.shape for one in shown] == [buffer.shape for buffer in made.buffers]
    launch(
        made.ptx, "try_instruction", (1,), (128,), shown, arch="sm_100a", numerics=numerics
    ).require_ok()
    left = a.astype(np.float64) * x.repeat(k // one.chunks, axis=1)
    wanted = left @ (b.astype(np.float64) * y.repeat(k // one.chunks, axis=1)).T + c
    np.testing.assert_array_equal(d, wanted.astype(np.float32), err_msg=f"{one.ptx} {descriptor}")


@pytest.mark.parametrize("ptx", [one.ptx for one in SCALED])
def test_block_scaled(ptx):
    """Every legal first byte, exactly and fast."""
    one = named(ptx)
    types = KINDS[one.kind].types
    last = {1: 3, 2: 2, 4: 0}[one.chunks]
    check_scaled(one, one.describe(types[-1], n=40, sfa_id=last), "exact")
    check_scaled(one, one.describe(types[0], n=64, sfb_id=last), "fast")


@pytest.mark.slow
@pytest.mark.parametrize("ptx", [one.ptx for one in SCALED])
def test_every_block_scaled_type_and_shape(ptx):
    one = named(ptx)
    for types in KINDS[one.kind].types:
        for descriptor in shapes(one, types):
            check_scaled(one, descriptor, "fast")
