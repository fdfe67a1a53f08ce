"""A mesh with a tenth of the triangles that looks the same: collapsed edges, then gradients of
pictures.

    python examples/learn simplify_mesh [MESH …] [--full]

Prints FLIP and PSNR over views that were not trained, before and after, and the error of skin
weights. Writes a picture of the original, the collapsed and the trained mesh.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import slangpy as spy
from demo_meshes import MESHES, arm
from kit import (
    Floats,
    Program,
    beside,
    from_srgb,
    parser,
    print_table,
    psnr,
    read,
    save_image,
    smaller,
)
from mesh import Mesh, welded
from quadrics import collapse
from skinning import compare_weights

from verdigris.core.base.device import Device
from verdigris.core.pictures.compare.metrics import ldr_flip

SHADER = Path(__file__).with_suffix(".slang")
SMALL = {"detail": 12, "arm": 12, "side": 64, "steps": 100, "views": 24, "rate": 5e-4}
FULL = {"detail": 40, "arm": 24, "side": 256, "steps": 1000, "views": 64, "rate": 2e-3}
# what is left of the triangles, and points with colours along an edge
PART, DETAIL = 0.1, 4
VIEWS_A_STEP, HELD_OUT, FINE = 2, 6, 2
SOFT = {"blur": 0.2, "sharpness": 300.0}
HARD = {"blur": 0.05, "sharpness": 4000.0}
# below this part of the mean square of gradients, numbers move less
QUIET = 0.1
# of normals and colours; that of places goes with the size
RATES = 0.01, 0.01
# how far a gradient spreads over neighbours (Nicolet et al. 2021)
SPREAD = 12.0


class Drawable:
    """A mesh on a device, with normals at vertices and colours inside triangles."""

    def __init__(
        self, device: Device, mesh: Mesh, colours: Floats, detail: int, spread: float
    ) -> None:
        self._program = Program(device, SHADER, DETAIL=detail)
        self.triangles = mesh.triangles
        self.parameters = [mesh.vertices.copy(), mesh.normals.copy(), colours.copy()]
        self._moments = [np.zeros((2, *each.shape), np.float32) for each in self.parameters]
        self._steps = 0
        self._spreads = smoothing(mesh, spread) if spread else None
        self._values = [self._program.buffer(each) for each in self.parameters]
        self._gradients = [self._program.zeros(each.size) for each in self.parameters]
        learned = [
            {"values": values, "gradients": gradients}
            for values, gradients in zip(self._values, self._gradients, strict=True)
        ]
        self._mesh = {
            "count": len(mesh.triangles),
            "triangles": self._program.buffer(mesh.triangles.astype(np.uint32)),
            "bounds": self._program.zeros(len(mesh.triangles), 4),
            **dict(zip(("vertices", "normals", "colours"), learned, strict=True)),
        }

    def draw(self, view: dict[str, Any], wanted: spy.Buffer | None = None) -> Floats:
        """A picture; with a wanted one also adds gradients of the error."""
        columns, rows = view["size"]
        picture = self._program.zeros(rows, columns, 3)
        self._program.run("boundTriangles", self._mesh["count"], mesh=self._mesh, view=view)
        self._program.run(
            "drawView",
            rows * columns,
            mesh=self._mesh,
            view=view,
            picture=picture,
            wanted=wanted or picture,
            isTraining=int(wanted is not None),
        )
        return read(picture, rows, columns, 3)

    def sharp(self, view: dict[str, Any]) -> Floats:
        """A picture with hard edges, from several samples a pixel."""
        fine = {"size": [FINE * each for each in view["size"]], "focus": FINE * view["focus"]}
        return smaller(self.draw({**view, **fine, **HARD}), FINE)

    def gradients(self) -> list[Floats]:
        return [
            read(buffer, *each.shape)
            for buffer, each in zip(self._gradients, self.parameters, strict=True)
        ]

    def train(self, cameras: list[Any], pictures: list[Floats], steps: int, rate: float) -> None:
        wanted = [self._program.buffer(each) for each in pictures]
        random = np.random.default_rng(1)
        for step in range(steps):
            for index in random.choice(len(cameras), VIEWS_A_STEP, replace=False):
                self.draw(cameras[index], wanted[index])
            self.step([0.05 ** (step / steps) * each for each in (rate, *RATES)])

    def step(self, rates: list[float]) -> None:
        """Adam with one scale for all vertices, on gradients that are spread over neighbours."""
        self._steps += 1
        for index, gradient in enumerate(self.gradients()):
            if index == 0 and self._spreads is not None:
                gradient = self._spreads @ (self._spreads @ gradient)
            first, second = self._moments[index]
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            # numbers that hardly show would else move at random, and glitter from other sides
            scale = np.sqrt(second.max() if index == 0 else second + QUIET * second.mean()) + 1e-12
            correction = (1 - 0.99**self._steps) ** 0.5 / (1 - 0.9**self._steps)
            self.parameters[index] -= rates[index] * correction * first / scale
            self._values[index].copy_from_numpy(self.parameters[index].ravel())
            self._gradients[index].copy_from_numpy(np.zeros(gradient.size, np.float32))


def smoothing(mesh: Mesh, spread: float) -> Floats:
    """(I + spread L)⁻¹, where L is the difference of a vertex to its neighbours' mean."""
    count = len(mesh.vertices)
    laplacian = np.eye(count)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        for start, end in ((a, b), (b, a)):
            laplacian[mesh.triangles[:, start], mesh.triangles[:, end]] = -1
    np.fill_diagonal(laplacian, 0)
    laplacian /= np.maximum(-laplacian.sum(1, keepdims=True), 1)
    return np.linalg.inv(np.eye(count) * (1 + spread) + spread * laplacian).astype(np.float32)


