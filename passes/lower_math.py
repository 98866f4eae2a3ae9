"""`tile-lower-math`: upstream's mathematical functions as what NVPTX has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar

from tilec.ir.aliases import Attribute, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm
from tilec.ir.state import per_context
from tilec.ir.types import i1
from tilec.isa import TilecError

from .kernel_pass import Kernel, KernelPass
from .math.float_to_integer import NAMES as TO_INTEGER
from .math.float_to_integer import lower_float_to_integer, scalar_of
from .math.integer_division import DIVISIONS
from .math.scalars import Scalars
from .math.sequences import SEQUENCES
from .nvvm.lowering import Lowering
from .nvvm.registers import Packing, elements, vector
from .search import named

EXACT: Mapping[str, str] = MappingProxyType(
    {
        "arith.maxnumf": "maxnum",
        "arith.minnumf": "minnum",
        "math.absf": "fabs",
        "math.absi": "abs",
        "math.ceil": "ceil",
        "math.copysign": "copysign",
        "math.ctlz": "ctlz",
        "math.ctpop": "ctpop",
        "math.cttz": "cttz",
        "math.floor": "floor",
        "math.fma": "fma",
        "math.round": "round",
        "math.roundeven": "roundeven",
        "math.sqrt": "sqrt",
        "math.trunc": "trunc",
    }
)
"""Ops that LLVM's intrinsic of this name is."""

APPROXIMATE: Mapping[str, str] = MappingProxyType(
    {
        "math.cos": "cos",
        "math.exp2": "exp2",
        "math.sin": "sin",
        "math.tanh": "tanh",
    }
)
"""Ops that are one instruction, within the bound that the PTX ISA gives it; f64 has none."""

_NO_INSTRUCTION = frozenset(
    f"math.{name}"
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "clampf", "cosh"),
        *("erfc", "fpowi", "ipowi", "isfinite", "isinf", "isnan", "isnormal", "sincos", "sinh"),
        "tan",
    )
)
"""Upstream's others, which would be calls of libdevice."""

LOOKED_FOR = (
    *(*EXACT, *APPROXIMATE, *SEQUENCES, *DIVISIONS, *TO_INTEGER),
    *("math.rsqrt", *_NO_INSTRUCTION),
)
"""Every op of the `math` dialect, and of `arith` those without an instruction of all they take."""

_WITH_FLAG = frozenset({"math.absi", "math.ctlz", "math.cttz"})
"""Whose intrinsics take whether a result may be undefined; it is not."""
_NO_FLAGS = "#arith.fastmath<none>"


class LowerMath(KernelPass):
    """Replace `math` ops, and `arith` ops without an instruction, by sequences of instructions.

    In: anything below tiles. Out: no `math` op on scalars and vectors. Upstream would turn
    these into calls of libdevice, CUDA's bitcode library, which is not linked. They become
    calls of LLVM's intrinsics, or a few instructions, fewer if `fastmath<afn>` allows an
    approximation. The pass also replaces `arith`'s maxnumf, minnumf, divisions that round up or
    down, and conversions from float to integer, which upstream leaves undefined for floats out
    of the integer's range.
    """

    name: ClassVar[str] = "tile-lower-math"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        lowering = Lowering(kernel.module, kernel.function, kernel.target)
        for op in named(kernel.function, LOOKED_FOR):
            if isinstance(op.result.type, ir.RankedTensorType):
                continue
            with kernel.at(op), ir.InsertionPoint(op):
                op.result.replace_all_uses_with(_lower(op, op.name, lowering))
                op.erase()


