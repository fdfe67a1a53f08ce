"""Processes that compile beside the first bake of a machine."""

import subprocess
import sys
from dataclasses import replace

import pytest

from verdigris.core.baking import kernels_ahead
from verdigris.core.base.device import CACHE_VARIABLE, may_have_hardware
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.settings.bake_settings import BakeSettings

SETTINGS = BakeSettings()


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Commands that were started, on a machine with a card and an empty cache."""
    commands = []
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(kernels_ahead.os, "cpu_count", lambda: 16)
    monkeypatch.setattr(kernels_ahead, "may_have_hardware", lambda choice: choice != "software")
    monkeypatch.setattr(kernels_ahead, "begin_beside", lambda _, command: commands.append(command))
    return commands


def test_the_first_bake_of_a_decoder_begins_each_job_and_the_next_none(started):
    kernels_ahead.compile_ahead("vulkan", SETTINGS)
    jobs = [command[4] for command in started]
    assert jobs == list(kernels_ahead._JOBS)
    assert all(command[5:] == ["vulkan", "2x32", "silu", "cbrt_log"] for command in started)
    # another process, for another card
    kernels_ahead.compile_ahead("vulkan:1", SETTINGS)
    assert len(started) == len(jobs)
    kernels_ahead.compile_ahead("vulkan", replace(SETTINGS, network="3x64"))
    assert len(started) == 2 * len(jobs)


def test_other_shaders_are_compiled_again(started, tmp_path, monkeypatch):
    monkeypatch.setattr(kernels_ahead, "SHADER_FOLDER", tmp_path)
    (tmp_path / "a.slang").write_text("1")
    kernels_ahead.compile_ahead(None, SETTINGS)
    (tmp_path / "a.slang").write_text("12")
    kernels_ahead.compile_ahead(None, SETTINGS)
    assert len(started) == 2 * len(kernels_ahead._JOBS)


@pytest.mark.parametrize(("choice", "processors"), [("software", 16), ("vulkan", 2)])
def test_processors_begin_nothing(started, monkeypatch, choice, processors):
    monkeypatch.setattr(kernels_ahead.os, "cpu_count", lambda: processors)
    kernels_ahead.compile_ahead(choice, SETTINGS)
    assert started == []


def test_a_software_device_is_no_card():
    assert not may_have_hardware("software")


def test_a_job_for_a_card_does_nothing_on_another_device():
    command = [sys.executable, "-P", "-m", kernels_ahead.MODULE, "student", "software"]
    done = subprocess.run([*command, "2x16", "silu", "cbrt_log"], capture_output=True, check=True)
    assert done.stderr == b""


def test_jobs_for_shaders_write_each_file_once_where_the_bundle_of_a_bake_looks(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    compiled = []

    def compile_text(sources, name, target):
        compiled.append(name)
        return name.encode()

    monkeypatch.setattr(runtime_files, "_compile", compile_text)
    jobs = [name for name, job in kernels_ahead._JOBS.items() if isinstance(job, tuple)]
    for name in jobs:
        decoder = SETTINGS.network, SETTINGS.activation, SETTINGS.loss
        monkeypatch.setattr(sys, "argv", ["", name, "vulkan", *decoder])
        kernels_ahead.main()
    # the decoder's activation is part of its shaders
    assert sorted(compiled) == sorted(runtime_files.targets_of(SETTINGS.spec, "portable"))
    runtime_files.runtime_files(SETTINGS.spec, "portable")
    assert len(compiled) == len(set(compiled))
