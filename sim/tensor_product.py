"""`tcgen05.mma`, bound: what one thread has multiplied into tensor memory. PTX ISA 9.7.16.10.9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tilec.isa import Operand as MatrixOperand
from tilec.isa import TilecError
from tilec.isa.described_product import DescribedProduct, described_product
from tilec.isa.dtypes import numpy_type
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.tensor_clauses import SCALED_INPUT, WIDE
from tilec.isa.tensor_memory import LANES
from tilec.isa.tensor_products import EXPONENTS, SCALED_INPUT_KINDS, TensorProduct
from tilec.isa.tensor_shapes import product_kind
from tilec.isa.wording import counted
from tilec.layout.tensor_memory import accumulator, left_operand

from .alu import Array
from .binding import Binding
from .checks.in_flight import Thread
from .checks.sets import distinct
from .checks.tensor_records import Accumulator
from .ptx.module import Integer, Operand, Vector
from .shared_operands import CHUNK, gather
from .tensor.tensor_product import Sides, multiply_tensors
from .tensor_forms import check_target
from .tensor_memory import ctas_of
from .tensor_operands import Values, decode_shared, decode_tensor, placed
from .tensor_places import Places, TensorPlaces
from .tensor_side_operands import read_metadata, read_scales, zero_columns

_NO_WIDE = "with K = 96 is not simulated: where its scale factors stand is not published"


class TensorMultiply:
    """One `tcgen05.mma`.

    Attributes:
        product: its form.
    """

    def __init__(self, binding: Binding, form: TensorProduct) -> None:
        self.machine, self.instruction = binding.machine, binding.instruction
        self.product = form
        self._binding = binding
        operands = list(binding.operands)
        if len(operands) < 5:
            raise binding.error(f"'{binding.instruction.mnemonic}' takes five operands or more")
        self._refuse()
        self._places = TensorPlaces(binding)
        self._d = self._places.bind(operands.pop(0))
        first, second = operands.pop(0), operands.pop(0)
        self._a_place = self._places.bind(first) if self.product.a == "tensor" else None
        self._a = None if self._a_place else binding.exact(first, "b64")
        self._b = binding.exact(second, "b64")
        self._metadata = self._places.bind(operands.pop(0)) if self.product.sparse else None
        if len(operands) < 2 + 2 * self.product.scaled:
            raise binding.error(f"'{self.product.mnemonic}' takes {self.product.operands}")
        self._idesc = self._described(operands.pop(0))
        self._scales = [self._places.bind(operands.pop(0)) for _ in range(2 * self.product.scaled)]
        self._lanes = self._mask(operands)
        if not operands:
            raise binding.error(f"'{binding.instruction.mnemonic}' lacks its predicate")
        self._adds = binding.source(operands.pop(0), "pred")
        self._zeros = self._columns(operands) if self.product.stationary else None
        self._exponent = self._last(operands)

    def _refuse(self) -> None:
        """Say what is not simulated."""
        product = self.product
        if ".ashift" in product.ptx:
            raise self._binding.error(
                f"'{product.mnemonic}' is not simulated: which way .ashift moves rows is not "
                "published"
            )
        if product_kind(product.kind).of_floats and self.machine.numerics == "algebraic":
            raise self._binding.error(f"'{product.mnemonic}' has no meaning in algebraic numerics")

    def _described(self, operand: Operand) -> int:
        """The slot of the instruction descriptor; a constant that is none is refused."""
        if isinstance(operand, Integer):
            try:
                wide = self._descriptor(operand.value).wide
            except TilecError as error:
                raise self._binding.error(f"'{self.product.mnemonic}': {error}") from None
            if wide:
                check_target(self._binding, WIDE.since, f"K = 96 of {self.product.mnemonic}")
                raise self._binding.error(f"'{self.product.mnemonic}' {_NO_WIDE}")
        return self._binding.exact(operand, "b32")

    def _descriptor(self, word: int) -> InstructionDescriptor:
        """An instruction descriptor that the instruction takes.

        Raises:
            TilecError: if it takes none such, naming what would be legal.
        """
        product = self.product
        found = InstructionDescriptor.decode(product.kind, word)
        found.check(product.group, stationary=product.stationary, sparse=product.sparse)
        return found

    def _mask(self, operands: list[Operand]) -> list[int]:
        """Slots of the words that say which lanes of D stay as they are; none without."""
        if not operands or not isinstance(operands[0], Vector):
            return []
        items = self._binding.items(operands.pop(0))
        if len(items) != self.product.lane_words or not self.product.masked:
            raise self._binding.error(f"'{self.product.mnemonic}' takes no such mask of lanes")
        return [self._binding.exact(item, "b32") for item in items]

    def _last(self, operands: list[Operand]) -> int:
        """The exponent by which D is divided first."""
        if not operands:
            return 0
        (one,) = operands
        legal = self.product.kind in SCALED_INPUT_KINDS
        if not legal or not isinstance(one, Integer) or one.value not in EXPONENTS:
            raise self._binding.error(f"'{self.product.mnemonic}' takes no such exponent")
        check_target(self._binding, SCALED_INPUT.since, f"the exponent of {self.product.mnemonic}")
        return one.value

    def _columns(self, operands: list[Operand]) -> int | None:
        """The slot of the mask that says which columns of B count as 0; None without."""
        if not operands:
            return None
        one = operands.pop(0)
        if isinstance(one, Integer):
            try:
                _ = zero_columns(one.value)
            except TilecError as error:
                raise self._binding.error(f"'{self.product.mnemonic}': {error}") from None
        return self._binding.exact(one, "b64")

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

    def _execute(self, thread: Thread) -> None:
        product = self.product
        word = self._places.value(self._idesc, thread)
        descriptor = self._descriptor(word)
        if descriptor.wide:
            raise TilecError(f"its instruction {_NO_WIDE}")
        form = described_product(
            descriptor,
            product.group,
            stationary=product.stationary,
            a=product.a,
            chunks=product.chunks,
        )
        ctas = ctas_of(self.machine.geometry, thread[0], product.group)
        self._collect(thread, ctas[0])
        places = self._accumulator(form, thread, ctas)
        sides = self._side_operands(form, thread, ctas)
        reads: list[tuple[int, Array, bool]] = []
        a = self._left(form, descriptor, thread, ctas, reads)
        b = self._shared(form.operand("b"), self._b, descriptor.transpose_b, thread, ctas, reads)
        if self._zeros is not None:
            mask = zero_columns(self._places.value(self._zeros, thread))
            zero = np.array(mask.columns(form.shape.m, form.shape.n))
            b = np.where(zero[:, None], np.zeros((), b.dtype), b)
        self._watch(thread, ctas, places, reads)
        c = self._before(form, thread, places)
        signs = (-1 if descriptor.negate_a else 1, -1 if descriptor.negate_b else 1)
        d = multiply_tensors(
            form,
            a * signs[0] if signs[0] < 0 else a,
            (b * signs[1] if signs[1] < 0 else b).T,
            c,
            sides,
            arch=self.machine.arch,
            numerics=self.machine.numerics,
        )
        self._after(thread, places, d)
        self.machine.tensor_products[form.ptx, form.flops] += 1

    def _collect(self, thread: Thread, cta: int) -> None:
        """Blame it for the use of a collector's buffer that nothing has filled."""
        buffer, use = self.product.collector
        legal = self.machine.tensor.collect(cta, buffer, use)
        if not legal and self.machine.observer is not None:
            self.machine.observer.blame(
                "tensor-memory",
                self.instruction,
                thread,
                f"takes {buffer.upper()} from the collector, which no product has filled, or the "
                "last has given up",
            )

    # Tensor memory

    def _accumulator(self, form: DescribedProduct, thread: Thread, ctas: Sequence[int]) -> Places:
        """Where the elements of D are, (m, n)."""
        m, n, _ = form.shape
        sparse = self.product.sparse
        layout = accumulator(m, n, form.group, stationary=form.stationary, sparse=sparse)
        return self._places.inside("D", self._d, thread, ctas, layout.places())

    def _before(self, form: DescribedProduct, thread: Thread, places: Places) -> Values:
        """D as it is, or zeros."""
        kind = numpy_type(form.operand("d").type)
        if not self._places.value(self._adds, thread):
            return np.zeros(places.lanes.shape, kind)
        self._places.check_written("D", thread, places)
        words = self.machine.tensor.data[places]
        unit = words.astype(np.uint16) if kind.itemsize == 2 else words
        values: Values = np.ascontiguousarray(unit).view(kind)
        return np.ldexp(values, -self._exponent) if self._exponent else values

    def _after(self, thread: Thread, places: Places, d: Values) -> None:
        """Write D, but for lanes that are masked."""
        words = d.view(np.uint16 if d.dtype.itemsize == 2 else np.uint32).astype(np.uint32)
        memory = self.machine.tensor
        if self._lanes:
            mask = [self._places.value(slot, thread) for slot in self._lanes]
            # Of a pair the first CTA's lanes come first, which is our reading.
            lanes = LANES * (places.ctas - places.ctas.min()) + places.lanes
            kept = np.array([mask[at // 32] >> at % 32 & 1 for at in range(32 * len(mask))], bool)
            some = ~kept[lanes]
            places, words = Places(*(one[some] for one in places)), words[some]
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
            form.shape.m,
            operand.cols,
            operand.container,
            form.group,
            stationary=form.stationary,
            sparse=self.product.sparse,
        )
        return decode_tensor(
            operand, self._places.read("A", self._a_place, thread, ctas, layout.places())
        )

    def _side_operands(self, form: DescribedProduct, thread: Thread, ctas: Sequence[int]) -> Sides:
        """Scale factors and metadata, as far as it has them."""
        found = Sides()
        if self._scales:
            a, b = (
                read_scales(self._places, form, name, place, thread, ctas)
                for name, place in zip(("sfa", "sfb"), self._scales, strict=True)
            )
            found = replace(found, scale_a=a, scale_b=b.transpose(0, 2, 1))
        if self._metadata is not None:
            codes = read_metadata(self._places, form, self._metadata, thread, ctas)
            found = replace(found, codes=codes)
        return found

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
        at = placed(operand, self._places.value(slot, thread), transposed=transposed)
        if int(at.max()) + CHUNK > memory.shared_bytes:
            raise TilecError(
                f"operand {operand.name} reaches {int(at.max()) + CHUNK:#x}, and shared memory has "
                f"{counted(memory.shared_bytes, 'byte')}"
            )
        size = max(operand.container // 8, 1)
        parts = []
        for cta in ctas:
            reads.append((cta, distinct(at >> 4), operand.container > operand.type.bits))
            base = memory.shared_base + cta * memory.shared_stride
            words = gather(memory.data, base, at, size, transposed=transposed)
            parts.append(decode_shared(operand, words))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _watch(
        self,
        thread: Thread,
        ctas: Sequence[int],
        places: Places,
        reads: list[tuple[int, Array, bool]],
    ) -> None:
        """Tell what is in use until a commit has been waited for."""
        observer = self.machine.observer
        if observer is None or observer.tensor is None:
            return
        for _, granules, _ in reads:
            observer.traffic.count_operand(self.instruction, granules.size * CHUNK)
        columns = distinct(places.columns)
        sums = Accumulator(int(places.lanes.min()), int(columns[0]), *places.lanes.shape)
        for cta in ctas:
            own = [(granules, padded) for home, granules, padded in reads if home == cta]
            observer.tensor.product(self.instruction, thread, columns, own, cta, sums)
