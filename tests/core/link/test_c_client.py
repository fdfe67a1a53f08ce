"""verdigris_link.h, compiled with a sanitizer: against the server, and against garbage."""

import os
import shutil
import socket
import struct
import subprocess
import threading

import numpy as np
import pytest

from verdigris.core.bundle.runtime.runtime_files import EXAMPLES, RUNTIME_SHADERS
from verdigris.core.link.protocol import encode_head, encode_snapshot
from verdigris.core.link.snapshot import SnapshotMaker, snapshot_of_bundle
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..bundle.bundles import lively_parameters, make_bundle

pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")

from verdigris.core.link.server import LinkServer

SPEC = NetworkSpec(8, 2, "silu", frame_count=1, lobes=1)
CLIENT = """#define _POSIX_C_SOURCE 200112L
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
#define VERDIGRIS_LINK_IMPLEMENTATION
#include "verdigris_link.h"
int main(int count, char **words) {
    VdLink link;
    VdError error;
    VdBundle bundle;
    double largest = -1;
    if (count != 2 || !vd_link_open(&link, words[1], &error)) {
        puts(error.text);
        return 0;
    }
    while (!link.is_ended)
        if (vd_link_poll(&link, 100, &error)) {
            if (!vd_open_with(&bundle, vd_link_read, &link, &error)) {
                puts(error.text);
                break;
            }
            if (bundle.reference[0])
                vd_check_with(&bundle, vd_link_read, &link, &largest, &error);
            printf("%u %s %u %u %d %u %u %g\\n", link.number, link.material, link.step, link.steps,
                   link.is_final, bundle.latents.width, bundle.latents.format, largest);
            fflush(stdout);
            vd_close(&bundle);
        }
    puts(error.text);
    vd_link_close(&link);
    return 0;
}
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or os.name == "nt":
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("client")
    (folder / "client.c").write_text(CLIENT)
    options = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    options += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [compiler, *options, "-I", RUNTIME_SHADERS, "-I", EXAMPLES, folder / "client.c"]
    done = subprocess.run(
        [*command, "-o", folder / "client", "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "client"


def start(client, address):
    return subprocess.Popen([client, address], stdout=subprocess.PIPE, text=True)


def test_c_reads_a_training_and_then_the_bundle(client, tmp_path):
    bundle = make_bundle(tmp_path / "copper.vdg", lively_parameters(SPEC)).folder
    # more than a fragment
    layout = LatentLayout(256, 256, 9)
    maker = SnapshotMaker("copper", emission=[np.ones((1, 1, 4), np.float16)])
    training = maker.make(lively_parameters(SPEC, layout), facts={"step": 3, "steps": 9})
    with LinkServer(port=0) as server:
        server.publish(training)
        found = start(client, server.address)
        assert found.stdout.readline() == "1 copper 3 9 0 256 37 -1\n"
        server.publish(snapshot_of_bundle(bundle, "copper"))
        number, name, _, _, is_final, _, form, largest = found.stdout.readline().split()
        assert (number, name, is_final, form) == ("2", "copper", "1", "145")
        # as a share of what is allowed
        assert 0 < float(largest) < 0.05
    rest, _ = found.communicate(timeout=20)
    assert rest.startswith("the link: the server has ended")
    assert found.returncode == 0


def test_c_says_why_it_is_refused(client):
    with LinkServer(port=0) as server:
        found = start(client, server.address[:-1])
        assert found.communicate(timeout=20)[0].startswith("the link: the token is wrong")
    for address in (server.address, "http://127.0.0.1/", "ws://", "ws://[::1", "ws://" + 999 * "a"):
        told, _ = (found := start(client, address)).communicate(timeout=20)
        assert told.startswith("the link: ")
        assert found.returncode == 0


def garbage():
    answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    snapshot = SnapshotMaker("a").make(lively_parameters(SPEC, LatentLayout(4, 4, 3)))
    message = b"".join(encode_snapshot(snapshot, 1, {}))
    yield from (b"", b"HTTP/1.1 400 Bad\r\n\r\n", bytes(40000), answer + os.urandom(3000))
    for frame in (
        b"\x82\x7f" + b"\xff" * 8,
        b"\x82\xff" + bytes(12),
        b"\x88\x00",
        b"\x88\x7d" + 125 * b"a",
        b"\x89\x7d" + 125 * b"a",
        b"\x82\x08VDLK\xff\xff\xff\xff",
    ):
        yield answer + frame
    heads = [{"files": [{"file": "a.bin", "offset": 1e9, "bytes": 1}]}, {"files": 7}]
    heads += [{"number": 1, "material": "a", "files": [{"file": "../a", "offset": 0, "bytes": 1}]}]
    for head in heads:
        data = encode_head("snapshot", {"number": 1, "material": "a", **head})
        yield answer + struct.pack(">BBH", 0x82, 126, len(data)) + data
    random = np.random.default_rng(5)
    for _ in range(40):
        damaged = np.frombuffer(message, np.uint8).copy()
        damaged[random.integers(0, 1200, 3)] = random.integers(0, 256, 3)
        cut = damaged[: random.integers(1, len(damaged))] if random.random() < 0.3 else damaged
        yield answer + struct.pack(">BBH", 0x82, 126, len(cut)) + cut.tobytes()


def test_c_survives_garbage(client):
    cases = [*garbage()]
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            for data in cases:
                opened, _ = server.accept()
                with opened:
                    opened.recv(4096)
                    opened.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        address = f"ws://127.0.0.1:{server.getsockname()[1]}/?token=x"
        for data in cases:
            done = subprocess.run([client, address], capture_output=True, timeout=20, check=False)
            assert done.returncode == 0, (data[:200], done.stderr.decode())
            assert done.stdout
        thread.join()
