"""f32 arithmetic on f16 and bf16 (PTX ISA, "Mixed Precision Floating Point Instructions")."""

from __future__ import annotations

from .arithmetic import arithmetic
from .bits import Operation
from .registry import form, resolve
from .rounding import ROUNDINGS
from .special import f32_operation
from .syntax import Qualifiers

_NARROW = ("f16", "bf16")
_WIDEN = {kind: resolve("cvt", ("f32", kind)) for kind in _NARROW}


@form("add{.rnd}{.sat}.f32.atype", "f32 = atype f32", rnd=ROUNDINGS, atype=_NARROW)
def _add(q: Qualifiers) -> Operation:
    add = f32_operation(arithmetic("add", 32, q.get("rnd", "rn")), sat="sat" in q)
    widen = _WIDEN[q["atype"]]
    return lambda a, c: add(widen(a), c)


@form("sub{.rnd}{.sat}.f32.atype", "f32 = atype f32", rnd=ROUNDINGS, atype=_NARROW)
def _sub(q: Qualifiers) -> Operation:
    subtract = f32_operation(arithmetic("sub", 32, q.get("rnd", "rn")), sat="sat" in q)
    widen = _WIDEN[q["atype"]]
    return lambda a, c: subtract(widen(a), c)


@form("fma.rnd{.sat}.f32.atype", "f32 = atype atype f32", rnd=ROUNDINGS, atype=_NARROW)
def _fma(q: Qualifiers) -> Operation:
    fma = f32_operation(arithmetic("fma", 32, q["rnd"]), sat="sat" in q)
    widen = _WIDEN[q["atype"]]
    return lambda a, b, c: fma(widen(a), widen(b), c)
