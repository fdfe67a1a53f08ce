"""The self-test fails at whatever is not as the scene has it, and bakes."""

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import HostError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.worker.client.client import WorkerClient
from verdigris.plugins.common.selftest.read_back import Surface
from verdigris.plugins.common.selftest.scratch import (
    BASE_COLOUR,
    METALNESS,
    NORMAL,
    ROUGHNESS,
    Expected,
    Scratch,
    write_images,
)
from verdigris.plugins.common.selftest.short_bake import bake_briefly
from verdigris.plugins.common.selftest.walk import run_selftest

from ..core.worker.running_worker import BRISK_WORKER, QUICK

GOLD = """<materialx version="1.39">
<nodegraph name="NG">
  <image name="colour" type="color3">
    <input name="file" type="filename" value="textures\\scratch_colour.png"/></image>
  <image name="ridges" type="vector3">
    <input name="file" type="filename" value="scratch_normal.png"/></image>
  <normalmap name="bump" type="vector3"><input name="in" type="vector3" nodename="ridges"/>
  </normalmap>
  <output name="tint" type="color3" nodename="colour"/>
  <output name="normal" type="vector3" nodename="bump"/>
</nodegraph>
<constant name="gloss" type="float"><input name="value" type="float" value="0.37"/></constant>
<standard_surface name="surface" type="surfaceshader">
  <input name="base_color" type="color3" nodegraph="NG" output="tint"/>
  <input name="specular_roughness" type="float" nodename="gloss"/>
  <input name="metalness" type="float" value="0.5"/>
  <input name="normal" type="vector3" nodegraph="NG" output="normal"/>
</standard_surface>
<surfacematerial name="gold" type="material">
  <input name="surfaceshader" type="surfaceshader" nodename="surface"/></surfacematerial>
</materialx>
"""
NO_BRUSH = {"start_painting": "plain files have no brush"}
IMAGES = {BASE_COLOUR: "scratch_colour.png", NORMAL: "scratch_normal.png"}
WHOLE = Expected("gold", {ROUGHNESS: 0.37}, IMAGES, {METALNESS: "rust"})


class Notes(FilesHost):
    """A host whose documents have notes."""

    notes = ("the node rust is left out",)

    def document(self, material):
        found = super().document(material)
        return type(found)(found.name, found.text, found.material, found.search, self.notes)


def walk(expected=WHOLE, text=GOLD, host=Notes, bake=None, **more):
    """A self-test of plain files."""

    def make_scene(folder):
        write_images(folder)
        (folder / "gold.mtlx").write_text(text.replace("textures\\", ""))
        files.open_scene(folder / "gold.mtlx")
        return Scratch((expected,), **{"refused": NO_BRUSH, **more})

    files = host()
    return run_selftest(lambda: files, make_scene, bake)


def failures(report):
    return {step.name: step.detail for step in report.steps if step.outcome == "failed"}


def test_the_parts_of_a_surface_are_read_through_graphs_and_constants():
    surface = Surface(GOLD, "gold")
    assert surface.value(ROUGHNESS) == (0.37,) and surface.value(METALNESS) == (0.5,)
    # a folder of Windows is no part of the name
    assert surface.files(BASE_COLOUR) == ("scratch_colour.png",)
    assert surface.nodes(NORMAL) == ("normalmap", "image")
    assert surface.value(BASE_COLOUR) is None
    assert surface.describe(NORMAL) == "fed by normalmap, image"


def test_a_scene_that_is_read_whole_passes():
    report = walk()
    assert report.passed and not failures(report)
    assert report.documents["gold"].startswith("<materialx")


LOST = GOLD.replace('<input name="normal" type="vector3" nodegraph="NG" output="normal"/>', "")


@pytest.mark.parametrize(
    ("given", "step", "why"),
    [
        ({"text": LOST}, "document has the material (gold, file)",
         "normal does not have the image scratch_normal.png, but not set"),
        ({"text": GOLD.replace("0.37", "0.2")}, "document has the material (gold, file)",
         "roughness is 0.2 in the document, and 0.37 in the scene"),
        ({"text": GOLD.replace('<input name="metalness" type="float" value="0.5"/>', ""),
          "host": FilesHost}, "document has the material (gold, file)",
         "metalness is not set, and no note names the node rust"),
        ({"refused": {}, "checks": {"brush": lambda: FilesHost().start_painting("plate")}},
         "brush", "plain files have no brush"),
        ({"expected": Expected("lead")}, "the list has the material lead",
         "lead is not listed: gold (file)"),
        ({"expected": Expected("gold", refused={"document": "nobody translates it"})},
         "document (gold, file)", "must be refused, because nobody translates it, and was not"),
    ],
)  # fmt: skip
def test_each_difference_from_the_scene_fails(given, step, why):
    report = walk(**given)
    found = failures(report)
    assert not report.passed and set(found) == {step}
    assert why in found[step]


def test_a_material_that_is_refused_fails_unless_it_must_be(monkeypatch):
    def refuse(*_):
        raise HostError("gold is not in the scene")

    monkeypatch.setattr(Notes, "document", refuse)
    assert failures(walk()) == {"document (gold, file)": "gold is not in the scene"}
    report = walk(Expected("gold", refused={"document": "it has gone"}))
    assert report.passed
    assert [step.expected for step in report.steps if step.outcome == "refused"] == ["it has gone"]


def test_the_first_material_is_baked_attached_and_read_back():
    def bake(document, folder):
        request = BakeRequest(changes=QUICK)
        return bake_briefly(document, folder, request, lambda: WorkerClient(BRISK_WORKER))

    report = walk(bake=bake)
    assert report.passed, failures(report)
    assert report.baked["device"] and report.baked["python"] and report.baked["steps"] == "60"
    assert report.probe.worker["device"] == report.baked["device"]
    assert [step.name for step in report.steps][-4:] == [
        "attach (gold, the bake)",
        "attached (gold, the bake)",
        "the bundle is complete",
        "probe",
    ]


def test_a_worker_that_ends_fails_the_bake(tmp_path):
    command = ["/bin/sh", "-c", "exit 3"]
    report = walk(
        bake=lambda document, folder: bake_briefly(
            document, folder, BakeRequest(), lambda: WorkerClient(command)
        )
    )
    ((step, why),) = failures(report).items()
    assert step == "bake (gold)" and "worker" in why
