"""What a client hears of commands that are wrong: which one, why, and in a line it can read."""

import json
import struct

import numpy as np
import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import DeviceError
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import LONGEST_LINE, VERSION, Decoder, Fault, encode
from verdigris.core.worker.protocol.worker_events import IDLE, Error
from verdigris.core.worker.session.live_pictures import LivePictures
from verdigris.core.worker.session.session import Session

from ..bundle.bundles import make_bundle
from ..material.documents import with_image
from ..material.surfaces import write_image
from .lines import HELLO, raw
from .running_worker import CLAY, LONG


@pytest.fixture(scope="module", autouse=True)
def software():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERDIGRIS_DEVICE", "software")
        yield


def errors_of(*lines):
    _, heard = raw(HELLO, *lines)
    return [each for each in heard if each["event"] == "error"]


def test_a_command_with_a_wrong_field_is_named_so_that_its_sender_knows_what_was_refused():
    (first, second, third) = errors_of(
        encode({"command": "view", "size": "large"}),
        encode({"command": "start"}),
        encode({"command": "no such command"}),
    )
    assert (first["command"], second["command"]) == ("view", "start")
    assert third["command"] == "no such command"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "../other/flat.png",
            "outside of the allowed folders ({inner}): move it into one of them, and name it there",
        ),
        ("flat.png", "was not found in {inner}: search in {other}, where {other}/flat.png may be"),
        ("gone.png", "was not found in {inner}: correct the name or put the file there"),
        ("gone.&lt;UDIM&gt;.png", "was found in {inner}: correct the name or put the file there"),
    ],
)
def test_who_has_no_options_of_commands_is_not_advised_to_use_them(file, said, tmp_path):
    inner, other = tmp_path / "inner", tmp_path / "other"
    inner.mkdir()
    other.mkdir()
    write_image(other / "flat.png", np.zeros((2, 2, 3), np.uint8))
    told = []
    session = Session(lambda event: told.append(event.as_json()))
    session.handle(commands.Hello(VERSION))
    text = with_image(file).encode()
    session.handle(
        commands.Open(name="a", search=(str(inner),), confined=".." in file, payload=text)
    )
    text = json.dumps(told)
    assert said.format(inner=inner, other=other) in text
    (opened,) = [event for event in told if event["event"] == "opened"]
    expected = [str(other)] if file == "flat.png" else []
    assert list(opened["materials"][0]["search_in"]) == expected
    assert "--search" not in text and "--confined" not in text


def test_a_bake_whose_pictures_fail_is_none_and_no_other_bundle_is_shown(monkeypatch, tmp_path):
    told = []
    session = Session(lambda event: told.append(event.as_json()))
    for command in (commands.Hello(VERSION), commands.Open(name="clay", payload=CLAY.encode())):
        session.handle(command)

    def lose(*_):
        raise DeviceError("the device is lost")

    monkeypatch.setattr(LivePictures, "begin", lose)
    told.clear()
    session.handle(commands.Start(str(tmp_path), request=BakeRequest(changes=LONG)))
    session.handle(commands.Pause())
    errors = [each["text"] for each in told if each["event"] == "error"]
    assert errors == ["the device is lost", "pause: no bake is running"]
    assert session.state == IDLE

    # neither can what is no bundle of this material be shown
    other = make_bundle(tmp_path / "wax.vdg", source={"material": "wax"}).folder
    told.clear()
    session.handle(commands.Show(str(tmp_path / "gone.vdg")))
    session.handle(commands.Show(str(other)))
    errors = [each["text"] for each in told if each["event"] == "error"]
    assert errors == [
        f"{tmp_path / 'gone.vdg'}: there is no such bundle",
        f"{other}: contains the material 'wax', and 'clay' is open: choose that material to show "
        "it",
    ]
    assert session.state == IDLE and "shown" not in {each["event"] for each in told}


def test_a_name_with_what_no_name_can_hold_is_refused_by_its_field():
    fields = {"open": "path", "start": "folder", "read_map": "path"}
    wrong = [(*item, text) for item in fields.items() for text in ("\\u0000", "\\ud800")]
    lines = [
        f'{{"command": "{name}", "{field}": "a{text}b"}}\n'.encode() for name, field, text in wrong
    ]
    for (name, *_), error in zip(wrong, errors_of(*lines), strict=True):
        assert "leave out characters that file names cannot contain" in error["text"]
        assert (error["command"], error["kind"]) == (name, "ProtocolError")


def test_a_name_of_a_disk_that_is_not_unicode_is_taken():
    # as Python hands over the byte 0xff of a name
    (error,) = errors_of(b'{"command": "read_map", "path": "lost\\udcff.exr"}\n')
    assert "no such file" in error["text"]


def test_the_answer_to_a_long_name_is_short():
    long = "x" * (LONGEST_LINE - 100)
    view = encode({"command": "view", "shape": long})
    image = encode({"command": "read_map", "path": long})
    unknown = encode({"command": long})
    errors = errors_of(view, image, unknown)
    assert [each["command"][:8] for each in errors] == ["view", "read_map", "xxxxxxxx"]
    for error in errors:
        assert len(json.dumps(error)) < 5000
        assert "…" in error["text"]


def test_both_ends_of_a_long_text_are_kept():
    error = Error("thing " + "x" * 10_000 + " remedy")
    assert error.text.startswith("thing ") and error.text.endswith(" remedy")
    assert len(error.text) < 5000
    assert Error("thing: remedy").text == "thing: remedy"


@pytest.mark.parametrize("piece", [1000, LONGEST_LINE * 2])
def test_a_line_that_is_too_long_is_left_out_however_it_arrives(piece):
    decoder = Decoder()
    data = b"{" + b" " * LONGEST_LINE + b"}\n" + b'{"command": "pause"}\n'
    found = [
        item
        for start in range(0, len(data), piece)
        for item in decoder.feed(data[start : start + piece])
    ]
    assert [type(item) for item in found] == [Fault, type(found[1])]
    assert "a line is longer than 1048576 bytes" in found[0].text


def test_a_map_that_could_not_be_read_again_is_not_written(tmp_path):
    path = tmp_path / "weights.exr"
    header = {"command": "write_map", "path": str(path), "width": 2, "height": 1}
    told = {
        "1 texels are not finite": (1.0, float("nan")),
        "1 texels are negative": (1.0, -2.0),
        "is zero everywhere": (0.0, 0.0),
    }
    errors = errors_of(*(encode(header, struct.pack("<2f", *each)) for each in told.values()))
    for message, error in zip(told, errors, strict=True):
        assert message in error["text"] and str(path) in error["text"]
    assert not path.exists()
