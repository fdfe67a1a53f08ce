"""Devices: chosen by name, and what they compiled is found again."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import slangpy

from verdigris.core.base.adapters import CHOICE_VARIABLE
from verdigris.core.base.device import CACHE_VARIABLE, cache_folder, open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.base.kernels import Source, constants_module

from ..baking.bakes import CHALK

LOAD = """
import json, sys
import numpy as np
from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
teacher = Teacher(load_document(sys.argv[1]), device=open_device("software"))
up = np.float32([[0.0, 0.6, 0.8]])
value = teacher.response(np.float32([[0.3, 0.7]]), up, up)
stats = teacher.device.gpu.shader_cache_stats
print(json.dumps({"value": value.tolist(), "hits": stats.hit_count, "misses": stats.miss_count}))
"""


def load_in_a_new_process(path, cache):
    environment = {**os.environ, CACHE_VARIABLE: str(cache)}
    command = [sys.executable, "-c", LOAD, str(path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def test_a_second_load_of_a_material_compiles_nothing(tmp_path):
    path, cache = tmp_path / "chalk.mtlx", tmp_path / "cache"
    path.write_text(CHALK.format(name="chalk"))
    first = load_in_a_new_process(path, cache)
    # a module that is not taken from the cache is written there once more, as a new file
    (module,) = cache.rglob("material_*.slang-module")
    before = module.stat()
    second = load_in_a_new_process(path, cache)
    (again,) = cache.rglob("material_*.slang-module")
    assert os.path.samestat(again.stat(), before)
    assert first["misses"] > 0
    assert second["misses"] == 0
    assert second["hits"] > 0
    assert second["value"] == first["value"]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    assert cache_folder() is None


def test_a_cache_that_cannot_be_opened_is_no_fault_of_the_device(tmp_path):
    # as on a full disk: the folder can be written to, and no cache can be made in it
    (tmp_path / "shaders").write_text("in the way")
    script = (
        "from verdigris.core.base.device import open_device; print(open_device('software').backend)"
    )
    environment = {**os.environ, CACHE_VARIABLE: str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.split()) == (0, ["vulkan"]), ran.stderr


def test_a_relative_cache_is_where_the_command_was_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, "below/cache")
    # SlangPy takes no other
    assert cache_folder() == tmp_path / "below" / "cache"


def test_a_device_is_opened_once():
    assert open_device("software") is open_device("software")


def test_the_environment_chooses_a_device(monkeypatch):
    monkeypatch.setenv(CHOICE_VARIABLE, "software")
    assert open_device() is open_device("software")


@pytest.mark.parametrize("choice", ["abacus", "vulkan:x", "vulkan:-1"])
def test_an_unknown_device_is_refused_with_those_there_are(choice):
    with pytest.raises(DeviceError, match="choose one of auto, software, vulkan"):
        open_device(choice)


def test_an_adapter_that_is_not_there_is_refused_with_a_remedy():
    told = r"^vulkan has no device 99: use vulkan:0( to vulkan:\d+)?$"
    with pytest.raises(DeviceError, match=told):
        open_device("vulkan:99")


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is a driver for CUDA")
def test_asking_for_cuda_where_it_is_not_prints_nothing():
    script = "from verdigris.core.base.device import open_device; open_device('cuda')"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.stdout == ""
    assert "DeviceError: no usable device for 'cuda' (no device was found)" in ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked there")
def test_a_process_that_is_forked_with_a_device_open_is_told_so():
    text = """
import os, sys
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
open_device("software")
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
try:
    open_device("software")
except DeviceError as failure:
    print(failure, flush=True)
    os._exit(7)
os._exit(0)
"""
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 7
    assert done.stdout.startswith("this process was forked from one with an open device")


TELL = Source(
    "tell",
    """
import numbers;

