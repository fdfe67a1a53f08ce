"""Lines to a worker, and what a worker answers that has no session."""

import json
import subprocess

from verdigris.core.worker.client.client import worker_command
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import VERSION, Decoder, Message, encode

HELLO = encode({"command": "hello", "protocol": VERSION})


def random_line(chance):
    """Noise, or a line that is nearly right."""
    if chance.random() < 0.4:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(60))) + b"\n"
    values = [None, True, -1, 10**12, 1e300, "", "x" * 50, [], [1, "a"], {}, {"a": [1]}, 3]
    names = ["command", "bytes", "path", "folder", "shape", "size", "width", "where", "light"]
    header = {chance.choice(names): chance.choice(values) for _ in range(chance.randrange(5))}
    if chance.random() < 0.7:
        header["command"] = chance.choice(list(commands.NAMES.values()))
    if chance.random() < 0.8:
        header.pop("bytes", None)
    line = json.dumps(header).encode() + b"\n"
    return line if chance.random() < 0.9 else line[: chance.randrange(len(line))] + b"\n"


def raw(*lines, wait=60):
    """Bytes in, messages out, of a worker whose input ends after them."""
    done = subprocess.run(
        worker_command(), input=b"".join(lines), capture_output=True, timeout=wait, check=False
    )
    decoder = Decoder()
    found = list(decoder.feed(done.stdout))
    assert decoder.end() is None
    assert all(isinstance(item, Message) for item in found), "the stream was corrupted"
    return done, [item.header for item in found]
