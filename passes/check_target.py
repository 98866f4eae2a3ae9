"""`tile-check-target`: every instruction form exists on the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.tiles import bits_of, plain_tile
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute, cluster_size
from tilec.ir.mlir import ir
from tilec.isa import TARGETS, Form, Target, TilecError, form, forms, nearest, target
from tilec.isa.limits import CLUSTERS_SINCE, LARGEST_CLUSTER, PORTABLE_CLUSTER
from tilec.isa.sass import execution, sorts_metadata
from tilec.isa.targets import Available
from tilec.isa.wording import counted

from .base import Pass, walk
from .functions import block_size, functions, gpu_modules, known_target
from .report import Report


@dataclass(frozen=True)
class CheckTarget(Pass):
    """Check that the target has the CTAs, clusters and instruction forms that the program needs.

    A remark marks forms that the target emulates, sparse forms without ordered metadata, and
    clusters that not every GPU of the target supports.

    In and out: any level; the program does not change, except for the `targets` of the
    `gpu.module`s, which the option sets.

    Attributes:
        target: overrides the module's `#nvvm.target`; empty to take that.
    """

    name: ClassVar[str] = "tile-check-target"

    target: str = ""

    def apply(self, module: ir.Module) -> None:
        """Check every `gpu.module`."""
        report = Report()
        for gpu_module in gpu_modules(module):
            with report.at(gpu_module):
                if self.target:
                    set_target(gpu_module, target(self.target))
                _check_ops(gpu_module, known_target(gpu_module), report)
        report.raise_errors()


_UPSTREAM = {"nvvm.griddepcontrol": "griddepcontrol.wait"}
"""Instructions of upstream's ops for which LLVM has no words where the target lacks them."""


def set_target(gpu_module: Op, chosen: Target) -> None:
    """Make `chosen` the module's only target."""
    target_attribute = ir.Attribute.parse(f'#nvvm.target<chip = "{chosen}">')
    gpu_module.attributes["targets"] = ir.ArrayAttr.get([target_attribute])


def _check_ops(gpu_module: Op, chosen: Target, report: Report) -> None:
    """Report what the target lacks, and what it is slow at."""
    for function in functions(gpu_module):
        _check_block(function, chosen, report)
        _check_cluster(function, chosen, report)
    for op in walk(gpu_module):
        _check_tiles(op, chosen, report)
        if isinstance(op, MemoryOp):
            with report.at(op):
                op.check_on(chosen)
        mnemonic = op.mnemonic if isinstance(op, TileOp) else _UPSTREAM.get(op.operation.name)
        if mnemonic is not None:
            with report.at(op):
                _check_instruction(mnemonic, chosen)
                for found in op.needs if isinstance(op, TileOp) else ():
                    _check_available(found, chosen)
        elif isinstance(op, TileOp) and "form" in op.attributes:
            with report.at(op):
                _check_form(op, chosen, report)


def _check_instruction(mnemonic: str, chosen: Target) -> None:
    """Refuse an op whose instruction the target lacks."""
    from tilec.isa.instructions import instructions  # noqa: PLC0415 (for Hopper only)

    _check_available(instructions()[mnemonic], chosen)


def _check_available(found: Available, chosen: Target) -> None:
    if found.min_ptx(chosen) is None:
        raise TilecError(f"{found.ptx} does not exist on {chosen}; it needs {_where(found)}")


def _where(found: Available) -> str:
    return ", ".join(f"{t} (PTX {v})" for t, v in found.targets.items())


def _check_form(op: TileOp, chosen: Target, report: Report) -> None:
    """Report a form that the target lacks; remark on one that it is slow at."""
    found = form(attribute(op, "form", ir.StringAttr).value)
    if found.min_ptx(chosen) is None:
        raise TilecError(
            f"{found.ptx} does not exist on {chosen}; it needs {_where(found)}; "
            f"{_instead(found, chosen)}"
        )
    for message in _remarks(found, chosen):
        report.advise(op, message)


def _check_block(function: Op, chosen: Target, report: Report) -> None:
    """Report if the target has no CTAs as large as the kernel's."""
    size, most = block_size(function), chosen.threads_per_cta
    if size is not None and prod(size) > most:
        report.error(
            function,
            f"known_block_size is of {counted(prod(size), 'thread')}; a CTA of {chosen} has at "
            f"most {most}",
        )


def _check_cluster(function: Op, chosen: Target, report: Report) -> None:
    """Report clusters that the target has not; remark on those that not each GPU has."""
    size = cluster_size(function)
    if size is None:
        return
    written, count = "x".join(map(str, size)), prod(size)
    if chosen.number < CLUSTERS_SINCE:
        report.error(
            function,
            f"has clusters of {counted(written, 'CTA')}; {chosen} has none; sm_{CLUSTERS_SINCE} "
            f"and later have them",
        )
    elif min(size) < 1 or count > LARGEST_CLUSTER:
        report.error(
            function,
            f"has clusters of {written}, {counted(count, 'CTA')}; legal: 1 to {LARGEST_CLUSTER}, "
            "of which "
            f"{PORTABLE_CLUSTER} run on every GPU",
        )
    elif count > PORTABLE_CLUSTER:
        report.advise(
            function,
            f"has clusters of {counted(count, 'CTA')}, which a GPU may not support; up to "
            f"{PORTABLE_CLUSTER} run on every one",
        )


def _check_tiles(op: ir.OpView, chosen: Target, report: Report) -> None:
    """Report tiles that are larger than all registers of an SM."""
    for result in op.results:
        try:
            tile = plain_tile(result.type)
        except TilecError:  # the passes that need tiles say more
            continue
        if tile is None:
            continue
        there, needed = 4 * chosen.registers_per_sm, prod(tile.shape) * bits_of(tile.element) // 8
        if needed > there:
            report.error(
                op,
                f"gives {result.type}, {counted(needed, 'byte')}; the registers of an SM hold "
                f"{there}: take "
                "smaller tiles",
            )


def _remarks(found: Form, chosen: Target) -> Iterator[str]:
    """What is slow about a form on a target."""
    how = execution(found, chosen)
    if how is not None and how.emulated:
        what = f"{how.count} {how.opcode}" if how.count else f"scalar {how.opcode}"
        yield f"{found.ptx} is emulated on {chosen}, by {what}"
    if found.preferred is not None:
        slow = [t.number for t in TARGETS.values() if sorts_metadata(found, t)]
        since = f" (on sm_{min(slow)} and later the plain form sorts it first)" if slow else ""
        order = f"takes metadata in any order; in order, {found.preferred} takes it"
        yield f"{found.ptx} {order}{since}"


def _instead(missing: Form, chosen: Target) -> str:
    legal = [
        f.ptx
        for f in forms().values()
        if f.family is missing.family and f.min_ptx(chosen) is not None
    ]
    if not legal:
        return f"{chosen} has no form of {missing.family}"
    return f"nearest on {chosen}: {', '.join(nearest(missing.ptx, legal, 3)[:3])}"
