"""The commands of the fake Maya for attributes and connections.

Answers have the form of Maya's (Autodesk, Maya Help: MEL commands attributeQuery, getAttr,
listAttr, listConnections, connectionInfo, nodeType): a vector is a list of one tuple, an
enumeration is a number, an array has the indices that are set or connected.
"""

from __future__ import annotations

from typing import Any

from .node_types import VECTORS, Attribute, find_attribute, node_types
from .scene import Scene


def teach_attributes(scene: Scene, teach: Any) -> None:
    """Adds the commands."""

    def require_attribute(node: str, name: str) -> Attribute:
        path = scene.find(node)
        found = find_attribute(scene.nodes[path]["type"], name, scene.added(path))
        if found is None:
            raise RuntimeError(f"attributeQuery: Attribute {name!r} was not found.")
        return found

    @teach
    def nodeType(name: str, *, inherited: bool = False) -> Any:
        kind = str(scene.require(name)["type"])
        if not inherited:
            return kind
        known = node_types().get(kind)
        return [*(known.parents if known else ()), kind]

    @teach
    def unknownNode(name: str, *, query: bool, plugin: bool) -> str:
        return str(scene.require(name)["plugin"])

    @teach
    def attributeQuery(
        attribute: str,
        *,
        node: str,
        exists: bool = False,
        attributeType: bool = False,
        longName: bool = False,
        shortName: bool = False,
        listChildren: bool = False,
        listParent: bool = False,
        numberOfChildren: bool = False,
        listDefault: bool = False,
        listEnum: bool = False,
        multi: bool = False,
        usedAsColor: bool = False,
        writable: bool = False,
    ) -> Any:
        if exists:
            path = scene.find(node)
            kind, held = scene.nodes[path]["type"], scene.nodes[path]["attributes"]
            return attribute in held or bool(find_attribute(kind, attribute, scene.added(path)))
        own = require_attribute(node, attribute)
        children = [each.long for each in own.children]
        default = own.default if isinstance(own.default, tuple) else (own.default,)
        answers = [
            (attributeType, "typed" if own.kind == "string" else own.kind),
            (longName, own.long),
            (shortName, own.short),
            (listChildren, children or None),
            (listParent, [own.parent.long] if own.parent else None),
            (numberOfChildren, [len(children)] if children else None),
            (listDefault, [float(each) for each in default if isinstance(each, int | float)]),
            (listEnum, [own.names] if own.kind == "enum" else None),
            (multi, own.is_multi),
            (usedAsColor, own.is_color),
            (writable, not own.is_output),
        ]
        asked = [answer for flag, answer in answers if flag]
        assert len(asked) == 1, "one question at a time"
        return asked[0]

    @teach
    def listAttr(
        node: str, *, multi: bool = False, userDefined: bool = False, shortNames: bool = False
    ) -> list[str] | None:
        path = scene.find(node)
        known = node_types().get(scene.nodes[path]["type"])
        tops = [*scene.added(path).values()] if userDefined or known is None else known.attributes
        found = []
        for top in tops:
            names = [each.short if shortNames else each.long for each in top.all()]
            found += names
            if multi and top.is_multi:
                for index in scene.indices(f"{path}.{top.long}"):
                    found.append(f"{names[0]}[{index}]")
                    found += [f"{names[0]}[{index}].{each}" for each in names[1:]]
        if userDefined or known is None:
            held = scene.nodes[path]["attributes"]
            found += [each for each in held if each not in found and "." not in each]
        return found or None

    @teach
    def getAttr(
        plug: str,
        *,
        multiIndices: bool = False,
        size: bool = False,
        type: bool = False,
        settable: bool = False,
    ) -> Any:
        if multiIndices:
            return scene.indices(plug) or None
        if ".colorSet[" in plug:
            return scene.value(plug)
        found = scene.require_plug(plug)
        own = found.attribute
        if size:
            return len(scene.indices(plug)) if own and own.is_multi else 1
        if settable:
            return scene.plug(plug) not in scene.connections
        if type:
            return own.kind if own else "string"
        if own and own.is_multi and found.index is None:
            raise RuntimeError(f"getAttr: the fake reads elements of {plug}, not the array")
        if own and own.children and own.kind not in VECTORS:
            values = []
            for leaf in own.leaves():
                values.append(scene.value(f"{scene.find(plug)}.{found.path}.{leaf.long}"))
            return [tuple(values)]
        if own and own.kind in ("message", "compound"):
            raise RuntimeError(f"getAttr: Message attributes have no data values: {plug}")
        value = scene.value(plug)
        # Maya returns a colour as a list of one tuple
        return [value] if isinstance(value, tuple) else value

    @teach
    def setAttr(plug: str, *values: Any, type: str = "") -> None:
        scene.change("setAttr")
        try:
            found = scene.require_plug(plug)
        except ValueError as failure:
            raise RuntimeError(str(failure)) from None
        if scene.plug(plug) in scene.connections:
            raise RuntimeError(f"setAttr: {plug} is locked or connected and cannot be modified")
        value = values if len(values) > 1 else values[0]
        kind = {str: "string", tuple: "double3"}.get(value.__class__, "")
        if kind != type or (found.attribute and (kind == "string") != _is_text(found.attribute)):
            raise RuntimeError(f"setAttr: {plug} is of another type")
        scene.store(plug, value)
        is_file = found.attribute is not None and found.attribute.long == "fileTextureName"
        if is_file and not scene.value(f"{scene.find(plug)}.ignoreColorSpaceFileRules"):
            # Maya's first rule, for every file
            scene.store(f"{scene.find(plug)}.colorSpace", "sRGB")

    @teach
    def addAttr(node: str, *, longName: str, dataType: str) -> None:
        scene.change("addAttr")
        assert dataType == "string"
        scene.require(node)["attributes"][longName] = ""

    @teach
    def listConnections(
        name: str,
        *,
        type: str = "",
        source: bool = True,
        destination: bool = True,
        plugs: bool = False,
        connections: bool = False,
        skipConversionNodes: bool = False,
    ) -> list[str] | None:
        if name.endswith(".drawOverride"):
            return [
                each
                for each, facts in scene.nodes.items()
                if facts["type"] == type == "displayLayer"
                and scene.find(name) in facts["attributes"]["members"]
            ] or None
        pairs = [
            (own, other)
            for is_source in (True, False)
            if (source if is_source else destination)
            for own, other in connected(name, is_source, skipConversionNodes)
        ]
        if "." not in name:
            pairs += [("", f"{each}.dagSetMembers") for each in engines_with(scene.find(name))]
        if type:
            pairs = [each for each in pairs if scene.require(each[1])["type"] == type]
        found = []
        for own, other in pairs:
            end = other if plugs else other.partition(".")[0]
            found += [own, end] if connections else [end]
        return found or None

    def connected(name: str, is_source: bool, skips: bool) -> list[tuple[str, str]]:
        """Own plugs and the plugs at their other ends. An array or a compound has the connections
        of its elements and components."""
        node = scene.find(name)
        wanted = scene.look_up(name) if "." in name else None
        found = []
        for target, origin in scene.connections.items():
            own, other = (target, origin) if is_source else (origin, target)
            if own.partition(".")[0] != node or (wanted and not contains(node, wanted, own)):
                continue
            if skips and scene.require(other)["type"] == "unitConversion":
                found += [
                    (own, end) for _, end in connected(other.partition(".")[0], is_source, skips)
                ]
                continue
            found.append((own, other))
        return found

    def contains(node: str, wanted: Any, own: str) -> bool:
        path = own.partition(".")[2]
        if path == wanted.path or path.startswith((f"{wanted.path}[", f"{wanted.path}.")):
            return True
        held = scene.look_up(own)
        return held.attribute is not None and held.above == wanted.path

    def engines_with(node: str) -> list[str]:
        if scene.nodes[node]["type"] != "mesh":
            return []
        return [
            engine
            for engine, members in scene.members.items()
            if any(scene.faces_of(member)[0] == node for member in members)
        ]

    @teach
    def connectionInfo(
        plug: str,
        *,
        sourceFromDestination: bool = False,
        destinationFromSource: bool = False,
        isDestination: bool = False,
        isSource: bool = False,
    ) -> Any:
        own = scene.plug(plug)
        source = scene.connections.get(own, "")
        targets = [target for target, origin in scene.connections.items() if origin == own]
        if sourceFromDestination:
            return source
        if destinationFromSource:
            return targets
        assert isDestination != isSource
        return bool(source) if isDestination else bool(targets)

    @teach
    def listHistory(*nodes: str, pruneDagObjects: bool = False) -> list[str]:
        """The nodes and all that feeds them, the nearest first."""
        found = [scene.find(node) for node in nodes]
        for each in found:
            for _, other in connected(each, True, False):
                above = other.partition(".")[0]
                if above not in found and not (pruneDagObjects and above.startswith("|")):
                    found.append(above)
        return found

    @teach
    def connectAttr(source: str, target: str, *, force: bool = False) -> None:
        scene.change("connectAttr")
        if scene.plug(target) in scene.connections and not force:
            raise RuntimeError(f"connectAttr: {target} already has an incoming connection")
        for plug, is_source in ((source, True), (target, False)):
            own = scene.look_up(plug).attribute
            known = scene.require(plug)["type"] in node_types()
            if known and (
                own is None or (own.is_output and not is_source and not _is_swatch(plug))
            ):
                raise RuntimeError(f"The attribute '{plug}' cannot be found")
        scene.connections[scene.plug(target)] = scene.plug(source)

    def _is_swatch(plug: str) -> bool:
        # what it shows is an input with the name of an output
        return bool(scene.require(plug)["type"] == "surfaceShader")

    @teach
    def disconnectAttr(source: str, target: str) -> None:
        scene.change("disconnectAttr")
        if scene.connections.pop(scene.plug(target), "") != scene.plug(source):
            raise RuntimeError(f"There is no connection from '{source}' to '{target}'")


def _is_text(own: Attribute) -> bool:
    return own.kind == "string"
