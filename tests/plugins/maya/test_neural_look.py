"""The neural material in the viewport, beside the baked look."""

import importlib
import threading
from pathlib import Path

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult, HostMaterial

from ...core.bundle.bundles import make_bundle
from ..hosts import by_name, flattened
from .scenes import BY_FACE, QUAD, SHAPE, TRIANGLE, assigned

GROUP = "Standard_Surface1_neuralSG"
SHOWN = {GROUP: [QUAD], "standardSurface2SG": [TRIANGLE]}
ENGINES = [
    ("OpenGLCoreProfileStrict", "GLSLShader", "glslShader", ".ogsfx"),
    ("DirectX11", "dx11Shader", "dx11Shader", ".fx"),
]


@pytest.fixture
def baked(painting, maya, tmp_path):
    """The first of two materials has a bundle and a baked look."""
    first = by_name(painting, "Standard_Surface1")
    painting.attach(first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    maya.undo_stack.clear()
    maya.selection = [SHAPE]
    return first


@pytest.fixture
def exported(monkeypatch):
    """The words of the commands, which write empty effects."""
    calls = []

    def run_command(words):
        calls.append(words)
        folder = Path(words[-1])
        folder.mkdir(exist_ok=True)
        for suffix in (".ogsfx", ".fx"):
            (folder / f"a{suffix}").touch()

    look = importlib.import_module("verdigris.plugins.maya.scene.neural_look")
    monkeypatch.setattr(look, "run_command", run_command)
    return calls


def press(maya, name="switch_neural_look"):
    """Presses a button, and waits for what its thread leaves to an idle Maya."""
    getattr(importlib.import_module("verdigris.plugins.maya.actions"), name)()
    wait(maya)
    return maya.dialogs[-1]


def wait(maya):
    for thread in threading.enumerate():
        if thread.name == "Verdigris effects":
            thread.join(60)
    maya.idle()


@pytest.mark.parametrize(("engine", "kind", "plugin", "suffix"), ENGINES)
def test_the_button_shows_the_effect_of_the_renderer_and_the_material_again(
    painting, maya, baked, exported, tmp_path, engine, kind, plugin, suffix
):
    maya.options["vp2RenderingEngine"] = engine
    before, materials = maya.state(), painting.materials()
    # the other material has no bundle
    assert press(maya) == "Neural looks are shown: Standard_Surface1"
    folder = tmp_path / "a_maya"
    words = ["export", str(tmp_path / "a.vdg"), "--target", "maya", "-o", str(folder)]
    assert exported == [words]
    assert maya.plugins[plugin] and list(maya.plugins.values()).count(True) == 1
    shader = maya.require("Standard_Surface1_neural")
    assert shader["type"] == kind
    assert shader["attributes"]["shader"] == (folder / f"a{suffix}").as_posix()
    assert maya.connections[f"{GROUP}.surfaceShader"] == "Standard_Surface1_neural.outColor"
    assert assigned(maya) == SHOWN
    # it is no material, and the material is known by its mesh
    assert painting.materials() == materials and painting.meshes(baked) == (SHAPE,)
    assert press(maya) == "The materials are shown again: Standard_Surface1"
    assert assigned(maya) == BY_FACE
    # the nodes are kept
    press(maya)
    assert assigned(maya) == SHOWN and len(maya.undo_stack) == 3
    for _ in range(3):
        maya.undo()
    assert maya.state() == before


def test_looks_replace_each_other_and_baked_look_shows_the_material_again(maya, baked, exported):
    press(maya, "switch_look")
    look = assigned(maya)
    assert look != BY_FACE
    press(maya)
    assert assigned(maya) == SHOWN and len(maya.undo_stack) == 2
    maya.undo()
    assert assigned(maya) == look
    press(maya)
    assert press(maya, "switch_look").startswith("The materials are shown again")
    assert assigned(maya) == BY_FACE


def test_the_variable_wins_and_the_legacy_renderer_is_refused(maya, baked, exported, monkeypatch):
    # both names as public tools set them: OpenGL and VirtualDeviceGL mean the legacy profile
    maya.options["vp2RenderingEngine"] = "OpenGL"
    assert press(maya).startswith("the viewport draws with OpenGL - Legacy, which has no effects:")
    assert not maya.undo_stack and not exported
    monkeypatch.setenv("MAYA_VP2_DEVICE_OVERRIDE", "VirtualDeviceDx11")
    press(maya)
    assert maya.require("Standard_Surface1_neural")["type"] == "dx11Shader"


def test_a_plug_in_that_does_not_load_is_named(maya, baked, exported):
    del maya.plugins["glslShader"]
    before = maya.state()
    said = press(maya)
    assert "load glslShader in Windows > Settings/Preferences > Plug-in Manager" in said
    assert maya.state() == before and not maya.undo_stack and not exported


def test_materials_without_a_bundle_or_a_mesh_are_refused(maya, painting, baked, exported):
    look = importlib.import_module("verdigris.plugins.maya.scene.neural_look")
    for material, said in ((by_name(painting, "standardSurface2"), "bake"), (baked, "assign")):
        with pytest.raises(HostError, match=f"{material.name}: .*: {said} the material"):
            look.switch_neural_looks({material: ()}, print)
    maya.selection = []
    assert press(maya).startswith("no material is selected")
    assert not maya.undo_stack and not exported


def test_the_worker_exports_and_its_error_leaves_the_scene_alone(maya, baked, tmp_path):
    before = maya.state()
    said = press(maya)
    assert "a.vdg" in said and not said.startswith(("verdigris", "This failed"))
    assert maya.state() == before and not maya.undo_stack
    make_bundle(tmp_path / "a.vdg")
    press(maya)
    effect = maya.require("Standard_Surface1_neural")["attributes"]["shader"]
    assert effect == (tmp_path / "a_maya" / "a.ogsfx").as_posix()
    assert "Verdigris" in (tmp_path / "a_maya" / "a.ogsfx").read_text()


def test_maya_is_free_while_effects_are_written(maya, painting, baked, exported, monkeypatch):
    """And what the artist does meanwhile counts: a second press, a scene without the material."""
    look = importlib.import_module("verdigris.plugins.maya.scene.neural_look")
    actions = importlib.import_module("verdigris.plugins.maya.actions")
    may_end, write = threading.Event(), look.run_command
    monkeypatch.setattr(look, "run_command", lambda words: may_end.wait(60) and write(words))
    before = maya.state()
    actions.switch_neural_look()
    assert maya.dialogs[-1] == (
        "Writing the effect of Standard_Surface1: the look appears in some seconds"
    )
    maya.idle()
    actions.switch_neural_look()
    assert "Standard_Surface1: the effect is still being written" in maya.dialogs[-1]
    assert maya.state() == before and not exported
    may_end.set()
    wait(maya)
    assert maya.dialogs[-1] == "Neural looks are shown: Standard_Surface1"
    assert assigned(maya) == SHOWN and len(maya.undo_stack) == 1
    press(maya)
    monkeypatch.setattr(look, "list_materials", tuple)
    assert "Standard_Surface1 is no longer in the scene" in press(maya)
    assert assigned(maya) == BY_FACE


def test_without_a_window_the_look_is_there_at_once(maya, baked, exported):
    maya.batch = True
    importlib.import_module("verdigris.plugins.maya.actions").switch_neural_look()
    assert not maya.deferred and assigned(maya) == SHOWN


def test_materials_of_stages_are_named_with_their_way(maya, painting, baked, exported):
    look = importlib.import_module("verdigris.plugins.maya.scene.neural_look")
    staged = HostMaterial("|stage|shape,/mtl/gold", "gold", look.STAGED)
    way = "gold: Maya draws USD stages without effects: choose Baked Look"
    with pytest.raises(HostError, match=way):
        look.switch_neural_looks({staged: ("|stage|shape,/ball",)}, print)
    meshes = {staged: ("|stage|shape,/ball",), baked: (SHAPE,)}
    said = []
    look.switch_neural_looks(meshes, lambda show: said.append(show()))
    wait(maya)
    assert said == [f"Neural looks are shown: Standard_Surface1; {way}"]
