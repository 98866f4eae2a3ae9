"""LLVM IR of loops, written one instruction at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Text:
    """A function's text; its variables are `alloca`s, which LLVM turns into registers."""

    def __init__(self, head: str) -> None:
        self.head = head
        self.slots: list[str] = []
        self.lines: list[str] = []
        self._names = 0

    def _new(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def value(self, text: str) -> str:
        """The name of a new value."""
        name = self._new("%t")
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        """An instruction without a value."""
        self.lines.append(text)

    def at(self, pointer: str, offset: str | int) -> str:
        """A pointer so many bytes further."""
        return self.value(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def load(self, pointer: str, offset: str | int = 0, type_: str = "i64") -> str:
        """What lies there."""
        return self.value(f"load {type_}, ptr {self.at(pointer, offset)}")

    def store(self, type_: str, value: str | int, pointer: str, offset: str | int = 0) -> None:
        """Write it there."""
        self.do(f"store {type_} {value}, ptr {self.at(pointer, offset)}")

    def is_(self, how: str, a: str, b: str | int, type_: str = "i64") -> str:
        """A comparison of integers."""
        return self.value(f"icmp {how} {type_} {a}, {b}")

    def op(self, how: str, a: str | int, b: str | int) -> str:
        """A binary instruction on 64 bits."""
        return self.value(f"{how} i64 {a}, {b}")

    def variable(self, initial: str | int = 0) -> str:
        """A variable of 64 bits, as a pointer."""
        name = self._new("%var")
        self.slots.append(f"{name} = alloca i64")
        self.do(f"store i64 {initial}, ptr {name}")
        return name

    def label(self, name: str) -> None:
        """Begin a block to which the last one leads."""
        self.do(f"br label %{name}")
        self.do(f"{name}:")

    @contextmanager
    def loop(self, count: str | int) -> Iterator[str]:
        """Do what follows so often; gives the number of the turn."""
        index = self.variable()
        head, body, end = (self._new(n) for n in ("head", "body", "end"))
        self.label(head)
        now = self.value(f"load i64, ptr {index}")
        more = self.is_("ult", now, count)
        self.do(f"br i1 {more}, label %{body}, label %{end}")
        self.do(f"{body}:")
        yield now
        self.do(f"store i64 {self.op('add', now, 1)}, ptr {index}")
        self.do(f"br label %{head}")
        self.do(f"{end}:")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Do what follows if a condition holds."""
        then, end = self._new("then"), self._new("endif")
        self.do(f"br i1 {condition}, label %{then}, label %{end}")
        self.do(f"{then}:")
        yield
        self.label(end)

    def leave(self, value: str | int) -> None:
        """Return, in what `when` does."""
        self.do(f"ret i64 {value}")
        self.do(f"{self._new('after')}:")

    def end(self) -> str:
        """The text."""
        inside = "\n  ".join((*self.slots, *self.lines))
        return f"{self.head} {{\nbegin:\n  {inside}\n}}\n"
