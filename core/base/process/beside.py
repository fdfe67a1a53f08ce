"""python -m verdigris.core.base.process.beside MODULE ...: computes for another process, which asks
on the standard input.

What is many short calls of numpy waits for the interpreter lock beside other threads, and slows
them, too: both take up to three times as long. In a process of its own it takes a core that is
free. The process stays for further calls, and ends with the one that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from subprocess import PIPE
from typing import Any, TypeVar

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.processor import single_threaded_blas
from verdigris.core.base.process.worker_environment import require_worker_command, start_process

Result = TypeVar("Result")
_MODULE = "verdigris.core.base.process.beside"
# Seconds of a call, after which the process hangs: most take a second.
_PATIENCE = 60.0


class Beside:
    """A process that calls functions, one at a time. Without it, the calling thread does."""

    def __init__(self, *modules: str) -> None:
        """It imports these modules before the first call."""
        self._modules = modules
        self._process: subprocess.Popen[bytes] | None = None
        self._is_used = threading.Lock()
        atexit.register(self.end)

    def begin(self) -> None:
        """Starts the process, unless it runs. It takes half a second until it can compute."""
        with self._is_used:
            self._begin()

    def call(self, function: Callable[..., Result], *values: Any) -> Result:
        """The result of a function that a module has by its name, of values that can be pickled."""
        with self._is_used:
            self._begin()
            found = self._ask((function, values))
        return found[0] if found else function(*values)

    def end(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def _begin(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.end()
        with contextlib.suppress(OSError, VerdigrisError):
            command = [*require_worker_command(), "-m", _MODULE, *self._modules]
            # Ctrl-C ends the training, and more is computed then
            self._process = start_process(command, stdin=PIPE, stdout=PIPE, is_apart=True)

    def _ask(self, asked: Any) -> tuple[Any, ...]:
        """The answer of the process; empty if it is lost, or the function has failed."""
        process = self._process
        if process is None:
            return ()
        assert process.stdin is not None and process.stdout is not None
        hangs = threading.Timer(_PATIENCE, process.kill)
        hangs.daemon = True
        hangs.start()
        try:
            pickle.dump(asked, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answer: tuple[Any, ...] = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError):
            # lost, or values that cannot be pickled
            self.end()
            return ()
        finally:
            hangs.cancel()
        return answer


def main() -> None:
    """Answers until the standard input ends, or a function fails."""
    answers = os.fdopen(os.dup(1), "wb")
    # what else is printed must not mix with answers
    os.dup2(2, 1)
    for name in sys.argv[1:]:
        import_module(name)
    with single_threaded_blas():
        while True:
            try:
                function, values = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump((function(*values),), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    main()
