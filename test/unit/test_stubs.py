"""What `tilec.ir.stubs` tells type checkers of MLIR's bindings is there in the bindings.

The stubs are read as syntax; every class, method, property and function in them is looked up in
the modules that `tilec.ir.mlir` provides, and must be of the kind that the stub says.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest
from tilec.dialects.tile.dialect import Tile
from tilec.dialects.tile.ops import LoadOp
from tilec.ir import mlir

STUBS = Path(mlir.__file__).parent / "stubs"
PARTS = {"affine", "attributes", "base", "operations", "types"}
"""Files that make up `ir`."""
BY_PROTOCOL = "__iter__"
"""May stand for `__getitem__` and `__len__`, by which Python iterates, too."""


def _declared(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """(qualified name, definition) of what a stub declares, members of classes included."""

    def inside(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
        for node in body:
            match node:
                case ast.ClassDef(name=name):
                    yield prefix + name, node
                    yield from inside(node.body, f"{prefix}{name}.")
                case ast.FunctionDef(name=name):
                    yield prefix + name, node
                case ast.AnnAssign(target=ast.Name(id=name)):
                    yield prefix + name, node
                case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
                    yield prefix + name, node

    yield from inside(ast.parse(path.read_text()).body, "")


CASES = [
    pytest.param(path.stem, name, node, id=f"{path.stem}.{name}")
    for path in sorted(STUBS.glob("*.pyi"))
    for name, node in _declared(path)
    if not name.startswith(("_Globals", "_Extension"))
]


def test_there_are_stubs() -> None:
    assert len(CASES) > 300
    assert {path.stem for path in STUBS.glob("*.pyi")} >= {*PARTS, "ir", "ext", "scf", "gpu"}


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[None]:
    """`current` is a property of classes that raises where nothing is."""
    with mlir.ir.Context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            yield


def _owner(stub: str, path: list[str]) -> object:
    """What holds a name: a class that has it, where the bindings give it to subclasses only."""
    owner: object = getattr(mlir, "ir" if stub in PARTS else stub)
    for part in path:
        owner = getattr(owner, part)
    subclasses = {
        mlir.ext.Dialect: Tile,
        mlir.ext.Operation: LoadOp,
        mlir.ir.OpView: mlir.scf.ForOp,
    }
    return subclasses.get(owner, owner)  # type: ignore[call-overload]


@pytest.mark.parametrize(("stub", "name", "node"), CASES)
def test_the_bindings_have_it(stub: str, name: str, node: ast.stmt) -> None:
    *path, last = name.split(".")
    owner = _owner(stub, path)
    if last == BY_PROTOCOL and not hasattr(owner, last):
        assert hasattr(owner, "__getitem__")
        assert hasattr(owner, "__len__")
        return
    if owner is mlir.ir._OperationBase and last in ("operation", "opview", "successors"):
        # Of both classes that there are, each its own.
        assert all(isinstance(vars(c)[last], property) for c in (mlir.ir.OpView, mlir.ir.Operation))
        return
    match node:
        case ast.ClassDef():
            _check_class(getattr(owner, last), node)
        case ast.FunctionDef(decorator_list=decorators):
            words = {ast.unparse(one) for one in decorators}
            if words & {"property", f"{last}.setter"}:
                found = inspect.getattr_static(owner, last)
                assert isinstance(found, property), f"{name} is a {type(found)}"
                assert found.fset or "property" in words
            else:
                assert callable(getattr(owner, last)), f"{name} is not a function"
        case _:
            fields = getattr(owner, "__dataclass_fields__", {})
            assert last in fields or hasattr(owner, last)


def _check_class(found: object, node: ast.ClassDef) -> None:
    """A class of the bindings, with the bases declared that are classes of theirs, too."""
    if ast.unparse(node).startswith(("class Operand(", "class Result(")):
        assert found in (mlir.ir.Value, mlir.ir.OpResult)  # with a parameter, which is a constraint
        return
    assert isinstance(found, type)
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if "Enum" in bases:
        assert issubclass(found, Enum)
    theirs = {base for base in bases if not base.startswith("_")} - {"Enum"}
    assert theirs <= {base.__name__ for base in found.__mro__}


def _accepted(function: object) -> set[str] | None:
    """Names of the parameters that a function of the bindings says it takes; None if it is mute."""
    declared = getattr(function, "__nb_signature__", None)
    if not declared:
        return None
    names: set[str] = set()
    for signature, *_ in declared:
        text = "".join(c if c.isprintable() else "0" for c in signature).replace("\\", "")
        try:
            (parsed,) = ast.parse(f"{text}: ...").body
        except SyntaxError:
            return None
        assert isinstance(parsed, ast.FunctionDef)
        arguments = parsed.args
        if arguments.vararg or arguments.kwarg:
            return None
        names |= {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return names


METHODS = [
    case
    for case in CASES
    if isinstance(case.values[2], ast.FunctionDef) and case.values[0] != "ext"
]


@pytest.mark.parametrize(("stub", "name", "node"), METHODS)
def test_parameters_that_may_be_named_have_these_names(
    stub: str, name: str, node: ast.FunctionDef
) -> None:
    *path, last = name.split(".")
    accepted = _accepted(getattr(_owner(stub, path), last, None))
    if accepted is None:
        return  # it does not say; the test above saw that it is there
    named = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} - {"self", "cls"}
    assert named <= accepted, f"{name} takes {sorted(accepted)}"
