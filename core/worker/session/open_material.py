"""The material that is open in a session: its document, its teacher and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import LightingError, MeshError, VerdigrisError
from verdigris.core.worker.protocol import commands, worker_events
from verdigris.core.worker.session.live_pictures import LivePictures

if TYPE_CHECKING:
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress import Event
    from verdigris.core.worker.session.opening import OpenDocument

# The mesh in view and the last ones: meshes can be large.
_MOST_MESHES = 4


@dataclass(frozen=True)
class OpenMaterial:
    """A material that can be baked."""

    opened: OpenDocument
    teacher: Teacher
    show: LivePictures

    @property
    def textures(self) -> Sequence[Mapping[str, Any]]:
        """Its images, from its report."""
        name = self.teacher.material.name
        found = [report for report in self.opened.reports if report.name == name]
        return [asdict(facts) for report in found for facts in report.textures]


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

    def look(self, show: LivePictures | None, command: commands.SetView) -> bool:
        """Changes the view; False if it is refused."""
        try:
            if show is not None:
                show.look(command)
        except (MeshError, LightingError) as failure:
            self._keep_showing(command, failure)
            return False
        self._view = command
        return True

    def take_mesh(self, show: LivePictures | None, command: commands.SetMesh) -> None:
        """Keeps a mesh of the host, and shows it if the view is of this mesh."""
        self.meshes.pop(command.name, None)
        self.meshes[command.name] = command.mesh()
        while len(self.meshes) > _MOST_MESHES:
            del self.meshes[next(name for name in self.meshes if name != self._view.mesh)]
        if show is not None and (self._view.shape, self._view.mesh) == ("mesh", command.name):
            show.look(self._view, is_new=True)

    def _keep_showing(self, refused: commands.SetView, failure: VerdigrisError) -> None:
        """Posts why a view is refused, and the view that stays."""
        view = self._view
        shown = view.mesh if view.shape == "mesh" else f"the {view.shape}"
        if isinstance(failure, LightingError):
            shown = f"the light {view.lit_by or 'of the studio'}"
        self._post(
            worker_events.Error(f"{failure}; {shown} is shown", "view", type(failure).__name__)
        )
        self._post(worker_events.Showing(refused.number, view.shape, view.mesh, view.lit_by))
