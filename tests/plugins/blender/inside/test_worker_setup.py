"""Setting up the worker from Blender: its progress, its failures, and what a checkout says."""

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

import verdigris.plugins.blender as addon
from verdigris.core.base.errors import HostError
from verdigris.core.base.process import unpacked_worker
from verdigris.core.base.process.worker_environment import NoWorkerError
from verdigris.plugins.blender import worker_place, worker_setup
from verdigris.plugins.blender.worker_setup import VERDIGRIS_OT_make_worker, require_program

TELL = """
import json, sys
print(json.dumps({"event": "progress", "part": 0.5, "text": "Unpacking slangpy"}), flush=True)
print(json.dumps({"event": "error", "text": "slangpy is damaged"}), flush=True)
sys.exit(1)
"""


class Operator:
    """What the operator uses of itself: Blender makes operators only while it runs them."""

    execute, modal, cancel = (
        getattr(VERDIGRIS_OT_make_worker, name) for name in ("execute", "modal", "cancel")
    )
    _clean = VERDIGRIS_OT_make_worker._clean

    def __init__(self):
        self.reports = []

    def report(self, kinds, text):
        self.reports.append((*kinds, text))


@pytest.fixture
def context():
    shown = []
    manager = SimpleNamespace(
        event_timer_add=lambda interval, window: "timer",
        event_timer_remove=lambda timer: shown.append(timer),
        modal_handler_add=lambda operator: True,
    )
    workspace = SimpleNamespace(status_text_set=shown.append)
    return SimpleNamespace(window_manager=manager, window=None, workspace=workspace, shown=shown)


def test_a_failed_set_up_is_reported_after_its_progress(context, tmp_path, monkeypatch):
    program = tmp_path / "make_worker.py"
    program.write_text(TELL)
    monkeypatch.setattr(worker_setup, "require_program", lambda: program)
    monkeypatch.setattr(worker_place, "own_folder", lambda: tmp_path / "worker")
    monkeypatch.setattr(worker_setup, "use_own_worker", worker_place.use_own_worker)
    monkeypatch.delenv("VERDIGRIS_WORKERS", raising=False)
    operator, timer = Operator(), SimpleNamespace(type="TIMER")
    assert operator.execute(context) == {"RUNNING_MODAL"}
    assert os.environ.pop("VERDIGRIS_WORKERS") == str(tmp_path / "worker")
    until = time.monotonic() + 30
    while operator.modal(context, timer) == {"PASS_THROUGH"}:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert "Verdigris: 50% Unpacking slangpy" in context.shown
    assert context.shown[-2:] == ["timer", None]
    ((kind, text),) = operator.reports
    assert kind == "ERROR" and text.endswith("slangpy is damaged")


def test_a_missing_worker_is_set_up_by_a_button(monkeypatch, tmp_path):
    def refuse():
        with worker_place.naming_the_button():
            raise NoWorkerError("make it with a command")

    with pytest.raises(NoWorkerError, match="with a command"):
        refuse()
    monkeypatch.setattr(worker_place, "own_folder", lambda: tmp_path)
    with pytest.raises(HostError, match="bakes need a worker: press Set Up the Worker first"):
        refuse()
    monkeypatch.setattr(worker_place, "older_version", lambda: "0.0.9")
    with pytest.raises(HostError, match=r"the worker has version 0\.0\.9: press"):
        refuse()


def test_blender_s_own_python_runs_the_set_up():
    python = unpacked_worker.find_plain_python()
    assert python.startswith(sys.base_prefix) and "python" in Path(python).name


def test_in_a_checkout_the_command_is_named():
    with pytest.raises(HostError, match=r"bootstrap\.py setup"):
        require_program()
    addon.register()
    try:
        with pytest.raises(RuntimeError, match=r"bootstrap\.py setup"):
            bpy.ops.verdigris.make_worker()
    finally:
        addon.unregister()
