"""Arguments that are tuples, lists, named tuples, dataclasses, or None."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
import tilec
import tilec.lang as tl

Vector = tl.Array[tl.float32, int]
Matrix = tl.Array[tl.float16, int, int]


class Norm(NamedTuple):
    weight: Vector
    bias: Vector | None
    eps: float = 1e-5


@dataclass(frozen=True)
class Problem:
    a: Matrix
    b: Matrix
    c: tl.Array[tl.float32, int, int]
    BLOCK: tl.Constant[int]

    def load_a(self, row: int, k: int) -> tl.Tile:
        return tl.load(self.a, (row, k), (self.BLOCK, self.BLOCK))


def data(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(dtype)


@tilec.kernel
def normed(x: Vector, y: Vector, norm: Norm, scales: tuple[float, float]) -> None:
    held = tl.load(x, 0, 64)
    mean = held.mean()
    var = held.var()
    out = (held - mean) * tl.rsqrt(var + norm.eps) * tl.load(norm.weight, 0, 64)
    if norm.bias is not None:
        out = out + tl.load(norm.bias, 0, 64)
    first, second = scales
    tl.store(y, 0, out * first + second)


@pytest.mark.parametrize("biased", [False, True])
def test_named_tuples_and_arrays_that_may_be_none(biased: bool) -> None:
    x, weight, bias = data(64), data(64) + 7, data(64) * 3
    y = np.empty_like(x)
    report = normed[1](x, y, Norm(weight, bias if biased else None), (2.0, 0.5))
    assert not report.findings
    expected = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * weight + (bias if biased else 0)
    np.testing.assert_allclose(y, 2 * expected + 0.5, rtol=1e-4, atol=1e-4)


@tilec.kernel
def gemm_of_problem(p: Problem) -> None:
    row, col = tl.program_id(1) * p.BLOCK, tl.program_id(0) * p.BLOCK
    acc = tl.zeros((p.BLOCK, p.BLOCK))
    for k in range(0, p.a.shape[1], p.BLOCK):
        acc = tl.dot(p.load_a(row, k), tl.load(p.b, (k, col), (p.BLOCK, p.BLOCK)), acc)
    tl.store(p.c, (row, col), acc)


def test_dataclasses_have_their_methods() -> None:
    a, b = data(50, 70, dtype=np.float16), data(70, 40, dtype=np.float16)
    c = np.empty((50, 40), np.float32)
    assert not gemm_of_problem[2, 2](Problem(a, b, c, 32)).findings
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


class Shifted(NamedTuple):
    x: Vector

    def load(self) -> tl.Tile:
        return tl.load(self.x, 0, 8) + 1.0


def test_a_class_is_state_that_the_kernel_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    @tilec.kernel
    def kernel(shifted: Shifted, y: Vector) -> None:
        tl.store(y, 0, shifted.load())

    y = np.zeros(8, np.float32)
    kernel[1](Shifted(np.zeros(8, np.float32)), y)
    assert set(y) == {1.0}
    monkeypatch.setattr(Shifted, "load", lambda self: tl.load(self.x, 0, 8) + 2.0)
    kernel[1](Shifted(np.zeros(8, np.float32)), y)
    assert set(y) == {2.0}


@tilec.kernel
def grouped(
    a: list[Matrix],
    b: list[Matrix],
    c: list[tl.Array[tl.float32, int, int]],
    sizes: list[int],
    BLOCK: tl.Constant[int] = 32,  # noqa: N803
) -> None:
    """Problems of several sizes, their CTAs one after the other; the last is found at run time."""
    first = 0
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        across = tl.cdiv(z.shape[1], BLOCK)
        count = tl.cdiv(sizes[g], BLOCK) * across
        at = tl.program_id(0) - first
        first += count
        if at < 0 or at >= count:
            continue
        row, col = at // across * BLOCK, at % across * BLOCK
        acc = tl.zeros((BLOCK, BLOCK))
        for k in range(0, x.shape[1], BLOCK):
            left = tl.load(x, (row, k), (BLOCK, BLOCK))
            acc = tl.dot(left, tl.load(y, (k, col), (BLOCK, BLOCK)), acc)
        tl.store(z, (row, col), acc)
        break


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_a_list_is_a_table_of_pointers(target: str) -> None:
    shapes = [(40, 33, 64), (64, 96, 32), (10, 20, 30)]
    a = [data(m, k, dtype=np.float16) for m, _, k in shapes]
    b = [data(k, n, dtype=np.float16) for _, n, k in shapes]
    c = [np.full((m, n), np.nan, np.float32) for m, n, _ in shapes]
    ctas = sum(-(-m // 32) * -(-n // 32) for m, n, _ in shapes)
    run = grouped.using(target=target)
    report = run[ctas](a, b, c, [m for m, _, _ in shapes])
    assert not report.findings
    for x, y, z in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(z, x.astype(np.float32) @ y.astype(np.float32))
    assert run.compile(a, b, c, [1, 2, 3]).cubin


@tilec.kernel
def carried(out: tl.Array[tl.float32, int, int], n: int) -> None:
    """Records of tiles that a loop hands on."""
    state = State(tl.zeros(32), 1.0)
    for i in range(n):
        state = State(state.total + i, state.factor * 2.0)
        if state.factor > 9.0:
            break
    tl.store(out, (0, 0), (state.total * state.factor)[None, :])


@dataclass(frozen=True, slots=True)
class State:
    total: Any
    factor: Any


@pytest.mark.parametrize(("n", "expected"), [(0, 0.0), (3, 24.0), (9, 6 * 16.0)])
def test_dataclasses_go_from_turn_to_turn(n: int, expected: float) -> None:
    out = np.zeros((1, 32), np.float32)
    carried[1](out, n)
    np.testing.assert_array_equal(out, expected)


def test_what_is_none_is_another_compilation() -> None:
    x = data(64)
    norm = Norm(x, None)
    with_bias = normed.specialize(x, x, norm._replace(bias=x), (1.0, 1.0))
    without = normed.specialize(x, x, norm, (1.0, 1.0))
    assert with_bias != without
    assert [name for name, _ in without.arguments][2:5] == ["norm.weight", "norm.bias", "norm.eps"]
    assert any("norm.bias: " in line for line in with_bias.differences(without))
    assert with_bias.key() != without.key()


def test_writing_to_a_chosen_array_is_seen() -> None:
    @tilec.kernel
    def write(arrays: list[Vector], which: int) -> None:
        tl.store(arrays[which], 0, tl.ones(32))

    first, second = np.zeros(32, np.float32), np.zeros(32, np.float32)
    write[1]([first, second], 1)
    assert (first.sum(), second.sum()) == (0, 32)
    first.flags.writeable = False
    with pytest.raises(tilec.TilecError, match=r"'arrays.0' is read-only, and the kernel changes"):
        write[1]([first, second], 1)


WRONG: list[tuple[Any, str]] = [
    ((data(64), data(64), None, (1.0, 1.0)), "'norm' is None; the kernel takes a Norm"),
    (
        (data(64), data(64), Norm(None, None), (1.0, 1.0)),
        "'norm.weight' is a NoneType, not an array",
    ),  # type: ignore[arg-type]
    ((data(64), data(64), Norm(data(64), data(64)), (1.0,)), "'scales' has 1 element; .* takes 2"),
    ((data(64), data(64), Norm(data(64), data(2, 2)), (1.0, 2.0)), "'norm.bias' has the shape"),
    ((data(64), data(64), Norm(data(64), None), (1.0, "x")), "'scales.1' is 'x'"),
    (
        (data(64), data(64), Norm(data(64), None), 3),
        "'scales' is of type int; the kernel takes a tuple",
    ),
]


@pytest.mark.parametrize(("arguments", "reason"), WRONG, ids=[reason[:20] for _, reason in WRONG])
def test_other_arguments_are_refused(arguments: Any, reason: str) -> None:
    with pytest.raises(tilec.TilecError, match=reason):
        normed[1](*arguments)


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(tilec.TilecError, match="argument 'a' is empty"):
        grouped[1]([], [], [], [])


def test_a_kernel_of_lists_is_compiled_for_arrays() -> None:
    with pytest.raises(tilec.TilecError, match="'a' is made of others: give arrays to compile for"):
        grouped.compile()


def chosen(hint: Any, body: Callable[[Any, int], None]) -> Any:
    def kernel(arrays: Any, n: int) -> None:
        body(arrays, n)

    kernel.__annotations__["arrays"] = hint
    return tilec.kernel(kernel)


def test_a_choice_is_between_arrays_of_one_type() -> None:
    other = chosen(tuple[Vector, Matrix], lambda arrays, n: tl.store(arrays[n], 0, tl.zeros(8)))
    with pytest.raises(tl.KernelError, match="they are of several types"):
        other.build((data(8), data(8, 8, dtype=np.float16)), 1)
    none = chosen(
        tuple[Vector | None, Vector], lambda arrays, n: tl.store(arrays[n], 0, tl.zeros(8))
    )
    with pytest.raises(tl.KernelError, match="they are arrays or scalars of one type, not None"):
        none.build((None, data(8)), 1)


@pytest.mark.parametrize("types", [(np.int8, np.uint8), (np.uint8, np.bool_)])
def test_types_that_lie_alike_are_told_apart(types: tuple[Any, Any]) -> None:
    run = chosen(list[tl.AnyArray], lambda arrays, n: tl.store(arrays[n], 0, tl.zeros(8)))
    with pytest.raises(tl.KernelError, match="they are of several types"):
        run.build([np.zeros(8, type_) for type_ in types], 1)


def test_numbers_that_lie_alike_are_told_apart() -> None:
    @tilec.kernel
    def kernel(of: tuple[tl.Scalar[tl.int32], tl.Scalar[tl.uint32]], y: Vector, n: int) -> None:
        tl.store(y, 0, tl.full((8,), of[n].astype(tl.float32)))

    with pytest.raises(tl.KernelError, match="they are of several types: uint32 and int32"):
        kernel.build((1, 2), data(8), 1)


@pytest.mark.parametrize("hint", [tuple, list, dict[str, int], list[str], Vector | Matrix])
def test_annotations_that_mean_nothing_are_refused(hint: Any) -> None:
    with pytest.raises(tl.KernelError, match=r"is annotated .*; legal: tl.Array"):
        chosen(hint, lambda *_: None)


def test_promises_hold_for_what_may_be_none() -> None:
    @tilec.kernel
    def kernel(x: Annotated[Vector, tl.Facts(aligned=16)] | None, y: Vector) -> None:
        tl.store(y, 0, tl.zeros(8) if x is None else tl.load(x, 0, 8))

    y = np.ones(8, np.float32)
    kernel[1](None, y)
    assert not y.any()
    memory = np.ones(64, np.uint8)
    start = -memory.ctypes.data % 16 + 4
    with pytest.raises(tilec.TilecError, match=r"argument 'x' .*16"):
        kernel[1](memory[start : start + 32].view(np.float32), y)
