"""What a program's kernels need, as a table of HTML."""

from __future__ import annotations

from html import escape

from tilec.backend.external_tools import AssemblerError

from .explored import Explored


def summary(compiled: Explored) -> str:
    """HTML for a notebook: the kernels, and the PTX to unfold."""
    return (
        f"<div>{kernel_table(compiled)}<details><summary>PTX, {compiled.target}</summary>"
        f"<pre>{escape(compiled.ptx)}</pre></details></div>"
    )


def kernel_table(compiled: Explored) -> str:
    """HTML of what each kernel is launched with, and what ptxas gives it where it can."""
    try:
        used = compiled.resources
    except AssemblerError:
        used = {}
    heads = ["kernel", "threads", "shared memory"]
    if used:
        heads += ["registers", "spilled", "stack", "barriers"]
    rows = [_row("th", heads)]
    for kernel in compiled.kernels:
        cells = [kernel.name, _threads(kernel.block)]
        static = used[kernel.name].static_shared if used else 0
        cells.append(_bytes(static + kernel.dynamic_shared))
        if used:
            of = used[kernel.name]
            spilled = _bytes(of.spill_stores + of.spill_loads)
            cells += [str(of.registers), spilled, _bytes(of.stack), str(of.barriers)]
        rows.append(_row("td", cells))
    return f"<table>{''.join(rows)}</table>"


def _row(tag: str, cells: list[str]) -> str:
    return "".join(("<tr>", *(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells), "</tr>"))


def _threads(block: tuple[int, int, int] | None) -> str:
    return " × ".join(map(str, block)) if block else "any"


def _bytes(count: int) -> str:
    if count and count % 1024 == 0:
        return f"{count // 1024} KiB"
    return f"{count} B"
