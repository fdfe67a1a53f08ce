"""A process beside that of the bake, which fits heads. It stays for further bakes, and ends with
the process that started it."""

from __future__ import annotations

import atexit
import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.baking.finish.fit_heads import fit_sides
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.worker_environment import (
    NO_WINDOW,
    environment_for,
    require_worker_command,
)

if TYPE_CHECKING:
    from verdigris.core.baking.finish.fit_heads import Heads, HeadsEffort
    from verdigris.core.network.parameters import Parameters

_MODULE = "verdigris.core.baking.finish.fit_heads"
# Seconds of a fit, after which the process hangs: it takes a second or two.
_PATIENCE = 60.0


class HeadsProcess:
    """Fits the heads of one bake at a time. Without the process, the calling thread fits them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_used = threading.Lock()

    def begin(self) -> None:
        """Starts the process, unless it runs. It takes half a second until it can fit."""
        with self._is_used:
            self._begin()

    def fit(self, sides: Sequence[Parameters], effort: HeadsEffort) -> Heads:
        """The heads of each side of a material."""
        found = None
        if self._is_used.acquire(blocking=False):
            try:
                self._begin()
                found = self._ask(sides, effort)
            finally:
                self._is_used.release()
        return fit_sides(sides, effort) if found is None else found

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
            command = [*require_worker_command(), "-m", _MODULE]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment_for(command),
                creationflags=NO_WINDOW,
                # Ctrl-C ends the training, and the heads are fitted then
                start_new_session=sys.platform != "win32",
            )

    def _ask(self, sides: Sequence[Parameters], effort: HeadsEffort) -> Heads | None:
        """The answer of the process; None if it is lost."""
        process = self._process
        if process is None:
            return None
        assert process.stdin is not None and process.stdout is not None
        hangs = threading.Timer(_PATIENCE, process.kill)
        hangs.daemon = True
        hangs.start()
        try:
            pickle.dump((tuple(sides), effort), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            heads: Heads = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            return None
        finally:
            hangs.cancel()
        return heads


HEADS = HeadsProcess()
"""That of this process."""
atexit.register(HEADS.end)
