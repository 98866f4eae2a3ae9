"""Tuning: the tile sizes, warps and stages that make a kernel fastest on a target.

A `Tunable` is a kernel with a `Space` of parameters. `tilec.tune` compiles its candidates, counts
what they do and ranks them; a store keeps the results.
"""

from __future__ import annotations

from .declared import Tunable, tunable
from .parameters import Parameter, powers
from .programs import load
from .space import Space

__all__ = [
    "Parameter",
    "Space",
    "Tunable",
    "load",
    "powers",
    "tunable",
]