def views(count: int, side: int, seed: int) -> list[dict[str, Any]]:
    """Cameras that look at the middle from all sides."""
    random, found = np.random.default_rng(seed), []
    for index in range(count):
        height = 1 - 2 * (index + 0.5) / count
        turn = 2.4 * index + random.uniform(0, 6.3)
        radius = np.sqrt(1 - height**2)
        away = np.array([radius * np.cos(turn), height, radius * np.sin(turn)])
        right = np.cross([0, 1, 0], away)
        right /= np.linalg.norm(right)
        axes = {"right": right, "up": np.cross(away, right), "forward": -away, "eye": 3 * away}
        vectors = {name: axis.tolist() for name, axis in axes.items()}
        found.append({**vectors, "focus": 1.35 * side, "size": [side, side], **SOFT})
    return found


def colours_of(mesh: Mesh, triangles: np.ndarray, vertices: Floats, detail: int) -> Floats:
    """Colours inside triangles, each that of the original's nearest vertex."""
    steps = [(i, j) for i in range(detail + 1) for j in range(detail + 1 - i)]
    shares = np.array([(i, j, detail - i - j) for i, j in steps], np.float32) / detail
    places = np.einsum("sc,tcx->tsx", shares, vertices[triangles]).reshape(-1, 3)
    return mesh.colours[nearest(places, mesh.vertices)]


def nearest(places: Floats, among: Floats) -> np.ndarray:
    """For each place the number of the nearest vertex."""
    parts = [
        np.argmin((among**2).sum(1) - 2 * part @ among.T, 1)
        for part in np.array_split(places, max(len(places) // 1024, 1))
    ]
    return np.concatenate(parts)


def simplified(device: Device, mesh: Mesh, part: float) -> Drawable:
    """The mesh after collapses, with normals and colours of the original."""
    vertices, triangles = collapse(mesh.vertices, mesh.triangles, int(part * len(mesh.triangles)))
    normals = mesh.normals[nearest(vertices, mesh.vertices)]
    colours = colours_of(mesh, triangles, vertices, DETAIL)
    return Drawable(device, Mesh(vertices, triangles, normals, colours), colours, DETAIL, SPREAD)


def original(device: Device, mesh: Mesh) -> Drawable:
    """Colours only at corners: the triangles are small."""
    # the grid of a triangle begins at its last corner
    corners = mesh.colours[mesh.triangles[:, [2, 1, 0]]].reshape(-1, 3)
    return Drawable(device, mesh, corners, 1, 0)


def measure(
    mesh: Drawable, cameras: list[Any], pictures: list[Floats]
) -> tuple[float, float, Floats]:
    """Mean FLIP and PSNR, and the first picture."""
    drawn = [mesh.sharp(camera) for camera in cameras]
    # FLIP takes linear colours; these are as they are shown
    linear = ([from_srgb(each) for each in some] for some in (drawn, pictures))
    flips = [ldr_flip(*pair)[0] for pair in zip(*linear, strict=True)]
    return float(np.mean(flips)), psnr(np.array(drawn), np.array(pictures)), drawn[0]


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    rows = []
    for name in options.meshes or MESHES:
        mesh = welded(MESHES[name](sizes["detail"]))
        start = time.perf_counter()
        reference, simple = original(device, mesh), simplified(device, mesh, PART)
        cameras = views(sizes["views"], sizes["side"], 1)
        others = views(HELD_OUT, sizes["side"], 2)
        aims = [reference.sharp(camera) for camera in others]
        pictures = [reference.sharp(camera) for camera in cameras]
        before = measure(simple, others, aims)
        simple.train(cameras, pictures, sizes["steps"], sizes["rate"])
        after = measure(simple, others, aims)
        seconds = time.perf_counter() - start
        counts = f"{len(mesh.triangles)}, {len(simple.triangles)}"
        figures = [f"{each[0]:.4f}, {each[1]:.1f}" for each in (before, after)]
        rows.append([name, counts, *figures, f"{seconds:.1f}"])
        save_image(options.out / f"simplify_mesh_{name}.png", beside(aims[0], before[2], after[2]))
    heads = ["mesh", "triangles", "collapsed: FLIP, PSNR", "trained: FLIP, PSNR", "seconds"]
    print_table(heads, rows)
    limb = arm(sizes["arm"])
    count = int(PART * len(limb.triangles))
    skin = compare_weights(limb.vertices, *collapse(limb.vertices, limb.triangles, count))
    print(
        f"skin, mean distance over unseen poses: copied weights {skin.copied:.5f}, fitted "
        f"{skin.fitted:.5f}, vertices free in each pose {skin.free:.5f}"
    )


def arguments() -> argparse.ArgumentParser:
    small, full = (f"pictures of {each['side']} x {each['side']}" for each in (SMALL, FULL))
    result = parser(__doc__, small, full)
    result.add_argument("meshes", nargs="*", choices=[*MESHES, []], help=", ".join(MESHES))
    return result
