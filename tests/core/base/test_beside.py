"""Processes that fill caches beside this one."""

import sys
import time

from verdigris.core.base.beside import begin_beside, wait_for

WRITE = "import sys, time; time.sleep(.3); open(sys.argv[1], 'w').write('done')"


def test_what_is_compiled_beside_is_waited_for_once(tmp_path):
    file = tmp_path / "cache"
    begin_beside("kernels", [sys.executable, "-c", WRITE, str(file)])
    assert not file.exists()
    wait_for("kernels")
    assert file.read_text() == "done"
    begun = time.perf_counter()
    wait_for("kernels")
    wait_for("never begun")
    assert time.perf_counter() - begun < 0.1


def test_a_job_that_cannot_begin_or_fails_is_not_waited_for(tmp_path):
    begin_beside("missing", [str(tmp_path / "no_program")])
    wait_for("missing")
    begin_beside("failing", [sys.executable, "-c", "raise SystemExit(1)"])
    wait_for("failing")
