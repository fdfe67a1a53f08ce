"""The rungs of a ladder as variants on a stage of Houdini."""

from dataclasses import replace

import pytest
from pxr import Sdf

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult, LadderLook, RungLook, ShowsRungs

from ..hosts import by_name


@pytest.fixture
def ladder(tmp_path):
    (tmp_path / "gold.usdc").write_bytes(b"")
    rungs = RungLook("pbr", "glTF textures"), RungLook("vertex", "Vertex colours")
    return LadderLook("gold", rungs, tmp_path / "gold.usdc", BakedResult(tmp_path / "gold.vdg"))


@pytest.mark.parametrize("name", ["gold", "nested"])
def test_a_branch_of_two_nodes_references_the_ladder_and_chooses_a_variant(
    name, harness, ladder, tmp_path
):
    host, material = harness.host, by_name(harness.host, name)
    assert isinstance(host, ShowsRungs)
    before = harness.snapshot()
    said = host.attach_rungs(material, ladder)
    assert said == "/stage/gold_rung chooses the rung: pbr, vertex. Merge it where the mesh is."
    nodes = harness.houdini.nodes
    assert nodes["/stage/gold_ladder"]["parms"] == {
        "filepath1": "$HIP/gold.usdc", "primpath1": "/gold"
    }  # fmt: skip
    chosen = nodes["/stage/gold_rung"]
    assert chosen["input"] == "/stage/gold_ladder"
    assert chosen["parms"] == {
        "num_variants": 1, "primpattern1": "/gold", "variantset1": "rung", "variantname1": "pbr"
    }  # fmt: skip
    assert host.attached(material) == tmp_path / "gold.vdg"
    harness.undo()
    assert harness.snapshot() == before
    # again: the artist's choice stays
    host.attach_rungs(material, ladder)
    nodes = harness.houdini.nodes
    chosen = nodes["/stage/gold_rung"]
    chosen["parms"]["variantname1"] = "vertex"
    host.attach_rungs(material, ladder)
    assert nodes["/stage/gold_rung"]["parms"]["variantname1"] == "vertex"
    assert sum("/stage/gold_" in each for each in nodes) == 2


@pytest.mark.parametrize(("name", "expected"), [("Lack ü-2", "Lack___2"), ("2 tone", "_2_tone")])
def test_names_of_files_become_names_of_nodes_and_prims(harness, ladder, name, expected):
    said = harness.host.attach_rungs(harness.first, replace(ladder, name=name))
    path = said.partition(" ")[0]
    assert path == f"/stage/{expected}_rung"
    assert Sdf.Path.IsValidPathString(harness.houdini.nodes[path]["parms"]["primpattern1"])


def test_what_fails_before_a_change_does_not_undo_the_ladder_before_it(harness, ladder):
    harness.host.attach_rungs(harness.first, ladder)
    before = harness.snapshot()
    harness.houdini.refuses = {"set", "setUserData"}
    with pytest.raises(HostError, match="levels of detail: Houdini reports"):
        harness.host.attach_rungs(harness.first, ladder)
    assert harness.snapshot() == before


def test_a_ladder_without_usd_is_refused_with_the_remedy(harness, ladder):
    before = harness.snapshot()
    with pytest.raises(HostError, match=r"gold: the ladder has no USD file .* install usd-core"):
        harness.host.attach_rungs(harness.first, replace(ladder, stage=None))
    assert harness.snapshot() == before
