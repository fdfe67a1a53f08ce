"""A material that has changed since its bake has a badge, by the rule of `bake --if-changed`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from verdigris.core.hosts.changes import find_changes
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.load.provenance import (
    changed_sources,
    file_digest,
    source_facts,
    text_digest,
)
from verdigris.ui.model.cards import cards_of

from ..fake_session import CLAY, REPORT, FakeHost, Session

TEXT = """<materialx version="1.39">
  <image name="i" type="color3"><input name="file" type="filename" value="{file}"/></image>
  <standard_surface name="s" type="surfaceshader">
    <input name="base_color" type="color3" nodename="i"/>
    <input name="specular_roughness" type="float" value="{roughness}"/>
  </standard_surface>
  <surfacematerial name="clay" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="s"/>
  </surfacematerial>
</materialx>"""
IMAGE = Path(__file__).resolve().parents[3] / "examples" / "textures" / "glazed_tile_masks.png"


def text_of(roughness="0.3", file="masks.png"):
    return TEXT.format(roughness=roughness, file=file)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "masks.png").write_bytes(IMAGE.read_bytes())
    return tmp_path


def recorded(text, folder):
    """What a bake records, as core/baking does, with MaterialX."""
    document = parse_document(text, (folder,))
    facts = source_facts(document, document.require_material())
    return {**facts, "text_sha256": text_digest(document.text)}


def document_of(text, folder):
    return HostDocument("scene/clay", text, "clay", (folder,))


def now(text, folder, baked):
    return find_changes(document_of(text, folder), baked, file_digest)


@pytest.mark.parametrize("file", ["masks.png", "./masks.png", "ABSOLUTE"])
def test_the_rule_without_materialx_finds_what_the_rule_with_it_finds(folder, file):
    file = str(folder / "masks.png") if file == "ABSOLUTE" else file
    before = recorded(text_of(file=file), folder)
    assert now(text_of(file=file), folder, before) == ()
    # comments, spaces and the order of attributes say nothing
    spaced = text_of(file=file).replace("/>", " />").replace("  ", " ").replace("\n", "\n\n")
    turned = spaced.replace('name="s" type="surfaceshader"', 'type="surfaceshader" name="s"')
    assert turned != spaced
    assert now(f"<!-- exported -->{turned}", folder, before) == ()
    edited = text_of("0.31", file)
    for text in (text_of(file=file), edited):
        with_it = changed_sources(before, recorded(text, folder))
        assert [each.split()[-1] for each in now(text, folder, before)] == [
            each.split()[-1] for each in with_it
        ]
    assert now(edited, folder, before) == ("the material has changed",)
    (folder / "masks.png").write_bytes(IMAGE.read_bytes() + b"\0")
    assert now(text_of(file=file), folder, before) == ("masks.png has changed",)
    assert changed_sources(before, recorded(text_of(file=file), folder)) == [
        "masks.png has changed"
    ]


def test_an_older_bundle_is_not_judged_and_a_missing_image_is_no_change(folder):
    before = recorded(text_of(), folder)
    assert now(text_of(), folder, {**before, "text_sha256": None}) is not None
    older = {name: value for name, value in before.items() if name != "text_sha256"}
    assert now(text_of("0.9"), folder, older) is None
    (folder / "masks.png").unlink()
    assert now(text_of(), folder, before) == ()
    # a manifest comes from outside
    assert now(text_of(), folder, {**before, "textures": [1, {"file": "x"}, None]}) == ()


def test_unreadable_text_is_compared_as_it_is():
    assert text_digest("<a") == text_digest("<a") != text_digest("<a ")


class Host(FakeHost):
    """A scene with clay and wax, whose documents a test changes. Counts what it reads."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.text, self.read = folder, text_of(), []

    def scene_file(self):
        return self.folder / "shot.ma"

    def document(self, material):
        self.read.append(material.name)
        return document_of(self.text, self.folder)


def write_bundle(folder, name, preset="standard"):
    bundle = folder / "neural" / f"{name}.vdg"
    bundle.mkdir(parents=True)
    source = {**recorded(text_of(), folder), "preset": preset, "settings": {}}
    (bundle / "manifest.json").write_text(json.dumps({"source": source}))


def settle(session, qtbot):
    def is_done():
        session.model.tick()
        return not session.model.state.changes._background.is_busy

    qtbot.waitUntil(is_done, timeout=5_000)


def ready(session, qtbot):
    session.ready()
    settle(session, qtbot)
    return session.model


def test_a_changed_material_has_a_card_that_bakes_it_again_with_its_preset(folder, qtbot):
    write_bundle(folder, "clay", preset="final")
    session = Session(Host(folder))
    model = ready(session, qtbot)
    assert model.state.changes.of(CLAY) == ()
    assert [card.key for card in cards_of(model)] == ["baked"]
    session.host.text = text_of("0.9")
    model.refresh_materials()
    session.receive("opened", chosen="clay", materials=[REPORT], trainer="numpy")
    session.receive("state", state="idle", doing="")
    settle(session, qtbot)
    (card,) = cards_of(model)
    assert card.text.startswith("Changed since the bake today at ")
    assert card.detail == "The material has changed" and [a.text for a in card.actions] == [
        *("Bake again", "Show")
    ]
    card.actions[0].do()
    assert session.client.sent[-1].request.preset == "final"


def test_a_save_compares_the_chosen_material_only_and_reading_again_all(folder, qtbot):
    for name in ("clay", "wax"):
        write_bundle(folder, name)
    session = Session(Host(folder))
    model = ready(session, qtbot)
    # opening the panel reads one material
    assert session.host.read == ["clay"]
    session.host.text = text_of("0.9")
    model.documents.compare_saved()
    settle(session, qtbot)
    assert model.state.changes.of(CLAY) == ("the material has changed",)
    wax = model.state.materials[1]
    assert session.host.read == ["clay", "clay"] and model.state.changes.of(wax) == ()
    model.documents.compare_all()
    model.tick()
    settle(session, qtbot)
    assert session.host.read == ["clay", "clay", "wax"]
    assert model.state.changes.of(wax) == ("the material has changed",)
    # another scene has other materials
    model.follow_scene()
    assert model.state.changes.of(wax) == ()


def test_a_comparison_that_ends_late_does_not_replace_a_later_one(folder, qtbot, monkeypatch):
    write_bundle(folder, "clay")
    session = Session(Host(folder))
    model = ready(session, qtbot)
    changes, waiting = model.state.changes, []
    monkeypatch.setattr(changes._background, "run", lambda *work: waiting.append(work))
    for roughness in ("0.3", "0.9"):
        session.host.text = text_of(roughness)
        model.documents.compare_saved()
    for work, then, _ in reversed(waiting):
        then(work())
    assert len(waiting) == 2 and changes.of(CLAY) == ("the material has changed",)


def test_a_material_that_cannot_be_baked_is_not_read_to_be_compared(folder, qtbot):
    write_bundle(folder, "wax")
    host = Host(folder)
    listed = (CLAY, HostMaterial("wax", "wax", "V-Ray", "Verdigris does not read VRayMtl"))
    host.materials = lambda: listed
    session = Session(host)
    model = ready(session, qtbot)
    model.documents.compare_all()
    model.tick()
    assert host.read == ["clay"]
    assert replace(listed[1], problem="") == listed[1]
