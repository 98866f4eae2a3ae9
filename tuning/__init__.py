"""Tuning: the tile sizes, warps and stages that make a kernel fastest on a target.

A `Tunable` is a kernel with a `Space` of parameters. `tilec.tune` compiles its candidates, counts
what they do and ranks them; a store keeps the results.
"""

from __future__ import annotations

from .connection import Tls
from .declared import Tunable, tunable
from .errors import TuningError
from .memory import Memory
from .parameters import Parameter, powers
from .problems import Problem, problem, read_problems
from .programs import load
from .space import Constraint, Space
from .store import Outcome, State, Store, StudyKey
from .strategies import Strategy
from .studies import Progress, Study

__all__ = [
    "Constraint",
    "Memory",
    "Outcome",
    "Parameter",
    "Problem",
    "Progress",
    "Space",
    "State",
    "Store",
    "Strategy",
    "Study",
    "StudyKey",
    "Tls",
    "Tunable",
    "TuningError",
    "load",
    "powers",
    "problem",
    "read_problems",
    "tunable",
]
