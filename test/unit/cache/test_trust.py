"""What the cache holds is used if nobody else can have written it, and tilec writes such."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import warnings
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.cache import CacheWarning, entries, store
from tilec.cache.compilations import CachedCompilation
from tilec.cache.database import CacheError, Store
from tilec.tools import tilec as tile_compiler

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
SOMEBODY = 12345


@pytest.fixture(autouse=True)
def once() -> None:
    entries._warned.clear()


def compiled(text: str) -> tuple[tilec.Compiled, list[str]]:
    """A compilation through the cache, and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = tilec.compile(text, cache=True)
    return made, [str(one.message) for one in caught if one.category is CacheWarning]


def poison(change: Callable[[Any], Any], *, key: str = "") -> None:
    """Give every entry other data, with the digest that makes it one."""
    database = sqlite3.connect(store().file)
    for found, value in database.execute("SELECT key, value FROM entry").fetchall():
        made = change(json.loads(zlib.decompress(value)))
        data = made if isinstance(made, bytes) else zlib.compress(json.dumps(made).encode())
        digest = blake2b(found.encode() + b"\0" + data, digest_size=16).digest()
        database.execute(
            "UPDATE entry SET value = ?, digest = ? WHERE key = ?", (data, digest, found)
        )
    database.commit()
    database.close()


def bomb() -> bytes:
    """A small value that is larger than all memory, written out."""
    packing = zlib.compressobj(9)
    return b"".join([*(packing.compress(bytes(1 << 24)) for _ in range(40)), packing.flush()])


POISON: dict[str, Callable[[Any], Any]] = {
    "no JSON": lambda data: zlib.compress(b"{"),
    "not compressed": lambda data: b"nothing",
    "cut off": lambda data: zlib.compress(json.dumps(data).encode())[:-9],
    "a bomb": lambda data: bomb(),
    "deep": lambda data: zlib.compress(b"[" * 100_000),
    "many digits": lambda data: zlib.compress(b"9" * 10_000),
    "a list": lambda data: [],
    "nothing": lambda data: None,
    "no PTX": lambda data: {**data, "ptx": ""},
    "PTX of another type": lambda data: {**data, "ptx": 7},
    "no ABI": lambda data: {k: v for k, v in data.items() if k != "abi"},
    "ABI that is none": lambda data: {**data, "abi": "{}"},
    "unknown target": lambda data: {**data, "abi": data["abi"].replace("sm_80", "sm_8")},
    "block of zero": lambda data: {**data, "abi": data["abi"].replace("32,", "0,", 1)},
    "remarks of a number": lambda data: {**data, "remarks": [1]},
    "remarks without a place": lambda data: {**data, "remarks": [{"message": "x"}]},
    "facts of a list": lambda data: {**data, "facts": []},
}


@pytest.mark.parametrize("name", POISON)
def test_what_tilec_does_not_write_is_compiled_again(
    name: str, program: Callable[..., str]
) -> None:
    first, found = compiled(program(1))
    assert found == []
    poison(POISON[name])
    again, found = compiled(program(1))
    assert again.ptx == first.ptx
    assert not isinstance(again, CachedCompilation)
    assert len(found) == 1
    assert "holds an entry that tilec does not write" in found[0]
    assert isinstance(compiled(program(1))[0], CachedCompilation)


def test_a_remark_without_a_place_is_shown_without(program: Callable[..., str]) -> None:
    compiled(program(1))
    remark = {
        "location": "[" * 100_000, "message": "m", "severity": "remark", "notes": [],
        "decided_by": "", "kind": "passed", "function": "", "advice": False,
    }  # fmt: skip
    poison(lambda data: {**data, "remarks": [remark]})
    (found,) = compiled(program(1))[0].remarks
    assert found.message == "m"


def test_a_binary_that_is_none_is_made_again(program: Callable[..., str]) -> None:
    first = tilec.compile(program(1), cache=True, emit="cubin").cubin
    for wrong in (first[:100].hex(), "00" * 100, "x", 7):
        poison(lambda data, wrong=wrong: {**data, "cubin": wrong} if "cubin" in data else data)
        entries._warned.clear()
        with pytest.warns(CacheWarning, match="does not write"):
            assert tilec.compile(program(1), cache=True, emit="cubin").cubin == first


def test_columns_of_other_types(program: Callable[..., str]) -> None:
    compiled(program(1))
    database = sqlite3.connect(store().file)
    database.execute("UPDATE entry SET value = 'text', used = 'never', size = 'large'")
    database.commit()
    database.close()
    with pytest.raises(CacheError):
        store().rows()
    assert ".version" in compiled(program(1))[0].ptx


