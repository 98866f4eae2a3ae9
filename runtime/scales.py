"""Block scaling: numbers as narrow elements times scale factors, and the inverse.

A scale factor is shared by a block of consecutive elements of a row. With ue8m0 it is the power of
two of the OCP Microscaling specification (MX) 1.0, section 6.3; with ue4m3 it maps the largest
element of its block to the largest of e2m1, and a factor of the whole matrix keeps the scale
factors themselves in range (NVFP4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray
from tilec.isa import Product, TilecError, element_type
from tilec.isa.dtypes import numpy_type
from tilec.isa.wording import counted

from .elements import from_bits, to_bits
from .errors import refuse


@dataclass(frozen=True, slots=True)
class Scaled:
    """A matrix as elements · scales · factor.

    Attributes:
        elements: (…, m, k), in the numpy type of the element type.
        scales: (…, m, k / block), in that of the scale type.
        factor: of the whole matrix; an epilogue multiplies by it.
    """

    elements: NDArray[Any]
    scales: NDArray[Any]
    factor: float = 1.0


def block_of(form: Product) -> int:
    """Elements of a row of A, or of a column of B, that share a scale factor.

    Raises:
        TilecError: if the form is not block-scaled.
    """
    if form.scaling is None:
        raise TilecError(f"{form.ptx} is not block-scaled; forms that are say block_scale")
    return form.shape.k // form.scaling.chunks


def quantize(
    matrix: ArrayLike, element: str, scale: str, block: int, *, factor: float | None = None
) -> Scaled:
    """Numbers as scaled elements.

    Args:
        matrix: (…, m, k); for B of a product its transpose, since blocks lie along K.
        element: the element type.
        scale: `ue8m0` or `ue4m3`.
        block: elements that share a scale factor.
        factor: of the whole matrix; by default 1 with ue8m0, and with ue4m3 what maps the largest
            number to the largest element and scale factor.

    Raises:
        TilecError: for a number that is not finite, naming row and column, or if k is not a whole
            number of blocks.
    """
    numbers = np.asarray(matrix).astype(np.float64)
    refuse(~np.isfinite(numbers), numbers, "cannot be scaled: it is not finite")
    if numbers.shape[-1] % block:
        raise TilecError(
            f"rows of {counted(numbers.shape[-1], 'element')} are not whole blocks of {block}"
        )
    blocks = numbers.reshape(*numbers.shape[:-1], -1, block)
    largest = np.abs(blocks).max(axis=-1)
    limit = ml_dtypes.finfo(numpy_type(element_type(element)))
    if scale == "ue8m0":
        found = 1.0 if factor is None else factor
        exponent = np.frexp(largest / found)[1] - 1 - (np.frexp(float(limit.max))[1] - 1)
        # A block of zeros takes the least scale factor.
        exponent = np.where(largest == 0, -127, exponent.clip(-127, 127))
        scales = np.ldexp(1.0, exponent)
    else:
        top = float(ml_dtypes.finfo(numpy_type(element_type(scale))).max) * float(limit.max)
        found = float(np.abs(numbers).max(initial=0.0)) / top if factor is None else factor
        found = found or 1.0
        scales = largest / float(limit.max) / found
    held = from_bits(to_bits(scales, scale), scale)
    used = held.astype(np.float64)[..., None] * found
    quotients = np.divide(blocks, used, out=np.zeros_like(blocks), where=used != 0)
    elements = from_bits(to_bits(quotients, element), element)
    return Scaled(elements.reshape(numbers.shape), held, found)


def dequantize(scaled: Scaled) -> NDArray[np.float64]:
    """The numbers that scaled elements stand for, exactly, unless they leave float64."""
    block = scaled.elements.shape[-1] // scaled.scales.shape[-1]
    scales = scaled.scales.astype(np.float64).repeat(block, axis=-1)
    return scaled.elements.astype(np.float64) * scales * scaled.factor
