"""Plans the installation of Mesa's software device, lavapipe, on Debian and its relatives."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from provision.sources import Source, format_deb822

OLDEST_MESA = 25
PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")
BACKPORTS = "bookworm-backports"
BACKPORTS_FILE = "/etc/apt/sources.list.d/verdigris-bookworm-backports.sources"

UPDATE = ("apt-get", "update")
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive"}


@dataclass(frozen=True)
class Machine:
    """The inputs of the plan."""

    os_release: str
    policy: str
    """The output of `apt-cache policy mesa-vulkan-drivers`."""
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Plan:
    """The commands to run. Empty if an installation would not help."""

    commands: tuple[tuple[str, ...], ...] = ()
    files: Mapping[str, str] | None = None
    """Texts by path, to write before the commands run."""
    advice: str = ""

    def shell_command(self) -> str:
        """The plan as one line for a shell with root rights."""
        steps = [
            f'printf "%s\\n" {" ".join(_quoted(line) for line in text.splitlines())} > {path}'
            for path, text in (self.files or {}).items()
        ]
        settings = " ".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
        for command in self.commands:
            prefix = "" if command == UPDATE else f"{settings} "
            steps.append(prefix + shlex.join(command))
        return f"sudo sh -c {shlex.quote(' && '.join(steps))}"


def _quoted(text: str) -> str:
    """Quotes a text inside a script in single quotes."""
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


def decide(machine: Machine) -> Plan:
    system = parse_os_release(machine.os_release)
    if not is_debian_family(system):
        return Plan(advice=advice_elsewhere(system))
    name = system.get("PRETTY_NAME", "this system")
    installed = mesa_major(machine.policy, "Installed")
    if installed is not None and installed >= OLDEST_MESA:
        return Plan(
            advice=f"Mesa {installed} is installed but offers no device. Check that the files in "
            "VK_DRIVER_FILES and VK_ICD_FILENAMES exist, if these are set."
        )
    candidate = mesa_major(machine.policy, "Candidate")
    is_bookworm = system.get("ID") == "debian" and system.get("VERSION_CODENAME") == "bookworm"
    if candidate is not None and candidate >= OLDEST_MESA:
        return Plan(commands=(UPDATE, (*INSTALL, *PACKAGES)))
    if is_bookworm:
        return plan_for_bookworm(machine)
    if candidate is None:
        return Plan(commands=(UPDATE, (*INSTALL, *PACKAGES)))
    return Plan(
        advice=f"{name} offers Mesa {candidate}; its software device needs {OLDEST_MESA} or newer. "
        "Install your graphics card's own driver, or use a release with a newer Mesa."
    )


def plan_for_bookworm(machine: Machine) -> Plan:
    commands = (UPDATE, (*INSTALL, "-t", BACKPORTS, *PACKAGES))
    if any(BACKPORTS in source.suites for source in machine.sources):
        return Plan(commands)
    served = find_bookworm_source(machine)
    if served is None:
        return Plan(
            advice=f"No apt source of this machine serves bookworm, so {BACKPORTS} (which has Mesa "
            f"{OLDEST_MESA}) cannot be derived from it. Add {BACKPORTS} to the apt sources."
        )
    backports = replace(served, suites=(BACKPORTS,), components=("main",))
    return Plan(commands, files={BACKPORTS_FILE: format_deb822(backports)})


def find_bookworm_source(machine: Machine) -> Source | None:
    """The source of the distribution. Other vendors use the name bookworm, too."""
    serving = [
        source
        for source in machine.sources
        if "bookworm" in source.suites
        and "main" in source.components
        and not source.uri.startswith("cdrom:")
    ]
    updates = {source.uri for source in machine.sources if "bookworm-updates" in source.suites}

    def likelihood(source: Source) -> tuple[bool, bool]:
        has_mesa = f"{source.uri.rstrip('/')} bookworm/main" in machine.policy
        return has_mesa, source.uri in updates

    return max(serving, key=likelihood, default=None)


def parse_os_release(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs if name.strip()}


def is_debian_family(system: Mapping[str, str]) -> bool:
    names = {system.get("ID", ""), *system.get("ID_LIKE", "").split()}
    return bool(names & {"debian", "ubuntu"})


def mesa_major(policy: str, line: str) -> int | None:
    """The major version in the line Installed or Candidate of the policy."""
    match = re.search(rf"^\s*{line}:\s*(?:\d+:)?(\d+)", policy, re.MULTILINE)
    return int(match.group(1)) if match else None


def advice_elsewhere(system: Mapping[str, str]) -> str:
    names = {system.get("ID", ""), *system.get("ID_LIKE", "").split()}
    if names & {"fedora", "rhel", "centos"}:
        how = "sudo dnf install mesa-vulkan-drivers vulkan-loader"
    elif "arch" in names:
        how = "sudo pacman -S vulkan-swrast vulkan-icd-loader"
    else:
        how = f"a Vulkan loader and Mesa {OLDEST_MESA} or newer with lavapipe, its software device"
    return f"Install your graphics card's Vulkan driver or a software device: {how}"
