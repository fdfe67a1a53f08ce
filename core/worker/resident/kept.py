"""The compiled materials of a guest's last bake, for another bake of the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import VerdigrisError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.baking.bake_job import OpenJob
    from verdigris.core.baking.prepare import Prepared
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher


class KeptTeachers:
    """Those of one bake."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Releases them, and what they hold on the device."""
        self._key: Any = None
        self._teachers: Sequence[Teacher] = ()

    def prepare(self, opened: OpenJob, device: Device) -> Prepared:
        """Prepares a bake, with the kept materials if they would be compiled from the same files
        again."""
        key = _key_of(opened)
        is_same = key is not None and key == self._key
        teachers = self._teachers if is_same and _are_current(self._teachers) else None
        self.forget()
        prepared = opened.prepare(device, teachers=teachers)
        self._key, self._teachers = key, prepared.teachers
        return prepared


def _key_of(opened: OpenJob) -> Any:
    """What compiled materials depend on, with digests of all files; None if one is missing."""
    from verdigris.core.material.load.provenance import source_facts

    job = opened.job
    try:
        facts = [source_facts(document, material) for document, material in opened.chosen]
    except VerdigrisError:
        return None
    asked = job.files, job.search, job.confined, job.inputs, job.defines, job.request.live
    return asked, facts, [material.path for _, material in opened.chosen]


def _are_current(teachers: Sequence[Teacher]) -> bool:
    return not any(teacher.changed_files() for teacher in teachers)
