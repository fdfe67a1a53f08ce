"""The live link: what clients get, and what bad ones cannot do. Clients of other languages have
their tests in tests/web and tests/core/bundle/c."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.link.protocol import LARGEST_HEAD, LinkError, decode, encode_head
from verdigris.core.link.snapshot import SnapshotMaker, snapshot_of_bundle
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..bundle.bundles import lively_parameters, make_bundle
from ..geometry.reliefs import bumpy_heights

pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")

from verdigris.core.link.client import LinkClient
from verdigris.core.link.server import MOST_CLIENTS, LinkServer

HEIGHTS = make_height_map(bumpy_heights(8, 16))
SPEC = NetworkSpec(8, 2, "silu", frame_count=1, lobes=1)
LARGE = LatentLayout(256, 256, 9)


@pytest.fixture
def server():
    with LinkServer(port=0) as found:
        yield found


def made(name="copper", seed=1, layout=None, **facts):
    layout = layout or LatentLayout(16, 8, 5)
    return SnapshotMaker(name).make(lively_parameters(SPEC, layout, seed), facts=facts)


def raw_client(server, path=None, **headers):
    """A socket behind an opened WebSocket, for a client that does as it likes."""
    path = path or f"/?token={server.token}&version=1"
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    opened.connect(("127.0.0.1", server.port))
    lines = {
        "Host": f"127.0.0.1:{server.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    opened.sendall(f"GET {path} HTTP/1.1\r\n{text}\r\n".encode())
    opened.settimeout(10)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += opened.recv(1)
    return opened, answer.decode()


def wait_for(holds):
    until = time.monotonic() + 10
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    assert holds()


def end_of(address):
    with LinkClient(address) as client:
        assert client.receive() is None
        return client.ended


def test_a_client_gets_the_numbers_of_a_bundle_and_then_only_changed_files(server, tmp_path):
    bundle = make_bundle(tmp_path / "copper.vdg", lively_parameters(SPEC), name="copper")
    first = snapshot_of_bundle(bundle.folder)
    server.publish(first)
    with LinkClient(server.address) as client:
        received = client.receive()
        assert (received.material, received.is_final, received.number) == ("copper", True, 1)
        for name in ("weights.bin", "latents.ktx2", "reference.json"):
            assert received.files[name] == (bundle.folder / name).read_bytes()
        assert "runtime" not in received.manifest
        assert "source" not in received.manifest
        found, wanted = received.parameters(), bundle.parameters()
        np.testing.assert_array_equal(found.decoder, wanted.decoder)
        np.testing.assert_array_equal(found.latents, wanted.latents)
        # another number, the same files: a message without files
        server.publish(replace(first, facts={"step": 9}))
        again = client.receive()
        assert (again.step, again.number, again.files) == (9, 2, received.files)


def test_a_snapshot_has_the_numbers_as_the_bundle_stores_them():
    parameters = lively_parameters(SPEC, LatentLayout(16, 8, 5))
    from verdigris.core.bundle.files.stored_textures import export_numbers
    from verdigris.core.link.client import Received

    maker = SnapshotMaker("copper", relief=HEIGHTS)
    snapshot = maker.make(parameters)
    assert snapshot.manifest["relief"]["file"] in snapshot.files
    received = Received(1, "copper", False, 0, snapshot.manifest, snapshot.files)
    stored = export_numbers(parameters, format_name=RGBA8).parameters
    random = np.random.default_rng(3)
    uv = random.uniform(size=(64, 2)).astype(np.float32)
    up = np.abs(random.standard_normal((2, 64, 3))) + 0.1
    wi, wo = (up / np.linalg.norm(up, axis=-1, keepdims=True)).astype(np.float32)
    lod = np.zeros(64, np.float32)
    found = evaluate_at_lod(received.parameters(), uv, lod, wi, wo)
    np.testing.assert_allclose(found, evaluate_at_lod(stored, uv, lod, wi, wo), rtol=1e-6)


def test_clients_choose_a_material_and_follow_what_is_told(server):
    server.publish(made("copper"))
    server.publish(made("steel", 2))
    with (
        LinkClient(server.address) as chosen,
        LinkClient(f"{server.address}&material=steel") as named,
    ):
        assert chosen.receive().material == "copper"
        assert named.receive().material == "steel"
        server.tell(live={"wetness": 0.5}, phase="training")
        server.choose("steel")
        assert chosen.receive().material == "steel"
        assert chosen.state["live"] == {"wetness": 0.5}
        assert chosen.state["materials"] == ["copper", "steel"]
    told = end_of(f"{server.address}&material=gold")
    assert told == "4404 there is no such material: use one of copper, steel"


def test_whoever_does_not_belong_gets_a_clear_end_and_nothing_else(server):
    server.publish(made())
    address = server.address
    assert end_of(address[:-1]).startswith("4401 the token is wrong")
    assert end_of(address.partition("?")[0]).startswith("4401")
    for path, headers, code in (
        (f"/?token={server.token}&version=2", {}, 4426),
        (f"/?token={server.token}", {}, 4426),
        (None, {"Origin": "https://elsewhere.example"}, 4403),
        (None, {"Origin": "null"}, 4403),
        (None, {"Origin": "http://localhost.elsewhere.example"}, 4403),
        (None, {"Origin": "http://[::1"}, 4403),
    ):
        opened, _ = raw_client(server, path, **headers)
        frame = opened.recv(200)
        # a close frame, with its code, and no data before
        assert (frame[0], struct.unpack(">H", frame[2:4])[0]) == (0x88, code)
        opened.close()
    opened, _ = raw_client(server, Origin="http://localhost:5173")
    assert opened.recv(1)[0] == 0x82  # a message
    opened.close()


def test_garbage_ends_the_link_of_its_client_alone(server):
    server.publish(made())
    with LinkClient(server.address) as good:
        assert good.receive().number == 1
        for garbage in (
            b"\x82\x84\x00\x00\x00\x00abcd",  # a message
            b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",  # one of 2^63 bytes
            os.urandom(4096),
        ):
            opened, _ = raw_client(server)
            opened.sendall(garbage)
            data = b""
            while piece := opened.recv(65536):
                data += piece
            assert data
        # no HTTP at all, and half a request
        for garbage in (os.urandom(100), b"GET / HTTP/1.1\r\nHost: "):
            opened = socket.create_connection(("127.0.0.1", server.port))
            opened.sendall(garbage)
            opened.close()
        wait_for(lambda: server.clients == 1)
        server.publish(made(seed=2))
        assert good.receive().number == 2


def test_a_client_that_reads_slowly_holds_up_nobody_and_skips(server):
    slow, _ = raw_client(server)
    snapshots = [made(seed=seed, layout=LARGE) for seed in (1, 2)]
    with LinkClient(server.address) as quick:
        for number in range(1, 13):
            begun = time.monotonic()
            server.publish(snapshots[number % 2])
            assert quick.receive().number == number
            assert time.monotonic() - begun < 5
            assert slow.recv(1)
    # what the slow one reads now: the rest of the first, and then the newest
    slow.sendall(b"\x81\x84\x00\x00\x00\x00next")
    found, data = [], b""
    while 12 not in found:
        data += slow.recv(1 << 20)
        found = [int(each) for each in re.findall(rb'"number":(\d+),', data)]
    assert found == [1, 12]
    slow.close()


def test_twenty_clients_are_served_and_killed_ones_are_forgotten(server):
    server.publish(made(layout=LARGE))
    clients = [LinkClient(server.address) for _ in range(20)]
    assert [client.receive().number for client in clients] == [1] * 20
    program = (
        "import sys; from verdigris.core.link.client import LinkClient\n"
        "c = LinkClient(sys.argv[1]); print(c.receive().number, flush=True)\n"
        "import time; time.sleep(60)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program, server.address], stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout.readline() == "1\n"
    assert server.clients == 21
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    wait_for(lambda: server.clients == 20)
    server.publish(made(seed=2, layout=LARGE))
    assert [client.receive().number for client in clients] == [2] * 20
    for client in clients:
        client.close()


def test_there_are_so_many_clients_and_no_more(server):
    opened = [raw_client(server)[0] for _ in range(MOST_CLIENTS)]
    wait_for(lambda: server.clients == MOST_CLIENTS)
    assert end_of(server.address).startswith("4429 there are 64 clients")
    for each in opened:
        each.close()


def test_a_server_that_ends_gives_the_newest_first(server):
    with LinkClient(server.address) as client:
        received = []
        reading = threading.Thread(target=lambda: received.extend(client))
        reading.start()
        for seed in range(8):
            server.publish(made(seed=seed, layout=LARGE))
        server.close()
        reading.join()
        assert received[-1].number == 8
        assert client.ended.startswith("1001")


def test_a_killed_server_ends_its_clients(tmp_path):
    make_bundle(tmp_path / "copper.vdg", lively_parameters(SPEC), name="copper")
    # a folder, for the bundles that are in it and those that come
    program = [sys.executable, "-m", "verdigris.core", "link", tmp_path]
    program += ["--at", "127.0.0.1:0"]
    served = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    address = served.stdout.readline().split(": ", 1)[1].strip()
    with LinkClient(address) as client:
        assert client.receive().material == "copper"
        # a bundle that is written anew is shown again
        make_bundle(tmp_path / "copper.vdg", lively_parameters(SPEC, seed=9), name="copper")
        assert client.receive().number == 2
        make_bundle(tmp_path / "steel.vdg", lively_parameters(SPEC), relief=HEIGHTS)
        while "steel" not in client.state["materials"]:
            with pytest.raises(TimeoutError):
                client.receive(0.1)
        with LinkClient(f"{address}&material=steel") as other:
            shown = other.receive()
        assert shown.files["height.ktx2"] == (tmp_path / "steel.vdg" / "height.ktx2").read_bytes()
        assert shown.manifest["relief"]["scale"] == HEIGHTS.scale
        served.kill()
        served.wait()
        served.stdout.close()
        assert client.receive() is None
        assert client.ended == "lost"
    with pytest.raises(LinkError, match="no link"):
        LinkClient(address)


def test_a_port_that_is_taken_is_an_error(server):
    with pytest.raises(LinkError, match=f"cannot listen at 127.0.0.1:{server.port}"):
        LinkServer(port=server.port).start()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"VDLK",
        b"GIF8" + bytes(64),
        struct.pack("<4sI", b"VDLK", LARGEST_HEAD + 1) + bytes(100),
        struct.pack("<4sI", b"VDLK", 100) + b"{}",
        encode_head("snapshot", {"files": [{"file": "a.bin", "offset": 0, "bytes": 9999}]}),
        encode_head("snapshot", {"files": [{"file": "../a.bin", "offset": 0, "bytes": 1}]}),
        encode_head("snapshot", {}).replace(b'"link":1', b'"link":2'),
    ],
)
def test_a_damaged_message_is_refused(data):
    from verdigris.core.base.errors import VerdigrisError

    with pytest.raises(VerdigrisError):
        decode(data)
