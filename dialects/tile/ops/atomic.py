"""`tile.atomic`: a tile or fragment into what memory holds."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tilec.dialects.semantics import LayoutRule, Scope, Semantics
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.semantics.effects import updates as updates_memory
from tilec.ir.aliases import Type
from tilec.ir.mlir import ext, ir
from tilec.isa import Target, TilecError, UnknownNameError
from tilec.isa.reductions import GLOBAL, SHARED, Reduction, reductions

from ..dialect import SharedAttr
from .base import any_tile_of, memory, scope_of_fragment
from .memory import MemoryOp, check_access, indices_of_tile, vector_of

_FLOATS = ("bf16", "f16", "f32", "f64")

ATOMICS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "arith.addf": ("add", {name: name for name in _FLOATS}),
        "arith.addi": ("add", {"i32": "u32", "i64": "u64"}),
        "arith.maxsi": ("max", {"i32": "s32", "i64": "s64"}),
        "arith.maxui": ("max", {"i32": "u32", "i64": "u64"}),
        "arith.minsi": ("min", {"i32": "s32", "i64": "s64"}),
        "arith.minui": ("min", {"i32": "u32", "i64": "u64"}),
        "arith.andi": ("and", {"i32": "b32", "i64": "b64"}),
        "arith.ori": ("or", {"i32": "b32", "i64": "b64"}),
        "arith.xori": ("xor", {"i32": "b32", "i64": "b64"}),
    }
)
"""Upstream ops that `tile.atomic` applies: PTX's name, and PTX's type of each element type."""


def form_of_function(
    fn: str, element: Type, functions: Mapping[str, tuple[str, Mapping[str, str]]] = ATOMICS
) -> tuple[str, str]:
    """PTX's operation and type for a function of elements in memory.

    Args:
        fn: its name.
        element: MLIR element type.
        functions: those there are, as `ATOMICS`.

    Raises:
        TilecError: if there is none, naming what is.
    """
    if fn not in functions:
        raise UnknownNameError("atomic op", fn, functions)
    op, types = functions[fn]
    if str(element) not in types:
        raise TilecError(f"{fn} updates elements of type {', '.join(types)}, not {element}")
    return op, types[str(element)]


def state_space(memref: ir.Value) -> str:
    """PTX's name of the state space in which an atomic op updates a memref."""
    return SHARED if is_shared_array(memref.type) else GLOBAL


def updates(
    fn: str, element: Type, target: Target | None = None, space: str = GLOBAL
) -> tuple[Reduction, ...]:
    """The instructions that apply the upstream op `fn` to elements in memory.

    Args:
        fn: the op's name.
        element: MLIR element type.
        target: whose instructions; of any target if None.
        space: where the elements lie, as of `state_space`.

    Raises:
        TilecError: if there is none, naming what is.
    """
    found = reductions(*form_of_function(fn, element), space)
    if target is None:
        return found
    legal = tuple(one for one in found if one.min_ptx(target) is not None)
    if not legal:
        where = ", ".join(f"{s.target} (PTX {s.ptx})" for s in found[0].since)
        raise TilecError(f"{fn} of {element} does not exist on {target}; it needs {where}")
    return legal


class AtomicOp(MemoryOp, name="atomic"):
    """Combine element (r, c) of a tile or fragment into `memory[…, i + r, j + c]`, atomically.

    Elements are updated independently and unordered (PTX ISA, `red`, relaxed, scope GPU): sums of
    floats may differ in their last bits from run to run. The attributes are those of `tile.store`;
    the memory is global, or an array in shared memory, where the scope is the CTA.
    """

    assembly_format = (
        "keyword($fn) $tile `,` $target `[` $indices `]` (`masked` $masked^)? "
        "(`transposed` $transposed^)? attr-dict `:` type($tile) `,` type($target)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"masked", "transposed"})
    OPTIONAL = frozenset({"vector"})
    SEMANTICS = Semantics(
        scope=scope_of_fragment(Scope.LANE, Scope.WARP),
        effects=updates_memory(1),
        layouts=LayoutRule.MOVED,
        uniform=indices_of_tile,
    )

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    fn: ir.StringAttr

    def check(self) -> None:
        """Verify the types and that there is such an instruction."""
        value, target, *indices = self.operands
        tile, type_ = any_tile_of(value, "value"), memory(target, "target")
        if isinstance(type_.memory_space, SharedAttr):
            raise TilecError(
                f"updates global memory, or an array in #gpu.address_space<workgroup>, not the "
                f"shared buffer {type_}"
            )
        check_access(tile, type_, indices, transposed="transposed" in self.attributes)
        vector_of(self)
        updates(self.fn.value, tile.element)

    @property
    def memref(self) -> ir.Value:
        """What is updated."""
        return self.operands[1]

    @property
    def update(self) -> str:
        """`fn`."""
        return self.fn.value

    def check_on(self, target: Target) -> None:
        """Verify that the target has the instruction."""
        updates(self.fn.value, any_tile_of(self.operands[0], "value").element, target)
