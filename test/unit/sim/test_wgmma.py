"""`wgmma` against numpy: types, N, swizzles, both orders in memory, A in registers, sparse A.

Where elements lie is written down in `wgmma_programs`, from the ISA's pictures as formulas.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tilec.sim import Report, launch

from .wgmma_programs import BITS, DTYPES, Tile, accumulator, fragment, program

START_B = 32768
SWIZZLES = ("none", "32B", "64B", "128B")


def raw(values: np.ndarray, type_: str) -> np.ndarray:
    """Rows of values as rows of bytes."""
    if type_ == "b1":
        return np.packbits(values.astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(values.astype(DTYPES[type_])).view(np.uint8)


def small(rng: np.random.Generator, type_: str, shape: tuple[int, int]) -> np.ndarray:
    """Integers whose products and sums are exact in every type."""
    low, high = (0, 2) if type_ == "b1" else (0, 4) if type_ == "u8" else (-3, 4)
    return rng.integers(low, high, shape)


def registers_of(matrix: np.ndarray, type_: str) -> np.ndarray:
    """C or D as (registers, 128) words."""
    per = 2 if type_ == "f16" else 1
    count = matrix.shape[1] // 2
    found = np.zeros((128, count), DTYPES[type_])
    for t, i in itertools.product(range(128), range(count)):
        found[t, i] = matrix[accumulator(t, i)]
    return np.ascontiguousarray(found.view(np.uint32).reshape(128, count // per).T)


def matrix_of(words: np.ndarray, n: int, type_: str) -> np.ndarray:
    """The inverse."""
    values = np.ascontiguousarray(words.T).view(DTYPES[type_])
    found = np.zeros((64, n), DTYPES[type_])
    for t, i in itertools.product(range(128), range(n // 2)):
        found[accumulator(t, i)] = values[t, i]
    return found


def fragments_of(data: np.ndarray) -> np.ndarray:
    """Rows of 32 bytes of A as (4, 128) words."""
    found = np.zeros((128, 16), np.uint8)
    for t, i in itertools.product(range(128), range(16)):
        found[t, i] = data[fragment(4, t, i)]
    return np.ascontiguousarray(found.view(np.uint32).T)


def run(
    types: tuple[str, str, str],
    n: int,
    *,
    swizzles: tuple[str, str] = ("128B", "128B"),
    transposed: tuple[bool, bool] = (False, False),
    a_registers: bool = False,
    signs: tuple[int, int] = (1, 1),
    satfinite: bool = False,
    scale_d: str = "%p2",
    seed: int = 0,
) -> tuple[Report, np.ndarray, np.ndarray]:
    """The report, what the program gives, and A·B + C of small integers."""
    d_type, a_type, b_type = types
    rng = np.random.default_rng(seed)
    k = 256 // BITS[a_type]
    a, b = small(rng, a_type, (64, k)), small(rng, b_type, (n, k))
    c = rng.integers(-9, 10, (64, n))
    size = max(BITS[a_type] // 8, 1)
    tiles = [
        Tile(rows, 32, size, swizzle, flip)
        for rows, swizzle, flip in zip((64, n), swizzles, transposed, strict=True)
    ]
    image = np.full(START_B + max(tiles[1].bytes, 1024), 0x7B, np.uint8)
    for tile, start, data in zip(
        tiles, (0, START_B), (raw(a, a_type), raw(b, b_type)), strict=True
    ):
        tile.place(image, start, data)
    tail = [scale_d]
    if BITS[a_type] >= 8 and a_type not in ("s8", "u8"):
        tail += map(str, signs)
    if a_type in ("f16", "bf16"):
        tail += [str(int(flip)) for flip in transposed[1 if a_registers else 0 :]]
    clamp = ".satfinite" if satfinite else ""
    bit = ".and.popc" if a_type == "b1" else ""
    mnemonic = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}{clamp}.{d_type}.{a_type}.{b_type}{bit}"
    words = registers_of(c, d_type)
    text = program(
        mnemonic, len(words), a_registers=a_registers, tail=", ".join(tail), sparse=False
    )
    d = np.zeros_like(words)
    report = launch(
        text, "k", 1, 128,
        [image, image.size, tiles[0].descriptor(0), tiles[1].descriptor(START_B), words, d,
         fragments_of(raw(a, a_type)), None],
        dynamic_smem=image.size,
    )  # fmt: skip
    expected = signs[0] * signs[1] * (a @ b.T) + (c if scale_d in ("%p2", "1") else 0)
    return report, matrix_of(d, n, d_type), expected


FLOATS = [("f16", "f16"), ("f32", "f16"), ("f32", "bf16"), ("f32", "tf32")]
TYPES = [
    *((d, a, a) for d, a in FLOATS),
    *itertools.product(("f16", "f32"), ("e4m3", "e5m2"), ("e4m3", "e5m2")),
    *(("s32", a, b) for a, b in itertools.product(("s8", "u8"), repeat=2)),
    ("s32", "b1", "b1"),
]


@pytest.mark.parametrize("types", TYPES, ids="-".join)
@pytest.mark.parametrize("a_registers", [False, True])
def test_types(types: tuple[str, str, str], a_registers: bool) -> None:
    report, found, expected = run(types, 16, a_registers=a_registers)
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)
    assert [(m.warps, m.flops) for m in report.matrix] == [
        (4, 2 * 64 * 16 * (256 // BITS[types[1]]))
    ]


@pytest.mark.parametrize("n", [8, 24, 40, 80, 96, 176, 256])
@pytest.mark.parametrize("type_", ["f16", "f32"])
def test_columns(n: int, type_: str) -> None:
    report, found, expected = run((type_, "f16", "f16"), n)
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)


@pytest.mark.parametrize("swizzles", [*itertools.product(SWIZZLES, repeat=2)])
@pytest.mark.parametrize("transposed", [*itertools.product((False, True), repeat=2)])
def test_places(swizzles: tuple[str, str], transposed: tuple[bool, bool]) -> None:
    report, found, expected = run(
        ("f32", "bf16", "bf16"), 72, swizzles=swizzles, transposed=transposed
    )
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)


@pytest.mark.parametrize("type_", ["tf32", "e4m3", "s8", "b1"])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_places_of_other_types(type_: str, swizzle: str) -> None:
    d = "s32" if type_ in ("s8", "b1") else "f32"
    report, found, expected = run((d, type_, type_), 32, swizzles=(swizzle, swizzle))
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)


@pytest.mark.parametrize("signs", [*itertools.product((1, -1), repeat=2)])
@pytest.mark.parametrize("scale_d", ["%p2", "!%p2", "0", "1"])
def test_signs_and_the_addend(signs: tuple[int, int], scale_d: str) -> None:
    report, found, expected = run(("f32", "f16", "f16"), 8, signs=signs, scale_d=scale_d)
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)


def test_sums_that_clamp() -> None:
    report, found, expected = run(("s32", "s8", "s8"), 8, satfinite=True)
    report.require_ok()
    assert np.array_equal(found, expected)


def run_sparse(
    types: tuple[str, str, str], n: int, *, a_registers: bool, satfinite: bool = False
) -> tuple[Report, np.ndarray, np.ndarray]:
    """Two of four elements of A, or one of two words, the same in each row: 0b1001 and 0b1110."""
    d_type, a_type, b_type = types
    rng, stored_k = np.random.default_rng(n), 256 // BITS[a_type]
    k = 2 * stored_k
    stored, b = small(rng, a_type, (64, stored_k)), small(rng, b_type, (n, k))
    # Of four elements the second and the third; of two words, as two halves each, the second.
    if a_type == "tf32":
        columns, code = 2 * np.arange(stored_k) + 1, 0xEEEEEEEE
    else:
        columns = 4 * (np.arange(stored_k) // 2) + np.array([1, 2] * (stored_k // 2))
        code = 0x99999999
    a = np.zeros((64, k), np.int64)
    a[:, columns] = stored
    size = BITS[a_type] // 8
    tiles = Tile(64, 32, size, "64B"), Tile(n, 64, size, "64B")
    image = np.zeros(START_B + tiles[1].bytes, np.uint8)
    tiles[0].place(image, 0, raw(stored, a_type))
    tiles[1].place(image, START_B, raw(b, b_type))
    tail = ["0"] + (["1", "1"] if d_type != "s32" else [])
    if size == 2:
        tail += ["0"] if a_registers else ["0", "0"]
    clamp = ".satfinite" if satfinite else ""
    shape = f"m64n{n}k{k}{clamp}"
    mnemonic = f"wgmma.mma_async.sp.sync.aligned.{shape}.{d_type}.{a_type}.{b_type}"
    count = n // 4 if d_type == "f16" else n // 2
    text = program(mnemonic, count, a_registers=a_registers, tail=", ".join(tail), sparse=True)
    words, d = np.zeros((count, 128), np.uint32), np.zeros((count, 128), np.uint32)
    report = launch(
        text, "k", 1, 128,
        [image, image.size, tiles[0].descriptor(0), tiles[1].descriptor(START_B), words, d,
         fragments_of(raw(stored, a_type)), np.full(128, code, np.uint32)],
        dynamic_smem=image.size,
    )  # fmt: skip
    return report, matrix_of(d, n, d_type), a @ b.T


@pytest.mark.parametrize("type_", ["f16", "bf16", "tf32", "e4m3", "s8"])
@pytest.mark.parametrize("a_registers", [False, True])
def test_sparse(type_: str, a_registers: bool) -> None:
    d_type = "s32" if type_ == "s8" else "f32"
    report, found, expected = run_sparse((d_type, type_, type_), 16, a_registers=a_registers)
    report.require_ok()
    assert np.array_equal(found.astype(np.int64), expected)


def every_form() -> list[tuple[tuple[str, str, str], bool, int, bool, bool]]:
    """Types, whether sums clamp, N, whether A is sparse and whether in registers: the ISA's."""
    found = []
    for types in TYPES:
        few = types[0] == "s32"
        columns = (8, 16, 24, *range(32, 257, 16)) if few else range(8, 257, 8)
        clamps = (False, True) if few and types[1] != "b1" else (False,)
        kinds = (False,) if types[1] == "b1" else (False, True)
        found += itertools.product([types], clamps, columns, kinds, (False, True))
    return found


def test_there_are_so_many_forms() -> None:
    assert len(every_form()) == 2 * (546 + 528)


@pytest.mark.parametrize(
    "part", [pytest.param(slice(n, None, 16), marks=pytest.mark.slow, id=f"{n}") for n in range(16)]
    + [pytest.param(slice(5, None, 97), id="drawn")],
)  # fmt: skip
def test_every_form(part: slice) -> None:
    for types, clamps, n, sparse, a_registers in every_form()[part]:
        execute = run_sparse if sparse else run
        report, found, expected = execute(types, n, a_registers=a_registers, satfinite=clamps)
        report.require_ok()
        assert np.array_equal(found.astype(np.int64), expected), (types, n, sparse, a_registers)
