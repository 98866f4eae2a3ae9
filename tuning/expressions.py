"""Integer expressions over parameters and problem sizes, as search spaces write them.

    BM * BN // (32 * warps) <= 128
    cdiv(n, BN), cdiv(m, BM)

Python's syntax and precedence: `+ - * // % **`, comparisons, `and or not`, `in (1, 2)`, `a if c
else b`, and the functions `min`, `max`, `abs` and `cdiv`, which rounds up. Nothing else of Python
is there, so that a space from a file runs no code of its author's.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .errors import TuningError

Value = int | tuple[int, ...]

_MOST_BITS = 256
"""Beyond, a number is taken for a mistake before it takes all memory."""


def cdiv(dividend: int, divisor: int) -> int:
    """The quotient, rounded up."""
    return -(-dividend // divisor)


def _power(base: int, exponent: int) -> int:
    if exponent < 0 or exponent * max(base.bit_length(), 1) > _MOST_BITS:
        raise OverflowError(f"{base} ** {exponent} is not an integer of at most {_MOST_BITS} bits")
    return int(base**exponent)


_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"abs": abs, "cdiv": cdiv, "max": max, "min": min}


@dataclass(frozen=True)
class Expression:
    """An expression, read.

    Attributes:
        text: as it was written.
        tree: what it says.
    """

    text: str
    tree: ast.expr

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters and sizes that it reads."""
        found = (n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name))
        return frozenset(found) - _FUNCTIONS.keys()

    @property
    def parts(self) -> tuple[str, ...]:
        """The expressions of a list, as text; of one expression it alone."""
        items = self.tree.elts if isinstance(self.tree, ast.Tuple) else (self.tree,)
        return tuple(map(ast.unparse, items))

    def value(self, names: Mapping[str, int]) -> Value:
        """What it is worth.

        Args:
            names: values of what it reads.

        Raises:
            TuningError: for a division by zero, a name without value, and numbers that are huge.
        """
        try:
            return _value(self.tree, names)
        except KeyError as error:
            raise TuningError(f"`{self.text}` reads {error.args[0]}, which has no value") from None
        except (ArithmeticError, TypeError, ValueError) as error:
            raise TuningError(f"`{self.text}` cannot be computed: {error}") from None

    def integer(self, names: Mapping[str, int]) -> int:
        """What it is worth, an integer.

        Raises:
            TuningError: as `value`, and for a list.
        """
        found = self.value(names)
        if isinstance(found, tuple):
            raise TuningError(f"`{self.text}` is a list, not an integer")
        return int(found)

    def __str__(self) -> str:
        return self.text


def parse(text: str, place: str = "") -> Expression:
    """Read an expression.

    Args:
        text: the expression.
        place: where it stands, for what is wrong with it.

    Raises:
        TuningError: for what is none.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise TuningError(f"`{text}` is not an expression: {said}", place) from None
    _check(tree, text, place)
    return Expression(text.strip(), tree)


def _check(node: ast.expr, text: str, place: str) -> None:
    """Refuse what an expression cannot have."""
    match node:
        case ast.Constant(value=int()) | ast.Name():
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            parts = [operand]
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            pass
        case ast.Compare(left=left, ops=ops, comparators=others):
            if not all(type(op) in _COMPARISONS or isinstance(op, ast.In) for op in ops):
                raise TuningError(
                    f"`{text}` has a comparison other than <, <=, ==, !=, >=, > and in", place
                )
            parts = [left, *others]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            parts = [test, body, orelse]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            pass
        case _:
            what = ast.unparse(node)
            legal = "integers, names, + - * // % **, comparisons, and, or, not, if, "
            legal += ", ".join(sorted(_FUNCTIONS))
            raise TuningError(f"`{text}` has `{what}`; legal: {legal}", place)
    for part in parts:
        _check(part, text, place)


def _value(node: ast.expr, names: Mapping[str, int]) -> Value:
    match node:
        case ast.Constant(value=int(found)):
            return found
        case ast.Name(id=name):
            return names[name]
        case ast.Tuple(elts=elts):
            return tuple(_integer(one, names) for one in elts)
        case ast.BinOp(left=left, op=binary, right=right):
            found = _BINARY[type(binary)](_integer(left, names), _integer(right, names))
            if found.bit_length() > _MOST_BITS:
                raise OverflowError(f"more than {_MOST_BITS} bits")
            return found
        case ast.UnaryOp(op=unary, operand=operand):
            return int(_UNARY[type(unary)](_integer(operand, names)))
        case ast.BoolOp(op=ast.And(), values=values):
            return int(all(_integer(one, names) for one in values))
        case ast.BoolOp(values=values):
            return int(any(_integer(one, names) for one in values))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _integer(test, names) else orelse, names)
        case ast.Call(func=ast.Name(id=name), args=args):
            return int(_FUNCTIONS[name](*(_integer(one, names) for one in args)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            return int(_compared(left, ops, others, names))
    raise TypeError(ast.unparse(node))


def _compared(
    left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], names: Mapping[str, int]
) -> bool:
    before = _value(left, names)
    for op, other in zip(ops, others, strict=True):
        value = _value(other, names)
        if isinstance(op, ast.In):
            holds = before in (value if isinstance(value, tuple) else (value,))
        elif isinstance(before, tuple) or isinstance(value, tuple):
            raise TypeError("lists can only be compared by `in`")
        else:
            holds = _COMPARISONS[type(op)](before, value)
        if not holds:
            return False
        before = value
    return True


def _integer(node: ast.expr, names: Mapping[str, int]) -> int:
    found = _value(node, names)
    if isinstance(found, tuple):
        raise TypeError(f"`{ast.unparse(node)}` is a list")
    return found
