"""`device_print` and `device_assert` on the simulator; ptxas takes what a GPU would run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.backend.cubin import tools

Matrix = tl.Array[tl.float32, int, int]
needs_ptxas = pytest.mark.skipif(not tools("ptxas"), reason="no ptxas")


@tilec.kernel(warps=2)
def printed(x: Matrix, n: int, TYPE: tl.Constant[Any]) -> None:  # noqa: N803
    tl.device_print("50%d", tl.load(x, (0, 0), (2, 4)).astype(TYPE))
    for i in range(n):
        if i == 1:
            tl.device_print("at", i, 0.5)
    tl.device_print("end")


DTYPES = [
    "float16",
    "float64",
    "bfloat16",
    "float8_e5m2",
    "int8",
    "uint32",
    "int64",
    "bool_",
    "int4",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_element_is_a_line(dtype: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.float32)
    if dtype in ("float16", "float64", "bfloat16", "float8_e5m2", "int64", "int8", "int4"):
        x[1] = [-4, -2, -1, -0.5 if "float" in dtype else -3]
    report = printed[2, 1, 2](x, 3, TYPE=getattr(tl, dtype))
    assert not report.findings
    shown = x != 0 if dtype == "bool_" else x
    expected = [
        line
        for z in range(2)
        for y in range(2)
        for line in (
            *(
                f"pid ({y}, 0, {z}) idx ({r}, {c}) 50%d: {shown[r, c]:g}"
                for r in range(2)
                for c in range(4)
            ),
            f"pid ({y}, 0, {z}) at [0]: 1",
            f"pid ({y}, 0, {z}) at [1]: 0.5",
            f"pid ({y}, 0, {z}) end",
        )
    ]
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(expected)
    assert [one for one in lines if one.startswith("pid (0, 0, 0)")] == expected[:11]


def test_tiles_of_any_extents(capfd: pytest.CaptureFixture[str]) -> None:
    @tilec.kernel(warps=1)
    def kernel(x: Matrix) -> None:
        tl.device_print("x", tl.load(x, (0, 0), (2, 12)))
        tl.device_assert(tl.load(x, (0, 0), (2, 12)) < 24)

    x = np.arange(24, dtype=np.float32).reshape(2, 12)
    kernel[1](x)
    expected = [
        f"pid (0, 0, 0) idx ({r}, {c}) x: {12 * r + c}" for r in range(2) for c in range(12)
    ]
    assert capfd.readouterr().out.splitlines() == expected


@tilec.kernel
def checked(x: Matrix, low: float, rows: int) -> None:
    held = tl.load(x, (0, 0), (16, 32))
    tl.device_assert(rows <= 16)
    tl.device_assert(held >= low, "below", mask=(tl.arange(16) < rows)[:, None])
    tl.store(x, (0, 0), held * 2.0)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_what_holds_goes_on(target: str) -> None:
    x = np.full((16, 32), 2.0, np.float32)
    x[8:] = -1
    assert not checked.using(target=target)[1](x, 1.0, 8).findings
    assert x[0, 0] == 4


@pytest.mark.parametrize(("rows", "reason", "line"), [(9, "below", 2), (17, "device_assert", 1)])
def test_what_does_not_hold_is_an_error_with_its_line(rows: int, reason: str, line: int) -> None:
    x = np.full((16, 32), 2.0, np.float32)
    x[8:] = -1
    with pytest.raises(tilec.TilecError) as caught:
        checked[1](x, 1.0, rows)
    at = checked.source.tree.lineno + 1 + line
    assert f"assertion `{reason}` failed" in str(caught.value)
    assert f"{__file__}:{at}" in str(caught.value)


def test_what_was_printed_before_an_error_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    @tilec.kernel(warps=1)
    def kernel(n: int) -> None:
        tl.device_print("n", n)
        tl.device_assert(n > 3, "n is small")

    with pytest.raises(tilec.TilecError, match="n is small"):
        kernel[1](2)
    assert capfd.readouterr().out == "pid (0, 0, 0) n: 2\n"


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_100a", "sm_120a"])
def test_ptxas_takes_them(target: str) -> None:
    compiled = printed.compile(target=target, TYPE=tl.float16)
    assert compiled.cubin
    assert "vprintf" in compiled.ptx
    assert "__assertfail" in checked.compile(target=target).ptx


def test_a_kernel_without_them_has_nothing_of_them() -> None:
    @tilec.kernel
    def kernel(x: Matrix) -> None:
        tl.store(x, (0, 0), tl.zeros((16, 16)))

    ptx = kernel.compile().ptx
    assert "vprintf" not in ptx
    assert "__assertfail" not in ptx


ANY: Any = tl
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: ANY.device_print(3), "device_print takes a string first, not 3"),
    (lambda: ANY.device_print("x", "y"), "prints tiles, scalars and numbers, not 'y'"),
    (lambda: ANY.device_assert(tl.zeros(4)), r"takes truth values, .* not float32 \[4\]"),
    (lambda: ANY.device_assert(1), "takes truth values, .* not 1"),
    (lambda: ANY.device_assert(True, 3), "message of device_assert is a string, not 3"),
    (lambda: ANY.device_assert(tl.zeros(4) > 1, "", tl.zeros(8) > 1), "does not broadcast to"),
]


@pytest.mark.parametrize(("make", "reason"), WRONG, ids=[reason[:24] for _, reason in WRONG])
def test_misuse_is_refused(make: Callable[[], object], reason: str) -> None:
    @tilec.kernel
    def kernel(n: int) -> None:
        make()

    with pytest.raises(tl.KernelError, match=reason) as caught:
        kernel.build()
    assert caught.value.place.file == __file__
