"""GEMMs and attention, on the simulator after a CUDA driver: right, and timed in turns."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

SHAPE = (256, 128, 256)


class Clocks:
    def since(self, start):
        return {"sm_mhz": 1000.0}


class Pack:
    """A pack in memory."""

    def __init__(self, kernels):
        self.all = kernels
        self._kernels = {f"kernels/{k.name}.ptx": k for k in kernels}

    def kernels(self):
        return [json.loads(json.dumps(k.fields)) for k in self._kernels.values()]

    def assembled(self, name):
        return None

    def text(self, name):
        return self._kernels[name].ptx


LONG = {"until": time.monotonic() + 1e6, "rounds": 1, "sampler": Clocks()}


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    """Few launches for a time, except where they are counted: they take long on this GPU."""
    if "turns" not in request.node.name:
        from device_run import timing

        monkeypatch.setattr(timing, "WARM_UP", 1)
        monkeypatch.setattr(timing, "ROUND_MS", 1.0)


@pytest.fixture(scope="module")
def gemms():
    from device_pack.gemm_kernel import Configuration
    from device_pack.kernels import GEMMS, SPARSE, compiled, fitted

    how = Configuration((64, 64, 64), (2, 2), 2, group=2)
    kinds = [(kind, level) for kind in GEMMS for level in (1, 2)] + [(kind, 2) for kind in SPARSE]
    return Pack([compiled(kind, fitted(how, kind), "sm_90a", level=n) for kind, n in kinds])


@pytest.fixture(scope="module")
def attentions():
    from device_pack.attention_kernel import Attention
    from device_pack.kernels import compiled_attention

    return Pack(
        [
            compiled_attention(Attention(64, causal, queries=64, warps=2), "sm_90a")
            for causal in (False, True)
        ]
    )


def check(rows, library):
    for row in rows:
        assert row["right"], row
        assert row["tflops"] > 0
        assert row["clocks"] == {"sm_mhz": 1000.0}
    assert library.allocated == 0


def test_gemms_of_every_type_and_level_are_right(cuda, library, gemms):
    from device_run.gemm import run
    from device_run.peers import NoPeers

    rows = list(run(cuda, gemms, NoPeers(), shapes=[SHAPE], **LONG))
    assert {(row["dtype"], row["level"]) for row in rows} == {
        (fields["dtype"], fields["level"]) for fields in gemms.kernels()
    }
    assert all(row["shape"] == list(SHAPE) for row in rows)
    check(rows, library)


def test_kernels_of_warpgroups_are_right(cuda, library):
    """What is timed on Hopper: tensor maps, clusters, CTAs that take several tiles."""
    from device_pack.kernels import CONFIGURATIONS, GEMMS, compiled
    from device_run.gemm import run
    from device_run.peers import NoPeers

    (how,) = (how for how in CONFIGURATIONS[1] if how.tile[1] == 256)
    pack = Pack([compiled(GEMMS[0], replace(how, group=2), "sm_90a", level=1)])
    (fields,) = pack.kernels()
    assert [one["kind"] for one in fields["arguments"]].count("tensor_map") == 3
    assert fields["cluster"]
    rows = list(run(cuda, pack, NoPeers(), shapes=[(256, 256, 128)], **LONG))
    assert len(rows) == 1
    check(rows, library)


def test_attention_is_right(cuda, library, attentions):
    from device_run.attention import run
    from device_run.peers import NoPeers

    rows = list(run(cuda, attentions, NoPeers(), problems=[(2, 128)], **LONG))
    assert [row["dtype"] for row in rows] == ["f16-d64", "f16-d64-causal"]
    check(rows, library)


def test_a_wrong_result_is_told(cuda, library, gemms, monkeypatch):
    """A kernel that leaves out the last slice of K."""
    from device_run import compare, gemm
    from device_run.peers import NoPeers

    def short(*given):
        found = values(*given)
        for extent in (2, 5):  # columns of A, rows of B
            found[extent].value -= 64
        return found

    values = compare.values
    monkeypatch.setattr(compare, "values", short)
    only = Pack([k for k in gemms.all if k.fields["dtype"] == "f16"])
    rows = list(gemm.run(cuda, only, NoPeers(), shapes=[SHAPE], **LONG))
    assert [row["right"] for row in rows] == [False, False]


def test_peers_take_turns_and_the_best_is_named(cuda, gemms):
    from device_run.gemm import run

    turns = []

    class Two:
        def works(self, problem, fields):
            def peer(name, launches):
                def work(number):
                    turns.append(name)
                    for _ in range(launches):
                        cuda.launch(empty, (1, 1, 1), (32, 1, 1), [])

                return work

            return {"slow": peer("slow", 3), "quick": peer("quick", 1)}

    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }"
    empty = cuda.function(cuda.load(ptx), "empty")
    only = Pack([k for k in gemms.all if k.fields["dtype"] == "s8"][:1])
    (row,) = run(cuda, only, Two(), shapes=[SHAPE], **{**LONG, "rounds": 3})
    assert row["peer"] == "quick"
    assert row["peer_tflops"] == row["peers"]["quick"]["tflops"] > row["peers"]["slow"]["tflops"]
    order = [name for at, name in enumerate(turns) if at == 0 or turns[at - 1] != name]
    # Once for warming up, then three rounds.
    assert order == ["slow", "quick"] * 4


def test_shapes_that_do_not_fit_are_left_out_and_time_is_kept(cuda, gemms):
    from device_run.gemm import run
    from device_run.peers import NoPeers

    assert not list(run(cuda, gemms, NoPeers(), shapes=[(64, 64, 64)], **LONG))
    late = {**LONG, "until": time.monotonic() - 1}
    rows = list(run(cuda, gemms, NoPeers(), shapes=[SHAPE], **late))
    assert {row["skipped"] for row in rows} == {"out of time"}


def test_a_problem_that_fails_is_told_and_the_next_goes_on(cuda, library, gemms, monkeypatch):
    from device_run import compare, gemm
    from device_run.driver import DeviceError
    from device_run.peers import NoPeers

    measured, calls = compare.measure, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == 1:
            raise DeviceError("cuEventRecord: CUDA_ERROR_UNKNOWN")
        return measured(*arguments)

    monkeypatch.setattr(compare, "measure", failing)
    only = Pack(
        [k for k in gemms.all if k.fields["dtype"] in ("s8", "tf32") and k.fields["level"] == 1]
    )
    first, second = gemm.run(cuda, only, NoPeers(), shapes=[SHAPE], **LONG)
    assert first == {"failure": "tf32 256x128x256: cuEventRecord: CUDA_ERROR_UNKNOWN"}
    assert second["right"]
    assert library.allocated == 0
