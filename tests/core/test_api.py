"""The public API: what the README shows works."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.training.events import Finished, Preview

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_document_is_baked_and_its_result_evaluated(tmp_path):
    document = api.load(EXAMPLES / "brushed_steel.mtlx")
    tiny = {"resolution": 16, "iterations": 150, "batch": 512}
    events = list(api.bake(document, tmp_path, device="software", preset="draft", **tiny))
    finished = events[-1]
    assert isinstance(finished, Finished)
    first = next(event for event in events if isinstance(event, Preview))
    assert first.picture.shape == (128, 128, 4)

    bundle = api.open_bundle(finished.result)
    assert api.verify(bundle, source=document, device="software").holds
    student = api.evaluate(bundle, device="software")
    up = np.float32([[0.0, 0.6, 0.8]])
    value = student.response(np.float32([[0.5, 0.5]]), up, up)
    assert np.isfinite(value).all()
    assert (value > 0).all()
    assert bundle.manifest.errors["samples"] == asdict(finished.samples[0])


@pytest.mark.parametrize("kind", [str, Path])
def test_a_result_goes_to_the_folder_that_was_meant_when_the_bake_began(
    kind, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    document = api.load(EXAMPLES / "brushed_steel.mtlx")
    tiny = {"resolution": 4, "iterations": 2, "batch": 64}
    events = api.bake(document, kind("out"), device="software", preset="draft", **tiny)
    next(events)
    monkeypatch.chdir(elsewhere)
    *_, finished = events
    assert Path(finished.result) == tmp_path / "out" / "brushed_steel.vdg"
    assert api.open_bundle(finished.result).manifest.name == "brushed_steel"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["elsewhere", "out"]
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["brushed_steel.vdg"]
