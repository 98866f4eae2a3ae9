"""Fragments of matrix instructions as matrices, by their layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, Form, Operand, Product, Storage, TilecError, UnknownNameError

from ..alu import Array
from ..errors import LaunchError
from ..matrix_forms import matrix_form
from ..ptx.module import Instruction, Name, Vector
from ..tensor.elements import decode
from ..tensor.indices import to_matrix


def form_of(instruction: Instruction) -> Form:
    """The form of a matrix instruction.

    Raises:
        LaunchError: if it is none.
    """
    try:
        return matrix_form(instruction)
    except (UnknownNameError, IndexError):
        raise LaunchError(f"'{instruction.mnemonic}' is not a matrix instruction") from None


def described(instruction: Instruction) -> dict[str, str]:
    """The operands of a matrix instruction by name, and what each is."""
    return {
        one.name: f"{one.rows}x{one.cols} {one.type.name} in {one.storage}"
        for one in form_of(instruction).all_operands
    }


def registers_of(instruction: Instruction, name: str) -> list[str]:
    """The registers of an operand.

    Raises:
        LaunchError: if the instruction has no such operand, or it lies in memory.
    """
    form = form_of(instruction)
    operand = _operand(form, name)
    given = list(instruction.operands)
    for one in form.all_operands:
        if isinstance(form, Product) and one.storage is not Storage.SHARED and one.tied:
            continue  # PTX writes it once
        if one.name == operand.name:
            break
        given.pop(0)
        if isinstance(form, Product) and form.selectors_of(one.name) and one not in form.results:
            given.pop(0)
    if not isinstance(form, Product):  # an address beside the one fragment
        given = [item for item in instruction.operands if isinstance(item, Vector | Name)]
    if operand.tied:
        given = [instruction.operands[0]]
    listed = given[0].items if isinstance(given[0], Vector) else (given[0],)
    names = [item.text for item in listed if isinstance(item, Name)]
    if len(names) != operand.registers or len(names) != len(listed):
        raise LaunchError(f"operand {name} of '{instruction.mnemonic}' is not all in registers")
    return names


def _operand(form: Form, name: str) -> Operand:
    try:
        operand = form.operand(name)
    except TilecError as error:
        raise LaunchError(str(error)) from None
    if not operand.threads:
        raise LaunchError(f"operand {name} of {form.ptx} lies in {operand.storage}")
    return operand


def matrix(instruction: Instruction, name: str, values: Sequence[Array], warp: int) -> NDArray[Any]:
    """An operand as a matrix.

    Args:
        instruction: the matrix instruction.
        name: the operand's.
        values: its registers in a CTA, (warps, 32) each.
        warp: whose it is, or of whose warpgroup.
    """
    form = form_of(instruction)
    operand = _operand(form, name)
    warps = operand.threads // LANES
    first = warp // warps * warps
    if first + warps > len(values[0]):
        raise LaunchError(f"warp {warp} is of no whole warpgroup")
    dtype = np.uint64 if operand.register.bits == 64 else np.uint32
    held = np.stack([value[first : first + warps].reshape(-1) for value in values])
    words = held.view(dtype) if held.dtype.itemsize >= 4 else held.astype(dtype)
    found: NDArray[Any] = to_matrix(form, name, decode(operand, words[None]))[0]
    return found
