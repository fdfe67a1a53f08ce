"""Setting up the worker from Blender: its steps, its failures, and what they leave."""

import sys
import time

import bpy
import pytest

import verdigris.plugins.blender as addon
from verdigris.core.base.errors import HostError
from verdigris.plugins.blender import worker_setup
from verdigris.plugins.blender.worker_setup import Setup, commands_for


def run(setup):
    doing = []
    until = time.monotonic() + 30
    while not setup.tick():
        doing.append(setup.doing)
        assert time.monotonic() < until
        time.sleep(0.01)
    return list(dict.fromkeys(doing))


def steps(monkeypatch, *codes):
    monkeypatch.setattr(
        worker_setup,
        "commands_for",
        lambda target, wheel: [
            (name, [sys.executable, "-c", code.format(target=str(target))])
            for name, code in zip("abc", codes, strict=False)
        ],
    )


MAKE = "import pathlib; pathlib.Path(r'{target}').mkdir(); print('made')"


def test_the_environment_replaces_the_old_one_when_it_is_complete(monkeypatch, tmp_path):
    old = tmp_path / "worker"
    old.mkdir()
    (old / "old").write_text("")
    steps(monkeypatch, MAKE, "import time; time.sleep(.1)")
    assert run(Setup(old, tmp_path / "a.whl"))[-1] == "b"
    assert list(old.iterdir()) == []
    assert not (tmp_path / "worker.new").exists()


def test_a_step_that_fails_is_named_with_its_last_line_and_leaves_the_old_one(
    monkeypatch, tmp_path
):
    old = tmp_path / "worker"
    old.mkdir()
    (old / "old").write_text("")
    steps(monkeypatch, MAKE, "import sys; sys.exit('no matching distribution')")
    setup = Setup(old, tmp_path / "a.whl")
    with pytest.raises(HostError, match=r"b failed: no matching distribution: see .*worker\.log"):
        run(setup)
    setup.stop()
    assert (old / "old").is_file() and not setup.made.exists()


def test_the_wheel_is_installed_with_usd_into_a_new_environment(tmp_path):
    (_, make), (_, install), (_, check) = commands_for(tmp_path / "w", tmp_path / "v.whl")
    assert make == [sys.executable, "-m", "venv", str(tmp_path / "w")]
    assert install[0] == check[0] == str(tmp_path / "w" / "bin" / "python")
    assert install[-1] == f"{tmp_path / 'v.whl'}[usd]"


def test_in_a_checkout_the_command_is_named():
    addon.register()
    try:
        with pytest.raises(RuntimeError, match=r"bootstrap\.py setup"):
            bpy.ops.verdigris.make_worker()
    finally:
        addon.unregister()
