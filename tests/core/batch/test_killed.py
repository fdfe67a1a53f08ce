"""A run that was killed goes on to the bundles of one that nobody killed.

A run of five kills: python killed_runs.py FOLDER --materials 3 --kills 5 --longest-delay 3
"""

import json
import subprocess
import sys
from pathlib import Path


def test_a_killed_run_goes_on_to_the_same_bundles(tmp_path):
    program = Path(__file__).with_name("killed_runs.py")
    command = [sys.executable, str(program), str(tmp_path)]
    command += ["--materials", "1", "--kills", "1", "--steps", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # the first began afresh, the second where the first had left its checkpoint
    (first,), (second,) = found["begun_at_steps"]
    ((kept,),) = found["kept_steps"]
    assert first == 0 < second == kept
    assert found["ended"] == {"m0": "baked"}
    assert found["numbers_equal"]
    assert found["manifests_differ"] == []
    assert found["verify"]
    assert found["left_behind"] == []
