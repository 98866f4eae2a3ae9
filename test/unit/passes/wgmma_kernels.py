"""Level-3 kernels of any form of wgmma: operands by tensor copies, the result by plain stores."""

from __future__ import annotations

from dataclasses import dataclass

BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1,
    "f32": 32, "s32": 32,
}  # fmt: skip
ELEMENTS = {"tf32": "f32", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "s8": "i8", "u8": "i8", "b1": "i8"}
INSIDE = {"tf32": "tf32", "b1": "i1", "s32": "i32"}
LINES = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
STEPS = {"none": 2, "32B": 2, "64B": 2, "128B": 4}
BARRIERS = 'memref<1xi64, #tile.shared<"none">>'
WARP = "lane [0,2] [0,4] [1,0] [2,0] [4,0]"


@dataclass(frozen=True)
class Product:
    """A product of a form of wgmma, with several instructions along K.

    Attributes:
        d, a, b: types of the operands.
        n: columns.
        sparse: whether A is.
        registers: whether it is in registers.
        swizzles: of A and B in shared memory.
        transposed: whether M of A, and N of B, is contiguous.
        signs: what A and B are multiplied by.
        selector: of the metadata.
        satfinite: whether integers clamp.
    """

    d: str
    a: str
    b: str
    n: int
    sparse: bool = False
    registers: bool = False
    swizzles: tuple[str, str] = ("128B", "128B")
    transposed: tuple[bool, bool] = (False, False)
    signs: tuple[int, int] = (1, 1)
    selector: int = 0
    satfinite: bool = False

    @property
    def stored(self) -> int:
        """Elements of A along K of an instruction, as they are stored."""
        return 256 // BITS[self.a]

    @property
    def k(self) -> int:
        """Elements along K of an instruction."""
        return self.stored * (2 if self.sparse else 1)

    @property
    def steps(self) -> int:
        """Instructions along K: whole lines of either swizzle."""
        return max(STEPS[swizzle] for swizzle in self.swizzles)

    @property
    def shape(self) -> str:
        return f"m64n{self.n}k{self.k}"

    @property
    def form(self) -> str:
        """The key of the instruction."""
        types = f"{self.d}.{self.a}.{self.b}" + (".and.popc" if self.a == "b1" else "")
        clamp = ".satfinite" if self.satfinite else ""
        where = "registers" if self.registers else "descriptor"
        sparse = ".sp" if self.sparse else ""
        return f"wgmma.mma_async{sparse}.sync.aligned.{self.shape}{clamp}.{types}.a::{where}"

    @property
    def scales(self) -> bool:
        """Whether it multiplies by signs."""
        return self.d != "s32"


