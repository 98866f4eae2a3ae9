"""What an op's class declares that its format speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tilec.ir.mlir import ext

from .cursor import Piece
from .op_text import OpText, Tail, Unfit

_COMMENT = re.compile(r"//[^\n]*")
_SIZES = re.compile(r"array<i32(?::([\d\s,]*))?>")
OPERAND_SIZES = "operandSegmentSizes"
RESULT_SIZES = "resultSegmentSizes"


class Group(NamedTuple):
    """An operand, result or region that a class declares.

    Attributes:
        name: its name.
        single: whether it is one value, not none or several.
    """

    name: str
    single: bool


class Signature(NamedTuple):
    """An op's operands, results and regions, in their order, and what is known of its types.

    Attributes:
        name: the op's.
        units: names of attributes that have no value.
        inferred: types that need not be said, by operand or result: a type, or `$other`.
        operand_names: the names of its operands.
    """

    name: str
    operands: Sequence[Group]
    results: Sequence[Group]
    regions: Sequence[Group]
    units: frozenset[str]
    inferred: Mapping[str, str]
    operand_names: frozenset[str]

    @classmethod
    def of(cls, op: type[ext.Operation]) -> Signature:
        """That of a class."""
        operands, _, results, regions = ext.partition_fields(op._fields)
        single = ext.Variadicity.single
        return cls(
            op.OPERATION_NAME,
            [Group(o.name, o.variadicity is single) for o in operands],
            [Group(r.name, r.variadicity is single) for r in results],
            [Group(r.name, r.variadicity is single) for r in regions],
            getattr(op, "UNITS", frozenset()),
            getattr(op, "inferred_types", {}),
            frozenset(operand.name for operand in operands),
        )

    def kind(self, name: str) -> str:
        """`operand`, `result` or `region`; of any other name `attribute`."""
        for kind, groups in (
            ("operand", self.operands),
            ("result", self.results),
            ("region", self.regions),
        ):
            if any(group.name == name for group in groups):
                return kind
        return "attribute"

    def inferred_types(self, op: OpText, name: str, count: int) -> list[Piece] | None:
        """The types that operand or result `name` has where none are said; None if unknown.

        Args:
            op: the op.
            name: of an operand or result.
            count: of its values, where the rule does not tell it.
        """
        rule = self.inferred.get(name)
        if rule is None:
            return None
        if not rule.startswith("$"):
            return [Piece(rule)] * count
        other = rule[1:]
        known = op.types.get(other)
        if known is None:
            return self.inferred_types(op, other, count)
        # Not at their places a second time, nor on several lines.
        same = [Piece(" ".join(_COMMENT.sub("", one.text).split("\n"))) for one in known]
        singles = {group.name: group.single for group in (*self.operands, *self.results)}
        return same if singles[name] == singles[other] else same[:1] * count

    def complete(self, op: OpText) -> str | None:
        """Give `op` the types that were not said; the name of one that nobody knows."""
        types = op.types
        for group in (*self.operands, *self.results):
            if group.name in types:
                continue
            count = len(op.operands.get(group.name, ())) if group in self.operands else 1
            found = self.inferred_types(op, group.name, count)
            may_lack = group in self.results and not group.single
            if found is None and count and not may_lack:
                return group.name
            types[group.name] = found or []
        self._add_sizes(op)
        return None

    def _add_sizes(self, op: OpText) -> None:
        for groups, name, given in (
            (self.operands, OPERAND_SIZES, op.operands),
            (self.results, RESULT_SIZES, op.types),
        ):
            if len(groups) > 1 and _sized(groups) and name not in op.attributes:
                sizes = ", ".join(str(len(given.get(group.name, ()))) for group in groups)
                op.set_attribute(Piece(name), Piece(f"array<i32: {sizes}>"))

    def divide(self, count: int, tail: Tail) -> OpText:
        """The op of a tail; its operands are `count` placeholders.

        Raises:
            Unfit: if it has not what the class declares.
        """
        op = OpText(properties=tail.properties)
        for key, value in tail.attributes:
            op.set_attribute(key, value)
        values = [Piece(f"\0{number}\0") for number in range(count)]
        if op.repeated or len(tail.inputs) != count or len(tail.regions) < len(self.regions):
            raise Unfit(self.name)
        sizes = _sizes(self.operands, count, op.attributes, OPERAND_SIZES)
        op.operands = dict(_shared_out(self.operands, sizes, values))
        op.types = dict(_shared_out(self.operands, sizes, tail.inputs))
        sizes = _sizes(self.results, len(tail.outputs), op.attributes, RESULT_SIZES)
        op.types |= _shared_out(self.results, sizes, tail.outputs)
        sizes = _sizes(self.regions, len(tail.regions), {}, "")
        op.regions = dict(_shared_out(self.regions, sizes, tail.regions))
        return op


def _sized(groups: Sequence[Group]) -> bool:
    """Whether ops carry the sizes of such groups."""
    return sum(not group.single for group in groups) > 1


def _sizes(
    groups: Sequence[Group], count: int, attributes: dict[str, Piece | None], name: str
) -> list[int]:
    if _sized(groups):
        value = attributes.pop(name, None)
        found = _SIZES.fullmatch(value.text) if value else None
        sizes = [int(n) for n in (found[1] or "").split(",") if n.strip()] if found else []
    else:
        several = count - sum(group.single for group in groups)
        sizes = [1 if group.single else several for group in groups]
    if len(sizes) != len(groups) or sum(sizes) != count or any(size < 0 for size in sizes):
        raise Unfit(name)
    return sizes


def _shared_out(
    groups: Sequence[Group], sizes: Sequence[int], parts: Sequence[Piece]
) -> list[tuple[str, list[Piece]]]:
    found, at = [], 0
    for group, size in zip(groups, sizes, strict=True):
        found.append((group.name, list(parts[at : at + size])))
        at += size
    return found
