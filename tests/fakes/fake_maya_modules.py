"""The commands of the fake Maya for modules and plug-ins, as installers use them.

They read and write real files, and run the code of real plug-ins.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


class Modules:
    """What a session of Maya knows of modules, plug-ins and dialogs."""

    def __init__(self, preferences: str) -> None:
        self.preferences = preferences
        self.loaded: list[str] = []
        self.plugins: dict[str, Any] = {}
        self.dialogs: list[str] = []
        self.answer = ""
        self.denies = ""
        """How plug-ins of untrusted places are denied: `loudly`, `quietly`, or not."""


def commands(session: Modules) -> dict[str, Any]:
    """The commands by name."""

    def about(*, version: bool = False, majorVersion: bool = False, batch: bool = False) -> Any:
        return "2026" if version or majorVersion else False

    def internalVar(
        *, userAppDir: bool = False, userPrefDir: bool = False, userShelfDir: bool = False
    ) -> str:
        # Maya's answers end with a slash
        if userAppDir:
            return f"{session.preferences}/"
        assert userPrefDir != userShelfDir
        return f"{session.preferences}/2026/prefs/{'shelves/' if userShelfDir else ''}"

    def pluginInfo(name: str, *, query: bool, loaded: bool) -> bool:
        return name in session.plugins

    def loadPlugin(name: str, *, quiet: bool = False) -> list[str]:
        file = Path(name)
        if not file.is_file():
            raise RuntimeError(f"Plug-in, {name!r}, was not found on MAYA_PLUG_IN_PATH.")
        # Maya's manual, "Secure plug-in loading": the user is asked, or it is denied. Whether the
        # command then fails or does nothing is not told.
        if session.denies == "loudly":
            raise RuntimeError(f"Plug-in, {name!r}, was denied.")
        if session.denies:
            return []
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec and spec.loader
        plugin = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plugin)
        plugin.initializePlugin(object())
        session.plugins[file.stem] = plugin
        return [file.stem]

    def unloadPlugin(name: str) -> list[str]:
        if name not in session.plugins:
            raise RuntimeError(f"Plug-in, {name!r}, is not loaded.")
        try:
            session.plugins[name].uninitializePlugin(object())
        except ImportError as failure:
            raise RuntimeError(f"Plug-in {name} cannot be unloaded: {failure}") from None
        del session.plugins[name]
        return [name]

    def loadModule(*, load: str) -> list[str]:
        if load in session.loaded or not Path(load).is_file():
            raise RuntimeError(f"Module file {load} cannot be loaded")
        session.loaded.append(load)
        return [load]

    def rehash() -> None:
        return None

    def confirmDialog(
        *,
        title: str,
        message: str,
        button: list[str],
        defaultButton: str = "",
        cancelButton: str = "",
        dismissString: str = "",
    ) -> str:
        session.dialogs.append(message)
        # Maya returns a button that is there
        return session.answer if session.answer in button else button[-1]

    return {
        name: command
        for name, command in locals().items()
        if name != "session" and callable(command)
    }
