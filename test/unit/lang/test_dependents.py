"""Programmatic dependent launch: where its instructions stand, and what is refused."""

import re

import numpy as np
import pytest
import tilec
import tilec.lang as tl

Vector = tl.Array[tl.float32, int]
Matrix = tl.Array[tl.float16, int, int]
Out = tl.Array[tl.float32, int, int]


@tilec.kernel
def summed(weight: Vector, total: Vector, out: Vector) -> None:
    acc = tl.load(weight, 0, 64)
    tl.gdc_wait()
    for at in range(0, total.shape[0], 64):
        acc += tl.load(total, at, 64)
    tl.gdc_launch_dependents()
    tl.store(out, 0, acc)


def arrays() -> list[np.ndarray]:
    return [np.arange(n, dtype=np.float32) for n in (64, 256, 64)]


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", "sm_100a", "sm_120a"])
def test_no_access_passes_them(target: str) -> None:
    """Nor is what they order dropped or doubled."""
    compiled = summed.compile(*arrays(), target=target)
    found = re.findall(
        r"griddepcontrol\.\w+|(?:ld|st)\.global|cp\.async\.\w+\.global", compiled.ptx
    )
    steps = [one for number, one in enumerate(found) if found[number - 1 : number] != [one]]
    assert steps == [
        *("ld.global", "griddepcontrol.wait", "ld.global"),
        *("griddepcontrol.launch_dependents", "st.global"),
    ]


@tilec.kernel(warps=8)
def product(weight: Matrix, x: Matrix, out: Out) -> None:
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    tl.gdc_wait()
    for k in range(0, x.shape[1], 64):
        acc = tl.dot(tl.load(x, (row, k), (128, 64)), tl.load(weight, (k, col), (64, 128)), acc)
    tl.store(out, (row, col), acc)


@tilec.kernel(warps=4)
def late(weight: Matrix, x: Matrix, out: Out) -> None:
    """The weights are loaded before the wait; only they may be."""
    b = tl.load(weight, (0, 0), (64, 128))
    tl.gdc_wait()
    a = tl.load(x, (0, 0), (128, 64))
    tl.store(out, (0, 0), tl.dot(a, b, tl.zeros((128, 128))))


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize(("kernel", "weights"), [(product, 0), (late, 64 * 128 * 2)])
def test_no_copy_passes_the_wait(kernel: tl.Kernel, weights: int, target: str) -> None:
    """Of what products take, which is loaded asynchronously, and by other threads on sm_90a."""
    x, weight = np.zeros((128, 64), np.float16), np.zeros((64, 128), np.float16)
    out = np.zeros((128, 128), np.float32)
    ptx = kernel.compile(weight, x, out, target=target).ptx
    before, after = ptx.split("griddepcontrol.wait;")
    copies = [len(re.findall(r"cp\.async\.\S*global", part)) for part in (before, after)]
    assert copies[0] * 128 * 16 == weights
    assert copies[1]


def test_it_runs() -> None:
    weight, total, out = arrays()
    report = summed.using(target="sm_90")[1](weight, total, out)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(out, weight + total.reshape(4, 64).sum(0))


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_89"])
def test_targets_without_it(target: str) -> None:
    with pytest.raises(
        tl.KernelError, match=rf"wait does not exist on {target}; it needs sm_90"
    ) as e:
        summed.compile(*arrays(), target=target)
    assert "tl.gdc_wait()" in str(e.value)


def test_outside_of_a_kernel() -> None:
    with pytest.raises(tilec.TilecError, match="kernel"):
        tl.gdc_wait()
