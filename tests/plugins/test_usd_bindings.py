"""Which meshes and faces of a stage have a material: USD's rules of bindings (UsdShade's
MaterialBindingAPI: purposes, collections, strength, subsets, instances)."""

from pathlib import Path

import pytest
from pxr import Usd

from verdigris.plugins.common.usd_stages import bound_meshes, mesh_of_stage, meshes_by_material


@pytest.fixture
def stage():
    return Usd.Stage.Open(str(Path(__file__).with_name("bindings.usda")))


def test_bindings_are_those_that_usd_resolves(stage):
    found = {path: set(meshes) for path, meshes in meshes_by_material(stage).items()}
    [shared] = [path for path in found if path.endswith("/own")]
    assert found.pop(shared) == {"/one/shape"}
    assert found == {
        "/mtl/direct": {"/set/plain", "/set/both", "/set/split"},
        "/mtl/full": {"/set/by_purpose"},
        "/mtl/preview": {"/set/both"},
        "/mtl/collected": {"/set/in_collection"},
        "/mtl/strong": {"/set/above/below"},
        "/mtl/part": {"/set/split"},
    }
    # a material of any instance is the one that they share
    assert bound_meshes(stage, "/one/own") == bound_meshes(stage, "/two/own") == ["/one/shape"]
    assert bound_meshes(stage, "/mtl/unused") == bound_meshes(stage, "/gone") == []


@pytest.mark.parametrize(
    ("path", "material", "triangles", "left_out"),
    [
        ("/set/split", "/mtl/part", 1, "2 of 3"),
        # the faces of the subset have another material than the rest of the mesh
        ("/set/split", "/mtl/direct", 3, "1 of 3"),
        ("/set/above/below", "/mtl/strong", 4, ""),
        ("/set/both", "/mtl/preview", 4, ""),
        ("/one/shape", "/one/own", 4, ""),
        ("/set/plain", "/mtl/unused", 4, ""),
        ("/set/plain", "", 4, ""),
    ],
)
def test_a_mesh_has_the_faces_with_the_material(stage, path, material, triangles, left_out):
    read = mesh_of_stage(stage, path, material, "", "show", ":")
    assert len(read.uv) == triangles
    notes = (f"show:{path}: {left_out} faces have another material",) if left_out else ()
    assert read.notes == notes
