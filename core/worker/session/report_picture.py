"""The large pictures of bakes for the report of a queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.worker.protocol import worker_events

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.progress import Event, Finished


def write_pictures(
    finished: Finished, teacher: Teacher, student: Student, post: Callable[[Event], None]
) -> None:
    """Writes them beside the bundles. Without them, the bake is as good."""
    from verdigris.core.pictures.compare.comparison import write_comparison

    try:
        for bundle in finished.results:
            write_comparison(Path(bundle), teacher, student)
    except VerdigrisError as failure:
        post(worker_events.Error(str(failure), "start", type(failure).__name__))
