"""`tile.atomic` of fragments: `red`, on as many elements at once as the target has it for."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.ops.atomic import updates
from tilec.isa.reductions import Reduction
from tilec.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .fragment_access import FragmentAccess
from .kernel import Kernel
from .memory import fragment
from .rearrangement import rearranged
from .registers import Packing, bitcast, packing

_CONSTRAINTS = {16: "h", 32: "r", 64: "l"}


class Atomics:
    """Lowering of the atomic updates of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def atomic(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.atomic` of a fragment."""
        value, target, *indices = op.operands
        tile = fragment(value)
        forms = self._forms(ir.StringAttr(op.attributes["fn"]).value, tile.element)
        packed = packing(tile)
        size = int(packed.element.width) // 8
        access = FragmentAccess(
            self._kernel,
            op,
            tile,
            target,
            expansion.one(target),
            indices,
            loads=False,
            widest=max(forms) * size,
        )
        form = forms[access.width]
        held = expansion.values(value)
        bits = 8 * size * access.width // form.registers
        word = ir.IntegerType.get_signless(bits)
        moved = Packing(packed.element, bits // (8 * size), form.registers)
        with access.held_once():
            for registers, place in access.steps:
                words = rearranged(held, packed, registers, moved)
                pointer = self._global(access.pointer(place))
                operands = [pointer, *(bitcast(value, word) for value in words)]

                def update(operands: list[Any] = operands) -> None:
                    _emit(form, operands, _CONSTRAINTS[bits])

                access.write(place, update)
        return []

    def _forms(self, fn: str, element: Any) -> dict[int, Reduction]:
        """The target's instructions, by their number of elements; of any target the plain one.

        Raises:
            TilecError: if it has none.
        """
        target = self._kernel.target
        found = updates(fn, element, target)
        return {one.elements: one for one in (found if target is not None else found[:1])}

    def _global(self, pointer: Any) -> Any:
        """The pointer in the global state space."""
        type_ = ir.Type.parse("!llvm.ptr<1>")
        return pointer if pointer.type == type_ else create("llvm.addrspacecast", [pointer], type_)


def _emit(form: Reduction, operands: list[Any], constraint: str) -> None:
    names = [f"${at}" for at in range(1, len(operands))]
    value = f"{{{', '.join(names)}}}" if len(names) > 1 else names[0]
    ir.Operation.create(
        "llvm.inline_asm",
        operands=operands,
        attributes={
            "asm_string": ir.StringAttr.get(f"{form.ptx} [$0], {value};"),
            "constraints": ir.StringAttr.get(
                ",".join(["l", *[constraint] * len(names), "~{memory}"])
            ),
            "has_side_effects": ir.UnitAttr.get(),
        },
    )
