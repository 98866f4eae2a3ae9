"""Kernels beside dense products, on the simulator after a CUDA driver: right, and wrong if not."""

from __future__ import annotations

import json
import time
from functools import cache

import pytest


class Clocks:
    def since(self, start):
        return {}


class Pack:
    """A case in memory."""

    def __init__(self, kernels):
        self._texts = {f"kernels/{one.name}.ptx": one.ptx for one in kernels}

    def assembled(self, name):
        return None

    def text(self, name):
        return self._texts[name]


SMALL = {
    "products": {"m": 144, "n": 272, "k": 128},
    "groups": {"m": [1, 130, 3, 2, 9, 5, 128, 7], "n": 72, "k": 72},
    "stream-K": {"m": 136, "n": 72, "k": 384},
    "block scales": {"m": 80, "n": 256, "k": 256},
    "weights": {"m": 24, "n": 144, "k": 256},
    "sequences": {"lengths": [9, 130], "heads": 2},
    "gradients": {"heads": 2, "count": 72},
}
"""Sizes by workload that fill no tile, where that may be."""


@cache
def cases():
    from device_pack.suite import cases

    return {case.name: case for case in cases()}


@cache
def compiled(name):
    from device_pack.suite import compiled
    from tilec.isa import target

    fields, kernels = compiled(cases()[name], target("sm_90a"))
    return json.loads(json.dumps(fields)), Pack(kernels)


def small(name):
    """A case as the pack has it, of a small problem."""
    fields, pack = compiled(name)
    given = fields["problems"][0]
    sizes = {**given, **SMALL[fields["workload"]]}
    if fields["about"].get("shared", 1) > 1:
        sizes["heads"] = 2 * fields["about"]["shared"]
    sizes |= {axis: min(given[axis], 2) for axis in ("batches", "parts") if axis in given}
    return {**fields, "problems": [sizes]}, pack


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """No launches for times: those that are checked are enough."""
    from device_run import compare
    from device_run.timing import Time

    times = Time(1.0, 1.0, 1.0, 1)
    monkeypatch.setattr(compare, "measure", lambda _, works, *__: dict.fromkeys(works, times))


def run(cuda, name, peers=None):
    from device_run.peers import NoPeers
    from device_run.suite import run

    case, pack = small(name)
    until = time.monotonic() + 1e6
    how = {"chosen": [case], "rounds": 1, "sampler": Clocks(), "until": until}
    (row,) = run(cuda, pack, peers or NoPeers(), **how)
    return row


CI = {
    "f16 split-K",
    "f16 grouped",
    "f16 stream-K",
    "e4m3 1x128 128x128",
    "W4A16, A in registers, M 16",
    "lengths d64",
    "backward d64",
}
"""One of every workload; the rest is `slow`."""


def names():
    from device_pack.suite import cases

    for case in cases():
        yield pytest.param(case.name, marks=() if case.name in CI else pytest.mark.slow)


@pytest.fixture
def name(request):
    return request.param


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", list(names()), indirect=True)


def test_kernels_are_right(cuda, library, name):
    row = run(cuda, name)
    assert row.get("right"), row
    assert row["tflops"] > 0
    assert library.allocated == 0


def test_a_wrong_result_is_told(cuda, library, monkeypatch):
    """A launch whose scale is another: every workload compares with what it knows itself."""
    from device_run import compare

    def other(arguments, matrices, scalars, *rest):
        return values(arguments, matrices, {**scalars, "scale": 0.0}, *rest)

    values = compare.values
    monkeypatch.setattr(compare, "values", other)
    assert run(cuda, "lengths d64")["right"] is False
    assert library.allocated == 0


def test_what_was_promised_is_held(cuda, library):
    """Rows of 8-bit floats are multiples of 16 bytes for TMA."""
    from device_run.peers import NoPeers
    from device_run.suite import run

    case, pack = small("e4m3 1x128 128x128")
    case["problems"][0]["m"] = 81
    until = time.monotonic() + 1e6
    how = {"chosen": [case], "rounds": 1, "sampler": Clocks(), "until": until}
    (row,) = run(cuda, pack, NoPeers(), **how)
    assert "sizes [81, 256] are no multiples of [16, 16]" in row["failure"]
    assert library.allocated == 0


def test_memory_that_is_out_is_told_and_given_back(cuda, library):
    from device_run.peers import NoPeers
    from device_run.suite import run

    case, pack = small("f16 stream-K")
    calls = []

    def failing(*arguments):
        calls.append(1)
        return 2 if len(calls) == 3 else library_alloc(*arguments)

    library_alloc = library._cuMemAlloc
    library._cuMemAlloc = failing
    until = time.monotonic() + 1e6
    how = {"chosen": [case], "rounds": 1, "sampler": Clocks(), "until": until}
    (row,) = run(cuda, pack, NoPeers(), **how)
    assert "CUDA_ERROR_OUT_OF_MEMORY" in row["failure"]
    assert library.allocated == 0


def test_what_the_issue_lists_is_there():
    """Instructions that are executed, by what ptxas would be given: none is emulated."""
    from device_pack.kernels import EXAMPLE_ATTENTIONS, GEMMS, SPARSE

    dense = {kind.name for kind in (*GEMMS, *SPARSE)}
    assert {"f16", "bf16", "tf32", "e4m3", "s8", "f16-2:4", "bf16-2:4", "s8-2:4"} <= dense
    assert set(EXAMPLE_ATTENTIONS) == {64, 128, 256}
    found = {case.workload for case in cases().values()}
    assert found == set(SMALL)


def test_peers_are_asked_for_what_they_take(monkeypatch):
    """Every workload names its peers; one that refuses is told, and the others go on."""
    import types

    from device_run.peers import Peers
    from device_run.workloads import WORKLOADS

    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(init=lambda: None, synchronize=lambda: None)
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    peers = Peers()
    for case in cases().values():
        fields = {"work": "kernels", "dtype": case.name}
        problem = WORKLOADS[case.workload](case.problems[0], json.loads(json.dumps(case.about)))
        assert peers.works(problem, fields) == {}
        named = {name for name in peers.refusals if name.endswith(f" on {case.name}")}
        assert named, case.name
    assert any(name.startswith("FA3 on lengths") for name in peers.refusals)
    assert any(name.startswith("DeepGEMM on e4m3") for name in peers.refusals)
