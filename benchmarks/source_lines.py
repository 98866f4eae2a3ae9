"""Lines of a function's source that say something."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def lines_of(function: Callable[..., Any]) -> dict[str, int]:
    """Lines from the decorator on, and of the body, without docstring, comments and empty ones."""
    text = textwrap.dedent(inspect.getsource(function))
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    first = tree.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    skipped = range(first.lineno, (first.end_lineno or 0) + 1) if documented else range(0)
    said = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if number not in skipped and line.strip() and not line.strip().startswith("#")
    ]
    return {"lines": len(said), "body": sum(number >= first.lineno for number in said)}
