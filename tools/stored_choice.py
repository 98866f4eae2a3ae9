"""What `tilec --store` takes of a tuning store: a template's candidate, or tiles of products."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tilec.isa import DEFAULT_TARGET, TilecError

if TYPE_CHECKING:
    from tilec.pipeline_choice import Edit


class Template(NamedTuple):
    """A kernel of a template of MLIR.

    Attributes:
        text: the MLIR.
        name: the template's file.
        target: what it was chosen for.
        said: what was taken, and where from.
    """

    text: str
    name: str
    target: str
    said: str


def check_flags(arguments: argparse.Namespace) -> None:
    """Refuse flags that do not go with the input.

    Raises:
        TilecError: naming the flag.
    """
    if arguments.problem is not None and not _is_declaration(arguments.input):
        raise TilecError("--problem gives sizes of a declaration: the input is a .json file")
    if arguments.store is not None and not Path(arguments.store).is_file():
        raise TilecError(f"--store {arguments.store}: there is no such file")


def _is_declaration(path: str) -> bool:
    return Path(path).suffix == ".json"


def instance(arguments: argparse.Namespace) -> Template | None:
    """The template that a declaration names, with the best candidate's numbers.

    None if the input is no declaration.

    Raises:
        TilecError: for what is wrong with declaration, sizes or store, at its place.
    """
    if not _is_declaration(arguments.input):
        return None
    from tilec.tuning import load  # noqa: PLC0415 (few need it)
    from tilec.tuning.problems import problem  # noqa: PLC0415
    from tilec.tuning.sources import TemplateProgram  # noqa: PLC0415

    tunable = load(arguments.input)
    assert isinstance(tunable.program, TemplateProgram)
    sizes = tunable.default_problem
    if arguments.problem is not None:
        sizes = problem(arguments.problem, tunable.sizes)
    target = arguments.target or str(DEFAULT_TARGET)
    chosen = tunable.choose(sizes, target, arguments.store)
    said = f"kernel '{tunable.name}' for {sizes}, {target}: {chosen}"
    if arguments.store is not None and not chosen.is_stored:
        said += f"; the store {arguments.store} knows nothing of it by this tilec"
    text = tunable.program.instance(chosen.candidate)
    return Template(text, tunable.program.file, target, said)


def edits(arguments: argparse.Namespace) -> tuple[Edit, ...]:
    """The change of the pipeline by which products of matrices take tiles of the store.

    Raises:
        TilecError: for a file that is no store, or of a newer tilec.
    """
    if arguments.store is None or _is_declaration(arguments.input):
        return ()
    from tilec.passes.from_linalg import FromLinalg  # noqa: PLC0415 (with MLIR)
    from tilec.pipeline_choice import Edit  # noqa: PLC0415
    from tilec.tuning.choices import known_products  # noqa: PLC0415
    from tilec.tuning.store import Store  # noqa: PLC0415

    with Store(arguments.store) as store:
        known = tuple(map(str, known_products(store)))
    return (Edit(FromLinalg.name, (FromLinalg(known_tiles=known or (_NONE,)),), keep=False),)


_NONE = "none:1x1x1=1x1x1x1"
"""Known tiles of no product, so that the pass says that none are known."""
