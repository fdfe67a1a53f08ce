"""The inputs of a bundle, compared with those that its manifest records."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import recorded_fields
from verdigris.core.base.errors import SceneError, VerdigrisError
from verdigris.core.base.files import replace_file
from verdigris.core.base.json_fields import find_json_file, find_table, find_whole
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import counted, printable, version
from verdigris.core.batch.scene.entry import Entry
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_all_wanted
from verdigris.core.material.load.provenance import (
    Digest,
    changed_mesh,
    changed_sources,
    file_digest,
    file_facts,
    source_facts,
)
from verdigris.core.settings.bake_settings import as_read, unequal
from verdigris.core.settings.presets import Kind

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document

_DIGESTS_FILE = "file_digests.json"
# A younger file can change again without a change of its time stamp.
_YOUNGEST_NANOSECONDS = 2_000_000_000
_MOST_DIGESTS = 200_000
# How a bake ends that was not ended early.
_WHOLE = ("steps", "time limit", "target error", "quality")
_WITHOUT_SETTINGS = "its manifest has no valid settings"


class DigestCache:
    """Digests of files by path. A digest is valid while size and time of the file stay the same.
    Without a folder, the cache lives as long as the process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = folder / _DIGESTS_FILE if folder else None
        self._known: dict[str, list[int | str]] = _read_digests(self._file)
        self._fresh: dict[Path, str] = {}
        self._has_new = False
        self.read = 0
        """The number of files that were read."""

    def __call__(self, path: Path) -> str:
        if path in self._fresh:
            return self._fresh[path]
        state = path.stat()
        mark: list[int | str] = [state.st_size, state.st_mtime_ns, state.st_ino]
        key = str(resolved(path))
        kept = self._known.get(key)
        if kept is not None and kept[:3] == mark:
            found = str(kept[3])
        else:
            found = file_digest(path)
            self.read += 1
            if time.time_ns() - state.st_mtime_ns > _YOUNGEST_NANOSECONDS:
                self._known[key] = [*mark, found]
                self._has_new = True
        self._fresh[path] = found
        return found

    def look_again(self) -> None:
        """Files that were read before may have changed, in a process that lives long."""
        self._fresh.clear()

    def save(self) -> None:
        """Saves the cache for the next process, if possible."""
        if self._file is None or not self._has_new:
            return
        kept = dict(list(self._known.items())[-_MOST_DIGESTS:])
        with contextlib.suppress(OSError):
            replace_file(self._file, json.dumps(kept).encode())
        self._has_new = False


def _read_digests(file: Path | None) -> dict[str, list[int | str]]:
    if file is None:
        return {}
    found = find_json_file(file)
    if isinstance(found, dict):
        return {
            key: value
            for key, value in found.items()
            if isinstance(value, list) and len(value) == 4
        }
    return {}


@dataclass(frozen=True)
class BundleInputs:
    """The inputs that a material's bundle would have if it were baked now."""

    material: str
    """The name in the document."""
    sources: Mapping[str, Any]
    """The document, its files and images, as manifests record them."""
    asked: Mapping[str, Any]
    """The section `asked` of the manifest: importance map and group."""
    live: tuple[str, ...] = ()
    """Live inputs, as manifests record them."""
    mesh: Mapping[str, Any] = field(default_factory=dict)
    """The mesh of the bake, as manifests record it."""

    @property
    def digest(self) -> str:
        """Differs if an input differs. Settings are compared separately."""
        text = json.dumps([self.material, self.sources, self.asked, version()], sort_keys=True)
        return sha256(text.encode()).hexdigest()


def collect_inputs(entry: Entry, document: Document, digest: Digest = file_digest) -> BundleInputs:
    """The inputs of an entry, from its files as they are now."""
    material = document.require_material(entry.material or None)
    document.check(material)
    asked: dict[str, Any] = {}
    importance = entry.request.importance_file
    if importance is not None:
        if not importance.is_file():
            raise SceneError(f"{importance}: there is no such importance map")
        asked["importance"] = file_facts(importance, digest)
    live = find_live_inputs(document, material, entry.request.live or ())
    return BundleInputs(
        material.name,
        source_facts(document, material, digest),
        asked,
        tuple(str(each.wanted) for each in live),
    )


def with_live_of_bundle(entry: Entry, document: Document, bundle: Path) -> Entry:
    """The entry with the live inputs of its bundle, unless the scene names some. A bake by hand may
    have opened them, and a bake of the scene must not close them."""
    if entry.request.live is not None:
        return entry
    wanted: tuple[WantedInput, ...] = ()
    # there are none without a bundle, or if its graph had other inputs
    with contextlib.suppress(VerdigrisError):
        found = open_bundle(bundle).manifest.source.get("live")
        texts = list(map(str, found)) if isinstance(found, list) else []
        asked = parse_all_wanted(texts)
        find_live_inputs(document, document.require_material(entry.material or None), asked)
        wanted = asked
    return replace(entry, request=replace(entry.request, live=wanted))


