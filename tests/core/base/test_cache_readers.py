"""Places of killed processes in the cache of shaders are free for others."""

import os
import struct
import subprocess
import sys

import pytest

from verdigris.core.base.cache_readers import FILE, free_dead_readers
from verdigris.core.base.device import CACHE_VARIABLE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the places have another format")
# Compiles a kernel, which reads the cache, and waits.
READER = """
import sys
from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
text = '''
[shader("compute")] [numthreads(1, 1, 1)] void nothing(RWByteAddressBuffer b) { b.Store(0, 1); }
'''
kernels = open_device("software").new_kernels()
kernels.get((Source("nothing", text),), "nothing")
print("ready", flush=True)
sys.stdin.read()
"""


def readers(folder):
    data = (folder / FILE).read_bytes()
    found = {struct.unpack_from("<i", data, at + 8)[0] for at in range(128, len(data) - 63, 64)}
    return found - {0}


def test_only_places_of_ended_processes_are_freed(tmp_path):
    environment = {**os.environ, CACHE_VARIABLE: str(tmp_path)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", READER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
        )
        for _ in range(2)
    ]  # fmt: skip
    folder = tmp_path / "shaders" / "rhi"
    killed, living = both
    for each in both:
        assert each.stdout.readline() == b"ready\n"
    assert readers(folder) == {each.pid for each in both}
    assert free_dead_readers(folder) == 0
    killed.kill()
    killed.communicate()
    assert readers(folder) == {killed.pid, living.pid}
    assert free_dead_readers(folder) >= 1
    assert readers(folder) == {living.pid}
    living.communicate()
    (folder / FILE).write_bytes(bytes(4096))
    assert free_dead_readers(folder) == 0
    assert free_dead_readers(tmp_path) == 0
