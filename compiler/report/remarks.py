"""The passes' remarks as LLVM's tools read them, and those that only the binary allows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING

from tilec.isa import Target, TilecError
from tilec.isa.wording import counted
from tilec.launch.occupancy import Limit, occupancy
from tilec.passes.base import Diagnostic, RemarkKind

from .diagnostics import SOURCE, Source, place
from .selection import chosen

__all__ = ["chosen", "occupancy_remarks", "resident", "to_yaml"]

if TYPE_CHECKING:
    from tilec.backend.cubin import Resources
    from tilec.compiled import Compiled


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
        Limit.REGISTERS: f"{counted(used.registers, 'register')} per thread",
        Limit.SHARED: f"{counted(shared, 'byte')} of shared memory per CTA",
        Limit.CTAS: f"{target.ctas_per_sm} CTAs",
    }
    return (
        f"{kernel}: an SM of {target} holds {counted(found.ctas, 'CTA')} of "
        f"{counted(threads, 'thread')}, "
        f"{found.warps} of its {counted(target.warps_per_sm, 'warp')}; limited by "
        f"{' and '.join(limits[limit] for limit in found.limits)}"
    )
