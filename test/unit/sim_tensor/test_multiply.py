"""Fast numerics against numpy, selectors by warp, refusals, and sizes that cross a chunk."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import TilecError, form
from tilec.sim.tensor import Fragment, multiply, multiply_fragments

HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
SCALED = (
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
    ".f32.e4m3.e4m3.f32.ue8m0"
)
FAST = [
    HALF,
    SPARSE,
    SCALED,
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
    ".f32.e2m1.e2m1.f32.ue4m3",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
]


def operands_of(f, tools, plain, warps: int, mood: str = "near one", seed: int = 0):
    rng = np.random.default_rng(seed)
    selectors = {s.name: s.legal[0] for s in f.selectors}
    values = [tools.inputs(f, rng, mood) for _ in range(warps)]
    images = [tools.registers(f, plain, v, selectors, rng) for v in values]
    return {name: np.stack([i[name] for i in images]) for name in images[0]}, selectors


@pytest.mark.parametrize("ptx", FAST)
def test_fast_is_as_good_as_float32(ptx, tools, plain) -> None:
    """Close to the exact mode of the most precise generation, relative to the terms' sizes."""
    f = form(ptx)
    if ptx.startswith("wmma"):
        rng = np.random.default_rng(0)
        operands = {
            o.name: rng.standard_normal((3, o.registers * 32 * o.per_register))
            .astype(tools.NUMPY_TYPES[o.type.name])
            .view(np.uint32)
            .reshape(3, o.registers, 32)
            for o in f.operands
        }
        selectors = {}
    else:
        operands, selectors = operands_of(f, tools, plain, 3)
    exact, fast = (
        multiply(f, operands, selectors, arch="sm_120a", numerics=n).view(
            tools.NUMPY_TYPES[f.operand("d").type.name]
        )
        for n in ("exact", "fast")
    )
    half = f.operand("d").type.name == "f16"
    size = np.abs(exact.astype(np.float64)).max()
    assert np.abs(exact.astype(np.float64) - fast).max() <= size * (2.0**-10 if half else 2.0**-20)


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_absent_elements_meet_no_infinities(numerics, tools, plain) -> None:
    f = form(SPARSE)
    operands, selectors = operands_of(f, tools, plain, 1)
    # codes 0b0100 keep elements 0 and 1 of each four: rows 2 and 3 of B are met by none
    operands["e"] = np.full((1, 1, 32), 0x44444444, dtype=np.uint32)
    clean = multiply(f, operands, selectors, arch="sm_80", numerics=numerics)
    for lane, i in np.ndindex(32, f.operand("b").elements):
        row, _ = plain.b_place(2, lane, i)
        if row % 4 >= 2:
            operands["b"].view(np.uint16).reshape(1, -1, 32, 2)[0, i // 2, lane, i % 2] = 0x7C00
    with_infinities = multiply(f, operands, selectors, arch="sm_80", numerics=numerics)
    if numerics == "exact":
        assert (with_infinities == clean).all()
    else:
        assert np.allclose(with_infinities.view(np.float32), clean.view(np.float32), rtol=1e-5)


def test_many_warps_are_one_by_one(tools, plain) -> None:
    f = form(HALF)
    operands, _ = operands_of(f, tools, plain, 5, "any")
    many = {name: np.tile(x, (40, 1, 1)) for name, x in operands.items()}
    all_at_once = multiply(f, many, {}, arch="sm_90", numerics="exact")
    for warp in range(5):
        one = {name: x[warp : warp + 1] for name, x in operands.items()}
        alone = multiply(f, one, {}, arch="sm_90", numerics="exact")
        assert (all_at_once[warp::5] == alone).all()


def test_selectors_may_differ_by_warp(tools, plain) -> None:
    f = form(SCALED)
    operands, _ = operands_of(f, tools, plain, 4, seed=3)
    selectors = {
        "byte_id_a": np.array([0, 1, 2, 3]),
        "thread_id_a": np.array([0, 1, 0, 1]),
        "byte_id_b": np.array([3, 1, 0, 2]),
        "thread_id_b": np.array([3, 2, 1, 0]),
    }
    together = multiply(f, operands, selectors, arch="sm_120a", numerics="exact")
    for warp in range(4):
        one = {name: x[warp : warp + 1] for name, x in operands.items()}
        own = {name: int(x[warp]) for name, x in selectors.items()}
        assert (multiply(f, one, own, arch="sm_120a", numerics="exact") == together[warp]).all()


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize(
    "ptx",
    [HALF, SPARSE, SCALED, *FAST[3:6], "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"],
)
def test_shared_fragments_change_nothing(ptx, numerics, tools, plain) -> None:
    """A and B meet twice, and D is the next C: the same bits as one product at a time."""
    f = form(ptx)
    operands, selectors = operands_of(f, tools, plain, 3)
    shared = {name: Fragment(x) for name, x in operands.items()}
    same = f.operand("c").type == f.operand("d").type
    for _ in range(3):
        d = multiply(f, operands, selectors, arch="sm_120a", numerics=numerics)
        result = multiply_fragments(f, shared, selectors, arch="sm_120a", numerics=numerics)
        assert (result.registers == d).all()
        if same:
            operands["c"], shared["c"] = d, result


def test_strided_registers_are_taken(tools, plain) -> None:
    f = form(HALF)
    operands, _ = operands_of(f, tools, plain, 2)
    views = {n: np.asfortranarray(x) for n, x in operands.items()}
    results = [multiply(f, x, {}, arch="sm_80", numerics="exact") for x in (operands, views)]
    assert (results[0] == results[1]).all()


def test_refusals(tools, plain) -> None:
    f = form(HALF)
    operands, _ = operands_of(f, tools, plain, 1)
    with pytest.raises(TilecError, match="legal: exact, fast"):
        multiply(f, operands, {}, arch="sm_80", numerics="quick")
    with pytest.raises(TilecError, match="unknown target 'sm_81'"):
        multiply(f, operands, {}, arch="sm_81", numerics="exact")
    f8 = form("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
    operands, _ = operands_of(f8, tools, plain, 1)
    with pytest.raises(TilecError, match=r"sm_80 has no mma.*it needs sm_89"):
        multiply(f8, operands, {}, arch="sm_80", numerics="exact")
    sparse = form(SPARSE)
    operands, _ = operands_of(sparse, tools, plain, 1)
    with pytest.raises(TilecError, match=r"selector of mma.sp.* is 2; legal: 0, 1"):
        multiply(sparse, operands, {"selector": 2}, arch="sm_80", numerics="exact")
