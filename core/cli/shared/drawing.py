"""Pictures of a material: in the studio, or under an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from verdigris.core.cli.shared import picture_options as option
from verdigris.core.cli.shared.opening import Subject
from verdigris.core.geometry.displaced_mesh import base_mesh, displace
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.lighting.environment import Environment
from verdigris.core.material.teacher.probe import mean_transmitted
from verdigris.core.pictures.backdrop import over
from verdigris.core.pictures.environment_render import (
    EnvironmentLighting,
    draw_behind,
    render_under,
)
from verdigris.core.pictures.relief import DeviceHeights
from verdigris.core.pictures.render import Lighting, over_backdrop
from verdigris.core.pictures.render import render as draw_lit
from verdigris.core.pictures.tone import MAPPINGS

Show = Callable[[float], None]
Picture = Callable[[Show], NDArray[np.float32]]


@dataclass(frozen=True)
class Framing:
    """The view, its pixels a side, its shape, if that is a mesh, and the relief on it."""

    kind: str
    size: int
    shape: Mesh | None
    relief: DeviceHeights | Mesh | None

    @property
    def occluder(self) -> Mesh | None:
        """What throws shadows on the shape."""
        return self.relief if isinstance(self.relief, Mesh) else self.shape


def relief_of(
    subject: Subject, displacement: str, kind: str, shape: Mesh | None
) -> DeviceHeights | Mesh | None:
    heights = None if displacement == option.NO_RELIEF else subject.heights()
    if heights is None:
        return None
    if displacement == option.DISPLACED:
        return displace(base_mesh(kind, shape), heights)
    return DeviceHeights.upload(subject.drawn.device, heights)


def in_studio(
    subject: Subject, framing: Framing, lighting: Lighting, stops: float, tone: str
) -> Picture:
    """Draws under one light and the studio."""

    def draw(_show: Show) -> NDArray[np.float32]:
        picture = draw_lit(
            *(subject.drawn, framing.kind, framing.size, framing.shape, lighting),
            is_flat=subject.is_flat,
            relief=framing.relief,
        )
        picture = over_backdrop(picture) if tone else picture
        picture[..., :3] *= 2.0**stops
        return MAPPINGS[tone](picture) if tone else picture

    return draw


def under_environment(
    subject: Subject,
    framing: Framing,
    environment: Environment,
    behind: str,
    samples: int,
    stops: float,
    tone: str,
) -> Picture:
    """Draws under an environment, before a backdrop."""
    kind, size, shape = framing.kind, framing.size, framing.shape
    device = subject.drawn.device
    lighting = EnvironmentLighting.upload(device, environment, framing.occluder)
    # the same for all frames
    ground = None
    if behind not in ("", "plain"):
        passing = replace(lighting, passing=mean_transmitted(subject.drawn))
        ground = draw_behind(device, passing, behind, kind, size, shape, samples)

    def draw(show: Show) -> NDArray[np.float32]:
        picture = render_under(
            *(subject.drawn, lighting, kind, size, shape, samples),
            is_flat=subject.is_flat,
            on_progress=show,
            relief=framing.relief,
        )
        if behind == "plain":
            picture = over_backdrop(picture)
        elif ground is not None:
            picture = over(picture, ground)
        picture[..., :3] *= 2.0**stops
        return MAPPINGS[tone](picture) if tone else picture

    return draw


def pictures_at(
    subject: Subject, picture: Picture, values: Iterator[tuple[float, ...]], frames: int, show: Show
) -> Iterator[NDArray[np.float32]]:
    """Pictures at these live values."""
    for number, subject.drawn.live in enumerate(values):
        show(number / frames)
        yield picture(lambda done: None)
