"""The store: studies and their trials in one file of SQLite.

A trial is one row, written in a transaction of its own as soon as it is known, so that a process
that is killed loses what it was working on and nothing else. Processes that share a file claim
candidates before they try them; the claims of one that died are taken over. The journal is a
rollback journal: write-ahead logs do not work on file systems of a network.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..errors import TuningError
from .keys import StudyKey
from .outcomes import Outcome, State, name_of
from .owners import is_alive, me
from .schema import VERSION, prepare

_PATIENCE = 60.0
"""Seconds to wait for another process that writes."""
_FIELDS = "candidate, state, reason, detail, counts, cost, measured, seconds"

T = TypeVar("T")


class Store:
    """Results of tuning, in a file.

    Args:
        file: its path; made when something is written, `:memory:` for none.

    Raises:
        TuningError: for a file that is no store, is corrupt, cannot be opened or is newer.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = str(file)
        self._has_claimed = False
        try:
            self._database = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
            self._database.execute("PRAGMA trusted_schema = OFF")
            self._database.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            raise TuningError(f"{file}: {error}") from None
        self._run(lambda database: prepare(database, self.file))

    def close(self) -> None:
        """Give back what this process has claimed, if anything, and close the file.

        A file that is only read is not written, so that it may be one that nobody may write.
        """
        if self._has_claimed:
            with self._transaction() as database:
                database.execute("DELETE FROM claim WHERE owner = ?", (me(),))
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def study(self, key: StudyKey) -> str:
        """The id of a study, which is begun if there is none."""
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO study VALUES (?, ?)", (key.id, key.json))
        return key.id

    def studies(self) -> dict[str, dict[str, Any]]:
        """The keys of all studies, by id."""
        rows = self._run(lambda d: d.execute("SELECT id, key FROM study ORDER BY key").fetchall())
        return {id_: json.loads(key) for id_, key in rows}

    def tried(self, study: str) -> set[str]:
        """Names of the candidates whose outcome is known."""
        query = "SELECT candidate FROM trial WHERE study = ?"
        return {name for (name,) in self._run(lambda d: d.execute(query, (study,)).fetchall())}

    def claim(
        self, study: str, candidates: Iterable[Mapping[str, int]], most: int
    ) -> list[Mapping[str, int]]:
        """Candidates that this process shall try: untried ones that nobody alive has claimed.

        Args:
            study: its id.
            candidates: those to choose from, the first ones first.
            most: how many at most.
        """
        taken: list[Mapping[str, int]] = []
        with self._transaction() as database:
            query = "SELECT candidate FROM trial WHERE study = ?"
            known = {name for (name,) in database.execute(query, (study,))}
            query = "SELECT candidate, owner FROM claim WHERE study = ?"
            claims = dict(database.execute(query, (study,)).fetchall())
            alive = {owner: is_alive(owner) for owner in set(claims.values())}
            for candidate in candidates:
                if len(taken) == most:
                    break
                name = name_of(candidate)
                if name in known or alive.get(claims.get(name, ""), False):
                    continue
                database.execute("REPLACE INTO claim VALUES (?, ?, ?)", (study, name, me()))
                taken.append(candidate)
        self._has_claimed |= bool(taken)
        return taken

    def release(self, study: str) -> None:
        """Give back what this process has claimed of a study."""
        with self._transaction() as database:
            database.execute("DELETE FROM claim WHERE study = ? AND owner = ?", (study, me()))

    def claimed(self, study: str) -> int:
        """How many candidates processes alive are working on."""
        return len(self.claims(study))

    def claims(self, study: str) -> set[str]:
        """Names of the candidates that processes alive are working on, this one included."""
        query = "SELECT candidate, owner FROM claim WHERE study = ?"
        rows = self._run(lambda d: d.execute(query, (study,)).fetchall())
        alive = {owner: is_alive(owner) for owner in {owner for _, owner in rows}}
        return {name for name, owner in rows if alive[owner]}

    def put(self, study: str, outcome: Outcome) -> None:
        """Write what became of a candidate, in the place of what was known of it."""
        values = (
            outcome.name, str(outcome.state), outcome.reason, outcome.detail,
            json.dumps(dict(outcome.counts), sort_keys=True), outcome.cost,
            None if outcome.measured is None else json.dumps(dict(outcome.measured)),
            outcome.seconds,
        )  # fmt: skip
        with self._transaction() as database:
            database.execute(
                f"REPLACE INTO trial (study, {_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (study, *values),
            )
            database.execute(
                "DELETE FROM claim WHERE study = ? AND candidate = ?", (study, outcome.name)
            )

    def outcomes(self, study: str) -> list[Outcome]:
        """What became of all candidates that were tried: the best first, then those refused."""
        query = f"SELECT {_FIELDS} FROM trial WHERE study = ?"
        rows = self._run(lambda d: d.execute(query, (study,)).fetchall())
        return sorted(map(self._read, rows), key=lambda one: one.rank)

    def _read(self, row: Sequence[Any]) -> Outcome:
        candidate, state, reason, detail, counts, cost, measured, seconds = row
        try:
            return Outcome(
                json.loads(candidate), State(state), reason, detail, json.loads(counts), cost,
                None if measured is None else json.loads(measured), seconds,
            )  # fmt: skip
        except (TypeError, ValueError) as error:
            raise TuningError(f"{self.file}: one of its trials cannot be read: {error}") from None

    def export(self) -> dict[str, Any]:
        """Everything as JSON has it, in one order whoever found what when; times are apart."""
        studies = []
        for id_, key in self.studies().items():
            found = sorted(self.outcomes(id_), key=lambda one: one.name)
            trials = [one.result() for one in found]
            studies.append({"key": key, "trials": trials, "seconds": [o.seconds for o in found]})
        return {"schema": VERSION, "studies": studies}

    def _run(self, body: Callable[[sqlite3.Connection], T]) -> T:
        """Work on the database; what goes wrong is a `TuningError` that names the file."""
        try:
            return body(self._database)
        except sqlite3.Error as error:
            raise TuningError(f"{self.file}: {error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        database = self._database
        try:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise TuningError(f"{self.file}: {error}") from None
