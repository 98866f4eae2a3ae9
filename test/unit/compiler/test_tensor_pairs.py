"""Products of pairs of CTAs, from level 3 to the simulator against numpy, and faults in one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import TilecError, target
from tilec.report.diagnostics import Source
from tilec.sim import SimulationError

from ..interpret.arrays import contents, kernel_of, views
from .pair_program import pair_program, scaled_pair


def run(text: str, m: int, n: int) -> tuple[Any, Any]:
    """The program's sums, and numpy's."""
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, (rows, 64)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    program = tilec.compile(text, target="sm_100a", name="pair.mlir", lineinfo=True)
    program.launch(a, b, c, grid=2, device="sim")
    return c, a.astype(int) @ b.astype(int).T


@pytest.mark.parametrize("m", [128, 256])
def test_products(m: int) -> None:
    """Of 256 rows each CTA has 128 lanes, of 128 rows 64 in two banks."""
    found, wanted = run(pair_program(m, 64), m, 64)
    np.testing.assert_array_equal(found, wanted)


def test_scale_factors_of_128_rows(assemblers_for: Callable[..., list[Any]]) -> None:
    """Those of B stand in two halves of the lanes: PTX ISA 9.7.16.10.7, on both simulators."""
    text, rng = scaled_pair(), np.random.default_rng(6)
    values, factors, images = [], [], []
    for rows in (128, 256):
        powers = rng.integers(-2, 3, (rows, 4))
        numbers = rng.integers(-3, 4, (rows, 128))
        values.append(numbers.astype(ml_dtypes.float8_e4m3fn))
        factors.append(numbers * np.repeat(2.0**powers, 32, axis=1))
        # Of A 64 rows of each CTA, of B 128 of each half: factor j of row r in row r mod 32, from
        # byte 4·(r / 32) on.
        image = np.full((2, 32, 16), 0x7F, np.uint8)
        for row, j in np.ndindex(powers.shape):
            part, inside = divmod(row, rows // 2)
            image[part, inside % 32, inside // 32 * 4 + j] = 127 + powers[row, j]
        images.append(image.reshape(64, 16).view(np.int8))
    c = np.zeros((128, 256), np.float32)
    given = [*values, *images, c]
    compiled = tilec.compile(text, target="sm_100a", cache=False)
    compiled.launch(*given, grid=2, device="sim").require_ok()
    wanted = factors[0] @ factors[1].T
    np.testing.assert_array_equal(c, wanted)
    assert assemblers_for(target("sm_100a"))[-1].run(compiled.ptx, "sm_100a") == (0, "")
    module, arithmetic = parse(Source("-", text), new_context()), arithmetic_of("f64")
    function = kernel_of(module)
    arrays = views(function, [*given[:4], c * 0], arithmetic)
    done = interpret(function, arrays, arithmetic, grid=(2, 1, 1), target="sm_100a")
    assert not done.findings, done.findings
    np.testing.assert_array_equal(contents(arrays[4], done.memories[4]), wanted)


def test_ptxas_takes_it(assemblers_for: Callable[..., list[Any]]) -> None:
    program = tilec.compile(pair_program(256, 64), target="sm_100a")
    for ptxas in assemblers_for(target("sm_100a")):
        status, report = ptxas.run(program.ptx, "sm_100a", "-v")
        assert status == 0, report


ARRIVES = "      tile.barrier_arrive %both[%c0] of %c0 : !Bar\n"
FAULTS = {
    "one arrival is awaited, and two come": (
        "%both[%c0] count 2", "%both[%c0] count 1", "barrier_wait %done", "deadlock",
    ),
    "the peer's half is not waited for": (
        "      tile.barrier_wait %both[%c0] parity %false cluster : !Bar\n", "", "tile.tcgen05_mma",
        "async",
    ),
    "the peer is not told": ("multicast %c3", "multicast %true_", "barrier_wait %done", "deadlock"),
    "only one CTA is told of its half": (ARRIVES, "", "barrier_wait %done", "deadlock"),
    "sums that nobody waits for": (
        "    tile.barrier_wait %done[%c0] parity %false cluster : !Bar\n", "",
        "%x = tile.tcgen05_ld", "tensor-memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    old, new, at, kind = FAULTS[name]
    text = pair_program(256, 64)
    assert text.count(old) == 1
    wrong = text.replace(old, new).replace("%true_", "%own")
    wrong = wrong.replace("    %true =", "    %own = arith.constant 1 : index\n    %true =")
    with pytest.raises(SimulationError) as found:
        run(wrong, 256, 64)
    assert found.value.report is not None
    findings = found.value.report.findings
    first = next(one for one in findings if one.kind == kind)
    lines = wrong.splitlines()
    named = [lines[int(number) - 1] for number in re.findall(r"pair\.mlir:(\d+)", first.message)]
    assert any(at in line for line in named), first.message


def test_copies_that_tell_the_even_cta(assemblers_for: Callable[..., list[Any]]) -> None:
    """Its mbarrier counts the bytes of both: PTX ISA, "cp.async.bulk.tensor", `.cta_group::2`."""
    text = pair_program(256, 64, to_even=True)
    found, wanted = run(text, 256, 64)
    np.testing.assert_array_equal(found, wanted)
    ptx = tilec.compile(text, target="sm_100a").ptx
    assert len(re.findall(r"complete_tx::bytes\.cta_group::2 \[", ptx)) == 2
    for ptxas in assemblers_for(target("sm_100a")):
        assert ptxas.run(ptx, "sm_100a")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("64] {cta_group = 2}", "64]", "deadlock"),
        ("bytes 40960", "bytes 20480", "deadlock"),
        ("tile.barrier_wait %full[%c0] parity %false cluster : !Bar", "", "async"),
    ],
    ids=["copies that tell their own CTA", "bytes of one CTA", "no wait"],
)
def test_faults_of_such_copies(old: str, new: str, kind: str) -> None:
    text = pair_program(256, 64, to_even=True)
    assert old in text
    with pytest.raises(SimulationError) as wrong:
        run(text.replace(old, new), 256, 64)
    assert wrong.value.report is not None
    assert kind in [one.kind for one in wrong.value.report.findings]


@pytest.mark.parametrize(
    ("old", "new", "on", "says"),
    [
        ("[128, 64] {cta_group = 2}", "[128, 64] {cta_group = 3}", "sm_100a", "is 1 or 2, not 3"),
        ("size = array<i32: 2, 1, 1>", "size = array<i32: 3, 1, 1>", "sm_100a",
         "the kernel's clusters have 3 CTAs; legal: known_cluster_size with an even number"),
        ("", "", "sm_120a", "bytes.cta_group::2 does not exist on sm_120a; it needs sm_100a"),
    ],
)  # fmt: skip
def test_misuse_of_such_copies(old: str, new: str, on: str, says: str) -> None:
    text = pair_program(256, 64, to_even=True).replace(old, new)
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "tile.tma_load %ma" in one)
    with pytest.raises(
        TilecError, match=rf"(?m)^p\.mlir:{line}:\d+: error: 'tile.tma_load' op .*{re.escape(says)}"
    ):
        _ = tilec.compile(text, target=on, name="p.mlir", cache=False).ptx
