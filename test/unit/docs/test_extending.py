"""Each kind of change of `docs/extending.md`, made in the files that it names and no others.

The change is made in a copy of the repository, where what it adds must then go its whole road; what
comes out is compared with numpy.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "extending.md"


@dataclass(frozen=True)
class Change:
    """A kind of change.

    Attributes:
        section: the page's heading over it.
        edits: files with a text in each, before which what is added stands.
        new: further files.
        check: what Python runs afterwards.
        commands: what is run besides, with a text that each must print.
    """

    section: str
    edits: dict[str, list[tuple[str, str]]]
    check: str
    new: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)


def sections() -> dict[str, str]:
    """The page's sections by their headings."""
    _, *found = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {text.partition("\n")[0]: text for text in found}


def named(section: str) -> set[str]:
    """The files and folders that a section names; a file without a folder is beside the last."""
    found: set[str] = set()
    folder = ""
    for name in re.findall(r"`([\w./<>]+(?:/|\.\w+))`", section):
        if "/" in name:
            folder = name.rpartition("/")[0] + "/"
            found.add(name)
        else:
            found.add(folder + name)
    return found


def is_named(file: str, names: set[str]) -> bool:
    """Whether a file, or a folder that it is in, is named; `<op>` stands for any word."""
    patterns = (re.sub(r"<\w+>", r"\\w+", re.escape(name)) for name in names)
    return any(re.match(p if p.endswith("/") else f"{p}$", file) for p in patterns)


RUN_A_KERNEL = """
import numpy as np, tilec
TEXT = '''
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = "tile.load"(%x, %c0, %c0) {masked}
        : (memref<?x?xf32>, index, index) -> tensor<32x32xf32>
    %b = "tile.twice"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    "tile.store"(%b, %y, %c0, %c0) {masked}
        : (tensor<32x32xf32>, memref<?x?xf32>, index, index) -> ()
    gpu.return
  }
}
'''
compiled = tilec.compile(TEXT)
x = np.random.default_rng(0).standard_normal((30, 31)).astype(np.float32)
y = np.zeros_like(x)
assert compiled.launch(x, y, grid=1).ok
np.testing.assert_array_equal(y, 2 * x)

from tilec.dialects.tile import builders as tile
with tile.module("built", target="sm_80") as module:
    with tile.kernel("k", {"x": "memref<?x?xf32>"}, block=32) as (x,):
        loaded = tile.load(x, 0, 0, type="tensor<16x16xf32>", masked=True)
        tile.store(tile.twice(loaded), x, 0, 0, masked=True)
tilec.compile(module)
try:
    wrong = TEXT.replace("(tensor<32x32xf32>) ->", "(tensor<32x32xf32>) -> tensor<32x16xf32> //")
    tilec.compile(wrong.replace("(tensor<32x32xf32>, memref", "(tensor<32x16xf32>, memref"))
except tilec.TilecError as error:
    assert "'tile.twice' op takes and gives one type" in str(error), error
else:
    raise SystemExit("an illegal op was accepted")
"""

OP = Change(
    "An op",
    {
        "dialects/tile/ops/elementwise.py": [
            (
                "class CastOp(",
                '''class TwiceOp(TileOp, name="twice"):
    """A tile twice."""

    SEMANTICS = PURE.but(layouts=LayoutRule.JOINED, cost=1)

    source: ext.Operand[Any]
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the types."""
        if self.operands[0].type != self.results[0].type:
            raise TilecError("takes and gives one type")


''',
            ),
            ("from tilec.ir.mlir", "from tilec.dialects.semantics import LayoutRule\n"),
        ],
        "dialects/tile/ops/__init__.py": [
            ("from .iota", "from .elementwise import TwiceOp\n"),
            ('    "WmmaElementwiseOp"', '    "TwiceOp",\n'),
        ],
        "dialects/tile/builders/registers.py": [
            (
                "@located\ndef select",
                '''@located
def twice(source: Value) -> Value:
    """`tile.twice`: a tile twice."""
    return emit(TwiceOp, [source], source.type)


''',
            ),
            ("from ..ops.movmatrix", "from ..ops import TwiceOp\n"),
        ],
        "dialects/tile/builders/__init__.py": [("from .types", "from .registers import twice\n")],
        "passes/to_fragments.py": [
            ("                    lowers(LoadOp", "                    lowers(TwiceOp, twice),\n"),
            ("from .fragments.parts", "from .fragments.twice import TwiceOp, twice\n"),
        ],
    },
    RUN_A_KERNEL,
    new={
        "passes/fragments/twice.py": '''"""A tile twice."""

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ElementwiseOp, TwiceOp
from tilec.ir.mlir import ir

from .expansion import Expansion, Values


def twice(op: TwiceOp, expansion: Expansion) -> list[Values]:
    """Each of its fragments added to itself."""
    add = ir.StringAttr.get("arith.addf")
    held = expansion.values(op.source)
    return [[emit(ElementwiseOp, [value, value], value.type, fn=add) for value in held]]
''',
        "test/lit/dialect/twice.mlir": """// RUN: tile-opt %s | FileCheck %s

func.func @twice(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: "tile.twice"(%{{.*}}) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = "tile.twice"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
""",
    },
    commands={
        "python docs/make_dialect.py && cat docs/dialect.md": "tile.twice",
        "lit -v test/lit/dialect/twice.mlir": "PASS",
    },
)

