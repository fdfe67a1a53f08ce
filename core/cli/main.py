"""The `verdigris` command."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from verdigris.core.base.errors import BROKEN_PIPE, EndedError, VerdigrisError, reason
from verdigris.core.base.inputs import WORKING_FOLDER_GONE, is_working_folder_gone
from verdigris.core.base.outputs import noting_links, redirect_to_null
from verdigris.core.base.process.profile import begin_profile, write_profile
from verdigris.core.cli.loader import Commands
from verdigris.core.cli.shared.terminal import warn

_EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130
_EXIT_NO_READER = 128 + BROKEN_PIPE
# glibc's message for a library that does not fit into the memory limit.
_NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"
_PROFILE, _PROFILE_SUFFIX = "--profile", ".json"
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)


class Program(Commands):
    """All commands. Each exits with 141 when the reader of its output closes the pipe."""

    def invoke(self, ctx: Any) -> Any:
        with _exit_on_broken_pipe(), noting_links() as notes:
            result = super().invoke(ctx)
            for note in notes:
                warn(note)
            return result

    def make_context(self, info_name: Any, args: list[str], *given: Any, **named: Any) -> Any:
        """Parses the words, and prints the help and the version."""
        with _exit_on_broken_pipe():
            _refuse_empty_words(args)
            return super().make_context(info_name, _profile_first(args), *given, **named)


def _profile_first(words: list[str]) -> list[str]:
    """The words with `--profile FILE` before the command, where it belongs."""
    until = words.index("--") if "--" in words else len(words)
    at = next((at for at in range(until) if words[at].split("=")[0] == _PROFILE), 0)
    last = at + (1 if "=" in words[at] else 2) if at else 0
    return words[at:last] + words[:at] + words[last:]


def _refuse_empty_words(words: list[str]) -> None:
    """Refuses empty arguments. A shell variable that is not set gives one, and as a path it would
    mean the working folder."""
    for place, word in enumerate(words):
        if not word or (word.startswith("--") and word.endswith("=")):
            before = f" after {words[place - 1]}" if place and not word else ""
            raise typer.BadParameter(
                f"{repr(word) if word else 'an argument'}{before} is empty: leave it out, or give "
                "a value (is a variable of the shell not set?)"
            )


@contextmanager
def _exit_on_broken_pipe() -> Iterator[None]:
    """Exits with 141; typer would exit with 1, which means a failure."""
    try:
        yield
    except BrokenPipeError:
        # Python would write its buffer again at exit, and fail again
        redirect_to_null([sys.stdout.fileno()])
        raise typer.Exit(_EXIT_NO_READER) from None


app = typer.Typer(
    name="verdigris",
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def print_version(is_wanted: bool) -> None:
    """Handles `--version`."""
    if is_wanted:
        # here, because it imports numpy, which takes as long as the whole help
        from verdigris.core.base.text import version

        print(f"verdigris {version()}")
        raise typer.Exit


def profile(file: Path | None) -> None:
    """Handles `--profile`, before the module of the command is imported."""
    if file is not None and file.suffix.lower() != _PROFILE_SUFFIX:
        # most likely the command itself
        raise typer.BadParameter(
            f"--profile needs a file that ends in {_PROFILE_SUFFIX}, and {str(file)!r} does not: "
            f"write 'verdigris --profile trace{_PROFILE_SUFFIX} {file}'"
        )
    if file is not None:
        begin_profile(file)


@app.callback()
def before_any_command(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=print_version, help="Print the version and exit."
        ),
    ] = False,
    _profile: Annotated[
        Path | None,
        typer.Option(
            _PROFILE,
            callback=profile,
            help="Write a trace of where the seconds go (.json), for ui.perfetto.dev.",
        ),
    ] = None,
) -> None:
    """Bakes MaterialX materials into small neural materials for games."""


def main() -> None:
    """Runs the command. Exit codes: 0 success, 1 failure, 2 usage error, 129 bake ended by SIGHUP,
    130 interrupted, 141 output closed by its reader, 143 bake ended by SIGTERM."""
    if not _is_writable(sys.stdout):
        sys.stdout = None
    if not _is_writable(sys.stderr):
        # with None, print would write errors to the standard output
        sys.stderr = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        # a name outside of the terminal's encoding must not stop a command
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            # a service or a windowed program has no standard output
            if sys.stdout:
                sys.stdout.flush()
    except VerdigrisError as failure:
        print(f"verdigris: {failure}", file=sys.stderr)
        sys.exit(failure.exit_code if isinstance(failure, EndedError) else _EXIT_FAILURE)
    except (KeyboardInterrupt, SystemExit) as ending:
        # typer turns an interruption into an exit without a message
        if isinstance(ending, SystemExit) and ending.code != EXIT_INTERRUPTED:
            raise
        print("verdigris: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except (MemoryError, ImportError) as failure:
        if isinstance(failure, ImportError) and _NO_ROOM_FOR_LIBRARY not in str(failure):
            raise
        print(
            "verdigris: not enough memory: close other programs, raise the limit (ulimit -v), or "
            "use a smaller --resolution",
            file=sys.stderr,
        )
        sys.exit(_EXIT_FAILURE)
    except OSError as failure:
        if is_working_folder_gone():
            print(f"verdigris: {WORKING_FOLDER_GONE}", file=sys.stderr)
            sys.exit(_EXIT_FAILURE)
        if failure.errno not in _OUTPUT_ERRORS:
            raise
        # Python would write its buffer again at exit, and fail again
        redirect_to_null([sys.stdout.fileno()])
        if failure.errno == errno.EPIPE:
            sys.exit(_EXIT_NO_READER)
        print(f"verdigris: cannot write its output: {reason(failure)}", file=sys.stderr)
        sys.exit(_EXIT_FAILURE)


def run() -> None:
    """The program: main(), then an end without the interpreter's own, for which the driver of a
    graphics card takes up to two seconds."""
    code: Any = None
    try:
        main()
    except SystemExit as ending:
        code = ending.code
    device = sys.modules.get("verdigris.core.base.device")
    if device and (code is None or isinstance(code, int)) and device.close_card():
        write_profile()
        for stream in (sys.stdout, sys.stderr):
            if stream:
                stream.flush()
        os._exit(code or 0)
    sys.exit(code)


def _is_writable(stream: TextIO | None) -> bool:
    """Whether the stream is there and open for writing. Where an output is closed, a shell may
    leave a file that it reads under the same number, such as its script."""
    try:
        return stream is not None and os.write(stream.fileno(), b"") == 0
    except OSError as failure:
        return failure.errno != errno.EBADF


if __name__ == "__main__":
    run()
