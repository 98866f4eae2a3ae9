"""Warpgroups that take tiles in turn: results, what they need of each other, what is declined.

Results of the simulator are compared with numpy's. Whatever orders the two warpgroups is left out,
one thing at a time, and the simulator must find it, or the result is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.dialects.tile.ops import AllocSharedOp, BarrierArriveOp, BarrierWaitOp
from tilec.ir.types import memref_of
from tilec.isa import TilecError, target
from tilec.passes import Kernel, KernelPass
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

ROOT = Path(__file__).parents[3]
SOURCE = (ROOT / "examples" / "hopper" / "pingpong.mlir").read_text(encoding="utf-8")
PIN, ALONE = "tile.pingpong = true", "tile.pingpong = true, tile.cluster = array<i64: 1, 1, 1>"
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")


@pytest.fixture(scope="module")
def alone() -> tilec.Compiled:
    """The example, without clusters."""
    return tilec.compile(SOURCE.replace(PIN, ALONE))


def _run(
    program: tilec.Compiled,
    extents: tuple[int, int, int],
    sms: int,
    tile: tuple[int, int] = (64, 256),
    type_: Any = np.float16,
) -> None:
    """Launch it, and compare; some of what is stored are zeros, some large."""
    m, n, k = extents
    rng = np.random.default_rng(extents)
    a, b = (rng.integers(-2, 3, shape).astype(type_) for shape in ((m, k), (n, k)))
    bias = rng.integers(-9, 10, n).astype(np.float32)
    c = np.full((m, n), 7, np.float16)
    grid = -(-n // tile[1]), -(-m // tile[0])
    report = program.launch(a, b, bias, c, grid=grid, device="sim", sms=sms)
    assert report is not None
    assert not report.findings
    sums = a.astype(np.float32) @ b.astype(np.float32).T + bias
    np.testing.assert_array_equal(c, np.maximum(sums, 0).astype(np.float16))


@pytest.mark.parametrize(
    ("extents", "sms"),
    [
        ((136, 264, 328), 1),  # six tiles, of six rounds, of which four fill the ring
        ((192, 256, 64), 1),  # the first warpgroup takes a tile more
        pytest.param((64, 512, 72), 2, marks=pytest.mark.slow),  # the second takes none
        pytest.param((320, 264, 512), 3, marks=pytest.mark.slow),  # rounds fill the ring twice
        pytest.param((448, 8, 200), 2, marks=pytest.mark.slow),
        pytest.param((128, 256, 0), 1, marks=pytest.mark.slow),
    ],
)
def test_tiles_in_turn(alone: tilec.Compiled, extents: tuple[int, int, int], sms: int) -> None:
    _run(alone, extents, sms)


def test_in_clusters() -> None:
    """Three rows of tiles and two CTAs: the last pair has one, and the other loads for it."""
    program = tilec.compile(SOURCE)
    (kernel,) = program.kernels
    assert (kernel.block, kernel.cluster, kernel.ctas_per_sm) == ((384, 1, 1), (2, 1, 1), 1)
    assert ".multicast::cluster" in program.ptx
    _run(program, (192, 256, 72), 2)


def _edited(*changes: tuple[str, str]) -> str:
    text = SOURCE[: SOURCE.index("// CHECK")].replace(PIN, ALONE)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.slow
def test_square_tiles() -> None:
    """128x128: two instructions along M for each warpgroup."""
    text = _edited(
        ("64x64xf16", "128x64xf16"),
        ("64x256x", "64x128x"),
        ("tensor<64x128xf32>", "tensor<128x128xf32>"),
        ("!C = tensor<64x128xf16>", "!C = tensor<128x128xf16>"),
        ("%c256 = arith.constant 256", "%c256 = arith.constant 128"),
        ("arith.muli %y, %c64", "arith.muli %y, %c256"),
        ("256xf32>", "128xf32>"),
    )
    _run(tilec.compile(text), (384, 136, 200), 1, (128, 128))


@pytest.mark.slow
def test_8_bits(assemblers_for: Callable[..., list[Any]]) -> None:
    factor = ml_dtypes.float8_e4m3fn
    promise = "!M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}"
    text = _edited(
        ("!M = ", "!M8 = memref<?x?xf8E4M3FN, strided<[?, 1]>>\n!M = "),
        ("tensor<64x64xf16>", "tensor<64x128xf8E4M3FN>"),
        ("!B = tensor<64x256xf16>", "!B = tensor<128x256xf8E4M3FN>"),
        ("%c64 iter_args", "%c128 iter_args"),
        ("    %c64 =", "    %c128 = arith.constant 128 : index\n    %c64 ="),
        (f"%a: {promise}", "%a: !M8 {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}"),
        (f"%b: {promise}", "%b: !M8 {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}"),
        ("masked : !M -> !A", "masked : !M8 -> !A"),
        ("transposed : !M", "transposed : !M8"),
        ("memref.dim %a, %c1 : !M", "memref.dim %a, %c1 : !M8"),
    )
    program = tilec.compile(text)
    _is_quiet(program, assemblers_for)
    _run(program, (136, 256, 272), 1, type_=factor)


def _is_quiet(program: tilec.Compiled, assemblers_for: Callable[..., list[Any]]) -> None:
    for ptxas in assemblers_for(target("sm_90a")):
        status, report = ptxas.run(program.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


def test_ptxas_has_nothing_to_note(
    alone: tilec.Compiled, assemblers_for: Callable[..., list[Any]]
) -> None:
    _is_quiet(alone, assemblers_for)


def _order(op: Any) -> bool:
    """Whether an op is at the mbarriers by which warpgroups take turns: there are two."""
    return list(memref_of(op.barriers).shape) == [2]


class Without(KernelPass):
    """Leaves something out that orders the warpgroups."""

    name: ClassVar[str] = "test-without"

    def __init__(self, change: Callable[[Kernel], None]) -> None:
        self._change = change

    def run(self, kernel: Kernel) -> None:
        self._change(kernel)


def _no_wait(kernel: Kernel) -> None:
    (wait,) = (op for op in kernel.named(BarrierWaitOp) if _order(op))
    wait.operation.erase()


def _no_signal(kernel: Kernel) -> None:
    (signal,) = (op for op in kernel.named(BarrierArriveOp) if _order(op))
    signal.operation.erase()


def _one_buffer(kernel: Kernel) -> None:
    (panels,) = (op for op in kernel.named(AllocSharedOp) if "apart" in op.attributes)
    del panels.attributes["apart"]


def _no_barrier(number: int) -> Callable[[Kernel], None]:
    def change(kernel: Kernel) -> None:
        own = [op for op in kernel.named("nvvm.barrier") if len(op.operands)]
        own[number].operation.erase()

    return change


SLOW = pytest.mark.slow
_CSE = "cse"


@pytest.mark.parametrize(
    ("change", "before", "kind"),
    [
        pytest.param(_no_wait, "tile-to-fragments", "async", id="no wait for the turn"),
        pytest.param(_no_signal, "tile-to-fragments", "deadlock", id="no signal", marks=SLOW),
        pytest.param(_one_buffer, "tile-to-fragments", "race", id="one buffer", marks=SLOW),
        pytest.param(_no_barrier(-2), _CSE, "async", id="no barrier before panels", marks=SLOW),
        pytest.param(_no_barrier(-1), _CSE, "race", id="no barrier before the boxes", marks=SLOW),
    ],
)
def test_what_is_left_out_is_found(
    change: Callable[[Kernel], None], before: str, kind: str
) -> None:
    chosen = pipeline(target("sm_90a")).inserted(Without(change), before=before)
    program = tilec.compile(_edited(), pipeline=chosen)
    with pytest.raises(SimulationError) as error:
        _run(program, (192, 256, 328), 1)
    assert error.value.report.findings[0].kind == kind


def test_buffers_must_be_placed() -> None:
    """Two warpgroups would otherwise share what each needs for itself."""
    chosen = pipeline(target("sm_90a")).replaced("tile-reuse-shared")
    with pytest.raises(TilecError, match="has no offset, and 2 warpgroups that take tiles in turn"):
        tilec.compile(_edited(), pipeline=chosen)


@tilec.kernel(warps=4)
def product(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
) -> None:
    """A product whose sums leave as they are, through registers or shared memory."""
    row, col = tl.program_id(1) * 64, tl.program_id(0) * 128
    acc = tl.zeros((64, 128))
    for k in range(0, a.shape[1], 64):
        acc = tl.dot(tl.load(a, (row, k), (64, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (row, col), acc)


def test_from_python() -> None:
    """The pass's option pins it for kernels that say nothing."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((136, 72), (72, 136)))
    c = np.zeros((136, 136), np.float32)
    chosen = pipeline(target("sm_90a")).replaced(
        "tile-choose-pingpong", "tile-choose-pingpong{enabled=true}"
    )
    compiled = product.using(target="sm_90a", pipeline=chosen).compile(a, b, c)
    assert compiled.kernels[0].block == (384, 1, 1)
    compiled.launch(a, b, c, grid=(2, 3), device="sim", sms=2)
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))


def test_other_targets_do_not_mind() -> None:
    text = _edited(("sm_90a", "sm_80"))
    compiled = tilec.compile(text)
    assert compiled.kernels[0].block == (128, 1, 1)
    assert "mma.sync" in compiled.ptx
