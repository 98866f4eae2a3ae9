"""The GEMMs of `examples/hopper`: what ptxas says, what they compute, and faults put into them.

Products are compared with numpy's. Each fault must be found, by the compiler or the simulator, at
the line of the program that is to blame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError, TilecError, target
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import place
from tilec.sim import SimulationError

from .hopper_faults import CLUSTER, PLAIN, Fault

FOLDER = Path(__file__).parents[3] / "examples" / "hopper"
NOTES = re.compile(r"C7[56]\d\d|wgmma|[Pp]otential|setmaxnreg")


@dataclass(frozen=True)
class Example:
    """A GEMM.

    Attributes:
        path: the program.
        grid: the CTAs for M and N.
        faulty: M, N and K at which faults are tried.
    """

    path: Path
    grid: Callable[[int, int], tuple[int, int]]
    faulty: tuple[int, int, int]

    def run(self, program: tilec.Compiled, m: int, n: int, k: int) -> bool:
        """Launch it on the simulator; whether the result is numpy's."""
        a, b, c = _arrays(m, n, k)
        program.launch(a, b, c, grid=self.grid(m, n), device="sim")
        return bool((c.astype(int) == a.astype(int) @ b.astype(int).T).all())


GEMM = Example(FOLDER / "gemm.mlir", lambda m, n: (-(-m // 128), -(-n // 256)), (120, 200, 328))
CLUSTERED = Example(
    FOLDER / "gemm_cluster.mlir", lambda m, n: (2 * -(-m // 256), -(-n // 128)), (200, 104, 328)
)
EXAMPLES = [GEMM, CLUSTERED]


def _name(example: Example) -> str:
    return example.path.stem


@pytest.fixture(scope="module")
def programs() -> dict[Example, tilec.Compiled]:
    """The examples, compiled."""
    return {example: tilec.compile(example.path) for example in EXAMPLES}


def _arrays(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng([m, n, k])
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    return a, b, np.full((m, n), 7, np.float16)


@pytest.mark.parametrize("example", EXAMPLES, ids=_name)
def test_ptxas_has_nothing_to_note(
    example: Example,
    programs: dict[Example, tilec.Compiled],
    assemblers_for: Callable[..., list[Any]],
) -> None:
    for ptxas in assemblers_for(target("sm_90a")):
        status, report = ptxas.run(programs[example].ptx, "sm_90a", "-v")
        assert status == 0, report
        assert not NOTES.search(report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


@pytest.mark.parametrize("example", EXAMPLES, ids=_name)
@pytest.mark.parametrize("extents", [(128, 256, 64), (200, 264, 328), (1, 8, 8)])
def test_products(
    example: Example, programs: dict[Example, tilec.Compiled], extents: tuple[int, int, int]
) -> None:
    assert example.run(programs[example], *extents)


def test_maps_are_described(programs: dict[Example, tilec.Compiled]) -> None:
    (kernel,) = programs[GEMM].kernels
    document = json.loads(json.dumps(kernel.json()))
    maps = [one for one in document["arguments"] if one["kind"] == "tensor_map"]
    assert document["arguments"][-3:] == maps, "they follow all others"
    told = sorted((one["array"], tuple(one["box"]), one["swizzle"], one["type"]) for one in maps)
    assert told == [
        (0, (128, 64), "128B", "f16"),
        (1, (256, 64), "128B", "f16"),
        (2, (64, 64), "128B", "f16"),
    ]


def test_demands_name_the_dimension(programs: dict[Example, tilec.Compiled]) -> None:
    a, b, c = _arrays(64, 64, 60)
    with pytest.raises(LaunchError, match="argument 0 has a stride of 120 bytes along dimension 0"):
        programs[GEMM].launch(a, b, c, grid=1, device="sim")
    a, b, c = _arrays(64, 64, 64)
    with pytest.raises(LaunchError, match="argument 1 has 0 elements along dimension 0"):
        programs[GEMM].launch(a, b[:0], c, grid=1, device="sim")


def _faults() -> list[Any]:
    pairs = [
        (example, one) for example, some in ((GEMM, PLAIN), (CLUSTERED, CLUSTER)) for one in some
    ]
    return [pytest.param(*pair, id=f"{_name(pair[0])}: {pair[1].name}") for pair in pairs]


@pytest.mark.parametrize(("example", "fault"), _faults())
def test_faults_are_found_at_their_line(example: Example, fault: Fault) -> None:
    text = example.path.read_text()
    assert fault.old in text
    wrong = text.replace(fault.old, fault.new, 1)
    wanted = {fault.line(text, part) for part in (fault.at, fault.names) if part}
    if fault.kind == "error":
        with pytest.raises(TilecError) as refused:
            tilec.compile(wrong, name="gemm.mlir")
        assert isinstance(refused.value, ProgramError)
        at = place(refused.value.diagnostics[0].location)
        assert at is not None
        assert {at.line} == wanted
        return
    program = tilec.compile(wrong, name="gemm.mlir", lineinfo=True)
    with pytest.raises(SimulationError) as found:
        example.run(program, *example.faulty)
    assert found.value.report is not None
    first = found.value.report.findings[0]
    assert first.kind == fault.kind
    named = {int(line) for line in re.findall(r"gemm\.mlir:(\d+)", first.message)}
    assert wanted <= named, first.message
    if fault.kind != "deadlock":  # which is at whoever waits first
        assert first.source == f"gemm.mlir:{fault.line(text, fault.at)}"
