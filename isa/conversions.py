"""The `cvt` forms that make and read the types of matrix operands, two elements at a time.

PTX ISA, "Data Movement and Conversion Instructions: cvt". Narrowing rounds to nearest
even and gives the largest finite number for what is beyond it; a NaN becomes the type's NaN
without a sign, and the largest number in types that have none. tf32 is rounded to nearest, ties
away from zero, and keeps infinity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import Since, Target, min_ptx
from .versions import PtxVersion

FLOAT8 = (Since.of("sm_90", "7.8"), Since.of("sm_89", "8.1"))
"""Where and since when e4m3 and e5m2 are converted, in any form."""
_BELOW_8 = (
    *(Since.of(name, "8.6") for name in ("sm_100a", "sm_101a")),
    Since.of("sm_120a", "8.7"),
    *(Since.of(name, "8.8") for name in ("sm_100f", "sm_101f", "sm_120f")),
)


class Conversion(NamedTuple):
    """One form of `cvt`.

    Attributes:
        ptx: the mnemonic.
        source: type of the source, `f32` or a pair such as `e4m3x2`.
        result: type of the result; a pair from two f32 has the first above the second.
        intrinsic: the LLVM intrinsic.
        since: targets and PTX versions, one clause each.
    """

    ptx: str
    source: str
    result: str
    intrinsic: str
    since: tuple[Since, ...]

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has the form; None if it never does."""
        return min_ptx(self.since, target)


def _conversions() -> Iterator[Conversion]:
    yield Conversion(
        "cvt.rna.tf32.f32", "f32", "tf32", "llvm.nvvm.f2tf32.rna", (Since.of("sm_80", "7.0"),)
    )
    for name in ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"):
        pair, is_byte = f"{name}x2", name in ("e4m3", "e5m2")
        since = FLOAT8 if is_byte else _BELOW_8
        saturating = "" if is_byte else ".satfinite"  # as LLVM names them: both saturate
        intrinsic = f"llvm.nvvm.ff.to.{pair}.rn{saturating}"
        yield Conversion(f"cvt.rn.satfinite.{pair}.f32", "f32", pair, intrinsic, since)
        intrinsic = f"llvm.nvvm.{pair}.to.f16x2.rn"
        yield Conversion(f"cvt.rn.f16x2.{pair}", pair, "f16x2", intrinsic, since)
        if is_byte:
            intrinsic = f"llvm.nvvm.f16x2.to.{pair}.rn"
            yield Conversion(f"cvt.rn.satfinite.{pair}.f16x2", "f16x2", pair, intrinsic, since)


CONVERSIONS: Mapping[tuple[str, str], Conversion] = MappingProxyType(
    {(one.source, one.result): one for one in _conversions()}
)
"""Every form, by source and result type."""


def conversion(source: str, result: str, target: Target | None) -> Conversion | None:
    """The form that takes `source` to `result` on `target`; None if it has none.

    Args:
        source: a type as in `Conversion.source`.
        result: a type as in `Conversion.result`.
        target: the target; None for any, which has none of them.
    """
    found = CONVERSIONS.get((source, result))
    if found is None or target is None or found.min_ptx(target) is None:
        return None
    return found
