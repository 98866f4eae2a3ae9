"""`tile-check-target`: every instruction form exists on the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from tilec.dialects.tile.ops.atomic import AtomicOp, updates
from tilec.dialects.tile.ops.base import any_tile_of
from tilec.dialects.tile.tiles import bits_of, plain_tile
from tilec.ir.mlir import ir
from tilec.isa import TARGETS, Form, Mma, Target, TilecError, form, forms, nearest, target
from tilec.isa.sass import execution, sorts_metadata

from .base import Diagnostic, Pass, PassError, advise, walk
from .functions import block_size, functions, gpu_modules, known_target


@dataclass(frozen=True)
class CheckTarget(Pass):
    """Check that the target has the CTAs and every instruction form that the program needs.

    It remarks on forms that the target emulates, and on sparse ones without ordered metadata.

    In and out: any level; the program stays, but for `targets` of the `gpu.module`s, which the
    option sets.

    Attributes:
        target: overrides the module's `#nvvm.target`; empty to take that.
    """

    name: ClassVar[str] = "tile-check-target"

    target: str = ""

    def apply(self, module: Any) -> None:
        """Check every `gpu.module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            try:
                if self.target:
                    set_target(gpu_module, target(self.target))
                chosen = known_target(gpu_module)
            except TilecError as error:
                errors.append(Diagnostic(gpu_module.location, f"'gpu.module' op {error}"))
                continue
            errors += check_forms(gpu_module, chosen)
        if errors:
            raise PassError(errors)


def set_target(gpu_module: Any, chosen: Target) -> None:
    """Make `chosen` the module's only target."""
    attribute = ir.Attribute.parse(f'#nvvm.target<chip = "{chosen}">')
    gpu_module.operation.attributes["targets"] = ir.ArrayAttr.get([attribute])


def check_forms(gpu_module: Any, chosen: Target) -> list[Diagnostic]:
    """An error for each op whose form `chosen` lacks; remarks on those that it is slow at."""
    errors = [d for function in functions(gpu_module) for d in _check_block(function, chosen)]
    for op in walk(gpu_module):
        errors += _check_tiles(op, chosen)
        if isinstance(op, AtomicOp):
            errors += _check_update(op, chosen)
        if not op.operation.name.startswith("tile.") or "form" not in op.attributes:
            continue
        found = form(ir.StringAttr(op.attributes["form"]).value)
        if found.min_ptx(chosen) is None:
            where = ", ".join(f"{t} (PTX {v})" for t, v in found.targets.items())
            errors.append(
                Diagnostic(
                    op.location,
                    f"'{op.operation.name}' op {found.ptx} does not exist on {chosen}; "
                    f"it needs {where}; {_instead(found, chosen)}",
                )
            )
            continue
        for message in _remarks(found, chosen):
            advise(op.location, f"'{op.operation.name}' op {message}")
    return errors


def _check_block(function: Any, chosen: Target) -> Iterator[Diagnostic]:
    """An error if the target has no CTAs as large as the kernel's."""
    size, most = block_size(function), chosen.threads_per_cta
    if size is not None and prod(size) > most:
        yield Diagnostic(
            function.location,
            f"'gpu.func' op known_block_size is of {prod(size)} threads; a CTA of {chosen} has at "
            f"most {most}",
        )


def _check_tiles(op: Any, chosen: Target) -> Iterator[Diagnostic]:
    """An error if a tile is larger than all registers of an SM."""
    for result in op.results:
        try:
            tile = plain_tile(result.type)
        except TilecError:  # the passes that need tiles say more
            continue
        if tile is None:
            continue
        there, needed = 4 * chosen.registers_per_sm, prod(tile.shape) * bits_of(tile.element) // 8
        if needed > there:
            yield Diagnostic(
                op.location,
                f"'{op.operation.name}' op gives {result.type}, {needed} bytes; the registers of "
                f"an SM hold {there}: take smaller tiles",
            )


def _check_update(op: Any, chosen: Target) -> Iterator[Diagnostic]:
    """An error if the target has no such update of memory."""
    tile = any_tile_of(op.operands[0], "value")
    try:
        updates(ir.StringAttr(op.attributes["fn"]).value, tile.element, chosen)
    except TilecError as error:
        yield Diagnostic(op.location, f"'tile.atomic' op {error}")


def _remarks(found: Form, chosen: Target) -> Iterator[str]:
    """What is slow about a form on a target."""
    how = execution(found, chosen)
    if how is not None and how.emulated:
        what = f"{how.count} {how.opcode}" if how.count else f"scalar {how.opcode}"
        yield f"{found.ptx} is emulated on {chosen}, by {what}"
    if isinstance(found, Mma) and found.sparsity is not None and not found.sparsity.ordered:
        ordered = found.ptx.replace(".sp.", ".sp::ordered_metadata.", 1)
        slow = [t.number for t in TARGETS.values() if sorts_metadata(found, t)]
        since = f" (on sm_{min(slow)} and later the plain form sorts it first)" if slow else ""
        yield f"{found.ptx} takes metadata in any order; in order, {ordered} takes it{since}"


def _instead(missing: Form, chosen: Target) -> str:
    legal = [
        f.ptx
        for f in forms().values()
        if f.family is missing.family and f.min_ptx(chosen) is not None
    ]
    if not legal:
        return f"{chosen} has no form of {missing.family}"
    return f"nearest on {chosen}: {', '.join(nearest(missing.ptx, legal, 3)[:3])}"
