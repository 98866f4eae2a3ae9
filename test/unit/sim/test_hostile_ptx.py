"""PTX with numbers, comments and expressions beyond all measure is refused at once."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tilec.sim import LaunchError, PtxError, launch, read
from tilec.sim.ptx import read_text

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BODY = HEAD + ".entry k()\n{{\n  .reg .b64 %r<4>;\n  {}\n  ret;\n}}\n"
DIGITS = "9" * 100_000

TEXTS = {
    "immediate": BODY.format(f"mov.u64 %r1, {DIGITS};"),
    "offset": BODY.format(f"ld.global.u64 %r1, [%r2+{DIGITS}];"),
    "hexadecimal": BODY.format(f"mov.u64 %r1, 0x{DIGITS};"),
    "registers": BODY.format(f".reg .b32 %q<{DIGITS}>;"),
    "variable": HEAD + f".global .u32 a[{DIGITS}];\n",
    "initial value": HEAD + f".global .u64 a = {DIGITS};\n",
    "file": HEAD + f'.file {DIGITS} "a"\n',
    "location": BODY.format(f".loc {DIGITS} 1 1"),
    "block": HEAD + f".entry k() .reqntid {DIGITS}\n{{ ret; }}\n",
    "open comments": HEAD + "/* " * 300_000,
    "open assembly": HEAD + "// begin inline asm\n" * 50_000 + "x",
    "deep expression": HEAD + f".global .u64 a = {'(' * 100_000}\n",
    "signs": HEAD + f".global .u64 a = {'-' * 100_000}1;\n",
    "quotes": HEAD + '"' * 100_000,
}


@pytest.mark.parametrize("name", TEXTS)
def test_is_refused_at_its_place(name: str) -> None:
    start = time.monotonic()
    with pytest.raises(PtxError) as caught:
        read_text(TEXTS[name], "k.ptx")
    assert str(caught.value).startswith("k.ptx:")
    assert len(str(caught.value)) < 1000
    assert time.monotonic() - start < 30  # minutes before


def test_long_products_are_those_of_64_bits() -> None:
    factors = " * ".join(["0xfffffffffffffffb"] * 5000)
    module = read_text(HEAD + f".global .u64 a = {factors};\n")
    assert module.variables["a"].values == (pow(0xFFFFFFFFFFFFFFFB, 5000, 1 << 64),)


@pytest.mark.parametrize(
    "offset", ["18446744073709551615", "0xffffffffffffffff", "-1", "- -1 + -2"]
)
def test_offsets_wrap(offset: str) -> None:
    """The address before, as 64 bits count."""
    body = f"mov.u64 %r2, p; ld.param.u8 %r1, [%r2+{offset}];"
    text = HEAD + f".entry k(.param .u64 p)\n{{\n .reg .b64 %r<4>;\n {body}\n ret;\n}}\n"
    module = read_text(text)
    report = launch(module, "k", 1, 1, [np.zeros(4, np.float32)])
    assert not report.ok


@pytest.mark.parametrize("offset", [-(1 << 63), (1 << 63) - 1, 1 << 63, (1 << 64) - 1, -1])
@pytest.mark.parametrize("at", ["", ".global", ".shared", ".local"])
@pytest.mark.parametrize("op", ["st{}.b32 [{}], %r1;", "ld{}.b32 %r1, [{}];"])
def test_offsets_of_all_sizes_wrap_in_every_space(op: str, at: str, offset: int) -> None:
    """An address and an offset add up as 64 bits do, so that what goes too far comes back."""
    back = -offset % (1 << 64)
    access = op.format(at, f"%rd1+{offset}")
    space = "ld.param.u64 %rd1, [p];" if at in ("", ".global") else f"mov.u64 %rd1, s{at[1]};"
    held = ".shared .align 8 .b8 ss[8]; .local .align 8 .b8 sl[8];"
    init = f"{space} st{at}.b32 [%rd1], %r1; add.u64 %rd1, %rd1, {back};"
    body = f".reg .b32 %r<2>; .reg .b64 %rd<2>; {held} mov.u32 %r1, 1; {init} {access} ret;"
    text = HEAD + f".entry k(.param .u64 p)\n{{\n {body}\n}}\n"
    assert launch(read_text(text), "k", 1, 1, [np.zeros(4, np.float32)]).ok


@pytest.mark.parametrize("unit", ['"\\', '"\\"\\', '\\"'])
def test_strings_that_nothing_closes_are_read_once(unit: str) -> None:
    start = time.process_time()
    with pytest.raises(PtxError):
        read_text(HEAD + unit * (40_000 // len(unit)))
    assert time.process_time() - start < 3


def test_numbered_names_may_have_many_digits() -> None:
    with pytest.raises(PtxError):
        read_text(BODY.format(f"mov.u64 %r{DIGITS}, 1 2;"))


@pytest.mark.parametrize("text", ["a\0b", "\0", "/" * 5000, "no such file"])
def test_text_without_a_line_break_is_a_path(text: str) -> None:
    with pytest.raises(LaunchError, match="cannot read PTX from"):
        read(text)


@pytest.mark.parametrize("what", ["ld.global.v8.b64 {}, [%r1];", "st.shared.v8.b64 [%r1], {};"])
def test_vectors_of_more_than_256_bits_are_refused(what: str) -> None:
    items = "{" + ", ".join(["%r2"] * 8) + "}"
    with pytest.raises(PtxError, match=r":7:3: .*512 bits of a thread; legal: at most 256"):
        launch(BODY.format(what.format(items)), "k", 1, 32, [])
