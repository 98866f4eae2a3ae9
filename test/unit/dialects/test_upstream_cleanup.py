"""Upstream's clean-up on programs with tile ops: what threads execute together stays where it is.

Each op of the dialect's lit tests is put where `cse` could merge it with its twin, `canonicalize`
could drop it, `control-flow-sink` could move it into a branch of single lanes and
`loop-invariant-code-motion` out of a loop that runs no round. Only ops that each lane executes for
itself, without effects, may be touched.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tilec import dialects
from tilec.dialects.tile import ops
from tilec.ir.assembly import to_generic
from tilec.ir.mlir import ir, passmanager

FOLDER = Path(__file__).parents[2] / "lit" / "dialect"
LANES_OWN = {
    f"tile.{name}"
    for name in (
        *("broadcast", "expand", "reshape", "transpose", "iota", "fill"),
        *("cast", "concat", "elementwise", "select", "slice", "wmma_elementwise", "wmma_fill"),
        *("accumulator", "inline_asm", "join_warps", "warp_part"),
    )
}
CLEAN_UP = ("cse", "canonicalize", "loop-invariant-code-motion", "control-flow-sink")
NAMES = [getattr(ops, n).OPERATION_NAME for n in ops.__all__ if n.endswith("Op")]


def _programs(name: str) -> list[str]:
    """The programs of the dialect's lit tests with an op."""
    files = (f for f in sorted(FOLDER.glob("*.mlir")) if "invalid" not in f.name)
    texts = (text for file in files for text in file.read_text().split("// -----"))
    used = re.compile(rf'^ *(%.* = )?"?{name}(?![\w.])', re.MULTILINE)
    return [text for text in texts if used.search(text)]


def _walk(op: ir.OpView) -> list[ir.OpView]:
    inner = [i for region in op.regions for block in region for i in block]
    return [one for i in inner for one in (i, *_walk(i))]


def _surround(op: ir.OpView) -> None:
    """Put twins of an op beside it, before a branch and in a loop."""
    i1, index = ir.IntegerType.get_signless(1), ir.IndexType.get()
    with ir.InsertionPoint(op):
        lane = ir.Operation.create("acme.lane", results=[i1]).result
        bounds = [ir.Operation.create("acme.bound", results=[index]).result for _ in range(3)]
        twin, sunk = op.operation.clone(), op.operation.clone()
        if len(op.results):
            ir.Operation.create("acme.use", operands=list(twin.results))
        branch = ir.Operation.create("scf.if", operands=[lane], regions=2)
        block = branch.regions[0].blocks.append()
        with ir.InsertionPoint(block):
            ir.Operation.create("acme.use", operands=list(sunk.results))
            ir.Operation.create("scf.yield")
        loop = ir.Operation.create("scf.for", operands=bounds, regions=1)
        body = loop.regions[0].blocks.append(index)
        with ir.InsertionPoint(body):
            inside = op.operation.clone()
            ir.Operation.create("acme.use", operands=list(inside.results))
            ir.Operation.create("scf.yield")


def _parents(module: ir.Module, name: str) -> list[str]:
    """The op around each op called `name`, in program order."""
    found = (op.operation for op in _walk(module.operation))
    return [op.parent.name for op in found if op.name == name]


@pytest.mark.parametrize("name", NAMES)
def test_clean_up(name: str) -> None:
    tried = 0
    for text in _programs(name):
        with ir.Context() as context, ir.Location.unknown():
            dialects.load(context)
            context.allow_unregistered_dialects = True
            module = ir.Module.parse(to_generic(text).text)
            found = [op for op in _walk(module.operation) if op.operation.name == name]
            # Of one kind of function one op: the passes find no more with several.
            for op in found[:1]:
                _surround(op)
                tried += 1
                assert module.operation.verify()
                before = _parents(module, name)
                for one in CLEAN_UP:
                    passmanager.PassManager.parse(f"builtin.module({one})").run(module.operation)
                after = _parents(module, name)
                if name in LANES_OWN:
                    assert len(after) <= len(before) - 2, "upstream does not know it as pure"
                else:
                    assert after == before
    assert tried
