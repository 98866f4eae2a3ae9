"""Operands between numpy and memory, and between matrices and the registers of a warp."""

from .elements import from_bits, to_bits
from .fragments import from_registers, to_registers
from .pack import CONTAINERS, pack, unpack
from .scales import Scaled, block_of, dequantize, quantize
from .sparse import compress, expand, prune

__all__ = [
    "CONTAINERS",
    "Scaled",
    "block_of",
    "compress",
    "dequantize",
    "expand",
    "from_bits",
    "from_registers",
    "pack",
    "prune",
    "quantize",
    "to_bits",
    "to_registers",
    "unpack",
]
