"""Triton's linear layouts agree: the algebra, fragments, swizzles and bank conflicts.

Triton is asked in a process of its own, since it brings an LLVM of its own. Skipped where it is
not installed: `test_linear`, `test_fragments`, `test_swizzle` and `test_banks` prove the same
without it.
"""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys

import pytest
from tilec.layout import SWIZZLES, LinearLayout, Swizzle, fragment, shared_layout, vector_access

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)

SERVER = """
import json, sys
from triton._C.libtriton import gluon_ir, ir
from triton._C.libtriton.linear_layout import LinearLayout
import triton.experimental.gluon.language as g

context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
module = builder.create_module()  # conflicts are counted for the module's target
for name, number in (("num-warps", 1), ("threads-per-warp", 32), ("num-ctas", 1)):
    module.set_attr(f"ttg.{name}", builder.get_int32_attr(number))
module.set_attr("ttg.target", builder.get_string_attr("cuda:90"))
kernel = builder.get_or_insert_function(
    module, "kernel", builder.get_function_ty([], []), "public", False
)
module.push_back(kernel)
builder.set_insertion_point_to_start(kernel.add_entry_block())
mma = g.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])

def layout(bases, sizes):
    return LinearLayout.from_bases(
        [(name, images) for name, images in bases.items()], list(sizes), list(sizes.values()), False
    )

def written(one):
    return [[name, [list(image) for image in images]] for name, images in one.bases]

def distributed(given):
    if given == "mma":
        return mma
    if "operand" in given:
        return g.DotOperandLayout(given["operand"], mma, given["k_width"])
    return g.DistributedLinearLayout(given["register"], given["lane"], [], [], given["shape"])

def shared(given):
    if "bytes" in given:
        return g.NVMMASharedLayout(given["bytes"], given["bits"], rank=2)
    return g.SwizzledSharedLayout(given["vec"], given["per_phase"], given["max_phase"], [1, 0])

def answer(what, *given):
    match what:
        case "product":
            return written(layout(*given[0]) * layout(*given[1]))
        case "compose":
            return written(layout(*given[0]).compose(layout(*given[1])))
        case "invert":
            return written(layout(*given[0]).invert())
        case "distributed":
            found = builder.to_linear_layout(distributed(given[0])._to_ir(builder), given[1])
            return [found.reg_bases, found.lane_bases]
        case "shared":
            found = builder.to_linear_layout(shared(given[0])._to_ir(builder), given[1])
            return found.offset_bases
        case "conflicts":
            held, tile = distributed(given[0])._to_ir(builder), shared(given[1])._to_ir(builder)
            return builder.get_shared_bank_conflicts(held, tile, given[2], given[3])

json.dump([answer(*question) for question in json.load(sys.stdin)], sys.stdout)
"""


def ask(questions: list) -> list:
    done = subprocess.run(
        [sys.executable, "-c", SERVER],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(layout: LinearLayout) -> list:
    return [layout.bases, layout.out_sizes]


def read(bases: list, like: LinearLayout) -> LinearLayout:
    return LinearLayout.of(dict(bases), like.out_sizes)


def drawn(pick: random.Random, ins: dict[str, int], outs: dict[str, int]) -> LinearLayout:
    end = 1 << sum(outs.values())
    columns = tuple(pick.randrange(end) for _ in range(sum(ins.values())))
    return LinearLayout(tuple(ins.items()), tuple(outs.items()), columns)


def test_algebra():
    pick = random.Random(1)
    questions, expected = [], []
    while len(questions) < 60:
        a = drawn(pick, {"x": 2, "y": 1}, {"u": 1, "v": 2})
        b = drawn(pick, {"u": 1, "v": 2}, {"p": 2, "q": 1})
        c = drawn(pick, {"y": 2, "z": 1}, {"v": 1, "w": 2})
        questions += [["compose", said(a), said(b)], ["product", said(a), said(c)]]
        expected += [a.then(b), a * c]
        if a.is_bijective:
            questions.append(["invert", said(a)])
            expected.append(a.inverse())
    for found, mine in zip(ask(questions), expected, strict=True):
        assert read(found, mine) == mine


def test_fragments():
    operands = [
        ("mma", [16, 8], ("m16n8k16", "c", "f32")),
        ({"operand": 0, "k_width": 2}, [16, 16], ("m16n8k16", "a", "f16")),
        ({"operand": 1, "k_width": 2}, [16, 8], ("m16n8k16", "b", "f16")),
        ({"operand": 0, "k_width": 1}, [16, 8], ("m16n8k8", "a", "tf32")),
        ({"operand": 1, "k_width": 1}, [8, 8], ("m16n8k8", "b", "tf32")),
        ({"operand": 0, "k_width": 4}, [16, 32], ("m16n8k32", "a", "s8")),
        ({"operand": 1, "k_width": 4}, [32, 8], ("m16n8k32", "b", "e4m3")),
    ]
    answers = ask([["distributed", layout, shape] for layout, shape, _ in operands])
    for (registers, lanes), (_, _, arguments) in zip(answers, operands, strict=True):
        mine = fragment(*arguments)
        assert {"register": registers, "lane": lanes} == {
            name: [list(image) for image in images] for name, images in mine.bases.items()
        }


def test_swizzles():
    cases = []
    for bits in (8, 16, 32):
        for width in (32, 64, 128):
            cases.append(({"bytes": width, "bits": bits}, bits, width * 8 // bits, f"{width}B"))
    # vec elements move by the row's number over per_phase, modulo max_phase
    for vec, per_phase, max_phase, name in (
        (8, 1, 8, "128B"),
        (8, 2, 4, "swizzle<2,4,4>"),
        (4, 1, 4, "swizzle<2,3,4>"),
    ):
        given = {"vec": vec, "per_phase": per_phase, "max_phase": max_phase}
        cases.append((given, 16, 64, name))
    answers = ask([["shared", given, [64, cols]] for given, _, cols, _ in cases])
    for found, (_, bits, cols, name) in zip(answers, cases, strict=True):
        mine = shared_layout({"row": 64, "col": cols}, bits, Swizzle.parse(name))
        assert [list(image) for image in mine.bases["offset"]] == found
    assert str(Swizzle.parse("swizzle<3,4,3>")) in SWIZZLES


def test_bank_conflicts():
    """Triton counts, for each wavefront that there should be, those that come on top."""
    pick = random.Random(2)
    cases = []
    for bits in (8, 16, 32):
        for name, width in (("32B", 32), ("64B", 64), ("128B", 128)):
            cols = width * 8 // bits
            tile = shared_layout({"row": 32, "col": cols}, bits, SWIZZLES[name])
            total = 5 + cols.bit_length() - 1
            for _ in range(6):
                units = [[1 << i, 0] for i in range(5)] + [[0, 1 << i] for i in range(total - 5)]
                pick.shuffle(units)
                given = {"lane": units[:5], "register": units[5:], "shape": [32, cols]}
                held = LinearLayout.of(
                    {"register": given["register"], "lane": given["lane"]}, tile.out_sizes
                )
                access = vector_access(held.then(tile.inverse()), bits, store=True)
                count = access.count()
                degree = count.wavefronts // (count.wavefronts - count.conflicts)
                question = ["conflicts", given, {"bytes": width, "bits": bits}, [32, cols], bits]
                cases.append((question, degree - 1))
    answers = ask([question for question, _ in cases])
    assert answers == [conflicts for _, conflicts in cases]
    assert len(set(answers)) > 3
