"""`tile-lsp-server`: a language server for tile programs.

It speaks on standard streams: diagnostics by the verifiers and checks, hover with layouts and
effects, go to definition, and code actions that mend misspelt names. It needs
`pip install 'tilec[lsp]'`.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from tilec.ending import end_on_signals
from tilec.isa import TilecError

from .colours import say
from .common import Parser, leave, run

if TYPE_CHECKING:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer

    from .lsp_document import Document, Problem, Span

_SEVERITIES = {"error": 1, "warning": 2, "remark": 3, "note": 4}


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    return Parser("tile-lsp-server", __doc__ or "")


def server() -> LanguageServer:
    """The server, ready to be started.

    Raises:
        TilecError: where pygls is not installed.
    """
    try:
        from lsprotocol import types as lsp  # noqa: PLC0415
        from pygls.lsp.server import LanguageServer  # noqa: PLC0415
    except ImportError:
        raise TilecError("needs pygls: pip install 'tilec[lsp]'") from None
    from tilec.version import __version__  # noqa: PLC0415

    from .lsp_document import Document  # noqa: PLC0415

    made = LanguageServer("tile-lsp-server", __version__)
    documents: dict[str, Document] = {}

    def change(uri: str) -> None:
        document = documents.setdefault(uri, Document())
        document.change(made.workspace.get_text_document(uri).source)
        found = [_diagnostic(one, uri) for one in document.problems]
        made.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found)
        )

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: lsp.DidOpenTextDocumentParams) -> None:
        change(given.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(given: lsp.DidChangeTextDocumentParams) -> None:
        change(given.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(given: lsp.DidCloseTextDocumentParams) -> None:
        documents.pop(given.text_document.uri, None)

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        document = documents.get(given.text_document.uri)
        text = document and document.hover(given.position.line, given.position.character)
        if not text:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        document = documents.get(given.text_document.uri)
        span = document and document.definition(given.position.line, given.position.character)
        return lsp.Location(given.text_document.uri, _range(span)) if span else None

    @made.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def actions(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = given.text_document.uri
        document = documents.get(uri)
        if document is None:
            return []
        lines = range(given.range.start.line, given.range.end.line + 1)
        return [
            lsp.CodeAction(
                title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(problem, uri)],
                edit=lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(_range(span), new)]}),
            )
            for problem in document.problems
            if problem.span.line in lines
            for title, span, new in document.fixes(problem)
        ]

    return made


def _range(span: Span) -> lsp.Range:
    from lsprotocol import types as lsp  # noqa: PLC0415

    return lsp.Range(lsp.Position(span.line, span.start), lsp.Position(span.line, span.end))


def _diagnostic(problem: Problem, uri: str) -> lsp.Diagnostic:
    from lsprotocol import types as lsp  # noqa: PLC0415

    return lsp.Diagnostic(
        _range(problem.span),
        problem.message,
        severity=lsp.DiagnosticSeverity(_SEVERITIES[problem.severity]),
        source="tilec",
        related_information=[
            lsp.DiagnosticRelatedInformation(lsp.Location(uri, _range(span)), message)
            for span, message in problem.notes
        ],
    )


def _main(arguments: argparse.Namespace) -> int:
    del arguments
    from .lsp_log import log_lines  # noqa: PLC0415 (for this alone)

    made = server()
    log_lines()
    # Streams of its own, since pygls closes them.
    with open(_standard_input(), "rb") as asked, _Answers(io.FileIO(os.dup(1), "wb")) as answered:
        made.start_io(asked, answered)
    return 0


def _standard_input() -> int:
    """A number of it.

    Raises:
        OSError: naming it, if it is closed.
    """
    try:
        number = os.dup(0)
        os.read(number, 0)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, "<stdin>") from None
    return number


class _Answers(io.BufferedWriter):
    """What the client reads. Where it cannot be written the process ends: nobody is served."""

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):  # else whoever read has gone
                say(f"error: <stdout>: {error.strerror}\n")
            leave(1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-lsp-server`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
