"""Lighting of the panel's pictures: quick while something moves, and converging afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.geometry.mesh import normalized
from verdigris.core.lighting.bvh import NOTHING, build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh, DeviceEnvironment
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.lighting.principal_lights import principal_lights
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.latents.texels import footprint_width
from verdigris.core.pictures.backdrop import blurred
from verdigris.core.pictures.environment_render import EnvironmentLighting, light_pass
from verdigris.core.pictures.picture_files import resized
from verdigris.core.pictures.render import Lighting, shade
from verdigris.core.worker.drawing.canvas import Tone
from verdigris.core.worker.drawing.shown_meshes import file_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.worker.drawing.frame import Frame
    from verdigris.core.worker.protocol.commands import View as ViewCommand

    Floats = NDArray[np.float32]
    Lights = list[tuple[Floats, Floats]]

_STUDIO_SAMPLES = 24
_PLACES = 4
_COARSE_LEVEL_PLACES = 16
# Lights that stand for an environment on a processor: each costs an evaluation of the material.
_PRINCIPAL_LIGHTS = 4
# Pairs of directions of a pass: on a processor, and of the quick picture on a graphics card.
_PAIRS, _QUICK_PAIRS = 4, 16
_KEY_COLOUR = (2.4, 2.3, 2.2)
# Without an environment, plain lights replace the studio on a processor.
_FILLS = (((0.35, 0.35, 0.87), (0.75, 0.78, 0.82)), ((0.9, 0.2, 0.1), (0.9, 1.05, 1.3)))


class Studio:
    """Lights teacher and student alike."""

    def __init__(self, teacher: Teacher, resolution: int) -> None:
        self._teacher = teacher
        self.resolution = resolution
        self._uploaded: dict[tuple[str, int], DeviceEnvironment] = {}
        self._occluders: tuple[Mesh | None, DeviceBvh] | None = None
        self.inputs_of: Mapping[int, Sequence[LiveInput]] = {}
        """Live inputs of bundles, by the identity of their students: others have the teacher's."""

    def check(self, command: ViewCommand) -> None:
        """Reads the environment of a view; raises an error if that is not possible."""
        if command.lit_by:
            _read(*file_key(command.lit_by))

    def tone(self, command: ViewCommand) -> Tone:
        exposure = command.exposure
        if command.lit_by:
            exposure += self.exposure(command)
        return Tone(exposure, bool(command.lit_by) and command.tone == "film")

    def exposure(self, command: ViewCommand) -> float:
        """That of the light alone, in stops."""
        return _environment(command).exposure if command.lit_by else 0.0

    def behind(self, command: ViewCommand, frame: Frame) -> Floats | None:
        """The light of the backdrop, (N, 3); None for the grey one."""
        if not command.lit_by or command.backdrop == "grey":
            return None
        soft = _soft(*file_key(command.lit_by)).turned(command.rotate)
        rays, (height, width) = frame.rays()
        seen = soft.radiance(rays).reshape(height, width, 3).astype(np.float32)
        return resized(seen, frame.height, frame.width).reshape(-1, 3)

    def quick(
        self,
        material: DeviceMaterial,
        view: GBuffer,
        command: ViewCommand,
        mesh: Mesh | None = None,
        places: int = _PLACES,
    ) -> Floats:
        """Light and coverage at the pixels of a view, by few lights."""
        footprint = self._footprint(material, command.level, places)
        if material.device.is_software:
            return self._on(material, view, command, footprint, self._by_few)
        if not command.lit_by:
            return self._on(material, view, command, footprint, _in_studio)
        lighting = self._lighting(command, mesh)

        def lit(
            material: DeviceMaterial, view: GBuffer, _command: ViewCommand, footprint: Footprint
        ) -> Floats:
            return light_pass(material, view, lighting, _QUICK_PAIRS, 0, footprint)

        return self._on(material, view, command, footprint, lit)

    def fine(
        self,
        material: DeviceMaterial,
        view: GBuffer,
        command: ViewCommand,
        number: int,
        mesh: Mesh | None = None,
    ) -> Floats:
        """A pass of the whole environment, with shadows."""
        footprint = self._footprint(material, command.level, 1)
        lighting = self._lighting(command, mesh)

        def lit(
            material: DeviceMaterial, view: GBuffer, _command: ViewCommand, footprint: Footprint
        ) -> Floats:
            return light_pass(material, view, lighting, _PAIRS, number, footprint)

        return self._on(material, view, command, footprint, lit)

    def _on(
        self,
        material: DeviceMaterial,
        view: GBuffer,
        command: ViewCommand,
        footprint: Footprint,
        light: Any,
    ) -> Floats:
        if not len(view.pixel):
            return np.zeros((0, 4), np.float32)
        # the bake measures with the same materials meanwhile, on the finest level and at defaults
        shown = copy(material)
        shown.live = self.live_of(material, command)
        if material is self._teacher:
            return np.asarray(light(shown, view, command, footprint))
        student: Student = shown  # type: ignore[assignment]
        student.level = float(command.level)
        return np.asarray(light(student, view, command, Footprint()))

    def live_of(self, material: object, command: ViewCommand) -> tuple[float, ...]:
        """Values of a material's live inputs in a view, from 0 to 1."""
        inputs, values = self._teacher.live_inputs, command.live
        if len(values) != len(inputs):
            # of the material that was open before
            values = self._teacher.live
        own = self.inputs_of.get(id(material), inputs)
        if own == inputs:
            return tuple(values)
        known = {each.name: each.value_of(at) for each, at in zip(inputs, values, strict=True)}
        return tuple(_share(each, known.get(each.name)) for each in own)

    def _by_few(
        self, material: DeviceMaterial, view: GBuffer, command: ViewCommand, footprint: Footprint
    ) -> Floats:
        """Shades all lights in one dispatch: a surface and its viewer are turned, so that another
        light comes from the direction of the first one."""
        lights = few_lights(command)
        first = lights[0][0]
        turned = _joined([_turned(view, _rotation(light, first)) for light, _ in lights])
        direction = (float(first[0]), float(first[1]), float(first[2]))
        lighting = Lighting(direction, (1.0, 1.0, 1.0), environment=0.0, emission=0.0)
        found = shade(material, turned, lighting, is_flat=True, footprint=footprint)
        parts = found.reshape(len(lights), -1, 4)
        colours = np.stack([colour for _, colour in lights]).astype(np.float32)
        result = np.array(parts[0], np.float32)
        result[:, :3] = (parts[..., :3] * colours[:, None]).sum(0)
        return result

    def _lighting(self, command: ViewCommand, mesh: Mesh | None) -> EnvironmentLighting:
        key = file_key(command.lit_by)
        device = self._teacher.device
        if key not in self._uploaded:
            self._uploaded = {key: DeviceEnvironment.upload(device, _read(*key))}
        if self._occluders is None or self._occluders[0] is not mesh:
            tree = build_bvh(mesh.position) if mesh is not None else NOTHING
            self._occluders = mesh, DeviceBvh.upload(device, tree)
        turned = self._uploaded[key].turned(command.rotate)
        return EnvironmentLighting(turned, self._occluders[1], emission=0.0)

    def _footprint(self, material: DeviceMaterial, level: int, places: int) -> Footprint:
        """The footprint of a texel on this level: the detail that a student can have."""
        if material is not self._teacher:
            return Footprint()
        places = max(places, _COARSE_LEVEL_PLACES) if level else places
        return Footprint(footprint_width(max(1, self.resolution >> level), level), places)


