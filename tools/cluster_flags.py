"""Flags of commands that use the workers of a Dask cluster."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from tilec.isa import TilecError

if TYPE_CHECKING:
    from tilec.tuning.connection import Tls


def add_tls_flags(add: Callable[..., object]) -> None:
    """Add the flags that name certificates, by an `add_argument`."""
    what = "the authority that vouches for the scheduler and its workers; with a tls:// address"
    add("--tls-ca", metavar="FILE", help=what)
    add("--tls-cert", metavar="FILE", help="the certificate of this process, by that authority")
    add("--tls-key", metavar="FILE", help="its key; default: it is in the same file")


def tls_of(arguments: argparse.Namespace) -> Tls | None:
    """The certificates that were named.

    Raises:
        TilecError: if one of those that go together is missing.
    """
    ca, cert, key = arguments.tls_ca, arguments.tls_cert, arguments.tls_key
    if not (ca or cert or key):
        return None
    if not (ca and cert):
        raise TilecError("--tls-ca and --tls-cert go together, with --tls-key or without")
    from tilec.tuning.connection import Tls  # noqa: PLC0415 (few need it)

    return Tls(ca, cert, key or "")
