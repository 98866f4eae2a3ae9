"""Loops whose iterations wait for the product of the iteration before: results, SASS, mutants.

Results of the simulator are compared with numpy's. Each order that the rewritten loop needs is
taken away, and the simulator must find it. ptxas judges the PTX: it notes what it would serialise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.dialects.tile.ops import BarrierArriveOp, WgmmaWaitOp
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes import Kernel, KernelPass
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

ROOT = Path(__file__).parents[3]
TILES = (ROOT / "examples" / "hopper" / "tiles.mlir").read_text(encoding="utf-8")
SOURCE = TILES[: TILES.index("// CHECK")]
LOOP = "      scf.yield %next : !Sum\n    }"
SIZE, ALONE = "known_block_size = array<i32: 256, 1, 1>", "tile.cluster = array<i64: 1, 1, 1>"
SLOW = pytest.mark.slow


def _pinned(text: str) -> str:
    assert LOOP in SOURCE
    return SOURCE.replace(LOOP, f"{LOOP} {{{text}}}")


@pytest.fixture(scope="module")
def compiled() -> tilec.Compiled:
    """The example as it is: three stages."""
    return tilec.compile(SOURCE)


def _run(program: tilec.Compiled, extents: tuple[int, int, int], **launch: Any) -> None:
    """Launch it, and compare exactly: sums of small integers."""
    m, n, k = extents
    rng = np.random.default_rng(extents)
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.full((m, n), 7, np.float16)
    grid = -(-n // 256), -(-m // 128)
    report = program.launch(a, b, c, grid=grid, device="sim", **launch)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ b.astype(np.float32).T).astype("f2"))


@pytest.mark.parametrize(
    ("extents", "sms"),
    [
        pytest.param((136, 264, 328), 2, id="six iterations, ragged"),
        pytest.param((8, 8, 0), 2, id="none", marks=SLOW),
        pytest.param((128, 256, 64), 2, id="one", marks=SLOW),
        pytest.param((128, 256, 72), 2, id="two", marks=SLOW),
        pytest.param((128, 512, 192), 2, id="as many as stages, two tiles", marks=SLOW),
    ],
)
def test_results(compiled: tilec.Compiled, extents: tuple[int, int, int], sms: int) -> None:
    _run(compiled, extents, sms=sms)


@SLOW
def test_two_stages_if_pinned() -> None:
    """One stage is filled while two are read in turn: slower, and right."""
    program = tilec.compile(_pinned("tile.stages = 2 : i64, tile.defer_wait = true"))
    assert "wgmma.wait_group.sync.aligned 1;" in program.ptx
    _run(program, (136, 264, 328), sms=2)


@SLOW
def test_pinned_to_wait() -> None:
    program = tilec.compile(_pinned("tile.defer_wait = false"))
    assert "wgmma.wait_group.sync.aligned 1;" not in program.ptx
    _run(program, (136, 264, 328), sms=2)


def test_ptxas_keeps_products_in_flight(
    compiled: tilec.Compiled, assemblers_for: Callable[..., list[Any]]
) -> None:
    """No note, no spill, and in the loop's SASS one wait, for all groups but one."""
    for ptxas in assemblers_for(target("sm_90a")):
        status, report = ptxas.run(compiled.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|serialized", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report
    sass = compiled.sass
    waits = re.findall(r"WARPGROUP\.DEPBAR\.LE gsb0, (\w+)", sass)
    assert waits == ["0x1", "0x0"]
    *_, first, last = (found.start() for found in re.finditer("HGMMA", sass))
    assert not re.search(r"\bMOV R\d+, R\d+", sass[first : sass.index("gsb0, 0x0")])
    assert last < sass.index("gsb0, 0x1")


@tilec.kernel(warps=8)
def _gate(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    gate: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float16, int, int],
) -> None:
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc, gated = tl.zeros((128, 128)), tl.zeros((128, 128))
    for k in range(0, a.shape[1], 64):
        left = tl.load(a, (row, k), (128, 64))
        acc = tl.dot(left, tl.load(b, (k, col), (64, 128)), acc)
        gated = tl.dot(left, tl.load(gate, (k, col), (64, 128)), gated)
    tl.store(c, (row, col), (acc * gated).astype(tl.float16))


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        pytest.param(136, 72, 328, id="six iterations, ragged"),
        pytest.param(8, 8, 64, id="one", marks=SLOW),
        pytest.param(128, 136, 72, id="two", marks=SLOW),
        pytest.param(256, 256, 512, id="more than stages", marks=SLOW),
    ],
)
def test_two_products(m: int, n: int, k: int, assemblers_for: Callable[..., list[Any]]) -> None:
    """A gate: one wait for both, for all groups but one, where each had its own for its group."""
    rng = np.random.default_rng(k)
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    b, gate = rng.integers(-2, 3, (2, k, n)).astype(np.float16)
    c = np.full((m, n), 7, np.float16)
    program = _gate.compile(a, b, gate, c, target="sm_90a")
    report = program.launch(a, b, gate, c, grid=(-(-n // 128), -(-m // 128)), device="sim", sms=2)
    assert report is not None
    assert not report.findings
    wide, of_b, of_gate = (one.astype(np.float32) for one in (a, b, gate))
    np.testing.assert_array_equal(c, ((wide @ of_b) * (wide @ of_gate)).astype(np.float16))
    for ptxas in assemblers_for(target("sm_90a")):
        status, notes = ptxas.run(program.ptx, "sm_90a", "-v")
        assert status == 0, notes
        assert not re.search(r"C7[56]\d\d|[Pp]otential|serialized", notes), notes
        assert "0 bytes spill stores, 0 bytes spill loads" in notes
    waits = re.findall(r"WARPGROUP\.DEPBAR\.LE gsb0, (\w+)", program.sass)
    assert waits == ["0x1", "0x0"]


class Mutation(KernelPass):
    """Changes the one loop whose products are deferred."""

    name: ClassVar[str] = "test-mutation"

    def __init__(self, change: Callable[[Kernel, ir.Operation], None]) -> None:
        self._change = change

    def run(self, kernel: Kernel) -> None:
        (wait,) = (op for op in kernel.named(WgmmaWaitOp) if not len(op.operands))
        self._change(kernel, wait.operation)


def _releases(kernel: Kernel, wait: ir.Operation) -> list[ir.Operation]:
    found = [op.operation for op in kernel.named(BarrierArriveOp)]
    return [op for op in found if op.block == wait.block]


def _release_first(kernel: Kernel, wait: ir.Operation) -> None:
    (release,) = _releases(kernel, wait)
    wait.move_after(release)


def _weaker_wait(kernel: Kernel, wait: ir.Operation) -> None:
    del kernel
    number = attribute(wait, "pending", ir.IntegerAttr)
    wait.attributes["pending"] = ir.IntegerAttr.get(number.type, number.value + 1)


def _release_now(kernel: Kernel, wait: ir.Operation) -> None:
    """The stage of this iteration, whose product is in flight, instead of the one before."""
    (release,) = _releases(kernel, wait)
    stage = release.operands[1].owner
    assert not isinstance(stage, ir.Block)
    stage.operation.operands[0] = list(wait.block.arguments)[2]


def _no_last_release(kernel: Kernel, wait: ir.Operation) -> None:
    after = wait.block.owner.operation.block
    (last,) = (op for op in kernel.named(BarrierArriveOp) if op.operation.block == after)
    last.operation.erase()


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        pytest.param(_release_first, {"async"}, id="released before the wait"),
        pytest.param(_weaker_wait, {"async"}, id="waits for less", marks=SLOW),
        pytest.param(_release_now, {"async", "deadlock"}, id="the wrong stage", marks=SLOW),
        pytest.param(_no_last_release, {"deadlock"}, id="the last is not released", marks=SLOW),
    ],
)
def test_mutants_are_found(change: Callable[[Kernel, ir.Operation], None], kinds: set[str]) -> None:
    chosen = pipeline(target("sm_90a")).inserted(Mutation(change), before="tile-fragments-to-nvvm")
    program = tilec.compile(SOURCE.replace(SIZE, f"{SIZE}, {ALONE}"), pipeline=chosen)
    with pytest.raises(SimulationError) as error:
        _run(program, (128, 512, 200), sms=1)
    assert error.value.report.findings[0].kind in kinds
