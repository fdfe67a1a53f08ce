"""The file NAME.bake.npz: the state of a bake, from which it continues when it was cut off."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.arrays import UNREADABLE, open_archive, stored_text
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.files import remove_file
from verdigris.core.base.json_fields import find_json
from verdigris.core.importance.maps import LARGEST_SIDE, check_importance
from verdigris.core.network.parameters import (
    CheckpointError,
    Parameters,
    from_arrays,
    load_arrays,
    save_arrays,
    to_arrays,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.teacher.teacher import Teacher

VERSION = 3
STATE_SUFFIX = ".bake.npz"
_STATE = "trainer_"
_FACTS = "facts"
_MAP, MAP_SHAPE = "importance", "importance_shape"
_LARGEST_FACTS = 16 << 20
# Letters of a digest in the names of checkpoints, which tell those with one name apart.
_DIGEST_LETTERS = 8


@dataclass(frozen=True)
class Saved:
    """Parameters, facts about them, and the state of a trainer that continues."""

    parameters: Parameters
    facts: dict[str, Any]
    state: dict[str, NDArray[Any]]
    importance: NDArray[np.float32] | None = None
    """The importance map. Earlier versions stored only its digest."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the materials, in the order of their latent textures."""
        return tuple(self.facts["materials"])


def state_path(folder: Path, name: str) -> Path:
    return folder / f"{name}{STATE_SUFFIX}"


def aside_path(folder: Path, name: str, source: str) -> Path:
    """The path of a source's checkpoint while a bake of other materials uses its name."""
    return folder / f"{name}.{source[:_DIGEST_LETTERS]}{STATE_SUFFIX}"


