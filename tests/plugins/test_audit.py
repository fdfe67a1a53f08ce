"""Compares every call into an application with its published stubs.

Neither application runs where the project is built. Calls on modules are found in the sources of
the plug-ins. Calls on objects are those that the fakes accept, so the fakes are compared as well.
"""

import ast
import importlib.metadata
import inspect
import re
from pathlib import Path

import fake_houdini
import fake_maya
import pytest
from houdini_nodes import NODES

from . import stubs

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
# programs that are dropped into the application
BESIDE = PLUGINS.parent / "packaging" / "templates"

# Commands that plug-ins of Maya add, and where each was seen with these flags.
SEEN_ELSEWHERE = {
    # maya-usd's own tests export so: testUsdExportMaterialX, testUsdMayaExportRoots; the last two
    # are in its pull requests 3785 and 3786, and in the table of flags of its commands/Readme.md
    "mayaUSDExport": {
        "file",
        "exportRoots",
        "shadingMode",
        "convertMaterialsTo",
        "mergeTransformAndShape",
        "exportAssignedMaterials",
        "excludeExportTypes",
    },
    # a runtime command of Maya's menus (Mesh Display > Paint Vertex Color Tool), in wide use
    "PaintVertexColorTool": set(),
}
# ufe has no stubs. LookdevX' operation is used so by exporters of materialxStack nodes.
UFE = {"Hierarchy": {"createItem"}, "PathString": {"path"}, "ContextOps": {"contextOps", "doOp"}}

# maya-usd's own tests take the stage of a proxy shape so: testMayaUsdPythonImport and others
MAYA_USD = {"lib": {"GetPrim"}}
# Modules of Maya without stubs. Tools that add entries to the menu of a node append functions
# (editor, node) -> bool to this list, which the Node Editor shares with the Hypershade.
MAYA_MODULES = {"nodeEditorMenus": {"customInclusiveNodeItemMenuCallbacks"}}

installed = {each.metadata["Name"] for each in importlib.metadata.distributions()}
pytestmark = pytest.mark.skipif(
    not {"maya-stubs", "types-houdini"} <= installed,
    reason="the applications' stubs are not installed: pip install -e .[test]",
)


def calls(folder, root):
    """Every chain of names that begins with `root`, with its keyword arguments."""
    files = [*(PLUGINS / folder).rglob("*.py"), *(BESIDE / f"beside_{folder}").glob("*.py")]
    for path in sorted(files):
        tree = ast.parse(path.read_text())
        called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or id(node) in inner:
                continue
            names, part = [], node
            while isinstance(part, ast.Attribute):
                names.append(part.attr)
                part = part.value
            if isinstance(part, ast.Name) and part.id == root:
                call = called.get(id(node))
                keywords = {each.arg for each in call.keywords} if call else set()
                yield f"{path.name}:{node.lineno}", names[::-1], keywords


def missing(given, known):
    return set() if "*" in known else given - known


@pytest.mark.parametrize(
    ("folder", "application", "shells"),
    [
        # modules that do not read or change the scene of an artist
        (
            "maya",
            {"maya", "ufe"},
            {
                "actions.py",
                "docked_panel.py",
                "menus.py",
                "selftest.py",
                "session_events.py",
                "userSetup.py",
                "verdigris_maya.py",
                "window_check.py",
                "without_window.py",
            },
        ),
        (
            "houdini",
            {"hou"},
            {
                "actions.py",
                "build_assets.py",
                "buttons.py",
                "python_panel.py",
                "selftest.py",
                "top_recipe.py",
                "window_check.py",
                "without_window.py",
            },
        ),
    ],
)
def test_only_the_adapter_and_its_parts_touch_the_scene(folder, application, shells):
    found, inside = set(), set()
    for path in (PLUGINS / folder).rglob("*.py"):
        if path.parent.name == "scene":
            inside.add(path.name)
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            if application & {name.partition(".")[0] for name in names}:
                found.add(path.name)
    parts = {
        name
        for name in found
        if name == "adapter.py" or name.startswith("scene_") or name in inside
    }
    assert len(parts) >= 5
    assert found - parts == shells


def test_commands_and_flags_of_maya_are_known():
    known = stubs.maya_commands()
    found = list(calls("maya", "cmds"))
    assert len(found) > 60
    for place, (name, *rest), flags in found:
        assert not rest, place
        if name in SEEN_ELSEWHERE:
            assert flags <= SEEN_ELSEWHERE[name], f"{place}: {name}"
            continue
        assert name in known, f"{place}: maya.cmds has no {name}"
        assert not missing(flags, known[name]), f"{place}: {name} has no {flags - known[name]}"


def test_classes_of_open_maya_are_known():
    known = stubs.open_maya()
    found = list(calls("maya", "om"))
    assert len(found) > 8
    for place, (name, *rest), _ in found:
        assert name in known, f"{place}: maya.api.OpenMaya has no {name}"
        for member in rest:
            assert member in known[name], f"{place}: {name} has no {member}"
    for place, names, _ in calls("maya", "OpenMayaUI"):
        assert names[1] in stubs.open_maya_ui()[names[0]], place


def test_small_modules_of_maya_are_known():
    for root in ("mel", "standalone"):
        for place, (name, *_), keywords in calls("maya", root):
            known = stubs.maya_module(root)
            assert name in known and keywords <= known[name], place
    first, last = calls("maya", "maya")
    assert first[1:] == (["standalone", "initialize"], {"name"})
    assert last[1:] == (["standalone", "uninitialize"], set())
    assert {"initialize", "uninitialize"} <= set(stubs.maya_module("standalone"))


