"""Keeps painted weights in files, and brings them back when their material is opened again."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.base.errors import SettingsError, VerdigrisError, reason
from verdigris.core.base.files import make_folders, remove_file
from verdigris.core.base.process.worker_environment import settings_file
from verdigris.core.base.text import with_plain_letters
from verdigris.core.hosts.host import NORMAL_WEIGHT, Host, HostMaterial
from verdigris.core.importance.kept_weights import (
    SUFFIX,
    read_weights,
    remove_oldest,
    set_aside,
    write_weights,
)
from verdigris.ui.paint.weight_map import Floats, WeightMap
from verdigris.ui.signals import WARNING, Notices

# The scene file, if it was saved, and the material in it.
Owner = tuple[Path | None, HostMaterial | None]

# Seconds without a change before weights are written.
PAUSE = 0.5
# Files in the user's folder.
MOST_KEPT = 200
# Seconds between two looks for the folder of results, which the first bake makes.
_LOOK_INTERVAL = 2.0
_DIGEST_LETTERS, _NAME_LETTERS = 12, 60


class WeightKeeper:
    """Writes weights a moment after they have changed: into the user's folder, by scene and
    material, and beside the checkpoint of the material, so that they move with the scene. The newer
    file counts."""

    def __init__(
        self,
        host: Host,
        weights: WeightMap,
        notices: Notices,
        folder_of: Callable[[Path | None], Path],
    ) -> None:
        """`folder_of`: the folder of the results of a scene."""
        self._host, self._weights, self._notices = host, weights, notices
        self._folder_of = folder_of
        self._changed: dict[Owner, float] = {}
        """When the maps changed that are not written yet."""
        self._damaged: set[Path] = set()
        self._writer = _Writer()
        self._is_restoring = self._has_failed = False
        self._looked = 0.0
        weights.changed.connect(self._note)
        weights.moved.connect(self._note_owners)

    def follow(self, switch: Callable[[], None]) -> None:
        """Lets `switch` show the map of another owner, and reads it if this session has none."""
        self._is_restoring = True
        try:
            switch()
            owner = self._owner
            if owner is not None and owner not in self._changed and not self._weights.is_touched:
                self._read(owner)
        finally:
            self._is_restoring = False

    def _read(self, owner: Owner) -> None:
        self._writer.wait()
        for path in self._sources(owner):
            try:
                self._weights.restore(owner, *read_weights(path))
            except SettingsError as failure:
                self._damaged.add(path)
                self._notices.add(WARNING, str(failure))
            else:
                return

    def poll(self) -> None:
        """Writes what has not changed for a moment, on another thread. Call it often."""
        for failure in self._writer.take_failures():
            if not self._has_failed:
                self._notices.add(WARNING, failure)
            self._has_failed = True
        now = time.monotonic()
        if now - self._looked > _LOOK_INTERVAL:
            self._looked = now
            self._look_beside()
        if self._weights.is_stroking:
            return
        for owner in [each for each, when in self._changed.items() if now - when > PAUSE]:
            self._write(owner)

    def flush(self) -> None:
        """Writes everything, and waits for it."""
        for owner in [*self._changed]:
            self._write(owner)
        self._writer.wait()

    @property
    def is_settled(self) -> bool:
        """Whether everything is written."""
        return not self._changed and not self._writer.is_busy

    @property
    def _owner(self) -> Owner | None:
        owner = self._weights.owner
        return owner if isinstance(owner, tuple) and owner[1] is not None else None

    def _note(self) -> None:
        owner = self._owner
        if owner is not None and not self._is_restoring:
            self._changed[owner] = time.monotonic()

    def _note_owners(self, owners: Iterable[Owner]) -> None:
        """Maps have new owners, or were taken from these."""
        self._changed.update(dict.fromkeys(owners, time.monotonic()))

    def _look_beside(self) -> None:
        """Writes painted weights beside the checkpoint, once a bake has made the folder."""
        owner = self._owner
        if owner is None or owner in self._changed or not self._weights.is_touched:
            return
        path = self._beside(owner)
        if path is not None and path.parent.is_dir() and not path.exists():
            self._changed[owner] = time.monotonic()

    def _write(self, owner: Owner) -> None:
        del self._changed[owner]
        beside, own = self._beside(owner), self._own(owner)
        paths = tuple(each for each in (beside, own) if each is not None)
        damaged = self._damaged & {*paths}
        self._damaged -= damaged
        values, undo = self._weights.stored(owner) or (None, [])
        if not undo and (values is None or (values == NORMAL_WEIGHT).all()):
            values = None
            if owner == self._owner and (unsaved := self._unsaved(owner[1])) is not None:
                # otherwise it would come back
                paths = (*paths, unsaved)
        if paths:
            # undo steps never change
            copied = values.copy() if values is not None else None
            self._writer.write(_Job(paths, own, damaged, copied, tuple(undo)))

    def _sources(self, owner: Owner) -> list[Path]:
        """The files of an owner, the newest first."""
        paths = [each for each in (self._beside(owner), self._own(owner)) if each is not None]
        found = [each for each in paths if each.is_file()]
        if not found and (unsaved := self._unsaved(owner[1])) is not None and unsaved.is_file():
            # a recovered scene has another name
            found = [unsaved]
        return sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)

    def _beside(self, owner: Owner) -> Path | None:
        """The file beside the material's checkpoint. A scene that moves with its results finds it
        again."""
        scene, material = owner
        if scene is None or material is None:
            return None
        folder = self._folder_of(scene)
        try:
            place = os.path.relpath(scene, folder)
        except ValueError:
            # another drive of Windows
            place = str(scene)
        return folder / _file_name(material, place.replace("\\", "/"))

    def _own(self, owner: Owner) -> Path | None:
        """The file in the user's folder."""
        scene, material = owner
        if material is None:
            return None
        if scene is None:
            return self._unsaved(material)
        return _user_folder() / _file_name(material, str(scene))

    def _unsaved(self, material: HostMaterial | None) -> Path | None:
        """The file of a material in a scene that was never saved."""
        if material is None:
            return None
        try:
            identity = self._host.identity(material)
        except VerdigrisError:
            return None
        return _user_folder() / _file_name(material, f"\0{identity}") if identity else None


