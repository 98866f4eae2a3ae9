"""PTX written out on elements: what the simulator, which runs it, and numpy make of it."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl

ASM: Any = tl.inline_asm_elementwise


def ran(kernel: Any, *arrays: Any, target: str = "sm_80", warps: int = 2) -> None:
    report = kernel.using(target=target, warps=warps)[1](*arrays)
    assert report is not None
    assert not report.findings


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("count", [1, 16, 256])
def test_several_tiles_and_results(target: str, count: int) -> None:
    """Of fewer elements than the CTA has lanes, and of more."""

    @tilec.kernel
    def kernel(
        x: tl.Array[tl.float32, int],
        y: tl.Array[tl.int32, int],
        sums: tl.Array[tl.float32, int],
        less: tl.Array[tl.int32, int],
        n: tl.Constant[int],
    ) -> None:
        text = """{
            .reg .pred p; .reg .f32 t;
            cvt.rn.f32.s32 t, $3;
            add.f32 $0, $2, t;
            setp.lt.f32 p, $2, t;
            selp.s32 $1, 1, 0, p;
        }"""
        held = tl.load(x, 0, n), tl.load(y, 0, n)
        total, is_less = tl.inline_asm_elementwise(
            text, "=&f,=r,f,r", held, (tl.float32, tl.int32), is_pure=True, pack=1
        )
        tl.store(sums, 0, total)
        tl.store(less, 0, is_less)

    random = np.random.default_rng(0)
    x = random.standard_normal(count).astype(np.float32)
    y = random.integers(-2, 3, count).astype(np.int32)
    sums, less = np.empty_like(x), np.empty_like(y)
    report = kernel.using(target=target)[1](x, y, sums, less, n=count)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(sums, x + y.astype(np.float32))
    np.testing.assert_array_equal(less, x < y)


@pytest.mark.parametrize("shape", [(1,), (2,), (8, 4), (16, 32)])
@pytest.mark.parametrize(("dtype", "pack"), [("int8", 4), ("int8", 8), ("int16", 2), ("int16", 1)])
def test_elements_of_less_than_a_word(shape: tuple[int, ...], dtype: str, pack: int) -> None:
    """Packed into words, the first lowest; where a lane has fewer, nothing else is changed."""
    element = getattr(tl, dtype)
    words = max(np.dtype(dtype).itemsize * pack // 4, 1)
    letter = "h" if np.dtype(dtype).itemsize * pack == 2 else "r"
    width = 16 if letter == "h" else 32
    text = " ".join(f"not.b{width} ${at}, ${words + at};" for at in range(words))
    constraints = ",".join([*[f"={letter}"] * words, *[letter] * words])

    @tilec.kernel
    def kernel(
        x: tl.Array[element, *tuple[int, ...]], y: tl.Array[element, *tuple[int, ...]]
    ) -> None:  # type: ignore[valid-type]
        at = (0,) * len(shape)
        held = tl.load(x, at, shape)
        tl.store(y, at, tl.inline_asm_elementwise(text, constraints, [held], element, True, pack))

    x = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    y = np.empty_like(x)
    ran(kernel, x, y)
    np.testing.assert_array_equal(y, ~x)


def test_places_in_a_word() -> None:
    """Four bytes a call, each to a number of its own."""

    @tilec.kernel
    def kernel(x: tl.Array[tl.int8, int], y: tl.Array[tl.int32, int]) -> None:
        parts = " ".join(f"bfe.s32 ${at}, $4, {8 * at}, 8;" for at in range(4))
        wide = tl.inline_asm_elementwise(
            parts, "=&r,=&r,=&r,=&r,r", [tl.load(x, 0, 512)], tl.int32, pack=4
        )
        tl.store(y, 0, wide)

    x = np.random.default_rng(0).integers(-128, 128, 512).astype(np.int8)
    y = np.empty(512, np.int32)
    ran(kernel, x, y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("target", ["sm_89", "sm_90a", "sm_120a"])
def test_narrow_floats(target: str) -> None:
    """As bytes: a conversion that PTX has."""

    @tilec.kernel
    def kernel(x: tl.Array[tl.float16, int], y: tl.Array[tl.float8_e4m3fn, int]) -> None:
        narrow = tl.inline_asm_elementwise(
            "cvt.rn.satfinite.e4m3x2.f16x2 $0, $1;",
            "=h,r",
            [tl.load(x, 0, 128)],
            tl.float8_e4m3fn,
            pack=2,
        )
        tl.store(y, 0, narrow)

    x = np.random.default_rng(0).standard_normal(128).astype(np.float16)
    y = np.empty(128, ml_dtypes.float8_e4m3fn)
    ran(kernel, x, y, target=target)
    np.testing.assert_array_equal(y.view(np.uint8), x.astype(y.dtype).view(np.uint8))


def test_scalars_broadcast_and_stay_scalars() -> None:
    @tilec.kernel
    def kernel(x: tl.Array[tl.int64, int], by: int) -> None:
        held = tl.load(x, 0, ())
        step = tl.int64(by)
        total = tl.inline_asm_elementwise("add.s64 $0, $1, $2;", "=l,l,l", [held, step], tl.int64)
        assert total.shape == ()
        row = tl.load(x, 0, 64)
        tl.store(x, 0, ASM("add.s64 $0, $1, $2;", "=l,0,l", [row, total], tl.int64))

    x = np.arange(64, dtype=np.int64)
    ran(kernel, x, 7)
    np.testing.assert_array_equal(x, np.arange(64) + 7)


def test_tiles_of_several_units() -> None:
    """96 columns are three units of 32."""

    @tilec.kernel
    def kernel(x: tl.Array[tl.float32, int, int], y: tl.Array[tl.float32, int, int]) -> None:
        a, b = ASM(
            "neg.f32 $0, $2; abs.f32 $1, $2;",
            "=&f,=f,f",
            [tl.load(x, (0, 0), (16, 96))],
            (tl.float32, tl.float32),
        )
        tl.store(y, (0, 0), a + 2.0 * b)

    x = np.random.default_rng(0).standard_normal((16, 96)).astype(np.float32)
    y = np.empty_like(x)
    ran(kernel, x, y)
    np.testing.assert_array_equal(y, -x + 2 * np.abs(x))


def test_in_a_loop_between_products() -> None:
    """An epilogue of PTX on the accumulator of a matrix product."""

    @tilec.kernel
    def kernel(
        a: tl.Array[tl.float16, int, int],
        b: tl.Array[tl.float16, int, int],
        c: tl.Array[tl.float32, int, int],
    ) -> None:
        acc = tl.zeros((32, 32))
        for k in range(0, a.shape[1], 32):
            left = tl.load(a, (0, k), (32, 32))
            left = ASM("neg.f16x2 $0, $1;", "=r,r", [left], tl.float16, pack=2)
            acc = tl.dot(left, tl.load(b, (k, 0), (32, 32)), acc)
        tl.store(c, (0, 0), ASM("max.f32 $0, $1, 0f00000000;", "=f,f", [acc], tl.float32))

    a, b = np.random.default_rng(0).integers(-3, 4, (2, 32, 32)).astype(np.float16)
    c = np.empty((32, 32), np.float32)
    ran(kernel, a, b, c)
    np.testing.assert_array_equal(c, np.maximum(-a.astype(np.float32) @ b.astype(np.float32), 0))


def test_what_is_not_pure_is_kept_and_done_as_often_as_written() -> None:
    @tilec.kernel(warps=1)
    def kernel(x: tl.Array[tl.int32, int], pure: tl.Constant[bool]) -> None:
        for _ in tl.static_range(3):
            tl.inline_asm_elementwise(
                "mov.u32 $0, %clock; // $1", "=r,r", [tl.load(x, 0, 32)], tl.int32, is_pure=pure
            )

    x = np.zeros(32, np.int32)
    counts = {pure: kernel.compile(x, pure=pure).ptx.count("%clock;") for pure in (False, True)}
    assert counts == {False: 3, True: 0}


X = tl.Array[tl.float32, int]
COPY = "mov.b32 $0, $1;"
WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda x: ASM(3, "=f,f", [x], tl.float32), "asm of inline assembly is a string, not 3"),
    (lambda x: ASM(COPY, None, [x], tl.float32), "constraints of inline assembly is a string"),
    (lambda x: ASM(COPY, "=f", [x], tl.float32), "pack 1 takes constraints of 1 output and 1 in"),
    (lambda x: ASM(COPY, "=f,l", [x], tl.float32), "constraint 1 is of an input of 32 bits: r or"),
    (lambda x: ASM(COPY, "=f,0,0", [x, x], tl.float32), "constraint 2 is of an input of 32 bits: "),
    (lambda x: ASM(COPY, "=f,\u0660", [x], tl.float32), "constraint 1 is of an input of 32 bits: "),
    (
        lambda x: ASM("mov.f32 $0, $\u0661;", "=f,f", [x], tl.float32),
        "in the assembly is not a reg",
    ),
    (lambda x: ASM(COPY, "=f,f", [x], tl.float64), "constraint 0 is of an output of 64 bits: ="),
    (lambda x: ASM("mov.b32 $0, $7;", "=f,f", [x], tl.float32), r"'\$7' in the assembly is not a"),
    (lambda x: ASM(COPY, "=f,f", [x], tl.float32, pack=0), "pack is a number from 1 to 64, not 0"),
    (lambda x: ASM(COPY, "=f,f", [x], tl.float32, pack=True), "pack is a number known when"),
    (lambda x: ASM(COPY, "=r,r", [x.astype(tl.int8)], tl.int8, pack=3), "pack 3 of elements of 8"),
    (lambda x: ASM(COPY, "=r,r", [x > 0], tl.int32), "takes no bool: cast it to tl.int32"),
    (lambda x: ASM(COPY, "=r,r", [x], tl.bool_), "takes no bool: cast it to tl.int32"),
    (lambda x: ASM(COPY, "=r", [], tl.int32), "takes at least one tile, which says the shape"),
    (lambda x: ASM(COPY, "=r,r", [3], tl.int32), "takes tiles and scalars, not 3"),
    (lambda x: ASM(COPY, "=r" + ",r" * 5, [x] * 5, tl.int32), "takes 1 to 4 tiles, not 5"),
    (lambda x: ASM(COPY, "=r,r", [x], ()), "gives 1 to 4 tiles, not 0"),
    (lambda x: ASM(COPY, "=r,r,r", [x, tl.zeros(48)], tl.int32), "broadcast"),
]


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[message for _, message in WRONG])
def test_what_is_wrong_is_said_at_its_place(number: int) -> None:
    make, message = WRONG[number]

    @tilec.kernel
    def kernel(x: tl.Array[tl.float32, int]) -> None:
        make(tl.load(x, 0, 32))

    with pytest.raises(tl.KernelError, match=f"error: .*{message}") as caught:
        kernel.compile()
    assert "test_inline_asm.py" in str(caught.value)
