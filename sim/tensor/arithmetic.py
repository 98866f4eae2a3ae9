"""What each generation's tensor cores do to floating-point sums.

The PTX ISA leaves order and rounding open; measurements do not. Sources: "MMA-Sim: Bit-Accurate
Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), and arXiv 2512.07004 with
the vectors of north-numerical-computing/MATLAB-tensor-core. docs/numerics.md explains the model,
and lists what is not established.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from tilec.isa import ExecutionScope, Form, Product, TilecError, target

ZERO = -8192
"""Exponent of a zero factor: below every other, and its double still fits 16 bits."""


class Rounding(Enum):
    """How the sum of a step becomes an accumulator."""

    RZ32 = "24 significant bits, toward zero, as f32"
    E8M13 = "14 significant bits, toward zero, as f32"
    RNE16 = "f16, to nearest even"


@dataclass(frozen=True, slots=True)
class Step:
    """One fused dot-product-accumulate: c + a₀·b₀ + … in fixed point below the largest term.

    Attributes:
        terms: products that enter one step; longer dot products chain steps, k ascending.
        fraction: bits kept below the largest exponent among the products and c.
        rounding: of the sum.
        zero_exponent: the exponent that a zero term is given.
    """

    terms: int
    fraction: int
    rounding: Rounding
    zero_exponent: int


class Method(Enum):
    """How an instruction is made of steps."""

    CHAIN = "steps over k, each adding to the last"
    HALVES = "k mod 4 below 2 in a chain from zero, the rest in a chain from that, then + c"
    GROUPS = "exact sums of 16 products, each scaled, then one step over these"
    SCALARS = "no tensor core: multiply-adds of f32, as ptxas writes them for m8n8k4"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Steps, and how an instruction is made of them."""

    step: Step
    method: Method = Method.CHAIN


@dataclass(frozen=True, slots=True)
class _Row:
    """Steps of one generation for some element types.

    Attributes:
        terms, fraction: as in `Step`.
        zero: zero exponents with f32 and with f16 accumulators.
        rounding: of f32 accumulators.
        method: how instructions are made of steps.
    """

    terms: int
    fraction: int
    zero: tuple[int, int]
    rounding: Rounding = Rounding.RZ32
    method: Method = Method.CHAIN


_VOLTA = {"f16": _Row(4, 23, (-131, -19))}
_TURING = {"f16": _Row(8, 24, (-132, -20)), "m8n8k4": _VOLTA["f16"]}
_SCALARS = _Row(4, 24, (0, 0), method=Method.SCALARS)  # of which only the accumulators count
_AMPERE = {
    "m8n8k4": _SCALARS,
    "f16": _Row(8, 24, (-132, -20)),
    "bf16": _Row(8, 24, (-132, -20)),
    "tf32": _Row(4, 24, (-132, -20)),
}
_ADA = _AMPERE | {"float8": _Row(16, 13, (-132, -20), Rounding.E8M13)}
_HOPPER = {
    "m8n8k4": _SCALARS,
    "f16": _Row(16, 25, (-133, -21)),
    "bf16": _Row(16, 25, (-133, -21)),
    "tf32": _Row(8, 25, (-133, -21)),
    # ptxas makes these of f16 instructions
    "float8": _Row(16, 25, (-133, -21), method=Method.HALVES),
    "warpgroup float8": _Row(32, 13, (-133, -21), Rounding.E8M13),
}
_BLACKWELL = _HOPPER | {
    "tensor float8": _Row(32, 25, (-133, -21)),
    "packed": _Row(64, 35, (-139, -139), method=Method.GROUPS),
}
_BLACKWELL_RTX = _HOPPER | {
    "float8": _Row(32, 25, (-133, -21)),
    "packed": _Row(64, 35, (-139, -139), method=Method.GROUPS),
}

_GENERATIONS: Mapping[int, Mapping[str, _Row]] = MappingProxyType(
    {
        70: _VOLTA,
        72: _VOLTA,
        75: _TURING,
        **dict.fromkeys((80, 86, 87, 88), _AMPERE),
        89: _ADA,
        90: _HOPPER,
        **dict.fromkeys((100, 101, 103, 107, 110), _BLACKWELL),
        **dict.fromkeys((120, 121), _BLACKWELL_RTX),
    }
)


def _row_names(form: Product) -> Iterator[str]:
    """The rows that would serve, best first."""
    a = form.operand("a")
    if form.products > 1:
        yield str(form.shape)
    if a.type.bits == 8 and form.scope is ExecutionScope.WARPGROUP:
        yield "warpgroup float8"
    elif form.scope in (ExecutionScope.THREAD, ExecutionScope.CTA_PAIR) and a.container == 8:
        yield "tensor float8"
    elif a.type.bits <= 8:
        yield "packed" if a.container < 8 else "float8"
    else:
        yield a.type.name


def arithmetic(form: Product, arch: str) -> Arithmetic:
    """What `arch` does for a form on floats of 32 bits or fewer.

    Raises:
        TilecError: if `arch` has no tensor cores for these types, naming the targets that have.
    """
    rows = _GENERATIONS.get(target(arch).number, {})
    row = next((rows[name] for name in _row_names(form) if name in rows), None)
    if row is None:
        raise TilecError(f"{arch} has no {form.ptx}; {_where(form)}")
    half = not wide_accumulator(form)
    step = Step(
        row.terms,
        row.fraction,
        Rounding.RNE16 if half else row.rounding,
        row.zero[1 if half else 0],
    )
    return Arithmetic(step, row.method)


def wide_accumulator(form: Product) -> bool:
    """Whether sums are f32: unless both C and D are f16."""
    return not form.operand("c").type.name == form.operand("d").type.name == "f16"


def _where(form: Form) -> str:
    return "it needs " + " or ".join(since.target for since in form.since)
