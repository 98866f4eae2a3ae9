"""The examples without layouts on a GPU, with the arrays of the simulator's tests, three ways.

What the GPU gives is numpy's result within the tests' tolerance and, where every operation is
exact, bit by bit the simulator's.
"""

import numpy as np
import pytest
import tilec
from device_pack.examples import EXAMPLES, cases, inexact, runs_on

pytestmark = pytest.mark.device


@pytest.mark.parametrize("case", cases().KERNELS, ids=lambda case: case.name)
def test_tile_kernels(gpu, case):
    target = gpu.target
    if not any(runs_on(known, target.number) for known in case.targets):
        pytest.skip(f"{gpu} lacks its instructions")
    program = tilec.compile(EXAMPLES / "kernels" / f"{case.file}.mlir", target=target.name)
    for extents in case.extents:
        on_gpu, simulated = (case.run(np.random.default_rng(0), extents) for _ in range(2))
        for run, device in ((on_gpu, "cuda"), (simulated, "sim")):
            program.launch(*run.arguments, grid=run.grid, kernel=case.name, device=device)
        wrong = np.abs(on_gpu.result.astype(np.float64) - on_gpu.expected)
        most = max(1.0, float(np.abs(on_gpu.expected).max()))
        assert wrong.max() <= on_gpu.tolerance * most, extents
        if not inexact(program.ptx):
            # Compared here: of long bytes pytest lists every difference, which takes minutes.
            same = on_gpu.result.tobytes() == simulated.result.tobytes()
            assert same, f"{extents}: other bits than the simulator's"