def _share(live: LiveInput, value: float | None) -> float:
    """A value as a part of the range, or the nearest of it; without one the default."""
    if value is None:
        return live.default
    low, high = live.value_of(0.0), live.value_of(1.0)
    return live.share_of(min(high, max(low, value)))


def few_lights(command: ViewCommand) -> Lights:
    """The lights of quick pictures on a processor: unit directions and colours."""
    if command.lit_by:
        return list(_lights(*file_key(command.lit_by), command.rotate))
    found = [(command.light, _KEY_COLOUR, 1.0)]
    if command.environment > 0:
        found += [(direction, colour, command.environment) for direction, colour in _FILLS]
    return [
        (normalized(np.array(direction, np.float32)), np.array(colour, np.float32) * scale)
        for direction, colour, scale in found
    ]


def _in_studio(
    material: DeviceMaterial, view: GBuffer, command: ViewCommand, footprint: Footprint
) -> Floats:
    lighting = Lighting(command.light, _KEY_COLOUR, command.environment, 0.0, _STUDIO_SAMPLES)
    return shade(material, view, lighting, is_flat=True, footprint=footprint)


def _environment(command: ViewCommand) -> Environment:
    return _read(*file_key(command.lit_by)).turned(command.rotate)


# Maps can be large: the present one, and the one before.
@lru_cache(2)
def _read(name: str, _changed: int) -> Environment:
    return find_environment(name)


@lru_cache(8)
def _lights(name: str, changed: int, rotate: float) -> tuple[tuple[Floats, Floats], ...]:
    return tuple(principal_lights(_read(name, changed).turned(rotate), _PRINCIPAL_LIGHTS))


@lru_cache(2)
def _soft(name: str, changed: int) -> Environment:
    return blurred(_read(name, changed))


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


def _turned(view: GBuffer, rotation: Floats) -> GBuffer:
    turn = rotation.T
    return replace(
        view,
        tangent=view.tangent @ turn,
        bitangent=view.bitangent @ turn,
        normal=view.normal @ turn,
        to_eye=view.to_eye @ turn,
    )


def _joined(views: list[GBuffer]) -> GBuffer:
    names = ("pixel", "uv", "position", "tangent", "bitangent", "normal", "to_eye", "shadow_origin")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(view, name) for view in views]) for name in names
    }
    return replace(views[0], **arrays)
