"""Trees with their wheels in a bare Python of each application's version. They are downloaded.
Their workers are set up, and bake, with the network cut off.

VERDIGRIS_TREES=FOLDER pytest tests/packaging/test_trees.py
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from check_trees import check, find_python
from hosts import BY_NAME, HOSTS
from stage import ROOT, stage

from verdigris.core.base.process.unpacked_worker import FLAGS

FOLDER = os.environ.get("VERDIGRIS_TREES", "")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="set VERDIGRIS_TREES to a folder for 300 MB of packages"),
    pytest.mark.timeout(600),
]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_tree_imports_and_its_panel_opens_in_a_bare_python(host):
    found = check(host, Path(FOLDER).resolve(), None)
    if isinstance(found, str):
        pytest.skip(found)
    assert found["python"].startswith(host.python) and found["modules"] > 10
    offered = dict(line.split("==") for line in host.offers)
    assert found["PySide6"] == offered["PySide6-Essentials"]
    if host.python == "3.11":
        assert found["numpy"] == "1.26.4"


BAKE = """
import subprocess, sys
tree, material, out = sys.argv[1:]
sys.path[:0] = [f"{tree}/scripts", f"{tree}/site-packages"]
from verdigris.core.base.process.worker_environment import environment_for, require_worker_command
worker = require_worker_command()
command = [*worker, "-m", "verdigris.core", "bake", material, "--out", out]
command += ["--preset", "draft", "--resolution", "16", "--iterations", "20", "-q"]
subprocess.run(command, env=environment_for(command), check=True)
# the live link of the panel
command = [*worker, "-c", "import websockets.asyncio.server"]
subprocess.run(command, env=environment_for(command), check=True)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare cuts the network off")
@pytest.mark.parametrize("name", ["maya-2026", "houdini-22.0"])
def test_a_worker_is_set_up_and_bakes_with_the_network_cut_off(name, tmp_path):
    python = find_python(BY_NAME[name].python)
    if python is None:
        pytest.skip(f"there is no Python {BY_NAME[name].python} on this machine")
    tree = stage(BY_NAME[name], Path(FOLDER).resolve() / "workers" / name)
    shutil.rmtree(tree / "worker", ignore_errors=True)
    material = ROOT / "examples" / "glowing_panel.mtlx"

    def run_alone(*words):
        """In a namespace without a network, and with no variable but these."""
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        command = ["unshare", "-rn", python, *FLAGS, *map(str, words)]
        assert subprocess.run(command, env=environment, check=False).returncode == 0

    began = time.monotonic()
    run_alone(tree / "make_worker.py")
    seconds = time.monotonic() - began
    print(f"{name}: set up in {seconds:.1f} s")
    assert seconds < 60
    run_alone("-c", BAKE, tree, material, tmp_path)
    assert (tmp_path / "glowing_panel.vdg" / "runtime" / "verdigris.h").is_file()
