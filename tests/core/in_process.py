"""Runs the command in the test's own process, which has a device open."""

import contextlib
import io
import os
import sys
from functools import lru_cache

import pytest
import typer

from verdigris.core.cli import main as cli


@lru_cache(maxsize=1)
def all_commands():
    """Built once: Typer builds all of them anew for each call, which is most of its time."""
    return typer.main.get_command(cli.app)


def run_command(arguments, *patches):
    """Exit code, output and errors. A patch is (object, name, value)."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(cli, "app", all_commands())
        patch.setattr(sys, "argv", ["verdigris", *map(str, arguments)])
        for each in patches:
            patch.setattr(*each)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def stream_of(number, is_unbuffered=False):
    """As Python opens its standard output, without and with PYTHONUNBUFFERED."""
    raw = os.fdopen(number, "wb", buffering=0 if is_unbuffered else -1)
    return io.TextIOWrapper(raw, write_through=is_unbuffered)


def into(stream, *words):
    """The command in this process, into this stream: exit code and errors."""
    code, _, errors = run_command(words, (sys, "stdout", stream))
    with contextlib.suppress(OSError):
        stream.close()
    return code, errors
