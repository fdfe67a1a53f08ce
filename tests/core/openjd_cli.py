"""openjd-cli, which is not ours, in the test's process."""

import contextlib
import io
import subprocess

import pytest


def openjd(*arguments, **variables):
    """Exit code and output; its tasks get these environment variables."""
    # a second, which only these tests need
    from openjd.cli._create_argparser import main

    out, code = io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue())
