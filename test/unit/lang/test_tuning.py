"""`@autotune` where there is no GPU: by what the simulator counts, or not at all, and said so."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import LaunchError

Vector = tl.Array[tl.float32, int]
CONFIGS = [tilec.Config({"block": block}, warps=warps) for block, warps in ((32, 4), (256, 1))]


def instructions(report: Any) -> float:
    return float(report.warp_instructions)


@tilec.kernel
def added(x: Vector, out: Vector, by: float, block: tl.Constant[int]) -> None:
    for at in range(0, x.shape[0], block):
        tl.store(out, at, tl.load(out, at, block) + tl.load(x, at, block) * by)


X = np.arange(256, dtype=np.float32)


def test_the_simulator_ranks_by_what_it_is_told() -> None:
    kernel = tilec.autotune(CONFIGS, by=instructions)(added)
    out = np.ones_like(X)
    assert kernel[1](X, out, 2.0) is not None
    np.testing.assert_array_equal(out, 1 + 2 * X)  # once, not once for each configuration
    costs = [trial.cost for trial in kernel.trials(X, out, 2.0)]
    assert costs[0] > costs[1]
    assert kernel.best(X, out, 2.0) is CONFIGS[1]
    reverse = tilec.autotune(CONFIGS, by=lambda report: -instructions(report))(added)
    reverse[1](X, out, 2.0)
    assert reverse.best(X, out, 2.0) is CONFIGS[0]


def test_costs_are_those_of_the_kernel_alone() -> None:
    kernel = tilec.autotune(CONFIGS, by=instructions)(added)
    kernel[1](X, np.ones_like(X), 2.0)
    trials = kernel.trials(X, np.ones_like(X), 2.0)
    for config, trial in zip(CONFIGS, trials, strict=True):
        alone = added.using(**config.settings)[1](X, np.ones_like(X), 2.0, **config.constants)
        assert trial.cost == instructions(alone)


def test_without_a_clock_the_first_is_taken_and_that_is_said() -> None:
    kernel = tilec.autotune(CONFIGS)(added)
    out = np.ones_like(X)
    with pytest.warns(UserWarning, match=r"added runs with Config\(block=32, warps=4\), the first"):
        kernel[1](X, out, 2.0)
    assert kernel.best(X, out, 2.0) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[1](X, out, 2.0)


def tried(**options: Any) -> Any:
    """A kernel and the arguments for which its configurations are tried."""
    seen: list[Any] = []

    def counted(report: Any) -> float:
        seen.append(report)
        return 0.0

    return tilec.autotune(CONFIGS, by=counted, **options)(added), seen


@pytest.mark.parametrize(
    ("key", "counts"),
    [
        (None, (2, 2, 4)),  # extents, not values of scalars
        (("by",), (2, 4, 4)),
        (("x", "by"), (2, 4, 6)),
        (lambda values: values["x"].size > 200, (2, 2, 4)),
        ((), (2, 2, 2)),
    ],
)
def test_the_key_says_when_to_try_again(key: Any, counts: tuple[int, ...]) -> None:
    kernel, seen = tried(key=key)
    for args, count in zip(((X, 1.0), (X, 2.0), (X[:128], 2.0)), counts, strict=True):
        kernel[1](args[0], np.zeros_like(args[0]), args[1])
        assert len(seen) == count
        kernel[1](args[0], np.zeros_like(args[0]), by=args[1])
        assert len(seen) == count


def test_the_key_does_not_depend_on_how_arguments_are_given() -> None:
    kernel, seen = tried()
    kernel[1](X, np.zeros_like(X), 1.0)
    kernel[1](by=1.0, out=np.zeros_like(X), x=X)
    assert len(seen) == 2
    assert kernel.best(out=X, by=1.0, x=X) is kernel.best(X, X, 1.0) is CONFIGS[0]


def test_a_scalar_in_an_array_is_one_by_its_value() -> None:
    kernel, seen = tried(key=("by",))
    for by, count in ((np.array(2.0, np.float32), 2), (np.float32(2.0), 2), (np.float32(3.0), 4)):
        kernel[1](X, np.zeros_like(X), by)
        assert len(seen) == count


@dataclass
class Pair:
    x: Vector
    out: Vector


def test_arrays_in_a_dataclass_decide_by_their_extents() -> None:
    @tilec.kernel
    def kernel(pair: Pair, block: tl.Constant[int]) -> None:
        for at in range(0, pair.x.shape[0], block):
            tl.store(pair.out, at, tl.load(pair.x, at, block))

    for key in (None, ("pair",)):
        tuned = tilec.autotune(CONFIGS, by=instructions, key=key)(kernel)
        tuned[1](Pair(X, np.zeros_like(X)))
        assert tuned.best(Pair(X.copy(), X)) is CONFIGS[1]
        assert tuned.best(Pair(X[:128], X)) is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"key": lambda given: given["z"]}, "that computes the key failed: KeyError: 'z'"),
    ({"key": lambda given: [given["by"]]}, r"the key of added is \[1.0\], which cannot be a key"),
    ({"by": lambda report: report.z}, "function by= failed: AttributeError: .*no attribute 'z'"),
    ({"by": lambda report: None}, "function by= failed: TypeError"),
    ({"by": lambda report: float("nan")}, "function by= gives NaN"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[message for _, message in BAD])
def test_a_function_that_decides_wrongly_is_told(options: Any, message: str) -> None:
    kernel, out = tilec.autotune(CONFIGS, **{"by": instructions, **options})(added), X.copy()
    with pytest.raises(LaunchError, match=message):
        kernel[1](X, out, 1.0)
    np.testing.assert_array_equal(out, X)


def test_costs_may_be_numbers_of_numpy() -> None:
    kernel = tilec.autotune(CONFIGS, by=lambda report: np.int64(report.warp_instructions))(added)
    kernel[1](X, np.zeros_like(X), 1.0)
    assert kernel.best(X, X, 1.0) is CONFIGS[1]


def test_an_array_that_is_read_only_is_refused() -> None:
    kernel, out = tilec.autotune(CONFIGS, by=instructions)(added), X.copy()
    out.flags.writeable = False
    with pytest.raises(tilec.TilecError, match="'out' is read-only, and the kernel changes it"):
        kernel[1](X, out, 1.0)


def test_other_settings_are_another_choice() -> None:
    kernel, seen = tried()
    for target in ("sm_80", "sm_90a"):
        kernel.using(target=target)[1](X, np.zeros_like(X), 1.0)
    assert len(seen) == 4


def test_pins_and_stages_are_constants() -> None:
    """A GEMM of which tile, stages, warps and instruction are tried."""
    forms = [None, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]

    @tilec.autotune(
        [tilec.Config({"bm": 32, "stages": s, "form": f}) for s in (1, 3) for f in forms],
        by=instructions,
    )
    @tilec.kernel(warps=1)
    def gemm(
        a: tl.Array[tl.float16, int, int],
        b: tl.Array[tl.float16, int, int],
        c: tl.Array[tl.float32, int, int],
        bm: tl.Constant[int],
        stages: tl.Constant[int],
        form: tl.Constant[str | None],
    ) -> None:
        acc = tl.zeros((bm, bm))
        for k in tl.range(0, a.shape[1], 32, stages=stages):
            acc = tl.dot(tl.load(a, (0, k), (bm, 32)), tl.load(b, (k, 0), (32, bm)), acc, form=form)
        tl.store(c, (0, 0), acc)

    a, b = np.random.default_rng(0).integers(-3, 4, (2, 32, 32)).astype(np.float16)
    c = np.zeros((32, 32), np.float32)
    gemm[1](a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    costs = [trial.cost for trial in gemm.trials(a, b, c)]
    assert len(set(costs)) > 1
    assert gemm.best(a, b, c) is gemm.configs[int(np.argmin(costs))]


def test_a_configuration_that_fails_is_left_out_unless_all_do() -> None:
    configs = [tilec.Config({"block": n}) for n in (48, 64)]

    @tilec.kernel
    def kernel(x: Vector, least: tl.Constant[int], block: tl.Constant[int]) -> None:
        assert least <= block, "a block that is too small"
        tl.store(x, 0, tl.load(x, 0, block) + 1)

    tuned = tilec.autotune(configs, by=instructions)(kernel)
    tuned[1](X.copy(), 64)
    assert tuned.best(X, 64) is configs[1]
    assert "a block that is too small" in str(tuned.trials(X, 64)[0])
    with pytest.raises(tilec.TilecError, match=r"none of kernel's 2 configurations .*block=48"):
        tuned[1](X.copy(), 128)


WRONG: list[tuple[Any, str]] = [
    (lambda: tilec.autotune([])(added), "one configuration at least"),
    (lambda: tilec.autotune([{"block": 3}])(added), "takes tilec.Config objects, not"),  # type: ignore[list-item]
    (lambda: tilec.autotune([tilec.Config({"BLOK": 3})])(added), "unknown constant 'BLOK'"),
    (lambda: tilec.autotune([tilec.Config({"by": 3})])(added), "unknown constant 'by'"),
    (lambda: tilec.autotune([tilec.Config({"block": 3}, wraps=2)])(added), "'wraps'"),
    (lambda: tilec.autotune([tilec.Config({"block": 3}, warps=3)])(added), "1, 2, 4, 8, 16 or 32"),
    (lambda: tilec.autotune([*CONFIGS, tilec.Config(warps=2)])(added), "give the same constants"),
    (lambda: tilec.autotune(CONFIGS, key=("z",))(added), "unknown argument 'z'"),
    (lambda: tilec.autotune(CONFIGS)(lambda x: x), "write @tilec.kernel below it"),  # type: ignore[arg-type]
    (lambda: tilec.autotune(CONFIGS)(added)(X), r"runs on a grid: added\[grid\]"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(tilec.TilecError, match=message):
        make()


def test_wrong_arguments_are_told_as_of_the_kernel() -> None:
    kernel = tilec.autotune(CONFIGS, by=instructions)(added)
    for args, kwargs, message in (
        ((X, X, 1.0, 64), {}, "multiple values for argument 'block'"),
        ((X, X, 1.0), {"block": 64}, "'block' of added is chosen by autotune"),
        ((X, X), {}, "missing a required argument: 'by'"),
        ((X, X, 1.0, 2, 3), {}, "too many positional arguments"),
        ((X, X, 1.0), {"z": 1}, "unexpected keyword argument 'z'"),
    ):
        with pytest.raises(LaunchError, match=message):
            kernel[1](*args, **kwargs)


def test_a_cost_that_launches_what_it_chooses_for_is_told() -> None:
    """Of the same arguments, which would wait for itself; of others it may."""

    def cost(_: Any) -> float:
        tuned[1](X.copy(), X, 1.0)
        return 0.0

    tuned = tilec.autotune(CONFIGS, by=cost)(added)
    with pytest.raises(tilec.TilecError, match=r"by= of added launches added itself"):
        tuned[1](X.copy(), X, 1.0)
