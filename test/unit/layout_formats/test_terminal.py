"""`tile-layout` on a terminal: a pseudo-terminal of a given width, with and without colours.

Whatever the terminal, the cells are those of the plain text.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from tilec.tools.layout_terminal import colour_256
from tilec.tools.tile_layout import main

HALF = ("m16n8k16", "--operand", "a", "--type", "f16")
WIDE = ("m16n8k16", "--operand", "a", "--type", "f64")
_CELL = re.compile(r"\x1b\[30;48;5;(\d+)m(.*?)\x1b\[0m")


def on_terminal(*arguments: str, width: int = 100, **environment: str) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tilec.tools.tile_layout", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=inherited | {"TERM": "xterm-256color"} | environment,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not more:
            break
        written += more
    os.close(ours)
    process.wait()
    return written.decode().replace("\r\n", "\n")


@pytest.fixture
def plain(capsys):
    def run(*arguments: str) -> str:
        assert main([*arguments]) == 0
        return capsys.readouterr().out

    return run


def test_lanes_have_colours_of_their_own(plain):
    assert len({colour_256(lane) for lane in range(32)}) == 32
    out = on_terminal(*HALF, width=200)
    assert _CELL.sub(r"\2", out) == plain(*HALF)
    matrix, registers = out.split("\n\n")[1:]
    found = _CELL.findall(matrix)
    assert len(found) == 16 * 8
    for colour, cell in found:
        assert int(colour) == colour_256(int(cell.split(":")[0]))
    for line in registers.splitlines()[2:]:
        lane = int(line.split()[0])
        assert {int(colour) for colour, _ in _CELL.findall(line)} == {colour_256(lane)}


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}), (("--color", "never"), {})],
)
def test_no_colours_where_none_are_wanted(plain, arguments, environment):
    assert on_terminal(*HALF, *arguments, width=200, **environment) == plain(*HALF)


def test_an_empty_no_color_means_nothing():
    assert _CELL.search(on_terminal(*HALF, NO_COLOR=""))


def test_plain_when_piped(plain):
    assert "\x1b" not in plain(*HALF)
    forced = plain(*HALF, "--color", "always")
    assert _CELL.sub(r"\2", forced) == plain(*HALF)
    assert forced != plain(*HALF)


@pytest.mark.parametrize("width", [24, 40, 61, 80])
def test_tables_are_folded_to_the_width(plain, width):
    out = on_terminal(*WIDE, width=width, NO_COLOR="1")
    heading, *blocks = out.split("\n\n")
    for block in blocks:
        for line in block.splitlines():
            title = "by row (down)" in line or "by lane (down)" in line
            assert title or len(line) <= width
    # put side by side again, the blocks are the table
    joined: dict[str, list[list[str]]] = {}
    for block in blocks:
        lines = block.splitlines()
        if "by " in lines[0]:
            title, lines = lines[0], lines[1:]
            joined[title] = [[] for _ in lines]
        for whole_row, line in zip(joined[title], lines, strict=True):
            cells = line.split()
            whole_row.extend(cells if line is lines[0] or not whole_row else cells[1:])
    whole = plain(*WIDE).split("\n\n")
    assert heading == whole[0]
    assert len(blocks) > len(whole) - 1
    for block, (title, rows) in zip(whole[1:], joined.items(), strict=True):
        first, *lines = block.splitlines()
        assert first == title
        assert rows == [line.split() for line in lines]


def test_a_terminal_narrower_than_a_cell():
    out = on_terminal(*HALF, width=3, NO_COLOR="1")
    assert "31:3" in out


def test_a_terminal_is_no_place_for_a_picture():
    out = on_terminal(*HALF, "--format", "png", NO_COLOR="1")
    assert out == "error: a terminal shows no PNG; give -o FILE\n"


def test_shared_memory_is_folded(plain):
    arguments = ("smem", "--shape", "64x64", "--type", "f16", "--swizzle", "128B")
    out = on_terminal(*arguments, width=60)
    head, first, *rest, phases = out.split("\n\n")
    whole = plain(*arguments).split("\n\n")
    assert (head, phases) == (whole[0], whole[2])
    lines = [line for block in (first.split("\n", 1)[1], *rest) for line in block.splitlines()]
    assert max(map(len, lines)) <= 60
    cells = re.findall(r"\d+,\d+-\d+", "\n".join(lines))
    assert sorted(cells) == sorted(re.findall(r"\d+,\d+-\d+", whole[1]))
