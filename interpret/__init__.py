"""What a tile program computes, at levels 1 to 3, by numpy: no pass, no PTX, no GPU.

A program runs with one of three arithmetics (`ARITHMETICS`): `hardware`, the numbers of the types
and the tensor cores' sums; `f64`, every float a float64, which tells rounding from a wrong
formula; `algebraic`, floats embedded in the integers modulo 2^w, w being their width, where sums
and products are exact in any order, so that a program before and after a pass agrees bit for bit.

What an op means is a function declared by `meaning`; an op without one is reported, never guessed.
"""

from .arithmetic import ARITHMETICS, Arithmetic, arithmetic_of
from .call import Call
from .findings import Finding, NoMeaning, Undefined
from .launch import Outcome, interpret
from .memory import Buffer, View
from .program import Program
from .registry import meaning, meanings

__all__ = [
    "ARITHMETICS",
    "Arithmetic",
    "Buffer",
    "Call",
    "Finding",
    "NoMeaning",
    "Outcome",
    "Program",
    "Undefined",
    "View",
    "arithmetic_of",
    "interpret",
    "meaning",
    "meanings",
]