def test_names_of_modules_without_stubs_are_known():
    for root, known in MAYA_MODULES.items():
        found = list(calls("maya", root))
        assert found and all(set(names) <= known for _, names, _ in found)


def test_names_of_maya_usd_are_known():
    found = list(calls("maya", "mayaUsd"))
    assert len(found) == 1
    for place, (name, member), _ in found:
        assert member in MAYA_USD[name], place
    _, lib = fake_maya.make_maya_usd(fake_maya.Scene())
    assert {name for name in vars(lib) if not name.startswith("_")} <= MAYA_USD["lib"]


def test_flags_of_the_shelf_file_are_known():
    text = (PLUGINS / "maya" / "shelves" / "shelf_Verdigris.mel").read_text()
    flags = set(re.findall(r"^ +-(\w+) ", text, re.M))
    assert len(flags) > 5 and not missing(flags, stubs.maya_commands()["shelfButton"])


def test_names_of_ufe_are_known():
    found = list(calls("maya", "ufe"))
    assert len(found) == 3
    for place, (name, member), _ in found:
        assert member in UFE[name], place


def test_names_and_arguments_of_hou_are_known():
    known_functions, known_classes = stubs.houdini()
    found = list(calls("houdini", "hou"))
    assert len(found) > 60
    for place, (name, *rest), keywords in found:
        if name in known_functions and not rest:
            assert keywords <= known_functions[name], f"{place}: hou.{name}"
            continue
        assert name in known_classes, f"{place}: hou has no {name}"
        if keywords and not rest:
            # None stands for arguments that a dictionary gives
            made = known_classes[name]["__init__"]
            assert keywords - {None} <= made, f"{place}: hou.{name} takes no {keywords - made}"
        if rest:
            members = known_classes[name]
            assert rest[0] in members, f"{place}: hou.{name} has no {rest[0]}"
            assert keywords <= members[rest[0]], f"{place}: hou.{name}.{rest[0]}"


def test_node_types_and_parameters_of_houdini_were_seen_somewhere():
    used_types, used_parms = set(), set()
    for path in sorted((PLUGINS / "houdini").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                if node.func.attr == "createNode":
                    used_types.add(first.value)
                elif node.func.attr == "parm":
                    used_parms.add(first.value)
    assert len(used_types) > 12 and len(used_parms) > 12
    assert used_types <= set(NODES)
    assert used_parms <= {parm for kind in NODES.values() for parm in kind.parms}
    assert all(kind.seen for kind in NODES.values())


def public(kind):
    return {
        name: member
        for name, member in vars(kind).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def test_the_fake_maya_has_only_known_names():
    scene = fake_maya.Scene()
    known = stubs.maya_commands()
    commands = {
        name: member
        for name, member in vars(fake_maya.make_cmds(scene)).items()
        if inspect.isfunction(member)
    }
    assert len(commands) > 30
    for name, command in commands.items():
        parameters = inspect.signature(command).parameters.values()
        flags = {each.name for each in parameters if each.kind == each.KEYWORD_ONLY}
        if name in SEEN_ELSEWHERE:
            assert flags <= SEEN_ELSEWHERE[name]
        else:
            assert not missing(flags, known[name]), name
    known = stubs.open_maya()
    kinds = {
        name: kind
        for name, kind in vars(fake_maya.make_open_maya(scene)).items()
        if inspect.isclass(kind)
    }
    assert len(kinds) > 6
    for name, kind in kinds.items():
        assert set(public(kind)) <= set(known[name]), name
    for name, kind in vars(fake_maya.make_ufe(scene)).items():
        if inspect.isclass(kind):
            members = {each for each in vars(kind) if not each.startswith("_")}
            assert members <= UFE[name]


def test_the_fake_houdini_has_only_known_names():
    hou = fake_houdini.make_hou(fake_houdini.Scene())
    known_functions, known_classes = stubs.houdini()
    taught = {name: member for name, member in vars(hou).items() if not name.startswith("__")}
    for name, member in taught.items():
        if inspect.isclass(member):
            kind = member
        elif inspect.isfunction(member):
            assert name in known_functions, name
            continue
        elif isinstance(member, fake_houdini.Enum):
            assert set(member._names) <= set(known_classes[name]), name
            continue
        else:
            kind = type(member)
        made = vars(kind).get("__init__") if name.endswith("Template") else None
        for method, function in {**public(kind), **({"__init__": made} if made else {})}.items():
            assert method in known_classes[name], f"hou.{name} has no {method}"
            # optional arguments of the fake are passed by name
            given = {
                each.name
                for each in inspect.signature(function).parameters.values()
                if each.default is not each.empty
            }
            assert given <= known_classes[name][method], f"hou.{name}.{method}"


def test_the_audit_finds_unknown_names_and_flags():
    known = stubs.maya_commands()
    assert "polyColorSets" not in known and "sceneNaem" not in known["file"]
    assert "getFaceVertexColours" not in stubs.open_maya()["MFnMesh"]
    functions, classes = stubs.houdini()
    assert "nodes_selected" not in functions
    assert "pointFloatAttribValuesAsBytes" not in classes["Geometry"]
