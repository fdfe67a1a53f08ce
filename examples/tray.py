"""The tray: a body of revolution, its conformal UV set, and its OBJ and USDA files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEGMENTS = 64
UPPER_RADIUS, LOWER_RADIUS, MARGIN = 0.345, 0.205, 0.012

# Radius and height in metres, from the middle of the upper side out to the rim ...
UPPER = [
    (0.0, 0.012), (0.05, 0.0119), (0.10, 0.0116), (0.127, 0.0122), (0.138, 0.0148), (0.148, 0.0195),
    (0.158, 0.0250), (0.167, 0.0282), (0.178, 0.0294), (0.186, 0.0305), (0.190, 0.0318),
]  # fmt: skip
# ... and from the rim, round its bead, back under the foot to the middle of the lower side.
LOWER = [
    (0.190, 0.0318), (0.1936, 0.0312), (0.1948, 0.0288), (0.1932, 0.0266), (0.188, 0.0260),
    (0.178, 0.0253), (0.168, 0.0237), (0.158, 0.0198), (0.148, 0.0142), (0.138, 0.0092),
    (0.130, 0.0070), (0.1245, 0.0045), (0.1215, 0.0008), (0.1185, 0.0), (0.1150, 0.0010),
    (0.1125, 0.0050), (0.106, 0.0072), (0.08, 0.0078), (0.04, 0.0080), (0.0, 0.0080),
]  # fmt: skip


@dataclass(frozen=True)
class Mesh:
    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    uvs: NDArray[np.float64]
    triangles: NDArray[np.int64]


def resampled(profile: list[tuple[float, float]], count: int) -> NDArray[np.float64]:
    """Points at equal arc lengths along a Catmull-Rom curve through the profile."""
    p = np.array(profile)
    p = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    t = np.linspace(0.0, 1.0, 40, endpoint=False)[:, None]
    curve = [
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
               + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:], strict=True)
    ]  # fmt: skip
    dense = np.vstack([*curve, p[-2][None]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    wanted = np.linspace(0.0, length[-1], count)
    return np.stack([np.interp(wanted, length, dense[:, i]) for i in range(2)], axis=-1)


def conformal_radius(profile: NDArray[np.float64], outer: float) -> NDArray[np.float64]:
    """Texture radius per profile point such that angles are kept: d(rho) / rho = ds / r."""
    radius = profile[:, 0]
    step = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    middle = 0.5 * (radius[1:] + radius[:-1])
    rho = np.zeros(len(radius))
    # Next to the middle the surface is flat, where rho is proportional to r.
    rho[1] = radius[1]
    for i in range(1, len(step)):
        rho[i + 1] = rho[i] * np.exp(step[i] / middle[i])
    return rho / rho[-1] * outer


def profile_normals(profile: NDArray[np.float64]) -> NDArray[np.float64]:
    tangent = np.gradient(profile, axis=0)
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=-1)
    normal[profile[:, 0] < 1e-9, 0] = 0.0
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def revolved(
    profile: NDArray[np.float64],
    normals: NDArray[np.float64],
    centre: tuple[float, float],
    outer: float,
    mirrored: bool,
) -> Mesh:
    """One island; the profile starts at the axis. A mirrored one is seen from below."""
    rho = conformal_radius(profile, outer)
    angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    c, s = np.cos(angle), np.sin(angle)
    rings = len(profile) - 1

    def spun(radial: NDArray[np.float64], axial: NDArray[np.float64]) -> NDArray[np.float64]:
        x, z = radial[:, None] * c, -radial[:, None] * s
        y = np.broadcast_to(axial[:, None], x.shape)
        return np.stack([x, y, z], axis=-1)

    def with_hub(hub: list[float], grid: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.vstack([np.array([hub]), grid[1:].reshape(-1, grid.shape[-1])])

    flip = -1.0 if mirrored else 1.0
    uv = np.stack([centre[0] + flip * rho[:, None] * c, centre[1] + rho[:, None] * s], axis=-1)
    k = np.arange(SEGMENTS)
    following = (k + 1) % SEGMENTS
    fan = np.stack([np.zeros_like(k), 1 + k, 1 + following], axis=-1)
    faces = [fan]
    for ring in range(rings - 1):
        a, b = 1 + ring * SEGMENTS, 1 + (ring + 1) * SEGMENTS
        faces.append(np.stack([a + k, b + k, b + following], axis=-1))
        faces.append(np.stack([a + k, b + following, a + following], axis=-1))
    triangles = np.vstack(faces)
    return Mesh(
        with_hub([0.0, profile[0, 1], 0.0], spun(profile[:, 0], profile[:, 1])),
        with_hub([0.0, flip, 0.0], spun(normals[:, 0], normals[:, 1])),
        with_hub(list(centre), uv),
        triangles[:, ::-1] if mirrored else triangles,
    )


def build() -> Mesh:
    upper, lower = resampled(UPPER, 20), resampled(LOWER, 26)
    # The rim is one smooth curve, so its normals come from the joined profile.
    joined = profile_normals(np.vstack([upper, lower[1:]]))
    joined[0], joined[-1] = (0.0, 1.0), (0.0, -1.0)
    a, b = UPPER_RADIUS + MARGIN, 1.0 - LOWER_RADIUS - MARGIN
    top = revolved(upper, joined[: len(upper)], (a, a), UPPER_RADIUS, mirrored=False)
    bottom = revolved(
        lower[::-1], joined[len(upper) - 1 :][::-1], (b, b), LOWER_RADIUS, mirrored=True
    )
    return Mesh(
        np.vstack([top.points, bottom.points]),
        np.vstack([top.normals, bottom.normals]),
        np.vstack([top.uvs, bottom.uvs]),
        np.vstack([top.triangles, bottom.triangles + len(top.points)]),
    )


def obj_text(mesh: Mesh) -> str:
    lines = ["# Verdigris example: a shallow round tray, metres, Y up", "o tray", "s 1"]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.points]
    lines += [f"vt {u:.5f} {v:.5f}" for u, v in mesh.uvs]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.normals]
    lines += ["f " + " ".join(f"{i}/{i}/{i}" for i in face) for face in mesh.triangles + 1]
    return "\n".join(lines) + "\n"


def usda_text(mesh: Mesh) -> str:
    def tuples(rows: NDArray[np.float64], digits: int) -> str:
        return ", ".join("(" + ", ".join(f"{x:.{digits}f}" for x in row) + ")" for row in rows)

    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    counts = ", ".join("3" for _ in mesh.triangles)
    indices = ", ".join(str(i) for i in mesh.triangles.ravel())
    return f"""#usda 1.0
(
    defaultPrim = "tray"
    doc = "Verdigris example: a shallow round tray"
    metersPerUnit = 1
    upAxis = "Y"
)

def Mesh "tray"
{{
    float3[] extent = [{tuples(np.stack([low, high]), 6)}]
    int[] faceVertexCounts = [{counts}]
    int[] faceVertexIndices = [{indices}]
    normal3f[] normals = [{tuples(mesh.normals, 5)}] (
        interpolation = "vertex"
    )
    point3f[] points = [{tuples(mesh.points, 6)}]
    texCoord2f[] primvars:st = [{tuples(mesh.uvs, 5)}] (
        interpolation = "vertex"
    )
    uniform token subdivisionScheme = "none"
}}
"""


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = build()
    (folder / "tray.obj").write_text(obj_text(mesh), encoding="utf-8", newline="\n")
    (folder / "tray.usda").write_text(usda_text(mesh), encoding="utf-8", newline="\n")
    print(f"tray: {len(mesh.triangles)} triangles, {len(mesh.points)} vertices")
