"""`tile-layout -o`, PNG by resvg_py, and what notebooks show.

PNG is read here by the format's own definition: chunks, deflate, row filters.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from tilec.isa import MatrixMemory, Mma, MovMatrix, warp_forms
from tilec.layout import LinearLayout, Swizzle, fragment, shared_layout
from tilec.layout.drawing import WRONG, colour, rgb
from tilec.sim.report import Finding, Line, Report
from tilec.tools.tile_layout import main

HALF = ("m16n8k16", "--operand", "a", "--type", "f16")
SPACE = "{http://www.w3.org/2000/svg}"


def pixels(png: bytes) -> list[list[tuple[int, ...]]]:
    """Rows of red, green, blue; of 8-bit RGBA that is not interlaced."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, *_, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, colours, interlaced) == (8, 6, 0)
        data += body if kind == b"IDAT" else b""
        at += length + 12
    raw, stride = zlib.decompress(data), width * 4
    above, rows = bytearray(stride), []
    for y in range(height):
        kind, *line = raw[y * (stride + 1) : (y + 1) * (stride + 1)]
        for x in range(stride):
            left = line[x - 4] if x >= 4 else 0
            corner = above[x - 4] if x >= 4 else 0
            line[x] = line[x] + _predicted(kind, left, above[x], corner) & 255
        rows.append([tuple(line[x : x + 3]) for x in range(0, stride, 4)])
        above = line
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    estimate = left + up - corner
    nearest = min((left, up, corner), key=lambda value: abs(estimate - value))
    return (0, left, up, (left + up) // 2, nearest)[kind]


def test_png_has_the_cells_and_their_text(tmp_path, capsys):
    pytest.importorskip("resvg_py", reason="the extra 'png' is not installed")
    small = ("m8n8k4", "--operand", "a", "--type", "f64")
    out = tmp_path / "a.png"
    assert main([*small, "--format", "png", "-o", str(out)]) == 0
    assert main([*small, "--format", "svg"]) == 0
    picture = ElementTree.fromstring(capsys.readouterr().out)
    rows = pixels(out.read_bytes())
    _, _, width, height = map(int, picture.get("viewBox").split())
    assert (len(rows[0]), len(rows)) == (2 * width, 2 * height)
    for cell in picture.findall(f"{SPACE}g"):
        box = cell.find(f"{SPACE}rect")
        x, y, w, h = (int(box.get(name)) for name in ("x", "y", "width", "height"))
        lane = int(cell.find(f"{SPACE}text").text.split(":")[0])
        corner = rows[2 * y + 6][2 * x + 6]
        assert max(abs(a - b) for a, b in zip(corner, rgb(lane), strict=True)) <= 1
        inside = [rows[r][c] for r in range(2 * y, 2 * (y + h)) for c in range(2 * x, 2 * (x + w))]
        assert any(max(colour) < 60 for colour in inside)  # its text is drawn
    assert rows[0][0] == (255, 255, 255)


def test_without_the_library(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    out = tmp_path / "a.png"
    assert main([*HALF, "--format", "png", "-o", str(out)]) == 1
    error = capsys.readouterr().err
    assert error == (
        "error: --format png needs resvg_py: `pip install 'tilec[png]'`; "
        "--format svg needs nothing\n"
    )
    assert not out.exists()


@pytest.mark.parametrize("form", ["text", "json", "csv", "md", "svg", "html"])
def test_to_a_file(form, tmp_path, capsys):
    out = tmp_path / "a.out"
    assert main([*HALF, "--format", form, "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert main([*HALF, "--format", form]) == 0
    assert out.read_text() == capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        HALF,
        (*HALF, "--element", "3,5"),
        ("--convert", "m16n8k16:c:f16", "m16n8k16:a:f16"),
        ("smem", "--shape", "16x64", "--type", "f16"),
    ],
)
def test_a_folder_that_does_not_exist(arguments, tmp_path, capsys):
    path = tmp_path / "no" / "such.txt"
    assert main([*arguments, "-o", str(path)]) == 1
    assert capsys.readouterr() == ("", f"error: {path}: No such file or directory\n")


def test_every_fragment_prints_in_every_format(capsys):
    """One form of each set of operands; the picture's cells are the text's."""
    seen = set()
    for form in warp_forms().values():
        if not isinstance(form, Mma | MatrixMemory | MovMatrix):
            continue
        for operand in (*form.results, *form.operands):
            key = form.family, getattr(form, "shape", None), operand
            if key in seen:
                continue
            seen.add(key)
            outputs = {}
            for kind in ("text", "csv", "md", "svg"):
                assert main([form.ptx, "--operand", operand.name, "--format", kind]) == 0
                outputs[kind] = capsys.readouterr().out
            svg = ElementTree.fromstring(outputs["svg"])
            cells = [g.find(f"{SPACE}text").text for g in svg.findall(f"{SPACE}g")]
            matrices = outputs["text"].split("\n\n")[1:-1]
            shown = re.findall(r"\b\d+:\d+\b", "\n\n".join(m.split("\n", 1)[1] for m in matrices))
            assert sorted(cells) == sorted(shown)
            assert sorted(re.findall(r"(?<= )\d+:\d+(?= \|)", outputs["md"])) == sorted(shown)
            held = 32 * operand.registers * operand.per_register
            assert len(outputs["csv"].splitlines()) == held + 1
    assert len(seen) > 100


def test_a_notebook_draws_a_layout():
    layout = fragment("m16n8k16", "b", "f16")
    picture = ElementTree.fromstring(layout._repr_svg_())
    cells = [g.find(f"{SPACE}text").text for g in picture.findall(f"{SPACE}g")]
    # PTX ISA, m16n8k16 with 16-bit elements, matrix B: row and column of b_i
    wanted = {
        (2 * (lane % 4) + i % 2 + 8 * (i >= 2), lane // 4): f"{lane}:{i}"
        for lane in range(32)
        for i in range(4)
    }
    assert cells == [wanted[row, col] for row in range(16) for col in range(8)]


def test_a_notebook_draws_memory_broadcasts_and_large_tiles():
    swizzled = shared_layout({"row": 8, "col": 64}, 16, Swizzle.parse("128B"))
    picture = ElementTree.fromstring(swizzled._repr_svg_())
    cells = [int(g.find(f"{SPACE}text").text) for g in picture.findall(f"{SPACE}g")]
    assert cells == [64 * r + 8 * (c // 8 ^ r) + c % 8 for r in range(8) for c in range(64)]
    many = LinearLayout.of({"lane": [(1,), (0,)]}, {"row": 4})
    picture = ElementTree.fromstring(many._repr_svg_())
    abouts = [g.find(f"{SPACE}title").text for g in picture.findall(f"{SPACE}g")]
    assert abouts == ["lane 0; lane 2", "lane 1; lane 3", "nobody", "nobody"]
    large = LinearLayout.identity(128, "register", "row") * LinearLayout.identity(
        128, "register", "col"
    )
    assert "the first 64 × 64 of 128 × 128" in large._repr_svg_()
    three = LinearLayout.of({"lane": [(1, 0, 0)]}, {"a": 2, "b": 1, "c": 1})
    assert three._repr_svg_() is None


def test_shared_memory_as_a_picture(capsys):
    arguments = ["smem", "--shape", "16x64", "--type", "f16", "--swizzle", "128B"]
    assert main([*arguments, "--format", "svg"]) == 0
    picture = ElementTree.fromstring(capsys.readouterr().out)
    cells = picture.findall(f"{SPACE}g")[: 16 * 8]
    # CuTe's Swizzle<3,4,3>: chunk c of 16 bytes of row r lies at chunk c ^ r % 8
    texts = [cell.find(f"{SPACE}text").text for cell in cells]
    chunks = [(row, at ^ row % 8) for row in range(16) for at in range(8)]
    assert texts == [f"{row},{8 * c}-{8 * c + 7}" for row, c in chunks]
    fills = [cell.find(f"{SPACE}rect").get("fill") for cell in cells]
    assert fills == [colour(4 * c) for _, c in chunks]
    boxes = [cell.find(f"{SPACE}rect") for cell in cells[:8]]
    assert all(int(box.get("width")) >= 7 * len("0,56-63") for box in boxes)


def grids_of(svg: str, rows: int) -> list[list[tuple[str, bool]]]:
    """Of each grid of a picture of lines of eight cells the texts, and which are red."""
    found = []
    for cell in ElementTree.fromstring(svg).findall(f"{SPACE}g"):
        red = cell.find(f"{SPACE}rect").get("fill") == WRONG
        found.append((cell.find(f"{SPACE}text").text or "", red))
    return [found[at : at + rows * 8] for at in range(0, len(found), rows * 8)]


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("access", ["ldmatrix.x4", "m16n8k16:a", "cp.async"])
def test_lanes_that_meet_in_a_bank_are_red(capsys, swizzle: str, access: str) -> None:
    """Against banks that are counted here, by the address of each lane's row and column."""
    size = ["smem", "--shape", "16x64", "--type", "f16", "--access", access]
    assert main([*size, "--swizzle", swizzle, "--format", "svg"]) == 0
    _, *grids = grids_of(capsys.readouterr().out, 16)
    shown = ["none"] if swizzle == "none" else ["none", swizzle]
    assert len(grids) == len(shown)
    for name, grid in zip(shown, grids, strict=True):
        expected = banks_of(access, {"none": 0, "32B": 1, "64B": 2, "128B": 3}[name])
        assert {at for at, (text, _) in enumerate(grid) if text} == set(expected)
        assert {at for at, (_, red) in enumerate(grid) if red} == {
            chunk for chunk, crowded in expected.items() if crowded
        }
        if access == "ldmatrix.x4" and name == "128B":
            assert grid[0] == ("0:0", False)


def banks_of(access: str, bits: int) -> dict[int, bool]:
    """Whether each chunk of 16 bytes that is accessed is so beside another of its banks."""
    rows_of_eight = [[(r + 8 * (m % 2), 8 * (m // 2)) for r in range(8)] for m in range(4)]
    phases = {
        "ldmatrix.x4": rows_of_eight,
        # Registers: rows 0-7, 8-15, then columns 8-15; a lane has two neighbours.
        "m16n8k16:a": [
            [(lane // 4 + 8 * (n % 2), lane % 4 * 2 + 8 * (n // 2)) for lane in range(32)]
            for n in range(4)
        ],
        # Eight lanes have a row of 64, four rows at a time.
        "cp.async": [[(row, 8 * at) for at in range(8)] for row in range(16)],
    }[access]
    width = 4 if access == "m16n8k16:a" else 16
    found: dict[int, bool] = {}
    for lanes in phases:
        words: dict[int, set[int]] = {}
        touched: dict[int, set[int]] = {}
        for row, col in lanes:
            address = row * 128 + col * 2
            address ^= (address >> 7 & (1 << bits) - 1) << 4  # CuTe's Swizzle<bits,4,3>
            for word in range(address // 4, (address + width) // 4):
                words.setdefault(word % 32, set()).add(word)
                touched.setdefault(word // 4, set()).add(word % 32)
        for chunk, banks in touched.items():
            crowded = any(len(words[bank]) > 1 for bank in banks)
            found[chunk] = found.get(chunk, False) or crowded
    return found


def test_a_conversion_as_a_picture(capsys) -> None:
    """After it, an element has the colour of the lane that had it before."""
    names = ("m16n8k8:c:f32", "m16n8k8:a:tf32")
    assert main(["--convert", *names, "--format", "svg"]) == 0
    before, after = grids_in_colour(capsys.readouterr().out, 16 * 8)
    for row in range(16):
        for col in range(8):
            own, fill = before[row * 8 + col]
            # ISA 9.7.15.5.8: C of m16n8k8 and A of m16n8k8 in tf32.
            assert own == f"{row % 8 * 4 + col // 2}:{row // 8 * 2 + col % 2}"
            text, same = after[row * 8 + col]
            assert text == f"{row % 8 * 4 + col % 4}:{row // 8 + col // 4 * 2}"
            assert fill == same == colour(row % 8 * 4 + col // 2)


def test_a_conversion_is_no_table(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--convert", "m16n8k8:c:f32", "m16n8k8:a:tf32", "--format", "csv"])
    error = capsys.readouterr().err
    assert error.endswith("--format csv shows whole operands; use text, json, svg or png\n")


def grids_in_colour(svg: str, size: int) -> list[list[tuple[str, str]]]:
    cells = [
        (cell.find(f"{SPACE}text").text or "", cell.find(f"{SPACE}rect").get("fill"))
        for cell in ElementTree.fromstring(svg).findall(f"{SPACE}g")
    ]
    return [cells[at : at + size] for at in range(0, len(cells), size)]


def test_one_warp_of_a_layout(capsys) -> None:
    tile = "register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] [0,8] -> row 16, col 16"
    assert main([tile, "--warp", "2", "--format", "svg"]) == 0
    (cells,) = grids_in_colour(capsys.readouterr().out, 64)
    texts = [text for text, _ in cells]
    # Warp 2 has columns 8 to 15 of the upper rows: a lane two neighbours.
    assert texts == [f"2:{4 * row + col // 2}:{col % 2}" for row in range(8) for col in range(8)]
    assert main([tile, "--warp", "4"]) == 1
    assert "no warp 4; legal: 0 to 3" in capsys.readouterr().err


BASES = "register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8"


def test_a_layout_given_by_bases(capsys):
    """These are the bases of m16n8k8's C in f32, whose operand the tool shows by name."""
    assert main(["m16n8k8", "--operand", "c", "--type", "f32"]) == 0
    _, matrix, _ = capsys.readouterr().out.split("\n\n")
    assert main([BASES, "--bits", "32"]) == 0
    head, shown = capsys.readouterr().out.rstrip("\n").split("\n\n")
    assert shown == matrix
    row, col = (line.partition(" = ")[2] for line in head.splitlines()[1:])
    for lane in range(32):
        for register in range(4):
            places = [eval(text, {"lane": lane, "register": register}) for text in (row, col)]
            assert places == [lane // 4 + 8 * (register // 2), 2 * (lane % 4) + register % 2]
    assert main([BASES, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ins"], found["outs"]) == ({"register": 4, "lane": 32}, {"row": 16, "col": 8})
    assert str(LinearLayout.of(found["bases"], found["outs"])) == found["layout"] == BASES
    assert main([BASES, "--format", "svg"]) == 0
    assert capsys.readouterr().out == LinearLayout.parse(BASES)._repr_svg_() + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BASES, "--lane", "0"), "a layout given by bases is shown whole"),
        ((BASES, "--format", "csv"), "is shown as text, json, svg, png"),
        (("lane [2] -> row 2",), r"basis \[2\] of 'lane' leaves 'row' of size 2"),
        (("lane [1,0,0] -> a 2, b 1, c 1",), r"3 outputs \(a, b, c\) is not a matrix"),
    ],
)
def test_mistakes_with_bases(arguments, message, capsys):
    assert main([*arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"error: .*{message}.*\n", err)


class Text(HTMLParser):
    """The words of a page, and its tags as they open and close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_notebook_shows_a_report():
    report = Report(
        "f<T>",
        [Finding("race", "a < b & c", count=3)],
        warp_instructions=12345,
        lines=[Line(7, "a.mlir:3", "ld.shared.b32", 4, 128, wavefronts=8, conflicts=4)],
    )
    words = Text(report._repr_html_()).words
    assert words[1] == "f<T>"
    assert "race: a < b & c (and 2 more)" in words
    assert words[words.index("warp instructions") + 1] == "12,345"
    assert words[-7:] == ["7", "4", "0", "8", "4", "ld.shared.b32", "a.mlir:3"]
    assert "no findings" in Text(Report("g")._repr_html_()).words


def test_layouts_load_no_drawing():
    script = (
        "import sys; import tilec.layout, tilec.sim.report; "
        "sys.exit(any(m.endswith(('.drawing', '.report_html')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
