"""Tuning: which tile sizes, warps, stages and orders make a kernel fastest on a target.

A kernel with a `Space` of parameters is `Tunable`; `tilec.tune` compiles its candidates, counts
what they do and ranks them, and a store keeps what is found.
"""

from __future__ import annotations

from .declared import Tunable, tunable
from .memory import Memory
from .parameters import Parameter, powers
from .programs import load
from .space import Space

__all__ = [
    "Memory",
    "Parameter",
    "Space",
    "Tunable",
    "load",
    "powers",
    "tunable",
]
