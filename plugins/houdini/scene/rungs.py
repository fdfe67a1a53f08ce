"""The rungs of a ladder in a Houdini scene: a reference to its USD file, and a chosen variant."""

from __future__ import annotations

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import LadderLook
from verdigris.core.hosts.ladder_looks import VARIANT_SET
from verdigris.core.material.usd.write_mtlx import valid_name
from verdigris.plugins.houdini.scene.nodes import refuse_locked
from verdigris.plugins.houdini.scene.stage import STAGE_PATH

_LADDER_DATA = "verdigris_ladder"


def require_stage(ladder: LadderLook) -> hou.Node:
    """The network of /stage, which can be changed; the ladder has a USD file."""
    if ladder.stage is None or not ladder.stage.is_file():
        raise HostError(
            f"{ladder.name}: the ladder has no USD file with its variants: install usd-core beside "
            "Verdigris, and bake the ladder again"
        )
    network = hou.node(STAGE_PATH)
    if network is None:
        raise HostError(f"the scene has no network {STAGE_PATH}: add one, and attach again")
    for node in network.children()[:1]:
        refuse_locked(node)
    return network


def add_variants(network: hou.Node, key: str, ladder: LadderLook) -> str:
    """Makes a branch of a reference and a variant, or updates the one of this material. It is
    connected to nothing: the artist merges it where the mesh is. Returns the choosing node."""
    assert ladder.stage is not None
    # of a prim and of nodes, which take fewer letters than files
    name, made = valid_name(ladder.name), {}
    if name[0].isdigit():
        name = f"_{name}"
    for node in network.children():
        noted = node.userData(_LADDER_DATA) or ""
        if noted.startswith(f"{key} "):
            made[noted.removeprefix(f"{key} ")] = node
    reference, chosen = made.get("reference"), made.get("variant")
    path = f"/{name}"
    if reference is None:
        reference = network.createNode("reference::2.0", f"{name}_ladder")
        reference.setUserData(_LADDER_DATA, f"{key} reference")
        reference.moveToGoodPosition()
    reference.parm("filepath1").set(ladder.stage.as_posix())
    reference.parm("primpath1").set(path)
    if chosen is None:
        chosen = network.createNode("setvariant", f"{name}_rung")
        chosen.setUserData(_LADDER_DATA, f"{key} variant")
        chosen.setInput(0, reference)
        chosen.moveToGoodPosition()
        chosen.parm("num_variants").set(1)
        chosen.parm("variantname1").set(ladder.rungs[0].name)
    chosen.parm("primpattern1").set(path)
    chosen.parm("variantset1").set(VARIANT_SET)
    return str(chosen.path())
