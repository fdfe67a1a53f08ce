"""A bake that is shown by a live link, to clients of which some are bad."""

import os
import socket
import threading
from contextlib import suppress

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from .bakes import CHALK, TINY

pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")

from verdigris.core.link import training
from verdigris.core.link.client import LinkClient
from verdigris.core.link.server import LinkServer
from verdigris.core.link.training import TrainingLink

LEAF = CHALK.replace("oren_nayar_diffuse_bsdf", "translucent_bsdf").replace(
    "</surfacematerial>",
    """<input name="displacementshader" type="displacementshader" nodename="h"/></surfacematerial>
    <ramplr name="r" type="float"><input name="valuer" type="float" value="0.1"/></ramplr>
    <displacement name="h" type="displacementshader">
    <input name="displacement" type="float" nodename="r"/></displacement>""",
)


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
        # it has said nothing that the server understands, and holds up nobody
        rude.settimeout(5)
        with suppress(ConnectionResetError):
            assert rude.recv(1) == b""
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


def test_materials_that_share_a_decoder_are_shown_each_by_its_name(clay, tmp_path, monkeypatch):
    """One of them transmits light: both have a second decoder. It also displaces its surface."""
    monkeypatch.setattr(training, "SHORTEST", 0.0)
    monkeypatch.setattr(training, "SHARE", 1.0)
    leaf = Teacher(parse_document(LEAF.format(name="leaf"), name="leaf"), device=clay.device)
    assert leaf.index_below
    control = BakeControl()
    options = BakeOptions(name="out", folder=tmp_path, trainer="numpy", run_seconds=0.0)
    received = {name: [] for name in ("clay", "leaf")}
    with LinkServer(port=0) as server:
        # the first material is the one for clients that name none
        clients = {"clay": LinkClient(server.address)}
        clients["leaf"] = LinkClient(f"{server.address}&material=leaf")
        reading = [
            threading.Thread(target=received[name].extend, args=(client,))
            for name, client in clients.items()
        ]
        for each in reading:
            each.start()
        events = TrainingLink(server, control).follow(bake([clay, leaf], TINY, options, control))
        *_, last = events
    for each in reading:
        each.join()
    for name, path in zip(received, last.results, strict=True):
        shown = received[name]
        assert {each.material for each in shown} == {name}
        assert [each.is_final for each in shown] == [False] * (len(shown) - 1) + [True]
        assert len(shown) > 2
        assert ("relief" in shown[0].manifest) == (name == "leaf")
        if name == "leaf":
            assert shown[0].files["height.ktx2"] == shown[-1].files["height.ktx2"]
        wanted, found = open_bundle(path).parameters(), shown[-1].parameters()
        np.testing.assert_array_equal(found.latents, wanted.latents)
        for one, other in zip(found.sides, wanted.sides, strict=True):
            np.testing.assert_array_equal(one.decoder, other.decoder)
        early = shown[0].parameters()
        assert early.index_below == wanted.index_below and len(early.sides) == 2