def states_in(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The readable checkpoints in a folder, with the facts about their bakes."""
    for path in sorted(folder.iterdir()):
        if path.name.endswith(STATE_SUFFIX) and (facts := find_facts(path)) is not None:
            yield path, facts


def find_facts(path: Path) -> dict[str, Any] | None:
    """The facts of a checkpoint about its bake; None if it cannot be read. Its numbers, which may
    be gigabytes, are not read."""
    try:
        with open_archive(path) as archive:
            facts = find_json(stored_text(archive, _FACTS, _LARGEST_FACTS))
    except UNREADABLE:
        return None
    return facts if isinstance(facts, dict) and facts.get("version") == VERSION else None


def remove(path: Path) -> None:
    """Removes a checkpoint, if that is possible."""
    if path.exists():
        with contextlib.suppress(OSError):
            remove_file(path)


def clear_leftovers(folder: Path, name: str) -> None:
    """Removes half-written checkpoints. The caller holds the lock of the bake with this name."""
    for path in folder.iterdir():
        # not by a pattern: names of materials can contain brackets
        if path.name.startswith(f".{name}{STATE_SUFFIX}.") and path.suffix == ".tmp":
            remove_file(path)


def save(
    path: Path,
    parameters: Parameters,
    facts: dict[str, Any],
    state: dict[str, NDArray[Any]] | None = None,
    importance: PackedMap | None = None,
) -> None:
    """Writes a whole file or none: the file before stays until the new one is complete."""
    if importance is not None:
        facts = {**facts, MAP_SHAPE: [*importance.shape]}
    text = json.dumps({"version": VERSION, **facts}, sort_keys=True)
    arrays = to_arrays(parameters)
    arrays[_FACTS] = np.frombuffer(text.encode(), np.uint8)
    arrays.update({f"{_STATE}{name}": array for name, array in (state or {}).items()})
    if importance is not None:
        arrays[_MAP] = np.frombuffer(importance.data, np.uint8)
    save_arrays(path, arrays)


def load(path: Path) -> Saved:
    """Reads a file back. An error names the file and what is wrong with it."""
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file")
    arrays = load_arrays(path)
    parameters = from_arrays(arrays, path)
    if _FACTS not in arrays:
        raise CheckpointError(f"{path}: {_FACTS} is missing")
    facts = find_json(arrays[_FACTS].tobytes(), _LARGEST_FACTS)
    if not isinstance(facts, dict) or facts.get("version") != VERSION:
        found = facts.get("version") if isinstance(facts, dict) else facts
        raise CheckpointError(
            f"{path}: its version is {found!r}, and this reads version {VERSION}: bake it again"
        )
    _check_names(path, "materials", facts.get("materials"), parameters)
    state = {
        name.removeprefix(_STATE): array
        for name, array in arrays.items()
        if name.startswith(_STATE)
    }
    return Saved(parameters, facts, state, _unpack_map(path, facts, arrays.get(_MAP)))


@dataclass(frozen=True)
class PackedMap:
    """An importance map, compressed: painted maps shrink to a few kilobytes."""

    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, weights: NDArray[Any]) -> PackedMap:
        return cls(weights.shape, zlib.compress(np.ascontiguousarray(weights, "<f4").tobytes(), 1))


def _unpack_map(
    path: Path, facts: Mapping[str, Any], packed: NDArray[Any] | None
) -> NDArray[np.float32] | None:
    """The importance map of a checkpoint, if it has one."""
    if packed is None:
        return None
    shape = facts.get(MAP_SHAPE)
    is_shape = isinstance(shape, list) and len(shape) == 2
    if not is_shape or not all(type(n) is int and 0 < n <= LARGEST_SIDE for n in shape or ()):
        raise CheckpointError(f"{path}: {MAP_SHAPE} is {shape!r}: it must be rows and columns")
    assert isinstance(shape, list)
    size = 4 * shape[0] * shape[1]
    try:
        # a damaged file may inflate without an end
        data = zlib.decompressobj().decompress(packed.tobytes(), size)
        weights = np.frombuffer(data, "<f4").reshape(shape).astype(np.float32)
        check_importance(weights, _MAP)
    except (zlib.error, ValueError, SettingsError) as failure:
        raise CheckpointError(f"{path}: {_MAP} cannot be read ({failure})") from None
    return weights


def _check_names(path: Path, field: str, names: object, parameters: Parameters) -> None:
    count = parameters.layout.materials
    if (
        not isinstance(names, list)
        or len(names) != count
        or not all(isinstance(name, str) for name in names)
    ):
        raise CheckpointError(
            f"{path}: {_FACTS}: {field} is {names!r}: it must name {count} latent texture(s)"
        )


def source_digest(teachers: Sequence[Teacher], importance: NDArray[Any] | None) -> str:
    """A digest of everything that a bake learns from."""
    digest = hashlib.sha256()
    for teacher in teachers:
        digest.update(teacher.generated.digest.encode())
        digest.update(teacher.texture_digest.encode())
        for each in live_facts(teacher):
            digest.update(each.encode())
    if importance is not None:
        digest.update(str(importance.shape).encode())
        digest.update(np.ascontiguousarray(importance, np.float32).tobytes())
    return digest.hexdigest()


def live_facts(teacher: Teacher) -> list[str]:
    """Each live input with range, default and density, as `--live` takes them."""
    return [str(each.wanted) for each in teacher.live_inputs]


def material_facts(teachers: Sequence[Teacher]) -> dict[str, list[str]]:
    """Names of the materials and their documents."""
    return {
        "sources": [teacher.material.name for teacher in teachers],
        "documents": [teacher.document.name for teacher in teachers],
    }


def materials_of(facts: Mapping[str, Any]) -> list[str]:
    """The materials of a bake in order, each with the name of its document."""
    pairs = zip(_listed(facts, "sources"), _listed(facts, "documents"), strict=False)
    return [f"{name} of {Path(str(document)).name}" for name, document in pairs]


def _listed(facts: Mapping[str, Any], name: str) -> list[Any]:
    found = facts.get(name)
    return found if isinstance(found, list) else []