@dataclass(frozen=True)
class Side:
    """A or B in memory and in shared memory: lines of the swizzle, in panels.

    Attributes:
        lines: of the array, contiguous along the other dimension.
        width: elements of a line of the array, bytes of b1.
        panel: elements of a line of the swizzle.
        element: in MLIR.
        swizzle: which.
    """

    lines: int
    width: int
    panel: int
    element: str
    swizzle: str

    @property
    def panels(self) -> int:
        return -(-self.width // self.panel)  # what of the last the array has not is zeros

    @property
    def array(self) -> str:
        return f"memref<{self.lines}x{self.width}x{self.element}>"

    @property
    def shared(self) -> str:
        height = 1 << (self.lines - 1).bit_length()
        return (
            f"memref<{self.panels}x{height}x{self.panel}x{self.element}, "
            f'#tile.shared<"{self.swizzle}">>'
        )

    @property
    def bytes(self) -> int:
        return self.panels * self.lines * LINES[self.swizzle]


def side(product: Product, name: str) -> Side:
    """Where operand a or b lies."""
    at = "ab".index(name)
    type_, rows = (product.a, 64) if name == "a" else (product.b, product.n)
    swizzle, depth = (
        product.swizzles[at],
        product.steps * (product.stored if name == "a" else product.k),
    )
    element = ELEMENTS.get(type_, type_)
    if type_ == "b1":
        depth //= 8
    panel = LINES[swizzle] * 8 // max(BITS[type_], 8)
    lines, width = (depth, rows) if product.transposed[at] else (rows, depth)
    return Side(lines, width, panel, element, swizzle)


def fragment(shape: str, layout: str) -> str:
    return f'!tile.frag<tensor<{shape}>, #tile.layout<"{layout}">>'


def columns(product: Product) -> list[tuple[int, int]]:
    """Columns of D by powers of two: where each part begins, and its width."""
    found, column = [], 0
    while column < product.n:
        width = 1 << ((product.n - column).bit_length() - 1)
        found.append((column, width))
        column += width
    return found


def text(product: Product) -> str:
    """The kernel: arguments A as stored, B, D, and of a sparse product the metadata as bytes."""
    a, b = side(product, "a"), side(product, "b")
    d_element = INSIDE.get(product.d, product.d)
    sparse = " sparse" if product.sparse else ""
    d = fragment(f"64x{product.n}x{d_element}", f"{product.shape} d {product.d}{sparse}")
    lines = [
        *(f"%c{n} = arith.constant {n} : index" for n in range(257)),
        "%true = arith.constant true",
        "%even = arith.constant false",
        f"%sb = tile.alloc_shared : {b.shared}",
        f"%full = tile.alloc_shared : {BARRIERS}",
        "%thread = gpu.thread_id x",
        "%warp = arith.divui %thread, %c32 : index",
        "%row = arith.muli %warp, %c16 : index",
        "%first = arith.cmpi eq, %thread, %c0 : index",
    ]
    sides = {"b": b}
    if not product.registers:
        sides = {"a": a, "b": b}
        lines.append(f"%sa = tile.alloc_shared : {a.shared}")
    lines += _loads(sides)
    lines += _in_registers(product, a)
    lines += [f"%zero = tile.accumulator : {d}", f"%acc0 = tile.wgmma_fence %zero : {d}"]
    lines += [_step(product, step, a, b, d) for step in range(product.steps)]
    lines += ["tile.wgmma_commit", f"%done = tile.wgmma_wait 0 %acc{product.steps} : {d}"]
    out = f"memref<64x{product.n}x{d_element}>"
    for column, width in columns(product):
        registers = ["[0,1]", "[8,0]", *(f"[0,{1 << i}]" for i in range(3, width.bit_length() - 1))]
        part = fragment(
            f"16x{width}x{d_element}",
            f"register {' '.join(registers)}; {WARP} -> row 16, col {width}",
        )
        lines += [
            f"%p{column} = tile.warp_part %done column {column} : {d} -> {part}",
            f"tile.store %p{column}, %d[%row, %c{column}] : {part}, {out}",
        ]
    metadata = f", %e: memref<{product.steps}x64x8xi8>" if product.sparse else ""
    return "\n".join(
        [
            'gpu.module @m [#nvvm.target<chip = "sm_90a">] {',
            f"gpu.func @k(%a: {a.array}, %b: {b.array}, %d: {out}{metadata}) kernel attributes {{"
            "known_block_size = array<i32: 128, 1, 1>} {",
            *lines,
            "gpu.return",
            "}",
            "}",
        ]
    )


def _loads(sides: dict[str, Side]) -> list[str]:
    """One thread copies the boxes of every operand in shared memory; all wait."""
    total = sum(one.bytes for one in sides.values())
    lines = [
        "scf.if %first {",
        f"tile.barrier_init %full[%c0] count 1 : {BARRIERS}",
        "nvvm.fence.mbarrier.init",
        f"tile.barrier_expect %full[%c0] bytes {total} : {BARRIERS}",
    ]
    for name, one in sides.items():
        for panel in range(one.panels):
            box = f"shape [{one.lines}, {one.panel}] : {one.array}"
            at = f"%{name}[%c0, %c{panel * one.panel}]"
            lines += [
                f"tile.tma_prefetch {at} {box}",
                f"tile.tma_load {at} to %s{name}[%c{panel}, %c0, %c0] signal %full[%c0] "
                f"{box} to {one.shared} signal {BARRIERS}",
            ]
    return [*lines, "}", "gpu.barrier", f"tile.barrier_wait %full[%c0] parity %even : {BARRIERS}"]


def _in_registers(product: Product, a: Side) -> list[str]:
    """A, where it is in registers, and the metadata: each warp loads its rows, and they join."""
    lines = []
    inside = INSIDE.get(product.a, ELEMENTS.get(product.a, product.a))
    width = product.stored * a.width // (product.steps * product.stored)  # of the array
    for step in range(product.steps):
        if product.registers:
            rows = fragment(
                f"16x{product.stored}x{inside}", f"m16n8k{product.stored} a {product.a}"
            )
            lines += [
                f"%w{step} = tile.load %a[%row, %c{step * width}] : {a.array} -> {rows}",
                f"%r{step} = tile.join_warps %w{step} : {rows} -> {a_fragment(product)}",
                f"%a{step} = tile.wgmma_fence %r{step} : {a_fragment(product)}",
            ]
        if product.sparse:
            codes = fragment("16x16xi4", _codes(product, 16))
            lines += [
                f"%v{step} = tile.load %e[%c{step}, %row, %c0] : memref<{product.steps}x64x8xi8> "
                f"-> {codes}",
                f"%j{step} = tile.join_warps %v{step} : {codes} -> {e_fragment(product)}",
                f"%e{step} = tile.wgmma_fence %j{step} : {e_fragment(product)}",
            ]
    return lines


def a_fragment(product: Product) -> str:
    inside = INSIDE.get(product.a, ELEMENTS.get(product.a, product.a))
    sparse = " sparse" if product.sparse else ""
    return fragment(f"64x{product.stored}x{inside}", f"{product.shape} a {product.a}{sparse}")


def e_fragment(product: Product) -> str:
    return fragment("64x16xi4", _codes(product, 64))


def _codes(product: Product, rows: int) -> str:
    """Codes of 16-bit and wider elements lie by selector, those of bytes in all lanes."""
    warps = "; warp [16,0] [32,0]" if rows == 64 else ""
    parts = ("[8,0]", "[0,4]") if BITS[product.a] > 8 else ("[0,4]", "[8,0]")
    return (
        f"register [0,1] [0,2] {parts[0]}; lane {parts[1]} [0,8] [1,0] [2,0] [4,0]{warps} "
        f"-> row {rows}, col 16"
    )


def _step(product: Product, step: int, a: Side, b: Side, d: str) -> str:
    """One instruction."""

    def place(one: Side, transposed: bool) -> str:
        if transposed:
            return f"[%c0, %c{step * one.lines // product.steps}, %c0]"
        panel, column = divmod(step * one.width // product.steps, one.panel)
        return f"[%c{panel}, %c0, %c{column}]"

    attributes = [f'form = "{product.form}"']
    for name, sign, transposed in zip("ab", product.signs, product.transposed, strict=True):
        attributes += [f"imm_scale_{name} = {sign}"] * (sign < 0)
        attributes += [f"imm_trans_{name} = 1"] * transposed
    left, left_type = f"%sa{place(a, product.transposed[0])}", a.shared
    if product.registers:
        left, left_type = f"%a{step}", a_fragment(product)
    right = f"%sb{place(b, product.transposed[1])}"
    op, extra, types = "tile.wgmma", "", f"{left_type}, {b.shared}, {d}"
    if product.sparse:
        op, extra, types = "tile.wgmma_sp", f", %e{step}", f"{types}, {e_fragment(product)}"
        attributes.append(f"selector = {product.selector}")
    return (
        f"%acc{step + 1} = {op} {left}, {right}, %acc{step}{extra} if %true "
        f"{{{', '.join(attributes)}}} : {types}"
    )
