"""Running another package's pass: what it does wrong is said with its name and its own line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from tilec.ir.mlir import ir
from tilec.isa.errors import TilecError

from .base import Diagnostic, Pass, PassError
from .erasure import refuse_uses

_HERE = os.path.dirname(__file__)


def run_foreign(
    instance: Pass,
    package: str,
    apply: Callable[[ir.Module | ir.Operation], None],
    root: ir.Module | ir.Operation,
) -> None:
    """Run another package's pass.

    Args:
        instance: the pass.
        package: the name and version of whose it is.
        apply: runs it.
        root: what it works on.

    Raises:
        PassError: if the pass raises one, or anything else: then at the line of the pass.
    """
    refuse_uses()
    try:
        apply(root)
    except TilecError:
        raise
    except Exception as error:
        raise PassError([_failure(instance, package, error)]) from error


def _failure(instance: Pass, package: str, error: Exception) -> Diagnostic:
    """An exception that leaves a pass, with the lines of Python that led to it, innermost first."""
    frames = list(_frames(error))
    at = frames[-1] if frames else place_of(instance)
    what = f"{type(error).__name__}: {error}"
    notes = tuple(Diagnostic(frame, "called here", "note") for frame in reversed(frames[:-1]))
    return Diagnostic(at, f"pass '{instance.name}' of {package} failed: {what}", "error", notes)


def _frames(error: Exception) -> Iterator[ir.Location]:
    """Where the pass was when `error` was raised, outermost first: without tilec's own runner."""
    import traceback  # noqa: PLC0415 (only for an error)

    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith(_HERE) and frame.lineno:
            yield ir.Location.file(frame.filename, frame.lineno, (frame.colno or 0) + 1)


def place_of(instance: Pass) -> ir.Location:
    """Where a pass is written: the first line of what it does."""
    kind = type(instance)
    for name in ("run", "apply"):
        code = getattr(getattr(kind, name, None), "__code__", None)
        if code is not None and not code.co_filename.startswith(_HERE):
            return ir.Location.file(code.co_filename, code.co_firstlineno, 1)
    return ir.Location.name(kind.__qualname__)
