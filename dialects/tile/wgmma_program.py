"""A tile program around one product of a warpgroup: operands by tensor copies, the result stored.

What lies in shared memory has no swizzle: panels of 16 bytes a row, in which the descriptors of
every form can tell it. The accumulator begins with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tilec.ir.mlir import ir
from tilec.isa import Form, Operand, Target
from tilec.isa.kernel import ENTRY, choose
from tilec.isa.lazy import cached_property
from tilec.isa.wgmma import Wgmma
from tilec.layout import any_fragment_of
from tilec.layout.operands import operand_layout
from tilec.layout.swizzle import CHUNK_BYTES

from .families import TILE_OPS
from .stored import stored_elements
from .tiles import bits_of, element_name, element_of
from .warpgroup import WarpgroupTile, warp_part

_BARRIERS = 'memref<1xi64, #tile.shared<"none">>'


@dataclass(frozen=True)
class _Part:
    """An operand of the form, in memory and in registers.

    Attributes:
        form: what it is an operand of.
        operand: which.
        transposed: whether memory holds the transpose of what the instruction multiplies by rows.
    """

    form: Form
    operand: Operand
    transposed: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.operand.name

    @cached_property
    def element(self) -> str:
        """The type of an element that memory holds."""
        return stored_elements(ir.Type.parse(element_name(self.operand)))[0]

    @cached_property
    def extents(self) -> tuple[int, int]:
        """Rows and columns in memory: of B the columns, K along them, unless it is transposed."""
        rows, cols = self.operand.rows, self.operand.cols
        if self.name == "e":
            rows, cols = operand_layout(self.form, "e").out_sizes.values()
        bits = bits_of(element_of(ir.Type.parse(element_name(self.operand))))
        across = self.name == "b"
        if across != self.transposed:
            rows, cols = cols, rows
        return rows, cols * bits // bits_of(ir.Type.parse(self.element))

    @property
    def array(self) -> str:
        """The memref in global memory."""
        rows, cols = self.extents
        return f"memref<{rows}x{cols}x{self.element}>"

    @property
    def panel(self) -> int:
        """Columns of a panel."""
        return CHUNK_BYTES * 8 // bits_of(ir.Type.parse(self.element))

    @property
    def panels(self) -> int:
        """How many there are."""
        return self.extents[1] // self.panel

    @property
    def shared(self) -> str:
        """The memref in shared memory, whose rows are a power of two."""
        height = max(8, 1 << (self.extents[0] - 1).bit_length())
        return f'memref<{self.panels}x{height}x{self.panel}x{self.element}, #tile.shared<"none">>'

    @cached_property
    def tile(self) -> WarpgroupTile:
        """The fragment of the warpgroup."""
        make = operand_layout if self.name == "e" else any_fragment_of
        layout = make(self.form, self.name)
        shape = tuple(layout.out_sizes.values())
        element = element_of(ir.Type.parse(element_name(self.operand)))
        return WarpgroupTile(shape, element, layout)

    @property
    def fragment(self) -> str:
        """Its type."""
        layout = str(self.tile.layout)
        if self.name != "e":  # columns that are not a power of two have a layout by its name alone
            sparse = " sparse" if self.form.sparsity else ""
            layout = f"{self.form.shape} {self.name} {self.operand.type}{sparse}"
        return self._fragment(self.tile.shape, layout)

    def rows_of_a_warp(self, column: int, width: int) -> str:
        """The type of a warp's rows, of so many columns."""
        layout = warp_part(self.tile, column, width)
        return self._fragment(tuple(layout.out_sizes.values()), str(layout))

    def _fragment(self, shape: tuple[int, ...], layout: str) -> str:
        extents = "x".join(map(str, shape))
        tensor = f"tensor<{extents}x{element_name(self.operand)}>"
        return f'!tile.frag<{tensor}, #tile.layout<"{layout}">>'


def wgmma_program(form: Wgmma, target: Target, selectors: Mapping[str, int]) -> str:
    """A program that executes a form once, in one warpgroup: MLIR text that `tilec` compiles.

    Raises:
        TilecError: if `target` lacks the form, or a selector is unknown or out of range.
    """
    form.require(target)
    chosen = choose(form, selectors)
    parts = {
        one.name: _Part(form, one, bool(chosen.get(f"imm_trans_{one.name}")))
        for one in form.all_operands
        if one.name != "c"
    }
    signature = ", ".join(f"%{name}: {part.array}" for name, part in parts.items())
    lines = [*_setup(), *_shared(parts), *_registers(parts), *_product(form, parts, chosen)]
    lines += _result(parts["d"])
    about = [
        form.ptx,
        "Launch one CTA of 128 threads. Each parameter points to global memory:",
    ]
    about += [f"  {_told(part)}" for part in parts.values()]
    about += [f"  {name} = {value}" for name, value in chosen.items()]
    body = "\n".join(f"    {line}" for line in lines)
    return (
        "".join(f"// {line}\n" for line in about)
        + f'gpu.module @forms [#nvvm.target<chip = "{target}">] {{\n'
        + f"  gpu.func @{ENTRY}({signature}) kernel attributes {{\n"
        + f"      known_block_size = array<i32: 128, 1, 1>}} {{\n{body}\n"
        + "    gpu.return\n  }\n}\n"
    )


