"""Register-to-register PTX instructions as functions of numpy arrays.

`resolve("fma", ("rn", "ftz", "f32"))` is a function of three arrays of raw uint32 bits.
Results are bit for bit those that the PTX ISA defines. Where it leaves a choice:

* f32, f16 and bf16 results that are NaN are the canonical NaN (0x7fffffff, 0x7fff), as the
  hardware gives; f64 keeps the payload of its first NaN operand, quieted, and invalid
  operations give 0xfff8000000000000.
* Integer division and remainder by zero give all ones, as the code that ptxas emits does.
* Approximate instructions give the correctly rounded value, or one within an ulp of it,
  with the special values of the ISA's tables; hardware is less accurate.
* A subnormal f32 result under `.ftz` is one that is subnormal after rounding.
"""

from .bits import Array, Operation
from .registry import (
    Moves,
    Unsupported,
    approximated,
    forms,
    moves,
    opcodes,
    qualifiers,
    resolve,
    signature,
)
from .syntax import Signature

__all__ = [
    "Array",
    "Moves",
    "Operation",
    "Signature",
    "Unsupported",
    "approximated",
    "forms",
    "moves",
    "opcodes",
    "qualifiers",
    "resolve",
    "signature",
]
