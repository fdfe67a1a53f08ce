"""Lighting of the panel's pictures: fast on a processor, rich on a GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.geometry.mesh import normalized
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.texels import footprint_width
from verdigris.core.pictures.render import Lighting, shade

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.views import View
    from verdigris.core.worker.protocol.commands import View as ViewCommand

    Floats = NDArray[np.float32]

_STUDIO_SAMPLES = 24
_PLACES = 4
_COARSE_LEVEL_PLACES = 16
_KEY_COLOUR = (2.4, 2.3, 2.2)
# On a processor, two plain lights replace the studio: without noise, at a third of the cost.
_FILLS = (((0.35, 0.35, 0.87), (0.75, 0.78, 0.82)), ((0.9, 0.2, 0.1), (0.9, 1.05, 1.3)))


class Studio:
    """Lights teacher and student alike."""

    def __init__(self, teacher: Teacher, resolution: int) -> None:
        self._teacher = teacher
        self.resolution = resolution

    def shade(self, material: DeviceMaterial, view: View, command: ViewCommand) -> Floats:
        """Light and coverage at the pixels of a view."""
        if not len(view.pixel):
            return np.zeros((0, 4), np.float32)
        if material is self._teacher:
            return self._lit(material, view, command, self._footprint(command.level))
        student: Student = material  # type: ignore[assignment]
        student.level = float(command.level)
        try:
            return self._lit(student, view, command, Footprint())
        finally:
            # the bake measures with the same student, on its finest level
            student.level = 0.0

    def _lit(
        self, material: DeviceMaterial, view: View, command: ViewCommand, footprint: Footprint
    ) -> Floats:
        if material.device.is_software:
            return self._lit_by_three(material, view, command, footprint)
        lighting = Lighting(command.light, _KEY_COLOUR, command.environment, 0.0, _STUDIO_SAMPLES)
        return shade(material, view, lighting, is_flat=True, footprint=footprint)

    def _lit_by_three(
        self, material: DeviceMaterial, view: View, command: ViewCommand, footprint: Footprint
    ) -> Floats:
        """Shades all lights in one dispatch: a surface and its viewer are turned, so that another
        light comes from the direction of the key light."""
        lights = plain_lights(command)
        key = lights[0][0]
        turned = _joined([_turned(view, _rotation(light, key)) for light, _ in lights])
        lighting = Lighting(command.light, (1.0, 1.0, 1.0), environment=0.0, emission=0.0)
        found = shade(material, turned, lighting, is_flat=True, footprint=footprint)
        parts = found.reshape(len(lights), -1, 4)
        colours = np.stack([colour for _, colour in lights]).astype(np.float32)
        result = np.array(parts[0], np.float32)
        result[:, :3] = (parts[..., :3] * colours[:, None]).sum(0)
        return result

    def _footprint(self, level: int) -> Footprint:
        """The footprint of a texel on this level: the detail that a student can have."""
        places = _COARSE_LEVEL_PLACES if level else _PLACES
        return Footprint(footprint_width(max(1, self.resolution >> level), level), places)


def plain_lights(command: ViewCommand) -> list[tuple[Floats, Floats]]:
    """The lights that replace the studio on a processor: unit directions and colours, the key light
    first."""
    found = [(command.light, _KEY_COLOUR, 1.0)]
    if command.environment > 0:
        found += [(direction, colour, command.environment) for direction, colour in _FILLS]
    return [
        (normalized(np.array(direction, np.float32)), np.array(colour, np.float32) * scale)
        for direction, colour, scale in found
    ]


def _rotation(start: Floats, end: Floats) -> Floats:
    """The smallest rotation from one unit vector to another."""
    cosine = float(start @ end)
    if cosine < -0.9999:
        # half a turn about any perpendicular axis
        axis = normalized(np.cross(start, np.eye(3)[np.abs(start).argmin()]))
        return (2 * np.outer(axis, axis) - np.eye(3)).astype(np.float32)
    x, y, z = np.cross(start, end)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / (1 + cosine), np.float32)


def _turned(view: View, rotation: Floats) -> View:
    turn = rotation.T
    return replace(
        view,
        tangent=view.tangent @ turn,
        bitangent=view.bitangent @ turn,
        normal=view.normal @ turn,
        to_eye=view.to_eye @ turn,
    )


def _joined(views: list[View]) -> View:
    names = ("pixel", "uv", "position", "tangent", "bitangent", "normal", "to_eye", "shadow_origin")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(view, name) for view in views]) for name in names
    }
    return replace(views[0], **arrays)
