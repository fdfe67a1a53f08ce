"""A real worker process: what it does when it is told, and when it is told nonsense."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.progress import STARTS
from verdigris.core.settings.bake_settings import MOST_STARTS
from verdigris.core.worker.client.client import GONE, SILENT, pixels_of
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION, encode
from verdigris.core.worker.session import job
from verdigris.core.worker.session.session import Session

from .lines import random_line, raw
from .running_worker import CLAY, LONG, QUICK, SECONDS, RunningWorker

OPEN_CLAY = commands.Open(name="clay", payload=CLAY.encode())


@pytest.fixture(scope="module", autouse=True)
def software(module_monkeypatch):
    module_monkeypatch.setenv("VERDIGRIS_DEVICE", "software")


@pytest.fixture(scope="module")
def module_monkeypatch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def worker(software):
    """One for all: every test leaves it without a bake."""
    running = RunningWorker()
    running.open_clay()
    yield running
    running.client.kill()


@pytest.fixture
def running(worker):
    worker.skip_messages()
    yield worker
    worker.send(commands.Cancel())
    worker.wait_for("state", state="idle")


def test_it_says_who_it_is_and_what_can_be_baked(worker):
    hello = worker.all("hello")[0].header
    assert hello["protocol"] == VERSION
    assert hello["process"] == worker.client._process.pid
    opened = worker.all("opened")[0].header
    assert opened["chosen"] == "clay"
    assert opened["trainer"] == "numpy"
    assert opened["materials"][0]["verdict"].startswith("can be baked: reflects ")
    # 32 bytes for a block of 4 x 4 texels, down to levels of less than a block
    forecast = worker.wait_for("forecast").header
    assert forecast["texture_bytes"] == 32 * ((4**8 - 1) // 3 + 2)
    assert forecast["may_be_smaller"] and forecast["source_compressed_bytes"] is None


def test_a_bake_tells_its_events_shows_its_pictures_and_keeps_what_there_is(running, tmp_path):
    running.start(tmp_path)
    for part in ("reference", "neural", "heat"):
        picture = pixels_of(running.wait_for("picture", part=part))
        assert picture.shape == (32, 32, 1 if part == "heat" else 3)
        assert picture.std() > 5
    running.wait_for("errormap")
    plan = running.wait_for("plan").header
    assert [part["name"] for part in plan["parts"]][-2:] == ["training", "rounding"]
    assert plan["parts"][-1]["last"] == LONG["iterations"]
    step = running.wait_for("step").header["step"]
    running.client.send(commands.Finish())
    finished = running.wait_for("finished").header
    assert finished["stopped_by"] == "request" and finished["step"] >= step
    assert open_bundle(finished["results"][0]).manifest.name == "clay"
    assert running.wait_for("state", state="done")
    kinds = {message.header["event"] for message in running.messages}
    assert {"started", "plan", "phase", "step", "errors", "state", "finished"} <= kinds


def test_a_large_texture_is_shown_and_planned_through_both_of_its_stages(running, tmp_path):
    changes = {
        **QUICK,
        "resolution": 32,
        "encode_from": 32,
        "small_resolution": 16,
        "iterations": 160,
        "starts": 1,
    }
    running.send(commands.Start(str(tmp_path), request=BakeRequest(changes=changes)))
    running.wait_for("phase", name="small texture")
    running.wait_for("picture", part="neural")
    plan = running.wait_for("plan").header["parts"]
    assert [(part["name"], part["first"], part["last"]) for part in plan] == [
        ("small texture", 0, 40),
        ("encoding", 40, 40),
        ("training", 40, 144),
        ("rounding", 144, 160),
    ]
    running.wait_for("phase", name="training")
    finished = running.wait_for("finished").header
    # a constant material reaches its quality early
    assert finished["step"] <= 160 and finished["stopped_by"] in ("steps", "quality")
    told = [message.header for message in running.messages[running.mark :]]
    kinds = [header["event"] for header in told]
    assert "error" not in kinds
    learning = next(k for k, header in enumerate(told) if header.get("name") == "training")
    assert {"picture", "errors", "errormap"} <= {*kinds[learning:]}
    assert open_bundle(finished["results"][0]).layout.width == 32


def test_pause_holds_still_shows_other_views_and_goes_on(running, tmp_path):
    running.start(tmp_path)
    # a network that has not learnt anything is not shown
    running.wait_for("picture", part="neural")
    begun = time.monotonic()
    running.send(commands.Pause())
    running.wait_for("state", state="paused")
    latency = time.monotonic() - begun
    print(f"paused after {latency:.2f} s")
    assert latency < 2.0
    running.send(commands.SetView(number=7, turn=90, size=40))
    assert running.wait_for("picture", part="neural", view=7).header["shape"] == [40, 40, 3]
    assert running.wait_for("picture", part="neural", view=7, sharp=1.0)
    assert running.find("step") is None
    running.send(commands.Resume())
    assert running.wait_for("step")


def test_cancel_keeps_a_checkpoint_to_go_on_from(running, tmp_path):
    running.start(tmp_path)
    running.wait_for("checkpointed")
    begun = time.monotonic()
    running.send(commands.Cancel())
    running.wait_for("state", state="idle")
    print(f"cancelled after {time.monotonic() - begun:.2f} s")
    assert [path.name for path in tmp_path.iterdir()] == ["clay.bake.npz"]
    step = running.all("checkpointed")[-1].header["step"]
    running.send(commands.Start(str(tmp_path), request=BakeRequest(changes=LONG, resume=True)))
    assert running.wait_for("started").header["step"] == step


def test_a_painted_map_is_taken_while_training_and_focus_needs_paint(running, tmp_path):
    running.start(tmp_path)
    running.send(commands.Focus("painted"))
    assert "nothing is painted" in running.wait_for("error").header["text"]
    weights = np.ones((8, 8), "<f4")
    weights[:4] = 8
    running.send(commands.SetImportance(8, 8, weights.tobytes()), commands.Focus("painted"))
    running.wait_for("step")
    running.send(commands.Focus("view"))
    running.wait_for("step")
    running.send(commands.SetImportance(), commands.Focus())
    running.wait_for("step")
    assert running.find("error") is None


def test_a_plain_map_waits_until_the_focus_is_no_longer_what_is_painted(running, tmp_path):
    weights = np.float32([[1, 1], [1, 8]])
    running.send(commands.SetImportance(2, 2, weights.tobytes()), commands.Focus("painted"))
    running.start(tmp_path)
    running.wait_for("step")
    # those that it began with are no new ones
    assert running.find("weighted") is None
    running.send(commands.SetImportance())
    text = running.wait_for("error", command="importance").header["text"]
    assert "nothing is painted" in text
    running.wait_for("step")
    assert running.find("weighted") is None
    running.send(commands.Focus("everywhere"))
    assert running.wait_for("weighted")


TRIANGLES = """v -1 -1 0
v 1 -1 0
v 1 1 0.5
v -1 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
f 1/1 2/2 3/3 4/4
"""


def test_a_mesh_that_is_given_looks_like_the_file_that_holds_it(running, tmp_path):
    path = tmp_path / "plate.obj"
    path.write_text(TRIANGLES)
    mesh = load_mesh(path)
    parts = b"".join(part.astype("<f4").tobytes() for part in (mesh.position, mesh.normal, mesh.uv))
    pictures = []
    for number, name in enumerate((str(path), "plate of the scene"), 20):
        running.send(commands.SetMesh("plate of the scene", 2, parts))
        running.send(commands.SetView(number=number, shape="mesh", mesh=name, size=32))
        pictures.append(
            pixels_of(running.wait_for("picture", part="reference", view=number, sharp=1.0))
        )
    np.testing.assert_array_equal(*pictures)
    assert pictures[0].std() > 5
    # given again, it is drawn again
    running.send(commands.SetMesh("plate of the scene", 1, np.float32([0.5] * 24).tobytes()))
    assert running.wait_for("picture", part="reference", view=21)
    broken = np.full(24, np.nan, "<f4").tobytes()
    running.send(commands.SetMesh("broken", 1, broken), commands.SetView(size=32))
    assert "'broken' has values that are not numbers" in running.wait_for("error").header["text"]


def test_of_many_meshes_the_one_that_is_looked_at_is_kept(running):
    corners = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], *[[0, 0, 1]] * 3]).tobytes() + bytes(24)
    look = commands.SetView(number=60, shape="mesh", mesh="0", size=32)
    running.send(commands.SetMesh("0", 1, corners), look)
    running.wait_for("picture", part="reference", view=60)
    running.send(*(commands.SetMesh(str(number), 1, corners) for number in range(1, 9)))
    # the first was given long before the last four
    for number, mesh in ((61, "0"), (62, "8"), (63, "6")):
        running.send(replace(look, number=number, mesh=mesh, turn=number))
        assert running.wait_for("picture", part="reference", view=number)
        assert running.find("error") is None
    running.send(replace(look, number=64, mesh="5"))
    assert running.wait_for("showing", view=64, mesh="6")
    running.send(commands.SetView(number=65, size=32))
    running.wait_for("picture", part="reference", view=65)


def test_a_mesh_that_cannot_be_read_is_told_with_what_is_shown_instead(running, tmp_path):
    good, empty = tmp_path / "plate.obj", tmp_path / "empty.obj"
    good.write_text(TRIANGLES)
    empty.write_text("")
    running.send(
        commands.SetView(number=30, size=32),
        commands.SetView(number=31, shape="mesh", mesh=str(empty)),
    )
    text = running.wait_for("error", command="view").header["text"]
    assert text == f"{empty}: holds no triangles: export it with its faces; the sphere is shown"
    assert running.wait_for("showing", view=31, shape="sphere", mesh="")
    running.send(commands.SetView(number=32, shape="mesh", mesh=str(good), size=32))
    running.wait_for("picture", part="reference", view=32, sharp=1.0)
    running.send(commands.SetView(number=33, shape="mesh", mesh=str(empty), size=32))
    text = running.wait_for("error", command="view").header["text"]
    assert text == f"{empty}: holds no triangles: export it with its faces; {good} is shown"
    assert running.wait_for("showing", view=33, shape="mesh", mesh=str(good))
    # a document that is opened then is shown on it, too
    running.send(commands.SetView(number=34, shape="mesh", mesh=str(good), size=32))
    running.open_clay()
    assert running.find("error") is None


def test_a_mesh_file_that_was_written_again_is_read_again(running, tmp_path):
    path = tmp_path / "plate.obj"
    pictures = []
    # the plate, and one half of it, whose other half shows the backdrop
    for number, text in enumerate(
        (TRIANGLES, TRIANGLES.replace("f 1/1 2/2 3/3 4/4", "f 1/1 2/2 3/3")), 40
    ):
        path.write_text(text)
        os.utime(path, ns=(number, number))
        running.send(commands.SetView(number=number, shape="mesh", mesh=str(path), size=32))
        pictures.append(
            pixels_of(running.wait_for("picture", part="reference", view=number, sharp=1.0))
        )
    assert (pictures[0] != pictures[1]).any(-1).mean() > 0.1


def test_a_bake_goes_on_when_the_mesh_file_that_is_shown_is_gone(running, tmp_path):
    path = tmp_path / "plate.obj"
    path.write_text(TRIANGLES)
    running.open_clay()
    running.send(commands.SetView(number=50, shape="mesh", mesh=str(path), size=32))
    running.wait_for("picture", part="reference", view=50, sharp=1.0)
    path.unlink()
    # its texture has another resolution: pictures are framed anew
    running.start(tmp_path)
    running.wait_for("step")
    assert pixels_of(running.wait_for("picture", part="neural", view=50)).std() > 5
    assert running.find("error") is None


@pytest.mark.skipif(sys.platform == "win32", reason="SIGSTOP is of POSIX")
def test_a_worker_that_hangs_is_told_of_even_where_it_has_asked_for_patience(monkeypatch):
    monkeypatch.setattr("verdigris.core.worker.client.client.IDLE_PATIENCE", 0.5)
    running = RunningWorker()
    try:
        process = running.wait_for("hello").header["process"]
        running.client.send(commands.Open(name="clay", payload=CLAY.encode()))
        running.wait_for("state", doing="compiling the material")
        os.kill(process, signal.SIGSTOP)
        stopped = time.monotonic()
        while running.client.health().state != SILENT and time.monotonic() < stopped + 20:
            time.sleep(0.02)
        took = time.monotonic() - stopped
        print(f"told after {took:.1f} s")
        assert "no CPU time" in running.client.health().reason
        running.client.kill()
        killed = time.monotonic()
        while running.client.health().state != GONE:
            assert time.monotonic() < killed + SECONDS
            time.sleep(0.02)
    finally:
        running.client.kill()


def test_paint_and_focus_go_on_with_a_bake_of_another_worker_whose_parent_dies_then(
    running, tmp_path
):
    weights = np.zeros((8, 8), "<f4")
    weights[:, 4:] = 4
    steer = commands.SetImportance(8, 8, weights.tobytes()), commands.Focus("painted")
    running.send(*steer)
    running.start(tmp_path)
    running.wait_for("checkpointed")
    running.send(commands.Cancel())
    running.wait_for("state", state="idle")
    step = running.all("checkpointed")[-1].header["step"]
    running.send(commands.SetImportance(), commands.Focus())

    other = RunningWorker()
    try:
        other.open_clay()
        other.send(*steer)
        other.start(tmp_path, resume=True)
        started = other.all("started")[-1].header
        assert started["step"] == step > 0
        assert other.wait_for("step").header["step"] > step
        assert other.all("error") == []
        # both of its streams end, and are seen to in either order
        process = other.client._process
        process.stdin.close()
        # the other end of a pipe whose file is replaced is gone
        os.dup2(nothing := os.open(os.devnull, os.O_RDONLY), process.stdout.fileno())
        os.close(nothing)
        # one that is ended by force, after a second, has another code, and its lock stays
        assert process.wait(SECONDS) in (0, 141)
        assert not list(tmp_path.glob(".*")), "it holds a lock or a half-written file"
    finally:
        other.client.kill()


def test_settings_and_textures_for_a_viewport_are_those_that_were_requested(running, tmp_path):
    changes = {**QUICK, "iterations": 20, "quantise_share": 0.2, "draw": {"repeats": 2}}
    running.start(tmp_path, changes, viewport_textures=True)
    last = running.wait_for("plan").header["parts"][-1]
    assert last == {"name": "flattening", "first": 0, "last": 20}
    running.wait_for("phase", name="flattening")
    finished = running.wait_for("finished").header
    assert finished["textures"]
    found = open_bundle(finished["results"][0]).manifest.source["settings"]
    # as JSON has them
    assert (found["quantise_share"], found["draw"]["repeats"]) == (0.2, 2)
    # as the draft of a processor has them, and no other
    assert (found["draw"]["pairs"], found["draw"]["coarse_share"]) == (2, 0.1)


def test_maps_are_written_and_read_back(running, tmp_path):
    weights = np.random.default_rng(1).random((5, 7), np.float32)
    path = tmp_path / "weights.exr"
    running.send(commands.WriteMap(str(path), 7, 5, weights.tobytes()))
    running.wait_for("written")
    running.send(commands.ReadMap(str(path)))
    np.testing.assert_array_equal(pixels_of(running.wait_for("importance")), weights)
    import OpenImageIO as oiio

    # another reader: the first row of an image is its top, where v is largest
    pixels = np.asarray(oiio.ImageBuf(str(path)).get_pixels("float"))
    np.testing.assert_array_equal(pixels[::-1, :, 0], weights)


def test_a_forecast_says_what_it_would_cost_baked_and_not(running):
    running.send(commands.Forecast(request=BakeRequest(changes=QUICK)))
    # a texture of 16 x 16 texels of 8 bytes, and its mips: not the estimate of what was opened
    found = running.wait_for("forecast", texture_bytes=8 * (4**5 - 1) // 3).header
    assert found["nanoseconds"] > 0 and found["source_nanoseconds"] > 0
    assert "graph" in found["verdict"]
    assert running.wait_for("state", state="idle", doing="")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (commands.Pause(), "pause: no bake is running"),
        (
            commands.Start("out", request=BakeRequest(changes={"iterations": "many"})),
            "iterations is 'many': use a value",
        ),
        (
            commands.Start("out", request=BakeRequest(changes={"nonsense": 1})),
            "settings: 'nonsense' is not known: use one of",
        ),
        (
            commands.Start("out", request=BakeRequest(changes={"draw": {"zz": 1}})),
            "settings: 'draw.zz' is not known: use one of",
        ),
        (
            commands.Forecast(request=BakeRequest(changes={"draw": {"zz": 1}})),
            "settings: 'draw.zz' is not known: use one of draw.",
        ),
        (commands.Start("out", request=BakeRequest(preset="best")), "preset 'best' is not known"),
        (commands.Start("out", name="../up"), "'../up' is not a file name"),
        (commands.Open(path="nowhere.mtlx"), "nowhere.mtlx"),
        (commands.SetView(shape="mesh", mesh="nowhere.obj"), "there is no such file"),
        (commands.SetImportance(1, 1, np.float32([-1]).tobytes()), "1 texels are negative"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(worker, command, message, tmp_path):
    worker.send(command)
    assert message in worker.wait_for("error").header["text"]
    if isinstance(command, commands.Open):
        worker.open_clay()
    assert worker.client.health().state == "well"


# without a process of their own


def test_a_bake_that_goes_on_among_its_starts_has_them_in_its_plan(monkeypatch, tmp_path):
    monkeypatch.setattr(job, "RUN_SECONDS", 0.0)
    monkeypatch.setattr(job, "CHECKPOINT_SECONDS", 0.0)
    share, heard = 40, []
    changes = {**QUICK, "iterations": 10 * share, "starts": MOST_STARTS, "start_share": 0.1}
    session = Session(lambda event: heard.append(event.as_json()))

    def work_until(name, past=0):
        while session.state != "failed":
            for header in heard:
                if header["event"] == name and header.get("step", 1) > past:
                    return header
            session.work()
        raise AssertionError(heard[-2:])

    for command in (commands.Hello(VERSION), commands.SetView(size=16), OPEN_CLAY):
        session.handle(command)
    session.handle(commands.Start(str(tmp_path), request=BakeRequest(changes=changes)))
    # within the second start
    step = work_until("checkpointed", past=share)["step"]
    session.handle(commands.Cancel())
    heard.clear()
    session.handle(commands.Start(str(tmp_path), request=BakeRequest(changes=changes, resume=True)))
    assert work_until("started")["step"] == step
    tried = {"name": STARTS, "first": 0, "last": MOST_STARTS * share}
    assert work_until("plan")["parts"][0] == tried
    assert step < work_until("step")["step"] < MOST_STARTS * share
    session.close()


def test_thousands_of_random_lines_and_an_early_close_end_it_cleanly():
    chance = random.Random(11)
    lines = [encode({"command": "hello", "protocol": VERSION})]
    lines += [random_line(chance) for _ in range(4_000)]
    # what may end it or announce bytes is of other tests
    lines = [line for line in lines if b"quit" not in line and b'"bytes"' not in line]
    done, heard = raw(*lines, b'{"command": "importance", "bytes": 64}\n123')
    errors = [header["text"] for header in heard if header["event"] == "error"]
    assert done.returncode == 0
    assert len(errors) > 2000
    assert not any("internal error" in text for text in errors)
    assert "the stream was closed inside a message: 61 bytes" in errors[-1]


def told_to(*given):
    """What a session says to these commands, and whether it ends."""
    heard = []
    session = Session(lambda event: heard.append(event.as_json()))
    for command in given:
        session.handle(command)
    return [header for header in heard if header["event"] == "error"], session.is_ended


def test_there_is_nothing_to_keep_before_the_first_step(tmp_path):
    heard = []
    session = Session(lambda event: heard.append(event.as_json()))
    start = commands.Start(str(tmp_path), request=BakeRequest(changes=QUICK))
    for command in (commands.Hello(VERSION), OPEN_CLAY, start, commands.Finish()):
        session.handle(command)
    (error,) = [header for header in heard if header["event"] == "error"]
    assert error["command"] == "finish" and "nothing was trained yet" in error["text"]
    # the bake goes on, and can be ended after its first steps
    while not any(header["event"] == "step" for header in heard):
        session.work()
        assert session.state in ("preparing", "training")
    session.handle(commands.Finish())
    assert session.state == "finishing"
    session.close()


def test_another_version_is_named_and_ends_it():
    (error,), is_ended = told_to(commands.Hello(99))
    assert f"the panel speaks protocol 99 and the worker {VERSION}" in error["text"]
    assert error["is_fatal"] and is_ended


def test_nothing_is_done_for_one_who_does_not_say_hello():
    (error,), is_ended = told_to(commands.Pause())
    assert error["text"] == "pause: send hello first" and not is_ended


PRINTING = """
import os, runpy
import verdigris.core.worker.session.session as session
before = session.Session.handle
def handle(self, item):
    print("from Python")
    os.write(1, b"from C\\n")
    os.system("echo from a child")
    before(self, item)
