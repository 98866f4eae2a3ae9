"""Kernels whose Python runs, with numpy arrays for tiles."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import LaunchError, TilecError
from tilec.lang import stepping

KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
Matrix = tl.Array[tl.float32, int, int]
Vector = tl.Array[tl.float32, int]
WAITS = {"stream_k_gemm"}
"""Whose CTAs wait for later ones."""
PLACE = r"test_stepping\.py:\d+:\d+: error: "
QUICK = ("softmax", "histogram", "embedding", "grouped_gemm", "prefix_sum")


def by_quickness() -> list[object]:
    names = sorted({path.stem for path in KERNELS.glob("*.py")} - WAITS)
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", by_quickness())
def test_examples_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each compares itself with numpy, as it does on the simulator."""
    monkeypatch.setenv("TILEC_INTERPRET", "1")
    monkeypatch.syspath_prepend(str(KERNELS))
    runpy.run_path(str(KERNELS / f"{name}.py"), run_name="__main__")


@tl.function
def scaled(x: tl.Tile, by: int) -> tl.Tile:
    if by > 2:
        return x * by
    for _ in range(by):
        x = x + x
    return x


seen: list[tuple[int, np.ndarray]] = []


@tilec.kernel
def watched(x: Matrix, y: Matrix, n: int) -> None:
    row = tl.program_id(0) * 4
    total = tl.zeros((4, 8))
    for at in range(n):
        total += scaled(tl.load(x, (row, 0), (4, 8)), at)
        seen.append((int(at), np.asarray(total)))
        if total.max() > 1e6 and row == 0:
            break
    while total.sum() < 1000 and not row > 4:
        total += 50
    tl.store(y, (row, 0), total)


