"""`tile.tma_*`: tensor copies, and the tensor maps that the launch makes for them.

A map is an argument of the kernel, 128 bytes by value, after all others; the kernel's attribute
`tile.tensor_maps` says of which array each is. PTX ISA 9.7.9.27.1, 5.5.
"""

from __future__ import annotations

import json
from math import prod
from typing import Any

from tilec.dialects.tile.attributes import TENSOR_MAPS
from tilec.dialects.tile.ops.box_modes import element_strides, im2col_box
from tilec.dialects.tile.ops.tma import BoxOp, IncomingOp, OutgoingOp, TmaPrefetchOp
from tilec.dialects.tile.ops.tma_rows import TmaGatherPrefetchOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Value
from tilec.ir.attributes import cluster_size, signature
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, llvm, nvvm
from tilec.ir.types import i32, i64, memref_of
from tilec.isa import TilecError
from tilec.isa.limits import LARGEST_CLUSTER
from tilec.isa.wording import counted

from ..fragments.expansion import Expansion, Values
from ..functions import is_kernel
from .addresses import advance, step
from .barriers import address_in_shared, barrier_address
from .indices import split
from .instructions import emit_instruction
from .lowering import Lowering


class BoxCopies:
    """Lowering of the copies of boxes of one kernel."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._maps: dict[str, Value] = {}  # by what describes them

    def load(self, op: IncomingOp, expansion: Expansion) -> list[Values]:
        """`tile.tma_load` and `tile.tma_gather`."""
        cluster = cluster_size(self._lowering.function)
        barrier = barrier_address(expansion.one(op.operands[2]), op.barrier_index)
        operands = {"bar": _of_even_cta(barrier, cluster) if op.pair else barrier}
        operands |= _offsets(op)
        if op.mask is not None:
            operands["mask"] = _mask(op.mask, cluster)
        return self._copy(op, {"dst": _place(op, expansion)}, operands)

    def send(self, op: OutgoingOp, expansion: Expansion) -> list[Values]:
        """`tile.tma_store`, `tile.tma_reduce` and `tile.tma_scatter`."""
        return self._copy(op, {"src": _place(op, expansion)})

    def prefetch(self, op: TmaPrefetchOp, _: Expansion) -> list[Values]:
        """`tile.tma_prefetch`."""
        return self._copy(op, {}, _offsets(op))

    def prefetch_rows(self, op: TmaGatherPrefetchOp, _: Expansion) -> list[Values]:
        """`tile.tma_gather_prefetch`."""
        return self._copy(op, {})

    def _copy(
        self, op: BoxOp, before: dict[str, Value], behind: dict[str, Value] | None = None
    ) -> list[Values]:
        """Emit a copy: operands, its map, coordinates, further operands."""
        mnemonic = op.mnemonic
        assert mnemonic is not None
        coordinates = {
            f"c{at}": arith.index_cast(index, i32()) for at, index in enumerate(op.coordinates)
        }
        operands = {**before, "map": self._map(op), **coordinates, **(behind or {})}
        emit_instruction(mnemonic, operands)
        return []

    def _map(self, op: BoxOp) -> Value:
        """The address of the array's map, an argument that the kernel gets."""
        function = self._lowering.function
        array, entry = op.array, function.regions[0].blocks[0]
        is_argument = isinstance(array.owner, ir.Block) and array.owner == entry
        if not is_argument or not is_kernel(function):
            raise TilecError(
                "copies boxes of an argument of the kernel, for which the launch creates a "
                "tensor map; this array is not an argument"
            )
        number = ir.BlockArgument(array).arg_number
        described = {"array": number, **_described(op)}
        key = json.dumps(described)
        if key not in self._maps:
            self._maps[key] = self._argument()
            function.attributes[TENSOR_MAPS] = ir.StringAttr.get(f"[{', '.join(self._maps)}]")
        return self._maps[key]

    def _argument(self) -> Value:
        """A new argument of the kernel, 128 bytes by value, after those that there are."""
        function = self._lowering.function
        inputs = list(signature(function).inputs)
        pointer = llvm.pointer()
        block = function.regions[0].blocks[0]
        if len(block.arguments) > len(inputs):
            raise TilecError(
                "copies boxes in a kernel that declares workgroup memory; legal: tile.alloc_shared"
            )
        argument = block.add_argument(pointer, ir.Location.unknown())
        type_ = ir.FunctionType.get([*inputs, pointer], [])
        attributes = function.attributes
        attributes["function_type"] = ir.TypeAttr.get(type_)
        if "arg_attrs" in attributes:
            given = list(ir.ArrayAttr(attributes["arg_attrs"]))
            attributes["arg_attrs"] = ir.ArrayAttr.get([*given, ir.DictAttr.get({})])
        return argument


