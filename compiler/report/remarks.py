"""The passes' remarks as LLVM's tools read them, and those that only the binary allows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING

from tilec.isa import Target, TilecError
from tilec.launch.occupancy import Limit, occupancy
from tilec.passes.base import Diagnostic, RemarkKind

from .diagnostics import SOURCE, Source, place

if TYPE_CHECKING:
    from tilec.backend.cubin import Resources
    from tilec.compiled import Compiled


def chosen(found: Iterable[Diagnostic], wanted: str | None) -> list[Diagnostic]:
    """The remarks to show: advice always, decisions of the passes that are asked for.

    Args:
        found: all remarks; of those that say the same of one place in a kernel the first is kept.
        wanted: a regular expression that finds the passes' names; None for no decisions.
    """
    once: dict[tuple[str, str, str], Diagnostic] = {}
    for one in found:
        once.setdefault((str(one.location), one.message, one.function), one)
    return [
        one
        for one in once.values()
        if not one.decided_by
        or one.advice
        or (wanted is not None and re.search(wanted, one.decided_by))
    ]


def to_yaml(found: Iterable[Diagnostic], source: Source) -> str:
    """The remarks in the format of LLVM's optimisation records, a document a remark.

    LLVM, "Remarks": YAML remarks.
    """
    return "".join("\n".join(_document(one, source)) + "\n" for one in found)


def _document(one: Diagnostic, source: Source) -> Iterator[str]:
    yield f"--- !{one.kind.capitalize()}"
    name = one.decided_by or "tilec"
    yield f"Pass:            {name}"
    words = name.removeprefix("tile-").split("-")
    yield f"Name:            {''.join(word.capitalize() for word in words)}"
    at = place(one.location)
    if at is not None:
        file = json.dumps(source.name if at.file == SOURCE else at.file)
        yield f"DebugLoc:        {{ File: {file}, Line: {at.line}, Column: {at.column} }}"
    yield f"Function:        {json.dumps(one.function or '<unknown function>')}"
    yield "Args:"
    yield f"  - String:          {json.dumps(one.message)}"
    yield "..."


def occupancy_remarks(compiled: Compiled) -> Iterator[Diagnostic]:
    """A remark on each kernel of fixed block size; none where there is no ptxas to ask."""
    try:
        resources = compiled.resources
    except TilecError:
        return
    for kernel in compiled.kernels:
        if kernel.block and kernel.name in resources:
            used, threads = resources[kernel.name], prod(kernel.block)
            text = resident(kernel.name, threads, used, kernel.dynamic_shared, compiled.target)
            yield Diagnostic(
                None,
                text,
                "remark",
                decided_by="ptxas",
                kind=RemarkKind.ANALYSIS,
                function=kernel.name,
            )


def resident(kernel: str, threads: int, used: Resources, dynamic: int, target: Target) -> str:
    """How much of an SM a kernel fills, and what limits that, in a sentence.

    Args:
        kernel: its name.
        threads: of a CTA.
        used: what the assembler reports.
        dynamic: bytes of dynamic shared memory of a CTA.
        target: the target.
    """
    shared = used.static_shared + dynamic
    found = occupancy(threads, used.registers, shared, target)
    limits = {
        Limit.WARPS: "warps",
        Limit.REGISTERS: f"{used.registers} registers a thread",
        Limit.SHARED: f"{shared} bytes of shared memory a CTA",
        Limit.CTAS: f"{target.ctas_per_sm} CTAs",
    }
    return (
        f"{kernel}: an SM of {target} holds {found.ctas} CTAs of {threads} threads, "
        f"{found.warps} of its {target.warps_per_sm} warps; limited by "
        f"{' and '.join(limits[limit] for limit in found.limits)}"
    )
