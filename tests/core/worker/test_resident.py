"""A resident worker is found and used, replaced when it fails, and gives the same result."""

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from verdigris.core.baking.bake_job import BakeJob
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base import device as devices
from verdigris.core.base.process.vitals import is_stopped
from verdigris.core.cli.main import app
from verdigris.core.progress import Checkpointed, Finished, Started, Step, Warning
from verdigris.core.worker.client import client as clients
from verdigris.core.worker.client import resident
from verdigris.core.worker.client.client import GONE, WorkerClient
from verdigris.core.worker.client.hosted import find_hosted
from verdigris.core.worker.client.resident import (
    _replaced,
    bake_by_resident,
    find_resident,
    start_resident,
    stop_resident,
)
from verdigris.core.worker.client.resident_connection import Resident
from verdigris.core.worker.resident.kept import KeptTeachers
from verdigris.core.worker.resident.listener import Listener
from verdigris.core.worker.resident.place import COMMAND, Place, ResidentError, own_folder

from ..brisk import SMALL
from .running_worker import BRISK, CLAY, LONG, QUICK, SECONDS, RunningWorker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its sockets are tried on Linux")
# The module behind `-m`, whose bakes end with small pictures and measures.
_BRISK = (
    f"{SMALL}\nimport sys\ndel sys.argv[:2]\nrunpy.run_module(sys.argv[0], run_name='__main__')"
)
LONG_REQUEST = BakeRequest(changes=LONG, checkpoint_seconds=0.2)


@pytest.fixture
def runtime(monkeypatch):
    """A folder for sockets, whose paths are short, and workers that end with the test."""
    monkeypatch.setenv("VERDIGRIS_SERVE", "on")
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    begin = [sys.executable, "-c", _BRISK]
    monkeypatch.setattr(resident, "require_worker_command", lambda: begin)
    with tempfile.TemporaryDirectory(prefix="vd") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, "verdigris")
        address = Place.of().read()
        if address is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(address.process, signal.SIGKILL)


@pytest.fixture
def clay(tmp_path):
    file = tmp_path / "clay.mtlx"
    file.write_text(CLAY)

    def job(folder, request=None):
        request = request or BakeRequest(changes=QUICK)
        return BakeJob(files=(str(file),), request=request, folder=str(tmp_path / folder))

    return job


def wait_for_end(process, seconds=20):
    end = time.monotonic() + seconds
    while not is_stopped(process) and time.monotonic() < end:
        time.sleep(0.02)
    assert is_stopped(process)


def contents(bundle):
    """All files but what the manifest says of the time."""
    found = {
        each.relative_to(bundle): each.read_bytes() for each in bundle.rglob("*") if each.is_file()
    }
    manifest = json.loads(found.pop(Path("manifest.json")))
    assert manifest["source"].pop("seconds") > 0
    return found, manifest


def test_a_command_finds_the_worker_and_gets_the_same_result(
    runtime, clay, tmp_path, monkeypatch, small_endings
):
    address = start_resident(None, 60)
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    for name in ("json", "sock"):
        (file,) = runtime.glob(f"*.{name}")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.chdir(tmp_path)
    words = ["bake", "clay.mtlx", "-q"]
    words += [word for name, value in QUICK.items() for word in ("--set", f"{name}={value}")]
    clay("any")

    def bake(folder):
        done = CliRunner().invoke(app, [*words, "-o", folder])
        assert (done.exit_code, done.output) == (0, f"{folder}/clay.vdg\n")
        return contents(tmp_path / folder / "clay.vdg")

    with monkeypatch.context() as no_device:
        no_device.setattr(devices, "_open_once", None)
        first, second = bake("first"), bake("second")
        # a fault of the document is the error of the command
        (tmp_path / "clay.mtlx").write_text(CLAY.replace("oren_nayar_diffuse_bsdf", "oren"))
        failed = CliRunner().invoke(app, [*words, "-o", "third"])
        assert failed.exit_code == 1 and "oren" in str(failed.exception)
    # and two at once: one of them has no worker
    clay("any")
    (tmp_path / "clay.mtlx").write_text(CLAY)
    control = BakeControl()
    found = find_resident(None)
    events = bake_by_resident(found, clay("fourth", LONG_REQUEST), None, control, None)
    next(each for each in events if isinstance(each, Step))
    assert find_resident(None) is None
    alone = bake("alone")
    control.stop()
    *_, finished = events
    assert isinstance(finished, Finished) and finished.stopped_by == "request"
    assert first == second == alone
    assert stop_resident(None)
    wait_for_end(address.process)
    assert [*runtime.glob("worker*")] == [Place.of().log]


