"""Programmatic dependent launch: where its instructions stand, and what is refused."""

import re

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.passes.instrumentation import Instrumentation
from tilec.validation.validator import Validator

Vector = tl.Array[tl.float32, int]
Half = tl.Array[tl.float16, int]
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
    parts = ptx.split("griddepcontrol.wait;")
    copies = [len(re.findall(r"cp\.async\.\S*global", part)) for part in parts]
    assert copies[0] * 128 * 16 == weights
    assert copies[1]
    # Those that compute; of a product in a loop those that load, and on sm_100a the one that issues
    waits = {"sm_90a": 2, "sm_100a": 3}.get(target, 1) if kernel is product else 1
    assert len(parts) == waits + 1


@tilec.kernel(warps=8)
def many(x: Matrix, weight: Matrix, bias: Half, out: Matrix) -> None:
    """As many tiles as CTAs; the bias is loaded before the wait."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    start = tl.load(bias, col, 128).astype(tl.float32)
    acc = tl.zeros((128, 128))
    tl.gdc_wait()
    for k in range(0, x.shape[1], 64):
        acc = tl.dot(tl.load(x, (row, k), (128, 64)), tl.load(weight, (k, col), (64, 128)), acc)
    tl.gdc_launch_dependents()
    tl.store(out, (row, col), (acc + start[None, :]).astype(tl.float16))


@tilec.kernel(warps=8)
def behind(x: Matrix, weight: Matrix, bias: Half, out: Matrix) -> None:
    """Only the bias and what is stored wait."""
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in range(0, x.shape[1], 64):
        acc = tl.dot(tl.load(x, (row, k), (128, 64)), tl.load(weight, (k, col), (64, 128)), acc)
    tl.gdc_wait()
    start = tl.load(bias, col, 128).astype(tl.float32)
    tl.store(out, (row, col), (acc + start[None, :]).astype(tl.float16))


@tilec.kernel(warps=8)
def walking(x: Matrix, weight: Matrix, bias: Half, out: Matrix) -> None:
    """A loop over tiles in the source, of which each waits anew, if there is anything to do."""
    col = tl.program_id(0) * 128
    for row in range(tl.program_id(1) * 128, out.shape[0], tl.num_programs(1) * 128):
        if row < x.shape[0]:
            tl.gdc_wait()
        acc = tl.zeros((128, 128))
        for k in range(0, x.shape[1], 64):
            acc = tl.dot(tl.load(x, (row, k), (128, 64)), tl.load(weight, (k, col), (64, 128)), acc)
        start = tl.load(bias, col, 128).astype(tl.float32)
        tl.store(out, (row, col), (acc + start[None, :]).astype(tl.float16))


@pytest.mark.parametrize("kernel", [many, behind, walking])
def test_warps_that_load_wait_themselves(kernel: tl.Kernel) -> None:
    """Products have warps that load, which wait, too, and CTAs several tiles."""
    rng = np.random.default_rng(0)
    m, n, k = 264, 128, 72
    x, weight, bias = (rng.integers(-3, 4, s).astype(np.float16) for s in ((m, k), (k, n), (n,)))
    out = np.full((m, n), np.nan, np.float16)
    compiled = kernel.compile(x, weight, bias, out, target="sm_90a")
    loads, computes = compiled.ptx.split("setmaxnreg.inc")
    assert "cp.async.bulk.tensor" in loads
    for role in loads, computes:
        assert role.count("griddepcontrol.wait") == 1
    assert "griddepcontrol.wait" in computes.split("cp.async.bulk.tensor")[0]
    assert "griddepcontrol.launch_dependents" not in loads
    report = compiled.launch(x, weight, bias, out, grid=(1, 3), device="sim", sms=2)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(out, x.astype(int) @ weight.astype(int) + bias)


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


@pytest.mark.slow
def test_passes_leave_what_is_computed() -> None:
    """The passes up to level 3, each compared with the program before it."""
    x, weight, bias = (np.zeros(s, np.float16) for s in ((264, 72), (72, 128), (128,)))
    text = str(many.using(target="sm_90a").build(x, weight, bias, np.zeros((264, 128), np.float16)))
    found = Validator(shrinks=False)
    tilec.compile(text, target="sm_90a", instrumentation=Instrumentation(watchers=(found.around,)))
    assert {"tile-make-persistent", "tile-specialize-warps"} <= set(found.validated)
    assert not any("griddepcontrol" in why for why in found.unknown.values())
