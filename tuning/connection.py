"""Connections to a Dask scheduler: to this machine in the clear, to others by TLS alone.

Whoever reaches a Dask scheduler has it run code, and results are pickles, which are code where they
are read. Beyond this machine only peers that a certificate vouches for are spoken to.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from .errors import TuningError

CONNECT = 10.0
"""Seconds that a scheduler may take to answer."""
_ADDRESS = re.compile(r"(?:(\w+)://)?(\[[0-9A-Fa-f:]+\]|[^/:\[\]\s]+):([0-9]{1,5})")
_FLAGS = "--tls-ca, --tls-cert and --tls-key"


@dataclass(frozen=True)
class Tls:
    """Certificates, as files of PEM.

    Attributes:
        ca: who vouches for the scheduler and its workers.
        cert: of this process, by the same authority; the scheduler asks for it.
        key: of `cert`; empty where it stands in the same file.
    """

    ca: str
    cert: str
    key: str = ""


def address_of(given: str, tls: Tls | None) -> str:
    """An address with its protocol.

    Args:
        given: `tcp://HOST:PORT`, `tls://HOST:PORT` or `HOST:PORT`.
        tls: certificates, where some were given.

    Raises:
        TuningError: for what is no address, and another machine without TLS.
    """
    found = _ADDRESS.fullmatch(given)
    if found is None or not 0 < int(found[3]) < 65536:
        raise TuningError(f"scheduler '{given}' is not an address; legal: tcp://HOST:PORT, tls://…")
    scheme = found[1] or ("tls" if tls is not None else "tcp")
    address = f"{scheme}://{found[2]}:{found[3]}"
    if scheme not in ("tcp", "tls"):
        raise TuningError(f"scheduler {given}: protocol '{scheme}'; legal: tcp and tls")
    if scheme == "tcp" and tls is not None:
        raise TuningError(f"scheduler {given}: certificates are for an address of tls://")
    if scheme == "tcp" and not _is_here(found[2].strip("[]")):
        raise TuningError(
            f"scheduler {given} is not on this machine, where whoever reaches it could run code "
            f"here; legal: tls://{found[2]}:{found[3]} with {_FLAGS}, or an SSH tunnel to localhost"
        )
    return address


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def security(address: str, tls: Tls | None) -> Any:
    """Dask's `Security` for an address; None without TLS.

    Args:
        address: of a scheduler; empty for a cluster of this process's own.
        tls: certificates; None for those of Dask's configuration (`distributed.comm.tls`), and of a
            cluster of this process's own for new ones that nobody else has, where the package
            cryptography can make them.

    Raises:
        TuningError: naming the file that cannot be used.
    """
    import distributed  # noqa: PLC0415 (of the extra `dask`)

    if tls is None and not address and find_spec("cryptography") is not None:
        return distributed.Security.temporary()
    if tls is None:
        if not address.startswith("tls://"):
            return None
        made = distributed.Security(require_encryption=True)
        if not made.tls_ca_file or not made.tls_client_cert:
            raise TuningError(
                f"scheduler {address}: {_FLAGS} name its certificates, or Dask's configuration does"
            )
    else:
        for file in filter(None, (tls.ca, tls.cert, tls.key)):
            if not Path(file).is_file():
                raise TuningError(f"certificate {file}: there is no such file")
        cert, key = tls.cert, tls.key or None
        made = distributed.Security(
            require_encryption=True, tls_ca_file=tls.ca,
            tls_client_cert=cert, tls_client_key=key, tls_scheduler_cert=cert,
            tls_scheduler_key=key, tls_worker_cert=cert, tls_worker_key=key,
        )  # fmt: skip
    try:
        made.get_connection_args("client")
    except (OSError, ValueError) as error:
        files = ", ".join(filter(None, (made.tls_ca_file, made.tls_client_cert)))
        raise TuningError(f"certificates {files}: {error}") from None
    return made


class Connection:
    """A client of a scheduler, and the cluster of this machine's own that it was made for.

    Args:
        given: the scheduler's address; empty for a cluster of this machine's own.
        size: processes of that cluster.
        tls: certificates; None without, or for those of Dask's configuration.
        silence: seconds after which a worker of that cluster that says nothing is begun anew.

    Raises:
        TuningError: if Dask is not there, no scheduler answers, or it is not to be spoken to.
    """

    def __init__(self, given: str, size: int, tls: Tls | None, silence: float) -> None:
        try:
            import dask  # noqa: PLC0415 (of the extra `dask`)
            import distributed  # noqa: PLC0415
        except ImportError:
            raise TuningError(
                "--scheduler needs Dask, which is not installed: pip install 'tilec[dask]'"
            ) from None
        self.name = given or "local"
        address = address_of(given, tls) if given else ""
        safe = security(address, tls)
        # What is wrong is one error, not also lines of a log.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._gone = False
        self._local: Any = None
        if not address:
            with dask.config.set({"distributed.scheduler.worker-ttl": f"{silence}s"}):
                self._local = distributed.LocalCluster(
                    n_workers=size, threads_per_worker=1, host="127.0.0.1", security=safe,
                    dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
                )  # fmt: skip
        try:
            self.client = distributed.Client(
                self._local or address, timeout=CONNECT, security=safe, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            self._end_local()
            raise TuningError(f"scheduler {self.name}: {_in_a_line(error)}") from None

    @property
    def dashboard(self) -> str:
        """A link to what the cluster does."""
        return str(self.client.dashboard_link)

    @property
    def is_lost(self) -> bool:
        """Whether the scheduler is gone."""
        return self._gone or self.client.status not in ("running", "connecting")

    def workers(self) -> dict[str, dict[str, Any]]:
        """What the scheduler says of its workers, by address.

        Raises:
            TuningError: if it is gone.
        """
        try:
            found: dict[str, dict[str, Any]] = self.client.scheduler_info(n_workers=-1)["workers"]
        except (KeyError, OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise self.lost(None if isinstance(error, KeyError) else error) from None
        return found

    def lost(self, error: BaseException | None = None) -> TuningError:
        """The error that the scheduler is gone."""
        self._gone = True
        why = "" if error is None else f" ({_in_a_line(error)})"
        return TuningError(
            f"scheduler {self.name}: the connection is lost{why}; what was found is kept, and the "
            "same command goes on"
        )

    def close(self) -> None:
        """End the client, and its own cluster."""
        with suppress(OSError, TimeoutError):
            self.client.close(timeout=CONNECT)
        self._end_local()

    def _end_local(self) -> None:
        if self._local is not None:
            self._local.close()


def _in_a_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:300] or type(error).__name__
