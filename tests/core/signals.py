"""Processes whose terminal is closed."""

import os
import signal
import subprocess


def hang_up(command, until):
    """Begins a command in a terminal, which is closed once it has shown these bytes."""
    here, there = os.openpty()
    process = subprocess.Popen(command, stdout=there, stderr=there)
    os.close(there)
    seen = b""
    while until not in seen:
        seen += os.read(here, 4096)
    os.close(here)
    process.send_signal(signal.SIGHUP)
    return process
