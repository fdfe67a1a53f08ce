"""The self-test of the plug-in in Houdini. The launcher selftest.py runs it in hython."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.selftest.scratch import (
    BASE_COLOUR,
    COLOUR_VALUE,
    NO_WINDOW,
    NORMAL,
    ROUGHNESS,
    ROUGHNESS_VALUE,
    Expected,
    Scratch,
    write_images,
)
from verdigris.plugins.common.selftest.walk import run_program
from verdigris.plugins.houdini.without_window import start

if TYPE_CHECKING:
    import hou

_PLAIN = {BASE_COLOUR: COLOUR_VALUE, ROUGHNESS: ROUGHNESS_VALUE}


def make_scene(folder: Path) -> Scratch:
    """Makes an unsaved scene: a grid with a material of /mat that has images, a material that only
    Karma has, one in a network of the grid, one on a stage, and the LOP that bakes."""
    import hou

    from verdigris.plugins.houdini.nodes.bake_lop import TYPE_NAME
    from verdigris.plugins.houdini.nodes.build_assets import require_lop

    hou.hipFile.clear(suppress_save_prompt=True)
    images = write_images(folder)
    gold = _surface("/mat", "gold")
    _feed(gold, "base_color", _image("colour", images.colour, "color3"))
    normal = hou.node("/mat").createNode("mtlxnormalmap", "bump")
    normal.setNamedInput("in", _image("normal", images.normal, "vector3"), "out")
    _feed(gold, "normal", normal)
    hair = hou.node("/mat").createNode("kma_hair", "hair")
    hair.setGenericFlag(hou.nodeFlag.Material, True)
    thing = hou.node("/obj").createNode("geo", "scratch")
    grid = thing.createNode("grid", "grid")
    unwrap = thing.createNode("uvtexture", "uv")
    unwrap.setInput(0, grid)
    unwrap.setDisplayFlag(True)
    thing.parm("shop_materialpath").set(gold.path())
    _surface(thing.createNode("matnet", "scratch").path(), "inner")
    staged = _surface("/mat", "staged")
    library = hou.node("/stage").createNode("materiallibrary", "scratch")
    library.parm("matpathprefix").set("/materials/")
    library.parm("materials").set(1)
    library.parm("matnode1").set(staged.path())
    library.parm("matpath1").set("staged")
    library.setDisplayFlag(True)
    try:
        require_lop()
    except HostError:
        # a step of its own reports it
        pass
    else:
        bake = hou.node("/stage").createNode(TYPE_NAME, "bake")
        bake.setInput(0, library)
        bake.setDisplayFlag(True)
    files = {BASE_COLOUR: images.colour.name, NORMAL: images.normal.name}
    karma = {"document": "a renderer's own shader has no equal in MaterialX"}
    return Scratch(
        (
            Expected("gold", {ROUGHNESS: ROUGHNESS_VALUE}, files),
            Expected("inner", _PLAIN),
            Expected("staged", _PLAIN, source="USD stage"),
            Expected("hair", refused=karma),
        ),
        refused={"start_painting": NO_WINDOW},
        checks={"the LOP is installed": require_lop},
    )


def _surface(network: str, name: str) -> hou.VopNode:
    import hou

    surface = hou.node(network).createNode("mtlxstandard_surface", name)
    surface.setGenericFlag(hou.nodeFlag.Material, True)
    for channel, value in zip("rgb", COLOUR_VALUE, strict=True):
        surface.parm(f"base_color{channel}").set(value)
    surface.parm("specular_roughness").set(ROUGHNESS_VALUE)
    return surface


def _image(name: str, file: Path, signature: str) -> hou.VopNode:
    import hou

    image = hou.node("/mat").createNode("mtlximage", name)
    image.parm("signature").set(signature)
    image.parm("file").set(file.as_posix())
    return image


def _feed(surface: hou.VopNode, name: str, node: hou.VopNode) -> None:
    surface.setNamedInput(name, node, "out")


def run(arguments: Sequence[str]) -> int:
    """The exit code of the self-test."""
    return run_program("hython selftest.py", start, make_scene, arguments)
