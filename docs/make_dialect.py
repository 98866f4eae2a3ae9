"""Write dialect.md from the definitions of the tile dialect's types, attributes and ops.

    python docs/make_dialect.py [--check]

With --check nothing is written, and the exit code says whether the file is up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from generated import ROOT, table, write_or_check
from tilec.dialects.semantics import LayoutRule, Scope, Semantics, Touch
from tilec.dialects.tile import builders, dialect, ops
from tilec.dialects.tile.attributes import DISCARDABLE
from tilec.dialects.tile.ops.atomic_rmw import FUNCTIONS
from tilec.ir.assembly import format_of
from tilec.ir.mlir import ext

_TESTS = ROOT / "test" / "lit" / "dialect"

_INTRODUCTION = """\
# The tile dialect

Written by `docs/make_dialect.py` from `dialects/tile/`; do not edit. The examples are those of the
ops' tests in `test/lit/dialect/`. Each op has the `assembly_format` that its class declares
([extending](extending.md#an-assembly-format)); MLIR's generic form is read, too. Names in the types
are aliases (`!A = …`). The builders, with the same names, are in `tilec.dialects.tile.builders`.

A program is written in tiles of a CTA, `tensor<128x64xf16>` (level 1), in such tiles with layouts,
`tensor<128x64xf16, #tile.layout<"…">>` (level 2), or in fragments, `!tile.frag<…>`, which one warp
holds and of which one op is one instruction (level 3). The [tour for
authors of passes](pass_tour.md) shows the latter two.

Each op declares what passes need to know: which threads execute it together, what it reads and
writes, how layouts go through it ([extending](extending.md)). Ops with matrix instructions are not
`Pure`: upstream's clean-up would move them under divergent control flow. `tile-remove-dead` removes
those that nobody uses.
"""

_GROUPS = {
    "Memory": "memory",
    "Atomic updates": "atomic",
    "Tiles of indices": "gather",
    "Atomic operations": "atomic_rmw",
    "Asynchronous copies": "async_copy",
    "Registers": "elementwise",
    "Choice": "select",
    "Inline assembly": "inline_asm",
    "Layouts": "layouts",
    "Views": "views",
    "Reductions": "reduce",
    "Elements taken": "take",
    "Indices": "iota",
    "Products": "mma",
    "Products of tiles": "dots",
    "Block-scaled products": "mma_scaled",
    "Sparse products": "mma_sp",
    "Matrix loads and stores": "matrix_memory",
    "Transposition": "movmatrix",
    "Products of warpgroups": "wgmma",
    "Products of tiles by warpgroups": "warpgroup_dot",
    "Barriers in shared memory": "barrier",
    "Copies of boxes": "tma",
    "Copies of four rows": "tma_rows",
    "Tensor memory": "tensor_memory",
    "Products in tensor memory": "tcgen05",
    "Loads, stores and order of tensor memory": "tcgen05_moves",
    "wmma": "wmma",
}
"""Headings of the files in `dialects/tile/ops/`."""


def _parameters() -> Iterator[str]:
    """The types and attributes."""
    for kind, base in (("Attributes", dialect.TileAttr), ("Types", dialect.TileType)):
        yield f"\n## {kind}\n"
        for found in vars(dialect).values():
            if isinstance(found, type) and issubclass(found, base) and found is not base:
                first, _, rest = inspect.cleandoc(found.__doc__ or "").partition("\n")
                name, _, what = first.partition(": ")
                yield f"\n### {name}\n\n{what[0].upper()}{what[1:]}\n{rest}\n"


def _ops() -> Iterator[str]:
    classes = [c for c in vars(ops).values() if isinstance(c, type) and c.__name__ in ops.__all__]
    assert {c.__module__.rpartition(".")[2] for c in classes} == set(_GROUPS.values())
    for title, module in _GROUPS.items():
        yield f"\n## {title}\n"
        for op in classes:
            if op.__module__.endswith(f".{module}"):
                yield _op(op)


def _op(op: Any) -> str:
    rows = list(_fields(op))
    return (
        f"\n### {op.OPERATION_NAME}\n\n{inspect.cleandoc(op.__doc__)}\n"
        + f"\n{_syntax(op)}\n"
        + _functions(op)
        + ("\n" + table(("name", "what"), rows) if rows else "")
        + f"\n{_meaning(op.SEMANTICS)}\n"
        + f"\n```mlir\n{_example(op.OPERATION_NAME)}```\n"
        + f"\nBuilder: `{_builder(op.OPERATION_NAME.removeprefix('tile.'))}`\n"
    )


def _syntax(op: Any) -> str:
    """How an op is written."""
    format_ = format_of(op)
    if format_ is None:
        return "It is written in the generic form."
    return f"```text\noperation ::= `{op.OPERATION_NAME}` {format_.text}\n```"


def _meaning(declared: Semantics) -> str:
    """What passes are told of an op."""
    said = [f"Scope: {_SCOPES.get(declared.scope, 'by the type of what it works on')}"]
    said.append(f"effects: {', '.join(map(_touch, declared.effects or ())) or 'none'}")
    if declared.layouts is not LayoutRule.UNKNOWN:
        said.append(f"layouts: {declared.layouts.value}")
    return "; ".join(said) + "."


_SCOPES = {
    Scope.LANE: "a lane",
    Scope.WARP: "a warp",
    Scope.WARPGROUP: "a warpgroup",
    Scope.CTA: "a CTA",
}


def _touch(touch: Touch) -> str:
    where = f"operand {touch.operand}'s memory" if touch.resource is None else touch.resource.value
    return f"{touch.access.value} {where}{' asynchronously' * touch.asynchronous}"


def _attributes() -> Iterator[str]:
    """The discardable attributes."""
    yield "\n## Discardable attributes\n\n"
    yield (
        "What a program may say on ops of other dialects, too. Of a *promise* a program may not "
        "say what does not hold: a launch checks those of arguments.\n\n"
    )
    rows = [
        (
            f"`{one.name}`",
            one.bearer.value.removeprefix("an attribute of "),
            one.written,
            one.meaning + " A promise." * one.promise,
        )
        for one in DISCARDABLE.values()
        if not one.transient
    ]
    yield table(("name", "of", "value", "says"), rows)


def _functions(op: Any) -> str:
    """What `fn` may name, of ops that have it."""
    if "fn" not in (field.name for field in op._fields):
        return ""
    named = {
        ops.AtomicOp: ops.ATOMICS,
        ops.AtomicRmwOp: FUNCTIONS,
        ops.AtomicScatterOp: ops.ATOMICS,
        ops.CastOp: ops.CASTS,
        ops.ElementwiseOp: {**ops.ELEMENTWISE, **ops.COMPARISONS},
        ops.ReduceOp: ops.REDUCTIONS,
    }
    legal = named.get(op, ops.ELEMENTWISE)
    return f"\n`fn` is one of {', '.join(f'`{name}`' for name in legal)}.\n"


def _builder(name: str) -> str:
    """A builder's parameters, without their types."""
    signature = inspect.signature(getattr(builders, name))
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return f"{name}{inspect.Signature(bare)}"


def _fields(op: Any) -> Iterator[tuple[str, str]]:
    operands, attributes, results, _ = ext.partition_fields(op._fields)
    for operand in operands:
        several = operand.variadicity is not ext.Variadicity.single
        yield f"`{operand.name}`", "operands" if several else "operand"
    for attribute in attributes:
        kind = attribute.constraint
        type_ = kind.__name__.removesuffix("Attr").lower() if kind is not Any else ""
        yield f"`{attribute.name}`", f"{type_} attribute".strip()
    for name in sorted(op.OPTIONAL):
        yield f"`{name}`", "optional attribute"
    for name in sorted(op.UNITS):
        yield f"`{name}`", "unit attribute"
    if op.OPEN:
        yield "…", "attributes of the upstream op"
    for result in results:
        yield f"`{result.name}`", "result"


def _example(name: str) -> str:
    """The first use of an op in its test, with the aliases that it names."""
    own = _TESTS / f"{name.removeprefix('tile.')}.mlir"
    others = sorted(p for p in _TESTS.glob("*.mlir") if "invalid" not in p.name)
    for file in (own, *others):
        if file.exists() and _uses(name).search(file.read_text(encoding="utf-8")):
            return _first_use(name, file)
    raise SystemExit(f"error: no test in {_TESTS} uses {name}")


def _uses(name: str) -> re.Pattern[str]:
    """Finds an op, in either form."""
    return re.compile(rf'^ *(?:%.* = )?"?{re.escape(name)}(?![\w.])', re.MULTILINE)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first_use(name: str, file: Path) -> str:
    code = [
        line
        for line in file.read_text(encoding="utf-8").splitlines()
        if not line.strip().startswith("//")
    ]
    start = next(n for n, line in enumerate(code) if _uses(name).search(line))
    depth = _indentation(code[start])
    more = takewhile(lambda line: _indentation(line) > depth, code[start + 1 :])
    used = [code[start].strip(), *(f"    {line.strip()}" for line in more)]
    aliases = dict(re.findall(r"^(!\w+) = (.+)$", "\n".join(code[:start]), re.MULTILINE))
    named = [a for a in aliases if re.search(rf"{a}\b", "\n".join(used))]
    return "".join(f"{a} = {aliases[a]}\n" for a in named) + "\n".join(used) + "\n"


def document() -> str:
    """The whole file."""
    return _INTRODUCTION + "".join((*_parameters(), *_attributes(), *_ops()))


if __name__ == "__main__":
    sys.exit(write_or_check(__file__, __doc__ or "", document))
