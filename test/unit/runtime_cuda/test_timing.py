"""Times on a driver whose GPU is the simulator, and whose time is what that executes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import LaunchError
from tilec.lang import trials
from tilec.runtime import cuda
from tilec.runtime.cuda import timing

Vector = tl.Array[tl.float32, int]
CONFIGS = [tilec.Config({"block": block}, warps=1) for block in (32, 128, 64)]


@pytest.fixture
def gpu(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The driver; an event is at the number of warp instructions executed, milliseconds."""
    at: dict[int, int] = {}

    def create(flags: int) -> Any:
        at[len(at) + 1] = 0
        return fake._answer(len(at))

    def record(event: int, stream: int) -> Any:
        at[event] = sum(report.warp_instructions for report in fake.reports)
        return fake._answer()

    fake.cuEventCreate, fake.cuEventRecord = create, record
    fake.cuEventElapsedTime = lambda start, end: fake._answer(float(at[end] - at[start]))
    monkeypatch.setattr(timing, "_SPAN_NS", 5)
    monkeypatch.setattr(trials, "ROUNDS", 2)
    monkeypatch.setenv("TILEC_CACHE", "0")
    return fake


@pytest.fixture
def on_gpu(gpu: Any, on_gpu: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Gives arrays on the GPU of such a driver."""
    return on_gpu


def total() -> Any:
    """A kernel that adds to what memory holds, and of which a run costs more the smaller block."""

    @tilec.autotune(CONFIGS)
    @tilec.kernel(target="sm_80")
    def total(x: Vector, out: Vector, block: tl.Constant[int]) -> None:
        acc = tl.zeros(block)
        for at in range(0, x.shape[0], block):
            acc += tl.load(x, at, block)
        tl.store(out, 0, tl.load(out, 0, ()) + acc.sum())

    return total


X = np.arange(256, dtype=np.float32)


def test_the_fastest_is_taken_and_memory_is_as_after_one_run(on_gpu: Any) -> None:
    kernel, x, out = total(), on_gpu(X), on_gpu(np.ones(4, np.float32))
    assert kernel.best(x, out) is None
    assert kernel[1](x, out) is None
    assert out.numpy().tolist() == [1 + X.sum(), 1, 1, 1]
    made = kernel.trials(x, out)
    costs = [trial.cost.median for trial in made]
    assert costs[0] > costs[2] > costs[1]
    assert kernel.best(x, out) is CONFIGS[1]
    assert str(made[1]).startswith("Config(block=128, warps=1): ")


def test_the_next_launch_tries_nothing(gpu: Any, on_gpu: Any) -> None:
    kernel, x, out = total(), on_gpu(X), on_gpu(np.ones(4, np.float32))
    kernel[1](x, out)
    launched = len(gpu.reports)
    kernel[lambda given: given["block"] // 128](x, out)
    assert len(gpu.reports) == launched + 1
    kernel[1](on_gpu(X[:128]), out)
    assert len(gpu.reports) > launched + 10


def test_what_cannot_be_launched_is_left_out(gpu: Any, on_gpu: Any) -> None:
    configs = [tilec.Config({"block": n}) for n in (48, 64)]  # 48 is not a whole number of warps

    @tilec.autotune(configs)
    @tilec.kernel(target="sm_80")
    def kernel(x: Vector, block: tl.Constant[int]) -> None:
        assert block != 48, "no such block"
        tl.store(x, 0, tl.load(x, 0, block) + 1)

    x = on_gpu(X)
    kernel[1](x)
    assert "no such block" in str(kernel.trials(x)[0].error)
    assert kernel.best(x) is configs[1]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, cuda.OutOfMemoryError])
def test_arrays_are_put_back_where_trials_end_early(
    gpu: Any, on_gpu: Any, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    def compare(works: Any, **_: object) -> None:
        works[0]()
        raise kind("enough")

    monkeypatch.setattr(timing, "compare", compare)
    kernel, x, out = total(), on_gpu(X), on_gpu(np.ones(4, np.float32))
    taken = len(gpu.named("cuMemAlloc"))
    with pytest.raises(kind, match="enough"):
        kernel[1](x, out)
    assert out.numpy().tolist() == [1, 1, 1, 1]
    assert len(gpu.named("cuMemAlloc")) - taken == len(gpu.named("cuMemFree")) == 1
    assert kernel.best(x, out) is None


def test_arrays_of_the_host_are_refused(gpu: Any) -> None:
    with pytest.raises(LaunchError, match="'x' is in the host's memory; autotune times"):
        total().using(device="cuda")[1](X, X.copy())


def test_do_bench(gpu: Any, on_gpu: Any) -> None:
    prepared = []
    x, out = on_gpu(X), on_gpu(np.ones(4, np.float32))
    launcher = total().kernel.using(warps=1)[1]
    found = cuda.do_bench(
        lambda: launcher(x, out, block=64), prepare=lambda: prepared.append(1), rounds=4
    )
    assert found.least == found.median == found.most == gpu.reports[-2].warp_instructions
    assert len(prepared) == 4 + 3
    assert found.rounds == 4
    assert len(gpu.named("cuMemsetD8Async")) == 7
    assert gpu.named("cuMemsetD8Async")[0][2] == 2 * gpu.limits["L2_CACHE_SIZE"]


def test_a_clock_that_changes_is_told() -> None:
    slow = timing.Timing(1.0, 0.5, 2.0, 9, (1980.0, 1500.0))
    assert not slow.steady
    assert str(slow) == "1.0000 ms (0.5000 to 2.0000, 9 rounds, from 1980 to 1500 MHz)"
    assert timing.Timing(1.0, 1.0, 1.0, 9, (1980.0, 1975.0)).steady


def test_the_clock_is_cycles_by_time(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what the kernel stores: the simulator's own clocks tick alike."""
    assert timing.clock() > 0
    assert len(gpu.named("cuLaunchKernelEx")) == 1
    copy = gpu.cuMemcpyDtoH

    def stored(target: int, source: int, size: int) -> Any:
        gpu._at(source)[:16] = np.array([3960, 2000], np.uint64).view(np.uint8)
        return copy(target, source, size)

    gpu.cuMemcpyDtoH = stored
    assert timing.clock() == 1980.0


def test_no_rounds_are_refused(gpu: Any) -> None:
    with pytest.raises(tilec.TilecError, match="rounds must be 1 or more, not 0"):
        cuda.do_bench(lambda: None, rounds=0)


def test_without_a_gpu(no_bindings: None) -> None:
    with pytest.raises(cuda.UnavailableError, match="CUDA needs cuda-bindings"):
        cuda.do_bench(lambda: None)


@pytest.mark.parametrize("strides", [(4, 1), (-4, 2), (0, 1)])
def test_saved_arrays_are_put_back(on_gpu: Any, strides: tuple[int, int]) -> None:
    """All of a view's memory, and nothing beside it."""
    from tilec.runtime.cuda.saved import SavedArrays

    whole = on_gpu(np.arange(64, dtype=np.int32))
    view = type("View", (), {})()
    interface = dict(whole.__cuda_array_interface__)
    interface |= {"shape": (3, 2), "strides": tuple(4 * s for s in strides)}
    interface["data"] = (whole.pointer + 4 * 16, False)
    view.__cuda_array_interface__ = interface
    touched = {16 + i * strides[0] + j * strides[1] for i in range(3) for j in range(2)}
    saved = SavedArrays({"x": view}, {"x": 4})
    whole.fill(np.full(64, -1, np.int32))
    saved.restore()
    after = whole.numpy()
    low, high = min(touched), max(touched)
    np.testing.assert_array_equal(after[low : high + 1], np.arange(low, high + 1))
    assert (after[:low] == -1).all()
    assert (after[high + 1 :] == -1).all()
    saved.close()
