"""The kernels of presets are compiled ahead, once, by bakes of the kinds that need them."""

from dataclasses import replace

import pytest

from verdigris.core.baking import warm_up as module
from verdigris.core.baking.measure.measure import classify
from verdigris.core.baking.warm_up import begin_warm_up, is_warm, warm_up
from verdigris.core.base.device import CACHE_VARIABLE, open_device
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.presets import PRESETS


@pytest.fixture
def device():
    return open_device("software")


@pytest.mark.parametrize("kind", ["detailed", "constant"])
def test_its_materials_are_of_the_kinds_whose_kernels_differ(kind, device):
    teacher = Teacher(parse_document(module._DOCUMENTS[kind], name=kind), device=device)
    assert classify([teacher], PRESETS["tensor"]["standard"]).value == kind


def test_a_preset_is_compiled_once_unless_it_is_to_be_loaded(
    device, tmp_path, monkeypatch, small_endings
):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    # one of the two, with few steps
    monkeypatch.setattr(module, "_STEPS", 8)
    monkeypatch.delitem(module._DOCUMENTS, "detailed")
    left = warm_up(device, ["draft"])
    next(left)
    left.close()
    assert not is_warm(device, ["draft"])
    assert len([*warm_up(device, ["draft"])]) > 2
    assert is_warm(device, ["draft"]) and not is_warm(device, ["draft", "standard"])
    assert not is_warm(replace(device, name="another"), ["draft"])
    assert [*warm_up(device, ["draft"])] == []
    again = warm_up(device, ["draft"], is_always=True)
    next(again)
    again.close()


def test_it_begins_in_the_background_where_a_gpu_lacks_kernels(device, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    begun = []
    monkeypatch.setattr(module.subprocess, "Popen", lambda words, **_: begun.append(words))
    begin_warm_up(device)
    assert not begun
    card = replace(device, is_software=False)
    begin_warm_up(card)
    assert begun[0][-2:] == ["-m", "verdigris.core.baking.warm_up"]
    for preset in PRESETS["tensor"]:
        module._note(card, preset)
    begin_warm_up(card)
    assert len(begun) == 1
