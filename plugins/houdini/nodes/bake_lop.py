"""The LOP as data, without Houdini: its parameters, scripts and help. `build_assets.py` makes a
digital asset from it."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.hosts.host import WEIGHT_SET

TYPE_NAME, LABEL = "verdigris_bake", "Verdigris Bake"
INNER_SCRIPT = "results"

MATERIALS, PRESET, FOLDER, WEIGHTS, TEXTURES = (
    "materials",
    "preset",
    "folder",
    "weights",
    "textures",
)
BAKE, CANCEL, STATE = "bake", "cancel", "state"
# Hidden: the results as JSON, by the path of the material.
BUNDLES, TEXTURE_FILES = "bundles", "texture_files"
AUTOMATIC = "automatic"
TEXT, FILE_FOLDER, MENU, TOGGLE, BUTTON, SHOWN, HIDDEN = (
    "text",
    "folder",
    "menu",
    "toggle",
    "button",
    "shown",
    "hidden",
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the node."""

    name: str
    label: str
    kind: str
    default: str = ""
    help: str = ""
    items: tuple[tuple[str, str], ...] = ()
    """Values and labels of a menu."""


PARAMETERS = (
    Parameter(
        MATERIALS,
        "Materials",
        TEXT,
        "*",
        "Names or paths of materials, with * and ?, separated by spaces. ^ before a pattern leaves "
        "its materials out.",
    ),
    Parameter(
        PRESET,
        "Preset",
        MENU,
        AUTOMATIC,
        "Draft for a first look, Standard for use, Final to ship. Automatic is Standard on a GPU "
        "and Draft on a CPU.",
        (
            (AUTOMATIC, "Automatic"),
            ("draft", "Draft"),
            ("standard", "Standard"),
            ("final", "Final"),
        ),
    ),
    Parameter(FOLDER, "Folder", FILE_FOLDER, "$HIP/neural", "The folder of the bundles."),
    Parameter(
        WEIGHTS,
        "Painted Weights",
        TEXT,
        WEIGHT_SET,
        "The primvar with painted weights. Empty for none.",
    ),
    Parameter(
        TEXTURES,
        "Textures for the Viewport",
        TOGGLE,
        help="Also fits plain textures, which viewports show in place of the material.",
    ),
    Parameter(BAKE, "Bake", BUTTON, help="Bakes the materials in the background, one by one."),
    Parameter(CANCEL, "Cancel", BUTTON, help="Ends the bakes of this node without a result."),
    Parameter(STATE, "State", SHOWN, help="What this node does, or what went wrong."),
    Parameter(BUNDLES, "Bundles", HIDDEN, "{}"),
    Parameter(TEXTURE_FILES, "Texture Files", HIDDEN, "{}"),
)

CALLBACKS = {BAKE: "hou.phm().bake(kwargs)", CANCEL: "hou.phm().cancel(kwargs)"}

# An import that fails gives the reason when a button is pressed, not when a scene is opened.
PYTHON_MODULE = """\
def bake(kwargs):
    from verdigris.plugins.houdini.nodes import buttons

    buttons.bake(kwargs["node"])


def cancel(kwargs):
    from verdigris.plugins.houdini.nodes import buttons

    buttons.cancel(kwargs["node"])
"""

PROGRESS = "Verdigris: "
"""The start of the line in the comment of a node that shows the progress of its bake."""

# No bake is running for a copy, or for a node in a scene that was just opened.
SETTLE = f"""\
node = kwargs["node"]
state = node.parm("state")
if state is not None and state.evalAsString().startswith(("waiting", "baking")):
    import hou

    lines = node.comment().split("\\n")
    with hou.undos.disabler():
        state.set("interrupted: press Bake again")
        node.setComment("\\n".join(line for line in lines if not line.startswith("{PROGRESS}")))
"""

TOOLS_SHELF = """\
<?xml version="1.0" encoding="UTF-8"?>
<shelfDocument>
  <tool name="$HDA_DEFAULT_TOOL" label="$HDA_LABEL" icon="$HDA_ICON">
    <toolMenuContext name="viewer">
      <contextNetType>LOP</contextNetType>
    </toolMenuContext>
    <toolMenuContext name="network">
      <contextOpType>$HDA_TABLE_AND_NAME</contextOpType>
    </toolMenuContext>
    <toolSubmenu>Verdigris</toolSubmenu>
    <script scriptType="python"><![CDATA[import loptoolutils

loptoolutils.genericTool(kwargs, '$HDA_NAME')]]></script>
  </tool>
</shelfDocument>
"""


def help_text() -> str:
    """The help card, in the markup of Houdini."""
    lines = [
        f"= {LABEL} =",
        "",
        "#type: node",
        "#context: lop",
        f"#internal: {TYPE_NAME}",
        "",
        '"""Bakes materials of the stage to neural materials."""',
        "",
        "Each result is written to its material as the asset attribute `verdigris:bundle`. Bakes "
        "run in another process: Houdini stays usable. Several of these nodes wait for each other. "
        "In hython, the button waits until the bakes are finished.",
        "",
        "@parameters",
    ]
    for parameter in PARAMETERS:
        if parameter.help:
            lines += ["", f"{parameter.label}:", f"    #id: {parameter.name}", ""]
            lines += [f"    {parameter.help}"]
    return "\n".join(lines) + "\n"
