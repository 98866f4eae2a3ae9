"""Replacing one value by several, through structured control flow.

MLIR's Python bindings have no 1:N type conversion, so the passes that take tiles apart share
this one: it walks a function in order, lets a handler rewrite each op, and rebuilds the
`scf` ops that carry such values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from tilec.dialects.semantics import LayoutRule, control_flow, layout_rule
from tilec.dialects.semantics.control import last_of
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.aliases import Block, Op, Type, Value
from tilec.ir.creation import emit
from tilec.ir.mlir import ir
from tilec.ir.ops import builtin
from tilec.isa import TilecError

from ..base import Diagnostic, PassError

Values: TypeAlias = list[Value]
Handler: TypeAlias = Callable[[ir.OpView, "Expansion"], Sequence[Values] | None]
"""Emits what replaces an op, before it, and returns the values that replace each result.

None says that the op is none of the handler's business and stays.
"""
T = TypeVar("T", bound=TileOp)


def lowers(
    op: type[T], handler: Callable[[T, Expansion], Sequence[Values] | None]
) -> tuple[str, Handler]:
    """The entry of a mapping of handlers for the ops of one class."""
    return op.OPERATION_NAME, cast("Handler", handler)


class Expansion:
    """One run over one function.

    Args:
        expand: the types that replace a type, or None for a type that stays.
        handlers: by op name. An op without one may not touch a type that does not stay.
    """

    def __init__(
        self, expand: Callable[[Type], list[Type] | None], handlers: Mapping[str, Handler]
    ) -> None:
        self._expand = expand
        self._handlers = handlers
        self._values: dict[Value, Values] = {}
        self._kept: set[Type] = set()
        self._dead: list[Op] = []
        self._errors: list[Diagnostic] = []

    def run(self, function: Op) -> None:
        """Rewrite the body of `function`.

        Raises:
            PassError: where a handler finds an error, or an op cannot take what it is given.
        """
        self._check_arguments(function)
        for region in function.regions:
            for block in region:
                self._block(block)
        if self._errors:
            raise PassError(self._errors)
        for op in reversed(self._dead):
            op.erase()

    def _check_arguments(self, function: Op) -> None:
        for argument in function.regions[0].blocks[0].arguments:
            with function.location:
                try:
                    if self._expand(argument.type) is None:
                        continue
                    reason = (
                        f"cannot take an argument of type {argument.type}; "
                        "legal: memrefs in global memory, and scalars"
                    )
                except TilecError as error:
                    reason = str(error)
            message = f"'{function.operation.name}' op {reason}"
            raise PassError([Diagnostic(function.location, message)])

    def values(self, value: Value) -> Values:
        """What replaces `value`: itself, if its type stays."""
        found = self._values.get(value)
        return [value] if found is None else found

    def all(self, values: Iterable[Value]) -> Values:
        """What replaces each of these values, one after the other."""
        known = self._values
        found: Values = []
        for value in values:
            new = known.get(value)
            if new is None:
                found.append(value)
            else:
                found += new
        return found

    def one(self, value: Value) -> Value:
        """What replaces `value` where it is one value."""
        (found,) = self.values(value)
        return found

    def _block(self, block: Block) -> None:
        for op in list(block.operations):
            name = op.operation.name
            handler = self._handlers.get(name)
            try:
                if handler is None and self._stays(op):  # most ops; nothing is emitted for them
                    self._keep_whole(op, name)
                    continue
                with ir.InsertionPoint(op), op.location:
                    results = None if handler is None else handler(op, self)
                    if results is None:
                        self._keep(op, name)
                    else:
                        self._replace(op, results)
            except PassError as error:
                self._errors += error.diagnostics
                self._skip(op)
            except TilecError as error:
                self._errors.append(Diagnostic(op.location, f"'{name}' op {error}"))
                self._skip(op)

    def _replace(self, op: Op, results: Sequence[Values]) -> None:
        for result, values in zip(op.results, results, strict=True):
            self._values[result] = values
            if len(values) == 1 and values[0].type == result.type:
                result.replace_all_uses_with(values[0])  # by ops that stay, too
        self._dead.append(op)

    def _keep(self, op: Op, name: str) -> None:
        """Keep an op, or one like it that takes expanded values."""
        if self._stays(op):
            self._keep_whole(op, name)
        elif control_flow(op) is not None:
            self._carrier(op.operation)
        else:
            emit(name, self.all(op.operation.operands))
            self._dead.append(op)

    def _stays(self, op: Op) -> bool:
        """Whether an op without a handler stays as it is, but for what its regions hold."""
        return layout_rule(op) is not LayoutRule.CARRIED or not self._touches(op)

    def _keep_whole(self, op: Op, name: str) -> None:
        self._refuse(op, name)
        for region in op.regions:
            for inner in region:
                self._block(inner)

    def _skip(self, op: Op) -> None:
        """Let what uses an op that failed be rewritten all the same, to find more errors."""
        for result in op.results:
            if result in self._values:
                continue
            with ir.InsertionPoint(op), op.location:
                try:
                    types = self._expand(result.type)
                except TilecError:
                    continue  # reported at the op that failed
                if types is not None:
                    self._values[result] = [builtin.placeholder(t) for t in types]

    def _touches(self, op: Op) -> bool:
        values: Iterable[Value] = (*op.operation.operands, *op.results)
        return any(v in self._values or not self._keeps(v.type) for v in values)

    def _keeps(self, type_: Type) -> bool:
        """Whether a type stays, which most values of a kernel are asked for."""
        if type_ in self._kept:
            return True
        if self._expand(type_) is not None:
            return False
        self._kept.add(type_)
        return True

    def _refuse(self, op: Op, name: str) -> None:
        if name == builtin.UNREALIZED_CAST:
            return
        for value in (*op.operation.operands, *op.results):
            if not self._keeps(value.type):
                raise TilecError(f"cannot be lowered with a value of type {value.type}")

    def _types(self, types: Iterable[Type]) -> list[Type]:
        expanded: list[Type] = []
        for type_ in types:
            found = self._expand(type_)
            expanded += [type_] if found is None else found
        return expanded

    def _carrier(self, old: ir.Operation) -> None:
        """Rebuild an `scf` op with its values expanded; what its blocks hold moves over.

        Operands, arguments and what the terminators hand on correspond from the beginning, since
        handlers ask what a loop carries.
        """
        new = ir.Operation.create(
            old.name,
            results=self._types(r.type for r in old.results),
            operands=self.all(old.operands),
            attributes={a: old.attributes[a] for a in old.attributes},
            regions=len(old.regions),
        )
        self._dead.append(old)  # before what its blocks hold, which may use their arguments
        for source, target in zip(old.regions, new.regions, strict=True):
            for block in source:
                self._move(block, target)
        results = iter(new.results)
        for result in old.results:
            types = self._expand(result.type)
            if types is None:
                result.replace_all_uses_with(next(results))
            else:
                self._values[result] = [next(results) for _ in types]

    def _move(self, old: Block, target: ir.Region) -> None:
        """Move the ops of a block into one with expanded arguments, and rewrite them there."""
        types = self._types(argument.type for argument in old.arguments)
        block = target.blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))
        arguments = iter(block.arguments)
        for argument in old.arguments:
            expanded = self._expand(argument.type)
            if expanded is None:
                argument.replace_all_uses_with(next(arguments))
            else:
                self._values[argument] = [next(arguments) for _ in expanded]
        for op in list(old.operations):
            block.append(op)
        handed = self._hand_on(block)
        self._block(block)
        for each in handed:
            for result, value in zip(each.results, self.values(each.operands[0]), strict=True):
                result.replace_all_uses_with(value)
            self._dead.append(each)

    def _hand_on(self, block: Block) -> list[ir.Operation]:
        """Rebuild a terminator with expanded operands: casts stand for what is not there yet."""
        last = last_of(block)
        casts: list[ir.Operation] = []
        operands: Values = []
        with ir.InsertionPoint(last), last.location:
            for operand in last.operands:
                types = self._expand(operand.type)
                if types is None:
                    operands.append(operand)
                    continue
                casts.append(builtin.stand_for(operand, types))
                operands += casts[-1].results
            if casts:
                emit(last.name, operands, **{a: last.attributes[a] for a in last.attributes})
                last.erase()
        return casts
