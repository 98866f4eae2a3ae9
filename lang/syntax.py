"""The Python that kernels cannot use, each construct by its name, with what to use instead."""

from __future__ import annotations

import ast
from types import MappingProxyType

from tilec.report.diagnostics import Place

from .errors import KernelError

_REFUSED = MappingProxyType(
    {
        ast.AsyncFor: "async for: a kernel does not wait; use for",
        ast.AsyncFunctionDef: "async def: define helpers by def, outside the kernel",
        ast.AsyncWith: "async with: a kernel does not wait",
        ast.Await: "await: a kernel does not wait",
        ast.ClassDef: "class: define classes outside the kernel",
        ast.Delete: "del: names may be left",
        ast.FunctionDef: "a function inside a function: define helpers outside the kernel, and "
        "mark those that have loops or conditions of the kernel @tilec.function",
        ast.Global: "global: a kernel changes no global names; return values",
        ast.Import: "import: import modules outside the kernel",
        ast.ImportFrom: "import: import names outside the kernel",
        ast.Match: "match: use if and elif",
        ast.Nonlocal: "nonlocal: return values",
        ast.Try: "try: a kernel raises and catches nothing when it runs",
        ast.TryStar: "try: a kernel raises and catches nothing when it runs",
        ast.With: "with: a kernel has no context managers",
        ast.Yield: "yield: a kernel is not a generator; return values, or use a loop",
        ast.YieldFrom: "yield from: a kernel is not a generator; return values, or use a loop",
    }
)


def check(tree: ast.FunctionDef, file: str) -> None:
    """Check that a function uses only what kernels can.

    Raises:
        KernelError: at the first construct that they cannot.
    """
    _check_parameters(tree.args, file)
    for statement in tree.body:
        for node in ast.walk(statement):
            if type(node) in _REFUSED:
                raise KernelError(place(node, file), f"no {_REFUSED[type(node)]}")
            _check_node(node, file)


def _check_parameters(arguments: ast.arguments, file: str) -> None:
    if arguments.vararg:
        raise KernelError(place(arguments.vararg, file), "no *arguments: name each")
    if arguments.kwarg:
        raise KernelError(place(arguments.kwarg, file), "no **arguments: name each")


def _check_node(node: ast.AST, file: str) -> None:
    if isinstance(node, ast.For | ast.While) and node.orelse:
        raise KernelError(place(node, file), "no else of a loop: put it after the loop")
    if isinstance(node, ast.BoolOp | ast.IfExp):
        parts = node.values[1:] if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        for part in parts:
            for inner in ast.walk(part):
                if isinstance(inner, ast.NamedExpr):
                    raise KernelError(
                        place(inner, file), "no := in part of a condition: assign before it"
                    )
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [node.target]
    for target in targets:
        _check_target(target, file)


def _check_target(target: ast.expr, file: str) -> None:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            _check_target(part, file)
    elif isinstance(target, ast.Starred):
        _check_target(target.value, file)
    elif isinstance(target, ast.Subscript):
        raise KernelError(
            place(target, file),
            "no assignment to an element: tl.store writes to an array; make a new tile by "
            "tl.where, a new tuple or list by a comprehension",
        )
    elif isinstance(target, ast.Attribute):
        raise KernelError(place(target, file), "no assignment to an attribute: use names")


def place(node: ast.AST, file: str) -> Place:
    """Where a node begins."""
    return Place(file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
