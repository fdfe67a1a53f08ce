"""A worker that lives long: later bakes hold no more memory than earlier ones."""

import json
import os
import subprocess
import sys

import pytest

from ..brisk import SMALL
from .running_worker import CLAY, QUICK

# Bakes with live pictures and shows, in one session; what it holds after some of them.
LIFE = f"""{SMALL}
import ctypes, gc, json, os, sys
from pathlib import Path
from verdigris.core.base.process.processor import share_one_heap
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION
from verdigris.core.worker.protocol.worker_events import Error
from verdigris.core.worker.session.session import Session
import verdigris.core.worker.drawing.shown as shown
shown.TEXTURE_SIZE = 32

class Heap(ctypes.Structure):
    NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(each, ctypes.c_size_t) for each in NAMES.split()]

def held():
    gc.collect()
    heap = mallinfo()
    return {{
        "heap": heap.uordblks + heap.hblkhd,
        "objects": len(gc.get_objects()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }}

def work():
    while session.has_work:
        session.work()

def post(event):
    assert not isinstance(event, Error), event

share_one_heap()
mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Heap
session, folder, found = Session(post), Path(sys.argv[1]), []
opened = commands.Open(name="clay", payload={CLAY!r}.encode())
for command in (commands.Hello(VERSION), commands.SetView(size=32), opened):
    session.handle(command)
request = BakeRequest(changes={QUICK!r} | {{"iterations": 30}})
for number in range(12):
    session.handle(commands.Start(str(folder), request=request))
    work()
    result, *versions = sorted(folder.rglob("*.vdg"), key=lambda each: len(each.parts))
    session.handle(commands.Show(str(result), str(versions[0]) if versions else ""))
    work()
    if number in (3, 11):
        found.append(held())
print(json.dumps(found))
"""
# What eight bakes may leave. Bytes move by 2 MB with the moment at which they are counted; Python's
# objects do not, and a picture that each bake leaves is more than 2,000 of them.
MOST_BYTES, MOST_OBJECTS = 8_000_000, 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux and glibc tell of a process")
def test_later_bakes_hold_no_more_than_earlier_ones(tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", "-c", LIFE, str(tmp_path)],
        env={**os.environ, "VERDIGRIS_DEVICE": "software"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout.splitlines()[-1])
    assert after["descriptors"] == before["descriptors"]
    assert after["threads"] == before["threads"]
    assert after["objects"] - before["objects"] < MOST_OBJECTS
    assert after["heap"] - before["heap"] < MOST_BYTES
