"""What the statements of a loop or a condition need of the function that they stand in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import AbstractContextManager
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

    def place(self, node: ast.AST) -> Place:
        """Where a node is."""

    def value(self, node: ast.expr) -> Any:
        """What an expression is."""

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, or parts of it to several."""

    def turn(self, node: ast.For | ast.While) -> BlockEnd:
        """Run the body of a loop."""

    def live(self, end: BlockEnd, behind: frozenset[str]) -> frozenset[str]:
        """The names that are read where a block goes on that ends so."""

    def run(self, body: Sequence[ast.stmt]) -> BlockEnd:
        """Run the statements of a block."""

    def conditional(self) -> AbstractContextManager[None]:
        """Run what the kernel may leave out when it runs."""