session.Session.handle = handle
runpy.run_module("verdigris.core.worker", run_name="__main__")
"""


def test_a_library_that_prints_does_not_corrupt_the_stream():
    done = subprocess.run(
        [sys.executable, "-c", PRINTING],
        input=encode({"command": "hello", "protocol": VERSION}) + encode({"command": "pause"}),
        capture_output=True,
        timeout=60,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["event"] == "hello"
    for text in (b"from Python", b"from C", b"from a child"):
        assert text in done.stderr


def test_versions_of_every_resolution_are_shown_against_all_others(worker, tmp_path):
    """Also over each other's unfinished pictures, in views that keep the reference out of sight."""
    worker.send(commands.Cancel())
    worker.open_clay()
    results = []
    for side in (16, 32):
        folder = tmp_path / str(side)
        worker.start(folder, {**QUICK, "resolution": side})
        worker.wait_for("state", state="done")
        results.append(next(folder.glob("*.vdg")))
    small, large = map(str, results)
    views = ({}, {"level": 2}, {"shape": "plane", "zoom": 16.0}, {"shows": "neural"})
    for view in views:
        # opened with the resolution of a preset
        worker.send(commands.SetView(size=32, **view))
        worker.open_clay()
        for path, against in ((small, ""), (large, ""), (small, large), (large, small)):
            worker.send(commands.SetView(size=32, **view), commands.Show(path, against))
            worker.wait_for("shown", path=path, against=against)
            worker.send(commands.SetView(size=32, number=7, **{**view, "shows": "all"}))
            for part in ("reference", "neural", "heat"):
                worker.wait_for("picture", part=part, view=7)
            assert worker.find("error") is None


def test_a_show_during_a_bake_is_refused_and_the_bake_goes_on(running, tmp_path):
    running.start(tmp_path)
    running.client.send(commands.Show(str(tmp_path / "clay.vdg")))
    assert "finish or cancel" in running.wait_for("error").header["text"]
    assert running.wait_for("step")
