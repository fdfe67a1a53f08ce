"""The layers with which stages of a scene show its bakes."""

from pxr import Usd, UsdShade

from verdigris.core.batch.plan.plan import make_plan
from verdigris.core.batch.run.looks import write_looks_of
from verdigris.core.flatten.viewport import texture_paths

from .scenes import document, read, write_baked

REFERENCE = """def "{name}" (
    references = @./props.mtlx@</MaterialX/Materials>
)
{{
}}
"""


def test_a_stage_gets_a_layer_and_a_stage_with_the_looks_of_its_bakes(tmp_path):
    (tmp_path / "props.mtlx").write_text(document("oak", "pine", "ash"))
    file = tmp_path / "set.usda"
    head = '#usda 1.0\n(\n    defaultPrim = "one"\n    upAxis = "Y"\n    metersPerUnit = 1\n)\n'
    file.write_text(head + REFERENCE.format(name="one") + REFERENCE.format(name="two"))
    plan = make_plan(read(file, out=tmp_path / "baked"))
    # what is referenced to two places is baked once
    by_name = {each.entry.name: each for each in plan.materials}
    assert {name: each.entry.prims for name, each in by_name.items()} == {
        name: (f"/one/{name}", f"/two/{name}") for name in ("oak", "pine", "ash")
    }
    assert list(write_looks_of(plan)) == []
    for name in ("oak", "pine"):
        write_baked(by_name[name])
    paths = texture_paths(tmp_path / "baked" / "oak.vdg")
    paths["base_color"].write_bytes(b"image")
    shown = tmp_path / "baked" / "set.baked.usda"
    [line] = write_looks_of(plan)
    assert line == (
        f"looks: {shown}, from the layer set.looks.usda; 1 of 2 bakes have no plain textures to "
        "show: add --viewport-textures"
    )
    # a reader of documents is missing here, and the layer is read without it
    layer = Usd.Stage.Open(str(shown.with_name("set.looks.usda")))
    for place in ("/one", "/two"):
        oak, pine, ash = (layer.GetPrimAtPath(f"{place}/{name}") for name in ("oak", "pine", "ash"))
        assert [prim.GetAttribute("verdigris:bundle").Get().path for prim in (oak, pine)] == [
            "./oak.vdg",
            "./pine.vdg",
        ]
        assert not ash
        image = UsdShade.Shader(
            layer.GetPrimAtPath(f"{place}/oak/verdigris_look/preview_base_color")
        )
        assert image.GetInput("file").Get().path == "./oak_base_color.png"
        assert not pine.GetChild("verdigris_look")