@dataclass(frozen=True)
class _Job:
    """Files of one map."""

    paths: tuple[Path, ...]
    own: Path | None
    """The one in the user's folder."""
    damaged: set[Path]
    values: Floats | None
    """None: nothing is painted, and the files are removed."""
    undo: tuple[Floats, ...]

    def act(self) -> None:
        """Raises OSError if the weights could be written nowhere."""
        is_kept, failure = False, None
        for path in self.paths:
            try:
                is_kept |= self._act_on(path)
            except OSError as error:
                failure = error
        if failure is not None and not is_kept:
            raise failure

    def _act_on(self, path: Path) -> bool:
        if path in self.damaged:
            set_aside(path)
        if self.values is None:
            remove_file(path)
            return True
        if path == self.own:
            make_folders(path.parent)
        elif not path.parent.is_dir():
            # nothing was baked there
            return False
        write_weights(path, self.values, self.undo)
        if path == self.own:
            remove_oldest(path.parent, MOST_KEPT)
        return True


class _Writer:
    """One thread, which ends when nothing is left to write. Later weights replace those of the same
    files that wait."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Path, ...], _Job] = {}
        self._failures: list[str] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def write(self, job: _Job) -> None:
        with self._lock:
            self._waiting[job.paths] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="weights")
                self._thread.start()

    @property
    def is_busy(self) -> bool:
        return self._thread is not None

    def wait(self) -> None:
        thread = self._thread
        if thread is not None:
            thread.join()

    def take_failures(self) -> list[str]:
        found, self._failures = self._failures, []
        return found

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                job = self._waiting.pop(next(iter(self._waiting)))
            try:
                job.act()
            except OSError as failure:
                path = job.own or job.paths[0]
                self._failures.append(
                    f"{path}: the painted weights cannot be kept ({reason(failure)}): save them "
                    "with Export in the section Paint"
                )


def _user_folder() -> Path:
    return settings_file().parent / "weights"


def _file_name(material: HostMaterial, place: str) -> str:
    """A readable name, and a digest of the place of the material."""
    text = f"{place}\0{material.key}"
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGEST_LETTERS]
    name = with_plain_letters(material.name.strip("|/"))[:_NAME_LETTERS] or "_"
    return f"{name}.{digest}{SUFFIX}"
