"""Where results lie: one rule for the command, the panel and the plug-ins."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from verdigris.core.base.errors import BundleError, VerdigrisError
from verdigris.core.base.json_fields import find_table, load_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.process.worker_environment import read_setting, store_setting
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX

RESULT_FOLDER = "neural"
# Where earlier releases wrote the results of a Blender scene.
_OF_BLENDER = "verdigris"
_SETTING = "result_folder"
# The most bundles of a folder that are looked at.
_MOST_BUNDLES = 40


def result_folder(scene: Path | None, chosen: str | None = None) -> Path:
    """The folder of the results of a document or scene: `neural` beside it, or the one that is
    chosen on this machine. A relative choice is beside the scene. A scene that was never saved has
    the user's folder."""
    chosen = chosen_folder() if chosen is None else chosen
    return (scene.parent if scene else Path.home()) / (chosen or RESULT_FOLDER)


def find_result_folder(
    scene: Path | None, name: str, chosen: str | None = None, others: Sequence[Path] = ()
) -> Path:
    """The folder of the result NAME.vdg: where an earlier release wrote it, if it is still there,
    so that its versions go on; else `result_folder`. `others`: further folders to look into."""
    chosen = chosen_folder() if chosen is None else chosen
    folder, file = result_folder(scene, chosen), f"{name}{SUFFIX}"
    if scene is None or chosen or not name or (folder / file).exists():
        return folder
    if (scene.parent / _OF_BLENDER / file / MANIFEST_FILE).is_file():
        return scene.parent / _OF_BLENDER
    # the command wrote into the folder that it was called in
    earlier = (scene.parent, *others)
    return next((each for each in earlier if source_document(each / file) == scene.name), folder)


def find_result(document: Path, material: str = "") -> Path | None:
    """The newest bundle of a document, or of one of its materials, in its results."""
    if material:
        named = find_result_folder(document, material) / f"{material}{SUFFIX}"
        return named if (named / MANIFEST_FILE).is_file() else None
    for folder in dict.fromkeys((result_folder(document), document.parent)):
        found: list[tuple[float, Path]] = []
        with contextlib.suppress(OSError):
            for bundle in folder.glob(f"*{SUFFIX}"):
                with contextlib.suppress(OSError):
                    found.append(((bundle / MANIFEST_FILE).stat().st_mtime, bundle))
        newest = [bundle for _, bundle in sorted(found, reverse=True)][:_MOST_BUNDLES]
        own = (each for each in newest if source_document(each) == document.name)
        if (first := next(own, None)) is not None:
            return first
    return None


def source_document(bundle: Path) -> str:
    """The file name of the document that a bundle was baked from; empty if nothing tells."""
    path = bundle / MANIFEST_FILE
    try:
        with path.open("rb") as file:
            manifest = load_json(file.read(LARGEST_MANIFEST), str(path), BundleError)
    except (OSError, VerdigrisError):
        return ""
    name = find_table(manifest, "source").get("document") if isinstance(manifest, dict) else None
    return name if isinstance(name, str) else ""


def chosen_folder() -> str:
    """The folder that this machine writes results to; empty for the one beside each scene."""
    try:
        found = read_setting(_SETTING)
    except VerdigrisError:
        return ""
    return found if isinstance(found, str) else ""


def choose_folder(folder: str) -> None:
    """Changes the folder that this machine writes results to."""
    store_setting(_SETTING, folder or None)
