"""Upstream's passes: runs of them as one `PassManager`, and what upstream calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from tilec.ir.mlir import ir, passmanager

from .pass_options import unknown_pass
from .pipeline_text import MODULE, Element, PipelineError, join, parse_pipeline

_RESTRICTED = re.compile(r"Can't add pass '([^']+)' restricted to '([^']+)'")
_BANNER = re.compile(r"IR Dump Before (\S+?):? ")


def report_statistics(of: passmanager.PassManager) -> None:
    """Have upstream print on standard error what its passes counted, when they have run."""
    of.enable_statistics(passmanager.PassDisplayMode.LIST)


def manager(anchor: str, elements: Sequence[Element]) -> passmanager.PassManager:
    """What runs `elements` on an op called `anchor`.

    Elements that may be are nested in the ops that they work on.

    Raises:
        PipelineError: if upstream refuses them.
        UnknownPassError: if one of them is not a pass of upstream's.
    """
    try:
        return _parse(anchor, elements)
    except ValueError as error:
        if not any(element.implicit for element in elements):
            raise _explained(elements, str(error)) from None
    nested = list(_nested(anchor, elements))
    try:
        return _parse(anchor, nested)
    except ValueError as error:
        raise _explained(nested, str(error)) from None


def _parse(anchor: str, elements: Sequence[Element]) -> passmanager.PassManager:
    text = join(elements)
    if not text.isascii() and not _is_text(text):
        raise PipelineError("the pipeline contains a lone surrogate")
    made = passmanager.PassManager.parse(f"{anchor}({text})")
    made.enable_verifier(False)
    return made


def _is_text(text: str) -> bool:
    """Whether a text has no halves of characters, which the bindings do not take."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def nested(anchor: str, element: Element) -> Element:
    """An element as a pipeline on `anchor` has it: inside what it works on, if it may be."""
    (found,) = _nested(anchor, [element])
    return found


def _nested(anchor: str, elements: Sequence[Element]) -> Iterator[Element]:
    """The elements, those that may be nested inside the op that upstream restricts them to."""
    for element in elements:
        restricted = _restricted(anchor, element) if element.implicit else None
        yield Element(restricted[1], inside=(element,)) if restricted else element


def _restricted(anchor: str, element: Element) -> tuple[str, str] | None:
    """Class and op of a pass that upstream refuses on `anchor`, as it works on another op."""
    try:
        _parse(anchor, [element])
    except ValueError as error:
        found = _RESTRICTED.search(str(error))
        return (found[1], found[2]) if found else None
    return None


def expanded(anchor: str, element: Element) -> tuple[Element, ...]:
    """What an element stands for, which may be the name of a pipeline: passes with all options."""
    text = str(manager(anchor, [element]))
    return parse_pipeline(text.partition("(")[2].rpartition(")")[0])


@cache
def class_name(name: str) -> str:
    """The name of an upstream pass's class.

    Upstream says it where it refuses a pass on the wrong op, and where it prints.
    """
    from pathlib import Path  # noqa: PLC0415 (only where IR is printed)
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    element = Element(name)
    context = ir.Context()
    with context, ir.Location.unknown(), TemporaryDirectory() as folder:
        if found := _restricted(MODULE, element):
            return found[0]
        nothing = ir.Module.create()
        made = _parse(MODULE, [element])
        made.enable_ir_printing(
            print_before_all=True, print_after_all=False, tree_printing_dir_path=folder
        )
        context.enable_multithreading(False)
        made.run(nothing.operation)
        for file in sorted(Path(folder).rglob("*.mlir")):
            if banner := _BANNER.search(file.read_text(encoding="utf-8")):
                return banner[1]
    return name


def _explained(elements: Sequence[Element], reason: str) -> PipelineError:
    """Upstream's refusal of `elements`, in one line."""
    for element in elements:
        for one in element.single():
            name = one.innermost.name
            if f"'{name}' does not refer to a registered pass" in reason:
                return unknown_pass(name)
    first = next((line for line in reason.splitlines() if line.strip()), reason)
    return PipelineError(f"pipeline '{join(elements)}': {first.strip()}")
