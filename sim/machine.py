"""The state of a wave of CTAs while it runs."""

from __future__ import annotations

from collections.abc import Callable

from .fragments import Fragments
from .memory import Memory
from .observer import Observer
from .registers import Registers
from .wave import Geometry

Step = Callable[[], None]
"""An instruction bound to its registers."""


class Machine(Registers):
    """Threads, their registers and memory, and who watches.

    Attributes:
        arch: architecture whose arithmetic the matrix instructions follow.
        numerics: `exact` or `fast`.
        observer: checks and counts what memory is touched; None without checks.
        fragments: operands of matrix instructions.
        output: what threads have printed.
    """

    def __init__(
        self,
        geometry: Geometry,
        memory: Memory,
        *,
        arch: str,
        numerics: str,
        dynamic_shared: int = 0,
    ) -> None:
        super().__init__(geometry, memory, dynamic_shared)
        self.arch = arch
        self.numerics = numerics
        self.observer: Observer | None = None
        self.fragments = Fragments(self)
        self.output: list[str] = []

    def begin(self, first: int, ctas: int) -> None:
        """Begin the wave of `ctas` CTAs from number `first`."""
        super().begin(first, ctas)
        self.fragments.clear()
        if self.observer is not None:
            self.observer.begin()
