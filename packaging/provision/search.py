"""Finds a device. Without one, installs Mesa's software device with apt if possible."""

import sys
from pathlib import Path

from provision.apt import carry_out, is_root, read_machine
from provision.console import Commands, report, step
from provision.device import find_device
from provision.lavapipe import UPDATE, Plan, decide, mesa_major
from provision.stamp import Device


def search(python: Path, commands: Commands) -> Device:
    """Finds or installs a device. Raises SetupError if that needs root rights."""
    device = look(python, commands)
    advice = advice_for(sys.platform)
    if not device.found and sys.platform == "linux":
        plan = make_plan(commands)
        advice = plan.advice or "The installed driver offers no device either."
        if plan.commands:
            carry_out(plan, device.problem, is_root(), commands)
            device = look(python, commands)
    if not device.found:
        report_missing(device, advice)
    return device


def look(python: Path, commands: Commands) -> Device:
    with step("looking for a graphics device"):
        return find_device(python, commands, sys.platform)


def make_plan(commands: Commands) -> Plan:
    machine = read_machine(commands)
    plan = decide(machine)
    if not plan.commands or not is_root() or mesa_major(machine.policy, "Candidate") is not None:
        return plan
    # Without package lists (a fresh container) the plan was a guess.
    with step("reading apt's package lists"):
        commands.run(UPDATE, show=True)
    return decide(read_machine(commands))


def report_missing(device: Device, advice: str) -> None:
    report(
        f"no usable device ({device.problem})\n{advice}\n"
        "Then run: python3 packaging/bootstrap.py --recheck-device\n"
        "Until then, only commands without a device work (inspect, --help)."
    )


def advice_for(platform: str) -> str:
    if platform == "win32":
        return "Install the current driver of your graphics card. It includes Vulkan."
    if platform == "darwin":
        return "Verdigris uses Metal. Update macOS to the newest version for your machine."
    return "Install the Vulkan driver of your graphics card."
