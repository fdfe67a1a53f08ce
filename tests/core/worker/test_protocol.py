"""Messages as bytes: what is written can be read however it arrives, and nothing else can."""

import json
import random

import numpy as np
import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.progress import Event, Step
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import (
    BYTES,
    LARGEST_PAYLOAD,
    LONGEST_LINE,
    Decoder,
    Fault,
    Message,
    ProtocolError,
    encode,
)
from verdigris.core.worker.protocol.streams import Inbox
from verdigris.core.worker.protocol.worker_events import Alive, ErrorMap, Picture

from .lines import random_line

MAP = np.arange(12, dtype="<f4").reshape(3, 4)
COMMANDS = [
    commands.Hello(1),
    commands.Open(path="a.mtlx", search=("x", "y"), material="clay"),
    commands.Open(name="from a host", payload=b"<materialx/>\n\n"),
    commands.Start(
        folder="out", request=BakeRequest(changes={"iterations": 7}, resume=True, time_limit=2.5)
    ),
    commands.Pause(),
    commands.SetImportance(4, 3, MAP.tobytes()),
    commands.SetImportance(),
    commands.Focus("view", 3.0),
    commands.SetView(number=3, shape="plane", turn=-3.5, light=(0.0, 1.0, 0.5), level=2),
    commands.WriteMap("a.exr", 4, 3, MAP.tobytes()),
    commands.SetMesh("|group|tray", 2, bytes(192)),
    commands.Compare(("a.vdg", "b.vdg")),
]


def read(data, piece=1 << 20):
    decoder = Decoder()
    found = [
        item
        for start in range(0, len(data), piece)
        for item in decoder.feed(data[start : start + piece])
    ]
    return found, decoder.end()


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_commands_come_through_whole_in_pieces_of_any_size(piece):
    data = b"".join(encode(*commands.command_line(command)) for command in COMMANDS)
    found, left = read(data, piece)
    assert [commands.parse(message) for message in found] == COMMANDS
    assert left is None
    np.testing.assert_array_equal(COMMANDS[5].weights(), MAP)


def test_a_line_is_what_any_reader_of_json_reads():
    header, payload = commands.command_line(COMMANDS[5])
    line, _, rest = encode(header, payload).partition(b"\n")
    assert json.loads(line) == {"command": "importance", "width": 4, "height": 3, "bytes": 48}
    assert rest == MAP.tobytes()


def test_events_of_the_worker_and_of_a_bake_have_one_form():
    step = Step(1, 2, float("nan"), 3.0, 4.0, 5.0)
    assert isinstance(Alive(0.5), Event)
    assert Alive(0.5).as_json() == {"event": "alive", "stalled": 0.5}
    # JSON has no word for what is not a number
    assert json.loads(encode(step.as_json()))["loss"] is None
    picture = Picture(np.zeros((2, 3, 1), np.uint16), "heat", 4, 5, 0.5, 0.1)
    assert picture.as_json() == {
        "event": "picture",
        "part": "heat",
        "view": 4,
        "step": 5,
        "sharp": 0.5,
        "refined": 0.1,
        "shape": [2, 3, 1],
        "type": "<u2",
    }
    assert len(picture.payload()) == 12
    assert ErrorMap(MAP, 1).as_json()["type"] == "<f4"


