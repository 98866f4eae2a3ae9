"""Imports run one way: no circle of modules, and each package stands on those below it alone.

Read from the sources, so that imports for types and those inside functions count as well. That a
module loads the packages that it lies in is not counted.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FACADE = "tilec"
"""`tilec` itself: what it exports is the compiler's and the language's."""
COMMAND = "tilec.__main__"
"""`python -m tilec`, a command as those in `tilec.tools` are."""
LAYERS = (
    *("isa", "layout", "ir", "dialects", "interpret", "passes"),
    *("compiler", "lang", "tuning", FACADE, "tools"),
)
"""Packages, each of which may import those before it."""
BESIDE = {"sim": ("isa", "layout"), "runtime": ("isa", "layout")}
"""Packages beside the layers, with what they stand on."""
CACHE = "tilec.cache"
"""Where the simulator keeps its machine code, too; it stands on nothing that the simulator is."""
LAZILY = ("interpret", "compiler", "lang")
"""Layers that may import those beside them where importing `tilec` or `tilec.lang` does not load
them: for types, inside functions, or in modules that are so imported; `tuning` and `tools` wherever
they like."""

TOP, TYPES, LATE = "top", "for types", "inside a function"
"""Where an import stands."""


@dataclass(frozen=True)
class Import:
    """One module's import of another, and where it stands."""

    importer: str
    imported: str
    where: str


def packages() -> dict[str, Path]:
    """Folders of the project's packages, behind the links by which setuptools finds them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    source = ROOT / config["package-dir"][""]
    return {name: source.joinpath(*name.split(".")).resolve() for name in config["packages"]}


def modules() -> dict[str, Path]:
    """Files of all modules by name; a folder that has a name of its own keeps its files."""
    found: dict[str, Path] = {}
    for package, folder in sorted(packages().items(), key=lambda item: len(item[0])):
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *(p for p in parts if p != "__init__")))
            owned = {n: f for n, f in found.items() if f == file}
            for other in owned:
                del found[other]
            found[name] = file
    return found


MODULES = modules()


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING`."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


Statement = ast.Import | ast.ImportFrom


def statements(node: ast.AST, where: str = TOP) -> Iterator[tuple[Statement, str]]:
    """Every import below a node, with where it stands."""
    for child in ast.iter_child_nodes(node):
        here = where
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            here = LATE
        if isinstance(child, Statement):
            yield child, here
        elif isinstance(child, ast.If) and is_type_checking(child.test):
            for inside in child.body:
                yield from statements(ast.Module([inside], []), TYPES)
            for inside in child.orelse:
                yield from statements(ast.Module([inside], []), here)
        else:
            yield from statements(child, here)


def absolute(module: str, statement: ast.ImportFrom) -> str:
    """What `from … import` names, without the dots."""
    if not statement.level:
        return statement.module or ""
    is_package = MODULES[module].name == "__init__.py"
    parts = module.split(".")
    parts = parts[: len(parts) - statement.level + is_package]
    return ".".join((*parts, *([statement.module] if statement.module else ())))


def imports(module: str) -> Iterator[Import]:
    """What a module imports of the project."""
    for statement, where in statements(ast.parse(MODULES[module].read_text())):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            base = absolute(module, statement)
            inside = [f"{base}.{alias.name}" for alias in statement.names]
            names = [name if name in MODULES else base for name in inside]
        for name in dict.fromkeys(names):
            if name in MODULES and name != module:
                yield Import(module, name, where)


BY = {module: list(imports(module)) for module in MODULES}
IMPORTS = [found for edges in BY.values() for found in edges]


def circles(edges: Iterable[Import]) -> list[tuple[str, ...]]:
    """Modules that import each other: strongly connected components of more than one."""
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for edge in edges:
        graph[edge.importer].add(edge.imported)
    back: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, others in graph.items():
        for other in others:
            back[other].add(module)
    found, left = [], set(MODULES)
    while left:
        start = min(left)
        circle = reached(start, graph) & reached(start, back)
        left -= circle
        if len(circle) > 1:
            found.append(tuple(sorted(circle)))
    return found


def reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """What can be reached from a module, itself included."""
    seen, todo = {start}, [start]
    while todo:
        for other in graph[todo.pop()] - seen:
            seen.add(other)
            todo.append(other)
    return seen


def layer(module: str) -> str:
    """The package that a module belongs to; what is in `tilec` itself is the compiler's."""
    if module == FACADE:
        return FACADE
    if module == COMMAND:
        return "tools"
    name = module.split(".")[1]
    return name if name in (*LAYERS, *BESIDE) else "compiler"


