"""A program in an application's own interpreter, from its start to its exit code.

Interpreters of applications lose exit codes or crash when they end by themselves. So the program
ends the application, flushes its outputs, and leaves with `os._exit`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.host import APPLICATIONS

EXIT_FAILED, EXIT_INTERRUPTED = 1, 130
# Seconds that an application gets to end.
END_SECONDS = 30.0


def run(program: str, arguments: Sequence[str]) -> NoReturn:
    """Runs a program of the plug-in: the function `run` of its module, then `end` of the
    plug-in."""
    plug_in: ModuleType | None = None
    try:
        folder = find_application()
        plug_in = import_module(f"verdigris.plugins.{folder}.without_window")
        code = import_module(f"verdigris.plugins.{folder}.{program}").run(arguments)
    except BaseException as ending:  # noqa: BLE001 - whatever it is, the process must end
        code = _exit_code(program, ending)
    leave(code, plug_in.end if plug_in else None)


def find_application() -> str:
    """The plug-in of the application whose interpreter runs this."""
    plugins = Path(__file__).absolute().parents[1]
    here = [each for each in APPLICATIONS if (plugins / each.plugin).is_dir()]
    for application in here:
        if application.module in sys.modules or find_spec(application.module) is not None:
            return application.plugin
    wanted = " or ".join(application.interpreter for application in here)
    raise HostError(f"{sys.executable} is not {wanted}: run this file with {wanted}")


def leave(code: int, end: Callable[[], None] | None = None) -> NoReturn:
    """Ends the application, flushes, and leaves with the exit code."""
    _flush()
    if end is not None:
        late = threading.Timer(END_SECONDS, os._exit, (code,))
        late.daemon = True
        late.start()
        try:
            end()
        except BaseException as failure:  # noqa: BLE001 - the exit code is decided already
            with contextlib.suppress(Exception):
                print(f"verdigris: the application did not end: {failure!r}", file=sys.stderr)
    _flush()
    os._exit(code)


def _exit_code(program: str, ending: BaseException) -> int:
    """The exit code of an exception, after its message is printed."""
    message = ""
    code = EXIT_FAILED
    if isinstance(ending, SystemExit):
        if ending.code is None or isinstance(ending.code, int):
            code = ending.code or 0
        else:
            message = str(ending.code)
    elif isinstance(ending, KeyboardInterrupt):
        code, message = EXIT_INTERRUPTED, f"{program}: interrupted"
    elif isinstance(ending, VerdigrisError):
        message = f"{program}: {ending}"
    elif isinstance(ending, ImportError):
        message = (
            f"{program}: {ending} (for {sys.executable}): stage the plug-in with "
            "packaging/stage.py, which adds the packages that the application lacks"
        )
    else:
        message = "".join(traceback.format_exception(ending)).rstrip()
    if message:
        # the output may be closed
        with contextlib.suppress(OSError, ValueError):
            print(message, file=sys.stderr)
    return code


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
