"""The state that a kernel is compiled from: its code, and every value that it may read.

A kernel's statements and what they call are Python that runs while the kernel is compiled. So
what comes out depends on any value that this Python reads: globals, variables of enclosing
functions, defaults, attributes, the environment. A snapshot holds them all, by type and bits, and
tells fast whether they still are what they were. It errs on one side: it may hold what is not
read, it never leaves out what is. If something cannot be held, such as a file, the clock, or an
object whose state is C's own, the snapshot says so, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from tilec.isa.lazy import cached_property

from ..source import FunctionSource
from .code import look_at_source
from .exact import exact
from .guards import Guards
from .objects import likeness
from .places import Span, to_files, to_functions
from .record import Record, UnrecordableError
from .values import look

__all__ = ["Snapshot", "exact", "likeness", "take"]


class Snapshot:
    """What a kernel reads, as it was at a time.

    Attributes:
        lines: a value a line; the same for the same state, in any process.
        spans: where the functions stand.
        reason: why it cannot be recorded; None if it can.
    """

    def __init__(
        self, guards: Guards, lines: tuple[str, ...], spans: tuple[Span, ...], reason: str | None
    ) -> None:
        self._guards = guards
        self.lines = lines
        self.spans = spans
        self.reason = reason

    @cached_property
    def digest(self) -> str:
        """A digest of the state; the same in every process where the state is."""
        text = "\n".join(self.lines).encode("utf-8", "backslashreplace")
        return blake2b(text, digest_size=20).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Whether both are of the same state; never if it cannot be recorded."""
        if not isinstance(other, Snapshot) or self.reason is not None or other.reason is not None:
            return False
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def holds(self) -> bool:
        """Whether the state is as it was: what it read where it cannot be recorded, as well.

        It may be the same and this False; then another snapshot says so.
        """
        return self._guards.hold()

    def to_functions(self, location: str) -> str:
        """A location, as MLIR prints it, by lines of the functions: for wherever they stand."""
        return to_functions(location, self.spans)

    def to_files(self, location: str) -> str:
        """What `to_functions` gave for the same state, by where the functions stand here."""
        return to_files(location, self.spans)


def take(source: FunctionSource, constants: Mapping[str, object]) -> Snapshot:
    """What a kernel reads, now.

    Args:
        source: of the kernel.
        constants: its arguments that are known when it is compiled, and no plain values.
    """
    record = Record()
    reason = None
    try:
        look_at_source(record, "kernel", source)
        for name, value in constants.items():
            record.add(name, value)
        record.all(look)
    except UnrecordableError as error:
        reason = str(error)
    except Exception as error:  # whatever an object does that is looked at: the kernel compiles
        reason = f"{type(error).__name__}: {error}"
    return Snapshot(record.guards, tuple(record.lines), tuple(record.spans), reason)
