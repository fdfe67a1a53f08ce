"""What a control group leaves, by files as Linux has them, and an affinity."""

import os
import sys
import threading

import pytest

from verdigris.core.baking.measure import memory
from verdigris.core.base import adapters
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process.processor import usable_memory, usable_processors

ALL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def machine(root, groups, limits):
    files = {
        "proc/self/cgroup": groups,
        **{f"sys/fs/cgroup/{name}": limits[name] for name in limits},
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_of_the_processors_those_count_that_may_be_used():
    found = []

    def look():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        found.append(usable_processors())

    # a limit of a thread ends with it
    alone = threading.Thread(target=look)
    alone.start()
    alone.join()
    assert found == [1]
    assert usable_processors() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("groups", "limits", "left"),
    [
        ("0::/", {"memory.max": "1073741824"}, 1 << 30),
        ("0::/", {"memory.max": "max"}, ALL),
        # of the groups around it the least
        ("0::/farm/job", {"farm/memory.max": "5000", "farm/job/memory.max": "max"}, 5000),
        ("0::/farm/job", {"farm/memory.max": "5000", "farm/job/memory.max": "4000"}, 4000),
        # what a container sees of its group, whose name is that of the machine
        ("0::/docker/abc", {"memory.max": "6000"}, 6000),
        (
            "9:cpu,cpuacct:/a\n4:memory:/a\n0::/",
            {"memory/a/memory.limit_in_bytes": "7000", "cpu,cpuacct/a/memory.max": "1"},
            7000,
        ),
        # none, as the first version writes it
        ("4:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, ALL),
    ],
)
def test_the_least_limit_counts(tmp_path, groups, limits, left):
    assert usable_memory(machine(tmp_path, groups, limits)) == left


def test_a_machine_without_groups_has_all(tmp_path):
    assert usable_memory(tmp_path) == ALL


def test_only_bakes_on_a_processor_mind_the_address_space(monkeypatch):
    cards = ("vulkan:0",)
    monkeypatch.setattr(adapters, "hardware_devices", lambda: cards)
    monkeypatch.setattr(memory, "address_space", lambda: 1 << 30)
    for choice in (None, "auto", "vulkan", "cuda:1"):
        memory.check_limits(choice)
    with pytest.raises(SettingsError, match=r"^this process may map only 1\.1 GB of memory"):
        memory.check_limits("software")
    cards = ()
    with pytest.raises(SettingsError, match=r"needs 2\.7 GB at least: lift the limit"):
        memory.check_limits(None)
    for limit in (None, 3_000_000 << 10):
        monkeypatch.setattr(memory, "address_space", lambda limit=limit: limit)
        memory.check_limits("software")


def test_only_bakes_on_a_processor_mind_how_large_a_file_may_be(monkeypatch):
    monkeypatch.setattr(adapters, "hardware_devices", lambda: ("vulkan:0",))
    monkeypatch.setattr(memory, "file_size", lambda: 100_000_000)
    memory.check_limits(None)
    with pytest.raises(
        SettingsError, match=r"^this process may write files of only 100 MB.*\(ulimit -f"
    ):
        memory.check_limits("software")
    for limit in (None, 1 << 28):
        monkeypatch.setattr(memory, "file_size", lambda limit=limit: limit)
        memory.check_limits("software")
