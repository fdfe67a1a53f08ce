"""Installing the software device, with and without root rights."""

import pytest

from provision import apt
from provision.apt import carry_out
from provision.console import Finished, SetupError
from provision.lavapipe import INSTALL, UPDATE, Plan

INSTALL_MESA = (*INSTALL, "mesa-vulkan-drivers", "libvulkan1")
UPDATE_LINE, INSTALL_LINE = " ".join(UPDATE), " ".join(INSTALL_MESA)


@pytest.fixture
def plan(tmp_path):
    return Plan((UPDATE, INSTALL_MESA), {str(tmp_path / "backports.sources"): "Types: deb\n"})


@pytest.fixture
def source_file(tmp_path):
    return tmp_path / "backports.sources"


def test_without_rights_nothing_runs_and_the_command_is_shown(plan, source_file, commands):
    with pytest.raises(SetupError) as raised:
        carry_out(plan, "vulkan: no driver", False, commands)
    assert f"\n  {plan.shell_command()}\n" in str(raised.value)
    assert commands.ran == []
    assert not source_file.exists()


def test_root_sees_the_plan_before_it_runs(plan, source_file, commands, capsys):
    commands.answers |= {UPDATE_LINE: Finished(0, ""), INSTALL_LINE: Finished(0, "")}
    carry_out(plan, "vulkan: no driver", True, commands)
    assert commands.ran == [UPDATE_LINE, INSTALL_LINE]
    assert source_file.read_text() == "Types: deb\n"
    output = capsys.readouterr().err
    assert "about to install with apt-get: mesa-vulkan-drivers, libvulkan1" in output
    assert f"writing {source_file}:\n    Types: deb\n" in output


def test_a_failed_update_alone_does_not_stop_the_installation(plan, source_file, commands):
    commands.answers |= {
        UPDATE_LINE: Finished(100, "E: another repository is broken"),
        INSTALL_LINE: Finished(0, ""),
    }
    carry_out(plan, "vulkan: no driver", True, commands)
    assert commands.ran == [UPDATE_LINE, INSTALL_LINE]
    assert source_file.exists()


def test_a_failed_installation_names_both_commands_and_leaves_no_source(
    plan, source_file, commands
):
    commands.answers |= {
        UPDATE_LINE: Finished(100, "E: no Release file"),
        INSTALL_LINE: Finished(100, "E: Unable to locate package mesa-vulkan-drivers"),
    }
    with pytest.raises(SetupError) as raised:
        carry_out(plan, "vulkan: no driver", True, commands)
    assert "(exit code 100): apt-get update\nE: no Release file" in str(raised.value)
    assert f"(exit code 100): {INSTALL_LINE}\nE: Unable to locate" in str(raised.value)
    assert not source_file.exists()


def test_a_busy_package_manager_is_reported(plan, commands):
    locked = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7"
    commands.answers |= {UPDATE_LINE: Finished(0, ""), INSTALL_LINE: Finished(100, locked)}
    with pytest.raises(SetupError, match="Another program is installing packages"):
        carry_out(plan, "vulkan: no driver", True, commands)


def test_a_machine_without_apt_has_an_empty_policy(commands):
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(127, "apt-cache: none")
    assert apt.read_machine(commands).policy == ""
