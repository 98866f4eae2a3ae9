"""Machine code of instructions against numpy's, bit for bit, on random and special operands."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from tilec.sim.alu import Signature, forms, opcodes, qualifiers, resolve, signature
from tilec.sim.alu.bits import Array, register_dtype, width
from tilec.sim.native.computes import Computes
from tilec.sim.native.library import library
from tilec.sim.native.stretches import Form, find_form

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

Spelling = tuple[str, tuple[str, ...], Signature]


def _form(
    opcode: str, spelling: tuple[str, ...], types: Signature, literal: int = 0x9A
) -> Form | None:
    chosen = qualifiers(opcode, spelling, len(types.results), len(types.operands))
    nowhere: tuple[None, ...] = (None,) * len(types.results)
    slots = (0,) * len(types.operands)
    computes = Computes(opcode, chosen, types.results, nowhere, types.operands, slots)
    return find_form(computes, [literal] * len(types.operands))


COMMON = """
add.s32 add.u16 sub.s64 mul.lo.s32 mul.hi.u32 mul.hi.s32 mul.wide.u32 mul.wide.s16 mad.lo.s32
mad.wide.s32 mad.hi.s32 min.s32 max.u64 abs.s32 neg.s64 div.s32 div.u64 rem.s32 rem.u16
and.b32 or.pred xor.b64 not.b32 cnot.b16 lop3.b32 shl.b32 shl.b64 shr.s32 shr.u64 shr.b16
shf.l.wrap.b32 shf.r.clamp.b32 prmt.b32 popc.b64 clz.b32 brev.b32 bfe.s32 bfe.u64 bfi.b32
selp.b32 setp.lt.s32 setp.hs.u64 setp.geu.f32 setp.nan.f64 setp.lt.and.ftz.f32
add.f32 sub.ftz.f32 mul.sat.f32 fma.rn.f32 fma.rn.ftz.sat.f32 fma.rn.f64 div.rn.f32
div.approx.ftz.f32 div.full.f32 sqrt.rn.f32 rcp.approx.f32 rsqrt.approx.ftz.f32 min.f32
max.NaN.ftz.f32 min.f64 neg.ftz.f32 abs.f64 copysign.f32 cvt.u64.u32 cvt.s64.s32 cvt.u16.u32
cvt.rn.f32.s32 cvt.rn.f32.u32 cvt.rn.f64.s64 cvt.rzi.s32.f32 cvt.rni.s64.f32 cvt.rmi.u32.f64
cvt.rpi.f32.f32 cvt.f32.f16 cvt.rn.f16.f32 cvt.rn.bf16.f32 cvt.f32.bf16 cvt.f64.f32
cvt.rn.ftz.f32.f64 cvt.rn.f16x2.f32 cvt.rn.bf16x2.f32
"""
"""Instructions that compilers emit often; all have a form."""
FEW = 256
MANY = 100_000


def _spelled(text: str) -> Spelling:
    opcode, *spelling = text.split(".")
    return opcode, tuple(spelling), signature(opcode, tuple(spelling))


def _operand(rng: np.random.Generator, type_: str, count: int) -> Array:
    """Bits: uniform ones, small and large ones, everyday floats, NaNs with payloads, subnormals."""
    dtype = register_dtype(type_)
    if dtype == np.bool_:
        return rng.integers(0, 2, count).astype(np.bool_)
    bits = width(type_)
    uniform = rng.integers(0, 1 << bits, count, dtype=np.uint64, endpoint=False)
    if bits == 64:
        uniform = rng.integers(0, np.iinfo(np.uint64).max, count, dtype=np.uint64, endpoint=True)
    edges = [0, 1, 2, 31, 32, 33, 63, 64, 255, 256, (1 << bits) - 1, 1 << (bits - 1)]
    edges += [(1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1]
    for kind in (k for k in (np.float16, np.float32, np.float64) if k(0).nbytes * 8 == bits):
        number = np.dtype(kind)
        register = np.dtype(f"u{bits // 8}")
        some = np.array([0.5, 1, 1.5, 2.5, -2.5, 65504, 65520, 2**31, -(2**31)], np.float64)
        values = [*some, 2.0**63, -(2.0**63), 1e-40, 3e38, np.inf, -np.inf]
        with np.errstate(all="ignore"):
            edges += [int(v) for v in np.array(values).astype(number).view(register)]
        inf = int(number.type(np.inf).view(register))
        edges += [inf + 1, inf | 1 << (np.finfo(number).nmant - 1), inf + 5 | 1 << (bits - 1)]
        everyday = (rng.normal(size=count) * 2.0 ** rng.integers(-4, 15, count)).astype(number)
        uniform = np.where(rng.random(count) < 0.5, uniform, everyday.view(register))
    picked = np.where(
        rng.random(count) < 0.4,
        rng.choice(np.array([e % (1 << bits) for e in edges], np.uint64), count),
        uniform.astype(np.uint64),
    )
    small = rng.integers(0, 80, count).astype(np.uint64)
    return np.where(rng.random(count) < 0.1, small, picked).astype(dtype)


def _made(spelled: Spelling, literal: int) -> str:
    """The name of the form's function, loaded."""
    opcode, spelling, types = spelled
    found, written = library(), _form(opcode, spelling, types, literal)
    assert found is not None
    assert written is not None
    if found.address(written.name) is None:
        found.load({written.name: written.text}, written.declared)
    return written.name


def _compare(spelled: Spelling, count: int) -> None:
    found = library()
    assert found is not None
    opcode, spelling, types = spelled
    text = ".".join((opcode, *spelling))
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    literals = rng.integers(0, 1 << 16, 4) if opcode in ("lop3", "prmt") else np.zeros(1)
    for literal in map(int, literals):
        operands = [_operand(rng, t, count) for t in types.operands]
        if opcode == "lop3":
            literal &= 0xFF  # noqa: PLW2901
            operands[3] = np.full(1, literal, np.uint32)
        if opcode == "prmt":
            operands[2] = np.full(1, literal, np.uint32)
        expected = resolve(opcode, spelling, len(types.results), len(types.operands))(*operands)
        expected = expected if len(types.results) > 1 else (expected,)
        dtypes = [register_dtype(t) for t in types.results]
        got = found.apply(_made(spelled, literal), operands, dtypes)
        for one, other in zip(expected, got, strict=True):
            wanted = np.broadcast_to(one, other.shape)
            wrong = np.flatnonzero(wanted != other)
            if wrong.size:
                given = [hex(int(np.broadcast_to(o, count)[wrong[0]])) for o in operands]
                pytest.fail(f"{text} of {given}: {other[wrong[0]]:#x}, not {wanted[wrong[0]]:#x}")


def test_random_instructions() -> None:
    found, missing = library(), dict[str, Form]()
    assert found is not None
    for text in COMMON.split():
        form = _form(*_spelled(text))
        assert form is not None, text
        missing[form.name] = form
    declared = frozenset[str]().union(*(form.declared for form in missing.values()))
    found.load({name: form.text for name, form in missing.items()}, declared)
    for text in COMMON.split():
        _compare(_spelled(text), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", opcodes())
def test_100_000_random_instructions_of_each_form(opcode: str) -> None:
    for spelling, types in forms(opcode):
        if "carry" in (*types.results, *types.operands):
            continue
        if _form(opcode, spelling, types) is not None:
            _compare((opcode, spelling, types), MANY)
