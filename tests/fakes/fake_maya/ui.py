"""The windows of the fake Maya: shelves, menus, dialogs, the panel's control."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .node_types import node_types

_ICONS = Path(__file__).parents[3] / "plugins" / "maya" / "icons"


def make_mel(scene: Any, mel: Any) -> Any:
    """maya.mel of a scene. It runs the file of a shelf, and knows two global variables."""

    def run(text: str) -> Any:
        known = {"$gShelfTopLevel": "shelves", "$gMainWindow": "MayaWindow"}
        for name, value in known.items():
            if re.fullmatch(rf"\$\w+ = {re.escape(name)}", text):
                return value
        # a string of MEL ends at a quote that no backslash escapes
        found = re.fullmatch(r'source "((?:[^"\\]|\\.)+)"; (\w+)\(\);', text)
        assert found, text
        source = Path(re.sub(r"\\(.)", r"\1", found[1])).read_text()
        assert f"global proc {found[2]}()" in source
        run_shelf(scene, source)
        return None

    mel.eval = run
    return mel


def run_shelf(scene: Any, source: str) -> None:
    """The buttons of a shelf file, in the current layout."""
    for button in re.findall(r"shelfButton\n(.*?);\n", source, re.S):
        flags = dict(re.findall(r'-(\w+) "([^"]*)"', button))
        assert set(flags) == {
            *("label", "annotation", "image", "image1", "style", "sourceType", "command")
        }
        assert flags["sourceType"] == "python"
        scene.layouts[scene.parent].append(flags)


class Controls:
    """The workspace controls, as real widgets if a test wants them and has a QApplication.

    Maya 2023 Technical Documentation, Commands, workspaceControl: `uiScript` makes the UI,
    `closeCommand` "gets executed when the workspace control is closed", and a control that is not
    retained is deleted then. Its widgets are destroyed with it, without a QCloseEvent of their own.
    """

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self.are_real = False

    def make(self, name: str, facts: dict[str, Any]) -> None:
        self._scene.controls[name] = facts
        self.fill(name)

    def fill(self, name: str) -> None:
        """Makes the widget, and runs the script of its UI in it."""
        if not self.are_real:
            return
        from PySide6 import QtWidgets as widgets

        facts = self._scene.controls[name]
        facts["widget"] = widgets.QWidget()
        facts["widget"].setObjectName(name)
        widgets.QVBoxLayout(facts["widget"])
        facts["widget"].show()
        exec(facts["script"], {})

    def close(self, name: str) -> None:
        """The artist closes its tab."""
        facts = self._scene.controls[name]
        if facts["closed"]:
            exec(facts["closed"], {})
        if facts["retain"]:
            facts["widget"].hide()
        else:
            self.delete(name)

    def delete(self, name: str) -> None:
        self.destroy(self._scene.controls.pop(name))

    def change_workspace(self, name: str) -> None:
        """Another workspace has the control, too: its UI is made anew."""
        self.destroy(self._scene.controls[name])
        self.fill(name)

    def destroy(self, facts: dict[str, Any]) -> None:
        """Deletes the C++ objects, whatever Python still holds."""
        widget = facts.pop("widget", None)
        if widget is not None:
            import shiboken6

            shiboken6.delete(widget)

    def pointer(self, name: str) -> int | None:
        """MQtUtil.findControl: the address of the QWidget; None for an unknown name."""
        import shiboken6

        facts = self._scene.controls.get(name)
        return shiboken6.getCppPointer(facts["widget"])[0] if facts else None


def find_icon(name: str) -> Path:
    """Maya looks for a relative name on XBMLANGPATH, which has the icons of the module."""
    assert "/" not in name and (_ICONS / name).is_file(), name
    return _ICONS / name


def teach_ui(scene: Any, teach: Any) -> None:
    """Adds the commands for windows."""
    scene.panels = Controls(scene)

    @teach
    def shelfLayout(name: str, *, parent: str = "", exists: bool = False) -> Any:
        if exists:
            return name in scene.layouts
        assert parent in scene.layouts and name not in scene.layouts
        scene.layouts[name] = []
        # a new tab comes to the front
        scene.shelf = name
        return name

    @teach
    def shelfTabLayout(
        name: str,
        *,
        query: bool = False,
        edit: bool = False,
        selectTab: Any = None,
        numberOfChildren: bool = False,
    ) -> Any:
        assert name == "shelves" and query != edit
        if query and numberOfChildren:
            return len(scene.layouts) - 1
        if query:
            return scene.shelf
        assert selectTab in scene.layouts
        scene.shelf = selectTab
        return None

    @teach
    def optionVar(
        *,
        query: str = "",
        exists: str = "",
        remove: str = "",
        intValue: Any = None,
        stringValue: Any = None,
    ) -> Any:
        if query:
            # Maya answers 0 for a name that it does not know
            return scene.options.get(query, 0)
        if exists:
            return exists in scene.options
        if remove:
            scene.options.pop(remove, None)
            return None
        name, value = intValue or stringValue
        assert isinstance(value, int if intValue else str)
        scene.options[name] = value
        return None

    @teach
    def setParent(name: str) -> None:
        assert name in scene.layouts
        scene.parent = name

    @teach
    def internalVar(*, userPrefDir: bool) -> str:
        return f"{scene.preferences}/"

    @teach
    def menu(
        name: str, *, exists: bool = False, label: str = "", parent: str = "", tearOff: bool = False
    ) -> Any:
        if exists:
            return name in scene.menus
        assert parent in scene.menus and label and name not in scene.menus
        scene.menus[name] = []
        return name

    @teach
    def menuItem(
        *,
        label: str,
        parent: str = "",
        annotation: str = "",
        image: str = "",
        command: str = "",
        sourceType: str = "",
        subMenu: bool = False,
    ) -> str:
        if image:
            find_icon(image)
        assert subMenu or sourceType == "python"
        if subMenu:
            scene.menus[f"{parent}|{label}"] = []
            return f"{parent}|{label}"
        scene.menus.setdefault(parent, []).append({"label": label, "command": command})
        return label

    @teach
    def getClassification(kind: str, *, satisfies: str) -> bool:
        known = node_types().get(kind)
        return known is not None and known.classification.startswith(satisfies)

    @teach
    def deleteUI(name: str, *, layout: bool = False, menu: bool = False) -> None:
        if menu:
            for each in [key for key in scene.menus if key.split("|")[0] == name]:
                del scene.menus[each]
            return
        if not layout:
            scene.panels.delete(name)
            return
        scene.layouts.pop(name)
        if layout and scene.shelf == name:
            scene.shelf = "Polygons"

    @teach
    def workspaceControl(
        name: str,
        *,
        exists: bool = False,
        edit: bool = False,
        restore: bool = False,
        close: bool = False,
        label: str = "",
        uiScript: str = "",
        closeCommand: str = "",
        dockToMainWindow: Any = None,
        initialWidth: int = 0,
        minimumWidth: int = 0,
        retain: bool = True,
    ) -> Any:
        if exists:
            return name in scene.controls
        if edit:
            if close:
                scene.panels.close(name)
            else:
                scene.controls[name]["restored"] = restore
            return None
        facts = {"script": uiScript, "closed": closeCommand, "retain": retain}
        scene.panels.make(name, {**facts, "dock": dockToMainWindow})
        return None

    @teach
    def confirmDialog(
        *,
        title: str,
        message: str,
        button: list[str],
        defaultButton: str = "",
        cancelButton: str = "",
        dismissString: str = "",
    ) -> str:
        scene.dialogs.append(message)
        return scene.answer or button[-1]

    @teach
    def inViewMessage(*, assistMessage: str, position: str, fade: bool) -> None:
        scene.dialogs.append(assistMessage)
