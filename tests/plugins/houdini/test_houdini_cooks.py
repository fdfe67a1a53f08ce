"""What opening the panel costs a scene: no cook, no node, no change, and little time."""

import time

import fake_houdini
import numpy as np
import pytest

from verdigris.core.base.errors import HostError

from ...ui.fake_session import FakeClient
from ..hosts import by_name
from .scenes import GOLD, LIBRARY, PLATE

SIMULATION = "/obj/water/simulation"


def open_panel(host):
    """Everything that opening the panel asks of the host, without the worker."""
    from verdigris.ui.model.panel_model import PanelModel

    model = PanelModel(host, FakeClient)
    model.refresh_materials()
    return model


@pytest.fixture
def large(houdini, host, tmp_path):
    """500 objects with 60 materials, and a simulation that a hidden object and a stage show."""
    scene = houdini
    for number in range(60):
        path = scene.add(f"/mat/m{number}", "mtlxstandard_surface", material=True)
        text = GOLD.replace("gold", f"m{number}")
        (tmp_path / f"m{number}.usda").write_text(text)
        scene.stages[path] = str(tmp_path / f"m{number}.usda")
    for number in range(500):
        path = scene.add(f"/obj/thing{number}", "geo")
        scene.nodes[path]["parms"]["shop_materialpath"] = f"/mat/m{number % 60}"
        scene.add(f"{path}/shape", "null", display=True)
        scene.geometries[f"{path}/shape"] = fake_houdini.plate()
        # nobody has displayed it yet
        scene.stale.add(f"{path}/shape")
    scene.add("/obj/water", "geo", shown=False)
    scene.add(SIMULATION, "null")
    scene.add("/obj/water/shape", "null", input=SIMULATION, display=True)
    scene.geometries[SIMULATION] = fake_houdini.plate()
    scene.add("/stage/imported", "null", input=LIBRARY, refs=["/obj/water/shape"], display=True)
    scene.nodes[LIBRARY]["display"] = False
    scene.stale |= {SIMULATION, "/obj/water/shape", "/stage/imported"}
    scene.unsaved = False
    return scene


def test_opening_the_panel_on_a_large_scene_cooks_nothing_of_it(large, host):
    large.selection = ["/obj/thing3", "/obj/water"]
    began = time.process_time()
    model = open_panel(host)
    spent = time.process_time() - began
    assert not [path for path in large.cooks if "verdigris" not in path], large.cooks
    assert len([each for each in model.state.materials if each.key.startswith("/mat/m")]) == 60
    assert model.state.current.name == "m3"
    # objects that were not read are there by their names, the selected one first
    names = model.state.meshes.names
    assert len(names) == 9 and names[0] == "/obj/thing3"
    notices = [each.text for each in model.state.notices]
    (line,) = [text for text in notices if "/stage/imported" in text]
    assert "have not been cooked" in line and "refresh" in line
    assert spent < 1, spent
    # what the artist asks for is read
    assert model.show_mesh(names[0])
    assert large.cooks["/obj/thing3/shape"] == 1 and not large.cooks[SIMULATION]


def test_listing_makes_no_node_and_leaves_the_scene_saved(large, host):
    before = large.state()
    for material in host.materials():
        host.meshes(material)
        host.attached(material)
        host.identity(material)
    host.selected_materials()
    host.scene_warnings()
    assert large.state() == before and not large.unsaved and not large.cooks


def test_one_hidden_network_translates_every_material_outside_of_undo(large, host):
    before, stage = set(large.nodes), [path for path in large.nodes if path.startswith("/stage")]
    for name in ("m1", "m2", "m1"):
        assert host.document(by_name(host, name)).material == name
    made = set(large.nodes) - before
    assert len(made) == 2 and large.undo_stack == []
    (network,) = [path for path in made if large.nodes[path]["type"] == "lopnet"]
    assert large.nodes[network]["hidden"] and network.startswith("/obj/")
    assert [path for path in large.nodes if path.startswith("/stage")] == stage
    # it is neither a mesh nor a place of materials
    assert not any("verdigris" in each.key for each in host.materials())


def test_a_scene_that_a_program_saves_does_not_keep_the_network(large, host, tmp_path):
    large.path = str(tmp_path / "shot.hip")
    host.document(by_name(host, "m1"))
    host.save_scene()
    assert not any("verdigris" in path for path in large.saved[-1])
    assert host.document(by_name(host, "m1")).text


def test_without_a_window_everything_is_cooked(large, host):
    large.window = False
    keys = [each.key for each in host.materials()]
    assert "/stage/imported:/materials/tiles" in keys
    assert large.cooks[SIMULATION] == 1


def test_a_selected_lop_is_cooked_unless_it_waits_for_geometry(large, host, tmp_path):
    large.add("/stage/other", "null", input=LIBRARY)
    large.stale.add("/stage/other")
    large.selection = ["/stage/other"]
    assert [each.name for each in host.selected_materials()] == ["nested", "cascade", "tiles"]
    assert large.cooks == {"/stage/other": 1}
    large.selection = ["/stage/imported"]
    assert host.selected_materials() == ()
    (line,) = [text for text in host.scene_warnings() if "not been cooked" in text]
    assert "/obj/water/shape" in line


