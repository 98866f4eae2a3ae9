"""What the ops have in common: verification that names what would be legal."""

from collections.abc import Sequence
from typing import Any

from tilec.isa import Form, Operand, TilecError
from tilec.layout import fragment
from tilec.mlir import ir

from ..dialect import Tile
from ..tiles import TileValue, mlir_name, tile_value


class TileOp(Tile.Operation):
    """An op of the dialect. Subclasses verify themselves in `check`."""

    def check(self) -> None:
        """Verify the op.

        Raises:
            TilecError: naming what is wrong and what would be legal.
        """

    def verify_invariants(self) -> bool:
        """MLIR's hook."""
        try:
            self.check()
        except TilecError as error:
            self.location.emit_error(f"'{self.OPERATION_NAME}' op {error}")
            return False
        return True


def tile_of(value: Any, what: str) -> TileValue:
    """The tile that `value` is.

    Raises:
        TilecError: if it is none.
    """
    found = tile_value(value.type)
    if found is None:
        raise TilecError(
            f"{what} must be a tensor with a #tile.layout encoding or a !tile.frag, "
            f"not {value.type}"
        )
    return found


def fragment_of(value: Any, what: str) -> TileValue:
    """The fragment that `value` is; raises TilecError if it is none."""
    found = tile_value(value.type)
    if found is None or not found.is_fragment:
        raise TilecError(f"{what} must be a !tile.frag, not {value.type}")
    return found


def tensor_of(value: Any, what: str) -> TileValue:
    """The tensor with a layout that `value` is; raises TilecError if it is none."""
    found = tile_value(value.type)
    if found is None or found.is_fragment:
        raise TilecError(f"{what} must be a tensor with a #tile.layout encoding, not {value.type}")
    return found


def check_operand(form: Form, operand: Operand, value: Any) -> None:
    """Check that `value` is the fragment that `form` takes as `operand`.

    Raises:
        TilecError: naming the type that would be legal.
    """
    tile = fragment_of(value, f"operand {operand.name}")
    layout = fragment(form, operand.name)
    shape = tuple(layout.out_sizes.values())
    element = mlir_name(operand.type)
    if tile.shape != shape or str(tile.element) != element:
        extents = "x".join(str(n) for n in shape)
        raise TilecError(
            f"operand {operand.name} of {form.ptx} is a fragment of "
            f"tensor<{extents}x{element}>, not {value.type}"
        )
    if tile.layout != layout:
        raise TilecError(
            f"operand {operand.name} of {form.ptx} has the layout '{layout}', not '{tile.layout}'"
        )


def memory(value: Any, what: str = "memory") -> Any:
    """The memref type of `value`; raises TilecError if it is no ranked memref."""
    if not isinstance(value.type, ir.MemRefType):
        raise TilecError(f"{what} must be a ranked memref, not {value.type}")
    return value.type


def check_indices(indices: Sequence[Any], rank: int, what: str) -> None:
    """Check that there are `rank` indices of type index."""
    if len(indices) != rank:
        raise TilecError(f"{what} takes {rank} indices, one a dimension, not {len(indices)}")
    for index in indices:
        if not isinstance(index.type, ir.IndexType):
            raise TilecError(f"{what} takes indices of type index, not {index.type}")
