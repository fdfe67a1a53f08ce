"""Writes a bundle for an engine: a folder to copy into a project of its user.

Each engine is a folder of templates in `shaders/bundle/engines`, and a function that adds what
depends on the numbers of the bundle. Names and texts of templates may contain WORDS.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import verdigris.core
from verdigris.core.base.errors import BundleError
from verdigris.core.base.files import make_folders
from verdigris.core.base.outputs import MANIFEST_FILE, write_file
from verdigris.core.base.text import version
from verdigris.core.bundle.engines.godot import godot_files
from verdigris.core.bundle.engines.heights import height_files
from verdigris.core.bundle.engines.unity import unity_files
from verdigris.core.bundle.engines.unreal import unreal_files
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX
from verdigris.core.bundle.files.read import read_recorded, read_whole
from verdigris.core.bundle.files.replace_folder import bundle_name
from verdigris.core.bundle.shader_templates import fill
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

TEMPLATES = SHADER_FOLDER / "bundle" / "engines"
_WEB_SOURCES = Path(verdigris.core.__file__).parent.parent / "web" / "src"

Files = dict[str, bytes]


@dataclass(frozen=True)
class Engine:
    """An engine that bundles are exported for."""

    title: str
    add: Callable[[Bundle, str], Files]
    """The files that depend on the bundle, for its name as an identifier."""
    heights: str | None = None
    """Where it gets the height map, for meshes that are tessellated."""
    refuses: tuple[str, ...] = ()
    """Fields of the manifest that its files do not support."""


def export_engine(bundle: Bundle, target: str, folder: Path) -> list[Path]:
    """Writes the files for an engine of ENGINES. Returns their paths."""
    engine = ENGINES[target]
    for field in engine.refuses:
        if getattr(bundle.manifest, field):
            raise BundleError(
                f"{bundle.folder}: {_REASONS[field]}, which {engine.title} cannot show yet"
            )
    name = identifier(bundle)
    words = {
        "NAME": name,
        "LABEL": bundle.manifest.name,
        "VERSION": version(),
        "FRAME": (TEMPLATES / "frame.hlsl").read_text("utf-8"),
        "BUNDLE": bundle_name(bundle.folder) + SUFFIX,
        "SEEN": "",
    }
    files = {
        fill(path, words): fill(text, words).encode() for path, text in templates(target).items()
    } | engine.add(bundle, name)
    if engine.heights is not None:
        files |= {
            f"{fill(engine.heights, words)}{path}": data
            for path, data in height_files(bundle, name).items()
        }
    for path in sorted({str(PurePosixPath(each).parent) for each in files}):
        make_folders(folder / path)
    for path, data in files.items():
        write_file(folder / path, data)
    return [folder / path for path in files]


def templates(target: str) -> dict[str, str]:
    """The templates of an engine, by their path in the result."""
    root = TEMPLATES / target
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def identifier(bundle: Bundle) -> str:
    """The bundle's name in letters, digits and underscores."""
    return re.sub(r"\W", "_", bundle_name(bundle.folder), flags=re.ASCII)


def _stored(bundle: Bundle) -> Files:
    """The bundle's own files without its shaders and pictures."""
    manifest = bundle.manifest
    left_out = {each.file for each in manifest.runtime}
    if manifest.preview:
        left_out.add(manifest.preview.file)
    files = {
        record.file: read_recorded(bundle.folder, record)
        for record in manifest.records
        if record.file not in left_out
    }
    return files | {MANIFEST_FILE: read_whole(bundle.folder, MANIFEST_FILE, LARGEST_MANIFEST)}


# Modules of the browser package that belong to an application of their own.
_WEBGPU = "webgpu", "three_webgpu", "wgsl", "wgsl_environment", "wgsl_relief", "wgsl_sides"
_OF_OTHERS = {
    "react": ("babylon", "babylon_shadows", *_WEBGPU),
    "babylon": ("react", "three", "three_textures", *_WEBGPU),
}


def _browser_package(target: str) -> Callable[[Bundle, str], Files]:
    """The bundle in `public`, and the sources of the browser package."""

    def add(bundle: Bundle, _: str) -> Files:
        folder = f"public/{bundle_name(bundle.folder)}{SUFFIX}"
        sources = {
            f"verdigris/{path.name}": path.read_bytes()
            for path in sorted(_WEB_SOURCES.iterdir())
            if path.suffix in (".js", ".ts") and path.name.split(".")[0] not in _OF_OTHERS[target]
        }
        return {f"{folder}/{name}": data for name, data in _stored(bundle).items()} | sources

    return add


_REASONS = {"tiles": "it has UDIM tiles"}
ENGINES = {
    "godot": Engine("Godot", godot_files, ""),
    "unity": Engine("Unity", unity_files, "Assets/"),
    "unreal": Engine(
        "Unreal Engine", unreal_files, "Plugins/Verdigris/Resources/@NAME@/", ("tiles",)
    ),
    "react": Engine("@react-three/fiber", _browser_package("react")),
    "babylon": Engine("Babylon.js", _browser_package("babylon")),
}
