"""The `verdigris` command."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from verdigris.core.base.errors import BROKEN_PIPE, EndedError, VerdigrisError, reason
from verdigris.core.base.inputs import WORKING_FOLDER_GONE, is_working_folder_gone
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.process.profile import begin_profile, write_profile
from verdigris.core.cli.commands.bake import bake
from verdigris.core.cli.commands.bundles.compress import compress
from verdigris.core.cli.commands.bundles.cost import cost
from verdigris.core.cli.commands.bundles.export import export
from verdigris.core.cli.commands.bundles.inspect import inspect
from verdigris.core.cli.commands.bundles.pack import pack
from verdigris.core.cli.commands.bundles.publish import publish
from verdigris.core.cli.commands.bundles.verify import verify
from verdigris.core.cli.commands.bundles.versions import versions
from verdigris.core.cli.commands.measure import compare, measure
from verdigris.core.cli.commands.meshes.ladder import ladder
from verdigris.core.cli.commands.meshes.weights import app as weights
from verdigris.core.cli.commands.panel import panel
from verdigris.core.cli.commands.render import render
from verdigris.core.cli.commands.scenes.farm import app as farm
from verdigris.core.cli.commands.scenes.scene import app as scene
from verdigris.core.cli.commands.selftest import selftest
from verdigris.core.cli.commands.view import view
from verdigris.core.cli.shared.bake_options import BakeCommand
from verdigris.core.cli.shared.option_group import with_groups
from verdigris.core.cli.shared.options import example

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130
EXIT_NO_READER = 128 + BROKEN_PIPE
# glibc's message for a library that does not fit into the memory limit.
_NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)


class Commands(TyperGroup):
    """All commands; each exits with 141 when the reader of its output closes the pipe."""

    def invoke(self, ctx: Any) -> Any:
        with _exit_on_broken_pipe():
            return super().invoke(ctx)

    def make_context(self, info_name: Any, args: list[str], *given: Any, **named: Any) -> Any:
        """Prints help and version, too."""
        with _exit_on_broken_pipe():
            _refuse_empty_words(args)
            return super().make_context(info_name, args, *given, **named)


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
    """Handles `--version`."""
    if is_wanted:
        from verdigris.core.bundle.files.write import version

        print(f"verdigris {version()}")
        raise typer.Exit


@app.callback()
def before_any_command(
    _: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=print_version, help="Print the version and exit."
        ),
    ] = False,
    profile: Annotated[
        Path | None,
        typer.Option(help="Write a trace of where the seconds go (.json), for ui.perfetto.dev."),
    ] = None,
) -> None:
    """Bakes MaterialX materials into small neural materials for games."""
    if profile is not None:
        begin_profile(profile)


_COMMANDS: dict[Callable[..., None], str] = {
    inspect: "inspect copper_tray.mtlx",
    render: "render copper_tray.mtlx --hdri sky -o tray.png",
    measure: "measure copper_tray.vdg --source copper_tray.mtlx",
    compare: "compare copper_tray.mtlx copper_tray.vdg -o compared.png",
    verify: "verify copper_tray.vdg --source copper_tray.mtlx",
    export: "export copper_tray.vdg --target astc",
    versions: "versions copper_tray.vdg --keep 20",
    pack: "pack copper_tray.vdg car_paint.vdg -o scene.vdg",
    publish: "publish tray.vdg --source copper_tray.mtlx -o review.html",
    cost: "cost copper_tray.mtlx --preset standard",
    view: "view copper_tray.vdg --source copper_tray.mtlx",
    panel: "panel copper_tray.mtlx --mesh tray.obj",
    selftest: "selftest --host maya -o report.json",
    ladder: "ladder copper_tray.mtlx --mesh tray.obj -o out",
    compress: "compress copper_tray.mtlx --target 40",
}
"""Commands, and an example of each for its help."""

app.command(cls=BakeCommand, epilog=example("bake copper_tray.mtlx --preset draft -o out"))(bake)
for command, line in _COMMANDS.items():
    app.command(epilog=example(line))(with_groups(command))
app.add_typer(weights)
app.add_typer(scene)
app.add_typer(farm)


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
        sys.exit(failure.exit_code if isinstance(failure, EndedError) else EXIT_FAILURE)
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
        sys.exit(EXIT_FAILURE)
    except OSError as failure:
        if is_working_folder_gone():
            print(f"verdigris: {WORKING_FOLDER_GONE}", file=sys.stderr)
            sys.exit(EXIT_FAILURE)
        if failure.errno not in _OUTPUT_ERRORS:
            raise
        # Python would write its buffer again at exit, and fail again
        redirect_to_null([sys.stdout.fileno()])
        if failure.errno == errno.EPIPE:
            sys.exit(EXIT_NO_READER)
        print(f"verdigris: cannot write its output: {reason(failure)}", file=sys.stderr)
        sys.exit(EXIT_FAILURE)


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