def _told(part: _Part) -> str:
    operand = part.operand
    rows, cols = part.tile.shape if part.name == "e" else (operand.rows, operand.cols)
    how = "transposed in" if part.transposed != (part.name == "b") else "in"
    to_do = "written" if part.name == "d" else "read"
    return f"{part.name}: {rows}x{cols} {operand.type}, {how} {part.array}, {to_do}"


def _setup() -> Iterator[str]:
    for value in (0, 16, 32):
        yield f"%c{value} = arith.constant {value} : index"
    yield "%even = arith.constant false"
    yield "%thread = gpu.thread_id x"
    yield "%warp = arith.divui %thread, %c32 : index"
    yield "%row = arith.muli %warp, %c16 : index"
    yield "%is_first = arith.cmpi eq, %thread, %c0 : index"


def _shared(parts: Mapping[str, _Part]) -> Iterator[str]:
    """One thread copies what descriptors tell, panel by panel; all wait."""
    told = [part for part in parts.values() if not part.operand.threads]
    for part in told:
        yield f"%{part.name}_shared = tile.alloc_shared : {part.shared}"
        for at in range(part.panels):
            yield f"%{part.name}_panel_{at} = arith.constant {at} : index"
            yield f"%{part.name}_column_{at} = arith.constant {at * part.panel} : index"
    total = sum(part.panels * part.extents[0] * CHUNK_BYTES for part in told)
    yield f"%full = tile.alloc_shared : {_BARRIERS}"
    yield "scf.if %is_first {"
    yield f"  tile.barrier_init %full[%c0] count 1 : {_BARRIERS}"
    yield "  nvvm.fence.mbarrier.init"
    yield f"  tile.barrier_expect %full[%c0] bytes {total} : {_BARRIERS}"
    for part in told:
        name, rows = part.name, part.extents[0]
        for at in range(part.panels):
            yield (
                f"  tile.tma_load %{name}[%c0, %{name}_column_{at}] to "
                f"%{name}_shared[%{name}_panel_{at}, %c0, %c0] signal %full[%c0] "
                f"shape [{rows}, {part.panel}] : {part.array} to {part.shared} signal {_BARRIERS}"
            )
    yield "}"
    yield "gpu.barrier"
    yield f"tile.barrier_wait %full[%c0] parity %even : {_BARRIERS}"


def _registers(parts: Mapping[str, _Part]) -> Iterator[str]:
    """Each warp loads its rows of what lies in registers, and the four join; after a fence."""
    for name, part in parts.items():
        if not part.operand.threads or name == "d":
            continue
        rows = part.rows_of_a_warp(0, part.tile.shape[1])
        yield f"%{name}_rows = tile.load %{name}[%row, %c0] : {part.array} -> {rows}"
        yield f"%{name}_joined = tile.join_warps %{name}_rows : {rows} -> {part.fragment}"
        yield f"%{name}_fenced = tile.wgmma_fence %{name}_joined : {part.fragment}"


def _product(form: Form, parts: Mapping[str, _Part], chosen: Mapping[str, int]) -> Iterator[str]:
    d = parts["d"].fragment
    operands, types = [], []
    for name in "ab":
        part = parts[name]
        told = not part.operand.threads
        operands.append(f"%{name}_shared[%c0, %c0, %c0]" if told else f"%{name}_fenced")
        types.append(part.shared if told else part.fragment)
    operands.append("%zeros_fenced")
    types.append(d)
    if "e" in parts:
        operands.append("%e_fenced")
        types.append(parts["e"].fragment)
    given = {name: value for name, value in chosen.items() if name != "scale_d"}
    attributes = ", ".join([f'form = "{form.ptx}"', *(f"{n} = {v}" for n, v in given.items())])
    yield f"%scale_d = arith.constant {'true' if chosen.get('scale_d', 1) else 'false'}"
    yield f"%zeros = tile.accumulator : {d}"
    yield f"%zeros_fenced = tile.wgmma_fence %zeros : {d}"
    yield (
        f"%flight = {TILE_OPS[form.family]} {', '.join(operands)} if %scale_d {{{attributes}}} : "
        f"{', '.join(types)}"
    )
    yield "tile.wgmma_commit"
    yield f"%product = tile.wgmma_wait 0 %flight : {d}"


def _result(d: _Part) -> Iterator[str]:
    """The result, by parts whose columns are powers of two."""
    column, columns = 0, d.operand.cols
    while column < columns:
        width = 1 << ((columns - column).bit_length() - 1)
        part = d.rows_of_a_warp(column, width)
        yield f"%at_{column} = arith.constant {column} : index"
        yield f"%part_{column} = tile.warp_part %product column {column} : {d.fragment} -> {part}"
        yield f"tile.store %part_{column}, %d[%row, %at_{column}] : {part}, {d.array}"
        column += width
