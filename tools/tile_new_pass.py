"""`tile-new-pass`: create a package with a dialect, an op, its lowering, a pass, and tests.

NAME is that of the package and of the dialect: small letters and digits. The folder NAME, or that
of -o, must not be there. `pip install -e NAME && lit -v NAME/test` tries it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NoReturn

from tilec.isa import TilecError

from .common import Parser, hurry, leave, run
from .files import made_folder, write_outputs

_ENDING = ".in"
"""What files of the template end with, so that nobody takes them for code."""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-new-pass", __doc__ or "")
    made.add_argument(
        "name", metavar="NAME", help="name of the package and the dialect, such as acme"
    )
    made.add_argument(
        "-o", dest="output", metavar="DIR", help="the folder to create; default: NAME"
    )
    return made


def _template(folder: Traversable, at: Path) -> dict[Path, str]:
    """The files of the template, by their place in it."""
    found: dict[Path, str] = {}
    for one in folder.iterdir():
        if one.is_dir():
            found |= _template(one, at / one.name)
        elif one.name.endswith(_ENDING):
            found[at / one.name.removesuffix(_ENDING)] = one.read_text(encoding="utf-8")
    return found


def filled(name: str) -> dict[Path, str]:
    """The files of a package of a name, by their place in it.

    Raises:
        TilecError: if no package and dialect can be called so.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise TilecError(
            f"a package and dialect has lower-case letters and digits only, unlike '{name}'"
        )
    template = _template(files("tilec.tools") / "templates" / "plugin", Path())
    return {
        Path(str(path).replace("NAME", name)): text.replace("@NAME@", name).replace(
            "@Name@", name.capitalize()
        )
        for path, text in template.items()
    }


def _main(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.output or arguments.name)
    if folder.exists():
        raise TilecError(f"{folder} already exists")
    with made_folder(str(folder)):
        made = filled(arguments.name)
        for path in made:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_outputs({str(folder / path): text for path, text in made.items()})
    print(f"{folder}: pip install -e {folder} && lit -v {folder / 'test'}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-new-pass`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    leave(main())


if __name__ == "__main__":
    command()