def _described(op: BoxOp) -> dict[str, Any]:
    """What the JSON says of the map of a copy, besides its array; in the array's order."""
    found: dict[str, Any] = {"box": list(op.box), "swizzle": op.swizzle}
    steps, walked = element_strides(op, op.rank), im2col_box(op, *op.extents)
    if any(step != 1 for step in steps):
        found["element_strides"] = list(steps)
    if walked is not None:
        found["box"] = []
        found["im2col"] = {
            "lower": list(walked.lower[::-1]),
            "upper": list(walked.upper[::-1]),
            "channels": walked.channels,
            "pixels": walked.pixels,
        }
    return found


def _offsets(op: IncomingOp | TmaPrefetchOp) -> dict[str, Value]:
    """What is added to the places of pixels, the last dimension first, each of 16 bits."""
    short = ir.IntegerType.get_signless(16)
    return {
        f"o{at}": arith.index_cast(offset, short) for at, offset in enumerate(reversed(op.offsets))
    }


def _of_even_cta(address: Value, cluster: tuple[int, int, int] | None) -> Value:
    """The address of what lies there in the even CTA of the pair.

    Raises:
        TilecError: if the cluster is known to be of no pairs.
    """
    ctas = 2 if cluster is None else prod(cluster)
    if ctas % 2:
        raise TilecError(
            f"tells the mbarrier of the even CTA of a pair, and the kernel's clusters have "
            f"{counted(ctas, 'CTA')}; legal: known_cluster_size with an even number"
        )
    even = arith.andi(nvvm.cluster_rank(), llvm.constant_i32(-2))
    operands = {"at": address, "rank": even}
    found = emit_instruction("mapa.shared::cluster.u32", operands, ("d", i32()))
    assert found is not None
    return found


def _mask(mask: Value, cluster: tuple[int, int, int] | None) -> Value:
    """The ranks that a copy arrives in, 16 bits.

    Raises:
        TilecError: if it is known to name none, or one that the cluster has not.
    """
    known = split(mask)
    if known.value is None:
        ctas = LARGEST_CLUSTER if cluster is None else prod(cluster)
        if not 0 < known.constant < 1 << ctas:
            raise TilecError(
                f"multicasts to the CTAs of mask {known.constant:#x}; legal: one bit at least, of "
                f"the {ctas} lowest, one a CTA of the cluster"
            )
    return arith.index_cast(mask, ir.IntegerType.get_signless(16))


def _place(op: BoxOp, expansion: Expansion) -> Value:
    """The address in shared memory where a box begins, an i32.

    Raises:
        TilecError: if it is not known to be one where a box may.
    """
    buffer = op.buffer
    assert buffer is not None
    type_ = memref_of(buffer)
    matrix = shared_buffer(type_)
    *leading, row, col = (split(index) for index in op.buffer_indices)
    if col.value is not None or col.constant:
        raise TilecError("a box begins at column 0 of a matrix of the buffer")
    line, multiple = matrix.cols * matrix.element_bytes, op.row_multiple
    if row.constant % multiple or (row.value is not None and row.multiple % multiple):
        raise TilecError(
            f"the row where the box begins is not known to be a multiple of {multiple}"
        )
    if row.value is None and not 0 <= row.constant <= matrix.rows - op.extents[0]:
        raise TilecError(
            f"the box takes rows {row.constant} to {row.constant + op.extents[0] - 1} of a matrix "
            f"of {matrix.rows}"
        )
    pointer, constant = expansion.one(buffer), 0
    terms = [(row, line)]
    stride = matrix.matrix_bytes
    for number, extent in zip(reversed(leading), reversed(list(type_.shape)[:-2]), strict=True):
        terms.append((number, stride))
        stride *= extent
    for index, scale in terms:
        constant += index.constant * scale
        if index.value is not None:
            wide = arith.index_castui(index.value, i64())
            pointer = advance(pointer, llvm.mul(wide, llvm.constant_i64(scale)))
    return address_in_shared(step(pointer, constant))
