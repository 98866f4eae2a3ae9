"""Probes of the hardware's arithmetic: on simulators that differ, the verdicts do.

The simulator stands in for the GPU after a CUDA driver. As it is, every probe finds what it does;
with its arithmetic changed, or its metadata in other lanes, each finds the change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tilec.isa import form as find_form
from tilec.sim.native.choice import VARIABLE
from tilec.sim.tensor import dot, floats, product, warpgroup
from tilec.sim.tensor.arithmetic import Method, arithmetic

SPARSE_F16 = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SPARSE_TF32 = "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
FP8 = "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32"


def arithmetic_with(monkeypatch, **changes):
    """Let the simulated hardware take other steps; what the probes read stays as it is."""
    method = changes.pop("method", None)

    def changed(form, arch):
        found = arithmetic(form, arch)
        step = replace(found.step, **changes)
        return replace(found, step=step, method=method or found.method)

    monkeypatch.setenv(VARIABLE, "numpy")  # which asks it each time
    for module in (product, warpgroup):
        monkeypatch.setattr(module, "arithmetic", changed)


def grouping_of(monkeypatch, cuda, form):
    from device_run.probes import grouping

    monkeypatch.setattr(grouping, "FORMS", (form,))
    (row,) = grouping.probes(cuda, "sm_90a")
    return row


def test_every_product_as_simulated(cuda):
    from device_run.probes import grouping

    verdicts = {row["form"]: row["verdict"] for row in grouping.probes(cuda, "sm_90a")}
    for form, verdict in verdicts.items():
        taken = arithmetic(find_form(form), "sm_90a")
        if taken.method is Method.CHAIN:
            assert verdict == f"{taken.step.terms} stored elements a step, in order"
        else:
            assert "k mod 4 below 2, then the rest, C added last" in verdict


@pytest.mark.parametrize("terms", [4, 8])
def test_shorter_steps(monkeypatch, cuda, terms):
    arithmetic_with(monkeypatch, terms=terms)
    row = grouping_of(monkeypatch, cuda, SPARSE_F16)
    assert row["verdict"] == f"{terms} stored elements a step, in order"
    assert row["agreement"]["16 stored elements a step, in order"] < 1


SPARSE_WARPGROUP = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16.a::descriptor"


def warpgroups_of(monkeypatch, cuda, *forms):
    from device_run.probes import grouping

    monkeypatch.setattr(grouping, "WARPGROUP_FORMS", forms or grouping.WARPGROUP_FORMS)
    return {row["form"]: row["verdict"] for row in grouping.of_warpgroups(cuda, "sm_90a")}


@pytest.mark.slow
def test_every_product_of_warpgroups_as_simulated(monkeypatch, cuda):
    for form, verdict in warpgroups_of(monkeypatch, cuda).items():
        terms = arithmetic(find_form(form), "sm_90a").step.terms
        assert verdict == f"{terms} stored elements a step, in order"


def test_products_of_warpgroups(monkeypatch, cuda):
    (verdict,) = warpgroups_of(monkeypatch, cuda, SPARSE_WARPGROUP).values()
    assert verdict == "16 stored elements a step, in order"
    arithmetic_with(monkeypatch, terms=8)
    (verdict,) = warpgroups_of(monkeypatch, cuda, SPARSE_WARPGROUP).values()
    assert verdict == "8 stored elements a step, in order"


def test_targets_without_warpgroups(cuda):
    from device_run.probes import codes, grouping, nans

    assert not list(grouping.of_warpgroups(cuda, "sm_80"))
    assert len(list(nans.probes(cuda, "sm_80"))) == 1
    assert [row["form"] for row in codes.probes(cuda, "sm_80")] == [codes.FORMS[0]]


def test_native_8_bit_floats(monkeypatch, cuda):
    arithmetic_with(monkeypatch, method=Method.CHAIN)
    row = grouping_of(monkeypatch, cuda, FP8)
    assert row["verdict"] == "16 stored elements a step, in order"


def test_arithmetic_that_no_hypothesis_knows(monkeypatch, cuda):
    arithmetic_with(monkeypatch, fraction=20)
    row = grouping_of(monkeypatch, cuda, SPARSE_F16)
    assert row["verdict"].startswith("none of ")
    assert len(row["results"]) == 64


def edges_of(cuda):
    from device_run.probes import edges

    return {
        (row["question"], row["form"].split(".")[-1]): row for row in edges.probes(cuda, "sm_90a")
    }


def test_edges_as_simulated(cuda):
    rows = edges_of(cuda)
    for (question, _), row in rows.items():
        wanted = "a lower bound" if question.startswith("exponent") else "+0"
        assert row["verdict"].startswith(wanted)


def test_negative_zeros(monkeypatch, cuda):
    """A sum that is negative before it is rounded keeps its sign."""

    def keeps_sign(total, rounding):
        rounded = dot.toward_zero(total, 23)
        if rounding is dot.Rounding.RNE16:
            rounded = total.astype(np.float16)
        return np.where(total < 0, -np.abs(rounded), np.abs(rounded))

    monkeypatch.setenv(VARIABLE, "numpy")
    monkeypatch.setattr(dot, "round_sum", keeps_sign)
    verdicts = {question: row["verdict"] for (question, _), row in edges_of(cuda).items()}
    assert verdicts["sign of a negative sum cut to zero"] == "-0"
    assert verdicts["sign of a sum whose terms are all cut to zero"] == "+0"
    assert verdicts["sign of a sum of negative zeros"] == "+0"


def test_zeros_without_an_exponent(monkeypatch, cuda):
    arithmetic_with(monkeypatch, zero_exponent=-1000)
    verdicts = [r["verdict"] for (q, _), r in edges_of(cuda).items() if q.startswith("exponent")]
    assert verdicts == ["none: zeros have no exponent"] * 2


def test_absent_elements(monkeypatch, cuda):
    from device_run.probes import absent

    verdicts = [row["verdict"] for row in absent.probes(cuda, "sm_90a")]
    assert verdicts == ["not multiplied"] * len(absent.FORMS)
    monkeypatch.setenv(VARIABLE, "numpy")
    monkeypatch.setattr(product, "absent_of", lambda _: None)
    verdicts = [row["verdict"] for row in absent.probes(cuda, "sm_90a")]
    assert verdicts == ["multiplied by zero, which gives NaN"] * len(absent.FORMS)


def test_quad_pairs(monkeypatch, cuda):
    from device_run.probes import quad_pairs

    def verdicts():
        return [row["verdict"].split("; or ") for row in quad_pairs.probes(cuda, "sm_90a")]

    # What ptxas writes for sm_90; rounded to f16 the ways of f32 give much the same.
    wide, narrow = verdicts()
    assert wide == ["fused multiply-adds of float32, k (0, 1, 2, 3), C last"]
    assert "fused multiply-adds of float32, C and two pairs" in narrow

    def by_tensor_core(a, b, c, *, half):
        dense = find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        return dot.fused(arithmetic(dense, "sm_90a").step, a, b, c)

    monkeypatch.setattr(floats, "_scalars", by_tensor_core)
    wide, narrow = verdicts()
    assert wide == ["one step of a tensor core"]


class Another:
    """In place of a warp, hardware of which only the result is known."""

    def __init__(self, result):
        self._result = result

    def __call__(self, cuda, form, target, selectors=None):
        self._form, self._selectors = form, selectors or {}
        return self

    def multiply(self, matrices):
        return self._result(self._form, self._selectors, matrices)

    execute = multiply

    def close(self):
        pass


def test_codes_that_are_undefined(monkeypatch, cuda):
    """As they are simulated; and hardware that adds both elements where they coincide."""
    from device_run.probes import codes

    later = "places; of two that coincide the later element counts"
    assert [row["verdict"] for row in codes.probes(cuda, "sm_90a")] == [later] * 2

    def both(form, _, matrices):
        wide = np.zeros((form.shape.m, form.shape.k))
        for row, found in enumerate(matrices["e"]):
            for chunk, code in enumerate(found.tolist()):
                for at in range(2):
                    place = 4 * chunk + (code >> 2 * at & 3)
                    wide[row, place] += matrices["a"][row, 2 * chunk + at]
        return (wide @ matrices["b"]).astype(np.float32).view(np.uint32)

    monkeypatch.setattr(codes, "Warp", Another(both))
    verdicts = [row["verdict"] for row in codes.probes(cuda, "sm_90a")]
    assert verdicts == ["places; of two that coincide both count"] * 2


def test_nans(monkeypatch, cuda):
    from device_run.probes import nans

    first, *others = (row["verdict"] for row in nans.probes(cuda, "sm_90a"))
    assert first == "0x7FF8000000000000"
    assert others == ["the same NaN"] * 3

    def follows(form, chosen, matrices):
        if not chosen:  # f64: C is what comes out
            return matrices["c"] | np.uint64(1 << 51)
        wide = form.operand("d").type.name == "f32"
        quiet, type_ = (0x7FFFFFFF, np.uint32) if wide else (0x7FFF, np.uint16)
        sign = chosen["imm_scale_a"] * chosen["imm_scale_b"] < 0
        top = 1 << 8 * np.dtype(type_).itemsize - 1
        return np.full(tuple(form.shape)[:2], quiet | sign * top, type_)

    monkeypatch.setattr(nans, "Warp", Another(follows))
    first, *others = (row["verdict"] for row in nans.probes(cuda, "sm_90a"))
    assert first == "the NaN of C, quiet"
    assert others == ["a NaN whose sign follows"] * 3


def metadata_of(monkeypatch, cuda, form):
    from device_run.probes import metadata

    monkeypatch.setattr(metadata, "FORMS", (form,))
    return list(metadata.probes(cuda, "sm_90a"))


def test_metadata_as_laid_out(monkeypatch, cuda):
    rows = metadata_of(monkeypatch, cuda, SPARSE_TF32)
    assert [row["verdict"] for row in rows] == ["as laid out"] * 4
    # PTX ISA: with selector s, lane 4 g + s speaks for rows g and g + 8, four codes each.
    for selector, row in enumerate(rows):
        places = {(r, chunk): at for r, chunk, at in row["results"]}
        assert places == {
            (g + 8 * h, chunk): [(4 * g + selector, 4 * h + chunk)]
            for g in range(8)
            for h in range(2)
            for chunk in range(4)
        }


def test_metadata_in_other_lanes(monkeypatch, cuda):
    """Hardware that takes the other half of the lanes."""
    picked = product.pick

    def other(form, name, elements, selectors):
        if name == "e":
            selectors = {**selectors, "selector": int(np.ravel(selectors["selector"])[0]) ^ 2}
        return picked(form, name, elements, selectors)

    monkeypatch.setattr(product, "pick", other)
    rows = metadata_of(monkeypatch, cuda, SPARSE_TF32)
    for row in rows:
        assert row["verdict"].startswith("64 of 64 chunks differ")


def test_floats_are_what_the_probes_use():
    """The functions that are replaced above are the ones that the simulator calls."""
    assert floats.dot is dot.dot
    assert product.arithmetic is arithmetic
