#!/usr/bin/env python3
"""How many parameters have a type that resolves to `Any`, or to something made of it.

    count_any.py SITE [--limit PERCENT] [--list] [PACKAGE ...]

SITE is a folder with an installed copy of tilec. mypy resolves the types, with the settings of
`pyproject.toml`: an alias counts as what it stands for, and a name whose import mypy does not
follow as `Any`. A parameter counts where `Any` is anywhere in its type, as in `dict[str, Any]`;
not for the `...` of `Callable[..., T]`. Parameters are those of functions and methods, nested ones
as well, without `self` and `cls`; fields of classes and results are shown beside them.

Exits with 1 where more than PERCENT of the parameters of all PACKAGEs are such.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mypy import build
from mypy.config_parser import parse_config_file
from mypy.find_sources import create_source_list
from mypy.nodes import (
    AssignmentStmt,
    Block,
    ClassDef,
    Decorator,
    ForStmt,
    FuncDef,
    IfStmt,
    MatchStmt,
    MypyFile,
    NameExpr,
    OverloadedFuncDef,
    Statement,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.options import Options
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypedDictType,
    TypeType,
    UnionType,
    get_proper_type,
)

SETTINGS = Path(__file__).resolve().parents[1] / "pyproject.toml"
PACKAGES = ("tilec.passes", "tilec.dialects")


def has_any(type_: Type, within: tuple[Type, ...] = ()) -> bool:
    """Whether a type is `Any` or is made of it.

    Args:
        type_: the type.
        within: the types that it is part of, for an alias may name itself.
    """
    proper = get_proper_type(type_)
    if isinstance(proper, AnyType):
        return True
    return proper not in within and any(has_any(p, (*within, proper)) for p in _parts(proper))


def _parts(type_: ProperType) -> list[Type]:
    """What a type is made of."""
    match type_:
        case Instance():
            return list(type_.args)
        case UnionType() | TupleType():
            return list(type_.items)
        case CallableType() if type_.is_ellipsis_args:
            return [type_.ret_type]
        case CallableType():
            return [*type_.arg_types, type_.ret_type]
        case Overloaded():
            return list(type_.items)
        case TypeType():
            return [type_.item]
        case TypedDictType():
            return list(type_.items.values())
    return []


@dataclass(frozen=True)
class Place:
    """Where a type is declared.

    Attributes:
        kind: `parameter`, `field` or `result`.
        package: the package.
        where: module and line.
        name: the name that has it.
        is_any: whether it resolves to `Any` or something made of it.
    """

    kind: str
    package: str
    where: str
    name: str
    is_any: bool


def _functions(body: list[Statement], in_class: bool) -> Iterator[tuple[FuncDef, bool]]:
    """The functions declared in statements, nested ones as well, and whether each is a method."""
    for statement in body:
        match statement:
            case FuncDef():
                yield statement, in_class
                yield from _functions(statement.body.body, False)
            case Decorator():
                yield from _functions([statement.func], in_class)
            case OverloadedFuncDef():
                yield from _functions(list(statement.items), in_class)
            case ClassDef():
                yield from _functions(statement.defs.body, True)
            case _:
                for block in _blocks(statement):
                    yield from _functions(block.body, in_class)


def _blocks(statement: Statement) -> list[Block]:
    """The blocks of a compound statement."""
    match statement:
        case IfStmt():
            blocks = [*statement.body, statement.else_body]
        case ForStmt() | WhileStmt():
            blocks = [statement.body, statement.else_body]
        case WithStmt():
            blocks = [statement.body]
        case TryStmt():
            blocks = [statement.body, *statement.handlers]
            blocks += [statement.else_body, statement.finally_body]
        case MatchStmt():
            blocks = list(statement.bodies)
        case _:
            blocks = []
    return [block for block in blocks if block is not None]


def _fields(body: list[Statement]) -> Iterator[tuple[int, str, Type]]:
    """Line, name and type of the fields that classes declare."""
    for statement in body:
        if isinstance(statement, ClassDef):
            for inner in statement.defs.body:
                if isinstance(inner, AssignmentStmt) and inner.type is not None:
                    target = inner.lvalues[0]
                    if isinstance(target, NameExpr):
                        yield inner.line, target.name, inner.type
            yield from _fields(statement.defs.body)


def _of(module: str, tree: MypyFile) -> Iterator[Place]:
    """The types declared in a file."""
    package = module if tree.is_package_init_file() else module.rpartition(".")[0]
    for function, is_method in _functions(list(tree.defs), False):
        line, name = f"{module}:{function.line}", function.name
        first = 1 if is_method and not function.is_static else 0
        known = function.type if isinstance(function.type, CallableType) else None
        for number, argument in list(enumerate(function.arg_names))[first:]:
            unknown = known is None or has_any(known.arg_types[number])
            yield Place("parameter", package, line, f"{name}({argument})", unknown)
        yield Place("result", package, line, name, known is None or has_any(known.ret_type))
    for at, field, type_ in _fields(list(tree.defs)):
        yield Place("field", package, f"{module}:{at}", field, has_any(type_))


def declarations(site: Path, packages: tuple[str, ...]) -> Iterator[Place]:
    """What the packages declare; what is wrong in them goes to stderr."""
    options = Options()
    parse_config_file(options, lambda: None, str(SETTINGS), sys.stdout, sys.stderr)
    options.incremental = False
    options.preserve_asts = True
    os.chdir(site)
    options.mypy_path = [str(site)]
    options.namespace_packages = True
    options.explicit_package_bases = True
    sources = create_source_list([package.replace(".", "/") for package in packages], options)
    result = build.build(sources, options)
    if result.errors:
        print(*result.errors, sep="\n", file=sys.stderr)
    for name, tree in result.files.items():
        if any(name == p or name.startswith(f"{p}.") for p in packages):
            yield from _of(name, tree)


def main() -> int:
    """Print the table, and say whether the limit is kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("site", type=Path)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    parser.add_argument("--limit", type=float, default=5.0, metavar="PERCENT")
    parser.add_argument("--list", action="store_true", help="the parameters that count, by place")
    args = parser.parse_args()
    places = list(declarations(args.site.resolve(), tuple(args.packages)))
    counts: Counter[tuple[str, str, bool]] = Counter()
    for place in places:
        for row in (place.package, "all"):
            counts[row, place.kind, place.is_any] += 1
    if args.list:
        for place in places:
            if place.is_any and place.kind == "parameter":
                print(place.where, place.name)
    print(f"{'':<28}{'parameters':>12}{'Any':>6}{'%':>7}{'fields %':>10}{'results %':>11}")
    for row in sorted({row for row, _, _ in counts}, key=lambda row: (row == "all", row)):
        parts = [_percent(counts, row, kind) for kind in ("parameter", "field", "result")]
        total = counts[row, "parameter", True] + counts[row, "parameter", False]
        print(
            f"{row:<28}{total:>12}{counts[row, 'parameter', True]:>6}"
            f"{parts[0]:>7.1f}{parts[1]:>10.1f}{parts[2]:>11.1f}"
        )
    return int(_percent(counts, "all", "parameter") > args.limit)


def _percent(counts: Counter[tuple[str, str, bool]], row: str, kind: str) -> float:
    some = counts[row, kind, True]
    total = some + counts[row, kind, False]
    return 100 * some / total if total else 0.0


if __name__ == "__main__":
    sys.exit(main())
