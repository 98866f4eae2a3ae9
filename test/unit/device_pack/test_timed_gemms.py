"""GEMMs of every element type, on the simulator behind a CUDA driver: right, and timed in turns."""

from __future__ import annotations

import json
import time

import pytest

SHAPE = (256, 128, 256)


class Clocks:
    def since(self, start):
        return {"sm_mhz": 1000.0}


class Pack:
    """A pack in memory."""

    def __init__(self, kernels):
        self._kernels = {f"kernels/{k.name}.ptx": k for k in kernels}

    def kernels(self):
        return [json.loads(json.dumps(k.fields)) for k in self._kernels.values()]

    def text(self, name):
        return self._kernels[name].ptx


@pytest.fixture(scope="module")
def pack():
    from device_pack.gemm_kernel import Configuration
    from device_pack.kernels import GEMMS, compiled

    return Pack(
        [
            compiled(kind, Configuration((64, 64, 128 // kind.bytes), (2, 2), 2, group=2), "sm_90a")
            for kind in GEMMS
        ]
    )


class Slower:
    """A peer: the kernel itself, launched twice."""

    def works(self, problem, fields):
        self.fields = fields
        return {"twice": self.launch}

    def launch(self, number):
        self.cuda.launch(self.function, *self.rest)


def test_every_type_is_right(cuda, library, pack):
    from device_run.gemm import run
    from device_run.peers import NoPeers

    until = time.monotonic() + 1e6
    rows = list(run(cuda, pack, NoPeers(), shapes=[SHAPE], rounds=1, sampler=Clocks(), until=until))
    assert {row["dtype"] for row in rows} == {f["dtype"] for f in pack.kernels()}
    for row in rows:
        assert row["right"], row
        assert row["shape"] == list(SHAPE)
        assert row["tflops"] > 0
        assert row["clocks"] == {"sm_mhz": 1000.0}
    assert library.allocated == 0
