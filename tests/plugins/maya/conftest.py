import json

import pytest

from .scenes import DATA, QUAD, SHAPE, TRIANGLE, MayaHarness, add_native, open_scene


@pytest.fixture
def harness(maya):
    host = open_scene(maya, "stack.ma")
    # the Maya-only document has a test of its own
    stack = maya.nodes["|materialXStack1|materialXStackShape1"]["attributes"]
    stack["documents"] = json.dumps(json.loads(stack["documents"])[:2])
    maya.members["Standard_Surface1SG"] = [SHAPE]
    maya.undo_stack.clear()
    found = MayaHarness(host, DATA / "stack.ma")
    found.maya = maya
    return found


@pytest.fixture
def painting(maya):
    """A plate with two materials, by face."""
    host = open_scene(maya, "stack.ma")
    maya.members["Standard_Surface1SG"] = [QUAD]
    add_native(maya, [TRIANGLE])
    maya.path = "shot.ma"
    maya.undo_stack.clear()
    return host
