"""Delta debugging of tile programs: the smallest that still shows what is looked for."""

from .interest import Command, Crash, Failure, Interest, Validation
from .reduce import reduce_text

__all__ = ["Command", "Crash", "Failure", "Interest", "Validation", "reduce_text"]
