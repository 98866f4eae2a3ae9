"""Crash reproducers: a module and the pipeline that failed on it, in one `.mlir` file.

The pipeline stands in the external resources at the end of the file, as upstream writes it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tilec.ending import undone
from tilec.isa import TilecError

_RESOURCE = r"(?ms)^\{-#.*?mlir_reproducer.*?#-\}\s*"
_PIPELINE = r'pipeline:\s*("(?:\\.|[^"\\])*")'
_VERIFY_EACH = r"verify_each:\s*true"


class Reproducer(NamedTuple):
    """What to run again.

    Attributes:
        module: text of the module.
        pipeline: the pass pipeline.
        verify_each: whether to verify after each pass.
    """

    module: str
    pipeline: str
    verify_each: bool

    def __str__(self) -> str:
        return (
            f"{self.module.rstrip()}\n\n"
            "{-#\n"
            "  external_resources: {\n"
            "    mlir_reproducer: {\n"
            f"      pipeline: {json.dumps(self.pipeline)},\n"
            "      disable_threading: true,\n"
            f"      verify_each: {str(self.verify_each).lower()}\n"
            "    }\n"
            "  }\n"
            "#-}\n"
        )


def read_reproducer(text: str) -> Reproducer:
    """The parts of a reproducer; line numbers of the module stay as they are.

    Raises:
        TilecError: if `text` holds no pipeline.
    """
    resource = re.search(_RESOURCE, text)
    pipeline = resource and re.search(_PIPELINE, resource[0])
    if not resource or not pipeline:
        raise TilecError("the file is not a reproducer: it has no 'mlir_reproducer' resource")
    return Reproducer(
        text[: resource.start()] + text[resource.end() :],
        json.loads(pipeline[1]),
        re.search(_VERIFY_EACH, resource[0]) is not None,
    )


@contextmanager
def reproducible(path: str | None, made: Callable[[], Reproducer]) -> Iterator[None]:
    """Keep a reproducer of what runs inside at `path` unless it succeeds; nothing if None.

    It is written before the passes start, since a crash leaves no time for it; a note on standard
    error says where it stays. If they succeed, what was at `path` before is there again.

    Args:
        path: a file.
        made: makes the reproducer.

    Raises:
        OSError: if the file cannot be written.
    """
    if path is None:
        yield
        return
    text, file = str(made()), Path(path)
    undo = _as_it_is(file)
    with undone(undo):
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            with suppress(OSError):
                undo()
            raise type(error)(error.errno, error.strerror, path) from None
        try:
            yield
        except KeyboardInterrupt:
            undo()
            raise
        except BaseException:
            sys.stderr.write(f"note: reproducer generated at {path}\n")
            raise
        undo()


def _as_it_is(file: Path) -> Callable[[], object]:
    """Makes a file what it is now: gone, or with these contents; a device or a folder stays.

    Raises:
        OSError: if it cannot be read.
    """
    if not file.exists():
        return partial(file.unlink, missing_ok=True)
    if not file.is_file():
        return lambda: None
    return partial(file.write_bytes, file.read_bytes())
