"""What a loop of the kernel hands from turn to turn."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tilec.isa import TilecError

from .block_end import VALUE
from .dtypes import DType
from .errors import KernelError
from .liveness import assigned
from .scope import Scope
from .tile import Tile
from .yielded import (
    Undefined,
    as_scalar,
    by_leaf,
    convert_to,
    have_same_form,
    is_number,
    is_same,
    leaves,
    with_own_lists,
    zeros_like,
)


class RetypedError(Exception):
    """A number that the loop starts with is of another type at a turn's end."""

    def __init__(self, at: int, dtype: type[DType]) -> None:
        self.at = at
        self.dtype = dtype


class LoopValues:
    """The names that a loop hands from turn to turn, and their values before it."""

    def __init__(self, scope: Scope, node: ast.For | ast.While) -> None:
        self._node = node
        self._scope = scope
        self.assigned = assigned(
            [*node.body, node.target if isinstance(node, ast.For) else node.test]
        )
        live = self.assigned & scope.source.liveness.entry(node)
        if isinstance(node, ast.For):
            live -= assigned([node.target]) - scope.source.liveness.after(node)
        self.start = {
            name: scope.names[name]
            for name in _in_order(live, node)
            if name in scope.names and not isinstance(scope.names[name], Undefined)
        }
        self._numbers: dict[int, type[DType]] = {}
        self._lists = {
            name: scope.names[name]
            for name in scope.source.local
            if name not in self.assigned and isinstance(scope.names.get(name), list)
        }

    def hold_result(self) -> None:
        """Begin with some value of the type of what a turn returns."""
        if VALUE not in self.start:
            self.start[VALUE] = zeros_like(self._scope.names[VALUE])

    def retype(self, error: RetypedError) -> None:
        """Begin with a number as another type."""
        if error.at in self._numbers:
            raise TilecError(
                "a number changes its type in every iteration; cast it before the loop"
            )
        self._numbers[error.at] = error.dtype

    def _leaves(self) -> list[Any]:
        return [leaf for value in self.start.values() for leaf in leaves(value)]

    def initial(self) -> list[Tile]:
        """The values before the first turn that the op takes."""
        return [
            as_scalar(leaf, self._numbers.get(at))
            for at, leaf in enumerate(self._leaves())
            if isinstance(leaf, Tile) or is_number(leaf)
        ]

    def bound(self, values: Sequence[Any], like: Sequence[Tile]) -> dict[str, Any]:
        """The names' values, of what the op hands on."""
        tiles = (Tile(v, t.dtype, t.shape) for v, t in zip(values, like, strict=True))

        def at_turn(leaf: Any) -> Any:
            return next(tiles) if isinstance(leaf, Tile) or is_number(leaf) else leaf

        found = {name: by_leaf(at_turn, value) for name, value in self.start.items()}
        return found | with_own_lists(self._lists, self._lists)

    def final(self, names: dict[str, Any], begun: list[Tile]) -> list[Tile]:
        """The values at the end of a turn that the op hands on.

        Raises:
            TilecError: for one that is not of the type that it was before.
            RetypedError: for one that was a number before.
        """
        where = f"in the loop at line {self._node.lineno}"
        for name, value in self._lists.items():
            if not _is_unchanged(value, names[name]):
                raise TilecError(
                    f"'{name}' changes {where}: assign a new list to a variable instead"
                )
        found: list[Tile] = []
        types = iter(begun)
        at = 0
        for name, value in self.start.items():
            end = names[name]
            if isinstance(end, Undefined):
                raise TilecError(end.reason)
            if not have_same_form(value, end):
                raise TilecError(f"'{name}' is {end!r} {where}, where it was {value!r}")
            for before, after in zip(leaves(value), leaves(end), strict=True):
                if isinstance(before, Tile) or is_number(before):
                    like = next(types)
                    self._check_number(at, before, after, like)
                    found.append(self._convert(after, like, name))
                elif not is_same(before, after):
                    raise TilecError(
                        f"'{name}' is {after!r} {where}, where it was {before!r}: only "
                        "tiles and numbers may change from iteration to iteration"
                    )
                at += 1
        return found

    def _convert(self, value: Any, like: Tile, name: str) -> Tile:
        try:
            return convert_to(value, like, name, f"in the loop at line {self._node.lineno}")
        except TilecError as error:
            stores = (
                n
                for part in self._node.body
                for n in ast.walk(part)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            )
            last = max(stores, key=lambda n: (n.lineno, n.col_offset))
            raise KernelError(self._scope.place(last), str(error)) from None

    def _check_number(self, at: int, before: Any, after: Any, like: Tile) -> None:
        if not is_number(before):
            return
        if isinstance(after, float) and like.dtype.kind != "float":
            raise RetypedError(at, as_scalar(after).dtype)
        if isinstance(after, Tile) and not after.shape and after.dtype is not like.dtype:
            raise RetypedError(at, after.dtype)

    def assign(self, values: dict[str, Any]) -> None:
        """Give the names what they are after the loop."""
        where = f"in the loop at line {self._node.lineno}"
        for name in self.assigned:
            self._scope.names[name] = Undefined(
                f"'{name}' gets its value {where}, which may run no iterations: give it one before"
            )
        self._scope.names |= values


def _is_unchanged(one: Any, other: Any) -> bool:
    return have_same_form(one, other) and all(map(is_same, leaves(one), leaves(other)))


def _in_order(names: frozenset[str], node: ast.For | ast.While) -> list[str]:
    """Names in the order in which a loop first assigns them."""
    places: dict[str, tuple[int, int]] = {}
    for found in ast.walk(node):
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            place = found.lineno, found.col_offset
            places[found.id] = min(place, places.get(found.id, place))
    return sorted(names, key=places.__getitem__)
