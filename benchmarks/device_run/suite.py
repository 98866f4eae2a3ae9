"""The section `kernels`: what a GEMM library has beside dense products, each beside its peers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .compare import Chain, Kernel, Peers, Row, compare
from .driver import Cuda, DeviceError
from .machine import Sampler
from .pack import Pack
from .workloads import WORKLOADS


def cases(pack: Pack) -> list[dict[str, Any]]:
    """What is timed, as `device_pack.suite` describes it: a case has kernels and problems."""
    found: list[dict[str, Any]] = pack.read("suite.json")
    return found


def run(
    cuda: Cuda,
    pack: Pack,
    peers: Peers,
    *,
    chosen: Sequence[Mapping[str, Any]],
    rounds: int,
    sampler: Sampler,
    until: float,
) -> Iterator[Row]:
    """Rows of every case and problem.

    Args:
        cuda: the GPU.
        pack: the kernels.
        peers: what else is timed.
        chosen: of `cases`, those that are to be timed, each with the problems that are.
        rounds: measurements of each.
        sampler: of the clocks.
        until: when to begin no further problem, as `time.monotonic` counts.
    """
    for case in chosen:
        chain: Chain | None = None
        for sizes in case["problems"]:
            if time.monotonic() > until:
                yield {"dtype": case["name"], "sizes": sizes, "skipped": "out of time"}
                continue
            chain = chain or Chain(case, [Kernel(cuda, pack, one) for one in case["kernels"]])
            problem = WORKLOADS[case["workload"]](sizes, case["about"])
            try:
                problem.allocate(cuda)
            except DeviceError as error:
                problem.free()
                yield {"failure": f"{case['name']}: {error}"}
                continue
            yield from compare(cuda, problem, [chain], peers, rounds, sampler)
