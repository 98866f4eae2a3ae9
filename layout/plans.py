"""Plans that take a value from one distributed layout to another, and what they cost.

All maps are linear layouts over the inputs `register`, `lane` and those that tell warps apart;
registers are indices into the fragment, in elements, as in `fragments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .access import WORD_BITS, Access
from .gf2 import rank
from .linear import LinearLayout
from .swizzle import Swizzle


class Price(NamedTuple):
    """What a plan costs a warp.

    Attributes:
        instructions: instructions issued.
        wavefronts: passes through shared memory's data path, which shuffles and `movmatrix`
            take too: one for each register moved between lanes.
        barriers: barriers among the lanes of a warp.
        block_barriers: barriers among the warps of a CTA.
    """

    instructions: int
    wavefronts: int = 0
    barriers: int = 0
    block_barriers: int = 0

    @property
    def total(self) -> int:
        """One number to rank plans by: issue slots and wavefronts, a barrier being 8 or 32.

        Barriers are paid in latency; the weights are round figures, not measurements.
        """
        return self.instructions + self.wavefronts + 8 * self.barriers + 32 * self.block_barriers


@dataclass(frozen=True, slots=True)
class Nothing:
    """Each register already holds what it must."""

    @property
    def price(self) -> Price:
        """Free."""
        return Price(0)


@dataclass(frozen=True, slots=True)
class Permutation:
    """Every lane has what it must hold, in other registers.

    Attributes:
        bits: bits of an element.
        registers: register of the result -> register it is taken from.
    """

    bits: int
    registers: LinearLayout

    @property
    def price(self) -> Price:
        """Free where whole registers are renamed; else `prmt` to put each word together."""
        packed = max(1, WORD_BITS // self.bits)
        count = self.registers.in_sizes["register"]
        words = -(-count // packed)
        if count >= packed and whole_words(self.registers, packed):
            return Price(0)
        return Price(words * max(1, min(packed, count) - 1))


@dataclass(frozen=True, slots=True)
class Transposition:
    """Each 32-bit register through `movmatrix`.

    Attributes:
        bits: bits of an element.
        words: 32-bit register of the result -> the one that is transposed for it.
    """

    bits: int
    words: LinearLayout

    @property
    def price(self) -> Price:
        """One instruction for each different register."""
        return Price(1 << self.words.rank, 1 << self.words.rank)


@dataclass(frozen=True, slots=True)
class Shuffles:
    """Rounds of `shfl.sync`: each lane sends one 32-bit word and reads that of another.

    In round n a lane packs elements `send(element=…, round=n, lane=…)` into a word, reads the
    word of lane `read(round=n, lane=…)`, and places it in elements
    `receive(element=…, round=n, lane=…)`. Elements wider than a word go in as many shuffles.

    Attributes:
        bits: bits of an element.
        send: (element, round, lane, …) -> register of the source.
        read: (round, lane, …) -> lane.
        receive: (element, round, lane, …) -> register of the result.
        copies: register of the result -> the register that the rounds fill for it.
    """

    bits: int
    send: LinearLayout
    read: LinearLayout
    receive: LinearLayout
    copies: LinearLayout

    def mask(self, number: int) -> int | None:
        """The m of a round where each lane reads lane ^ m, in all warps alike; else None."""
        lanes = self.read.columns_of("lane")
        steady = all(
            not column
            for name, _ in self.read.ins
            if name not in ("round", "lane")
            for column in self.read.columns_of(name)
        )
        if not steady or lanes != tuple(1 << bit for bit in range(len(lanes))):
            return None
        (mask,) = self.read(round=number)
        return int(mask)

    @property
    def price(self) -> Price:
        """Shuffles of the rounds that leave the lane, `prmt` to pack, and selects.

        A register that depends on r bits of the lane takes 2^r - 1 selects.
        """
        rounds = self.read.in_sizes["round"]
        moving = sum(self.mask(n) != 0 for n in range(rounds))
        words = max(1, self.bits // WORD_BITS)
        unit = self.send.in_sizes["element"]
        whole = unit * self.bits >= WORD_BITS and all(
            whole_words(layout, unit, "element") for layout in (self.send, self.receive)
        )
        packing = 0 if whole else 2 * rounds * max(1, unit - 1)
        selects = 0
        for layout in (self.send, self.receive):
            inputs = [name for name, _ in layout.ins if name not in ("element", "round")]
            choices = 1 << rank(c for name in inputs for c in layout.columns_of(name))
            selects += (choices - 1) * rounds
        return Price(moving * words + packing + selects * words, moving * words)


class SharedTrip(NamedTuple):
    """Through shared memory: store, barrier, load.

    Attributes:
        shared: offset, in elements -> place.
        order: the tile's dimensions, from the fastest on, before swizzling.
        swizzle: the swizzle of that tile, if it is one of CuTe's.
        store: how the source is stored; of lanes that hold the same, all store.
        load: how the result is loaded.
        copies: register of the result -> the register that the loads fill for it.
        within_warp: whether each warp reads only what it has stored itself.
        bytes: size of the tile in shared memory.
    """

    shared: LinearLayout
    order: tuple[str, ...]
    swizzle: Swizzle | None
    store: Access
    load: Access
    copies: LinearLayout
    within_warp: bool
    bytes: int

    @property
    def price(self) -> Price:
        """Stores and loads, their wavefronts and a barrier."""
        instructions = self.store.instructions + self.load.instructions
        moves = sum(_packing(access) for access in (self.store, self.load))
        wavefronts = self.store.count().wavefronts + self.load.count().wavefronts
        return Price(
            instructions + moves, wavefronts, int(self.within_warp), int(not self.within_warp)
        )


Plan = Nothing | Permutation | Transposition | Shuffles | SharedTrip


def whole_words(layout: LinearLayout, packed: int, name: str = "register") -> bool:
    """Whether the elements of a word, the low bits of input `name`, map as one."""
    low = packed.bit_length() - 1
    kept = tuple(1 << bit for bit in range(low))
    others = [
        column
        for dim, _ in layout.ins
        for column in (layout.columns_of(dim)[low:] if dim == name else layout.columns_of(dim))
    ]
    return layout.columns_of(name)[:low] == kept and not any(c % packed for c in others)


def _packing(access: Access) -> int:
    """`prmt` to bring a fragment's elements into the words that an access moves."""
    packed = max(1, WORD_BITS // access.bits)
    moved = access.registers.in_sizes["element"] * access.instructions
    if moved < packed or access.registers.in_sizes["element"] < packed:
        return moved if packed > 1 else 0
    if whole_words(access.registers, packed, "element"):
        return 0
    return moved // packed * (packed - 1)
