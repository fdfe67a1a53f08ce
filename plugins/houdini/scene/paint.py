"""The brush: an Attribute Paint, its state in the viewer, and colours that show the weights."""

from __future__ import annotations

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BRUSH_WEIGHT, LARGEST_WEIGHT, NORMAL_WEIGHT
from verdigris.plugins.houdini.scene.geometry import display_node, geometry_of
from verdigris.plugins.houdini.scene.nodes import refuse_locked, set_text, undo_step

BRUSH = "attribpaint"
# The weight of strokes with the middle button of the mouse; the left one has BRUSH_WEIGHT.
OTHER_WEIGHT = 0.0
_FLOAT = 1
_VISUALIZER, _VISUALIZER_TYPE = "verdigris_weights", "vis_color"
# The weight of the first colour of the ramp; the last one is for LARGEST_WEIGHT.
_LOWEST = 0.0


def start_brush(container: hou.OpNode, weight_set: str) -> None:
    """Starts the brush on the weights of an object. Creates weights if there are none."""
    refuse_locked(container)
    shown = display_node(container)
    exists = geometry_of(container).findPointAttrib(weight_set) is not None
    viewer = hou.ui.paneTabOfType(hou.paneTabType.SceneViewer)
    with undo_step("Verdigris weights"):
        brush = shown if exists and shown.type().name() == BRUSH else None
        if brush is None:
            brush = _add_brush(container, shown, weight_set, with_ones=not exists)
        _arm(brush, weight_set)
        _show_weights(brush, weight_set)
        if viewer is not None:
            # outside of its network a node has no state, and the viewer would enter the object's
            # state
            viewer.setPwd(container)
        brush.setCurrent(True, clear_all_selected=True)
    if viewer is not None:
        viewer.enterCurrentNodeState()


def stop_brush() -> None:
    """Leaves the brush: ends its state and hides the colours. The weights stay."""
    viewer = hou.ui.paneTabOfType(hou.paneTabType.SceneViewer)
    container = viewer.pwd() if viewer is not None else None
    shown = container.displayNode() if isinstance(container, hou.ObjNode) else None
    if shown is None or shown.type().name() != BRUSH:
        raise HostError("the viewer shows no brush: start it with Paint Weights first")
    with undo_step("Verdigris stop painting"):
        for each in _visualizers(shown):
            each.setIsActive(False)
    viewer.enterViewState()
    viewer.setPwd(container.parent())


def _arm(brush: hou.OpNode, weight_set: str) -> None:
    """Sets the attribute and the values of the next stroke, so that it changes weights of 1."""
    values = {
        "attribname1": weight_set,
        "attribtype1": _FLOAT,
        "stroke_attrib": weight_set,
        "stroke_attribtype": _FLOAT,
        "stroke_float": BRUSH_WEIGHT,
        "fgfloat": BRUSH_WEIGHT,
        "bgfloat": OTHER_WEIGHT,
    }
    for name, value in values.items():
        parm = brush.parm(name)
        # versions of this node have different parameters for strokes
        if parm is not None and isinstance(value, str):
            set_text(parm, value)
        elif parm is not None:
            parm.set(value)


def _visualizers(brush: hou.OpNode) -> list[hou.ViewportVisualizer]:
    found = hou.viewportVisualizers.visualizers(
        category=hou.viewportVisualizerCategory.Node, node=brush
    )
    return [each for each in found if each.name() == _VISUALIZER]


def _show_weights(brush: hou.OpNode, weight_set: str) -> None:
    """Colours the geometry of the brush by its weights."""
    kind = hou.viewportVisualizers.type(_VISUALIZER_TYPE)
    if kind is None:
        return
    found = _visualizers(brush) or [
        hou.viewportVisualizers.createVisualizer(
            kind, category=hou.viewportVisualizerCategory.Node, node=brush
        )
    ]
    visualizer = found[0]
    visualizer.setName(_VISUALIZER)
    visualizer.setLabel("Verdigris weights")
    # in this order: the type of the colours decides which other parameters exist
    for name, value in (
        ("attrib", weight_set),
        ("class", "point"),
        ("colortype", "attribramped"),
        ("rangespec", "min-max"),
        ("minscalar", _LOWEST),
        ("maxscalar", LARGEST_WEIGHT),
    ):
        visualizer.setParm(name, value)
    visualizer.setIsActive(True)


def _add_brush(
    container: hou.Node, shown: hou.Node, weight_set: str, with_ones: bool
) -> hou.SopNode:
    """Adds an Attribute Paint after the display node, and an Attribute Create for new weights."""
    source = shown
    if with_ones:
        source = container.createNode("attribcreate", "verdigris_weights")
        source.setInput(0, shown)
        set_text(source.parm("name1"), weight_set)
        source.parm("value1v1").set(NORMAL_WEIGHT)
        source.moveToGoodPosition()
    brush = container.createNode(BRUSH, "verdigris_paint")
    brush.setInput(0, source)
    brush.moveToGoodPosition()
    brush.setDisplayFlag(True)
    brush.setRenderFlag(True)
    return brush
