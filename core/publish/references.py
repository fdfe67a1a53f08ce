"""Draws the pictures of a source material that a page compares with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.publish.page import ReferencePicture

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher

_QUALITY = 95
_STUDIO_SAMPLES, _SKY_SAMPLES = 48, 64
PICTURES = 3


def draw_references(
    teacher: Teacher, size: int, on_progress: Callable[[float], None] = lambda _: None
) -> list[ReferencePicture]:
    """A sphere in the studio and under the sky, and the flat square in the studio."""
    from verdigris.core.lighting.sky import make_sky
    from verdigris.core.pictures.backdrop import over
    from verdigris.core.pictures.environment_render import (
        EnvironmentLighting,
        draw_behind,
        render_under,
    )
    from verdigris.core.pictures.picture_files import encode_jpeg, with_shoulder
    from verdigris.core.pictures.render import Lighting, over_backdrop, render

    def in_studio(shape: str) -> ReferencePicture:
        lighting = Lighting(samples=_STUDIO_SAMPLES)
        picture = over_backdrop(render(teacher, shape, size, lighting=lighting, is_flat=True))
        title = "Studio" if shape == "sphere" else "Studio, flat"
        return ReferencePicture(
            title, "studio", shape, encode_jpeg(picture, _QUALITY), "image/jpeg"
        )

    on_progress(0.01)
    result = [in_studio("sphere")]
    on_progress(1 / PICTURES)
    sky = make_sky()
    lit = EnvironmentLighting.upload(teacher.device, sky)
    picture = render_under(
        teacher,
        lit,
        "sphere",
        size,
        samples=_SKY_SAMPLES,
        is_flat=True,
        on_progress=lambda part: on_progress((1 + part) / PICTURES),
    )
    behind = draw_behind(teacher.device, lit, "environment", "sphere", size)
    shown = with_shoulder(over(picture, behind) * np.float32(2.0**sky.exposure))
    result.append(
        ReferencePicture("Clear sky", "sky", "sphere", encode_jpeg(shown, _QUALITY), "image/jpeg")
    )
    result.append(in_studio("plane"))
    on_progress(1.0)
    return result
