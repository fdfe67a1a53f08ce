"""Finds a usable device, with the Python of .venv."""

import json
from pathlib import Path

from provision.console import Commands, Finished
from provision.stamp import Device

PROBE = Path(__file__).with_name("probe.py")
PROBE_SECONDS = 120.0


def kinds_for(platform: str) -> tuple[str, ...]:
    """The kinds of device to try, best first."""
    if platform == "win32":
        return ("vulkan", "d3d12", "cuda")
    if platform == "darwin":
        return ("metal",)
    return ("vulkan", "cuda")


def find_device(python: Path, commands: Commands, platform: str) -> Device:
    """The first kind of device that works, or the problems of all kinds."""
    problems = []
    for kind in kinds_for(platform):
        command = [str(python), "-I", str(PROBE), kind]
        device = read_answer(commands.run(command, timeout=PROBE_SECONDS))
        if device.found:
            return device
        problems.append(f"{kind}: {device.problem}")
    return Device(problem="; ".join(problems))


def read_answer(done: Finished) -> Device:
    if done.code != 0:
        last = done.tail().splitlines()[-1:] or ["no output"]
        how = "crashed" if done.code < 0 else "failed"
        return Device(problem=f"the driver {how} (exit code {done.code}): {last[0]}")
    # Drivers may print before and after it.
    answers = [line for line in done.output.splitlines() if line.startswith("{")]
    try:
        return Device(**json.loads(answers[-1]))
    except (ValueError, TypeError, IndexError):
        return Device(problem=f"unreadable answer: {done.tail()[-300:]}")
