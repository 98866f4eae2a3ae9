"""The cost model: cycles of an SM that a round of a loop of products takes, and of what.

It counts three things, each of which an SM does beside the others, so that the longest of them is
what a round takes:

- products: multiplications of all `tile.dot`s or `tile.warpgroup_dot`s over the instruction's rate;
- bytes from L2: what the round's copies take, of what a cluster loads once only a CTA's share;
- bytes of shared memory: what arrives, and what matrix instructions read there. `wgmma` reads B
  once for each 64 rows, and A once if it lies there; `tcgen05.mma` reads both once for each 128
  rows, of B what its CTA has.

How tiles are ordered is chosen by what those that run at the same time read of both operands: rows
of one, columns of the other.

It does not count instructions of other kinds, latencies, which stages of a ring hide, nor launches.
`tilec.isa.rates` has the numbers of each generation. What it does not count passes decide by a few
figures, which stand here: they are round, not measured, and each says what it stands for.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from tilec.dialects.tile.tensor_dots import MOST_COLUMNS, MOST_ROWS
from tilec.isa import WARPGROUP_THREADS, Target
from tilec.isa.limits import REGISTER_COUNTS
from tilec.isa.rates import SHARED_BYTES, Rates, rates
from tilec.isa.wgmma import COLUMNS, M

STAGES = 3
"""Buffers of a loop's copies by `cp.async`: one is read while two are under way, which hides the
latency of memory behind two rounds; each more takes shared memory from other CTAs. A ring that a
producer fills has the SM for itself, and gets all that fit."""
HELD_REGISTERS = 32
"""Registers of a thread that may hold tiles of the next round, where there is no `cp.async`: an
eighth of what a thread can have."""
BESIDES = 26
"""Registers that a thread of a small kernel of `wgmma` needs besides its accumulators."""
PRODUCER_REGISTERS = 40
"""Registers of a thread that loads, as CUTLASS has it, where those that compute can do without."""
LEAST_WARPGROUPS = 2
"""Warpgroups that compute, at least, where further warps load or CTAs take several tiles. Of one
alone an SM holds several CTAs, of which some multiply while others wait."""
DEFERRED_STAGES = 3
"""Stages of a ring, at least, where a stage is released one iteration late, as CUTLASS has it: two
are read while the third is filled."""
CLUSTER_CTAS = 2
"""CTAs of a cluster that is not asked for: a GPC may have no room for a third cluster of more."""
TILE_SIDE = 128
"""Rows and columns of the tile of a product that names none, if accumulators have 32 bits and
extents allow: each element that is loaded is multiplied so often."""
TILE_DEPTH = 64
"""Elements of K of its slices, at most; fewer where they have more bits than shared memory delivers
of a row at a time."""
WARP_ACCUMULATORS = 1024
"""Accumulators of each of its warps, 32 in a lane; twice as many where there are `TILE_WARPS`."""
TILE_WARPS = 8
"""Its warps, at most: two of each part of an SM that multiplies."""
WAVEFRONT = 1 / 2
"""What a wavefront of shared memory costs a warp, in machine instructions of the tensor cores: four
warps multiply at a time, and one reads."""
COMPUTED = 1 / 4
"""What an element of a factor costs a lane that computes it, in the same unit."""
TRIP_BARRIERS = 32
"""What two barriers of a trip through shared memory cost, in the same unit."""


class Product(NamedTuple):
    """A product of a round.

    Attributes:
        m: rows of the tile.
        n: columns.
        k: what is added up.
        bits: of an element of A and B.
        of_warpgroups: whether by `wgmma`.
        a_in_registers: whether A is not read from shared memory.
        columns: of an instruction, or of what a warp keeps of B; the tile's where nobody knows.
        of_stored: columns of A for each that is stored and multiplied, 2 of a sparse one.
        in_tensor_memory: whether by `tcgen05.mma`.
        ctas: that compute it together, each of which has its rows and a share of B.
    """

    m: int
    n: int
    k: int
    bits: int
    of_warpgroups: bool = False
    a_in_registers: bool = False
    columns: int = 0
    of_stored: int = 1
    in_tensor_memory: bool = False
    ctas: int = 1

    @property
    def multiplications(self) -> int:
        """Those that the instructions carry out."""
        return self.m * self.n * self.k // self.of_stored

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that `wgmma` reads: B for each 64 rows, A for each instruction.

        `tcgen05.mma` has up to 128 rows and 256 columns.
        """
        if self.in_tensor_memory:
            of_b = self.n // self.ctas * -(-self.m // MOST_ROWS)
            of_a = self.m * -(-self.n // MOST_COLUMNS)
            return (of_a + of_b) * self.k * self.bits // 8
        of_b = self.n * -(-self.m // M)
        times = 0 if self.a_in_registers else -(-self.n // (self.columns or self.n))
        of_a = self.m * times // self.of_stored
        return (of_a + of_b) * self.k * self.bits // 8


class Round(NamedTuple):
    """What a round of a loop takes, in cycles of an SM.

    Attributes:
        products: of multiplying.
        l2: of what comes from L2.
        shared: of shared memory.
    """

    products: float
    l2: float
    shared: float

    @property
    def cycles(self) -> float:
        """What the round takes, all three going on beside each other."""
        return max(self)


def cost_of_round(products: list[Product], loaded: float, target: Target) -> Round:
    """What a round takes.

    Args:
        products: of the round.
        loaded: bytes that come to the CTA from L2.
        target: the GPU.
    """
    known = rates(target)
    multiplying = sum(one.multiplications / _rate(known, one) for one in products)
    moved = loaded + sum(one.shared_bytes for one in products)
    return Round(multiplying, loaded / known.l2_bytes, moved / SHARED_BYTES)


def _rate(known: Rates, product: Product) -> float:
    """Multiplications of an SM in a cycle."""
    if product.in_tensor_memory:
        return known.in_tensor_memory(product.bits)
    return known.products(of_warpgroups=product.of_warpgroups, bits=product.bits)


def wavefronts(bits: float) -> float:
    """What it costs a warp to move so many bits to or from shared memory."""
    return bits / 8 / SHARED_BYTES * WAVEFRONT


def producer_registers(entry: int, groups: int, accumulators: int) -> int:
    """Registers of a thread that loads: the least there are where those that compute need all.

    They need all where they would not have `BESIDES` more than accumulators, their own or those of
    the largest instruction, for which they have other tiles as well.

    Args:
        entry: registers of each thread of the CTA when it begins.
        groups: warpgroups that compute, beside one that loads.
        accumulators: registers of a thread that hold accumulators.
    """
    largest = M * COLUMNS[-1] // WARPGROUP_THREADS
    each = REGISTER_COUNTS.step
    left = (entry * (groups + 1) - PRODUCER_REGISTERS) // groups // each * each
    few = left <= max(accumulators, largest) + BESIDES
    return REGISTER_COUNTS[0] if few else PRODUCER_REGISTERS


_GROUPS = (8, 16)
"""Rows of tiles between which is chosen, as DeepGEMM does."""


def rows_together(rows: int, cols: int, at_once: int) -> int:
    """How many rows of tiles to go down before a next column, so that least is read at a time.

    Args:
        rows: of a tile, or of those of a cluster.
        cols: likewise.
        at_once: tiles, or clusters, that run at the same time.
    """
    return min(_GROUPS, key=lambda count: read_by_groups(count, rows, cols, at_once))


def read_by_groups(count: int, rows: int, cols: int, at_once: int) -> int:
    """Rows and columns that tiles of one time read, so many rows of tiles gone down together.

    Args:
        count: rows of tiles.
        rows: of a tile, or of those of a cluster.
        cols: likewise.
        at_once: tiles, or clusters, that run at the same time.
    """
    return count * rows + -(-at_once // count) * cols


_SPAN = 1.23
"""Rows, and columns, that tiles next to each other on Hilbert's curve lie in, over the root of
their number: the mean of 16 to 132 tiles."""


def read_along_curve(rows: int, cols: int, at_once: int) -> float:
    """Rows and columns that tiles of one time read along Hilbert's curve; arguments as before."""
    return (rows + cols) * _SPAN * sqrt(at_once)
