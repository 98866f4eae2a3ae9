"""What the statements of a loop or a condition need of the function that they stand in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Protocol

from tilec.report.diagnostics import Place

from .block_end import BlockEnd
from .source import FunctionSource


class Scope(Protocol):
    """A function under way.

    Attributes:
        names: every name's value.
    """

    names: dict[str, Any]

    @property
    def source(self) -> FunctionSource:
        """Of the function."""

    @property
    def tails(self) -> frozenset[int]:
        """The conditions, by id, behind which the function ends."""

    def place(self, node: ast.AST) -> Place:
        """Where a node is."""

    def value(self, node: ast.expr) -> Any:
        """What an expression is."""

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, or parts of it to several."""

    def within(self, what: str, body: Sequence[ast.stmt]) -> BlockEnd:
        """Run statements that stand in a loop or a condition."""
