"""Operands of `wgmma` that lie in shared memory, as matrices: by their descriptors.

PTX ISA, "Asynchronous warpgroup-level matrix instructions: Matrix descriptor".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Product, Storage, TilecError

from ..errors import LaunchError
from ..ptx.module import Instruction, Integer, Name
from ..shared_operands import CHUNK, chunks, gather
from ..tensor.elements import decode_bytes
from .fragments import form_of


def register_of(instruction: Instruction, name: str) -> str | None:
    """The register with the descriptor of an operand; None if it does not lie in shared memory.

    Raises:
        LaunchError: if it is no matrix instruction.
    """
    form = form_of(instruction)
    if instruction.opcode != "wgmma" or not isinstance(form, Product) or name not in ("a", "b"):
        return None
    given = instruction.operands[1 + "ab".index(name)]
    in_shared = form.operand(name).storage is Storage.SHARED
    return given.text if in_shared and isinstance(given, Name) else None


def matrix(instruction: Instruction, name: str, word: int, data: NDArray[np.uint8]) -> NDArray[Any]:
    """A or B as it is stored: (m, k), of which a sparse A has half, or (k, n).

    Args:
        instruction: the `wgmma.mma_async`.
        name: `a` or `b`.
        word: its descriptor.
        data: the CTA's shared memory.

    Raises:
        LaunchError: if it is not all there, or the descriptor is none.
    """
    form = form_of(instruction)
    operand, transposed = form.operand(name), _transposed(instruction, name)
    try:
        _, at = chunks(operand, word, transposed=transposed)
    except TilecError as error:
        raise LaunchError(f"operand {name}: {error}") from None
    if int(at.max()) + CHUNK > len(data):
        raise LaunchError(
            f"operand {name} of '{instruction.mnemonic}' ends at {int(at.max()) + CHUNK:#x}, "
            f"beyond shared memory, which has {len(data):#x}"
        )
    raw = gather(data, 0, at, max(operand.type.bits // 8, 1), transposed=transposed)
    found: NDArray[Any] = decode_bytes(operand.type, raw)
    return found.T if name == "b" else found


def _transposed(instruction: Instruction, name: str) -> bool:
    """Whether an operand lies with M or N contiguous, as a constant of the instruction says."""
    form = form_of(instruction)
    assert isinstance(form, Product)
    selectors = [one.name for one in form.selectors]
    # What follows D, A and B: the metadata of a sparse A, then the selectors in this order.
    given = instruction.operands[3 + (form.sparsity is not None) :]
    first = [one for one in ("selector", "scale_d") if one in selectors]
    named = dict(zip([*first, *(s for s in selectors if s not in first)], given, strict=True))
    constant = named.get(f"imm_trans_{name}")
    return isinstance(constant, Integer) and bool(constant.value)
