"""One tilec's side of `sim_against.py`: launches that it is asked for, a line of JSON each.

    PYTHONPATH=SITE python benchmarks/sim_worker.py

It imports only the simulator and numpy, so that it serves every revision. It answers with seconds
of CPU and of the clock, and with a sum of what the kernel has written.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sim_kernels import run
from tilec.sim import launch

TILE = 128


def loop(name: str, turns: int, ctas: int) -> tuple[Any, bytes]:
    """One of the kernels of one loop."""
    return run(launch, name, turns, ctas)


def gemm(path: str, block: list[int], shared: int, size: int) -> tuple[Any, bytes]:
    """The product of two matrices by a kernel with tiles of 128x128."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float16) for _ in range(2))
    c = np.zeros((size, size), np.float32)
    args = [v for x in (a, b, c) for v in (x, *x.shape, x.shape[1])]
    grid = (size // TILE, size // TILE)
    report = launch(
        Path(path).read_text(), "gemm", grid, block, args, arch="sm_90", dynamic_smem=shared
    )
    assert np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max() < 2e-2
    return report, c.tobytes()


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        wanted = json.loads(line)
        what = {"loop": loop, "gemm": gemm}[wanted.pop("what")]
        cpu, clock = time.process_time(), time.perf_counter()
        report, data = what(**wanted)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        assert report.ok, report.to_text()
        answer = {
            "cpu": cpu,
            "seconds": clock,
            "instructions": report.warp_instructions,
            "sum": hashlib.sha256(data).hexdigest(),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
