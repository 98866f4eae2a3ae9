"""What no launch can be made of is one line of error, and leaves nothing."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tilec.tools import tile_run

PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n, .param .f32 x)
{
  ret;
}
"""
SIDECAR = {
    "target": "sm_80",
    "ptx": "8.0",
    "kernels": [
        {
            "name": "k",
            "block": [32, 1, 1],
            "dynamic_shared": 0,
            "arguments": [
                {
                    "name": "p",
                    "kind": "memref",
                    "type": "f32",
                    "shape": [4],
                    "strides": [1],
                    "offset": 0,
                    "space": 0,
                    "promised": {"aligned": 0},
                },
                {"name": "n", "kind": "scalar", "type": "i32"},
                {"name": "x", "kind": "scalar", "type": "f32"},
            ],
        }
    ],
}
GOOD = ("zeros:4", "7", "f32:1.5")
BLOCK = ("--block", "32")

ARGUMENTS = {
    "not a number": (("zeros:4", "nan", "1"), "argument 1 is nan; parameter 'n' takes an integer"),
    "infinite": (("zeros:4", "1e400", "1"), "argument 1 is inf; parameter 'n' takes an integer"),
    "minus infinity": (("zeros:4", "-inf", "1"), "argument 1 is -inf"),
    "a fraction": (("zeros:4", "1.5", "1"), "takes an integer"),
    "many digits": (("zeros:4", "9" * 4000, "1"), "argument 1 is an integer of 13288 bits"),
    "more digits": (("zeros:4", "9" * 100_000, "1"), "argument 1 is inf"),
    "typed, infinite": (("zeros:4", "i32:inf", "1"), "inf does not fit int32"),
    "typed, no number": (("zeros:4", "u8:nan", "1"), "nan does not fit uint8"),
    "typed, many digits": (("zeros:4", "f32:" + "9" * 400, "1"), "does not fit float32"),
    "a huge array": (("randn:60000x60000:e4m3", "1", "1"), "more than 16 GiB"),
    "a huger one": (("zeros:" + "9" * 18, "1", "1"), "more than 16 GiB"),
    "no shape": (("zeros:" + "9" * 19, "1", "1"), "is not a shape"),
    "a shape of a million": (("zeros:" + "1x" * 50_000 + "1", "1", "1"), "is not a shape"),
    "foreign digits": (("zeros:٤", "1", "1"), "is not a shape"),
}


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    try:
        code = tile_run.main(["--device", "sim", *arguments])
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    return code, capsys.readouterr().err


@pytest.mark.parametrize("name", ARGUMENTS)
def test_argument(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, message = ARGUMENTS[name]
    path = tmp_path / "k.ptx"
    path.write_text(PTX)
    out = tmp_path / "out.npy"
    args = [f"--arg={one}" for one in given]
    code, text = outcome(capsys, str(path), *BLOCK, *args, "--out", f"0={out}")
    assert code == 1
    assert message in text
    assert text.count("\n") == 1
    assert len(text) < 500
    assert not out.exists()


USAGE = {
    "--grid=0": "0", "--grid=1,2,3,4": "1,2,3,4", "--grid=" + "9" * 5000: "9", "--grid=1,": "1,",
    "--block=nan": "nan", "--out=--": "--", "--out==": "=", "--out=٣=x": "٣", "--seed=-1": "-1",
    "--seed=" + "9" * 30: "9", "--max-steps=1e3": "1e3", "--kernel=--": "--",
}  # fmt: skip


@pytest.mark.parametrize("flag", USAGE, ids=lambda flag: flag[:20])
def test_flag(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = outcome(capsys, "k.ptx", flag)
    assert code == 2
    assert f"'{USAGE[flag]}" in text.splitlines()[-1]


def archive() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("a.npy", b"nothing")
    return made.getvalue()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


FILES = {
    "empty": b"",
    "archive": archive(),
    "torn archive": archive()[:40],
    "no header": header("{'descr'"),
    "deep header": header("(" * 900),
    "huge shape": header(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,)}\n"
    ),
    "no bytes": header("{'descr': '|S0', 'fortran_order': False, 'shape': (4,)}\n"),
    "objects": header("{'descr': '|O', 'fortran_order': False, 'shape': (4,)}\n"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("type_", ["", ":f32"])
def test_file(name: str, type_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "a.npy").write_bytes(FILES[name])
    spec = f"--arg={tmp_path}/a.npy{type_}"
    code, text = outcome(capsys, str(tmp_path / "k.ptx"), *BLOCK, spec)
    assert code == 1
    assert text.startswith("error: argument 0, ")
    assert text.count("\n") == 1


def test_sidecar_that_breaks_its_schema_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "k.json").write_text(json.dumps(SIDECAR))
    args = [f"--arg={one}" for one in GOOD]
    code, text = outcome(capsys, str(tmp_path / "k.ptx"), *args)
    assert code == 1
    assert text == (
        f"error: {tmp_path}/k.json: kernels[0].arguments[0].promised.aligned: "
        f"0 is not from 1 to {2**63 - 1}\n"
    )


@pytest.mark.parametrize("text", ["[1]", "{}", '"a"', "[" * 100_000, "", '{"kernel": 1}', "\xff"])
def test_the_json_of_another_is_left_alone(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "k.json").write_bytes(text.encode("latin-1"))
    args = [f"--arg={one}" for one in GOOD]
    assert outcome(capsys, str(tmp_path / "k.ptx"), *BLOCK, *args)[0] == 0


@pytest.mark.parametrize("text", ["{}", "/etc/passwd", "a\0b", "\0", "", "/" * 5000])
def test_ptx_is_never_taken_for_a_path(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.ptx"
    other.write_text("secret")
    path = tmp_path / "k.ptx"
    path.write_text(text.format(other))
    code, error = outcome(capsys, str(path), "--dry-run")
    assert code == 1
    assert error.startswith(f"error: {path}:1:1: ")
    assert "secret" not in error
    assert "root:" not in error


def test_an_output_cannot_be_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(PTX)
    args = [f"--arg={one}" for one in GOOD]
    code, text = outcome(capsys, str(path), *BLOCK, *args, "--out", f"0={path}")
    assert code == 1
    assert text == f"error: {path} is the input; choose another output\n"
    assert path.read_text() == PTX


def test_arrays_still_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(PTX)
    np.save(tmp_path / "a.npy", np.zeros(4, np.float32))
    args = [f"--arg={one}" for one in (f"{tmp_path}/a.npy", "7", "f32:inf")]
    assert outcome(capsys, str(path), *BLOCK, *args, "--out", f"0={tmp_path}/a.npy")[0] == 0
