"""What compiles works, and what hangs does not."""

import os
import subprocess
import sys
import time

import pytest

from verdigris.core.worker.client.client import Vitals, cpu_seconds


def test_a_process_is_idle_for_as_long_as_it_uses_next_to_no_processor_time():
    now, spent = [0.0], [0.0]
    vitals = Vitals(1, lambda _: spent[0], lambda: now[0])
    for now[0], spent[0], idle in (
        *((1.0, 0.5, 0.0), (4.0, 0.52, 3.0), (9.0, 0.53, 8.0), (9.5, 0.9, 0.0), (12.0, 0.9, 2.5)),
    ):
        assert vitals.idle_seconds() == idle
    vitals.reset()
    assert vitals.idle_seconds() == 0.0
    assert Vitals(1, lambda _: None, lambda: now[0]).idle_seconds() == 0.0


@pytest.mark.skipif(sys.platform == "darwin", reason="this system does not tell")
def test_processor_time_is_what_the_process_says_of_itself():
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as process:
        process.stdout.readline()
        assert cpu_seconds(process.pid) == pytest.approx(0.52, abs=0.1)
        process.communicate(b"\n")
    before = cpu_seconds(os.getpid())
    assert before == pytest.approx(time.process_time(), abs=0.1)