def test_a_view_in_place_of_the_table(program: Callable[..., str]) -> None:
    compiled(program(1))
    database = sqlite3.connect(store().file)
    database.execute("DROP TABLE entry")
    database.execute(
        "CREATE VIEW entry AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS key, i AS kind, i AS name, i AS target, i AS size, i AS used, i AS digest,"
        " i AS value FROM n"
    )
    database.commit()
    database.close()
    assert ".version" in compiled(program(1))[0].ptx


def refused(folder: Path) -> str:
    with pytest.raises(CacheError) as caught:
        Store(folder, 1 << 20).get("a")
    return str(caught.value)


@pytest.mark.parametrize("part", ["", "compiled-1.sqlite3", "lock"])
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o666])
def test_what_others_may_write_is_refused(
    part: str, mode: int, program: Callable[..., str]
) -> None:
    first, _ = compiled(program(1))
    folder = store().folder
    (folder / part).chmod(mode)
    assert f"other users can write to {folder / part}".rstrip("/") in refused(folder)
    again, found = compiled(program(1))
    assert again.ptx == first.ptx
    assert not isinstance(again, CachedCompilation)
    assert len(found) == 1


@root
@pytest.mark.parametrize("part", ["", "compiled-1.sqlite3", "lock"])
def test_what_another_owns_is_refused_unless_named(
    part: str, program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(program(1))
    folder = store().folder
    os.chown(folder / part, SOMEBODY, -1)
    assert f"belongs to {SOMEBODY}; TILEC_CACHE_TRUST={SOMEBODY} trusts" in refused(folder)
    _, found = compiled(program(1))
    assert len(found) == 1
    monkeypatch.setenv("TILEC_CACHE_TRUST", str(SOMEBODY))
    assert isinstance(compiled(program(1))[0], CachedCompilation)


@root
def test_what_root_wrote_others_read(program: Callable[..., str], folder: Path) -> None:
    compiled(program(1))
    kept = store()
    for path, mode in ((kept.folder, 0o755), (kept.file, 0o644), (kept.folder / "lock", 0o644)):
        path.chmod(mode)
    (key,) = [row.key for row in kept.rows()]
    os.seteuid(SOMEBODY)
    try:
        assert kept.get(key)
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("named", ["no such user", "-1", "1" * 40, "\udcff"])
def test_an_owner_that_is_none(
    named: str, program: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(program(1))
    monkeypatch.setenv("TILEC_CACHE_TRUST", named)
    made, found = compiled(program(1))
    assert ".version" in made.ptx
    assert len(found) == 1
    assert "which is not a user" in found[0]


def test_a_link_in_place_of_the_file(program: Callable[..., str], folder: Path) -> None:
    compiled(program(1))
    file = store().file
    file.rename(folder / "elsewhere")
    file.symlink_to(folder / "elsewhere")
    assert "is not a file of the cache" in refused(file.parent)


def test_a_folder_in_one_that_anybody_may_write(program: Callable[..., str], folder: Path) -> None:
    compiled(program(1))
    folder.chmod(0o777)
    assert f"everybody can write to {folder}, a parent of" in refused(store().folder)
    folder.chmod(0o1777)
    assert isinstance(compiled(program(1))[0], CachedCompilation)


def test_the_file_is_for_its_owner_alone(program: Callable[..., str]) -> None:
    before = os.umask(0)
    try:
        compiled(program(1))
    finally:
        os.umask(before)
    assert store().file.stat().st_mode & 0o777 == 0o600
    assert store().folder.stat().st_mode & 0o777 == 0o700


def test_the_command_warns_once(program: Callable[..., str], folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o700)
    (folder / "cache").chmod(0o777)
    done = subprocess.run(
        ["tilec", "-", "-o", "-"], input=program(1), capture_output=True, text=True, check=True,
        env={**os.environ, "TILEC_CACHE": "1"},
    )  # fmt: skip
    assert ".version" in done.stdout
    assert done.stderr.count("warning: ") == done.stderr.count("\n") == 1


@pytest.mark.parametrize("emit", ["ptx", "cubin"])
def test_a_command_says_one_line_of_entries_that_are_none(
    program: Callable[..., str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    emit: str,
) -> None:
    """Both the program's and the binary's, for which ptxas is asked while outputs are made."""
    source = tmp_path / "in.mlir"
    source.write_text(program(1))
    words = [str(source), "--emit", emit, "-o", str(tmp_path / "out"), "--remarks-output"]
    words.append(str(tmp_path / "remarks"))
    monkeypatch.setenv("TILEC_CACHE", "1")
    assert tile_compiler.main(words) == 0
    first = (tmp_path / "out").read_bytes()
    poison(lambda data: dict.fromkeys(data, 7))
    capfd.readouterr()
    assert tile_compiler.main(words) == 0
    assert re.fullmatch(r"warning: the compile cache is not used: .*\n", capfd.readouterr().err)
    assert (tmp_path / "out").read_bytes() == first
