"""The table of element types says what numpy, ml_dtypes, MLIR and ptxas say of each.

All that know element types read it, so that none can disagree with another.
"""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from tilec.isa import ELEMENT_TYPES, PtxVersion, UnknownNameError, element_type, target
from tilec.isa.dtypes import numpy_type
from tilec.isa.types import TYPE_BITS, is_type, register_bits

FLOATS = [t for t in ELEMENT_TYPES.values() if t.is_float]
INTEGERS = [t for t in ELEMENT_TYPES.values() if t.is_integer]
CUT = {"tf32": 13, "ue4m3": 0}  # of the holding type's mantissa, bits that do not count


@pytest.mark.parametrize("type_", FLOATS, ids=str)
def test_floats_are_those_of_numpy_and_ml_dtypes(type_):
    held = numpy_type(type_)
    info = ml_dtypes.finfo(held)
    assert info.nexp == type_.exponent
    assert info.nmant - CUT.get(type_.name, 0) == type_.mantissa
    assert type_.is_signed == (info.min < 0 and type_.name != "ue4m3")
    assert type_.value_bits == type_.is_signed + type_.exponent + type_.mantissa
    if type_.is_signed:
        code = np.array(type_.largest << CUT.get(type_.name, 0), f"u{held.itemsize}")
        largest = (2 - 2.0**-10) * 2.0**127 if type_.name == "tf32" else float(info.max)
        assert float(code.view(held).astype(np.float64)) == largest


@pytest.mark.parametrize("type_", INTEGERS, ids=str)
def test_integers_are_those_of_numpy_and_ml_dtypes(type_):
    info = ml_dtypes.iinfo(numpy_type(type_))
    assert (int(info.min) < 0) == type_.is_signed
    assert int(info.max) - int(info.min) == (1 << type_.bits) - 1


@pytest.mark.parametrize("type_", ELEMENT_TYPES.values(), ids=str)
def test_mlir_has_the_type(type_):
    mlir = pytest.importorskip("tilec.ir.mlir")
    with mlir.ir.Context():
        found = mlir.ir.Type.parse(type_.mlir)
        wide = 19 if type_.name == "tf32" else 8 if type_.name == "ue4m3" else type_.bits
        assert found.width == wide
        assert isinstance(found, mlir.ir.FloatType) == type_.is_float
        stored = mlir.ir.Type.parse(type_.stored)
        assert stored.width == max(8, type_.bits)


MOVED = [name for name in TYPE_BITS if re.fullmatch(r"[bsuf](16|32|64)", name)]


@pytest.mark.parametrize("name", MOVED)
def test_ptxas_gives_a_register_its_width(name, assemblers):
    """A move to bits of its width is taken, and to others refused."""
    bits = TYPE_BITS[name]
    newest = max(assemblers, key=lambda a: a.newest)
    lines = []
    for width in (16, 32, 64):
        lines.append(f"{{ .reg .{name} %x; .reg .b{width} %y; mov.b{width} %y, %x; }}")
    refused = newest.refusals(lines, target("sm_90"), PtxVersion(8, 0))
    assert [number not in refused for number in range(3)] == [bits == w for w in (16, 32, 64)]


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("pred", 1), ("b128", 128), ("f16x2", 32), ("bf16x2", 32), ("u16x2", 32), ("f32x2", 64),
        ("e4m3x2", 16), ("e5m2x4", 32), ("e2m1x2", 8), ("e2m1x4", 16), ("e3m2x2", 16),
        ("ue8m0x2", 16), ("tf32", 32),
    ],
)  # fmt: skip
def test_registers_of_packed_types(name, bits):
    """As PTX ISA, "cvt", declares the operands of its forms."""
    assert is_type(name)
    assert register_bits(name) == bits


@pytest.mark.parametrize("name", ["rn", "satfinite", "x2", "f16x", "f16x3", "f17", "sync", ""])
def test_what_is_no_type(name):
    assert not is_type(name)
    with pytest.raises(UnknownNameError):
        element_type(name)
