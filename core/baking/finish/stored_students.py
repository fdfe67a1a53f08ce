"""The numbers of every material as its bundle stores them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.stored_textures import TEXEL_FORMATS
from verdigris.core.bundle.files.write import Exported, export_numbers, export_with
from verdigris.core.bundle.precision.half_errors import order_units
from verdigris.core.network.student import Student

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.network.parameters import FloatArray, Parameters


class StoredStudents:
    """Each material's stored numbers, one at a time on the device."""

    def __init__(self, run: Run, decoder: FloatArray) -> None:
        """With this rounded decoder."""
        self.run = run
        trained = run.learner.filled_parameters()
        self.trained = order_units(replace(trained, decoder=decoder))
        self.head: FloatArray | None = None
        self._student: Student | None = None
        self._last: tuple[int, Exported] | None = None

    def of(self, material: int) -> tuple[Exported, Student]:
        """The numbers of this material's bundle, and the student that has them."""
        if self._last is None or self._last[0] != material:
            # freed first: the texels of two materials may not fit into memory
            self._last = None
            self._last = material, _export(self.run, self.trained, material)
            parameters = self._last[1].parameters
            if self._student is None:
                self._student = Student(parameters, self.run.teachers[material].device)
            else:
                self._student.update(parameters)
                self._student.live = parameters.live
        assert self._student is not None
        exported = self._last[1]
        stored = replace(exported.parameters, head=self.head)
        return replace(exported, parameters=stored), self._student

    def each(self) -> Iterator[tuple[Parameters, Student]]:
        """The numbers of every material, one after the other on the device."""
        for material in range(len(self.run.teachers)):
            exported, student = self.of(material)
            yield exported.parameters, student


@profiled("store latents: export")
def _export(run: Run, trained: Parameters, material: int) -> Exported:
    trained = replace(trained, live=run.teachers[material].live)
    if run.blocks:
        return export_with(trained, run.blocks[material], material)
    trainer, texel_format = run.learner.trainer, TEXEL_FORMATS[run.settings.latent_format]
    ranges = trainer.latent_ranges()
    known = ranges[material] if ranges else None
    return export_numbers(trained, material, texel_format, known, trainer.latent_squares())
