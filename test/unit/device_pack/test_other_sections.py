"""Rates, launch overhead and the runtime: their PTX runs, and they say what they leave out."""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tilec.isa import form as find_form
from tilec.isa import target as find_target
from tilec.sim import launch


def test_programs_of_rates_are_right():
    """One round of the kernel is the product of the operands in every accumulator."""
    from device_run.rates import ACCUMULATORS, program
    from tilec.runtime import from_registers, to_registers

    form = find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (16, 16)), rng.integers(-4, 5, (16, 8))
    lanes_first = {n: to_registers(form, n, x).T.copy() for n, x in (("a", a), ("b", b))}
    d = np.zeros((32, ACCUMULATORS, 4), np.uint32)
    text = program(form, find_target("sm_90a"))
    launch(text, "rate", 1, 32, [lanes_first["a"], lanes_first["b"], d, np.uint32(3)]).require_ok()
    for number in range(ACCUMULATORS):
        found = from_registers(form, "d", d[:, number].T.copy())
        assert (found == 3 * a @ b).all()


def test_every_rate_is_assembled(assemblers_for):
    from device_run.rates import FORMS, program

    target = find_target("sm_90a")
    judge = assemblers_for(target)[-1]
    for name in FORMS:
        status, report = judge.run(program(find_form(name), target), "sm_90a")
        assert status == 0, report


def test_rates(cuda, library):
    from device_run.rates import FORMS, run

    found = list(run(cuda, "sm_90a", time.monotonic() + 1e6, repeats=1))
    rows = [row for row in found if row["work"] == "rate"]
    # On this GPU every launch takes the same time, so the larger shape has the higher rate.
    verdicts = {row["form"]: row["verdict"] for row in found if row["work"] == "probe"}
    assert verdicts["mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"] == "native"
    assert len(verdicts) == 3
    assert [row["form"] for row in rows] == list(FORMS)
    m, n, k = find_form(FORMS[0]).shape
    flops = 2 * m * n * k * 4 * 8 * 2 * cuda.limits["multiprocessors"]
    assert rows[0]["tflops"] == pytest.approx(flops / rows[0]["ms"] / 1e9, rel=1e-6)
    s4 = next(row for row in rows if ".s4." in row["form"])
    assert "2 IMMA, emulated" in s4["says"]
    assert library.allocated == 0


def test_rates_out_of_time(cuda):
    from device_run.rates import run

    rows = list(run(cuda, "sm_90a", time.monotonic() - 1))
    assert {row["skipped"] for row in rows} == {"out of time"}


def test_overhead(cuda):
    from device_run.overhead import run

    rows = list(run(cuda))
    timed = [row for row in rows if "us" in row]
    assert timed[0]["way"].startswith("driver")
    assert timed[0]["us"] >= timed[0]["host_us"] > 0
    assert all(row["skipped"] for row in rows if "us" not in row)


def test_the_runtime_without_a_gpu_is_left_out():
    from device_run.runtime import run
    from tilec.runtime import cuda

    if cuda.available():
        pytest.skip("there is a GPU")
    (row,) = run(None)
    assert row["skipped"]


def test_the_runtime_on_a_driver_that_is_not_real(monkeypatch):
    """With the simulator as the GPU, after the driver of the runtime's own tests."""
    from device_pack.expect import finished
    from device_pack.forms import groups
    from device_run.runtime import run

    names = runpy.run_path(str(Path(__file__).parents[1] / "runtime_cuda" / "conftest.py"))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", names["FakeDriver"]())
    names["_forget"]()
    form = find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    (group,) = groups([form], find_target("sm_90a"))
    module = finished(group, "sm_90a", 256)
    pack = SimpleNamespace(form_modules=lambda: [module])
    rows = {row["what"]: row for row in run(pack)}
    names["_forget"]()
    assert rows["arrays of numpy, copied there and back"]["right"]
    assert rows["arrays on the GPU, none copied"]["right"]
    assert rows["a CTA of 2048 threads is refused"]["right"]
    assert len(rows) == 7


def test_peers_that_are_missing_are_named(monkeypatch):
    from device_run.peers import Peers

    monkeypatch.setitem(sys.modules, "torch", None)
    peers = Peers()
    assert "torch" in peers.refusals["PyTorch"]
    assert peers.works(None, {"work": "gemm"}) == {}
