"""How a block of statements ends."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Returned:
    """A return statement has been reached.

    Attributes:
        value: what it returns.
    """

    value: Any


BlockEnd: TypeAlias = "Returned | type[ast.Break] | type[ast.Continue] | None"
"""How a block ended; None at its end."""
