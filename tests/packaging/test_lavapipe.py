"""The plan for a software device."""

import os
import shlex
import subprocess

import pytest

from provision.lavapipe import BACKPORTS_FILE, INSTALL, UPDATE, Machine, decide, mesa_major
from provision.sources import Source

BOOKWORM = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n'
TRIXIE = 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_CODENAME=trixie\nID=debian\n'
NOBLE = 'PRETTY_NAME="Ubuntu 24.04"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\n'
MINT = "NAME='Linux Mint'\nVERSION_CODENAME=wilma\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
FEDORA = 'PRETTY_NAME="Fedora Linux 43"\nID=fedora\n'
ARCH = 'PRETTY_NAME="Arch Linux"\nID=arch\n'

KEY = ("Signed-By", "/usr/share/keyrings/debian.gpg")
DISTRIBUTION = Source(
    "http://mirror.test/debian", ("bookworm", "bookworm-updates"), ("main",), (KEY,)
)
VENDOR = Source("http://vendor.test/prod", ("bookworm",), ("main",))
BACKPORTS = Source("http://mirror.test/debian", ("bookworm-backports",), ("main",), (KEY,))

NORMAL = (UPDATE, (*INSTALL, "mesa-vulkan-drivers", "libvulkan1"))
FROM_BACKPORTS = (
    UPDATE,
    (*INSTALL, "-t", "bookworm-backports", "mesa-vulkan-drivers", "libvulkan1"),
)


def policy(candidate: str, installed: str = "(none)") -> str:
    return (
        f"mesa-vulkan-drivers:\n  Installed: {installed}\n  Candidate: {candidate}\n"
        f"  Version table:\n     {candidate} 500\n"
        "        500 http://mirror.test/debian bookworm/main amd64 Packages\n"
    )


OLD = policy("22.3.6-1+deb12u2")


@pytest.mark.parametrize(
    ("os_release", "policy_text", "sources", "commands"),
    [
        (TRIXIE, policy("25.0.7-2"), (), NORMAL),
        (NOBLE, policy("2:25.2.8-0ubuntu0.24.04.1"), (), NORMAL),
        (MINT, policy("26.1.0-1"), (), NORMAL),
        (TRIXIE, "", (), NORMAL),
        (BOOKWORM, policy("25.0.7-2~bpo12+1"), (DISTRIBUTION,), NORMAL),
        (BOOKWORM, OLD, (DISTRIBUTION, BACKPORTS), FROM_BACKPORTS),
        (BOOKWORM, policy("22.3.6-1", installed="22.3.6-1"), (BACKPORTS,), FROM_BACKPORTS),
    ],
)
def test_the_plan_without_a_missing_source(os_release, policy_text, sources, commands):
    plan = decide(Machine(os_release, policy_text, sources))
    assert plan.commands == commands
    assert not plan.files


@pytest.mark.parametrize("policy_text", [OLD, ""])
def test_bookworm_gets_backports_from_the_source_of_bookworm(policy_text):
    plan = decide(Machine(BOOKWORM, policy_text, (VENDOR, DISTRIBUTION)))
    assert plan.commands == FROM_BACKPORTS
    assert plan.files == {
        BACKPORTS_FILE: "Types: deb\n"
        "URIs: http://mirror.test/debian\n"
        "Suites: bookworm-backports\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian.gpg\n"
    }


@pytest.mark.parametrize(
    ("os_release", "policy_text", "words"),
    [
        (FEDORA, "", "sudo dnf install mesa-vulkan-drivers vulkan-loader"),
        (ARCH, "", "sudo pacman -S vulkan-swrast vulkan-icd-loader"),
        ("ID=gentoo\n", "", "Mesa 25 or newer with lavapipe"),
        ("", "", "Mesa 25 or newer with lavapipe"),
        (NOBLE, policy("23.2.1-1ubuntu3"), "Ubuntu 24.04 offers Mesa 23; its software device"),
        (BOOKWORM, OLD, "No apt source of this machine serves bookworm"),
        (BOOKWORM, policy("25.0.7-2", installed="25.0.7-2"), "Mesa 25 is installed but offers"),
    ],
)
def test_advice_if_an_installation_does_not_help(os_release, policy_text, words):
    plan = decide(Machine(os_release, policy_text, ()))
    assert plan.commands == ()
    assert words in plan.advice


def test_the_command_for_root_is_one_line():
    plan = decide(Machine(BOOKWORM, OLD, (DISTRIBUTION,)))
    assert plan.shell_command() == (
        'sudo sh -c \'printf "%s\\n" "Types: deb" "URIs: http://mirror.test/debian" '
        '"Suites: bookworm-backports" "Components: main" '
        f'"Signed-By: /usr/share/keyrings/debian.gpg" > {BACKPORTS_FILE} && apt-get update && '
        "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "
        "-t bookworm-backports mesa-vulkan-drivers libvulkan1'"
    )


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_the_command_for_root_writes_the_same_files(tmp_path):
    odd = (("Signed-By", "\n -----BEGIN-----\n a$b`c\\d\"e'f"),)
    source = Source("http://mirror.test/debian", ("bookworm",), ("main",), odd)
    plan = decide(Machine(BOOKWORM, OLD, (source,)))
    script = shlex.split(plan.shell_command())[3].split(" && ")[0]
    written = tmp_path / "written.sources"
    subprocess.run(["sh", "-c", script.replace(BACKPORTS_FILE, str(written))], check=True)
    assert written.read_text() == plan.files[BACKPORTS_FILE]


@pytest.mark.parametrize(
    ("line", "major"), [("25.0.7-2~bpo12+1", 25), ("1:26.1.0", 26), ("9.0", 9), ("(none)", None)]
)
def test_the_major_version_of_a_debian_version(line, major):
    assert mesa_major(policy(line), "Candidate") == major
