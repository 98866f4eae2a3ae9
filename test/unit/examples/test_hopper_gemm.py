"""The GEMM of `examples/hopper`: what ptxas says, what it computes, and faults put into it.

Products are compared with numpy's. Each fault must be found by the simulator, or refused by the
compiler; none may pass with a right result and no word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError, TilecError, target

SOURCE = Path(__file__).parents[3] / "examples" / "hopper" / "gemm.mlir"
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")


@pytest.fixture(scope="module")
def program() -> tilec.Compiled:
    """The example, compiled."""
    return tilec.compile(SOURCE)


def _arrays(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng([m, n, k])
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    return a, b, np.full((m, n), 7, np.float16)


def _launch(program: tilec.Compiled, m: int, n: int, k: int) -> bool:
    """Run it on the simulator; whether the result is numpy's."""
    a, b, c = _arrays(m, n, k)
    program.launch(a, b, c, grid=(-(-m // 128), -(-n // 256)), device="sim")
    return bool((c.astype(int) == a.astype(int) @ b.astype(int).T).all())


def test_ptxas_has_nothing_to_note(
    program: tilec.Compiled, assemblers_for: Callable[..., list[Any]]
) -> None:
    for ptxas in assemblers_for(target("sm_90a")):
        status, report = ptxas.run(program.ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


@pytest.mark.parametrize("extents", [(128, 256, 64), (200, 264, 328), (1, 8, 8)])
def test_products(program: tilec.Compiled, extents: tuple[int, int, int]) -> None:
    assert _launch(program, *extents)


def test_maps_are_described(program: tilec.Compiled) -> None:
    (kernel,) = program.kernels
    document = json.loads(json.dumps(kernel.json()))
    maps = [one for one in document["arguments"] if one["kind"] == "tensor_map"]
    assert document["arguments"][-3:] == maps, "they follow all others"
    told = sorted((one["array"], tuple(one["box"]), one["swizzle"], one["type"]) for one in maps)
    assert told == [
        (0, (128, 64), "128B", "f16"),
        (1, (256, 64), "128B", "f16"),
        (2, (64, 64), "128B", "f16"),
    ]


def test_demands_name_the_dimension(program: tilec.Compiled) -> None:
    a, b, c = _arrays(64, 64, 60)
    with pytest.raises(LaunchError, match="argument 0 has a stride of 120 bytes along dimension 0"):
        program.launch(a, b, c, grid=1, device="sim")
    a, b, c = _arrays(64, 64, 64)
    with pytest.raises(LaunchError, match="argument 1 has 0 elements along dimension 0"):
        program.launch(a, b[:0], c, grid=1, device="sim")


FAULTS = {
    "no mbarrier expects the bytes": ("bytes 49152", "bytes 0"),
    "bytes short": ("bytes 49152", "bytes 32768"),
    "a consumer waits for the other parity": ("%parity = %false)", "%parity = %true)"),
    "the producer waits for the other parity": ("%parity = %true)", "%parity = %false)"),
    "released by one warp of eight": ("count 8", "count 1"),
    "one warp too many awaited": ("count 8", "count 9"),
    "no proxy fence before the store": ("      nvvm.fence.proxy {kind", "      // {kind"),
    "wait too weak": ("wgmma_wait 0", "wgmma_wait 1"),
    "the producer has a stage too few": ("arith.cmpi eq, %next, %c3", "arith.cmpi eq, %next, %c2"),
    "no wait before the end": ("nvvm.cp.async.bulk.wait_group 0", ""),
    "no barrier before the store": ("      nvvm.barrier id", "      // id"),
    "a wrong row of B": ("%mb[%col, %kcol]", "%mb[%row, %kcol]"),
    "a wrong swizzle": (
        '!A = memref<3x128x64xf16, #tile.shared<"128B">>',
        '!A = memref<3x128x64xf16, #tile.shared<"64B">>',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    old, new = FAULTS[name]
    text = SOURCE.read_text()
    assert old in text
    try:
        right = _launch(tilec.compile(text.replace(old, new, 1)), 200, 520, 328)
    except TilecError:
        return
    assert not right, name
