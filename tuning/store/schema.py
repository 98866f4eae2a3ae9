"""The store's schema, by version, and the way from each version to the next.

A file says by `application_id` that it is a store, and by `user_version` which schema it has. A
schema that was released is never changed: another is added here, with its migration, and a file of
the old one is kept for the tests.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..errors import TuningError

APPLICATION = 0x54494C45
"""`application_id` of stores: TILE."""

_FIRST = (
    "CREATE TABLE study (id TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE trial (
        study TEXT NOT NULL REFERENCES study (id), candidate TEXT NOT NULL, state TEXT NOT NULL,
        reason TEXT NOT NULL, counts TEXT NOT NULL, cost REAL, seconds REAL NOT NULL,
        PRIMARY KEY (study, candidate)) WITHOUT ROWID""",
)
_MEASURED = (
    "ALTER TABLE trial ADD COLUMN detail TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE trial ADD COLUMN measured TEXT",
    """CREATE TABLE claim (
        study TEXT NOT NULL REFERENCES study (id), candidate TEXT NOT NULL, owner TEXT NOT NULL,
        PRIMARY KEY (study, candidate)) WITHOUT ROWID""",
)
STEPS: Sequence[Sequence[str]] = (_FIRST, _MEASURED)
"""What makes of a file of each version one of the next, from an empty one on."""

VERSION = len(STEPS)
"""The version of the schema that is written."""


def prepare(database: sqlite3.Connection, file: str) -> None:
    """Make the tables of an empty file, and migrate those of an old one, in one transaction.

    Raises:
        TuningError: for a file of a newer tilec, and one that is no store.
    """
    if _checked(database, file) == VERSION:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it in the meantime.
        for step in STEPS[_checked(database, file) :]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def _checked(database: sqlite3.Connection, file: str) -> int:
    """The version of a file, 0 of an empty one."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION and (tables or version or application):
        raise TuningError(f"{file}: a database of another application, not a tuning store")
    if version > VERSION:
        raise TuningError(
            f"{file}: written by a newer tilec, with schema {version}; this one reads up to "
            f"{VERSION}"
        )
    return int(version)