def test_materials_of_a_stage_stay_listed_while_it_waits_for_a_cook(houdini, host):
    before = host.materials()
    houdini.stale.add(LIBRARY)
    assert host.materials() == before and not houdini.cooks
    assert host.meshes(by_name(host, "cascade")) == () and not houdini.cooks
    # reading one is a request
    assert host.document(by_name(host, "cascade")).text
    assert houdini.cooks[LIBRARY] == 1


def test_displayed_objects_come_before_hidden_ones(houdini, host):
    for name, shown in (("a", False), ("b", True)):
        houdini.add(f"/obj/{name}", "geo", shown=shown)
        houdini.nodes[f"/obj/{name}"]["parms"]["shop_materialpath"] = "/mat/gold"
        houdini.add(f"/obj/{name}/shape", "null", display=True)
        houdini.stale.add(f"/obj/{name}/shape")
    assert host.meshes(by_name(host, "gold")) == (PLATE, "/obj/b", "/obj/a")
    houdini.selection = ["/obj/a"]
    assert host.meshes(by_name(host, "gold"))[0] == "/obj/a"


def test_a_material_node_names_its_material_before_it_cooks(houdini, host):
    houdini.nodes[PLATE]["parms"]["shop_materialpath"] = ""
    houdini.add(f"{PLATE}/assign", "material", input=f"{PLATE}/shape", display=True)
    houdini.nodes[f"{PLATE}/shape"]["display"] = False
    houdini.nodes[f"{PLATE}/assign"]["parms"]["shop_materialpath1"] = "/mat/gold"
    houdini.stale.add(f"{PLATE}/assign")
    assert host.meshes(by_name(host, "gold")) == (PLATE,)
    assert not houdini.cooks


def test_the_bindings_of_a_stage_are_read_once_for_each_of_its_cooks(houdini, host, monkeypatch):
    import verdigris.plugins.houdini.scene.stage as stage

    read, passes = stage.meshes_by_material, []

    def counted(each):
        passes.append(each)
        return read(each)

    monkeypatch.setattr(stage, "meshes_by_material", counted)
    cascade, nested = by_name(host, "cascade"), by_name(host, "nested")
    for _ in range(3):
        assert host.meshes(cascade) == host.meshes(nested) == (f"{LIBRARY}:/plate",)
    assert len(passes) == 1
    houdini.stale.add(LIBRARY)
    host.document(nested)
    host.meshes(nested)
    assert len(passes) == 2


MILLION = 250_000


def test_a_million_vertices_are_read_without_a_loop_over_them(houdini, host):
    """Quads that share points in a row, read as arrays."""
    first = np.arange(MILLION, dtype=np.int64)[:, None] * 2
    geometry = {
        "faces": first + np.array((0, 2, 3, 1)),
        "points": {"P": np.zeros((2 * MILLION + 2, 3), np.float32)},
        "vertices": {"uv": np.zeros((4 * MILLION, 3), np.float32)},
        "prims": {},
    }
    geometry["points"]["P"][:, 0] = np.arange(2 * MILLION + 2) // 2
    geometry["points"]["P"][1::2, 1] = 1
    houdini.geometries[f"{PLATE}/shape"] = geometry
    began = time.process_time()
    mesh = host.mesh(PLATE)
    spent = time.process_time() - began
    assert len(mesh.position) == 2 * MILLION
    assert not geometry["counts"].get("vertices")
    # both triangles of a quad have its corners, turned round
    assert np.ptp(mesh.position[-2:, :, 0]) == 1 and (mesh.normal[..., 2] < 0).all()
    assert spent < 4, spent


def test_primitives_that_are_no_polygons_are_left_out_by_name(houdini, host):
    geometry = houdini.geometries[f"{PLATE}/shape"]
    geometry["kinds"] = ["NURBSSurface", "Polygon"]
    mesh = host.mesh(PLATE)
    assert len(mesh.uv) == 1
    assert "1 of 2 primitives are no polygons" in mesh.notes[0]
    geometry["kinds"] = ["NURBSSurface"] * 2
    with pytest.raises(HostError, match="has no polygons: convert it to polygons"):
        host.mesh(PLATE)


@pytest.mark.parametrize("call", ["SopNode.geometry", "LopNode.stage"])
@pytest.mark.parametrize("kind", ["OperationFailed", "PermissionError", "ObjectWasDeleted"])
def test_an_error_of_houdini_is_an_error_of_the_host(houdini, host, call, kind):
    gold, nested = by_name(host, "gold"), by_name(host, "nested")
    houdini.fails[call] = getattr(houdini.hou, kind)("nobody knows why")
    for ask in (host.materials, host.selected_materials, host.scene_warnings):
        try:
            ask()
        except HostError as failure:
            assert "nobody knows why" in str(failure)
    for material in (gold, nested):
        for ask in (host.document, host.meshes, host.attached):
            try:
                ask(material)
            except HostError as failure:
                assert "nobody knows why" in str(failure)
