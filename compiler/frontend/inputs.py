"""What a compilation begins with: a text, a module, or what builds a module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tilec.report.diagnostics import Source

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


class Built(NamedTuple):
    """A module, and what its front end wants to know again of it.

    Attributes:
        module: the `ir.Module`, nobody else's.
        facts: plain data that JSON can write; `Compiled.facts` has it, from the cache as well.
    """

    module: ir.Module
    facts: Mapping[str, Any] = {}


class Relocation(NamedTuple):
    """How places that are kept with a program follow it where it moves.

    Attributes:
        keep: gives what is kept of a location, which is as MLIR prints it.
        find: gives the location again, in the program as it stands now.
    """

    keep: Callable[[str], str] = str
    find: Callable[[str], str] = str


IN_PLACE = Relocation()
"""Of programs whose places are part of them."""


class Input(Protocol):
    """What a compilation begins with."""

    @property
    def text(self) -> Source | None:
        """The text that it comes from, which messages quote; None if it was built."""
        ...

    @property
    def relocation(self) -> Relocation:
        """How the places of remarks are kept."""
        ...

    def key(self, *, lineinfo: bool) -> tuple[object, ...] | None:
        """All that decides which module it is, as plain data that JSON can write.

        It is asked before the module is built and after: what is built is kept if it is the same.

        Args:
            lineinfo: whether the places of its operations count.

        Returns:
            None if that is unknown, and nothing about it may be kept.
        """
        ...

    def build(self, context: Callable[[], ir.Context]) -> Built:
        """The module.

        Args:
            context: gives the context to build it in, if it is not in one already.

        Raises:
            ProgramError: if it cannot be parsed, or does not verify.
        """
        ...


class TextInput(NamedTuple):
    """MLIR as text."""

    text: Source

    @property
    def relocation(self) -> Relocation:
        """Places are part of it."""
        return IN_PLACE

    def key(self, *, lineinfo: bool) -> tuple[object, ...]:
        """The text, and its name where line information would say it."""
        return ("mlir", self.text.text, self.text.name if lineinfo else "")

    def build(self, context: Callable[[], ir.Context]) -> Built:
        """The text, parsed."""
        from .parsing import parse  # noqa: PLC0415 (imports MLIR)

        return Built(parse(self.text, context()))


class ModuleInput(NamedTuple):
    """An `ir.Module`, which is left as it is.

    Attributes:
        module: the module.
        text: the text that it was parsed from, if it was.
    """

    module: ir.Module
    text: Source | None = None

    @property
    def relocation(self) -> Relocation:
        """Places are part of it."""
        return IN_PLACE

    def key(self, *, lineinfo: bool) -> None:
        """None: another module may say the same otherwise, and nobody prints it to find out."""

    def build(self, context: Callable[[], ir.Context]) -> Built:  # noqa: ARG002
        """A copy, verified."""
        from tilec.ir.modules import clone_module  # noqa: PLC0415 (imports MLIR)
        from tilec.ir.state import holding  # noqa: PLC0415
        from tilec.passes.pipeline import verify  # noqa: PLC0415

        copy = clone_module(self.module)
        with holding(copy.context):
            verify(copy)
        return Built(copy)


class BuilderInput(NamedTuple):
    """A front end that builds a module.

    Attributes:
        builder: builds it, verified, in the context that it is given.
        identity: all that decides what it builds, as plain data that JSON can write, first of all
            the front end's name; None if that is unknown.
        place: where the program is, for line information.
        relocation: how the places of remarks are kept.
    """

    builder: Callable[[ir.Context], Built]
    identity: tuple[object, ...] | None = None
    place: str = ""
    relocation: Relocation = IN_PLACE

    @property
    def text(self) -> None:
        """None: it was built."""

    def key(self, *, lineinfo: bool) -> tuple[object, ...] | None:
        """The identity, and the place where line information would say it."""
        if self.identity is None:
            return None
        return (*self.identity, self.place if lineinfo else "")

    def build(self, context: Callable[[], ir.Context]) -> Built:
        """What the builder builds."""
        return self.builder(context())


_PATH = re.compile(r"[^{}\n]+\.mlir")


def as_input(source: str | Path | ir.Module, name: str = "<string>") -> TextInput | ModuleInput:
    """What users give, as an input.

    Args:
        source: MLIR text, the path of a file of it, or an `ir.Module`. A string is a path if it
            is one line that ends in `.mlir` and has no braces, without which no text is a program.
        name: what messages call a text.

    Raises:
        OSError: if the file cannot be read.
    """
    if isinstance(source, str) and _PATH.fullmatch(source):
        source = Path(source)
    if isinstance(source, Path):
        name, source = str(source), source.read_text(encoding="utf-8")
    return TextInput(Source(name, source)) if isinstance(source, str) else ModuleInput(source)