[shader("compute")]
[numthreads(1, 1, 1)]
void tell(uniform RWStructuredBuffer<float> told)
{
    told[0] = kNumber * SIGN;
}
""",
)


def told_by(kernels, device):
    told = device.gpu.create_buffer(
        element_count=1, struct_size=4, usage=slangpy.BufferUsage.unordered_access
    )
    kernels.get((TELL,), "tell").dispatch([1, 1, 1], told=told)
    return float(told.to_numpy().view(np.float32)[0])


def test_kernels_are_shared_by_those_who_want_the_same_alone():
    device = replace(open_device("software"), _shared={})

    def shared(number, sign):
        return device.shared_kernels({"SIGN": sign}, (constants_module("numbers", number),))

    first = shared({"kNumber": 3.0}, "1")
    others = [shared({"kNumber": 5.0}, "1"), shared({"kNumber": 3.0}, "-1")]
    assert shared({"kNumber": 3.0}, "1") is first
    assert [told_by(kernels, device) for kernels in (first, *others)] == [3.0, 5.0, -3.0]
    # those that were asked for longest ago are let go of
    for number in range(15):
        shared({"kNumber": 3.0}, "1")
        shared({"kNumber": float(10 + number)}, "1")
    assert shared({"kNumber": 3.0}, "1") is first
    assert shared({"kNumber": 5.0}, "1") is not others[0]


def test_kernels_of_the_last_few_materials_are_kept_for_those_who_open_them_again():
    device = replace(open_device("software"), _of_materials={})
    first = device.material_kernels("first")
    others = [device.material_kernels(f"other {number}") for number in range(3)]
    assert device.material_kernels("first") is first
    assert len({id(kernels) for kernels in (first, *others)}) == 4
    assert device.material_kernels("a fifth") is not first
    assert device.material_kernels("first") is first
    assert device.material_kernels("other 0") is not others[0]
    device.release_kernels()
    assert device.material_kernels("first") is not first


def test_other_threads_go_on_while_a_submission_is_waited_for():
    device, turns, has_ended = open_device("software"), [], threading.Event()

    def take_turns():
        while not has_ended.wait(1e-3):
            turns.append(device)

    class Long:
        """The device, whose submissions end once the other thread has had five turns."""

        def is_submit_finished(self, submission):
            return len(turns) >= 5 and device.gpu.is_submit_finished(submission)

    submission = device.gpu.submit_command_buffer(device.gpu.create_command_encoder().finish())
    other = threading.Thread(target=take_turns)
    other.start()
    replace(device, gpu=Long()).wait_for(submission)
    seen = len(turns)
    has_ended.set()
    other.join()
    assert seen >= 5 and device.gpu.is_submit_finished(submission)


def test_a_wait_for_what_never_ends_is_left_to_whoever_reads(monkeypatch):
    class Lost:
        def is_submit_finished(self, submission):
            return False

    monkeypatch.setattr("verdigris.core.base.device.MOST_LOOKING", 0.01)
    replace(open_device("software"), gpu=Lost()).wait_for(1)


def test_slangpy_is_loaded_without_torch_and_torch_can_be_loaded_later(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("print('torch is loaded')\n")
    code = (
        "from verdigris.core.base.adapters import import_slangpy; import_slangpy();"
        "import sys; assert 'slangpy' in sys.modules and 'torch' not in sys.modules;"
        "print('then'); import torch"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[:2] == ["then", "torch is loaded"]


SLOW = """
RWStructuredBuffer<float> gFound;

[shader("compute")]
[numthreads(64, 1, 1)]
void slow(uint3 thread : SV_DispatchThreadID)
{
    float sum = 0;
    for (int i = 0; i < 200; i++)
        sum += sin(sum + i);
    gFound[thread.x] = sum;
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts mappings as Linux tells them")
def test_many_dispatches_keep_the_memory_of_a_few(monkeypatch):
    """Each dispatch that waits for the device takes memory, which is kept for later ones."""
    monkeypatch.setattr("verdigris.core.base.device._MOST_UNDER_WAY", 8, raising=False)
    device, most = open_device("software"), 0
    kernels, found = device.new_kernels(), device.new_space(4096)
    kernel = kernels.get((Source("slow", SLOW),), "slow")
    device.gpu.wait_for_idle()
    before = len(Path("/proc/self/maps").read_text().splitlines())
    for number in range(200):
        device.dispatch(kernel, 4096, {"gFound": found})
        if number == 0:
            device.gpu.wait_for_idle()
        most = max(most, len(Path("/proc/self/maps").read_text().splitlines()) - before)
    assert most < 40