def _lower(op: ir.Operation, name: str, kernel: Lowering) -> Value:
    type_ = op.result.type
    operands = list(op.operands)
    given = op.attributes.get("fastmath")
    flags, fast = (None, False) if given is None else _flags(given)
    if name in DIVISIONS:
        return DIVISIONS[name](*operands)
    if name in TO_INTEGER:
        _check_shape(type_)
        return lower_float_to_integer(name, operands[0], type_, kernel)
    if name == "math.rsqrt":
        root = _call("sqrt", operands, type_, flags, kernel)
        quotient = arith.divf(_one(type_), root)
        if given is not None:
            quotient.owner.attributes["fastmath"] = given
        return quotient
    if name in EXACT:
        if name in _WITH_FLAG:
            flag = llvm.constant(i1(), 0)
            operands.append(flag)
        return _call(EXACT[name], operands, type_, flags, kernel)
    if name not in APPROXIMATE and name not in SEQUENCES:
        legal = ", ".join(sorted({*EXACT, *APPROXIMATE, *SEQUENCES, "math.rsqrt"}))
        raise TilecError(f"has no instruction; legal: {legal}")
    if isinstance(scalar_of(type_), ir.F64Type):
        return _of_doubles(name, operands, kernel)
    if name == "math.exp2" and fast and isinstance(scalar_of(type_), ir.F32Type):
        return _flushing_exp2(operands[0], kernel)
    if name not in SEQUENCES or (name in APPROXIMATE and fast):
        return _call(APPROXIMATE[name], operands, type_, flags, kernel)
    _check_shape(type_)
    scalars = Scalars(kernel, fast=fast)
    packed = Packing(scalar_of(type_), _length(type_), 1)
    f32 = ir.F32Type.get()
    held = [[_cast(arith.extf, v, f32) for v in elements([o], packed)] for o in operands]
    found = [SEQUENCES[name](scalars, *values) for values in zip(*held, strict=True)]
    return vector([_cast(arith.truncf, value, packed.element) for value in found])


def _of_doubles(name: str, operands: list[Value], kernel: Lowering) -> Value:
    """A function of f64."""
    from .math.double_sequences import DOUBLES  # noqa: PLC0415 (few kernels have any)
    from .math.doubles import Doubles  # noqa: PLC0415

    type_ = operands[0].type
    _check_shape(type_)
    packed = Packing(scalar_of(type_), _length(type_), 1)
    held = zip(*(elements([o], packed) for o in operands), strict=True)
    return vector([DOUBLES[name](Doubles(kernel), *values) for values in held])


def _flushing_exp2(x: Value, kernel: Lowering) -> Value:
    """`ex2.approx.ftz`: one instruction, since subnormal numbers need no scaling."""
    _check_shape(x.type)
    parts = elements([x], Packing(scalar_of(x.type), _length(x.type), 1))
    return vector([kernel.intrinsic("llvm.nvvm.ex2.approx.ftz.f32", [e], e.type) for e in parts])


def _length(type_: Type) -> int:
    return type_.shape[0] if isinstance(type_, ir.VectorType) else 1


def _cast(op: Callable[[Value, Type], Value], value: Value, type_: Type) -> Value:
    return value if value.type == type_ else op(value, type_)


def _check_shape(type_: Type) -> None:
    if isinstance(type_, ir.VectorType) and type_.rank != 1:
        raise TilecError(f"takes scalars and vectors of rank 1, not {type_}")


@per_context()
def _flags(given: Attribute) -> tuple[Attribute | None, bool]:
    """Flags of `arith` as those of a call, None of none, and whether an approximation is allowed.

    They are read from text: the bindings have no accessors of them.
    """
    text = str(given)
    called = ir.Attribute.parse(text.replace("#arith", "#llvm")) if text != _NO_FLAGS else None
    return called, "afn" in text or "fast>" in text


def _call(
    name: str, operands: list[Value], type_: Type, flags: Attribute | None, kernel: Lowering
) -> Value:
    result = kernel.intrinsic(f"llvm.{name}.{_suffix(type_)}", operands, type_)
    if flags is not None:
        result.owner.attributes["fastmathFlags"] = flags
    return result


@per_context()
def _suffix(type_: Type) -> str:
    """What the name of an intrinsic on a type ends with."""
    _check_shape(type_)
    scalar = str(scalar_of(type_))
    return f"v{type_.shape[0]}{scalar}" if isinstance(type_, ir.VectorType) else scalar


def _one(type_: Type) -> Value:
    one = ir.FloatAttr.get(scalar_of(type_), 1.0)
    return (
        arith.splat(type_, one) if isinstance(type_, ir.VectorType) else arith.constant(type_, one)
    )
