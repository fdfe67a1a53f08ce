"""Runs in the Python that stands for an application: imports a tree, and opens its panel.

    python -I tree_probe.py HOST TREE PICTURE PATH...

It prints JSON: the modules that were imported and the versions of packages. An empty PICTURE is
not written. check_trees.py starts it.
"""

import importlib
import json
import platform
import sys
import warnings
from pathlib import Path

# A plug-in does not import these before the panel opens, if at all.
LATE = {"PySide6", "MaterialX", "slangpy", "OpenImageIO"}
# In Maya, pxr comes with maya-usd, which is optional.
LATE_IN = {"maya": LATE | {"pxr"}}
_SHOWN = ("numpy", "PySide6", "pxr", "pyqtgraph", "platformdirs")


class Patch:
    """As pytest's monkeypatch, without undoing."""

    def setitem(self, where, name, value):
        where[name] = value

    def delitem(self, where, name):
        del where[name]


def import_all(host: str, tree: Path) -> list:
    """Imports every module of a plug-in on a fake of its application."""
    fake = importlib.import_module(f"fake_{host}")
    fake.install(Patch(), fake.Scene())
    folder = tree / "scripts" / "verdigris" / "plugins" / host
    names = []
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        # a folder without __init__.py is the application's, not a package
        if all((folder.joinpath(*parts[:n]) / "__init__.py").is_file() for n in range(len(parts))):
            inside = [part for part in parts if part != "__init__"]
            importlib.import_module(".".join(["verdigris.plugins", host, *inside]))
            names.append(".".join(parts))
    early = LATE_IN.get(host, LATE) & set(sys.modules)
    if early:
        raise SystemExit(f"{', '.join(sorted(early))}: imported before the panel opens")
    return names


def open_panel(host: str, tree: Path, picture: str) -> int:
    """Opens the panel of an adapter and draws it. Returns its number of colours."""
    import shiboken6
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    application = QApplication([])
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    adapter = importlib.import_module(f"verdigris.plugins.{host}.adapter")
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(getattr(adapter, f"{host.title()}Host")())
    panel.resize(900, 640)
    panel.show()
    panel.model.refresh_materials()
    for _ in range(20):
        application.processEvents()
    drawn = panel.grab().toImage()
    colours = {drawn.pixel(x, y) for x in range(0, 900, 7) for y in range(0, 640, 7)}
    if picture and not drawn.save(picture):
        raise SystemExit(f"{picture} cannot be written")
    panel.shutdown()
    # as an application closes it: Qt 6.5 crashes if Python frees a panel after the application
    # pyqtgraph disconnects from plots that are gone already
    warnings.filterwarnings("ignore", "Failed to disconnect")
    shiboken6.delete(panel)
    origin = sys.modules["verdigris.ui.panel"].__file__
    if str(tree) not in origin:
        raise SystemExit(f"the panel is that of {origin}, not of {tree}")
    return len(colours)


def main(host: str, tree: Path, picture: str, paths: list) -> None:
    # as an application starts: its own packages first, then those of modules or packages
    sys.path += paths
    names = import_all(host, tree)
    colours = open_panel(host, tree, picture)
    if colours < 4:
        raise SystemExit(f"the panel has {colours} colours: it was not drawn")
    found = {name: sys.modules.get(name) for name in _SHOWN}
    versions = {name: getattr(each, "__version__", "yes") for name, each in found.items() if each}
    print(json.dumps({"python": platform.python_version(), **versions, "modules": len(names)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