def test_values_are_seen_while_it_runs() -> None:
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    y = np.zeros_like(x)
    seen.clear()
    watched.interpret[2](x, y, 4)
    padded = np.zeros((8, 8), np.float32)
    padded[:6] = x
    for number, (at, total) in enumerate(seen):
        part = padded[4 * (number // 4) :][:4]
        assert at == number % 4
        np.testing.assert_array_equal(total, sum(f for f in (1, 2, 4, 3)[: at + 1]) * part)
    assert len(seen) == 8
    np.testing.assert_array_equal(y, 10 * x)


def test_the_simulator_gives_the_same() -> None:
    @tilec.kernel
    def plain(x: Matrix, y: Matrix, n: int) -> None:
        row = tl.program_id(0) * 4
        total = tl.zeros((4, 8))
        for at in range(n):
            total += scaled(tl.load(x, (row, 0), (4, 8)), 1) * at
        while total.sum() < 1000:
            total += 50
        tl.store(y, (row, 0), total)

    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    left = [np.zeros_like(x) for _ in range(2)]
    plain.interpret[2](x, left[0], 3)
    plain.using(device="sim")[2](x, left[1], 3)
    np.testing.assert_array_equal(*left)


def test_a_debugger_steps(tmp_path: Path) -> None:
    """By its commands, in a process of its own."""
    program = tmp_path / "stepped.py"
    program.write_text(
        "import numpy as np, tilec, tilec.lang as tl\n"
        "@tilec.kernel\n"
        "def double(x: tl.Array[tl.float32, int]) -> None:\n"
        "    held = tl.load(x, 0, 4)\n"
        "    breakpoint()\n"
        "    twice = held + held\n"
        "    tl.store(x, 0, twice)\n"
        "x = np.arange(4, dtype=np.float32)\n"
        "double[1](x)\n"
        "print('left', x)\n"
    )
    asked = "p held\nn\nn\np twice.sum()\nwhere\nc\n"
    environment = {**os.environ, "TILEC_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, str(program)],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert "float32 [4]:\n[0. 1. 2. 3.]" in done.stdout
    assert "float32: 12.0" in done.stdout
    assert "stepped.py(7)double()" in done.stdout
    assert "left [0. 2. 4. 6.]" in done.stdout


def test_arithmetics() -> None:
    @tilec.kernel
    def sums(x: Vector, y: Vector) -> None:
        tl.store(y, 0, (tl.load(x, 0, 4) + 2.0**30) - 2.0**30)

    x, y = np.full(4, 1.25, np.float32), np.zeros(4, np.float32)
    sums.interpret[1](x, y)
    assert (y == 0).all()
    sums.interpret.using(numerics="f64")[1](x, y)
    assert (y == 1.25).all()
    sums.interpret.using(numerics="algebraic")[1](x, y)
    assert (y == 1.25).all()


def spoil(tile: tl.Tile) -> None:
    np.array(tile)[...] = 9
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(tile)[...] = 9


def test_a_tile_is_not_changed_by_its_array() -> None:
    @tilec.kernel
    def looked_at(x: Vector, y: Vector) -> None:
        held = tl.load(x, 0, 4)
        spoil(held)
        tl.store(y, 0, held)

    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    looked_at.interpret[1](x, y)
    np.testing.assert_array_equal((x, y), 1)


def test_prints_and_asserts(capsys: pytest.CaptureFixture[str]) -> None:
    @tilec.kernel
    def said(x: Vector) -> None:
        held = tl.load(x, 0, 2)
        tl.device_print("held", held)
        tl.device_assert(held < 2.0, "too large")

    said.interpret[1](np.array([0.5, 1.5], np.float32))
    assert capsys.readouterr().out == (
        "pid (0, 0, 0) idx (0) held: 0.5\npid (0, 0, 0) idx (1) held: 1.5\n"
    )
    with pytest.raises(TilecError, match=PLACE + ".*too large"):
        said.interpret[1](np.array([0.5, 2.5], np.float32))


def test_errors_name_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "_POLLS", 50)

    @tilec.kernel
    def outside(x: Vector) -> None:
        tl.store(x, 2, tl.load(x, 2, 4, bounds=False))

    @tilec.kernel
    def waits(x: tl.Array[tl.int32, int]) -> None:
        while tl.atomic_cas(x, 0, 1, 1) != 1:
            pass

    @tilec.kernel
    def wrong(x: Vector) -> None:
        tl.load(x, 0, 4) + tl.load(x, 0, 8)

    @tilec.kernel
    def down(x: Vector, step: int) -> None:
        for at in range(4, 0, step):
            tl.store(x, at, 1.0)

    with pytest.raises(TilecError, match=PLACE + "a loop of the kernel counts up: .* not -1"):
        down.interpret[1](np.zeros(4, np.float32), -1)
    with pytest.raises(TilecError, match=PLACE + ".*outside the memref"):
        outside.interpret[1](np.zeros(4, np.float32))
    with pytest.raises(TilecError, match=PLACE + "reads the same value 50 times"):
        waits.interpret[1](np.zeros(1, np.int32))
    with pytest.raises(TilecError, match=PLACE):
        wrong.interpret[1](np.zeros(8, np.float32))


def test_many_updates_at_one_line_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "_POLLS", 50)

    @tilec.kernel
    def counted(x: tl.Array[tl.int32, int], n: int) -> None:
        for at in range(n):
            tl.atomic_add(x, at % 8, 1)

    x = np.zeros(8, np.int32)
    counted.interpret[2](x, 96)
    np.testing.assert_array_equal(x, np.full(8, 24))


def test_values_are_given_up_and_nothing_is_done_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tiles take more room than they are given, which is none here."""
    monkeypatch.setattr(stepping, "_HELD", 0)

    @tilec.kernel
    def updated(x: tl.Array[tl.int32, int], y: tl.Array[tl.int32, int]) -> None:
        own, first = tl.shared_array(8, tl.int32), tl.load(x, 0, 8)
        tl.store(own, 0, first)
        old = tl.atomic_add(x, 0, tl.full(8, 5, tl.int32)) * 100
        for at in range(3):
            old += tl.atomic_add(own, 0, first * tl.int32(at))
        tl.store(y, 0, old + tl.cumsum(first))

    before = np.arange(8, dtype=np.int32)
    x, y = before.copy(), np.zeros(8, np.int32)
    updated.interpret[1](x, y)
    np.testing.assert_array_equal(x, before + 5)
    np.testing.assert_array_equal(y, before * (100 + 1 + 1 + 2) + np.cumsum(before))


@tl.function
def set_aside(extent: int) -> tl.AnyArray:
    return tl.shared_array(extent, tl.int32)


def test_shared_arrays() -> None:
    """Each CTA has its own, as often as the function is called."""

    @tilec.kernel
    def reversed_twice(x: tl.Array[tl.int32, int, int]) -> None:
        one, two = set_aside(8), set_aside(8)
        tl.store(one, 7 - tl.arange(8), tl.load(x, (tl.program_id(0), 0), 8))
        tl.store(two, 0, tl.load(one, 0, 8) * 10)
        tl.store(x, (tl.program_id(0), 0), tl.load(one, 0, 8) + tl.load(two, 0, 8))

    x = np.arange(16, dtype=np.int32).reshape(2, 8)
    wanted = x[:, ::-1] * 11
    reversed_twice.interpret[2](x)
    np.testing.assert_array_equal(x, wanted)


def test_shared_arrays_that_are_refused() -> None:
    @tilec.kernel
    def unset(x: tl.Array[tl.int32, int]) -> None:
        tl.store(x, 0, tl.load(set_aside(8), 0, 8))

    @tilec.kernel
    def large(x: tl.Array[tl.int32, int]) -> None:
        set_aside(1 << 17)

    @tilec.kernel
    def again(x: tl.Array[tl.int32, int]) -> None:
        for _ in range(2):
            set_aside(8)

    x = np.zeros(8, np.int32)
    for kernel, message in (
        (unset, "reads shared memory that was never written"),
        (large, "needs 524288 bytes of shared memory; a CTA has 166912"),
        (again, r"tl\.shared_array in a loop cannot be stepped through"),
    ):
        with pytest.raises(TilecError, match=PLACE + ".*" + message):
            kernel.interpret[1](x)


@tilec.kernel
def cleared(x: Vector, y: Vector) -> None:
    tl.store(y, 0, tl.load(x, 0, 4) * 0)


def test_arrays_that_are_read_only() -> None:
    x, y = np.ones((2, 4), np.float32)
    x.flags.writeable = False
    cleared.interpret[1](x, y)
    assert not y.any()
    with pytest.raises(TilecError, match=PLACE + "argument 'y' is read-only, and the kernel ch"):
        cleared.interpret[1](y, x)
    assert x.all()


def test_a_grid_without_ctas() -> None:
    x, y = np.ones((2, 4), np.float32)
    cleared.interpret[0, 3](x, y)
    assert y.all()


def test_an_arithmetic_that_there_is_not() -> None:
    with pytest.raises(TilecError, match="unknown arithmetic 'f46'; legal: hardware, f64"):
        cleared.using(numerics="f46")


def test_memory_of_two_types() -> None:
    @tilec.kernel
    def two(x: Vector, y: tl.Array[tl.int32, int]) -> None:
        tl.store(y, 0, tl.load(x, 0, 4).view(tl.int32))

    both = np.zeros(8, np.float32)
    with pytest.raises(LaunchError, match="overlap"):
        two.interpret[1](both[:6], both[4:].view(np.int32))


def test_views_of_one_array() -> None:
    @tilec.kernel
    def shifted(x: Vector, y: Vector) -> None:
        tl.store(y, 0, tl.load(x, 0, 4) + 1)
        tl.store(y, 0, tl.load(x, 0, 4) + 1)

    held = np.zeros(6, np.float32)
    shifted.interpret[1](held[:4], held[2:])
    np.testing.assert_array_equal(held, [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("seed", range(8))
def test_random_updates(random_updates: ModuleType, define: Any, seed: int) -> None:
    """Of arrays in global and shared memory, beside random numbers, as numpy says."""
    program = random_updates.Updates(seed, 6)
    text, out = program.text, np.zeros((6, random_updates.WIDTH), np.int64)
    given = [array.copy() for array in program.arguments]
    define(text).interpret[1](out, *given)
    np.testing.assert_array_equal(out, program.rows, text)
    for name, wanted in program.expected():
        np.testing.assert_array_equal(given[int(name[1:])], wanted, f"{name}\n{text}")
