"""The windows of the fake Houdini: viewers, panes, dialogs and the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fake_houdini_scene import OperationFailed, Scene
from fake_maya import StrictModule


def make_ui(scene: Scene, wrap: Callable[[str], Any]) -> dict[str, Any]:
    """The names of hou that windows have."""

    class SceneViewer:
        def pwd(self) -> Any:
            return wrap(scene.viewer_pwd)

        def setPwd(self, node: Any) -> None:
            scene.viewer_pwd = node.path()
            # each network has its own current node
            scene.current = ""

        def enterCurrentNodeState(self) -> None:
            # a viewer sees the nodes of its own network only, and enters that network's state else
            inside = scene.current.rpartition("/")[0] == scene.viewer_pwd
            scene.viewer_states.append(scene.current if inside else scene.viewer_pwd)

        def enterViewState(self) -> None:
            scene.viewer_states.append("view")

    class PaneTab:
        pass

    class PythonPanel(PaneTab):
        def __init__(self, shown: Any = None) -> None:
            self._shown = shown

        def activeInterface(self) -> Any:
            return self._shown

        def setActiveInterface(self, interface: Any) -> None:
            scene.panels.append(interface)
            scene.tabs.append(interface)

        def close(self) -> None:
            scene.tabs.remove(self._shown)

        def setIsCurrentTab(self) -> None:
            scene.panels.append("front")

    class Desktop:
        def createFloatingPaneTab(self, kind: str) -> PythonPanel:
            assert kind == "PythonPanel"
            return PythonPanel()

    class Ui(StrictModule):
        def paneTabs(self) -> tuple[PaneTab, ...]:
            return (PaneTab(), *(PythonPanel(shown) for shown in scene.tabs))

        def curDesktop(self) -> Desktop:
            return Desktop()

        def paneTabOfType(self, kind: str) -> Any:
            assert kind == "SceneViewer"
            return SceneViewer()

        def displayMessage(
            self,
            text: str,
            buttons: Any = ("OK",),
            default_choice: int = 0,
            close_choice: int = -1,
            title: str = "",
        ) -> int:
            scene.dialogs.append(text)
            return close_choice

        def setStatusMessage(self, text: str) -> None:
            scene.dialogs.append(text)

        def postEventCallback(self, callback: Any) -> None:
            """ "Run the callback once, at the next idle event"."""
            scene.posted.append(callback)

        def addEventLoopCallback(self, callback: Any) -> None:
            scene.loop.append(callback)

        def removeEventLoopCallback(self, callback: Any) -> None:
            if callback not in scene.loop:
                raise OperationFailed("The callback was not registered")
            scene.loop.remove(callback)

    class Pypanel(StrictModule):
        def interfaces(self) -> dict[str, Any]:
            return scene.interfaces

    return {
        "SceneViewer": SceneViewer,
        "PaneTab": PaneTab,
        "PythonPanel": PythonPanel,
        "Desktop": Desktop,
        "pypanel": Pypanel("hou.pypanel"),
        "ui": Ui("hou.ui"),
    }
