"""The public API: load a document, bake it, open its bundle, verify it.

document = load("tray.mtlx")
for event in bake(document, preset="draft", folder=Path("out")):
    ...
bundle = open_bundle("out/copper_tray.vdg")
assert verify(bundle).holds

Error messages name options of the command. Here `--search` is the argument `search_paths`; the
other options are arguments with the same names.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.inputs import explain_missing_folder
from verdigris.core.base.plain_values import path_from, require_text
from verdigris.core.material.load.changes import DocumentChanges
from verdigris.core.material.load.mtlx_document import Document, load_document, parse_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.baking.prepare import BakeControl
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.scene.scene_pack import ScenePack
    from verdigris.core.bundle.verify.rows import Decoder
    from verdigris.core.bundle.verify.verify import Verification
    from verdigris.core.network.student import Student
    from verdigris.core.progress import Event

__all__ = ["bake", "evaluate", "load", "open_bundle", "open_scene", "parse", "verify"]


@explain_missing_folder()
def load(
    path: str | Path,
    search_paths: str | Path | Sequence[str | Path] = (),
    confined: bool = False,
    inputs: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
) -> Document:
    """Loads a MaterialX document, or a shader file (.slang, .hlsl). `inputs` are values of its
    inputs by name, and `defines` definitions for a shader's preprocessor."""
    changes = DocumentChanges.of(inputs or {}, defines or {})
    folders = _search_paths(search_paths)
    return load_document(path_from(path, "path"), folders, confined, changes=changes)


@explain_missing_folder()
def parse(
    text: str,
    search_paths: str | Path | Sequence[str | Path] = (),
    name: str = "document",
    confined: bool = False,
) -> Document:
    """Loads a MaterialX document from text."""
    require_text(text, "text")
    require_text(name, "name")
    return parse_document(text, _search_paths(search_paths), name, confined)


@explain_missing_folder()
def bake(
    documents: Document | Sequence[Document],
    folder: str | Path,
    material: str | None = None,
    preset: str | None = None,
    device: str | None = None,
    control: BakeControl | None = None,
    name: str | None = None,
    resume: bool = False,
    importance: NDArray[np.float32] | None = None,
    time_limit: float | None = None,
    target_error: float | None = None,
    target: str = "",
    viewport_textures: bool = False,
    live: str | Sequence[str] = (),
    **changes: Any,
) -> Generator[Event, None, None]:
    """Trains one decoder for the materials of these documents, and writes a bundle for each.

    Yields the events of `verdigris.core.progress`; the last is Finished.

    `live` are inputs that stay open, such as "wetness=0..1".

    Other keywords are those of `verdigris.core.baking.bake_request.BakeRequest`, such as
    `directions`, or fields of the preset's settings
    (`verdigris.core.settings.bake_settings.BakeSettings`). Close the generator to cancel the bake.
    Call `stop()` of `control` (`verdigris.core.baking.state.options.BakeControl`) to end training
    early and write the bundle.
    """
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.baking.prepare import BakeControl, open_to_bake, prepare
    from verdigris.core.base.errors import SettingsError

    documents, folder = _require_documents(documents), path_from(folder, "folder")
    for argument, value in (("name", name), ("material", material)):
        if value is not None:
            require_text(value, argument)
    if control is not None and not isinstance(control, BakeControl):
        raise SettingsError(f"control is {control!r}: use a BakeControl")
    request = BakeRequest.of(
        preset=preset,
        resume=resume,
        importance=importance,
        time_limit=time_limit,
        target_error=target_error,
        target=target,
        viewport_textures=viewport_textures,
        live=_as_list(live, str),
        **changes,
    )
    opened = open_to_bake(device)
    chosen = [(each, each.require_material(material)) for each in documents]
    # absolute, because the caller may change the working folder between two events
    prepared = prepare(request, chosen, opened, folder.absolute(), name or None)
    return prepared.with_options(preview_seconds=1.0).bake(control)


@explain_missing_folder()
def open_bundle(path: str | Path) -> Bundle:
    """Opens a bundle. Errors name the faulty file and field."""
    from verdigris.core.bundle.files.read import open_bundle as open_folder

    return open_folder(path_from(path, "path"))


