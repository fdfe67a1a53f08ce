"""A bake that is stopped writes a valid bundle first, and refines it then."""

from dataclasses import replace

import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.history import History
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.progress import Closing, Finished, Kept, Phase, Step

from ..bakes import EVEN, TINY, of_kind, plain_teacher, warnings_of

# a small texture of 16 x 16, then one of 32 x 32
SETTINGS = replace(TINY, resolution=32, iterations=120, encode_from=32, small_resolution=16)


@pytest.fixture(scope="module")
def clay():
    return plain_teacher()


def stopped(clay, folder, settings=SETTINGS):
    """The events of a bake that is stopped at its first step."""
    control = BakeControl()
    options = BakeOptions("out", folder, trainer="numpy", writes_first=True, **EVEN)
    for event in bake([clay], settings, options, control):
        if isinstance(event, Step):
            control.stop()
        yield event


def test_the_first_bundle_has_the_small_texture_and_the_result_takes_its_place(clay, tmp_path):
    path, events = tmp_path / "out.vdg", []
    for event in stopped(clay, tmp_path):
        events.append(event)
        if isinstance(event, Kept):
            first = open_bundle(path)
            assert verify(first).holds
            assert first.layout.width == 16 and first.manifest.source["is_first"]
            assert first.manifest.errors["sphere"]["psnr"] > 0
    last = open_bundle(path)
    assert verify(last).holds
    assert last.layout.width == 32 and "is_first" not in last.manifest.source
    assert [each.preset for each in History(path).versions()] == [""]
    kept, names = events.index(of_kind(events, Kept)[0]), [*map(type, events)]
    assert next(each.name for each in of_kind(events[kept:], Phase)) == "encoding"
    assert isinstance(events[-1], Finished) and events[-1].stopped_by == "request"
    # both tell how far they are
    assert names[:kept].count(Closing) == names[kept:].count(Closing) == 5


def test_a_bake_that_is_closed_when_it_has_kept_its_result_leaves_it_and_its_checkpoint(
    clay, tmp_path
):
    events = stopped(clay, tmp_path, TINY)
    assert any(isinstance(event, Kept) for event in events)
    events.close()
    assert verify(open_bundle(tmp_path / "out.vdg")).holds
    assert {each.name for each in tmp_path.iterdir()} == {"out.vdg", "out.bake.npz"}


def test_a_bundle_that_was_put_in_its_place_meanwhile_stays(clay, tmp_path):
    path, events = tmp_path / "out.vdg", []
    for event in stopped(clay, tmp_path, TINY):
        events.append(event)
        if isinstance(event, Kept):
            manifest = path / "manifest.json"
            manifest.write_bytes(manifest.read_bytes() + b" ")
            changed = manifest.read_bytes()
    assert (path / "manifest.json").read_bytes() == changed
    assert [text for text in warnings_of(events) if "was changed after" in text]
