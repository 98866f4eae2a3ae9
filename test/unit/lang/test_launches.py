"""What a launch passes: scalars in their types' ranges, arrays that overlap, promises that hold."""

import math
from fractions import Fraction
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.lang.array_arguments import array_argument, disjoint


def echo(dtype: type[tl.DType]) -> Any:
    """A kernel that stores its scalar."""

    @tilec.kernel(warps=1)
    def kernel(out: tl.Array[dtype, int], value: tl.Scalar[dtype]) -> None:  # type: ignore[valid-type]
        tl.store(out, 0, tl.full(1, value))

    return kernel


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_passed_or_refused(name: str) -> None:
    kernel, range_ = echo(getattr(tl, name)), np.iinfo(name)
    low, high = int(range_.min), int(range_.max)
    for value in (low, high, 0, 1, low - 1, high + 1, -(2**63), 2**64, 10**30, -1):
        out = np.zeros(1, name)
        if low <= value <= high:
            kernel[1](out, value)
            assert out[0] == value
        else:
            with pytest.raises(tilec.isa.LaunchError, match=f"'value' is {value}; the kernel"):
                kernel[1](out, value)
    for wrong in (1.0, True, "1", None, np.zeros(2, name)):
        with pytest.raises(tilec.isa.LaunchError, match="argument 'value' is"):
            kernel[1](np.zeros(1, name), wrong)
    kernel[1](out := np.zeros(1, name), np.uint8(7))
    assert out[0] == 7


