"""Opens a stage, with the MaterialX documents that it references.

OpenUSD reads .mtlx files with a library that usd-core lacks; Maya, Houdini and Blender have it. If
it is missing, the references, payloads and sublayers that name a document get a layer for it
(document_layer.py) in memory, so that USD composes variants, instances and overrides itself. The
files do not change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError, VerdigrisError
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.load.mtlx_text import LARGEST_BYTES, read_text
from verdigris.core.material.usd.document_layer import layer_of_document

if TYPE_CHECKING:
    from pxr import Sdf, Usd

_SUFFIX = ".mtlx"
# How USD ends its messages: `(instantiating stage on stage @show.usda@ <0x55>)`.
_WHERE = " (instantiating stage on stage @"


@dataclass(frozen=True)
class OpenedStage:
    """A stage, and the documents that it references but that cannot be read, with the reasons."""

    stage: Usd.Stage
    problems: dict[str, str] = field(default_factory=dict)


def open_stage(
    file: Path,
    folders: Sequence[Path] = (),
    confined: bool = False,
    check: Callable[[Path, str], None] = lambda path, asker: None,
) -> OpenedStage:
    """Opens a stage with the documents that it references. These find their includes in `folders`,
    too, and only there if `confined`. `check` refuses documents by raising."""
    from pxr import Sdf

    search = SearchPath.of(folders, confined)
    read: dict[str, Sdf.Layer] = {}
    problems: dict[str, str] = {}
    with _opened(file) as (stage, said):
        found = [] if _reads_documents() else list(_arcs(stage))
        for layer, _, place in found:
            if place not in read and place not in problems:
                try:
                    read[place] = _layer_of(place, layer, search, check)
                except VerdigrisError as failure:
                    problems[place] = str(failure)
        with Sdf.ChangeBlock():
            for layer, written, place in found:
                if place in read:
                    # a first call may replace sublayers alone
                    for _ in range(2):
                        layer.UpdateCompositionAssetDependency(written, read[place].identifier)
                    layer.SetPermissionToSave(False)
    # documents of variants that are not selected are not needed
    used = {
        place: why for place, why in problems.items() if any(f"@{place}" in each for each in said)
    }
    return OpenedStage(stage, used)


def open_stage_for_meshes(file: Path) -> Usd.Stage:
    """Opens a stage whose materials do not matter."""
    with _opened(file) as (stage, _):
        return stage


def _reads_documents() -> bool:
    from pxr import Sdf

    return bool(Sdf.FileFormat.FindByExtension(_SUFFIX[1:]))


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Usd.Stage, list[str]]]:
    """A stage, and what USD said about it. What it says about documents is not shown, because their
    reader is missing and not they."""
    from pxr import Usd, UsdUtils

    caught = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        stage = Usd.Stage.Open(str(file))
        said = [str(each.commentary) for each in caught.TakeUncoalescedDiagnostics()]
        yield stage, said
    finally:
        caught.TakeUncoalescedDiagnostics()
        del caught
    for text in said:
        if (f"{_SUFFIX}@" not in text and f"{_SUFFIX}]@" not in text) or _reads_documents():
            with suppress(OSError):
                print(f"USD: {text.partition(_WHERE)[0]}", file=sys.stderr)


def _arcs(stage: Usd.Stage) -> Iterator[tuple[Sdf.Layer, str, str]]:
    """The layers with references to documents, each with the path that is written there and the
    path that it resolves to."""
    from pxr import Ar, Sdf

    for layer in stage.GetUsedLayers():
        for written in layer.GetCompositionAssetDependencies():
            if Sdf.Layer.SplitIdentifier(written)[0].lower().rstrip("]").endswith(_SUFFIX):
                place = Sdf.ComputeAssetPathRelativeToLayer(layer, written)
                place = Sdf.Layer.SplitIdentifier(place)[0]
                yield layer, written, str(Ar.GetResolver().Resolve(place)) or place


def _layer_of(
    place: str, layer: Sdf.Layer, search: SearchPath, check: Callable[[Path, str], None]
) -> Sdf.Layer:
    from pxr import Ar

    if Ar.IsPackageRelativePath(place):
        return layer_of_document(_packaged(place), place, None, search)
    path = Path(place)
    check(path, place)
    if not path.is_file():
        where = layer.realPath or layer.GetDisplayName()
        raise DocumentError(f"{place}: there is no such file: correct its reference in {where}")
    # images lie beside the path that is named, includes also beside what a link leads to
    folders = search.with_folder(path.resolve().parent).with_folder(path.parent)
    return layer_of_document(read_text(path), place, path.absolute(), folders)


def _packaged(place: str) -> str:
    """The text of a document inside of a package: `props.usdz[wood.mtlx]`."""
    from pxr import Ar

    asset: Any = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(place))
    if not asset:
        raise DocumentError(f"{place}: there is no such file in the package")
    if asset.GetSize() > LARGEST_BYTES:
        raise DocumentError(f"{place}: may have at most {LARGEST_BYTES >> 20} MB")
    try:
        return bytes(asset.GetBuffer()).decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise DocumentError(f"{place}: is not UTF-8 ({failure}): save it in UTF-8") from None
