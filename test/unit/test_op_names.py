"""No pass and no analysis knows by name what an op means.

What an op means stands on its class, or in the table of upstream's ops; who asks goes by the
class. A name of one of the dialect's ops may stand only in the dialect, as the key of a registry of
lowerings, and where the Python front end emits the op. Nor may a list of upstream's names stand for
a meaning.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tilec.dialects.tile import ops

ROOT = Path(__file__).parents[2]
NAMES = {getattr(ops, n).OPERATION_NAME for n in ops.__all__ if n.endswith("Op")}
SOURCES = [
    path
    for folder in ("passes", "compiler", "lang", "tools", "sim", "runtime")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
REGISTRIES = {
    "passes/fragments/fragment_elementwise.py",
    "passes/fragments/fragment_products.py",
    "passes/fragments/fragment_views.py",
    "passes/fragments_to_nvvm.py",
    "passes/to_fragments.py",
}
"""Files whose dictionaries say how each op is lowered."""
UPSTREAM = re.compile(
    r"(arith|builtin|cf|func|gpu|llvm|math|memref|nvgpu|nvvm|scf|transform|vector)\.[a-z_0-9.]+"
)


LOWERINGS = {"from_linalg", "from_vector", "lower_math", "math", "nvvm", "upstream"}
"""Folders and files of passes/ whose business is what upstream's ops become."""


def _lowers_upstream(path: Path) -> bool:
    return path.relative_to(ROOT / "passes").parts[0].removesuffix(".py") in LOWERINGS


def _arguments(tree: ast.AST) -> set[int]:
    """The constants that a call is given, as one that emits an op is."""
    return {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for argument in node.args
    }


def _keys(tree: ast.AST) -> set[int]:
    """The constants that are keys of dictionaries."""
    return {
        id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys if key
    }


def _strings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_names_of_tile_ops(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = str(path.relative_to(ROOT))
    legal = _keys(tree) if name in REGISTRIES else set()
    if name.startswith("lang/"):  # which loads no MLIR, so no classes, until a kernel is built
        legal |= _arguments(tree)
    found = [
        f"{node.lineno}: {node.value}"
        for node in _strings(tree)
        if node.value in NAMES and id(node) not in legal
    ]
    assert found == []


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.is_relative_to(ROOT / "passes") and not _lowers_upstream(p)],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_lists_of_upstream_names(path: Path) -> None:
    """A tuple or set of op names is a meaning that its ops should have declared."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            names = [e.value for e in node.elts if isinstance(e, ast.Constant)]
            if len(names) > 1 and all(isinstance(n, str) and UPSTREAM.fullmatch(n) for n in names):
                found.append(f"{node.lineno}: {', '.join(names)}")
    assert found == []


EMITTING = {"create", "_create", "emit", "emit_effect", "operation", "result"}
"""What makes an op whose name it is given."""


def _callee(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _made_by_name(tree: ast.AST) -> list[str]:
    """The names of upstream's ops that are made by their names."""
    return [
        f"{call.lineno}: {first.value}"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _callee(call) in EMITTING
        for first in call.args[:1]
        if isinstance(first, ast.Constant)
        and isinstance(first.value, str)
        and UPSTREAM.fullmatch(first.value)
    ]


@pytest.mark.parametrize(
    "path",
    [*SOURCES, *sorted((ROOT / "dialects").rglob("*.py"))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_upstream_ops_are_made_by_typed_functions(path: Path) -> None:
    """Those of `tilec.ir.ops`, whatever makes them."""
    assert _made_by_name(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    ['create("llvm.call", [a], t)', 'ir.Operation.create("scf.for")', 'result("math.fma", [], t)'],
)
def test_what_is_made_by_name_is_found(text: str) -> None:
    assert len(_made_by_name(ast.parse(text))) == 1


def _is_op(node: ast.AST) -> bool:
    """Whether a node is the name of an op's class."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.endswith("Op") and name != "Op"


def _lists_of_classes(tree: ast.AST) -> list[str]:
    """Where classes of ops stand in a list, or are told from all others one after the other."""
    found = []
    for node in ast.walk(tree):
        listed: list[ast.AST] = []
        match node:
            case ast.Tuple() | ast.List() | ast.Set():
                listed = list(node.elts)
            case ast.Call():
                listed = [argument for argument in node.args if _is_op(argument)]
            case ast.BoolOp():
                calls = [v for v in node.values if isinstance(v, ast.Call)]
                listed = [c.args[1] for c in calls if _callee(c) == "isinstance"]
        if len(listed) > 1 and all(map(_is_op, listed)):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.is_relative_to(ROOT / "passes")],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_no_lists_of_classes_of_ops(path: Path) -> None:
    """What they have in common is a meaning; mappings say what becomes of each."""
    assert _lists_of_classes(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(op, (LoadOp, ops.StoreOp))",
        "kernel.named(LoadOp, StoreOp)",
        "isinstance(op, LoadOp) or isinstance(op, StoreOp)",
    ],
)
def test_a_list_of_classes_is_found(text: str) -> None:
    assert len(_lists_of_classes(ast.parse(text))) == 1