_AT_ONCE = {module: {e.imported for e in BY[module] if e.where == TOP} for module in MODULES}
LOADED = reached(FACADE, _AT_ONCE) | reached("tilec.lang", _AT_ONCE)
"""What importing the compiler or the language loads."""


def is_legal(edge: Import) -> bool:
    """Whether an import runs the right way."""
    above, below = layer(edge.importer), layer(edge.imported)
    if above == below:
        return True
    if above in BESIDE:
        kept = edge.where == LATE and edge.imported.startswith(CACHE)
        return below in BESIDE[above] or (above == "sim" and kept)
    if below in BESIDE:
        lazily = edge.where != TOP or edge.importer not in LOADED
        return above in ("tuning", "tools") or (above in LAZILY and lazily)
    return LAYERS.index(below) < LAYERS.index(above)


def in_words(edge: Import) -> str:
    """An import as a failed test names it."""
    return f"{edge.importer} imports {edge.imported} ({edge.where})"


def test_every_module_is_read() -> None:
    """Of every package, and relative and absolute imports alike."""
    assert {layer(module) for module in MODULES} == {*LAYERS, *BESIDE}
    assert len(MODULES) > 300
    assert Import("tilec.sim.findings", "tilec.sim.report", TOP) in IMPORTS
    assert Import("tilec.sim.report", "tilec.sim.report_html", LATE) in IMPORTS
    assert any(layer(e.importer) == "sim" and layer(e.imported) == "isa" for e in IMPORTS)


def test_no_circles() -> None:
    """Not even of imports that only types need, or that stand inside functions."""
    assert circles(IMPORTS) == []


def test_layers_stand_on_those_below() -> None:
    assert [in_words(edge) for edge in IMPORTS if not is_legal(edge)] == []


@pytest.mark.parametrize(
    ("edge", "legal"),
    [
        (Import("tilec.passes.emit", "tilec.dialects.tile", TOP), True),
        (Import("tilec.dialects.tile", "tilec.passes.emit", TYPES), False),
        (Import("tilec.sim.launch", "tilec.compiled", LATE), False),
        (Import("tilec.sim.native.library", "tilec.cache.entries", LATE), True),
        (Import("tilec.sim.native.library", "tilec.cache.entries", TOP), False),
        (Import("tilec.runtime.pack", "tilec.layout", TOP), True),
        (Import("tilec.lang.kernels", "tilec.sim", LATE), True),
        (Import("tilec.lang.kernels", "tilec.sim", TOP), False),
        (Import("tilec.passes.emit", "tilec.sim", LATE), False),
        (Import("tilec.tools.tile_run", "tilec.sim", TOP), True),
    ],
)
def test_the_rule(edge: Import, legal: bool) -> None:
    assert is_legal(edge) is legal


def test_a_circle_is_found() -> None:
    pairs = (
        ("tilec.isa", "tilec.layout"),
        ("tilec.layout", "tilec.sim"),
        ("tilec.sim", "tilec.isa"),
    )
    edges = [Import(a, b, TOP) for a, b in pairs]
    assert circles(edges) == [("tilec.isa", "tilec.layout", "tilec.sim")]
    assert circles(edges[1:]) == []