def test_materials_are_kept_for_a_bake_of_the_same_files(clay, tmp_path):
    kept, device = KeptTeachers(), devices.open_device("software")

    def teacher(folder, **changes):
        job = replace(clay(folder), **changes)
        (found,) = kept.prepare(job.open(), device).teachers
        return found

    first = teacher("first")
    assert teacher("second") is first
    changed = teacher("third", inputs=("d/color=0.1,0.2,0.3",))
    assert changed is not first
    (tmp_path / "clay.mtlx").write_text(CLAY.replace("0.7", "0.6"))
    edited = teacher("fourth")
    assert edited is not changed and teacher("fifth") is edited
    kept.forget()
    assert teacher("sixth") is not edited


def client_of(address):
    """A panel's client of the resident worker, which may be too busy to answer in time."""
    end = time.monotonic() + SECONDS
    while (hosted := find_hosted()) is None and time.monotonic() < end:
        time.sleep(0.05)
    with patch.object(clients, "find_hosted", lambda: hosted):
        found = WorkerClient()
    assert found._process.pid == address.process
    return found


def test_a_panel_uses_the_worker_that_is_there_and_leaves_it(runtime, tmp_path):
    address = start_resident(None, 60)
    panel = RunningWorker(client=client_of(address))
    panel.wait_for("hello", process=address.process)
    panel.open_clay()
    panel.start(tmp_path, QUICK)
    panel.wait_for("finished")
    # one at a time
    assert find_resident(None) is None and find_hosted() is None
    panel.client.close()
    assert panel.client.wait(SECONDS)
    end = time.monotonic() + SECONDS
    while (again := find_hosted()) is None and time.monotonic() < end:
        time.sleep(0.05)
    assert again is not None and again.pid == address.process
    again.terminate()
    # a panel sees that its worker is gone
    lost = client_of(address)
    os.kill(address.process, signal.SIGKILL)
    wait_for_end(address.process)
    end = time.monotonic() + SECONDS
    while lost.health().state != GONE and time.monotonic() < end:
        time.sleep(0.02)
    assert "killed" in lost.health().reason


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_bake_goes_on_from_its_checkpoint_when_its_worker_fails(runtime, clay, number):
    old = start_resident(None, 60)
    control, slower = BakeControl(), {}
    job = clay("out", LONG_REQUEST)
    events = bake_by_resident(find_resident(None), job, None, control, slower)
    kept = next(each for each in events if isinstance(each, Checkpointed))
    os.kill(old.process, number)
    begun = time.monotonic()
    lost = next(each for each in events if isinstance(each, Warning))
    # under the load of other tests; alone it is one
    assert time.monotonic() - begun < 4
    assert "the bake goes on from its checkpoint" in lost.text
    again = next(each for each in events if isinstance(each, Started))
    assert again.step >= kept.step
    new = Place.of().read()
    assert new.process != old.process and not is_stopped(new.process)
    assert is_stopped(old.process)
    next(each for each in events if isinstance(each, Step))
    control.stop()
    *_, finished = events
    assert isinstance(finished, Finished) and finished.step > again.step
    # asked at the end, in the worker that has ended it
    assert [*slower] == [*finished.results]