FORM = Change(
    "An instruction form of a known family",
    {
        "isa/mma_dense.py": [
            (
                "    yield from _alternate()\n",
                '    types, ampere = ("f32", "f16", "f16", "f32"), (Since.of("sm_80", "7.0"),)\n'
                '    yield mma(Shape(16, 8, 32), types, ampere, "none", in_llvm=False)\n',
            )
        ]
    },
    """
import numpy as np, tilec
import tilec.lang as tl
FORM = "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"

@tilec.kernel(warps=1)
def product(a: tl.Array[tl.float16, int, int], b: tl.Array[tl.float16, int, int],
            c: tl.Array[tl.float32, int, int]) -> None:
    found = tl.dot(tl.load(a, (0, 0), (16, 32)), tl.load(b, (0, 0), (32, 8)), form=FORM)
    tl.store(c, (0, 0), found)

rng = np.random.default_rng(0)
a = rng.integers(-4, 5, (16, 32)).astype(np.float16)
b = rng.integers(-4, 5, (32, 8)).astype(np.float16)
c = np.empty((16, 8), np.float32)
assert FORM in product.compile(a, b, c).ptx
product[1, 1](a, b, c)
np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
""",
    commands={
        "python docs/make_forms.py && cat docs/forms.md": "m16n8k32",
        "tile-isa show mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32": "m16n8k32",
        "tile-isa emit mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 --target sm_80": "k32.",
        "tile-layout m16n8k32 --operand a --type f16 --element 3,5": "lane 14",
    },
)

INSTRUCTION = Change(
    "An instruction in the simulator",
    {
        "sim/instructions/warp.py": [
            (
                "def _gathering(",
                '''@instruction("reverse", traits=Traits(sync=Sync.WARP))
def _reverse(binding: Binding) -> Step:
    """What lane 31 - l has; a made-up instruction."""
    target, source = binding.expect(2)
    to, from_ = binding.target(target, "u32"), binding.source(source, "u32")
    binding.sync = Members(None)
    machine = binding.machine
    registers = machine.registers
    assert to is not None
    return lambda: machine.write(to, np.ascontiguousarray(registers[from_][..., ::-1]))


''',
            )
        ],
        "sim/alu/integer24.py": [
            (
                '@form("mad24.hi.sat',
                """@form("third.type", "type = type", type=("u32",))
def _third(_: Qualifiers) -> Operation:
    return lambda a: a // np.uint32(3)


""",
            )
        ],
        "sim/alu/registry.py": [('"mul24", "mad24"', '"third", ')],
        "sim/opcodes.py": [('"shfl", "vote"', '"reverse", ')],
    },
    '''
import numpy as np
from tilec import sim
PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  reverse.u32 %r2, %r1; third.u32 %r3, %r2; st.global.u32 [%rd2], %r3; ret;
}"""
assert sim.check(PTX) == []
x = np.zeros(64, np.uint32)
sim.launch(PTX, "k", 1, 64, [x]).require_ok()
lane = np.arange(32)
np.testing.assert_array_equal(x, np.concatenate([31 - lane, 63 - lane]) // 3)
''',
)

ATTRIBUTE = Change(
    "A discardable attribute",
    {
        "dialects/tile/attributes.py": [
            (
                "            Discardable(\n                GRID",
                """            Discardable(
                "tile.toy",
                Bearer.FUNCTION,
                "IntegerAttr",
                "a number",
                "Nothing.",
            ),
""",
            )
        ]
    },
    """
import tilec
TEXT = '''
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.toy = 1 : i64} {
    gpu.return
  }
}
'''
tilec.compile(TEXT)
for wrong, message in ((TEXT.replace("1 : i64", "unit"), "tile.toy is a number"),
                       (TEXT.replace("gpu.return", "gpu.barrier {tile.toy = 1 : i64}\\ngpu.return"),
                        "tile.toy, an attribute of gpu.func")):
    try:
        tilec.compile(wrong)
    except tilec.TilecError as error:
        assert message in str(error), error
    else:
        raise SystemExit("accepted: " + wrong)
""",
    commands={"python docs/make_dialect.py && cat docs/dialect.md": "tile.toy"},
)

CHANGES = (OP, FORM, INSTRUCTION, ATTRIBUTE)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.section)
def test_it_touches_the_files_that_the_page_names(change: Change, copy) -> None:
    names = named(sections()[change.section])
    touched = [*change.edits, *change.new]
    assert [file for file in touched if not is_named(file, names)] == []
    for file, text in change.new.items():
        assert not (copy.folder / file).exists()
        (copy.folder / file).write_text(text)
    for file, edits in change.edits.items():
        text = (copy.folder / file).read_text()
        for before, added in edits:
            assert before in text, f"{file} has no {before!r}"
            text = text.replace(before, added + before, 1)
        (copy.folder / file).write_text(text)
    check = copy.folder.parent / "check.py"
    check.write_text(change.check)
    _run(["python", str(check)], copy)
    for command, printed in change.commands.items():
        assert printed in _run(["bash", "-c", command], copy)


def _run(command: list[str], copy) -> str:
    done = subprocess.run(
        command,
        cwd=copy.folder,
        env=copy.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_files_beside_the_last_one_named() -> None:
    assert named("in `isa/mma.py`, `wmma.py` and `docs/`, or `a word`") == {
        "isa/mma.py",
        "isa/wmma.py",
        "docs/",
    }


def test_every_section_names_a_place() -> None:
    assert [head for head, text in sections().items() if not named(text) and "|" not in text] == []