@explain_missing_folder()
def open_scene(path: str | Path) -> ScenePack:
    """Opens a scene pack, which `verdigris pack` made of several bundles."""
    from verdigris.core.bundle.scene.scene_pack import open_scene as open_folder

    return open_folder(path_from(path, "path"))


@explain_missing_folder()
def verify(
    bundle: Bundle | ScenePack | str | Path,
    decoders: Sequence[tuple[str, Decoder]] = (),
    source: Document | None = None,
    device: str | None = None,
    mesh: str | Path | None = None,
) -> Verification:
    """Compares decoders of a bundle with its reference values: the decoder in numpy, those on the
    device, and your own. With the source document, the material's graph is compared, too. For a
    bundle that was baked on a mesh, name the mesh's file with `mesh` if it is not beside the
    document or the bundle. Without a device, only numpy is compared.

    In a scene pack every material is verified, without your own decoders and without a source.
    """
    import warnings

    from verdigris.core.base.errors import SettingsError
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.scene.scene_pack import ScenePack, is_scene
    from verdigris.core.bundle.scene.verify_scene import verify_scene
    from verdigris.core.bundle.verify.device_decoders import decoders_on, device_notes, find_device
    from verdigris.core.bundle.verify.rows import NOTHING
    from verdigris.core.bundle.verify.verify import source_notes
    from verdigris.core.bundle.verify.verify import verify as prove
    from verdigris.core.ladder.mesh.baked_mesh import mesh_notes, source_teacher

    if source is not None:
        _require_document(source)
    if not isinstance(bundle, Bundle | ScenePack):
        folder = path_from(bundle, "bundle")
        bundle = open_scene(folder) if is_scene(folder) else open_bundle(folder)
    if isinstance(bundle, ScenePack):
        if source or decoders:
            raise SettingsError(
                f"{bundle.folder} is a scene pack of several materials: leave out source and "
                "decoders, or verify the single bundles with them"
            )
        return verify_scene(bundle, find_device(device, warnings.warn))
    on = find_device(device, warnings.warn, is_needed=source is not None)
    shipped, notes = (decoders_on(bundle, on), device_notes(bundle, on)) if on else (NOTHING, [])
    teacher = None
    if source and on:
        given = None if mesh is None else path_from(mesh, "mesh")
        teacher = source_teacher(bundle, source, on, mesh=given)
        notes = [*source_notes(bundle, teacher), *mesh_notes(bundle), *notes]
    own = [*shipped.decoders, *decoders]
    return prove(bundle, own, teacher, notes, shipped.samplers, shipped.below)


@explain_missing_folder()
def evaluate(bundle: Bundle | str | Path, device: str | None = None) -> Student:
    """The neural material of a bundle on a device: call its `response(uv, wi, wo)`.

    It evaluates the finest mip level. Set `level` to another number or a fraction; for its lod, a
    runtime looks up the level max(lod / 2, lod - 1).
    """
    from verdigris.core.base.device import open_device
    from verdigris.core.base.errors import SettingsError
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.scene.scene_pack import ScenePack
    from verdigris.core.network.student import Student

    if isinstance(bundle, ScenePack):
        raise SettingsError(
            f"{bundle.folder} is a scene pack of several materials: open their bundles"
        )
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(path_from(bundle, "bundle"))
    return Student(opened.parameters(), open_device(device))


def _search_paths(folders: Any) -> list[Path]:
    return [path_from(each, "search_paths") for each in _as_list(folders, str)]


def _require_documents(documents: Any) -> list[Document]:
    """A list of documents, from one or several."""
    some = _as_list(documents, Document | str)
    for each in some:
        _require_document(each)
    return some


def _require_document(document: Any) -> None:
    """Refuses a path in place of a document."""
    from verdigris.core.base.errors import DocumentError

    if not isinstance(document, Document):
        raise DocumentError(f"{document}: is not an open document: load() it first")


def _as_list(values: Any, one: Any) -> list[Any]:
    """A list of one or several values; values of the type `one` are not iterated."""
    return [values] if isinstance(values, one) or not isinstance(values, Iterable) else [*values]