FLOATS: dict[str, Any] = {
    **{name: np.dtype(name) for name in ("float16", "float32", "float64")},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_rounded_or_refused(name: str) -> None:
    kernel, dtype = echo(getattr(tl, name)), FLOATS[name]
    for value in (1.5, 3, -0.1, math.inf, -math.inf, np.float32(0.3), np.float64(1e-9), 65504):
        out = np.zeros(1, dtype)
        kernel[1](out, value)
        assert out[0] == dtype.type(value)
    kernel[1](out, dtype.type(2.5))
    assert out[0] == 2.5
    kernel[1](out, math.nan)
    assert math.isnan(out[0])
    most = float(ml_dtypes.finfo(dtype).max)
    for value in (10**400, int(most) * 4):
        with pytest.raises(tilec.isa.LaunchError, match="in which it is infinite"):
            kernel[1](out, value)
    for wrong in (True, "1", 1j, Fraction(1, 2)):
        with pytest.raises(tilec.isa.LaunchError, match="argument 'value' is"):
            kernel[1](out, wrong)


@tilec.kernel
def counting(out: tl.Array[tl.int64, int], n: int, size: tl.Size, flag: bool) -> None:
    tl.store(out, 0, tl.full(1, n))
    tl.store(out, 1, tl.full(1, size))
    tl.store(out, 2, tl.full(1, flag).astype(tl.int64))


def test_sizes_are_never_negative() -> None:
    out = np.zeros(3, np.int64)
    counting[1](out, -(2**63), 2**63 - 1, np.bool_(True))
    assert out.tolist() == [-(2**63), 2**63 - 1, 1]
    for wrong in ((2**63, 0, True), (0, -1, True), (0, 2**63, True), (0, 0, 1)):
        with pytest.raises(tilec.isa.LaunchError):
            counting[1](out, *wrong)


Vector = tl.Array[tl.float32, int]


@tilec.kernel
def through(x: Vector, y: Vector) -> None:
    tl.store(x, 0, tl.full(16, 5.0))
    tl.store(y, 0, tl.load(y, 0, 16) + 1.0)


@pytest.mark.parametrize("shift", [0, 1, 4, 15, 16, 40])
def test_views_of_one_array_are_one_memory(shift: int) -> None:
    base = np.arange(64, dtype=np.float32)
    expected = base.copy()
    expected[:16] = 5
    expected[shift : shift + 16] += 1
    through[1](base[:16], base[shift : shift + 16])
    np.testing.assert_array_equal(base, expected)


@tilec.kernel
def columns(x: tl.Array[tl.int16, int, int], y: tl.Array[tl.int16, int, int]) -> None:
    tl.store(y, (0, 0), tl.load(x, (0, 0), (8, 4)) * 2)


def test_views_between_each_others_elements() -> None:
    base = RANDOM.integers(0, 99, (8, 8)).astype(np.int16)
    expected = base.copy()
    expected[:, 4:] = 2 * base[:, :4]
    columns[1](base[:, :4], base[:, 4:])
    np.testing.assert_array_equal(base, expected)


RANDOM = np.random.default_rng(0)


def test_which_arrays_share_no_memory() -> None:
    base = np.zeros((8, 16), np.float32)
    arrays = {
        "left": base[:, :4],
        "right": base[:, 4:],
        "rows": base[2:4],
        "apart": np.zeros(3, np.int8),
        "none": base[:0],
    }
    held = {name: array_argument(name, array, "") for name, array in arrays.items()}
    assert disjoint(held) == {"apart", "none"}
    del held["rows"]
    assert disjoint(held) == {"left", "right", "apart", "none"}  # elements interleave
    top, bottom = (array_argument("", half, "") for half in (base[:4], base[4:]))
    assert disjoint({"top": top, "bottom": bottom}) == {"top", "bottom"}


Matrix = tl.Array[tl.float32, int, int]


@tilec.kernel
def assuming(x: Matrix, y: Annotated[Matrix, tl.Facts(aligned=8)]) -> None:
    tl.assume(x, aligned=16, sizes=(1, 4))
    tl.assume(x, strides=(8, 1))
    tl.assume(y, aligned=4)
    tl.store(y, (0, 0), tl.load(x, (0, 0), (4, 16)))


def at(offset: int, rows: int, columns: int, step: int) -> np.ndarray[Any, Any]:
    """A matrix so many bytes after a multiple of 64, its rows so many elements apart."""
    memory = np.zeros(4 * rows * step + 192, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    whole = memory[start : start + 4 * rows * step].view(np.float32).reshape(rows, step)
    return whole[:, :columns]


def test_assumptions_are_checked() -> None:
    y = at(8, 4, 16, 16)
    assuming[1](at(0, 4, 8, 8), y)
    assuming[1](at(16, 4, 12, 16), y)
    assuming[1](at(16, 1, 12, 13), y)  # of one row the stride does not count
    assuming[1](at(3, 0, 12, 12), y)  # nor does the place of no elements
    with pytest.raises(tilec.isa.LaunchError, match=r"'x' lies at 0x\w+, .* multiple of the 16 b"):
        assuming[1](at(4, 4, 8, 8), y)
    with pytest.raises(tilec.isa.LaunchError, match=r"'x' has the shape \[4, 6\], .* of \[1, 4\]"):
        assuming[1](at(0, 4, 6, 8), y)
    with pytest.raises(tilec.isa.LaunchError, match=r"strides \[12, 1\], .* multiples of \[8, 1\]"):
        assuming[1](at(0, 4, 8, 12), y)
    with pytest.raises(
        tilec.isa.LaunchError, match=r"'y' lies at .* 8 bytes that the kernel relies"
    ):
        assuming[1](at(0, 4, 8, 8), at(4, 4, 16, 16))


def test_the_place_of_the_assumption_is_named() -> None:
    first = assuming.source.tree.lineno
    for wrong, line in ((at(4, 4, 8, 8), first + 1), (at(0, 4, 8, 12), first + 2)):
        with pytest.raises(tilec.isa.LaunchError) as error:
            assuming[1](wrong, at(8, 4, 16, 16))
        assert f"tl.assume guarantees at {__file__}:{line}:5" in str(error.value)


@pytest.mark.parametrize("facts", [
    {"sizes": 4}, {"sizes": "44"}, {"strides": None}, {"strides": {4: 4}},
    {"aligned": 1 << 70}, {"sizes": (1 << 70, 1)}, {"strides": (4, -4)}, {"aligned": 2.0},
])  # fmt: skip
def test_facts_are_powers_of_two_in_tuples(facts: Any) -> None:
    @tilec.kernel
    def annotated(x: Annotated[Matrix, tl.Facts(**facts)]) -> None:
        pass

    @tilec.kernel
    def assumed(x: Matrix) -> None:
        tl.assume(x, **facts)

    for kernel in (annotated, assumed):
        for shape in ((4, 8), (0, 0)):
            with pytest.raises(tilec.TilecError, match=r"x: facts (are|of sizes and strides are) "):
                kernel[1](np.zeros(shape, np.float32))


@pytest.mark.parametrize("dtype", [[], "V0"])
def test_elements_of_no_bytes_are_refused(dtype: Any) -> None:
    kernel = echo(tl.float32)
    with pytest.raises(tilec.isa.LaunchError, match=r"'out' has elements of .*, of no bytes"):
        kernel[1](np.zeros(1, dtype), 1.0)