def test_no_event_has_the_field_that_announces_a_payload():
    """A reader would take that many bytes of later messages."""
    from dataclasses import fields

    from verdigris.core import progress
    from verdigris.core.worker.protocol import worker_events

    kinds = [
        kind
        for module in (progress, worker_events)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
    ]
    assert len(kinds) > 15
    assert [kind for kind in kinds if BYTES in {each.name for each in fields(kind)}] == []
    with pytest.raises(ProtocolError, match="its own 'bytes'"):
        encode({"event": "sizechosen", "bytes": 100})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"nonsense", "'nonsense': is not JSON: Expecting value"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": 1, "a": 2}', "'a' is given twice: leave one out"),
        (b"[1, 2]", "must be a JSON object"),
        (b'{"bytes": -1}', "bytes is '-1': use a whole number"),
        (b'{"bytes": true}', "bytes is 'True'"),
        (b'{"bytes": "12"}', "bytes is '12'"),
        (b'{"bytes": 1e3}', "bytes is '1000.0'"),
        (b'{"bytes": ' + b"9" * 5000 + b"}", "number with too many digits: 5000"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_next_line_is_read(line, message):
    found, left = read(line + b'\n{"command": "pause"}\n')
    assert isinstance(found[0], Fault) and not found[0].is_fatal
    assert message in found[0].text
    assert found[1:] == [Message({"command": "pause"})]
    assert left is None


@pytest.mark.parametrize("count", [-1, 1.5, None, LARGEST_PAYLOAD + 1])
@pytest.mark.parametrize(("name", "told"), [("importance", "importance"), (7, "")])
def test_a_command_whose_count_of_bytes_is_refused_is_named(count, name, told):
    found, _ = read(json.dumps({"command": name, "bytes": count}).encode() + b"\n")
    assert [item.command for item in found] == [told]


def test_a_line_without_end_is_dropped_and_not_kept_in_memory():
    decoder = Decoder()
    found = [item for _ in range(40) for item in decoder.feed(b"x" * (LONGEST_LINE // 8))]
    assert [item.text for item in found] == [
        f"a line is longer than {LONGEST_LINE} bytes and is ignored: send a shorter line"
    ]
    assert len(decoder._buffer) <= LONGEST_LINE
    assert list(decoder.feed(b'xx\n{"command": "quit"}\n')) == [Message({"command": "quit"})]


def test_more_pixels_than_anybody_sends_end_the_reading():
    too_many = json.dumps({"bytes": LARGEST_PAYLOAD + 1}).encode()
    found, _ = read(too_many + b'\n{"command": "quit"}\n')
    assert len(found) == 1 and found[0].is_fatal


@pytest.mark.parametrize(
    ("data", "message"),
    [(b'{"command": "pau', "a line has no end"), (b'{"bytes": 9}\n123', "6 bytes of pixels")],
)
def test_a_stream_that_ends_inside_a_message_says_so(data, message):
    found, left = read(data)
    assert found == []
    assert message in left.text


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({}, "command None is not known: use one of hello, open"),
        ({"command": ["open"]}, "is not known"),
        ({"command": "open"}, "open: give a path, or the text"),
        ({"command": "open", "path": 3}, "open: path is 3: it must be a text"),
        ({"command": "open", "path": "a", "search": "b"}, "open: search is 'b': it must be a list"),
        ({"command": "open", "path": "a", "nonsense": 1}, "open: 'nonsense' is not known"),
        ({"command": "hello"}, "hello: protocol is missing"),
        ({"command": "hello", "protocol": True}, "protocol is True: it must be a whole number"),
        ({"command": "start", "folder": "a", "changes": []}, "it must be an object"),
        ({"command": "view", "shape": "cube"}, "use one of sphere, plane, ball, cloth, tile, mesh"),
        ({"command": "view", "shape": "mesh"}, "needs a name or a path"),
        ({"command": "view", "light": [1, 2]}, "a list of 3: a number each"),
        ({"command": "view", "light": [0, 0, 0]}, "it must have a direction"),
        ({"command": "view", "zoom": 0}, "view: zoom is 0.0: use 0.125 to 4096"),
        ({"command": "view", "turn": 1e999}, "turn is inf: it must be a number"),
        ({"command": "view", "size": 100_000}, "view: size is 100000: use 16 to 2160"),
        ({"command": "importance", "width": 4, "height": 4}, "are 64 bytes, and 0 were sent"),
        ({"command": "importance", "width": 10**9, "height": 1}, "use at most 8192 a side"),
        ({"command": "write_map", "path": "a.exr", "width": 0, "height": 0}, "the map is empty"),
        ({"command": "mesh", "name": "a", "triangles": 3}, "3 triangles needs 96 bytes for each"),
        ({"command": "mesh", "name": "a", "triangles": 10**4298}, "of 10000000000000000000 triang"),
        ({"command": "mesh", "name": "a", "triangles": 0}, "at least one triangle"),
        ({"command": "focus", "where": "away"}, "use one of everywhere, painted, view"),
    ],
)
def test_a_command_that_cannot_be_is_refused_by_its_field(header, message):
    with pytest.raises(ProtocolError) as refused:
        commands.parse(Message(header))
    assert message in str(refused.value)


def test_no_limit_of_a_bake_can_also_be_sent_as_0():
    header = {"command": "start", "folder": "out", "time_limit": 0.0, "target_error": 0}
    assert commands.parse(Message(header)) == commands.Start("out")


def test_bytes_behind_a_command_that_takes_none_are_refused():
    with pytest.raises(ProtocolError, match="pause: takes no bytes"):
        commands.parse(Message({"command": "pause"}, b"123"))


def test_of_ten_thousand_random_lines_each_is_a_command_or_a_fault():
    chance = random.Random(5)
    decoder, accepted, faults = Decoder(), 0, 0
    for _ in range(10_000):
        if decoder.is_broken or decoder._header is not None:
            decoder = Decoder()
        for found in decoder.feed(random_line(chance)):
            if isinstance(found, Fault):
                faults += 1
                continue
            try:
                commands.parse(found)
                accepted += 1
            except ProtocolError:
                faults += 1
    assert accepted > 400
    assert faults > 3000


def test_a_reader_that_fails_is_the_end_of_all_commands():
    class Torn:
        def read(self, size):
            raise RuntimeError("torn")

    inbox = Inbox()
    with pytest.raises(RuntimeError, match="torn"):
        inbox.read(Torn())
    assert isinstance(inbox.take(waits=False), commands.Quit)