def test_a_worker_that_hangs_or_is_outdated_is_replaced_and_an_idle_one_ends(runtime):
    old = start_resident(None, 60)
    os.kill(old.process, signal.SIGSTOP)
    found = find_resident(None)
    assert is_stopped(old.process)
    found.leave()
    hung = Place.of().read()
    # a worker of another version
    Place.of().write(replace(hung, code="older", idle=1.0))
    begun = time.monotonic()
    found = find_resident(None)
    assert time.monotonic() - begun < 10
    wait_for_end(hung.process)
    new = Place.of().read()
    assert new.process not in (old.process, hung.process) and new.code != "older"
    found.leave()
    # as idle as the one before was to be
    wait_for_end(new.process)
    assert Place.of().read() is None and find_resident(None) is None


def test_a_session_without_a_folder_of_its_own_gets_one_without_a_word(
    tmp_path, monkeypatch, recwarn
):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert stat.S_IMODE(own_folder().stat().st_mode) == 0o700
    assert not recwarn.list


def test_what_others_can_write_is_not_used(runtime):
    place = Place.of()
    (runtime / "x").write_text("")
    place.file.write_text("{}")
    place.file.chmod(0o644)
    with pytest.raises(ResidentError, match=r"other users may use it \(-rw-r--r--\): remove it"):
        place.read()
    assert find_resident(None) is None
    place.file.chmod(0o600)
    runtime.chmod(0o755)
    with pytest.raises(ResidentError, match="other users may use it"):
        Place.of()
    assert find_resident(None) is None
    shutil.rmtree(runtime)
    Path(runtime).symlink_to(runtime.parent)
    with pytest.raises(ResidentError, match="is not a folder"):
        Place.of()
    assert find_resident(None) is None
    runtime.unlink()


def test_a_panel_lends_its_worker_until_it_bakes_itself(runtime, clay, tmp_path):
    worker = RunningWorker([sys.executable, "-c", BRISK, "lends"])
    worker.open_clay()
    control = BakeControl()
    job = clay("guest", LONG_REQUEST)
    events = bake_by_resident(find_resident(None), job, None, control, None)
    next(each for each in events if isinstance(each, Checkpointed))
    worker.start(tmp_path / "own")
    assert find_resident(None) is None
    # it goes on in this process
    lost = next(each for each in events if isinstance(each, Warning))
    assert "(the panel bakes)" in lost.text
    next(each for each in events if isinstance(each, Step))
    control.stop()
    *_, finished = events
    assert isinstance(finished, Finished)
    worker.client.kill()


@pytest.mark.parametrize("has_sockets_of_files", [True, False])
def test_only_who_knows_the_token_is_let_in(runtime, has_sockets_of_files, monkeypatch):
    if not has_sockets_of_files:
        # as on Windows
        monkeypatch.delattr(socket, "AF_UNIX")
    place = Place.of()
    listener = Listener(place, COMMAND, 9.0)
    assert not listener.open()
    assert "another worker has the place" in Listener(place, COMMAND).open()
    address = place.read()
    assert address.address.isdecimal() == (not has_sockets_of_files)
    found = find_resident(None)
    # a worker without the token is none, and a guest without it is not heard
    place.write(replace(address, token="0" * 64))
    assert find_resident(None) is None
    place.write(address)
    stranger = Resident(found._opened, replace(address, token="0" * 64), found._nonce)
    stranger.end()
    assert not listener.is_asked_to_end
    find_resident(None).end()
    assert listener.is_asked_to_end
    # it takes nobody any more
    assert find_resident(None) is None
    listener.close()
    assert place.read() is None and [*runtime.glob("worker*")] == []


def test_who_comes_second_finds_the_replacement_of_the_first(runtime):
    old = start_resident(None, 60)
    os.kill(old.process, signal.SIGKILL)
    wait_for_end(old.process)
    first, second = find_resident(None), _replaced(Place.of(), old)
    new = Place.of().read()
    assert first is not None and second is not None
    assert first._address.process == second._address.process == new.process != old.process
    first.leave()
    second.leave()
