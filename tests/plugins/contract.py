"""The tests that every host must pass.

A module that tests a host defines a fixture `harness` of the class below and imports the tests:
`from ..contract import *`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import BakedResult, Host, HostMaterial
from verdigris.core.hosts.probe import probe
from verdigris.core.material.load.mtlx_document import parse_document

# pytest finds these in the modules that import them
__all__ = [
    "test_a_document_resolves_in_the_search_folders",
    "test_a_mesh_has_triangles_with_uv_and_unit_normals",
    "test_a_missing_material_is_named",
    "test_a_result_is_noted_at_its_material_only",
    "test_a_second_result_replaces_the_first",
    "test_materials_have_names_and_unique_keys",
    "test_noting_a_result_is_one_undo_step",
    "test_painted_weights_are_read_by_corner",
    "test_painting_starts_with_weights_of_one_or_an_error",
    "test_reading_leaves_the_scene_unchanged",
    "test_the_file_of_the_scene_is_known",
    "test_the_host_implements_the_protocol",
    "test_the_identity_of_a_material_is_stable_and_a_missing_one_is_an_error",
    "test_the_probe_is_quick_and_changes_nothing",
    "test_the_steps_of_an_export_by_hand_are_sentences",
    "test_warnings_of_a_scene_are_lines_and_the_manual_is_there",
]


@dataclass
class Harness:
    """A host with a scene of two materials, and a mesh on the first of them."""

    host: Host
    scene: Path
    painted: dict[str, Any] = field(default_factory=dict)

    def snapshot(self) -> Any:
        """The contents of the scene, for comparison."""
        raise NotImplementedError

    def paint(self, mesh: str, weight: float) -> None:
        """Gives every corner of the first triangle of a mesh a weight."""
        raise NotImplementedError

    def undo(self) -> None:
        """Undoes one step, as the artist would."""
        raise NotImplementedError

    @property
    def first(self) -> HostMaterial:
        return self.host.materials()[0]


def test_the_host_implements_the_protocol(harness):
    assert isinstance(harness.host, Host)
    assert harness.host.name


def test_materials_have_names_and_unique_keys(harness):
    found = harness.host.materials()
    assert len(found) >= 2
    assert len({each.key for each in found}) == len(found)
    assert all(each.name and each.source for each in found)
    assert {each.key for each in harness.host.selected_materials()} <= {each.key for each in found}


def test_the_identity_of_a_material_is_stable_and_a_missing_one_is_an_error(harness):
    before = {each: harness.host.identity(each) for each in harness.host.materials()}
    assert all(before.values()) and len(set(before.values())) == len(before)
    assert {each: harness.host.identity(each) for each in harness.host.materials()} == before
    with pytest.raises(VerdigrisError, match="gone_for_good"):
        harness.host.identity(HostMaterial("gone_for_good", "gone_for_good", "nowhere"))


def test_a_document_resolves_in_the_search_folders(harness):
    for material in harness.host.materials():
        if material.problem:
            with pytest.raises(VerdigrisError):
                harness.host.document(material)
            continue
        document = harness.host.document(material)
        loaded = parse_document(document.text, document.search, document.name)
        loaded.check(loaded.require_material(document.material))


def test_a_missing_material_is_named(harness):
    gone = HostMaterial("gone_for_good", "gone_for_good", "nowhere")
    for ask in (harness.host.document, harness.host.meshes, harness.host.attached):
        if ask == harness.host.attached and harness.host.name == "files":
            continue
        with pytest.raises(VerdigrisError, match="gone_for_good"):
            ask(gone)
    with pytest.raises(VerdigrisError, match="gone_for_good"):
        harness.host.mesh("gone_for_good")


def test_a_mesh_has_triangles_with_uv_and_unit_normals(harness):
    (name, *_) = harness.host.meshes(harness.first)
    mesh = harness.host.mesh(name, harness.first)
    count = len(mesh.position)
    assert count > 0
    assert mesh.position.shape == mesh.normal.shape == (count, 3, 3)
    assert mesh.uv.shape == (count, 3, 2)
    assert all(part.dtype == np.float32 for part in (mesh.position, mesh.normal, mesh.uv))
    assert np.allclose(np.linalg.norm(mesh.normal, axis=-1), 1, atol=1e-5)
    edges = mesh.position[:, 1:] - mesh.position[:, :1]
    faces = np.cross(edges[:, 0], edges[:, 1])
    assert (np.einsum("tc,tkc->tk", faces, mesh.normal) > 0).all(), "normals and winding disagree"


def test_painting_starts_with_weights_of_one_or_an_error(harness):
    (name, *_) = harness.host.meshes(harness.first)
    if not harness.host.can_paint:
        with pytest.raises(VerdigrisError, match="paint in the panel"):
            harness.host.start_painting(name)
        return
    assert harness.host.mesh(name, harness.first).weights is None
    harness.host.start_painting(name)
    assert "verdigris_weights" in harness.host.weight_sets(name)
    weights = harness.host.mesh(name, harness.first).weights
    assert weights is not None and (weights == 1).all()


def test_painted_weights_are_read_by_corner(harness):
    (name, *_) = harness.host.meshes(harness.first)
    if harness.host.can_paint:
        harness.host.start_painting(name)
    harness.paint(name, 0.5)
    mesh = harness.host.mesh(name, harness.first)
    assert mesh.weights is not None and mesh.weights.shape == mesh.uv.shape[:2]
    assert mesh.weights.dtype == np.float32
    assert (mesh.weights[0] == 0.5).all()
    assert (mesh.weights == 1).any()


def test_a_result_is_noted_at_its_material_only(harness, tmp_path):
    first, second, *_ = harness.host.materials()
    assert harness.host.attached(first) is None
    harness.host.attach(first, BakedResult(tmp_path / "first.vdg"))
    assert harness.host.attached(first) == tmp_path / "first.vdg"
    assert harness.host.attached(second) is None


def test_a_second_result_replaces_the_first(harness, tmp_path):
    harness.host.attach(harness.first, BakedResult(tmp_path / "first.vdg"))
    harness.host.attach(harness.first, BakedResult(tmp_path / "second.vdg"))
    assert harness.host.attached(harness.first) == tmp_path / "second.vdg"


def test_noting_a_result_is_one_undo_step(harness, tmp_path):
    before = harness.snapshot()
    harness.host.attach(harness.first, BakedResult(tmp_path / "first.vdg"))
    assert harness.snapshot() != before
    harness.undo()
    assert harness.snapshot() == before
    assert harness.host.attached(harness.first) is None


def test_reading_leaves_the_scene_unchanged(harness):
    before = harness.snapshot()
    for material in harness.host.materials():
        if not material.problem:
            # a text that differs would be taken for a change since the bake
            read = [harness.host.document(material).text for _ in range(2)]
            assert read[0] == read[1]
        for name in harness.host.meshes(material):
            harness.host.mesh(name, material)
            harness.host.weight_sets(name)
        harness.host.attached(material)
    harness.host.selected_materials()
    assert harness.snapshot() == before


def test_warnings_of_a_scene_are_lines_and_the_manual_is_there(harness):
    assert all(line and "\n" not in line for line in harness.host.scene_warnings())
    assert harness.host.manual.is_file()


def test_the_steps_of_an_export_by_hand_are_sentences(harness):
    steps = harness.host.export_steps
    assert steps or harness.host.name == "files"
    assert all(step.endswith(".") and "\n" not in step for step in steps)


def test_the_file_of_the_scene_is_known(harness):
    assert harness.host.scene_file() == harness.scene


def test_the_probe_is_quick_and_changes_nothing(harness):
    before = harness.snapshot()
    probe(harness.host)
    began = time.process_time()
    found = probe(harness.host)
    assert time.process_time() - began < 0.2
    assert harness.snapshot() == before
    assert found.host == harness.host.name and found.interpreter
    facts = vars(found.facts).values()
    assert not [text for group in facts for text in group.values() if "unknown" in text]
    assert all(": " in why or " no " in why or "not" in why for why in found.off.values())
    assert "Bake" in found.features and "writable" in found.folders.values()
