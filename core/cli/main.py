"""The `verdigris` command."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from verdigris.core.base import working_folder
from verdigris.core.base.errors import BROKEN_PIPE, EndedError, VerdigrisError, reason
from verdigris.core.base.outputs import let_go_of
from verdigris.core.cli.commands.bake import BakeCommand, bake
from verdigris.core.cli.commands.cost import cost
from verdigris.core.cli.commands.export import export
from verdigris.core.cli.commands.farm import app as farm
from verdigris.core.cli.commands.inspect import inspect
from verdigris.core.cli.commands.measure import compare, measure
from verdigris.core.cli.commands.pack import pack
from verdigris.core.cli.commands.panel import panel
from verdigris.core.cli.commands.render import render
from verdigris.core.cli.commands.scene import app as scene
from verdigris.core.cli.commands.selftest import selftest
from verdigris.core.cli.commands.verify import verify
from verdigris.core.cli.commands.view import view
from verdigris.core.cli.commands.weights import app as weights

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130
EXIT_NO_READER = 128 + BROKEN_PIPE
# What glibc says of one that it cannot load for want of memory.
_NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"
_CANNOT_TAKE_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)


class Commands(TyperGroup):
    """All commands, of which none has failed where a reader goes away."""

    def invoke(self, ctx: Any) -> Any:
        """Runs one of them."""
        with _while_it_is_read():
            return super().invoke(ctx)

    def make_context(self, info_name: Any, args: list[str], *given: Any, **named: Any) -> Any:
        """Prints its own help and version."""
        with _while_it_is_read():
            _refuse_empty(args)
            return super().make_context(info_name, args, *given, **named)


def _refuse_empty(words: list[str]) -> None:
    """An empty word is a variable that a shell does not have; as a path it is the folder in which
    the command runs."""
    for place, word in enumerate(words):
        if not word or (word.startswith("--") and word.endswith("=")):
            before = f" after {words[place - 1]}" if place and not word else ""
            raise typer.BadParameter(
                f"{repr(word) if word else 'an empty word'}{before} says nothing: leave it out, or "
                "give a value (a variable of the shell that is not set gives none)"
            )


@contextmanager
def _while_it_is_read() -> Iterator[None]:
    """Typer would end with 1, as commands do that have found something wrong."""
    try:
        yield
    except BrokenPipeError:
        # what is still to be written would fail again when the program ends
        let_go_of([sys.stdout.fileno()])
        raise typer.Exit(EXIT_NO_READER) from None


app = typer.Typer(
    name="verdigris",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def print_version(is_wanted: bool) -> None:
    """Ends the program where the version is all that is asked for."""
    if is_wanted:
        from verdigris.core.bundle.files.write import version

        print(f"verdigris {version()}")
        raise typer.Exit


@app.callback()
def before_any_command(
    _: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=print_version, help="Print the version, and end."
        ),
    ] = False,
) -> None:
    """Bakes MaterialX materials into compact neural materials for games."""


app.command(cls=BakeCommand)(bake)
for command in (
    *(inspect, render, measure, compare, verify, export),
    *(pack, cost, view, panel, selftest),
):
    app.command()(command)
app.add_typer(weights)
app.add_typer(scene)
app.add_typer(farm)


def main() -> None:
    """Runs the command: exit 0 when done, 1 when it failed, 2 when it was used wrongly, 130 when
    it was interrupted, 143 or 129 when SIGTERM or SIGHUP has ended a bake, 141 when nobody
    reads what it prints any more."""
    if not _takes_anything(sys.stdout):
        sys.stdout = None
    if not _takes_anything(sys.stderr):
        # print would take the standard output for it
        sys.stderr = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        # a name that the terminal's encoding does not have stops nothing
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            # there is none in a service, or in a program with windows alone
            if sys.stdout:
                sys.stdout.flush()
    except VerdigrisError as failure:
        print(f"verdigris: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code if isinstance(failure, EndedError) else EXIT_FAILURE)
    except (KeyboardInterrupt, SystemExit) as ending:
        # typer makes an exit of an interruption, and says nothing
        if isinstance(ending, SystemExit) and ending.code != EXIT_INTERRUPTED:
            raise
        print("verdigris: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except (MemoryError, ImportError) as failure:
        if isinstance(failure, ImportError) and _NO_ROOM_FOR_LIBRARY not in str(failure):
            raise
        print(
            "verdigris: not enough memory: let go of some elsewhere, lift its limit (ulimit -v), "
            "or ask for less (--resolution, --batch)",
            file=sys.stderr,
        )
        sys.exit(EXIT_FAILURE)
    except OSError as failure:
        if working_folder.is_gone():
            print(f"verdigris: {working_folder.GONE}", file=sys.stderr)
            sys.exit(EXIT_FAILURE)
        if failure.errno not in _CANNOT_TAKE_MORE:
            raise
        # what is still to be written would fail again when the program ends
        let_go_of([sys.stdout.fileno()])
        if failure.errno == errno.EPIPE:
            sys.exit(EXIT_NO_READER)
        print(f"verdigris: cannot write its output: {reason(failure)}", file=sys.stderr)
        sys.exit(EXIT_FAILURE)


def _takes_anything(stream: TextIO | None) -> bool:
    """Whether there is such an output: in the place of one that was closed, a shell may leave a
    file that it reads, such as its script."""
    try:
        return stream is not None and os.write(stream.fileno(), b"") == 0
    except OSError as failure:
        return failure.errno != errno.EBADF


if __name__ == "__main__":
    main()
