"""The instruction descriptor of `tcgen05.mma`: types, M, N and what else no mnemonic says.

PTX ISA 9.7.16.4.2, "Instruction descriptor": 32 bits, whose meaning depends on the kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from .errors import TilecError
from .operands import Shape
from .tensor_shapes import ProductKind, columns, product_kind, rows, transposed_columns

_FLOATS8 = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_CODES = MappingProxyType(
    {
        "f16": {"f16": 0, "bf16": 1},
        "tf32": {"tf32": 2},
        "f8f6f4": _FLOATS8,
        "i8": {"u8": 0, "s8": 1},
        "mxf8f6f4": _FLOATS8,
        "mxf4": {"e2m1": 1},
        "mxf4nvf4": {"e2m1": 1},
    }
)
"""Codes of the types of A and B, by kind."""
_RESULTS = {"f16": 0, "f32": 1, "s32": 2}
_SCALES = {"ue4m3": 0, "ue8m0": 1}
_SHIFTS = (0, 8, 16, 32)
"""The most columns that `.ws` moves B by."""


class _Field(NamedTuple):
    """Bits of the descriptor."""

    low: int
    width: int

    def of(self, word: int) -> int:
        return word >> self.low & (1 << self.width) - 1

    def at(self, value: int) -> int:
        return value << self.low


_SELECTOR, _SPARSE, _SATURATE = _Field(0, 2), _Field(2, 1), _Field(3, 1)
_D, _SFB = _Field(4, 2), _Field(4, 2)
_A, _B, _NARROW_B = _Field(7, 3), _Field(10, 3), _Field(10, 2)
_NEGATE_A, _NEGATE_B = _Field(13, 1), _Field(14, 1)
_TRANSPOSE_A, _TRANSPOSE_B = _Field(15, 1), _Field(16, 1)
_N, _SCALE, _M = _Field(17, 6), _Field(23, 1), _Field(24, 5)
_SHIFT, _SFA, _WIDE = _Field(30, 2), _Field(29, 2), _Field(31, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionDescriptor:
    """What the descriptor of a `tcgen05.mma` says.

    Attributes:
        kind: the mnemonic's `.kind`.
        d, a, b: element types.
        m, n: extents; of two CTAs those of both together.
        sparse: whether A is sparse.
        selector: columns by which the metadata of A begin later.
        saturate: whether integers clamp.
        negate_a, negate_b: whether A, B are negated.
        transpose_a, transpose_b: whether A, B are contiguous along M, N rather than K.
        scale: element type of the scale factors, empty if there are none.
        sfa_id, sfb_id: the byte of a column with which the scale factors of A, B begin.
        shift: the most columns by which `.ws` moves B: 0, 8, 16 or 32.
        wide: whether K is 96 rather than 64, of elements of 4 bits.

    Raises:
        TilecError: if its kind has no such types or flags, naming what would be legal.
    """

    kind: str
    d: str
    a: str
    b: str
    m: int
    n: int
    sparse: bool = False
    selector: int = 0
    saturate: bool = False
    negate_a: bool = False
    negate_b: bool = False
    transpose_a: bool = False
    transpose_b: bool = False
    scale: str = ""
    sfa_id: int = 0
    sfb_id: int = 0
    shift: int = 0
    wide: bool = False

    def __post_init__(self) -> None:
        kind = product_kind(self.kind)
        if (self.d, self.a, self.b) not in kind.types:
            legal = ", ".join(" ".join(types) for types in kind.types)
            raise TilecError(
                f"kind::{self.kind} has no {self.d} {self.a} {self.b} of D, A, B; legal: {legal}"
            )
        if (self.scale or None) not in (kind.scales or (None,)):
            wanted = " or ".join(kind.scales) or "none"
            raise TilecError(
                f"kind::{self.kind} has no scale factors of type '{self.scale}'; legal: {wanted}"
            )
        for name, (value, legal_values) in self._limits(kind).items():
            if value not in legal_values:
                words = ", ".join(map(str, legal_values))
                raise TilecError(f"{name} {value} is not legal for kind::{self.kind}; {words} is")

    def _limits(self, kind: ProductKind) -> dict[str, tuple[int, tuple[int, ...]]]:
        """What the small fields may be."""
        flags = (0, 1)
        narrow = kind.container == 4
        signs = (0,) if kind.name == "i8" else flags
        ids = ((0, 2) if narrow else (0, 1, 2, 3)) if kind.scales else (0,)
        return {
            "selector": (self.selector, (0,) if kind.scales or not self.sparse else (0, 1, 2, 3)),
            "saturate": (self.saturate, flags if kind.name == "i8" else (0,)),
            "negate_a": (self.negate_a, signs),
            "negate_b": (self.negate_b, signs),
            "transpose_a": (self.transpose_a, flags if kind.transposes else (0,)),
            "transpose_b": (self.transpose_b, flags if kind.transposes else (0,)),
            "sfa_id": (self.sfa_id, ids),
            "sfb_id": (self.sfb_id, ids),
            "shift": (self.shift, (0,) if kind.scales else _SHIFTS),
            "wide": (self.wide, flags if narrow and not self.sparse else (0,)),
        }

    @property
    def shape(self) -> Shape:
        """M, N and K; where A is sparse, the K that it stands for."""
        k = 96 if self.wide else product_kind(self.kind).k * (2 if self.sparse else 1)
        return Shape(self.m, self.n, k)

    def check(self, group: int, *, stationary: bool = False, sparse: bool | None = None) -> None:
        """Hold M, N and the flags against what an instruction takes.

        Args:
            group: CTAs that take part, 1 or 2.
            stationary: whether it is `.ws`.
            sparse: whether it is `.sp`, if that is known.

        Raises:
            TilecError: if it does not take them, naming what would be legal.
        """
        kind = product_kind(self.kind)
        given = {"stationary": stationary, "sparse": self.sparse}
        what = (
            f"kind::{self.kind}, cta_group::{group}{', ws' * stationary}{', sparse' * self.sparse}"
        )
        if sparse is not None and sparse != self.sparse:
            raise TilecError(
                f"the instruction {'is' if sparse else 'is not'} .sp, its descriptor says otherwise"
            )
        for name, value, legal in (
            ("M", self.m, rows(kind, group, **given)),
            ("N", self.n, columns(kind, group, **given)),
        ):
            if value not in legal:
                words = ", ".join(map(str, legal))
                raise TilecError(f"{name} = {value} is not legal for {what}; legal: {words}")
        step = transposed_columns(group)
        if self.transpose_b and kind.container == 8 and self.n % step:
            raise TilecError(
                f"N = {self.n} is not a multiple of {step}, as an 8-bit B along N requires "
                f"for {what}"
            )
        if self.shift and not stationary:
            raise TilecError(f"only .ws moves columns of B, not {what}")

    def encode(self) -> int:
        """The 32 bits."""
        codes = _CODES[self.kind]
        word = _SELECTOR.at(self.selector) | _SPARSE.at(self.sparse) | _A.at(codes[self.a])
        word |= _B.at(codes[self.b]) | _N.at(self.n >> 3) | _M.at(self.m >> 4)
        word |= _NEGATE_A.at(self.negate_a) | _NEGATE_B.at(self.negate_b)
        word |= _TRANSPOSE_A.at(self.transpose_a) | _TRANSPOSE_B.at(self.transpose_b)
        if self.scale:
            word |= _SFA.at(self.sfa_id) | _SFB.at(self.sfb_id) | _SCALE.at(_SCALES[self.scale])
            return word | _WIDE.at(self.wide)
        word |= _SATURATE.at(self.saturate) | _D.at(_RESULTS[self.d])
        return word | _SHIFT.at(_SHIFTS.index(self.shift))

    @classmethod
    def decode(cls, kind: str, word: int) -> InstructionDescriptor:
        """What the 32 bits say to an instruction of a kind.

        Raises:
            TilecError: for a code that the kind has not, or bits that must be 0.
        """
        scales = product_kind(kind).scales
        names = {code: name for name, code in _CODES[kind].items()}
        b_field = _NARROW_B if product_kind(kind).container == 4 else _B
        a, b = (
            _named(names, field.of(word), kind, of) for field, of in ((_A, "A"), (b_field, "B"))
        )
        flags: dict[str, int] = {}
        d, scale = "f32", ""
        if scales:
            scale = next(name for name, code in _SCALES.items() if code == _SCALE.of(word))
            flags = {"sfa_id": _SFA.of(word), "sfb_id": _SFB.of(word)}
        else:
            results = {code: name for name, code in _RESULTS.items()}
            d = _named(results, _D.of(word), kind, "D")
            flags = {"shift": _SHIFTS[_SHIFT.of(word)]}
        found = cls(
            kind=kind, d=d, a=a, b=b, m=_M.of(word) << 4, n=_N.of(word) << 3, scale=scale,
            sparse=bool(_SPARSE.of(word)), selector=_SELECTOR.of(word),
            saturate=not scales and bool(_SATURATE.of(word)),
            negate_a=bool(_NEGATE_A.of(word)), negate_b=bool(_NEGATE_B.of(word)),
            transpose_a=bool(_TRANSPOSE_A.of(word)), transpose_b=bool(_TRANSPOSE_B.of(word)),
            wide=bool(scales and _WIDE.of(word)), **flags,
        )  # fmt: skip
        stray = word ^ found.encode()
        if stray:
            raise TilecError(
                f"instruction descriptor {word:#010x}: bits {stray:#x} have no meaning for "
                f"kind::{kind}"
            )
        return found


def _named(names: dict[int, str], code: int, kind: str, of: str) -> str:
    found = names.get(code)
    if found is None:
        legal = ", ".join(f"{known} {name}" for known, name in names.items())
        raise TilecError(
            f"type code {code} of {of} has no meaning for kind::{kind}; legal: {legal}"
        )
    return found
