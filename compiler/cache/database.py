"""Values by key in an SQLite file that many processes share: bounded, and safe after any kill.

Every operation opens the file anew, so that nothing is held across a fork. The journal is
SQLite's rollback journal: unlike WAL it works on a network's file systems, where the
homes of clusters are, and leaves one file behind. Nothing is synchronised to the disk: what a power
cut may spoil, the digest in every row tells, and the file is begun anew.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from tilec.isa import TilecError

from .trust import distrust

_FILE = "compiled-1.sqlite3"
"""Named by the version of its tables: another version is another file."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, kind TEXT, name TEXT, target TEXT,"
    " size INTEGER, used REAL, digest BLOB, value BLOB)",
    "CREATE INDEX IF NOT EXISTS by_use ON entry (used)",
)
_LOCK = "lock"
_SLACK = 1 << 20
"""Bytes of a row besides its value, at most."""
_END_OF_TIME = 2.0**40
"""Seconds; what is later no calendar shows."""
_PATIENCE = 2.0
"""Seconds that an operation waits for other processes."""
_RECENT = 60.0
"""Seconds for which an entry counts as just used, so that most reads write nothing."""
_EVICTED = 8
"""One in so many entries goes at a time when there are too many."""


class CacheError(TilecError):
    """The cache's file cannot be used."""


class BusyError(CacheError):
    """Other processes use the file at the moment."""


class Row(NamedTuple):
    """What is known of an entry without its value.

    Attributes:
        key: what it is found by.
        kind: what the value is.
        name: what the value is of, for people.
        target: compilation target.
        size: bytes of the value.
        used: when it was last used, in seconds since 1970.
    """

    key: str
    kind: str
    name: str
    target: str
    size: int
    used: float


