"""Runs the command in the test's own process, which has a device open."""

import contextlib
import io
import sys

import pytest

from verdigris.core.cli import main as cli


def run_command(arguments, *patches):
    """Exit code, output and errors. A patch is (object, name, value)."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["verdigris", *map(str, arguments)])
        for each in patches:
            patch.setattr(*each)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()
