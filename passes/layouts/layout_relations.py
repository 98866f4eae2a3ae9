"""How layouts follow from each other across ops that change shape or element size."""

from __future__ import annotations

from typing import Any

from tilec.layout import LinearLayout
from tilec.layout.views import expanded, renaming, reshaped, sliced, transposed


def forward(op: Any, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of the result that comes of its own from that of the source.

    Args:
        op: a view, a reduction, or a cast from or to elements of less than a byte.
        source: layout of its operand.
        shape: of its result.
    """
    match op.operation.name:
        case "tile.reduce":
            return sliced(source, int(op.axis.value))
        case "tile.expand":
            return expanded(source, int(op.axis.value))
        case "tile.broadcast":
            return repeated(source, shape)
        case "tile.transpose":
            return transposed(source, tuple(op.permutation))
        case "tile.reshape":
            return reshaped(source, shape)
    return source


def backward(op: Any, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout | None:
    """The layout of the source from which that of the result comes of its own.

    Args:
        op: as of `forward`.
        result: layout of its result.
        shape: of its operand.

    Returns:
        None where the result leaves it open.
    """
    match op.operation.name:
        case "tile.reduce":
            return None
        case "tile.expand":
            return sliced(result, int(op.axis.value))
        case "tile.broadcast":
            for axis, (one, many) in enumerate(zip(shape, result.out_sizes.values(), strict=True)):
                if one != many:
                    result = expanded(sliced(result, axis), axis)
            return result
        case "tile.transpose":
            permutation = list(op.permutation)
            return transposed(result, tuple(permutation.index(at) for at in range(len(shape))))
        case "tile.reshape":
            return reshaped(result, shape)
    return result


def agree(op: Any, source: LinearLayout, result: LinearLayout) -> bool:
    """Whether a view, reduction or cast takes a source of one layout to a result of the other."""
    match op.operation.name:
        case "tile.reduce":
            return renaming(sliced(source, int(op.axis.value)), result) is not None
        case "tile.expand" | "tile.broadcast" | "tile.transpose" | "tile.reshape":
            return renaming(*op.seen(source, result)) is not None
    return source == result


def repeated(source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of a tile repeated along axes of extent 1.

    Lanes and warps that held copies share what is repeated; registers take the rest.

    Args:
        source: the layout of the tile.
        shape: what its extents become.
    """
    names = list(source.out_sizes)
    missing = [
        tuple((1 << bit) * (name == at) for at in names)
        for name, before, after in zip(names, source.out_sizes.values(), shape, strict=True)
        if before != after
        for bit in range(after.bit_length() - 1)
    ]
    missing.reverse()
    bases = {}
    for dim in ("lane", "warp"):
        images = source.bases[dim]
        bases[dim] = [missing.pop() if missing and not any(i) else i for i in images]
    registers = [*source.bases["register"], *reversed(missing)]
    return LinearLayout.of({"register": registers, **bases}, dict(zip(names, shape, strict=True)))
