"""Chains of products give what the products give one by one, however their results are read.

Expected is `tilec.sim.tensor` applied link by link; its arithmetic has tests of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tilec.isa import form
from tilec.sim import chains, launch, read, tensor
from tilec.sim.chains import chained, runs
from tilec.sim.placement import names

MMA = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
WARPS = 3


def registers(prefix: str, count: int) -> str:
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(count)) + "}"


def product(d: str, c: str) -> str:
    return f"{MMA} {registers(d, 4)}, {registers('a', 2)}, {registers('b', 1)}, {registers(c, 4)};"


def kernel(body: str) -> str:
    """Each lane of each warp reads 2 registers of A, 1 of B and 4 of C, and stores 4 of `z`."""
    return f"""
.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %a<2>, %b<1>, %c<4>, %x<4>, %y<4>, %z<4>, %r<4>;
.reg .b64 %d<3>; .reg .pred %p<2>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
mad.wide.u32 %d1, %r1, 28, %d1;
mad.wide.u32 %d2, %r1, 16, %d2;
ld.global.u32 %a0, [%d1]; ld.global.u32 %a1, [%d1+4]; ld.global.u32 %b0, [%d1+8];
ld.global.u32 %c0, [%d1+12]; ld.global.u32 %c1, [%d1+16];
ld.global.u32 %c2, [%d1+20]; ld.global.u32 %c3, [%d1+24];
shr.u32 %r2, %r1, 5;
setp.eq.u32 %p1, %r2, 1;
{body}
st.global.u32 [%d2], %z0; st.global.u32 [%d2+4], %z1;
st.global.u32 [%d2+8], %z2; st.global.u32 [%d2+12], %z3;
ret;
}}
"""


FIRST, SECOND, THIRD = product("x", "c"), product("y", "x"), product("z", "y")
MOVE = "mov.b32 %c0, %x0; mov.b32 %c1, %x1; mov.b32 %c2, %x2; mov.b32 %c3, %x3;"
CASES = {
    # body: how many links are not spread, links of warp 1, links of the others
    "three": (f"{FIRST}\n{SECOND}\n{THIRD}", 2, 3, 3),
    "in place": (f"{product('z', 'c')}\n{product('z', 'z')}\n{product('z', 'z')}", 2, 3, 3),
    "in place, read between": (
        f"{product('z', 'c')}\nmov.b32 %x0, %z3;\n{product('z', 'z')}\n{product('z', 'z')}",
        1, 3, 3,
    ),
    "in place, written between": (
        f"{product('z', 'c')}\nmov.b32 %z3, %z3;\n{product('z', 'z')}\n{product('z', 'z')}",
        1, 3, 3,
    ),
    "in place, and a barrier between": (
        f"{product('z', 'c')}\nbar.sync 0;\n{product('z', 'z')}", 0, 2, 2,
    ),
    "in place in a loop": (
        f"mov.u32 %r3, 0;\nloop:\n{product('c', 'c')}\n{product('c', 'c')}\n"
        "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p0, %r3, 2;\n@%p0 bra loop;\n"
        "mov.b32 %z0, %c0; mov.b32 %z1, %c1; mov.b32 %z2, %c2; mov.b32 %z3, %c3;",
        1, 4, 4,
    ),
    "a barrier between": (f"{FIRST}\nbar.sync 0;\n{SECOND}\n{THIRD}", 1, 3, 3),
    "read by others": (f"{FIRST}\n{SECOND}\n{MOVE}\n{product('z', 'c')}", 0, 2, 2),
    "of some warps": (
        f"@%p1 bra go;\n{product('z', 'c')}\nbra on;\ngo:\n{FIRST}\n{SECOND}\n{THIRD}\non:",
        2, 3, 1,
    ),
    "in a loop": (
        f"mov.u32 %r3, 0;\nloop:\n{FIRST}\n{SECOND}\n{product('c', 'y')}\nadd.u32 %r3, %r3, 1;\n"
        "setp.lt.u32 %p0, %r3, 2;\n@%p0 bra loop;\n"
        "mov.b32 %z0, %c0; mov.b32 %z1, %c1; mov.b32 %z2, %c2; mov.b32 %z3, %c3;",
        2, 6, 6,
    ),
    "guarded": (f"{FIRST}\n@!%p1 {SECOND}\n@%p1 {product('y', 'c')}\n{THIRD}", 0, 2, 3),
}  # fmt: skip


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("name", CASES)
def test_chains(name: str, numerics: str) -> None:
    body, spared, links_of_one, links_of_others = CASES[name]
    module = read(kernel(body))
    function = module.functions["k"]
    assert function.body is not None
    products = [i for i in function.body if i.opcode in ("mma", "bar", "mov")]
    assert len(chained(products, Counter(names(function)))) == spared
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((WARPS, n, 32, 2)).astype(np.float16) for n in (2, 1))
    c = rng.standard_normal((WARPS, 4, 32)).astype(np.float32)
    a, b = (x.view(np.uint32)[..., 0] for x in (a, b))
    memory = np.concatenate([a, b, c.view(np.uint32)], axis=1).transpose(0, 2, 1).copy()
    out = np.zeros((WARPS, 32, 4), np.uint32)
    launch(module, "k", 1, 32 * WARPS, [memory, out], arch="sm_80", numerics=numerics).require_ok()
    for warp in range(WARPS):
        d: Any = c[warp : warp + 1].view(np.uint32)
        for _ in range(links_of_one if warp == 1 else links_of_others):
            operands = {"a": a[warp : warp + 1], "b": b[warp : warp + 1], "c": d}
            d = tensor.multiply(form(MMA), operands, {}, arch="sm_80", numerics=numerics)
        np.testing.assert_array_equal(out[warp].T, d[0])


RUNS = {
    "apart": ("x=c y=c z=c", {0, 1, 2}, {2}),
    "a chain": ("x=c y=x z=y", {0, 1, 2}, {2}),
    "in place": ("x=x y=y x=x y=y", {0, 1, 2, 3}, {3}),
    "with loads and copies": ("x=x ld cp x=x", {0, 3}, {3}),
    "before a load": ("x=x y=y ld add x=x y=y", {0, 1, 4, 5}, {2, 5}),
    "a factor": ("x=x y=y ldx x=x y=y", {0, 1, 3, 4}, {1, 4}),
    "guarded": ("x=c y=c @ z=c x=c", {0, 1, 3, 4}, {1, 4}),
    "part of a result": ("x=x w=w x=x w=w", set(), set()),
}
OTHERS = {
    "ld": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b0}, [%r1];",
    "ldx": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x0}, [%r1];",
    "cp": "cp.async.ca.shared.global [%r1], [%d1], 4;",
    "add": "add.u32 %r2, %r2, 1;",
    "@": "@%p1 " + product("z", "c"),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What stands in a run touches no result of it but as a whole, as an addend."""
    monkeypatch.setattr(chains, "AT_ONCE", 2)
    words, queued, settled = RUNS[name]
    lines = [OTHERS.get(word) or product(*word.split("=")) for word in words.split()]
    odd = registers("w", 4).replace("%w0", "%x0")
    text = kernel("\n".join(lines).replace(registers("w", 4), odd))
    body = read(text).functions["k"].body or []
    first = next(n for n, one in enumerate(body) if one.opcode == "mma")
    body = body[first : first + len(lines)]
    assert runs(body) == (frozenset(queued), frozenset(settled))
    monkeypatch.setattr(chains, "AT_ONCE", 8)
    assert runs(body) == chains.NO_RUNS
