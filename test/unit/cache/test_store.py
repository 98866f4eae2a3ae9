"""The file of the cache: what is put is got, bounded, whatever became of the file.

Against a dict, and against damage done to the file from outside.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.cache.database import BusyError, CacheError, Row, Store

MIB = 1024 * 1024


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(folder: Path, clock: Clock) -> Store:
    return Store(folder / "cache", MIB, clock)


def put(store: Store, key: str, value: bytes) -> None:
    store.put(key, value, kind="ptx", name=f"of {key}", target="sm_80")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.binary(max_size=9000)), max_size=12))
def test_like_a_dict(puts: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        check_like_a_dict(Store(Path(name), MIB), puts)


def check_like_a_dict(store: Store, puts: list[tuple[str, bytes]]) -> None:
    expected: dict[str, bytes] = {}
    for key, value in puts:
        put(store, key, value)
        expected[key] = value
        assert {k: store.get(k) for k in "abcd"} == {k: expected.get(k) for k in "abcd"}
    assert {row.key: row.size for row in store.rows()} == {k: len(v) for k, v in expected.items()}


def test_nothing_is_made_by_asking(store: Store) -> None:
    assert store.get("a") is None
    assert store.rows() == []
    store.clear()
    assert not store.folder.exists()


def test_rows(store: Store, clock: Clock) -> None:
    put(store, "a", b"123")
    clock.now += 5
    put(store, "b", b"")
    assert store.rows() == [
        Row("b", "ptx", "of b", "sm_80", 0, 1e9 + 5),
        Row("a", "ptx", "of a", "sm_80", 3, 1e9),
    ]


def test_the_file_stays_within_its_limit(store: Store, clock: Clock) -> None:
    for number in range(200):
        clock.now += 1
        put(store, str(number), os.urandom(20_000))
        assert store.file.stat().st_size <= MIB + 30_000
    kept = [int(row.key) for row in store.rows()]
    assert kept == list(range(199, 199 - len(kept), -1))
    assert len(kept) > 35


def test_what_is_used_stays(store: Store, clock: Clock) -> None:
    put(store, "often", b"x")
    for number in range(200):
        clock.now += 100
        put(store, str(number), os.urandom(20_000))
        assert store.get("often") == b"x"
    assert store.get("0") is None


def test_reading_again_soon_writes_nothing(store: Store, clock: Clock) -> None:
    put(store, "a", b"x")
    for wait, used in ((59, 0), (2, 61)):
        clock.now += wait
        store.get("a")
        assert [row.used for row in store.rows()] == [1e9 + used]


def test_more_than_the_limit_is_not_kept(store: Store) -> None:
    put(store, "small", b"x")
    put(store, "large", bytes(MIB + 1))
    assert store.get("large") is None
    assert store.get("small") == b"x"


def damage_header(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"no database at all")


def damage_pages(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(os.urandom(size - 4096))


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def change_value(file: Path) -> None:
    data = file.read_bytes()
    assert data.count(b"a value that is easily found") == 1
    file.write_bytes(data.replace(b"easily found", b"easily moved"))


def other_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE entry (something TEXT)")
        database.commit()


def other_file(file: Path) -> None:
    file.write_bytes(os.urandom(5000))


DAMAGES = (damage_header, damage_pages, cut, change_value, other_tables, other_file)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_corrupt_file_is_begun_anew(store: Store, damage: Callable[[Path], None]) -> None:
    put(store, "a", b"a value that is easily found")
    for key in "bcdefgh":
        put(store, key, os.urandom(6000))
    damage(store.file)

    def ask_all() -> None:
        for key in "bcdefgha":
            store.get(key)

    with pytest.raises(CacheError, match=r"corrupt .*recreated"):
        ask_all()
    assert store.get("a") is None
    put(store, "a", b"new")
    assert store.get("a") == b"new"
    assert [row.key for row in store.rows()] == ["a"]


@pytest.mark.parametrize("contents", [b"", b"SQLite format 3\0"])
def test_a_file_that_was_hardly_begun(store: Store, contents: bytes) -> None:
    store.folder.mkdir()
    store.file.write_bytes(contents)
    try:
        assert store.get("a") is None
    except CacheError as error:
        assert "recreated" in str(error)  # noqa: PT017 (either is right)
    put(store, "a", b"x")
    assert store.get("a") == b"x"


def test_busy_with_another_writer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilec.cache.database._PATIENCE", 0.1)
    put(store, "a", b"x")
    with closing(sqlite3.connect(store.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BusyError):
            store.get("a")
        with pytest.raises(BusyError):
            put(store, "b", b"y")
    assert store.get("a") == b"x"


def test_cleared_unless_somebody_uses_it(store: Store) -> None:
    put(store, "a", b"x")
    with store._locked(1), pytest.raises(BusyError, match="in use by other processes"):
        store.clear()
    assert store.get("a") == b"x"
    store.clear()
    assert store.get("a") is None
    assert not store.file.exists()


@pytest.fixture
def somebody() -> Iterator[None]:
    """Not root, who may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_may_be_read(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    store = Store(folder / "cache", MIB)
    put(store, "a", b"x")
    for path, mode in ((store.file, 0o444), (store.folder / "lock", 0o444), (store.folder, 0o555)):
        path.chmod(mode)
    request.getfixturevalue("somebody")
    assert store.get("a") == b"x"
    with pytest.raises(CacheError, match="readonly"):
        put(store, "b", b"y")
    unmade = Store(folder / "cache" / "deeper", MIB)
    assert unmade.get("a") is None
    with pytest.raises(CacheError, match="deeper: Permission denied"):
        put(unmade, "a", b"x")


def test_a_folder_that_cannot_be_entered(folder: Path, request: pytest.FixtureRequest) -> None:
    store = Store(folder / "cache", MIB)
    put(store, "a", b"x")
    store.folder.chmod(0)
    request.getfixturevalue("somebody")
    try:
        with pytest.raises(CacheError, match="Permission denied"):
            store.get("a")
        with pytest.raises(CacheError, match="Permission denied"):
            put(store, "a", b"x")
    finally:
        if os.getuid() != 0:
            store.folder.chmod(0o700)


@pytest.mark.parametrize("name", ["file", "file/cache"])
def test_a_file_in_place_of_the_folder(folder: Path, name: str) -> None:
    (folder / "file").write_text("not a folder")
    store = Store(folder / name, MIB)
    assert store.get("a") is None
    with pytest.raises(CacheError, match=r"File exists|Not a directory"):
        put(store, "a", b"x")
    assert (folder / "file").read_text() == "not a folder"
