"""Descriptors of tcgen05: bits as the ISA's tables have them, both ways; refusals."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tilec.isa import TilecError
from tilec.isa.described_product import described_product, product_named
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.instructions import instructions, named
from tilec.isa.matrix_descriptor import SWIZZLE_CODES, MatrixDescriptor
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.tensor_shapes import KINDS

# PTX ISA 9.7.16.4.2, as a table of (field, first bit) of each kind.
COMMON = {"sparse": 2, "a": 7, "b": 10, "negate_a": 13, "negate_b": 14, "n": 17, "m": 24}
PLAIN = COMMON | {"selector": 0, "saturate": 3, "d": 4, "transpose_a": 15, "transpose_b": 16}
PLAIN |= {"shift": 30}
SCALED = COMMON | {"sfb_id": 4, "transpose_a": 15, "transpose_b": 16, "scale": 23, "sfa_id": 29}
SCALED |= {"wide": 31}
FP8 = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
TYPES = {
    "f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "f8f6f4": FP8, "i8": {"u8": 0, "s8": 1},
    "mxf8f6f4": FP8, "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1},
}  # fmt: skip
RESULTS = {"f16": 0, "f32": 1, "s32": 2}
SCALES = {"ue4m3": 0, "ue8m0": 1}


def bits(kind, **fields):
    """The word of these fields, by the table above."""
    codes = {"a": TYPES[kind], "b": TYPES[kind], "d": RESULTS, "scale": SCALES}
    word = 0
    for name, low in (SCALED if kind.startswith("mx") else PLAIN).items():
        value = fields.get(name, 0)
        value = codes.get(name, {}).get(value, value)
        value = {"n": lambda v: v // 8, "m": lambda v: v // 16}.get(name, lambda v: v)(value)
        if name == "shift":
            value = (0, 8, 16, 32).index(value)
        word |= int(value) << low
    return word


def every_descriptor():
    for kind in KINDS.values():
        scales = kind.scales or ("",)
        for (d, a, b), scale, m, n in product(kind.types, scales, (64, 128, 256), (8, 16, 96, 256)):
            yield {"kind": kind.name, "d": d, "a": a, "b": b, "m": m, "n": n, "scale": scale}


def test_every_type_and_shape_stands_where_the_table_has_it():
    for fields in every_descriptor():
        made = InstructionDescriptor(**fields)
        wanted = bits(**fields)
        assert made.encode() == wanted, fields
        assert InstructionDescriptor.decode(fields["kind"], wanted) == made


def test_flags():
    flags = {
        "f16": ("negate_a", "negate_b", "transpose_a", "transpose_b"),
        "i8": ("saturate", "transpose_a", "transpose_b"),
        "mxf8f6f4": ("negate_a", "transpose_b"),
        "mxf4": ("negate_b", "wide"),
    }
    firsts = {kind.name: kind for kind in KINDS.values()}
    for name, several in flags.items():
        d, a, b = firsts[name].types[0]
        scale = (firsts[name].scales or ("",))[-1]
        base = {"kind": name, "d": d, "a": a, "b": b, "m": 128, "n": 64, "scale": scale}
        for flag in several:
            word = InstructionDescriptor(**base, **{flag: True}).encode()
            assert word == bits(**base, **{flag: True})
            assert getattr(InstructionDescriptor.decode(name, word), flag) is True
    scaled = InstructionDescriptor(
        kind="mxf8f6f4", d="f32", a="e2m1", b="e5m2", m=128, n=32, scale="ue8m0", sfa_id=3, sfb_id=2
    )
    assert scaled.encode() == 3 << 29 | 8 << 24 | 1 << 23 | 4 << 17 | 1 << 10 | 5 << 7 | 2 << 4
    moved = InstructionDescriptor(
        kind="f16", d="f32", a="f16", b="f16", m=64, n=64, sparse=True, selector=1, shift=32
    )
    assert moved.encode() == 3 << 30 | 4 << 24 | 8 << 17 | 1 << 4 | 1 << 2 | 1
    assert InstructionDescriptor.decode("f16", moved.encode()) == moved


def test_a_descriptor_of_triton():
    """Of its f16 product of 128x128 with B along N."""
    found = InstructionDescriptor.decode("f16", 0x08210010)
    assert (found.d, found.a, found.b, found.m, found.n) == ("f32", "f16", "f16", 128, 128)
    assert (found.transpose_a, found.transpose_b, found.sparse) == (False, True, False)
    assert found.shape.k == 16
    assert found.encode() == 0x08210010


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a": "bf16", "b": "f16"}, "has no f32 bf16 f16 of D, A, B; legal: f16 f16 f16, "),
        ({"d": "f16", "a": "bf16", "b": "bf16"}, "has no f16 bf16 bf16"),
        ({"saturate": True}, "saturate True is not legal for kind::f16"),
        ({"scale": "ue8m0"}, "no scale factors of type 'ue8m0'; legal: none"),
        ({"selector": 1}, "selector 1 is not legal"),
        ({"kind": "f17"}, "unknown kind 'f17'"),
    ],
)
def test_what_no_kind_has(fields, message):
    whole = {"kind": "f16", "d": "f32", "a": "f16", "b": "f16", "m": 128, "n": 64} | fields
    with pytest.raises(TilecError, match=message):
        InstructionDescriptor(**whole)


@pytest.mark.parametrize(
    ("kind", "word", "message"),
    [
        (
            "f16",
            2 << 7 | 1 << 4,
            "type code 2 of A has no meaning for kind::f16; legal: 0 f16, 1 bf",
        ),
        ("f8f6f4", 2 << 10 | 1 << 4, "type code 2 of B"),
        ("f16", 3 << 4, "type code 3 of D"),
        ("f16", 1 << 4 | 1 << 6, "bits 0x40 have no meaning"),
        ("f16", 1 << 4 | 1 << 23, "bits 0x800000 have no meaning"),
        ("mxf4", 1 << 7 | 1 << 10 | 1 << 23 | 1 << 12, "bits 0x1000 have no meaning"),
        ("mxf4", 1 << 7 | 1 << 10, "no scale factors of type 'ue4m3'"),
    ],
)
def test_words_that_say_nothing(kind, word, message):
    with pytest.raises(TilecError, match=message):
        InstructionDescriptor.decode(kind, word)


# PTX ISA 9.7.16.2.1, Table of shapes, once more: (kind, cta_group, ws, sparse) -> M, N.
EIGHTS, SIXTEENS = list(range(8, 257, 8)), list(range(16, 257, 16))
SHAPES = {
    ("f16", 1, False, False): ([64, 128], EIGHTS),
    ("tf32", 2, False, True): ([128, 256], SIXTEENS),
    ("f8f6f4", 1, True, False): ([32, 64, 128], [64, 128, 256]),
    ("f16", 1, True, True): ([32, 64, 128], [64, 128]),
    ("i8", 1, False, False): ([64, 128], [8, 16, 24, *range(32, 257, 16)]),
    ("i8", 2, False, False): ([128, 256], list(range(32, 257, 32))),
    ("mxf8f6f4", 1, False, True): ([128], EIGHTS),
    ("mxf4", 2, False, False): ([128, 256], SIXTEENS),
    ("mxf4nvf4", 2, False, True): ([256], SIXTEENS),
}


def takes(one, m, n):
    """Whether a product has such a shape; the error says which it has."""
    try:
        one.describe(m=m, n=n)
    except TilecError as error:
        said = str(error)
    else:
        return True
    if " is not legal for kind::" not in said:
        pytest.fail(said)
    return False


@pytest.mark.parametrize("case", SHAPES)
def test_shapes(case):
    kind, group, stationary, sparse = case
    scaled = kind.startswith("mx")
    words = ["tcgen05.mma", *["ws"] * stationary, *["sp"] * sparse, f"cta_group::{group}"]
    words += [f"kind::{kind}", *["block_scale.block32"] * scaled]
    one = named(".".join(words))
    wanted = {(m, n) for m, n in product(*SHAPES[case])}
    found = set()
    for m, n in product((16, 32, 64, 96, 128, 192, 256), range(0, 264, 4)):
        if takes(one, m, n):
            found.add((m, n))
    assert found == wanted


def test_k():
    """32 bytes of A as stored."""
    ks = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
    for one in instructions().values():
        if isinstance(one, TensorProduct) and "collector" not in one.ptx:
            assert one.describe().shape.k == ks[one.kind] * (2 if one.sparse else 1)
            assert one.describe().sparse is one.sparse
    assert named("tcgen05.mma.cta_group::1.kind::mxf4.block_scale").describe(wide=1).shape.k == 96


def test_b_of_bytes_along_n_wants_wider_steps():
    one = named("tcgen05.mma.cta_group::1.kind::f8f6f4")
    assert one.describe(n=48, transpose_b=1).n == 48
    with pytest.raises(TilecError, match="N = 24 is not a multiple of 16"):
        one.describe(n=24, transpose_b=1)
    with pytest.raises(TilecError, match=r"only \.ws moves columns of B"):
        one.describe(shift=8)


# PTX ISA 9.7.16.4.1: (field, first bit, unit).
MATRIX = {"start": (0, 16), "leading": (16, 16), "stride": (32, 16), "base_offset": (49, 1)}
MODES = {"none": 0, "128B.32B": 1, "128B": 2, "64B": 4, "32B": 6}


def test_matrix_descriptors():
    draw = random.Random(5)
    assert dict(SWIZZLE_CODES) == MODES
    for swizzle, absolute in product(MODES, (False, True)):
        for _ in range(20):
            fields = {
                name: draw.randrange(8 if unit == 1 else 1 << 14) * unit
                for name, (_, unit) in MATRIX.items()
            }
            made = MatrixDescriptor(**fields, swizzle=swizzle, absolute=absolute)
            word = sum(fields[name] // unit << low for name, (low, unit) in MATRIX.items())
            word |= 1 << 46 | absolute << 52 | MODES[swizzle] << 61
            assert made.encode() == word
            assert MatrixDescriptor.decode(word) == made
    # Triton's, K-major with the 128-byte swizzle, and that of scale factors.
    assert MatrixDescriptor.decode(0x40004040 << 32) == MatrixDescriptor(0, 0, 1024, "128B")
    assert MatrixDescriptor.decode(0x4008 << 32) == MatrixDescriptor(0, 0, 128, "none")
    assert MatrixDescriptor.decode(0x84008 << 32).base_offset == 4
    assert MatrixDescriptor(64, 0, 1024, "128B").advanced(32).start == 96


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0, "has 0 in bits 46 to 48, not 1"),
        (1 << 46 | 3 << 61, "has swizzle 3; legal: 0 1 2 4 6"),
        (1 << 46 | 1 << 14, "bits 0x4000 have no meaning"),
    ],
)
def test_matrix_words_that_say_nothing(word, message):
    with pytest.raises(TilecError, match=message):
        MatrixDescriptor.decode(word)


def test_matrix_fields_that_do_not_fit():
    with pytest.raises(TilecError, match="a start of 8 is not a multiple of 16 below 262144"):
        MatrixDescriptor(8, 0, 0)
    with pytest.raises(TilecError, match="unknown swizzle '256B'; legal: none"):
        MatrixDescriptor(0, 0, 0, "256B")


@pytest.mark.parametrize(
    ("how", "descriptor"),
    [
        ({}, {"kind": "f16", "d": "f32", "a": "bf16", "b": "bf16", "m": 128, "n": 256}),
        ({"group": 2}, {"kind": "tf32", "d": "f32", "a": "tf32", "b": "tf32", "m": 256, "n": 64}),
        ({"a": "tensor"}, {"kind": "f16", "d": "f16", "a": "f16", "b": "f16", "m": 64, "n": 8}),
        (
            {"stationary": True},
            {"kind": "i8", "d": "s32", "a": "s8", "b": "u8", "m": 32, "n": 64, "saturate": True},
        ),
        (
            {"chunks": 1},
            {
                "kind": "mxf8f6f4", "d": "f32", "a": "e4m3", "b": "e2m1", "m": 128, "n": 64,
                "sparse": True, "scale": "ue8m0",
            },
        ),
    ],
)  # fmt: skip
def test_products_are_found_by_their_keys(how: dict, descriptor: dict) -> None:
    """Whatever the key has; what it leaves out, such as signs, is as without."""
    made = described_product(InstructionDescriptor(**descriptor), **how)
    found = product_named(made.ptx)
    assert found.descriptor == made.descriptor
    assert (found.ptx, found.shape, found.group) == (made.ptx, made.shape, made.group)
    assert found.flops == 2 * made.shape.m * made.shape.n * made.shape.k
    assert [one.storage for one in found.operands] == [one.storage for one in made.operands]


@pytest.mark.parametrize("name", ["", "mma.sync.aligned", "tcgen05.mma.cta_group::1.kind::f16"])
def test_what_is_no_key_of_a_product_is_refused(name: str) -> None:
    with pytest.raises(TilecError, match=r"is not a product of tcgen05\.mma"):
        product_named(name)