class Store:
    """Values by key.

    Attributes:
        folder: where the file is.
        limit: bytes that the file may have, give or take one value.
    """

    def __init__(self, folder: Path, limit: int, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.limit = limit
        self._clock = clock

    @property
    def file(self) -> Path:
        """The file, which need not exist."""
        return self.folder / _FILE

    def get(self, key: str) -> bytes | None:
        """The value of `key`; None if there is none.

        Raises:
            CacheError: if the file cannot be used, or was corrupt, so it was recreated.
        """
        if not self._exists():
            return None
        with self._opened() as database:
            if not _has_tables(database):
                return None
            found = database.execute(
                "SELECT digest, value, used FROM entry WHERE key = ?", (key,)
            ).fetchone()
            if found is None:
                return None
            digest, value, used = found
            if not _is_entry(*found) or digest != _digest(key, value):
                raise sqlite3.DatabaseError("the value does not match its digest")
            now = self._clock()
            if not 0 <= now - used < _RECENT:
                with suppress(sqlite3.OperationalError):  # busy, or read-only
                    database.execute("UPDATE entry SET used = ? WHERE key = ?", (now, key))
            return bytes(value)

    def put(self, key: str, value: bytes, *, kind: str, name: str, target: str) -> None:
        """Set the value of `key`; those longest unused go where there is no room.

        Raises:
            CacheError: if the file cannot be written, or was corrupt, so it was recreated.
        """
        if len(value) > self.limit:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise CacheError(f"{self.folder}: {error.strerror}") from None
        self._begin()
        row = (key, kind, name, target, len(value), self._clock(), _digest(key, value), value)
        with self._opened() as database, _transaction(database):
            for table in _TABLES:
                database.execute(table)
            database.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            while _bytes(database) > self.limit:
                database.execute(
                    "DELETE FROM entry WHERE key IN (SELECT key FROM entry ORDER BY used LIMIT"
                    f" (SELECT 1 + count(*) / {_EVICTED} FROM entry))"
                )

    def rows(self) -> list[Row]:
        """All entries, those used last first.

        Raises:
            CacheError: if the file cannot be used, or was corrupt, so it was recreated.
        """
        if not self._exists():
            return []
        with self._opened() as database:
            if not _has_tables(database):
                return []
            fields = ", ".join(Row._fields)
            found = database.execute(f"SELECT {fields} FROM entry ORDER BY used DESC").fetchall()
            if not all(_is_row(*row) for row in found):
                raise sqlite3.DatabaseError("a row does not belong to an entry")
            return [Row(*row) for row in found]

    def clear(self) -> None:
        """Remove the file.

        Raises:
            CacheError: if it cannot be removed, or other processes use it at the moment.
        """
        if self._exists() and not self._begin_anew():
            raise BusyError(f"{self.file}: it is in use by other processes; try again")

    def _exists(self) -> bool:
        try:
            return self.file.exists()
        except OSError as error:
            raise CacheError(f"{self.folder}: {error.strerror}") from None

    def _begin(self) -> None:
        """Make the file, if there is none, for this user alone."""
        self._check_trust()
        try:
            os.close(_open(self.file))
        except OSError as error:
            raise CacheError(f"{self.file}: {error.strerror}") from None

    def _check_trust(self) -> None:
        """See that nobody else can have written what is read here.

        Raises:
            CacheError: if somebody can.
        """
        try:
            why = distrust(self.folder, _FILE, f"{_FILE}-journal", _LOCK)
        except OSError as error:
            raise CacheError(f"{self.folder}: {error.strerror}") from None
        if why is not None:
            raise CacheError(why)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database; what goes wrong with it inside becomes a `CacheError`."""
        self._check_trust()
        with self._locked(fcntl.LOCK_SH) as locked:
            if not locked:
                raise BusyError(f"{self.file}: it is being replaced")
            try:
                connection = sqlite3.connect(self.file, timeout=_PATIENCE, isolation_level=None)
                with closing(connection) as database:
                    # What is larger than the whole was not put there by `put`.
                    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.limit + _SLACK)
                    database.execute("PRAGMA trusted_schema = OFF")
                    database.execute("PRAGMA synchronous = OFF")
                    yield database
                return
            except sqlite3.DatabaseError as error:
                problem = error
        # Outside of the lock, which whoever begins anew must have alone.
        code = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise BusyError(f"{self.file}: {problem}")
        corrupt = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
        if code in corrupt and self._begin_anew():
            raise CacheError(f"{self.file} was corrupt ({problem}), so it was recreated")
        raise CacheError(f"{self.file}: {problem}")

    def _begin_anew(self) -> bool:
        """Remove the file; False if others use it, one of whom may do the same.

        Alone: a process that still wrote to the removed file would leave its journal for the
        next file to take for its own.
        """
        with self._locked(fcntl.LOCK_EX) as locked:
            if locked:
                try:
                    for name in (f"{_FILE}-journal", _FILE):
                        (self.folder / name).unlink(missing_ok=True)
                except OSError as error:
                    raise CacheError(f"{self.file}: {error.strerror}") from None
            return locked

    @contextmanager
    def _locked(self, kind: int) -> Iterator[bool]:
        """Holds the lock that stands between users of the file and its removal.

        Without waiting, since its holder may be a process that somebody stopped.
        """
        try:
            lock = _open(self.folder / _LOCK)
        except OSError as error:
            raise CacheError(f"{self.folder}: {error.strerror}") from None
        try:
            try:
                fcntl.flock(lock, kind | fcntl.LOCK_NB)
                held = True
            except OSError:
                held = False
            yield held
        finally:
            os.close(lock)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError:  # a cache that others have filled may be read
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _has_tables(database: sqlite3.Connection) -> bool:
    """Whether the file has been begun: who made it may have been killed, or is about to."""
    query = "SELECT count(*) FROM sqlite_master WHERE name = 'entry' AND type = 'table'"
    return bool(database.execute(query).fetchone()[0])


def _is_entry(digest: object, value: object, used: object) -> bool:
    """Whether columns are of the types that `put` writes: SQLite holds any in any."""
    return isinstance(digest, bytes) and isinstance(value, bytes) and _is_time(used)


def _is_row(*fields: object) -> bool:
    *texts, size, used = fields
    return all(isinstance(text, str) for text in texts) and isinstance(size, int) and _is_time(used)


def _is_time(used: object) -> bool:
    return isinstance(used, float) and 0 <= used < _END_OF_TIME


def _digest(key: str, value: bytes) -> bytes:
    return blake2b(key.encode() + b"\0" + value, digest_size=16).digest()


def _bytes(database: sqlite3.Connection) -> int:
    """Bytes of the file's pages that hold something."""
    pages, free, size = (
        database.execute(f"PRAGMA {what}").fetchone()[0]
        for what in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
