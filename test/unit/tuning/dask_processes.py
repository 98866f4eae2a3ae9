"""A Dask scheduler and workers for tests, each a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tilec.tuning.connection import Tls


class Started:
    """A scheduler and workers, each a process."""

    def __init__(self, folder: Path, tls: Sequence[str] = ()) -> None:
        pytest.importorskip("distributed")
        self._folder, self._tls = folder, tls
        file = folder / "scheduler.json"
        options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        if tls:
            options += ["--protocol", "tls"]
        self.processes = [self._begin("scheduler", "--host", "127.0.0.1", *options)]
        while not file.exists() or not file.read_text().endswith("}"):
            assert self.processes[0].poll() is None
            time.sleep(0.1)
        self.address = str(json.loads(file.read_text())["address"])

    def worker(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        folder = ["--local-directory", str(self._folder), "--host", "127.0.0.1"]
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", *folder, *options)
        self.processes.append(self._begin("worker", self.address, *options, **variables))
        return self.processes[-1]

    def wait_for_workers(self, number: int) -> None:
        import distributed

        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=120)

    def _begin(self, what: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, *self._tls]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command, stdout=quiet, stderr=quiet, env={**os.environ, **variables}
        )

    def end(self) -> None:
        for one in self.processes:
            one.kill()
            one.wait()


def certificates(folder: Path, name: str) -> Tls:
    """A certificate authority, and a certificate by it with its key."""
    ca, key, cert = (str(folder / f"{name}-{what}.pem") for what in ("ca", "key", "cert"))
    ca_key, asked = str(folder / f"{name}-ca-key.pem"), str(folder / f"{name}.csr")
    rsa = ["-newkey", "rsa:2048", "-nodes"]
    for command in (
        ["req", "-x509", *rsa, "-keyout", ca_key, "-out", ca, "-subj", f"/CN={name} ca"],
        ["req", *rsa, "-keyout", key, "-out", asked, "-subj", "/CN=tilec"],
        ["x509", "-req", "-in", asked, "-CA", ca, "-CAkey", ca_key, "-out", cert, "-days", "2"],
    ):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    return Tls(ca, cert, key)
