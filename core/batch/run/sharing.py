"""What sharing a decoder costs: each material of a group is baked alone, too, once, and only its
errors are kept."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.checkpoint import STATE_SUFFIX, state_path
from verdigris.core.base.errors import BundleError
from verdigris.core.base.json_fields import find_number, find_table
from verdigris.core.batch.plan.facts import find_differences
from verdigris.core.batch.plan.plan import Choices, Plan, Planned, State, Work, bake_name, work_for
from verdigris.core.batch.plan.state_folder import ALONE, ALONE_FILE, write_json
from verdigris.core.batch.run.child import BAKED
from verdigris.core.batch.run.drive import UP_TO_DATE, Result
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.settings.bake_settings import TRAINERS


@dataclass(frozen=True)
class SharingCost:
    """One material, with a decoder of its own and with a shared one."""

    group: str
    alone_log_mae: float
    """Error on held-out samples of a bake with a decoder of its own, of as many samples."""
    shared_log_mae: float
    """With the shared decoder."""
    weights_bytes: int
    """Of one decoder."""

    @property
    def ratio(self) -> float:
        return self.shared_log_mae / max(self.alone_log_mae, 1e-12)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


class Alone:
    """Errors of materials that were baked alone, kept in a run's state folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / ALONE_FILE
        self._known: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._file.read_text(encoding="utf-8"))
            self._known = found if isinstance(found, dict) else {}

    def works(self, plan: Plan, choices: Choices) -> list[Work]:
        """The bakes that are missing to tell what sharing costs. A bundle that was baked alone,
        and that the shared one is about to replace, spares one."""
        missing = []
        for each in plan.materials:
            if not each.group or each.state == State.BROKEN:
                continue
            single = self._single(each)
            if self._find(each) is not None:
                continue
            source = each.found.get("source", {})
            assert single.wanted is not None
            if source and not find_differences(single.wanted, each.entry, source):
                self._keep(each, each.found["errors"])
            else:
                missing.append(work_for([single], choices, plan.estimate))
        return missing

    def take(self, results: Sequence[Result]) -> None:
        """Keeps the errors of what was baked alone, and lets go of the bundles. The checkpoints of
        what is not finished stay."""
        for result in results:
            is_finished = result.status in (BAKED, UP_TO_DATE)
            if is_finished and result.material.is_comparison:
                with contextlib.suppress(BundleError):
                    self._keep(result.material, open_bundle(result.material.bundle).manifest.errors)
                with contextlib.suppress(OSError):
                    _checkpoint_of(result.material).unlink()
        write_json(self._file, self._known)
        self._clear()

    def cost(self, planned: Planned) -> SharingCost | None:
        """What sharing costs a material whose bundle is there."""
        errors = self._find(planned)
        if errors is None or not planned.group:
            return None
        with contextlib.suppress(BundleError):
            manifest = open_bundle(planned.bundle).manifest
            before, now = _log_mae(errors), _log_mae(manifest.errors)
            if before is not None and now is not None:
                return SharingCost(planned.group, before, now, manifest.weights.bytes)
        return None

    def _single(self, planned: Planned) -> Planned:
        """The material with a decoder of its own."""
        assert planned.wanted is not None
        asked = {key: value for key, value in planned.wanted.asked.items() if key != "group"}
        bundle = self._folder / ALONE / f"{planned.entry.name}{SUFFIX}"
        wanted = replace(planned.wanted, asked=asked)
        single = replace(planned, wanted=wanted, group="", bundle=bundle, state=State.MISSING)
        return replace(single, is_comparison=True)

    def _key(self, planned: Planned) -> str:
        single = self._single(planned)
        assert single.wanted is not None
        settings = [planned.entry.wish.settings_for(kind).text() for kind in TRAINERS]
        text = json.dumps([single.wanted.digest, settings])
        return sha256(text.encode()).hexdigest()

    def _find(self, planned: Planned) -> Mapping[str, Any] | None:
        if planned.wanted is None:
            return None
        kept = find_table(self._known, planned.entry.name)
        return find_table(kept, "errors") if kept.get("key") == self._key(planned) else None

    def _keep(self, planned: Planned, errors: Any) -> None:
        self._known[planned.entry.name] = {"key": self._key(planned), "errors": dict(errors)}

    def _clear(self) -> None:
        """Removes what these bakes have left, but for checkpoints."""
        folder = self._folder / ALONE
        with contextlib.suppress(OSError):
            for path in [*folder.iterdir()]:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif not path.name.endswith(STATE_SUFFIX):
                    path.unlink()
            folder.rmdir()


def _checkpoint_of(planned: Planned) -> Path:
    return state_path(planned.bundle.parent, bake_name(planned))


def _log_mae(errors: Mapping[str, Any]) -> float | None:
    return find_number(find_table(errors, "samples"), "log_mae")
