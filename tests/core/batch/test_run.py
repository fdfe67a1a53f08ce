"""A run: what fails is collected, what crashed is tried again, and one failure is one failure."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.prepare import Prepared
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.base.errors import SceneError
from verdigris.core.base.lock import locked
from verdigris.core.batch.plan import state_folder
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.plan.state_folder import run_lock
from verdigris.core.batch.run import bake_process, bake_queue, bake_task
from verdigris.core.batch.run.bake_process import BakeProcess, bake_in_process
from verdigris.core.batch.run.bake_queue import BakeQueue, FailurePolicy, LocalEngine
from verdigris.core.batch.run.run import RunOptions, run_plan, write_summary
from verdigris.core.batch.scene.entry import Rule
from verdigris.core.batch.scene.scene import Grouping
from verdigris.core.settings.presets import Recipe

from ..baking.bakes import TINY, plain_teacher
from . import fake_bake as kinds
from .scenes import read, write_baked, write_documents

FAKE = Path(__file__).with_name("fake_bake.py")


class Watcher:
    """Keeps all that a run tells."""

    def __init__(self, *_):
        self.told = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def started(self, work, attempt):
        self.told.append(("started", work.task.name, attempt))

    def happened(self, task, event):
        self.told.append((event["event"], task))

    def ended(self, work, results):
        self.told += [("ended", each.material.entry.name, each.status) for each in results]

    def retried(self, work, outcome):
        self.told.append(("retried", work.task.name, outcome.text))


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setattr(bake_process, "bake_command", lambda: [sys.executable, str(FAKE)])


def scene_of(tmp_path, *names, seeds=None, **kept):
    write_documents(tmp_path / "docs", *names)
    rules = [
        Rule(match=(name,), request=BakeRequest(changes={"seed": seed}))
        for name, seed in (seeds or {}).items()
    ]
    return make_plan(
        read(tmp_path / "docs", out=tmp_path / "out", rules=(*rules, *kept.pop("rules", ()))),
        kept.pop("choices", None),
    )


def run(plan, slots=2, choices=None, **policy):
    watcher = Watcher()
    summary = run_plan(
        plan,
        choices or Choices(),
        RunOptions(FailurePolicy(**policy)),
        lambda _: LocalEngine((), slots, plan.scene.out / "logs"),
        lambda *_: watcher,
    )
    return summary, watcher.told


def statuses(summary):
    return {row.name: row.status for row in summary.rows}


def test_everything_is_baked_and_the_exit_code_is_zero(tmp_path):
    summary, told = run(scene_of(tmp_path, "a", "b", "c"))
    assert statuses(summary) == dict.fromkeys("abc", "baked")
    assert summary.exit_code == 0
    assert ("step", "a") in told
    assert summary.rows[0].warnings == ("transmission is dropped",)


def test_one_broken_material_of_six_fails_alone_with_its_reason(tmp_path):
    names = [f"m{number}" for number in range(6)]
    plan = scene_of(tmp_path, *names, seeds={"m3": kinds.ERROR})
    summary, _ = run(plan, slots=4)
    found = statuses(summary)
    assert found.pop("m3") == "failed"
    assert set(found.values()) == {"baked"}
    assert summary.exit_code == 3
    _, report = write_summary(summary)
    assert report.read_text().count("the graph goes round") == 2
    told = json.loads(report.with_name("scene_summary.json").read_text())
    assert told["counts"] == {"baked": 5, "failed": 1}
    assert told["exit_code"] == 3
    # found from any folder, and in a copy of the whole
    assert told["out"] == str(report.parent.absolute())
    assert [each["bundle"] for each in told["materials"]] == [f"{name}.vdg" for name in names]


def test_a_document_that_cannot_be_read_is_in_the_report_too(tmp_path):
    write_documents(tmp_path / "docs", "a")
    (tmp_path / "docs" / "broken.mtlx").write_text("<materialx")
    summary, _ = run(make_plan(read(tmp_path / "docs", out=tmp_path / "out")))
    assert statuses(summary) == {"a": "baked", "broken": "failed"}
    assert "not valid XML" in write_summary(summary)[1].read_text()
    assert summary.exit_code == 3


def test_what_crashed_is_tried_again_as_often_as_was_asked(tmp_path):
    plan = scene_of(tmp_path, "a", "b", seeds={"a": kinds.CRASH_ONCE})
    summary, told = run(plan, retry=1)
    assert statuses(summary) == {"a": "baked", "b": "baked"}
    (retried,) = [each for each in told if each[0] == "retried"]
    assert retried[2] == "the bake's process was ended by signal 9: the driver has gone"
    assert summary.rows[0].attempts == 2


def test_without_retry_a_crash_is_a_failure_that_says_how(tmp_path):
    summary, _ = run(scene_of(tmp_path, "a", "b", seeds={"a": kinds.CRASH_ONCE}))
    assert statuses(summary) == {"a": "failed", "b": "baked"}
    assert "ended by signal 9: the driver has gone" in summary.rows[0].error


def test_what_another_process_has_baked_meanwhile_is_not_baked_again(tmp_path):
    plan = scene_of(tmp_path, "clay", "slate", seeds={"*": kinds.WAIT_ONCE})
    write_baked(plan.materials[0])
    summary, told = run(plan)
    assert summary.exit_code == 0
    assert statuses(summary) == {"clay": "up to date", "slate": "baked"}
    starts = {name: (tmp_path / "out" / f"{name}.starts").read_text() for name in statuses(summary)}
    assert {name: len(text.split()) for name, text in starts.items()} == {"clay": 1, "slate": 2}
    # that it waited for another is no attempt that failed
    assert not [each for each in told if each[0] == "retried"]
    assert {row.name: row.attempts for row in summary.rows}["slate"] == 1


def test_a_bake_that_has_waited_for_another_says_so_and_leaves_its_bundle(tmp_path, monkeypatch):
    told, held, waited_for = [], threading.Event(), threading.Event()

    def hold():
        with locked(tmp_path, "clay"):
            held.set()
            waited_for.wait(60)

    def sleep(_):
        waited_for.set()
        other.join()

    other = threading.Thread(target=hold)
    monkeypatch.setattr(bake_task, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    other.start()
    held.wait()
    options = BakeOptions("clay", tmp_path, "numpy")
    prepared = Prepared([plain_teacher()], Recipe.of(TINY), options)
    assert list(bake_task.bake_or_wait(prepared, told.append)) == []
    other.join()
    assert told == [{"event": "waited"}]
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_written_is_named_with_what_to_do(tmp_path):
    (work,) = scene_of(tmp_path, "a").works
    (tmp_path / "logs").write_text("")
    engine = LocalEngine((), 1, tmp_path / "logs")
    engine.submit(work.task)
    outcome = engine.next(30).outcome
    engine.close()
    remedy = "logs is not a folder: remove it, or choose another folder"
    assert outcome.text == f"{tmp_path}: {remedy}"


def process_of(tmp_path, name):
    return [int(each) for each in (tmp_path / "out" / f"{name}.starts").read_text().split()]


def test_a_process_bakes_one_material_after_the_other(tmp_path):
    plan = scene_of(tmp_path, "a", "b", "c", seeds=dict.fromkeys("abc", kinds.LIVE))
    summary, _ = run(plan, slots=1)
    assert set(statuses(summary).values()) == {"baked"}
    (process,) = {pid for name in "abc" for pid in process_of(tmp_path, name)}
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_crash_costs_the_material_that_is_baked_and_another_process_goes_on(tmp_path):
    seeds = {"a": kinds.LIVE, "b": kinds.CRASH_ONCE, "c": kinds.LIVE}
    summary, told = run(scene_of(tmp_path, "a", "b", "c", seeds=seeds), slots=1, retry=1)
    assert set(statuses(summary).values()) == {"baked"}
    assert "the driver has gone" in next(each[2] for each in told if each[0] == "retried")
    first, crashed = process_of(tmp_path, "a"), process_of(tmp_path, "b")
    assert first == crashed[:1]
    assert process_of(tmp_path, "c")[0] not in first


def test_a_process_of_another_device_is_another_process(tmp_path):
    plan = scene_of(tmp_path, "a", "b", seeds=dict.fromkeys("ab", kinds.LIVE))
    (tmp_path / "out").mkdir()
    process, stop = BakeProcess(), threading.Event()
    for work, device in zip(plan.works, ("vulkan:0", "vulkan:1"), strict=True):
        assert process.bake(work.task.on(device), print, stop).status == "baked"
    process.close()
    assert process_of(tmp_path, "a") != process_of(tmp_path, "b")


def test_what_is_wrong_with_a_document_is_not_tried_again(tmp_path):
    plan = scene_of(tmp_path, "a", seeds={"a": kinds.ERROR})
    summary, _ = run(plan, retry=5)
    assert summary.rows[0].attempts == 1


def test_a_run_can_end_at_the_first_failure(tmp_path):
    plan = scene_of(tmp_path, "a", "b", "c", seeds={"a": kinds.ERROR})
    summary, _ = run(plan, slots=1, keep_going=False)
    assert statuses(summary) == {"a": "failed", "b": "not reached", "c": "not reached"}
    assert summary.exit_code == 3


def test_a_run_that_is_to_end_at_a_failure_bakes_nothing_where_one_is_known(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bad.mtlx").write_text("<materialx")
    summary, told = run(scene_of(tmp_path, "a", "b"), keep_going=False)
    assert statuses(summary) == {"a": "not reached", "b": "not reached", "bad": "failed"}
    assert (summary.exit_code, told) == (3, [])


def test_what_a_library_prints_is_no_event(tmp_path):
    summary, told = run(scene_of(tmp_path, "a", seeds={"a": kinds.NOISY}))
    assert statuses(summary) == {"a": "baked"}
    assert {each[0] for each in told} == {"started", "step", "warning", "finished", "ended"}


def test_a_bake_that_says_nothing_any_more_is_ended(tmp_path, monkeypatch):
    (work,) = scene_of(tmp_path, "a", seeds={"a": kinds.HANG}).works
    work.task.folder.mkdir()
    starts, now = work.task.folder / "a.starts", [0]

    def clock():
        # a second from look to look, once it has begun
        now[0] += starts.is_file() and starts.read_text() != ""
        return now[0]

    monkeypatch.setattr(bake_process, "time", SimpleNamespace(monotonic=clock))
    outcome = bake_in_process(work.task, lambda _: None, threading.Event(), silence=2.0)
    assert (outcome.status, outcome.can_retry) == ("failed", True)
    assert outcome.text == "ended after 2 s of silence"
    pid = int(starts.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("resolution", "memory", "fit"),
    [
        # texels of all levels take 416 bytes each, and a bake 3 GiB beside them
        (256, 64 << 30, 21),
        (4096, 64 << 30, int((64 << 30) / ((3 << 30) + 416 * 4096 * 4096 * 4 / 3))),
        (4096, 1 << 30, 1),
        (4096, None, 32),
    ],
)
def test_as_many_bakes_as_their_textures_leave_memory_for(
    resolution, memory, fit, tmp_path, monkeypatch
):
    rules = (Rule(request=BakeRequest(changes={"resolution": resolution})),)
    works = scene_of(tmp_path, "a", "b", rules=rules).works
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    monkeypatch.setattr(bake_queue, "usable_memory", lambda: memory)
    assert bake_queue.concurrent_bakes(work.task for work in works) == fit


@pytest.mark.parametrize(
    ("cards", "cores", "bakes"), [(0, 8, 0), (1, 2, 1), (1, 5, 2), (1, 16, 3), (2, 8, 4), (2, 3, 2)]
)
def test_a_card_has_as_many_bakes_as_the_cores_keep_busy(cards, cores, bakes, monkeypatch):
    monkeypatch.setattr(bake_queue, "usable_processors", lambda: cores)
    assert bake_queue.concurrent_bakes_on(cards) == bakes


def test_an_interrupted_run_ends_its_bakes_and_tells_what_is_left(tmp_path):
    plan = scene_of(tmp_path, "a", "b", seeds={"a": kinds.HANG})
    engine = LocalEngine((), 1)
    (tmp_path / "out").mkdir()
    drive = BakeQueue(plan.works, engine, Watcher(), FailurePolicy(), Choices())
    results = drive.run(lambda: (tmp_path / "out" / "a.starts").exists())
    engine.close()
    assert [(each.material.entry.name, each.status) for each in results] == [
        ("a", "stopped"),
        ("b", "not reached"),
    ]


def test_a_member_that_cannot_be_compiled_leaves_its_group(tmp_path):
    names = ("a", "bad", "c")
    rules = (Rule(group="all", request=BakeRequest(changes={"seed": kinds.REFUSE})),)
    choices = Choices(grouping=Grouping.BY_HAND)
    plan = scene_of(tmp_path, *names, rules=rules, choices=choices)
    summary, _ = run(plan, choices=choices)
    assert statuses(summary) == {"a": "baked", "bad": "failed", "c": "baked"}
    assert summary.rows[1].error == "bad does not compile"
    starts = (tmp_path / "out" / "all.group.starts").read_text().split()
    assert len(starts) == 2


def test_nothing_to_do_starts_nothing_and_says_so(tmp_path):
    plan = scene_of(tmp_path, "a", "b")
    for each in plan.materials:
        write_baked(each)
    plan = make_plan(plan.scene)

    def no_engine(_):
        raise AssertionError("there is nothing to run")

    summary = run_plan(plan, Choices(), RunOptions(FailurePolicy()), no_engine, Watcher)
    assert statuses(summary) == {"a": "up to date", "b": "up to date"}
    assert (summary.exit_code, summary.place) == (0, "nothing to do")


def test_the_report_keeps_what_earlier_runs_have_told(tmp_path):
    plan = scene_of(tmp_path, "a")
    write_summary(run(plan)[0])
    write_baked(plan.materials[0])
    write_summary(run(make_plan(plan.scene))[0])
    (material,) = json.loads((tmp_path / "out" / "scene_summary.json").read_text())["materials"]
    assert (material["status"], material["warnings"]) == ("up to date", ["transmission is dropped"])
    assert material["seconds"] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_document_whose_name_is_no_unicode_is_in_the_report(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / os.fsdecode(b"b\xff.mtlx")).write_text("<materialx")
    plan = scene_of(tmp_path, "a")
    _, report = write_summary(run(plan)[0])
    assert "b?.mtlx: not valid XML" in report.read_bytes().decode()


def test_of_two_runs_at_one_folder_the_second_is_told_who_has_it(tmp_path):
    with (
        run_lock(tmp_path),
        pytest.raises(SceneError, match=rf"another run .*\(process {os.getpid()} on .* since "),
        run_lock(tmp_path),
    ):
        pass


def test_or_it_waits_until_the_first_has_ended(tmp_path, monkeypatch):
    entered, waits, told = threading.Event(), threading.Semaphore(0), []

    def second():
        with run_lock(tmp_path, wait=True, report=told.append):
            entered.set()

    ours = SimpleNamespace(sleep=lambda _: waits.release(), strftime=time.strftime)
    monkeypatch.setattr(state_folder, "time", ours)
    with run_lock(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        # it has tried three times
        assert all(waits.acquire(timeout=60) for _ in range(3))
        assert not entered.is_set()
    thread.join()
    assert entered.is_set()
    assert len(told) == 1
    assert "waiting for another run (process" in told[0]


def test_a_bake_that_meets_what_nobody_foresaw_ends_and_says_what(tmp_path):
    command = [sys.executable, "-P", "-m", bake_process.MODULE]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b'{"name": "a"}\n')
    process.stdin.flush()
    # its input stays open: whoever asked for it is still there
    assert process.wait(60) == 1
    assert b"KeyError: 'members'" in process.stderr.read()
    process.stdin.close()
    process.stderr.close()


def test_a_bake_ends_when_whoever_asked_for_it_is_gone(tmp_path):
    (work,) = scene_of(tmp_path, "a").works
    work.task.folder.mkdir()
    command = [sys.executable, "-P", "-m", bake_process.MODULE]
    task = json.dumps(work.task.as_json()).encode() + b"\n"
    # the end of the input behind the task: nobody is there any more
    done = subprocess.run(command, input=task, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert [path.name for path in work.task.folder.iterdir()] in ([], [".a.lock"])
