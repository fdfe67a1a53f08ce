"""Images that COPs compute for a material, and how they become files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import make_folders
from verdigris.core.material.usd.usd_values import NODE_SCHEME
from verdigris.plugins.houdini.scene.left_out import upstream
from verdigris.plugins.houdini.scene.nodes import text_of
from verdigris.plugins.houdini.scene.paths import set_file

FOLDER, SUFFIX = "textures", ".exr"
_WRITER, _AS_THEY_ARE = "rop_image", "raw"
# What may follow the path of a node: a plane, a component, arguments of USD.
_END = re.compile(r"[{\[:]")


def images_of_cops(material: hou.VopNode) -> Iterator[tuple[hou.Parm, str]]:
    """The parameters of a material's nodes that name a COP, and its path."""
    for node in upstream(material):
        for parm in node.parms():
            text = text_of(parm)
            if text.startswith(NODE_SCHEME):
                yield parm, _END.split(text.removeprefix(NODE_SCHEME))[0]


def write_images(material: hou.VopNode, folder: Path) -> list[Path]:
    """Writes the images as files and names these in their place. Call it in an undo step."""
    written: dict[str, Path] = {}
    for parm, path in list(images_of_cops(material)):
        if path not in written:
            cop = hou.node(path)
            if cop is None:
                raise HostError(
                    f"{parm.path()} names {path}, which is not in the scene: correct it"
                )
            written[path] = folder / f"{path.strip('/').replace('/', '_')}{SUFFIX}"
            make_folders(folder)
            _write(cop, written[path])
        set_file(parm, written[path])
    return list(written.values())


def _write(cop: hou.Node, file: Path) -> None:
    if hasattr(cop, "saveImage"):
        # COPs of earlier versions save themselves
        cop.saveImage(file.as_posix())
    else:
        writer = cop.parent().createNode(_WRITER, "verdigris_writer")
        try:
            writer.parm("coppath").set(cop.path())
            set_file(writer.parm("copoutput"), file)
            # values as they are, without a view transform
            writer.parm("colorconversion").set(_AS_THEY_ARE)
            writer.parm("execute").pressButton()
        finally:
            writer.destroy()
    if not file.is_file():
        raise HostError(f"{cop.path()} wrote no image to {file}: see the errors on the node")
