"""`transform`: scripts of upstream's transformations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..aliases import Value
from ..attributes import i64_attribute
from ..creation import create
from ..mlir import ir


def _any_op() -> ir.Type:
    return ir.Type.parse("!transform.any_op")


@contextmanager
def named_sequence(script: ir.Module, name: str) -> Iterator[Value]:
    """The steps of a script, made inside; gives the op that they begin with, which they keep."""
    script.operation.attributes["transform.with_named_sequence"] = ir.UnitAttr.get()
    kept = ir.DictAttr.get({"transform.readonly": ir.UnitAttr.get()})
    with ir.InsertionPoint(script.body):
        sequence = ir.Operation.create(
            "transform.named_sequence",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([_any_op()], [])),
                "arg_attrs": ir.ArrayAttr.get([kept]),
            },
            regions=1,
        )
    body = sequence.regions[0].blocks.append(_any_op())
    with ir.InsertionPoint(body):
        yield body.arguments[0]
        ir.Operation.create("transform.yield")


def match(root: Value, op: type[ir.OpView], attribute: str) -> ir.OpResult:
    """The ops inside `root` of a class that have a unit attribute."""
    return create(
        "transform.structured.match",
        [root],
        _any_op(),
        ops=ir.ArrayAttr.get([ir.StringAttr.get(op.OPERATION_NAME)]),
        op_attrs=ir.DictAttr.get({attribute: ir.UnitAttr.get()}),
    )


def loop_unroll(loops: Value, factor: int) -> None:
    """Put so many rounds of each loop into one."""
    ir.Operation.create(
        "transform.loop.unroll", operands=[loops], attributes={"factor": i64_attribute(factor)}
    )
