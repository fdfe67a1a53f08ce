"""Finds a device and, where there is none and apt can bring one, installs Mesa's lavapipe."""

import sys
from pathlib import Path

from provision.apt import carry_out, is_root, read_machine
from provision.console import Commands, say, step
from provision.device import find_device
from provision.lavapipe import UPDATE, Plan, decide, mesa_major
from provision.stamp import Device


def search(python: Path, commands: Commands) -> Device:
    """The device to remember. Raises SetupError if root rights are needed to get one."""
    device = look(python, commands)
    advice = advice_for(sys.platform)
    if not device.found and sys.platform == "linux":
        plan = make_plan(commands)
        advice = plan.advice or "The driver that was installed gives no device either."
        if plan.commands:
            carry_out(plan, device.problem, is_root(), commands)
            device = look(python, commands)
    if not device.found:
        tell(device, advice)
    return device


def look(python: Path, commands: Commands) -> Device:
    with step("looking for a graphics device"):
        return find_device(python, commands, sys.platform)


def make_plan(commands: Commands) -> Plan:
    machine = read_machine(commands)
    plan = decide(machine)
    if not plan.commands or not is_root() or mesa_major(machine.policy, "Candidate") is not None:
        return plan
    # Without package lists (a fresh container) that was a guess.
    with step("reading apt's package lists"):
        commands.run(UPDATE, show=True)
    return decide(read_machine(commands))


def tell(device: Device, advice: str) -> None:
    say(
        f"no device computes here ({device.problem})\n{advice}\n"
        "Then look again: python3 packaging/bootstrap.py --recheck-device\n"
        "Until then, commands that need no device work (inspect, --help)."
    )


def advice_for(platform: str) -> str:
    if platform == "win32":
        return "Install the current driver of your graphics card: it brings Vulkan."
    if platform == "darwin":
        return "Verdigris computes through Metal: update macOS to the newest your machine takes."
    return "Install your graphics card's Vulkan driver."
