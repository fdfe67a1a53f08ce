"""A software device's threads leave a processor to the one that trains, while samples are there in
time. Where a thread may run is read from what the system itself tells of it."""

import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.process.processor import find_affinities, running_threads
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import PRESETS, LatentLayout
from verdigris.core.network.student import Student
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.numpy import numpy_trainer
from verdigris.core.training.numpy.numpy_trainer import CoreReservation, NumpyTrainer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone numbers threads")
SPEC, LAYOUT = PRESETS["2x16"], LatentLayout(16, 16)
BLOCK = 8


def allowed(thread):
    """The processors that a thread may run on, as the kernel writes them: 0-2,5."""
    status = Path(f"/proc/self/task/{thread}/status").read_text()
    text = next(line for line in status.splitlines() if line.startswith("Cpus_allowed_list"))
    parts = [part.split("-") for part in text.split()[1].split(",")]
    return {number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)}


def ticks(thread):
    """Of processor time."""
    return int(Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()[11])


@pytest.fixture
def thread():
    """The number of one that waits."""
    if len(allowed(threading.get_native_id())) < 2:
        pytest.skip("there is one processor here")
    end = threading.Event()
    waiting = threading.Thread(target=end.wait)
    waiting.start()
    yield waiting.native_id
    end.set()
    waiting.join()


def test_threads_leave_one_processor_while_steps_are_done(thread):
    before, mine = allowed(thread), allowed(threading.get_native_id())
    own = CoreReservation([thread])
    with own.hold():
        assert allowed(thread) < before
        assert len(before - allowed(thread)) == 1
        assert allowed(threading.get_native_id()) == mine
    assert allowed(thread) == before


def test_a_failure_gives_the_threads_all_of_them_again(thread):
    before = allowed(thread)
    with pytest.raises(ZeroDivisionError), CoreReservation([thread]).hold():
        _ = 1 / 0
    assert allowed(thread) == before


@pytest.mark.parametrize(
    ("late", "in_time", "is_kept"), [(16, 16, True), (17, 15, False), (16, 0, True), (17, 17, True)]
)
def test_samples_that_mostly_come_late_need_every_processor(thread, late, in_time, is_kept):
    before = allowed(thread)
    own = CoreReservation([thread])
    with own.hold():
        for is_late in [True] * late + [False] * in_time:
            own.record_lateness(is_late)
    for _ in range(2):
        with own.hold():
            assert (allowed(thread) < before) == is_kept


def test_a_thread_that_may_run_on_one_processor_stays_there(thread):
    other = subprocess.run(["taskset", "-cp", "0", str(thread)], capture_output=True)
    if other.returncode:
        pytest.skip("taskset is not there, or processor 0 is not ours")
    with CoreReservation([thread]).hold():
        assert allowed(thread) == {0}
    assert allowed(thread) == {0}


def test_a_thread_that_has_ended_does_not_matter(thread):
    gone = threading.Thread(target=int)
    gone.start()
    number = gone.native_id
    gone.join()
    while number in running_threads():
        time.sleep(0.01)
    before = allowed(thread)
    assert find_affinities([thread, number]) == {thread: before}
    own = CoreReservation([number, thread])
    with own.hold():
        assert allowed(thread) < before
    assert allowed(thread) == before


def test_the_threads_of_a_device_are_those_that_do_its_work():
    device = open_device("software")
    student = Student(initialise(SPEC, LAYOUT, 0), device)
    assert set(device.threads) < running_threads()
    random = np.random.default_rng(1)
    pairs = np.abs(random.normal(size=(2, 1 << 16, 3))).astype(np.float32)
    pairs /= np.linalg.norm(pairs, axis=2, keepdims=True)
    others = running_threads() - set(device.threads) - {threading.get_native_id()}
    before = {thread: ticks(thread) for thread in running_threads()}
    for _ in range(3):
        student.response(random.random((1 << 16, 2), np.float32), *pairs)
    spent = {thread: ticks(thread) - before[thread] for thread in others | set(device.threads)}
    of_device = sum(spent[thread] for thread in device.threads)
    assert of_device > 5
    assert of_device > 2 * sum(spent[thread] for thread in others)


class Source:
    """Draws the same batch as often as it may, and notes where a thread may run then."""

    pairs = 1

    def __init__(self, batch, thread):
        self._batch, self._thread = batch, thread
        self.seen, self.may = [], threading.Semaphore(0)

    def draw(self, step, count):
        assert self.may.acquire(timeout=60)
        self.seen.append(allowed(self._thread))
        return self._batch


class AtOnce:
    """Draws when it is asked to, and so in time."""

    def __init__(self, *_, **__):
        pass

    def submit(self, draw, *given):
        done = Future()
        done.set_result(draw(*given))
        return done

    def shutdown(self, **_):
        pass


@contextmanager
def opened(source, thread, batch):
    settings = TrainingSettings(batch=batch, schedule=Schedule(1000))
    trainer = NumpyTrainer(initialise(SPEC, LAYOUT, 0), source, settings, [thread])
    yield trainer
    trainer.close()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_trainer_leaves_all_processors_to_samples_that_it_waits_for(
    thread, draw_batch, is_late, monkeypatch
):
    monkeypatch.setattr(numpy_trainer, "_JUDGED_BLOCKS", 4)
    batch = draw_batch(np.random.default_rng(1), 256, mirror_share=0)
    source, before = Source(batch, thread), allowed(thread)
    record = CoreReservation.record_lateness

    def record_and_draw(own, was_late):
        # the next block is drawn behind the end of this one, or was drawn before
        assert was_late == is_late
        record(own, was_late)
        source.may.release(BLOCK)

    monkeypatch.setattr(CoreReservation, "record_lateness", record_and_draw)
    if not is_late:
        monkeypatch.setattr(numpy_trainer, "ThreadPoolExecutor", AtOnce)
        source.may.release(4 * BLOCK)
    with opened(source, thread, 256) as trainer:
        # what a run begins with may be drawn before its steps begin
        source.may.release(1 + BLOCK)
        trainer.step_many(1 + 4 * BLOCK)
        assert all(each < before for each in source.seen[1:])
        source.seen.clear()
        source.may.release(1 + BLOCK)
        trainer.step_many(1 + BLOCK)
    assert len(source.seen) == 1 + BLOCK
    assert all((each < before) != is_late for each in source.seen[1:])
    assert allowed(thread) == before
