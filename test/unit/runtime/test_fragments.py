"""Every `mma` form run on matrices: packed by the host, multiplied by the simulator, read back.

Numbers are small integers, so that every format holds them and every sum is exact: the result must
equal numpy's product of the logical matrices, for every value of every selector.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tilec.isa import Mma, TilecError, form, warp_forms
from tilec.layout import LayoutError
from tilec.runtime import compress, from_registers, prune, to_registers
from tilec.sim.tensor import multiply

PRODUCTS = [f for f in warp_forms().values() if isinstance(f, Mma)]


def small(rng, type_: str, shape: tuple[int, ...]) -> np.ndarray:
    """Integers that the type holds."""
    low, high = {"b1": (0, 2), "s4": (-8, 8), "u4": (0, 16), "s8": (-128, 128), "u8": (0, 256),
                 "s32": (-1000, 1000), "e2m1": (-4, 5)}.get(type_, (-4, 5))  # fmt: skip
    return rng.integers(low, high, shape)


@pytest.mark.parametrize("f", PRODUCTS, ids=str)
def test_a_product_of_matrices(f: Mma) -> None:
    rng = np.random.default_rng(len(f.ptx))
    m, n, k = f.shape
    batch = (f.products,) if f.products > 1 else ()
    a, b, c = (
        small(rng, f.operand(name).type.name, (*batch, *shape))
        for name, shape in (("a", (m, k)), ("b", (k, n)), ("c", (m, n)))
    )
    given = {"a": a, "b": b, "c": c}
    if f.sparsity:
        a = prune(f, a)
        given["a"], given["e"] = compress(f, a)
    left, right = a.astype(np.int64), b.astype(np.int64)
    if f.scaling:
        chunks = f.scaling.chunks
        given["sfa"] = np.exp2(rng.integers(-2, 3, (m, chunks)))
        given["sfb"] = np.exp2(rng.integers(-2, 3, (chunks, n)))
        left = left * given["sfa"].repeat(k // chunks, axis=1)
        right = right * given["sfb"].repeat(k // chunks, axis=0)
    if f.bit_op == "xor":
        want = (left[:, :, None] ^ right[None]).sum(axis=1) + c
    else:
        want = left @ right + c
    for values in product(*(s.legal for s in f.selectors)):
        selectors = dict(zip((s.name for s in f.selectors), values, strict=True))
        operands = {name: to_registers(f, name, x, selectors)[None] for name, x in given.items()}
        arch = f.since[0].target
        d = multiply(f, operands, selectors, arch=arch, numerics="exact")[0]
        assert (from_registers(f, "d", d).astype(np.float64) == want).all()
    for name, x in given.items():
        assert (from_registers(f, name, operands[name][0], selectors).astype(np.float64) == x).all()


def test_many_at_once() -> None:
    f = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    matrices = np.arange(3 * 2 * 256).reshape(3, 2, 16, 16)
    registers = to_registers(f, "a", matrices)
    assert registers.shape == (3, 2, 4, 32)
    assert (registers[1, 1] == to_registers(f, "a", matrices[1, 1])).all()
    assert (from_registers(f, "a", registers).astype(int) == matrices).all()


def test_matrix_moves_have_registers_too() -> None:
    f = form("ldmatrix.sync.aligned.m8n8.x4.b16")
    matrices = np.arange(256).reshape(4, 8, 8)
    registers = to_registers(f, "r", matrices)
    assert registers.shape == (4, 32)
    # lane 5 has row 1, elements 2 and 3
    assert registers[2, 5] == matrices[2, 1, 2] | matrices[2, 1, 3] << 16
    assert (from_registers(f, "r", registers) == matrices).all()


def test_refusals() -> None:
    f = form("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    with pytest.raises(TilecError, match=r"operand a of .* is 16×16, not 16×32"):
        to_registers(f, "a", np.zeros((16, 32)))
    with pytest.raises(TilecError, match=r"selector of .* is 2; legal: 0, 1"):
        to_registers(f, "e", np.full((16, 8), 4), {"selector": 2})
    with pytest.raises(TilecError, match="row 0, column 1: 16 does not fit b4"):
        to_registers(f, "e", np.full((16, 8), 4) + 12 * np.eye(16, 8, 1, dtype=int))
    opaque = form("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32")
    with pytest.raises(LayoutError, match="the ISA does not define"):
        to_registers(opaque, "a", np.zeros((16, 16)))
    with pytest.raises(LayoutError, match="has no operand 'sfa'"):
        to_registers(f, "sfa", np.zeros((16, 1)))
