"""Runs the command in the test's own process, which has a device open."""

import contextlib
import io
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
