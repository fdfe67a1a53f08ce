"""A bake that is shown by a live link, to clients of which some are bad."""

import os
import socket
import threading

import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake

from .bakes import TINY

pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")

from verdigris.core.link import training
from verdigris.core.link.client import LinkClient
from verdigris.core.link.server import LinkServer
from verdigris.core.link.training import TrainingLink


def test_a_bake_is_the_same_with_a_link_and_bad_clients(clay, whole_clay, tmp_path, monkeypatch):
    """Numbers of the bundle are equal to the bit. The client has them in the end, and has seen the
    training before."""
    monkeypatch.setattr(training, "SHORTEST", 0.0)
    monkeypatch.setattr(training, "SHARE", 1.0)
    control = BakeControl()
    options = BakeOptions(name="out", folder=tmp_path, trainer="numpy", run_seconds=0.0)
    with LinkServer(port=0) as server, LinkClient(server.address) as client:
        rude = socket.create_connection(("127.0.0.1", server.port))
        rude.sendall(os.urandom(1000))
        received = []
        reading = threading.Thread(target=lambda: received.extend(client))
        reading.start()
        for _ in TrainingLink(server, control).follow(bake([clay], TINY, options, control)):
            pass
        server.close()
        reading.join()
        rude.close()
    for name in ("weights.bin", "latents.ktx2"):
        wanted = (whole_clay / "out.vdg" / name).read_bytes()
        assert (tmp_path / "out.vdg" / name).read_bytes() == wanted
        assert received[-1].files[name] == wanted
    assert [each.is_final for each in received] == [False] * (len(received) - 1) + [True]
    steps = [each.step for each in received]
    assert len(steps) > 2
    assert steps == sorted(steps)
    assert {each.material for each in received} == {"clay"}
