"""`tcgen05.mma`, bound: what one thread has multiplied into tensor memory. PTX ISA 9.7.16.10.9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from tilec.isa import Operand as MatrixOperand
from tilec.isa import TilecError
from tilec.isa.described_product import DescribedProduct, described_product
from tilec.isa.dtypes import numpy_type
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.instructions import named
from tilec.isa.tensor_memory import LANES, lane_and_column
from tilec.isa.tensor_products import EXPONENTS, SCALED_INPUT_KINDS, TensorProduct
from tilec.isa.tensor_shapes import product_kind
from tilec.layout.tensor_memory import accumulator, left_operand, scale_factors

from .alu import Array
from .binding import Binding
from .checks.in_flight import Thread
from .ptx.module import Address, Integer, Operand, Vector
from .shared_operands import CHUNK, gather
from .tensor.elements import element_bits
from .tensor.elements import unpacked as values_of
from .tensor.tensor_product import multiply_tensors
from .tensor_memory import ctas_of
from .tensor_operands import Values, decode_shared, decode_tensor, placed

_WORD = 4
"""Bytes of a column."""


@dataclass(frozen=True, slots=True)
class _Place:
    """An address of tensor memory in a register, and what is added to it."""

    slot: int
    extra: int


class _Places(NamedTuple):
    """Where elements are in tensor memory, of one shape each: an index into what it holds."""

    ctas: Array
    lanes: Array
    columns: Array


class TensorMultiply:
    """One `tcgen05.mma`.

    Attributes:
        product: its form.
    """

    def __init__(self, binding: Binding) -> None:
        self.machine, self.instruction = binding.machine, binding.instruction
        self._binding = binding
        operands = list(binding.operands)
        if len(operands) < 5:
            raise binding.error(f"'{binding.instruction.mnemonic}' takes five operands or more")
        self.product = self._form(operands[1])
        self._refuse()
        self._d = self._place(operands.pop(0))
        first, second = operands.pop(0), operands.pop(0)
        self._a_place = self._place(first) if self.product.a == "tensor" else None
        self._a = None if self._a_place else binding.source(first, "b64")
        self._b = binding.source(second, "b64")
        self._idesc = binding.source(operands.pop(0), "b32")
        self._scales = [self._place(operands.pop(0)) for _ in range(2 * self.product.scaled)]
        self._lanes = self._mask(operands)
        if not operands:
            raise binding.error(f"'{binding.instruction.mnemonic}' lacks its predicate")
        self._adds = binding.source(operands.pop(0), "pred")
        self._exponent = self._last(operands)

    def _form(self, a: Operand) -> TensorProduct:
        place = "tensor" if isinstance(a, Address) else "descriptor"
        found = named(f"{self.instruction.mnemonic}.a::{place}")
        if not isinstance(found, TensorProduct):
            raise self._binding.error(f"unsupported instruction '{self.instruction.mnemonic}'")
        return found

    def _refuse(self) -> None:
        """Say what is not simulated."""
        product = self.product
        for wrong, what in (
            (product.sparse, "sparse"),
            (".ashift" in product.ptx, "shifted"),
            (product.scaled and product.group > 1, "block-scaled, by a pair of CTAs"),
        ):
            if wrong:
                raise self._binding.error(f"'{product.mnemonic}' is not simulated: it is {what}")
        if product_kind(product.kind).of_floats and self.machine.numerics == "algebraic":
            raise self._binding.error(f"'{product.mnemonic}' has no meaning in algebraic numerics")

    def _place(self, operand: Operand) -> _Place:
        slot, bits, extra = self._binding.base(operand)
        if bits != 32:
            raise self._binding.error("an address of tensor memory has 32 bits")
        return _Place(slot, extra)

    def _mask(self, operands: list[Operand]) -> list[int]:
        """Slots of the words that say which lanes of D stay as they are; none without."""
        if not operands or not isinstance(operands[0], Vector):
            return []
        items = self._binding.items(operands.pop(0))
        if len(items) != self.product.lane_words or not self.product.masked:
            raise self._binding.error(f"'{self.product.mnemonic}' takes no such mask of lanes")
        if self.product.group > 1:  # whose words are which CTA's is not published
            raise self._binding.error(f"'{self.product.mnemonic}' takes no such mask of lanes")
        return [self._binding.source(item, "b32") for item in items]

    def _last(self, operands: list[Operand]) -> int:
        """The exponent by which D is divided first."""
        if not operands:
            return 0
        if self.product.stationary:
            raise self._binding.error(f"'{self.product.mnemonic}' with a mask is not simulated")
        (one,) = operands
        legal = self.product.kind in SCALED_INPUT_KINDS
        if not legal or not isinstance(one, Integer) or one.value not in EXPONENTS:
            raise self._binding.error(f"'{self.product.mnemonic}' takes no such exponent")
        return one.value

    def step(self) -> None:
        """Execute it, thread by thread."""
        for cta, warp, lane in np.argwhere(self.machine.active()).tolist():
            thread = (cta, warp, lane)
            try:
                self._execute(thread)
            except TilecError as error:
                if self.machine.observer is not None:
                    self.machine.observer.blame(
                        "tensor-memory", self.instruction, thread, f"multiplies, and {error}"
                    )

    def _value(self, slot: int, thread: Thread) -> int:
        return int(self.machine.full(self.machine.registers[slot])[thread])

    def _at(self, place: _Place, thread: Thread) -> tuple[int, int]:
        address = self._value(place.slot, thread) + place.extra
        return lane_and_column(address)

    def _execute(self, thread: Thread) -> None:
        product = self.product
        descriptor = InstructionDescriptor.decode(product.kind, self._value(self._idesc, thread))
        descriptor.check(product.group, stationary=product.stationary, sparse=product.sparse)
        if descriptor.wide:
            raise TilecError("K = 96 is not simulated")
        form = described_product(
            descriptor,
            product.group,
            stationary=product.stationary,
            a=product.a,
            chunks=product.chunks,
        )
        ctas = ctas_of(self.machine.geometry, thread[0], product.group)
        places = self._accumulator(form, thread, ctas)
        reads: list[tuple[int, Array, bool]] = []
        a = self._left(form, descriptor, thread, ctas, reads)
        b = self._shared(form.operand("b"), self._b, descriptor.transpose_b, thread, ctas, reads)
        scales = self._scale_factors(form, descriptor, thread) if self._scales else None
        self._watch(thread, ctas, places, reads)
        c = self._before(form, thread, places)
        signs = (-1 if descriptor.negate_a else 1, -1 if descriptor.negate_b else 1)
        d = multiply_tensors(
            form,
            a * signs[0] if signs[0] < 0 else a,
            (b * signs[1] if signs[1] < 0 else b).T,
            c,
            scales,
            arch=self.machine.arch,
            numerics=self.machine.numerics,
        )
        self._after(thread, places, d)

    # Tensor memory

    def _accumulator(self, form: DescribedProduct, thread: Thread, ctas: Sequence[int]) -> _Places:
        """Where the elements of D are, (m, n)."""
        m, n, _ = form.shape
        layout = accumulator(m, n, form.group, stationary=form.stationary)
        return self._inside("D", self._d, thread, ctas, layout.places())

    def _inside(
        self,
        name: str,
        place: _Place,
        thread: Thread,
        ctas: Sequence[int],
        relative: tuple[Array, Array, Array],
    ) -> _Places:
        """CTAs, and absolute lanes and columns, which must be the CTAs' own."""
        lane, column = self._at(place, thread)
        homes = np.array(ctas)[relative[0]]
        lanes, columns = relative[1] + lane, relative[2] + column
        if int(lanes.max()) >= LANES:
            raise TilecError(f"{name} reaches lane {int(lanes.max())} of tensor memory")
        for cta in ctas:
            outside = self.machine.tensor.outside(cta, np.unique(columns))
            if outside is not None:
                raise TilecError(
                    f"{name} reaches column {outside} of tensor memory, which its CTA has not "
                    "allocated"
                )
        return _Places(homes, lanes, columns)

    def _before(self, form: DescribedProduct, thread: Thread, places: _Places) -> Values:
        """D as it is, or zeros."""
        kind = numpy_type(form.operand("d").type)
        if not self._value(self._adds, thread):
            return np.zeros(places.lanes.shape, kind)
        self._defined("D", thread, places)
        words = self.machine.tensor.data[places]
        if kind.itemsize == 2:
            return np.ascontiguousarray(words.astype(np.uint16)).view(kind)
        values: Values = np.ascontiguousarray(words).view(kind)
        return np.ldexp(values, -self._exponent) if self._exponent else values

    def _defined(self, name: str, thread: Thread, places: _Places) -> None:
        observer = self.machine.observer
        blank = ~self.machine.tensor.written[places]
        if observer is None or not blank.any():
            return
        at = tuple(np.argwhere(blank)[0].tolist())
        observer.blame(
            "uninitialised",
            self.instruction,
            thread,
            f"reads lane {int(places.lanes[at])}, column {int(places.columns[at])} of tensor "
            f"memory as {name}, which nothing has written",
        )

    def _after(self, thread: Thread, places: _Places, d: Values) -> None:
        """Write D, but for lanes that are masked."""
        words = d.view(np.uint16 if d.dtype.itemsize == 2 else np.uint32).astype(np.uint32)
        memory = self.machine.tensor
        if self._lanes:
            mask = [self._value(slot, thread) for slot in self._lanes]
            kept = np.array([mask[lane // 32] >> lane % 32 & 1 for lane in range(LANES)], np.bool_)
            some = ~kept[places.lanes]
            places, words = _Places(*(one[some] for one in places)), words[some]
        memory.data[places] = words
        memory.written[places] = True

    # Operands

    def _left(
        self,
        form: DescribedProduct,
        descriptor: InstructionDescriptor,
        thread: Thread,
        ctas: Sequence[int],
        reads: list[tuple[int, Array, bool]],
    ) -> Values:
        operand = form.operand("a")
        if self._a is not None:
            return self._shared(operand, self._a, descriptor.transpose_a, thread, ctas, reads)
        assert self._a_place is not None
        if descriptor.transpose_a:
            raise TilecError("A in tensor memory is contiguous along K, never along M")
        layout, _ = left_operand(
            form.shape.m, operand.cols, operand.container, form.group, stationary=form.stationary
        )
        places = self._inside("A", self._a_place, thread, ctas, layout.places())
        self._defined("A", thread, places)
        self._reads(thread, ctas, places)
        return decode_tensor(operand, self.machine.tensor.data[places])

    def _scale_factors(
        self, form: DescribedProduct, descriptor: InstructionDescriptor, thread: Thread
    ) -> tuple[Values, Values]:
        """Those of A, (m, chunks), and of B, (chunks, n)."""
        found = []
        ids = (descriptor.sfa_id, descriptor.sfb_id)
        rows = (form.shape.m, form.shape.n)
        for place, count, first, name in zip(self._scales, rows, ids, ("sfa", "sfb"), strict=True):
            if first + self.product.chunks > _WORD:
                raise TilecError(f"byte {first} of {name} leaves no room for {self.product.chunks}")
            layout = scale_factors(count)
            scale = first + np.arange(self.product.chunks)
            places = layout(row=np.arange(count)[:, None], scale=scale)
            whole = [np.broadcast_to(one, (count, len(scale))) for one in places]
            homes = np.zeros_like(whole[0])
            relative = (homes, whole[0], whole[1])
            factors = self._inside(name, place, thread, thread[:1], relative)
            self._defined(name, thread, factors)
            self._reads(thread, thread[:1], factors)
            words = self.machine.tensor.data[factors]
            codes = words >> (8 * whole[2]).astype(np.uint32) & 0xFF
            type_ = form.operand(name).type
            found.append(values_of(type_, codes & ((1 << element_bits(type_)) - 1)))
        return found[0], found[1].T

    def _reads(self, thread: Thread, ctas: Sequence[int], places: _Places) -> None:
        """Tell that columns are read until a commit has been waited for."""
        observer = self.machine.observer
        if observer is not None and observer.tensor is not None:
            columns = np.unique(places.columns)
            for cta in ctas:
                observer.tensor.read_by_product(self.instruction, thread, columns, cta)

    def _shared(
        self,
        operand: MatrixOperand,
        slot: int,
        transposed: bool,
        thread: Thread,
        ctas: Sequence[int],
        reads: list[tuple[int, Array, bool]],
    ) -> Values:
        """Values of an operand in shared memory, (m or n, k); each CTA of a pair has a half."""
        memory = self.machine.memory
        if len(ctas) > 1:
            is_a = operand.name == "a"
            rows, cols = operand.rows // (1 + is_a), operand.cols // (2 - is_a)
            operand = replace(operand, rows=rows, cols=cols)
        at = placed(operand, self._value(slot, thread), transposed=transposed)
        if int(at.max()) + CHUNK > memory.shared_bytes:
            raise TilecError(
                f"operand {operand.name} reaches {int(at.max()) + CHUNK:#x}, and shared memory has "
                f"{memory.shared_bytes} bytes"
            )
        size = max(operand.container // 8, 1)
        parts = []
        for cta in ctas:
            reads.append((cta, np.unique(at >> 4), operand.container > operand.type.bits))
            base = memory.shared_base + cta * memory.shared_stride
            words = gather(memory.data, base, at, size, transposed=transposed)
            parts.append(decode_shared(operand, words))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _watch(
        self,
        thread: Thread,
        ctas: Sequence[int],
        places: _Places,
        reads: list[tuple[int, Array, bool]],
    ) -> None:
        """Tell what is in use until a commit has been waited for."""
        observer = self.machine.observer
        if observer is None or observer.tensor is None:
            return
        for _, granules, _ in reads:
            observer.traffic.count_operand(self.instruction, granules.size * CHUNK)
        columns = np.unique(places.columns)
        for cta in ctas:
            own = [(granules, padded) for home, granules, padded in reads if home == cta]
            observer.tensor.product(self.instruction, thread, columns, own, cta)
