"""What other packages add to tilec by entry points.

They are looked for when a name is unknown or a list is asked for, never before: a look at
everything that is installed takes longer than much of what tilec does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .errors import TilecError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class PluginError(TilecError):
    """What another package registers cannot be used."""


class Plugin(NamedTuple):
    """An entry point.

    Attributes:
        name: what it registers.
        value: where that is, as `module:attribute`.
        package: which package says so, and its version.
        entry: what loads it.
    """

    name: str
    value: str
    package: str
    entry: EntryPoint

    def load(self) -> object:
        """What it stands for.

        Raises:
            PluginError: if it cannot be imported, whatever its code raises.
        """
        try:
            found: object = self.entry.load()
        except (Exception, SystemExit) as error:
            raise self.wrong(f"which cannot be loaded: {type(error).__name__}: {error}") from error
        return found

    def wrong(self, why: str) -> PluginError:
        """The error that says what is wrong with it, `why` beginning with "which"."""
        return PluginError(f"{self.package} registers '{self.name}' as {self.value}, {why}")


@cache
def plugins(group: str) -> Mapping[str, Plugin]:
    """The entry points of a group, such as `tilec.passes`, by name.

    Raises:
        PluginError: if two packages register the same name, or one's entry points cannot be read.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 (it takes 20 ms)

    try:
        entries = entry_points(group=group)
    except Exception as error:  # whatever a file is that is no list of entry points
        raise _unreadable(error) from None
    found: dict[str, Plugin] = {}
    for entry in entries:
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
        plugin = Plugin(entry.name, entry.value, package, entry)
        other = found.setdefault(entry.name, plugin)
        if other.package != package:
            raise PluginError(
                f"{other.package} and {package} both register '{entry.name}' in '{group}'; "
                "uninstall one"
            )
    return found


def _unreadable(error: Exception) -> PluginError:
    """The error that names the package whose entry points cannot be read."""
    from importlib.metadata import distributions  # noqa: PLC0415

    where = "a package"
    for one in distributions():
        try:
            _ = one.entry_points
        except Exception:
            where = str(one.locate_file("")) if one.name is None else one.name
            break
    return PluginError(f"the entry_points.txt of {where} cannot be read: {error}")
