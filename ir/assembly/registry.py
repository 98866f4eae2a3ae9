"""The ops that have a format: those of every dialect defined in Python in this process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from tilec.ir.mlir import ext

from .declaration import OpClass


class Known:
    """Ops with a format, and the names of their dialects.

    Attributes:
        classes: by the op's name.
        names: finds what may be the name of one in a text.
    """

    def __init__(self, classes: Mapping[str, OpClass]) -> None:
        self.classes = classes
        namespaces = sorted({name.partition(".")[0] for name in classes})
        # One literal first: so the search is one for a substring.
        self.names = [re.compile(rf"{re.escape(name)}\.([\w.$]+)") for name in namespaces]
        self.quoted = [re.compile(rf'"({re.escape(name)}\.[\w.$]+)"\(') for name in namespaces]


def known() -> Known:
    """Those of the dialects that have been defined so far."""
    dialects = ext.Dialect.__subclasses__()
    return _known(tuple((dialect, len(dialect.operations)) for dialect in dialects))


@lru_cache(maxsize=1)
def _known(dialects: tuple[tuple[type[ext.Dialect], int], ...]) -> Known:
    return Known(
        {
            op.OPERATION_NAME: op
            for dialect, _ in dialects
            for op in dialect.operations
            if getattr(op, "assembly_format", None) is not None
        }
    )
