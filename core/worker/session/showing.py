"""What a session shows: the requested view, and bundles in place of a bake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import BundleError, LightingError, MeshError, VerdigrisError
from verdigris.core.worker.protocol import commands, worker_events
from verdigris.core.worker.session.live_pictures import LivePictures

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.progress import Event
    from verdigris.core.worker.drawing.compared import ComparedPictures

# The mesh in view and the last ones: meshes can be large.
_MOST_MESHES = 4


class RequestedView:
    """The requested view, and the host's meshes, which outlive a material."""

    def __init__(self, post: Callable[[Event], None]) -> None:
        self._post = post
        self._view = commands.SetView()
        self.meshes: dict[str, Mesh] = {}

    def open(self, teacher: Teacher, resolution: int) -> LivePictures:
        """The pictures in the requested view; with a sphere if its mesh is missing."""
        try:
            return LivePictures(teacher, self._view, resolution, self._post, self.meshes)
        except VerdigrisError as failure:
            refused = self._view
            self._view = replace(refused, shape="sphere", mesh="", lit_by="")
            self._keep_showing(refused, failure)
            return LivePictures(teacher, self._view, resolution, self._post, self.meshes)

    @property
    def now(self) -> commands.SetView:
        return self._view

    def look(
        self, pictures: LivePictures | ComparedPictures | None, command: commands.SetView
    ) -> bool:
        """Changes the view; False if it is refused."""
        try:
            if pictures is not None:
                pictures.look(command)
        except (MeshError, LightingError) as failure:
            self._keep_showing(command, failure)
            return False
        self._view = command
        return True

    def take_mesh(
        self, pictures: LivePictures | ComparedPictures | None, command: commands.SetMesh
    ) -> None:
        """Keeps a mesh of the host, and shows it if the view is of this mesh."""
        self.meshes.pop(command.name, None)
        self.meshes[command.name] = command.mesh()
        while len(self.meshes) > _MOST_MESHES:
            del self.meshes[next(name for name in self.meshes if name != self._view.mesh)]
        is_in_view = (self._view.shape, self._view.mesh) == ("mesh", command.name)
        if pictures is not None and is_in_view:
            pictures.look(self._view, is_new=True)

    def _keep_showing(self, refused: commands.SetView, failure: VerdigrisError) -> None:
        """Posts why a view is refused, and which view stays."""
        view = self._view
        shown = view.mesh if view.shape == "mesh" else f"the {view.shape}"
        if isinstance(failure, LightingError):
            shown = f"the light {view.lit_by or 'of the studio'}"
        self._post(
            worker_events.Error(f"{failure}; {shown} is shown", "view", type(failure).__name__)
        )
        self._post(worker_events.Showing(refused.number, view.shape, view.mesh, view.lit_by))


@dataclass(frozen=True)
class ShownBundle:
    """A bundle in the pictures."""

    student: Student
    resolution: int
    live: tuple[LiveInput, ...]
    """The live inputs of the bundle, which may differ from those of the open material."""


def open_students(
    command: commands.Show, teacher: Teacher
) -> tuple[ShownBundle, ShownBundle | None]:
    """The bundle, and the one to compare it with, if any."""
    bundle = _open(command.path, teacher)
    other = _open(command.against, teacher) if command.against else None
    return _shown(bundle, teacher), _shown(other, teacher) if other else None


def _open(path: str, teacher: Teacher) -> Bundle:
    from verdigris.core.bundle.files.read import open_bundle

    bundle = open_bundle(Path(path))
    if bundle.source_name != teacher.material.name:
        raise BundleError(
            f"{path}: contains the material {bundle.source_name!r}, and "
            f"{teacher.material.name!r} is open: choose that material to show it"
        )
    return bundle


def _shown(bundle: Bundle, teacher: Teacher) -> ShownBundle:
    from verdigris.core.network.student import Student

    student = Student(bundle.parameters(), teacher.device)
    return ShownBundle(student, bundle.layout.width, bundle.manifest.live)
