"""Leaves a reproducer where a pipeline fails or takes the process down."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tilec.isa import TilecError
from tilec.report.printing import to_text
from tilec.report.reproducer import Reproducer

from .files import write_output


@contextmanager
def reproducible(
    path: str | None, module: Any, pipeline: str, *, verify_each: bool
) -> Iterator[None]:
    """Keep a reproducer of what runs inside at `path` unless it succeeds; nothing if None.

    It is written before the pipeline starts, since a crash leaves no time for it.
    """
    if path is None:
        yield
        return
    write_output(path, str(Reproducer(to_text(module), pipeline, verify_each)))
    try:
        yield
    except TilecError:
        sys.stderr.write(f"note: reproducer generated at {path}\n")
        raise
    Path(path).unlink()
