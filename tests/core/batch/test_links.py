"""Documents that have several names: links are baked once, and that is told."""

import hashlib
import os
import sys

import pytest

from verdigris.core.batch.plan.plan import make_plan
from verdigris.core.batch.run.summary import plan_json, plan_lines, rows_of

from .scenes import document, read, write_documents, write_scene

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="asks for rights to make links")


@pytest.fixture
def props(tmp_path):
    return write_documents(tmp_path / "props", "oak")


def told(scene):
    """Names of the materials, each with the files that are named as links to its document."""
    return {
        entry.name: sorted(link.rpartition("/")[2] for link in entry.links)
        for entry in scene.entries
    }


def test_links_in_a_folder_are_baked_once_by_the_name_that_is_no_link(props):
    (props / "a_link.mtlx").symlink_to("oak.mtlx")
    (props / "deeper").mkdir()
    (props / "deeper" / "z_link.mtlx").symlink_to("../a_link.mtlx")
    (oak,) = read(props).entries
    assert (oak.name, oak.source.name) == ("oak", str(props / "oak.mtlx"))
    assert told(read(props)) == {"oak": ["a_link.mtlx", "z_link.mtlx"]}


def test_hard_links_of_one_folder_are_one_document(props):
    os.link(props / "oak.mtlx", props / "same.mtlx")
    assert told(read(props)) == {"oak": ["same.mtlx"]}


def test_hard_links_in_two_folders_are_two_since_their_textures_are(tmp_path):
    for colour, folder in (("red", tmp_path / "red"), ("blue", tmp_path / "blue")):
        folder.mkdir()
        (folder / "paint.png").write_bytes(colour.encode())
    (tmp_path / "red" / "car.mtlx").write_text(document("car", file="paint.png"))
    os.link(tmp_path / "red" / "car.mtlx", tmp_path / "blue" / "car.mtlx")
    blue, red = (each.inputs.sources["textures"] for each in make_plan(read(tmp_path)).materials)
    assert [each["sha256"] for each in (*blue, *red)] == [
        hashlib.sha256(colour).hexdigest() for colour in (b"blue", b"red")
    ]


def test_a_symbolic_link_elsewhere_reads_the_textures_of_where_it_leads(tmp_path):
    """Which is why it makes no other material."""
    for colour in ("red", "blue"):
        (tmp_path / colour).mkdir()
        (tmp_path / colour / "paint.png").write_bytes(colour.encode())
    (tmp_path / "red" / "car.mtlx").write_text(document("car", file="paint.png"))
    (tmp_path / "blue" / "car.mtlx").symlink_to("../red/car.mtlx")
    (alone,) = make_plan(read(tmp_path / "blue")).materials
    (both,) = make_plan(read(tmp_path)).materials
    assert alone.inputs.sources["textures"] == both.inputs.sources["textures"]
    assert both.entry.source.name == str(tmp_path / "red" / "car.mtlx")


def test_copies_are_documents_of_their_own(props):
    (props / "copy.mtlx").write_bytes((props / "oak.mtlx").read_bytes())
    assert told(read(props)) == {"oak": [], "copy-oak": []}


def test_a_document_that_is_broken_is_told_once(props):
    (props / "oak.mtlx").write_text("<materialx")
    (props / "link.mtlx").symlink_to("oak.mtlx")
    (oak,) = read(props).entries
    assert oak.problem.startswith(f"{props / 'oak.mtlx'}: ")
    (props / "oak.mtlx").unlink()
    (lost,) = read(props).entries
    assert lost.name == "link"


@pytest.mark.parametrize("sources", [["props/*.mtlx"], ["props/oak.mtlx", "props/link.mtlx"]])
@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_patterns_and_several_sources_bake_links_once(sources, link, props, tmp_path):
    link(props / "oak.mtlx", props / "link.mtlx")
    (entry,) = read(write_scene(tmp_path / "scene.json", sources)).entries
    assert entry.name == "oak"
    names = {entry.source.name, *entry.links}
    assert names == {str(props / "oak.mtlx"), str(props / "link.mtlx")}


def test_two_ways_to_write_a_path_are_no_link(props, tmp_path):
    sources = ["props/oak.mtlx", "props/../props/oak.mtlx", "props"]
    assert told(read(write_scene(tmp_path / "scene.json", sources))) == {"oak": []}


def test_a_name_for_each_bakes_a_link_on_purpose(props, tmp_path):
    (props / "link.mtlx").symlink_to("oak.mtlx")
    sources = [
        "props/oak.mtlx",
        {"source": "props/link.mtlx", "name": "far_oak", "preset": "final"},
    ]
    assert told(read(write_scene(tmp_path / "scene.json", sources))) == {"oak": [], "far_oak": []}


def test_plan_summary_and_json_say_so(props):
    (props / "link.mtlx").symlink_to("oak.mtlx")
    plan = make_plan(read(props, out=props / "baked"))
    said = f"baked once: {props / 'link.mtlx'} leads to its document"
    assert [line.strip() for line in plan_lines(plan)][1] == said
    assert plan_json(plan)["materials"][0]["links"] == [str(props / "link.mtlx")]
    (row,) = rows_of(plan, [])
    assert row.notes == (said,)


def test_of_many_links_three_are_named(props):
    for number in range(5):
        (props / f"z{number}.mtlx").symlink_to("oak.mtlx")
    (oak,) = read(props).entries
    shown = ", ".join(str(props / f"z{number}.mtlx") for number in range(3))
    assert oak.links_note == f"baked once: {shown} and 2 more lead to its document"
