"""Makes a network of TOPs that bakes each material of the scene as a work item."""

from __future__ import annotations

import hou

from verdigris.core.base.errors import HostError
from verdigris.plugins.houdini.scene.nodes import undo_step

NAME = "verdigris_tops"
_PARENT = "/obj"
# The number of bakes at once: each needs the whole GPU.
_SLOTS = 1
_CUSTOM_SLOTS = "-1"

# Runs in the network, which has the saved scene: one work item for each material. The list comes
# in a file, so that messages of hython cannot mix with it.
GENERATE = """\
import json
import os
import subprocess
import tempfile

import hou

hython = hou.text.expandString("$HFS/bin/hython")
batch = hou.text.expandString("$VERDIGRIS_TREE/batch.py")
with tempfile.TemporaryDirectory() as folder:
    listing = os.path.join(folder, "list.json")
    done = subprocess.run(
        [hython, batch, hou.hipFile.path(), "--list", "--summary", listing],
        capture_output=True, text=True,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise RuntimeError(lines[-1] if lines else "the materials cannot be listed")
    with open(listing, encoding="utf-8") as file:
        materials = json.load(file)["materials"]
# those of other renderers are listed with the reason
materials = [material for material in materials if not material.get("error")]
for number, material in enumerate(materials):
    item = item_holder.addWorkItem(index=number)
    item.setStringAttrib("material", material["key"])
    item.setIntAttrib("number", number)
"""
# The scheduler inserts the hython of the machine, and the network the attributes of the item.
COMMAND = (
    '"__PDG_HYTHON__" "$VERDIGRIS_TREE/batch.py" "$HIPFILE" -m "`@material`" '
    '-o "$HIP/neural" --summary "$HIP/neural/`@number`.json"'
)


def add_top_network() -> hou.Node:
    """Adds the network to /obj: list the materials, bake each, wait for all."""
    if hou.hipFile.isNewFile():
        raise HostError("the scene is not saved: save it first, as the work items read its file")
    parent = hou.node(_PARENT)
    if parent is None:
        raise HostError(f"there is no {_PARENT} network for the TOPs")
    with undo_step("Verdigris TOPs"):
        network = parent.createNode("topnet", NAME)
        for each in network.children():
            if each.type().name() == "localscheduler":
                each.parm("maxprocsmenu").set(_CUSTOM_SLOTS)
                each.parm("maxprocs").set(_SLOTS)
        materials = network.createNode("pythonprocessor", "materials")
        materials.parm("generate").set(GENERATE)
        bake = network.createNode("genericgenerator", "bake")
        bake.setInput(0, materials)
        bake.parm("pdg_command").set(COMMAND)
        last = network.createNode("waitforall", "all_baked")
        last.setInput(0, bake)
        last.setDisplayFlag(True)
        network.layoutChildren()
        network.moveToGoodPosition()
    return network