def with_group(inputs: Sequence[BundleInputs], name: str) -> list[BundleInputs]:
    """The inputs of materials that share a decoder, which depend on each other."""
    together = sha256("".join(each.digest for each in inputs).encode()).hexdigest()
    group = {"name": name, "size": len(inputs), "digest": together}
    return [replace(each, asked={**each.asked, "group": group}) for each in inputs]


def find_differences(
    inputs: BundleInputs, entry: Entry, found: Mapping[str, Any], trainer: str | None = None
) -> list[str]:
    """Reasons why a bundle with this `source` section is out of date."""
    reasons: list[str] = []
    if found.get("material") != inputs.material:
        reasons.append(f"is of the material {found.get('material')!r}")
    now = inputs.sources
    reasons += changed_sources(found, now)
    reasons += changed_mesh(find_table(found, "mesh"), inputs.mesh)
    reasons += _changed_live(found.get("live"), inputs.live)
    asked = find_table(found, "asked")
    reasons += _changed_map(found, asked, inputs.asked)
    if asked.get("group") != inputs.asked.get("group"):
        reasons.append(_changed_group(asked.get("group"), inputs.asked.get("group")))
    elif "group" not in asked:
        reasons += _shared_outside(found)
    for what, value in (("verdigris", version()), ("materialx", now["materialx"])):
        if found.get(what) != value:
            reasons.append(f"was made with {what} {found.get(what)}, this is {value}")
    if trainer is not None and found.get("trainer") != trainer:
        reasons.append(f"was made by the trainer {found.get('trainer')}, requested is {trainer}")
    if found.get("stopped_by") not in _WHOLE:
        reasons.append("its bake was ended early")
    reasons += _changed_settings(entry, found)
    # texts in a bundle come from outside, and are printed on terminals
    return [printable(each) for each in reasons]


def _changed_live(before: Any, now: Sequence[str]) -> list[str]:
    old = list(map(str, before)) if isinstance(before, list) else []
    if old == [*now]:
        return []
    shown, earlier = (", ".join(each) or "none" for each in (now, old))
    return [f"live inputs are {shown}, were {earlier}"]


def _changed_map(
    found: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]
) -> list[str]:
    old, new = before.get("importance"), now.get("importance")
    if new is None:
        # on a mesh, places without a triangle have the weight 0
        if "importance_sha256" in found and (old is not None or not find_table(found, "mesh")):
            return ["was baked with an importance map, and none is requested"]
        return []
    if old is None:
        return [f"was baked without the importance map {new['file']}"]
    same = isinstance(old, Mapping) and old.get("sha256") == new["sha256"]
    return [] if same else [f"the importance map {new['file']} has changed"]


def _changed_group(before: Any, now: Any) -> str:
    if now is None:
        return "shares its decoder, and should have its own"
    if before is None:
        return f"has a decoder of its own, and should share that of {now['name']}"
    return f"a material that shares the decoder of {now['name']} has changed"


def _shared_outside(found: Mapping[str, Any]) -> list[str]:
    """A reason for a bundle that one `verdigris bake` made together with others. Each of them has a
    part of the samples."""
    names = found.get("decoder_shared_by")
    if not isinstance(names, list) or len(names) < 2:
        return []
    others = counted(len(names) - 1, "other")
    return [f"shares its decoder with {others}, and should have its own"]


def _changed_settings(entry: Entry, found: Mapping[str, Any]) -> list[str]:
    reasons = []
    for what in recorded_fields():
        before, now = found.get(what), getattr(entry.request, what) or None
        if before != now:
            reasons.append(f"{what} is {now}, was {before}")
    before = found.get("settings")
    if not isinstance(before, Mapping) or found.get("trainer") not in ("tensor", "numpy"):
        return [*reasons, _WITHOUT_SETTINGS]
    size = find_whole(find_table(find_table(found, "asked"), "group"), "size") or 1
    recipe = entry.request.recipe(found["trainer"], max(1, size))
    kinds = [kind for kind in Kind if kind.value == found.get("kind")]
    if not kinds:
        return [*reasons, _WITHOUT_SETTINGS]
    now = as_read(recipe[kinds[0]])
    if entry.request.time_limit:
        now["iterations"] = before.get("iterations")
        # a bake with a time limit may skip the encoder
        if before.get("encode_from") == 0:
            now["encode_from"] = 0
    return reasons + [f"{name} is {value}, was {old}" for name, value, old in unequal(before, now)]
