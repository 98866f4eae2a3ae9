"""`tile-layout` says what the documentation's formulas say, and its errors what is legal.

The formulas stand here apart. The command is run in this process, and as a command for what only
that shows: modules loaded, pipes that break.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from tilec.isa import WmmaMma, warp_forms
from tilec.layout import fragment
from tilec.tools.tile_layout import main


@pytest.fixture
def tool(capsys):
    """Run the command: (exit code, stdout, stderr)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = leaving.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def data(tool):
    """Run the command for JSON."""

    def run(*arguments: str) -> dict:
        code, out, err = tool(*arguments, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


KEYS = ["form", "shape", "operand", "type", "sparse", "bits", "registers", "lanes"]


def test_json_of_a(data):
    found = data("m16n8k16", "--operand", "a", "--type", "f16")
    assert list(found) == KEYS
    assert found["form"] == "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
    assert [found[k] for k in KEYS[1:7]] == ["m16n8k16", "a", "f16", False, 16, 4]
    assert found["lanes"] == [
        [
            [(lane >> 2) + 8 * (i >> 1 & 1), 2 * (lane & 3) + (i & 1) + 8 * (i >> 2)]
            for i in range(8)
        ]
        for lane in range(32)
    ]


def test_json_of_b_and_c(data):
    found = data("m16n8k32", "--operand", "b", "--type", "e2m1")
    assert (found["bits"], found["registers"]) == (8, 2)
    assert found["lanes"] == [
        [[4 * (lane & 3) + (i & 3) + 16 * (i >> 2), lane >> 2] for i in range(8)]
        for lane in range(32)
    ]
    for arguments in (("m16n8k8", "--type", "f32"), ("m16n8k16", "--type", "f16")):
        found = data(*arguments, "--operand", "c")
        assert found["lanes"] == [
            [[(lane >> 2) + 8 * (i >> 1), 2 * (lane & 3) + (i & 1)] for i in range(4)]
            for lane in range(32)
        ]


@pytest.mark.parametrize("major", ["row", "col"])
def test_json_of_volta(data, major):
    found = data("m8n8k4", "--operand", "a", "--type", "f16", "--major", major)
    for lane, held in enumerate(found["lanes"]):
        x, h = lane & 3, 4 if lane >= 16 else 0
        assert held == [[x + h, i] if major == "row" else [i + h, x] for i in range(4)]


def test_json_of_sparse_a(data):
    found = data("m16n8k32", "--operand", "a", "--type", "f16", "--sparse")
    assert found["sparse"] is True
    assert max(col for held in found["lanes"] for _, col in held) == 15
    assert found["form"].startswith("mma.sp.")


@pytest.mark.parametrize("selector", [0, 1])
def test_json_of_metadata(data, selector):
    """m16n8k32 f16: lanes 2s and 2s+1 of four, row g low and row g+8 high, chunks 0-3 or 4-7."""
    found = data("m16n8k32", "--operand", "e", "--type", "f16", "--selector", str(selector))
    assert (found["bits"], found["registers"], found["type"]) == (1, 1, "f16")
    for lane, held in enumerate(found["lanes"]):
        g, t = lane >> 2, lane & 3
        if t >> 1 != selector:
            assert held is None
        else:
            assert held == [[g + 8 * (bit >> 4), 16 * (t & 1) + (bit & 15)] for bit in range(32)]


def test_json_of_scale_factors(data):
    name = ("m16n8k32", "--type", "ue8m0", "--byte-id", "2", "--thread-id", "1")
    for lane, held in enumerate(data(*name, "--operand", "sfa")["lanes"]):
        g, t = lane >> 2, lane & 3
        row = g + 8 * (t & 1)
        assert held == ([None, None, [row, 0], None] if t >> 1 == 1 else None)
    for lane, held in enumerate(data(*name, "--operand", "sfb")["lanes"]):
        assert held == ([None, None, [lane >> 2, 0], None] if lane & 3 == 1 else None)
    found = data("m16n8k64", "--operand", "sfb", "--type", "ue4m3", "--thread-id", "3")
    assert found["lanes"][3 + 4 * 5] == [[5, chunk] for chunk in range(4)]


def test_json_of_matrix_moves(data):
    found = data("ldmatrix.sync.aligned.m8n8.x2.trans.b16")
    assert [found[k] for k in KEYS[1:7]] == ["m8n8", "r", "b16", False, 16, 2]
    assert found["lanes"] == [
        [[i >> 1, 2 * (lane & 3) + (i & 1), lane >> 2] for i in range(4)] for lane in range(32)
    ]
    found = data("movmatrix.sync.aligned.m8n8.trans.b16", "--operand", "d")
    assert found["lanes"][5] == [[0, 2, 1], [0, 3, 1]]


def test_json_of_wmma(data):
    for form in (f.ptx for f in warp_forms().values() if isinstance(f, WmmaMma)):
        assert data(form, "--operand", "a")["lanes"] is None
        break


def test_every_operand_of_every_form(data):
    """The place of each element is in the JSON as often as the warp holds it."""
    seen = set()
    for form in warp_forms().values():
        for operand in (*form.results, *form.operands):
            key = form.family, operand, getattr(form, "shape", None)
            if key in seen:
                continue
            seen.add(key)
            found = data(form.ptx, "--operand", operand.name)
            assert list(found) == KEYS
            if found["lanes"] is not None:
                assert len(found["lanes"]) == 32
                count = operand.registers * operand.register.bits // found["bits"]
                assert all(held is None or len(held) == count for held in found["lanes"])
    assert len(seen) > 300


def cells(block: str) -> list[list[str]]:
    return [line.split() for line in block.splitlines()]


def test_text_agrees_with_json(tool, data):
    """Both views, read back, give the lanes of the JSON."""
    for arguments in (
        ("m16n8k16", "--operand", "a", "--type", "f16"),
        ("m16n8k16", "--operand", "b", "--type", "bf16"),
        ("m16n8k32", "--operand", "a", "--type", "s8"),
        ("m16n8k256", "--operand", "a", "--type", "b1"),
        ("m16n8k8", "--operand", "c", "--type", "f32"),
        ("m8n8k4", "--operand", "d", "--type", "f64"),
    ):
        found = data(*arguments)
        code, out, _ = tool(*arguments)
        assert code == 0
        head, matrix, registers = out.split("\n\n")
        assert head.startswith(found["form"])
        each = len(found["lanes"][0]) // found["registers"]
        _, columns, *body = cells(matrix)
        holders = {}
        for label, *row in body:
            rows, cols = spans([label]), spans(columns)
            for place, holder in zip(cols, row, strict=True):
                for r in rows[0]:
                    for c in place:
                        holders[r, c] = holder
        for lane, held in enumerate(found["lanes"]):
            for i, (r, c) in enumerate(held):
                assert holders[r, c] == f"{lane}:{i // each}"
        _, names, *body = cells(registers)
        assert names == [f"r{n}" for n in range(found["registers"])]
        for lane, (label, *row) in enumerate(body):
            assert int(label) == lane
            read = [
                [r, c]
                for cell in row
                for rows, cols in [spans(cell.split(","))]
                for r in rows
                for c in cols
            ]
            assert read == found["lanes"][lane]


def spans(labels: list[str]) -> list[range]:
    found = []
    for label in labels:
        first, _, last = label.partition("-")
        found.append(range(int(first), int(last or first) + 1))
    return found


PICTURED = (
    ("m16n8k16", "--operand", "a", "--type", "f16"),
    ("m16n8k256", "--operand", "b", "--type", "b1"),
    ("m8n8k4", "--operand", "c", "--type", "f32"),
    ("m16n8k32", "--operand", "e", "--type", "s8", "--selector", "1"),
    ("m16n8k64", "--operand", "sfa", "--type", "ue4m3"),
    ("stmatrix.sync.aligned.m16n8.x4.trans.b8",),
)


@pytest.mark.parametrize("arguments", PICTURED, ids=" ".join)
def test_csv_agrees_with_json(tool, data, arguments):
    found = data(*arguments)
    code, out, _ = tool(*arguments, "--format", "csv")
    assert code == 0
    lines = list(csv.DictReader(io.StringIO(out)))
    width = 4 if found["operand"] == "e" else found["bits"]  # listed there by bits, here by codes
    each = 32 // width
    for number, line in enumerate(lines):
        lane, i = divmod(number, found["registers"] * each)
        assert (int(line["lane"]), int(line["register"])) == (lane, i // each)
        assert (int(line["low"]), int(line["high"])) == (
            i % each * width,
            (i % each + 1) * width - 1,
        )
        held = found["lanes"][lane]
        place = [line[axis] for axis in list(line)[4:]]
        if held is None or held[i * width // found["bits"]] is None:
            assert set(place) == {""}
        elif found["operand"] != "e":
            assert list(map(int, place)) == held[i]
        else:
            assert [int(place[0]), 4 * int(place[1])] == held[4 * i]
    assert len(lines) == 32 * found["registers"] * each


@pytest.mark.parametrize("arguments", PICTURED, ids=" ".join)
def test_markdown_and_svg_have_the_cells_of_the_text(tool, arguments):
    """The same holders in the same order; the drawing is XML, and its colours tell lanes apart."""
    _, text, _ = tool(*arguments)
    *matrices, registers = text.split("\n\n")[1:]
    body = [line for block in matrices for line in cells(block)[2:]]
    holders = [cell for _, *line in body for cell in line]

    _, out, _ = tool(*arguments, "--format", "md")
    rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| **")]
    assert [cell for _, *line in rows[: len(body)] for cell in line] == holders
    assert len(rows) == len(body) + 32
    assert [line[1] for line in rows[len(body) :]] == [
        re.split(r"\s{2,}", line.strip())[1] for line in registers.splitlines()[2:]
    ]

    _, out, _ = tool(*arguments, "--format", "svg")
    picture = ElementTree.fromstring(out)
    space = "{http://www.w3.org/2000/svg}"
    drawn = picture.findall(f"{space}g")
    assert [g.find(f"{space}text").text for g in drawn] == holders
    fill = {
        g.find(f"{space}text").text.split(":")[0]: g.find(f"{space}rect").get("fill") for g in drawn
    }
    assert len(set(fill.values())) == len(fill)
    _, _, width, height = map(int, picture.get("viewBox").split())
    for g in drawn:
        box = g.find(f"{space}rect")
        assert int(box.get("x")) + int(box.get("width")) <= width
        assert int(box.get("y")) + int(box.get("height")) <= height
        lane, register = g.find(f"{space}text").text.split(":")
        assert g.find(f"{space}title").text.startswith(f"lane {lane}, register {register}: ")


def test_one_question(tool, data):
    name = ("m16n8k16", "--operand", "a", "--type", "f16")
    assert tool(*name, "--element", "3,5")[1] == "lane 14, register 0, bits 16-31\n"
    assert data(*name, "--element", "3,5") == {
        "element": [3, 5],
        "holders": [{"lane": 14, "register": 0, "bits": [16, 31]}],
    }
    assert tool(*name, "--lane", "14", "--reg", "3")[1] == (
        "register 3, bits 0-15: 11,12\nregister 3, bits 16-31: 11,13\n"
    )
    held = data(*name, "--lane", "14")["held"]
    lanes = data(*name)["lanes"]
    assert [one["element"] for one in held] == lanes[14]
    volta = ("m8n8k4", "--operand", "c", "--type", "f16")
    assert len(data(*volta, "--element", "1,1")["holders"]) == 4
    for lane in (0, 9, 31):  # there and back
        for one in data(*name, "--lane", str(lane))["held"]:
            element = ",".join(map(str, one.pop("element")))
            assert data(*name, "--element", element)["holders"] == [one]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("m16n8k12 --operand a --type f16", r"unknown shape 'm16n8k12'; nearest legal: .*m16n8k16"),
        ("m16n8k16 --operand x --type f16", "unknown operand 'x'; legal: d, a, b, c"),
        ("m16n8k16 --operand a --type f15", "unknown type 'f15'; legal: f16, bf16"),
        ("m8n8k4 --operand a --type f16", "give its major: row or col"),
        ("m8n8k4 --operand a --type f16 --major diagonal", "unknown major 'diagonal'; legal: row"),
        ("m16n8k16 --operand a --type f16 --element 16,0", "no element 16,0 .*16×16"),
        ("m16n8k16 --operand a --type f16 --element 1", "no element 1 "),
        ("m16n8k16 --operand a --type f16 --lane 32", "no lane 32: a warp has lanes 0 to 31"),
        ("m16n8k16 --operand a --type f16 --lane 0 --reg 4", "no register 4 .* holds 0 to 3"),
        ("m16n8k16 --operand a --type f16 --reg 1", "give --lane too"),
        ("m16n8k16 --operand a --type f16 --lane 1 --element 1,1", "opposite questions"),
        ("m16n8k16 --operand a --type f16 --selector 0", "does not depend on --selector"),
        ("m16n8k32 --operand e --type f16 --selector 2", "selector 2 is not legal.*legal: 0, 1"),
        ("m16n8k64 --operand sfa --type ue4m3 --byte-id 2", "byte_id_a 2 .*legal: 0"),
        ("mma.sync.aligned.m16n8k16", "nearest legal: mma.sync.aligned.m16n8k16"),
        ("movmatrix.sync.aligned.m8n8.trans.b16", "give --operand: d, a"),
        ("wmma.mma.sync.aligned --operand a", "unknown instruction form"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 --operand b", "no operand 'b'; it has a"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 --lane 1", "the ISA does not define"),
    ],
)
def test_mistakes(tool, arguments, message):
    code, out, err = tool(*arguments.split())
    assert (code, out) == (1, "")
    assert re.fullmatch(rf"error: .*{message}.*\n", err)


def test_sources(tool, data):
    """Row i of A, column j of B: the documentation's places of each k."""
    found = data("m16n8k16", "--type", "f16", "--sources", "11,5")
    (one,) = found["products"]
    assert one["d"] == one["c"] == {"lane": 14, "register": 1, "bits": [16, 31]}
    for k, term in enumerate(one["terms"]):
        low = 16 * (k & 1)
        assert term["k"] == [k]
        lane, register = 4 * 3 + (k % 8) // 2, 1 + 2 * (k // 8)
        assert term["a"] == [{"lane": lane, "register": register, "bits": [low, low + 15]}]
        lane, register = 4 * 5 + (k % 8) // 2, k // 8
        assert term["b"] == [{"lane": lane, "register": register, "bits": [low, low + 15]}]
    (one,) = data("m16n8k32", "--sparse", "--type", "s8", "--sources", "9,0")["products"]
    for chunk, term in enumerate(one["terms"]):
        assert term["k"] == list(range(4 * chunk, 4 * chunk + 4))
        assert [s["lane"] for s in term["a"]] == [4 + chunk // 2] * 2
        assert [s["bits"][0] // 8 for s in term["a"]] == [2 * (chunk % 2), 2 * (chunk % 2) + 1]
        assert [s["register"] for s in term["b"]] == [chunk // 4] * 4
        assert term["e"] == [{"lane": 5, "register": 0, "bits": [4 * chunk, 4 * chunk + 3]}]
    four = data("m8n8k4", "--type", "f16", "--major", "row", "--sources", "1,6")["products"]
    assert [one["d"]["lane"] for one in four] == [1, 5, 9, 13]
    assert [[t["b"][0]["lane"] for t in one["terms"]] for one in four] == [
        [16 + 4 * q + x for x in range(4)] for q in range(4)
    ]
    scaled = data("m16n8k64", "--operand", "sfa", "--type", "ue4m3", "--sources", "1,6")
    for k, term in enumerate(scaled["products"][0]["terms"]):
        byte = 8 * (k // 16)
        assert term["sfa"] == [{"lane": 4, "register": 0, "bits": [byte, byte + 7]}]
        assert term["sfb"] == [{"lane": 24, "register": 0, "bits": [byte, byte + 7]}]
    code, out, _ = tool("m16n8k16", "--type", "f16", "--sources", "3,5")
    assert code == 0
    assert out.splitlines()[5].split() == ["0-1", "12:0", "20:0"]
    assert len(out.splitlines()) == 13


def test_shared_memory(tool, data, bank_simulation):
    """The 128-byte swizzle's picture, and phases that a bank simulation confirms."""
    name = ("smem", "--shape", "16x64", "--type", "f16")
    _, out, _ = tool(*name, "--swizzle", "128B")
    _, memory, _ = out.split("\n\n")
    _, _, *lines = cells(memory)
    for row, (address, *chunks) in enumerate(lines):
        assert int(address) == 128 * row
        for at, chunk in enumerate(chunks):
            col = 8 * (at ^ row % 8)
            assert chunk == f"{row},{col}-{col + 7}"
    for access, swizzle, conflicts, suggested in (
        ("ldmatrix.x4", "none", 28, "128B"),
        ("ldmatrix.x4", "32B", 12, "128B"),
        ("ldmatrix.x2.trans", "128B", 0, None),
        ("stmatrix.x1", "none", 7, "128B"),
        ("cp.async", "128B", 0, None),
        ("m16n8k16:a", "none", 28, "128B"),
    ):
        found = data(*name, "--access", access, "--swizzle", swizzle)
        assert (found["conflicts"], found["suggested"]) == (conflicts, suggested)
        width = 4 if ":" in access else 16
        for phase in found["phases"]:
            assert phase["banks"] == [a // 4 % 32 for a in phase["addresses"]]
            lanes = phase["addresses"]
            counted = bank_simulation(lanes, width, store=True, rows=len(lanes) == 8)
            assert counted[0] == phase["wavefronts"]
        assert sum(p["wavefronts"] for p in found["phases"]) == found["wavefronts"]
        if suggested:
            assert data(*name, "--access", access, "--swizzle", suggested)["conflicts"] == 0


def test_conversions(tool, data):
    code, out, _ = tool("--convert", "m16n8k16:c:f16", "m16n8k16:a:f16")
    assert (code, out.splitlines()[1].split(":")[0].strip()) == (0, "0  nothing")
    found = data("--convert", "m16n8k8:c:f32", "m16n8k8:a:tf32", "--target", "sm_80")
    assert found["bits"] == 32
    kinds = [plan["kind"] for plan in found["plans"]]
    assert {"shuffles", "sharedtrip"} == set(kinds)
    assert found["plans"][0]["price"] <= found["plans"][-1]["price"]
    assert not any("stmatrix" in json.dumps(plan) for plan in found["plans"])
    a = str(fragment("m16n8k16", "a", "f16"))
    turned = re.sub(r"\[(\d+),(\d+)\]", r"[\2,\1]", a)
    code, out, _ = tool("--convert", a, turned, "--bits", "16")
    assert (code, "movmatrix" in out.splitlines()[1]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("m16n8k16 --type f16 --sources 3,8", "no element 3,8 in operand d .*16×8"),
        (
            "m16n8k16 --type f16 --sources 3,1 --selector 0",
            "no operand of .* depends on --selector",
        ),
        ("movmatrix.sync.aligned.m8n8.trans.b16 --operand d --sources 0,0", "is not a product"),
        ("--convert m16n8k16:c:f32 m16n8k16:a:f16", "elements of 16 and 32 bits"),
        (
            "--convert m16n8k16 m16n8k16:a:f16",
            "'m16n8k16' is not a layout: give SHAPE:OPERAND:TYPE",
        ),
        ("--convert m16n8k16:a:f16 m16n8k16:a:f16 --target sm_1", "unknown target 'sm_1'"),
        ("smem --shape 8x16 --type f16", "moves 16×16 elements of f16; the tile has 8×16"),
        ("smem --shape 24x64 --type f16", "24, which is not a power of two; nearest: 16 and 32"),
        ("smem --shape 16x64 --type f16 --swizzle 48B", "unknown swizzle '48B'; legal: none, 32B"),
        ("smem --shape 16x64 --type f16 --access ld", "unknown access 'ld'; legal: ldmatrix.x4"),
        ("smem --shape 16x64 --type f12", "unknown element type 'f12'"),
        (
            "smem --shape 32x64 --type s8 --access ldmatrix.x4.trans",
            "needs rows of 16 contiguous bytes",
        ),
    ],
)
def test_mistakes_of_memory_and_conversion(tool, arguments, message):
    code, out, err = tool(*arguments.split())
    assert (code, out) == (1, "")
    assert re.fullmatch(rf"error: .*{message}.*\n", err)


def test_usage(tool):
    for arguments in ((), ("m16n8k16", "--element", "a,b"), ("m16n8k16", "--format", "yaml")):
        code, out, err = tool(*arguments)
        assert (code, out) == (2, "")
        assert re.search(r"^error: ", err, re.MULTILINE)
    for question in (("--element", "1,1"), ("--lane", "0"), ("--sources", "0,0")):
        code, _, err = tool("m16n8k16", "--type", "f16", *question, "--format", "svg")
        assert (code, "use text or json" in err) == (2, True)
    code, out, _ = tool("--version")
    assert (code, len(out.splitlines())) == (0, 1)
    assert re.fullmatch(r"tile-layout \d+\.\d+\.\d+\S*\n", out)


def test_only_what_it_needs_is_loaded():
    script = (
        "import sys; from tilec.tools.tile_layout import main; "
        "main(['m16n8k16', '--operand', 'a', '--type', 'f16']); "
        "heavy = {'numpy', 'llvmlite', 'torch_mlir', 'mlir', 'ml_dtypes', 'cuda'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_that_breaks():
    command = f"{sys.executable} -m tilec.tools.tile_layout m16n8k256 --operand a | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("mma.sync")
    assert done.stderr == ""
