"""A pinhole camera, and its projection of points to pixels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import read_json_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles


_LARGEST_RESOLUTION, _LARGEST_BYTES = 8192, 1 << 20
_NEAR = 1e-3


@dataclass(frozen=True)
class Camera:
    """A pinhole camera that looks along its -z axis, with x to the right and y up."""

    matrix: NDArray[Any]
    """Camera to world, (4, 4), for row vectors: the position is in the last row, as in Maya,
    Houdini and USD."""

    fov: float = 40.0
    """Horizontal field of view in degrees."""

    resolution: tuple[int, int] = (1920, 1080)
    """Width and height in pixels."""

    near: float = _NEAR
    """Distance of the near plane, in the unit of the scene."""

    _from_world: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, np.float64)
        if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
            raise SettingsError(
                "the camera's matrix is not a 4 x 4 matrix of finite numbers: write four rows of "
                "four numbers"
            )
        if abs(np.linalg.det(matrix[:3, :3])) < 1e-12 or not np.allclose(
            matrix[:, 3], [0, 0, 0, 1]
        ):
            raise SettingsError(
                "the camera's matrix is not a transform with the position in the last row: write "
                "it camera to world, for row vectors"
            )
        if not 0 < self.fov < 180:
            raise SettingsError(
                f"the camera's fov is {self.fov}: use more than 0 and less than 180 degrees"
            )
        if len(self.resolution) != 2 or not all(
            1 <= size <= _LARGEST_RESOLUTION for size in self.resolution
        ):
            raise SettingsError(
                f"the camera's resolution is {self.resolution}: use two numbers up to "
                f"{_LARGEST_RESOLUTION}"
            )
        if not self.near > 0:
            raise SettingsError(f"the camera's near is {self.near}: use more than 0")
        # without the matrix's scale, so that distances are those of the scene
        axes = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=1, keepdims=True)
        rigid = np.eye(4)
        rigid[:3, :3], rigid[3, :3] = axes, matrix[3, :3]
        object.__setattr__(self, "_from_world", np.linalg.inv(rigid))

    @property
    def pixels_per_unit(self) -> float:
        """Width in pixels of one unit at distance 1."""
        return float(self.resolution[0] / 2 / np.tan(np.radians(self.fov) / 2))

    def to_camera(self, positions: NDArray[Any]) -> Doubles:
        """Positions (..., 3) in camera space: x to the right, y up, z the distance ahead."""
        local = positions @ self._from_world[:3, :3] + self._from_world[3, :3]
        return np.asarray(local * (1.0, 1.0, -1.0))

    def project(self, seen: Doubles) -> Doubles:
        """Pixels (..., 2), row 0 at the top, of positions that `to_camera` returned with z > 0."""
        middle = np.array(self.resolution) / 2
        return np.asarray(
            middle + self.pixels_per_unit * seen[..., :2] / seen[..., 2:] * (1.0, -1.0)
        )


def look_at(
    eye: tuple[float, float, float],
    target: tuple[float, float, float],
    up: tuple[float, float, float] = (0.0, 1.0, 0.0),
    fov: float = 40.0,
    resolution: tuple[int, int] = (1920, 1080),
    near: float = _NEAR,
) -> Camera:
    """A camera at `eye` that looks at `target`."""
    if not np.isfinite([*eye, *target, *up]).all():
        raise SettingsError(
            f"the camera's eye, target and up are {eye}, {target} and {up}: use finite numbers"
        )
    back = np.subtract(eye, target)
    length = np.linalg.norm(back)
    if not length > 0:
        raise SettingsError(f"the camera's eye and target are both {eye}: move one of them")
    back = back / length
    right = np.cross(up, back)
    if not np.linalg.norm(right) > 1e-6:
        # the view is parallel to `up`: use any other axis
        right = np.cross((0.0, 0.0, 1.0) if abs(back[2]) < 0.9 else (1.0, 0.0, 0.0), back)
    right = right / np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :3] = right, np.cross(back, right), back
    matrix[3, :3] = eye
    return Camera(matrix, fov, resolution, near)


def read_camera(path: Path) -> Camera:
    """Reads a camera from JSON: `matrix` with four rows, or `eye`, `target` and `up` (default y);
    `fov` in degrees, `resolution` [width, height], and `near`."""
    values = read_json_file(path, SettingsError, _LARGEST_BYTES)
    if not isinstance(values, dict):
        raise SettingsError(
            f"{path} is not a camera: write an object with 'matrix', 'fov' and 'resolution'"
        )
    known = {"matrix", "fov", "resolution", "near", "eye", "target", "up"}
    if unknown := sorted(set(values) - known):
        raise SettingsError(
            f"{path}: {', '.join(unknown)} is not known: use {', '.join(sorted(known))}"
        )
    try:
        options: dict[str, Any] = {
            name: float(values[name]) for name in ("fov", "near") if name in values
        }
        if "resolution" in values:
            options["resolution"] = _pixels(values["resolution"])
        if "matrix" in values:
            return Camera(np.array(values["matrix"], np.float64), **options)
        if "eye" not in values or "target" not in values:
            raise SettingsError("has no position: add 'matrix', or 'eye' and 'target'")
        eye, target = _place(values["eye"]), _place(values["target"])
        return look_at(eye, target, _place(values.get("up", (0.0, 1.0, 0.0))), **options)
    except SettingsError as failure:
        raise SettingsError(f"{path}: {failure}") from None
    except (TypeError, ValueError, OverflowError) as failure:
        raise SettingsError(f"{path} is not a camera: {failure}") from None


def _pixels(given: Any) -> tuple[int, int]:
    is_pair = isinstance(given, list) and len(given) == 2
    if not is_pair or not all(type(size) in (int, float) and size % 1 == 0 for size in given):
        raise ValueError(f"resolution is {given!r}: use two whole numbers, [width, height]")
    return int(given[0]), int(given[1])


def _place(numbers: Any) -> tuple[float, float, float]:
    x, y, z = (float(number) for number in numbers)
    return x, y, z
