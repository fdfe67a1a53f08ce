import json

import pytest

from verdigris.core.material.load.mtlx_document import parse_document

from ..hosts import by_name
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


GROUP = 'createNode shadingEngine -n "goldSG";\n'
SHOWN = 'connectAttr "gold.outColor" "goldSG.ss";\n'


@pytest.fixture
def read(maya, tmp_path):
    """Reads a scene with the shader `gold`."""

    def read(body, name="gold"):
        (tmp_path / "scene.ma").write_text(f"//Maya ASCII 2026 scene\n{GROUP}{body}{SHOWN}")
        host = open_scene(maya, tmp_path / "scene.ma")
        assert maya.unknown == []
        before = maya.undo_stack[:]
        found = host.document(by_name(host, name))
        assert maya.undo_stack == before
        document = parse_document(found.text, found.search)
        material = document.require_material(found.material)
        document.check(material)
        assert document.root.validate() == (True, "")
        return found, document, material

    return read
