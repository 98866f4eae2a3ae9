"""What code reads from outside, as it is written there: `config.tile[0]`, `import a; a.b`."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Name(NamedTuple):
    """A name from outside of a function.

    Attributes:
        name: the name.
        cell: whether it is one of an enclosing function, not a global.
    """

    name: str
    cell: bool = False

    def __str__(self) -> str:
        return self.name


class Import(NamedTuple):
    """A module as a statement names it.

    Attributes:
        module: its name, dotted.
        level: packages to go up, for a relative one.
        names: those that are imported from it.
        leaf: whether it stands for `a.b` of `import a.b`, not for `a`.
    """

    module: str
    level: int
    names: tuple[str, ...]
    leaf: bool

    def __str__(self) -> str:
        return f"import {'.' * self.level}{self.module}"


class Step(NamedTuple):
    """A part of a path: an attribute, an item by a constant, or a call with constants."""

    kind: Literal["attribute", "item", "call"]
    key: Any

    def __str__(self) -> str:
        if self.kind == "attribute":
            return f".{self.key}"
        if self.kind == "item":
            return f"[{self.key!r}]"
        return f"({', '.join(map(repr, self.key))})"


class Path(NamedTuple):
    """A name from outside, or a module that is imported, and what is taken of it at once."""

    root: Name | Import
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return str(self.root) + "".join(map(str, self.steps))

    def then(self, step: Step) -> Path:
        """The path with another step."""
        return self._replace(steps=(*self.steps, step))
