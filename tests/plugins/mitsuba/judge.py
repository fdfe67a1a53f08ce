"""Judges bundles in Mitsuba: prints a line of JSON for each.

    python tests/plugins/mitsuba/judge.py [--places N] [--draws N] [--picture] BUNDLE …

It needs LLVM 17 or later, as DRJIT_LIBLLVM_PATH names it. Of each bundle it compares the rows of
the reference, runs Mitsuba's own chi-square test, compares the energy of drawn directions with a
quadrature, and with --picture draws the sphere of `verdigris render`.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path

import drjit as dr
import mitsuba as mi
import numpy as np

mi.set_variant("llvm_ad_rgb")

import verdigris.plugins.mitsuba  # noqa: E402, F401
from verdigris.core.base.device import open_device  # noqa: E402
from verdigris.core.bundle.files.read import open_bundle  # noqa: E402
from verdigris.core.bundle.files.reference import lobes_at  # noqa: E402
from verdigris.core.material.sides import density_of_passed, passed, passes  # noqa: E402
from verdigris.core.network.student import Student  # noqa: E402
from verdigris.core.pictures.gbuffer import FRONT  # noqa: E402
from verdigris.core.pictures.render import Lighting, render  # noqa: E402

COSINES = (0.95, 0.6, 0.25, 0.05)
SIGNIFICANCE = 0.01
# Points by side inside of a cell: of the same draws, a doubtful one is compared with more.
QUADRATURES, DOUBTFUL = (24, 160), 1e-3
CONTEXT = mi.BSDFContext()
GRID = 160


class Domain:
    """Directions around an axis, the finer the nearer: the logarithm of the angle, and a turn."""

    RANGE = 1e5
    SHARPNESS = math.log(RANGE)

    def __init__(self, axis):
        self.frame = mi.Frame3f(mi.Vector3f(*map(variable, axis)))

    def bounds(self):
        return mi.ScalarBoundingBox2f([-math.pi, 0], [math.pi, 1])

    def aspect(self):
        return 2

    def map_forward(self, place):
        cosine = 1 - 2 * (dr.exp(self.SHARPNESS * place.y) - 1) / (self.RANGE - 1)
        sine, (s, c) = dr.safe_sqrt(1 - cosine * cosine), dr.sincos(place.x)
        return self.frame.to_world(mi.Vector3f(sine * c, sine * s, cosine))

    def map_backward(self, direction):
        local = self.frame.to_local(direction)
        # 1 - cosine, without the loss of digits
        versed = dr.squared_norm(local - mi.Vector3f(0, 0, 1)) / 2
        y = dr.log(1 + versed / 2 * (self.RANGE - 1)) / self.SHARPNESS
        return mi.Point2f(dr.atan2(local.y, local.x), y)

    def stretch(self, direction):
        """Solid angle over area of the domain."""
        y = self.map_backward(direction).y
        scale = 2 * self.SHARPNESS / (self.RANGE - 1)
        return scale * dr.exp(self.SHARPNESS * y)


def variable(value):
    """A number that kernels do not contain, so that they serve all places."""
    return mi.Float(value) if np.ndim(value) else dr.opaque(mi.Float, float(value))


def place(uv, view, count, lod_width=0.0):
    si = dr.zeros(mi.SurfaceInteraction3f, count)
    si.wi = mi.Vector3f(*map(variable, view))
    si.uv = mi.Point2f(variable(uv[0]), 1 - variable(uv[1]))
    si.duv_dx = mi.Vector2f(lod_width, 0)
    return si


def compare_rows(bsdf, bundle):
    """Largest errors of response, density and drawn directions, in parts of their bounds."""
    reference, bounds = bundle.reference(), bundle.manifest.bounds
    # of draws above a surface that transmits
    share = 0.5 if bundle.manifest.transmitted else 1.0
    width = np.exp2(reference.lod) / max(bundle.parameters().layout.level_size(0))
    si = place(reference.uv.T, reference.wo.T, len(reference), mi.Float(width.astype(np.float32)))
    value, density = bsdf.eval_pdf(CONTEXT, si, mi.Vector3f(reference.wi.T))
    floor = bounds.floor
    # the share of the rays that the surface does not let through
    cover = 1 - np.array(bsdf.eval_null_transmission(si))[0]
    wanted, rows = reference.exported, reference.sampler
    response = np.abs(np.array(value).T - wanted) / np.maximum(wanted, floor)
    seen = reference.wo[:, 2] > 0
    lit = seen & (reference.wi[:, 2] > 0)
    if share < 1:
        response = response[lit]
        seen &= rows.drawn[:, 2] > 0
    densities = np.abs(np.array(density) / cover / share - rows.pdf) / np.maximum(rows.pdf, floor)
    numbers = mi.Point2f((rows.random * [share, 1]).T.astype(np.float32))
    drawn, _ = bsdf.sample(CONTEXT, si, mi.Float(0), numbers)
    moved = np.abs(np.array(drawn.wo).T - rows.drawn)
    found = [float(response.max()), float(densities[lit].max()), float(moved[seen].max())]
    if "opacity" in reference.textures:
        found.append(float(np.abs(cover - reference.textures["opacity"]).max()))
    if "emission" in reference.textures:
        glow = mi.load_dict({"type": "verdigris_emission", "filename": str(bundle.folder)})
        wanted = reference.textures["emission"]
        found.append(float((np.abs(np.array(glow.eval(si)).T - wanted) / (1 + wanted)).max()))
    return found


def compare_rows_below(bsdf, bundle):
    """The same for light from below, and those of a thin wall from behind."""
    reference, index = bundle.transmitted.reference(), bundle.manifest.transmitted.index
    floor, rows = bundle.manifest.bounds.floor, reference.sampler
    wo, mirrored = reference.wo.T.astype(float), reference.wi.T.astype(float)
    wi = passed(mirrored, wo, index)
    lit = (wo[2] > 0) & (mirrored[2] > 0) & (wi[2] < 0) & passes(mirrored, wo, index)
    wanted = reference.exported / (1 if index == 1 else index**2)
    width = np.exp2(reference.lod) / max(bundle.parameters().layout.level_size(0))
    width = mi.Float(width.astype(np.float32))
    found = []
    for side in (1, -1)[: 2 if index == 1 else 1]:
        turned = np.array([[1], [1], [side]])
        si = place(reference.uv.T, (wo * turned).astype(np.float32), len(reference), width)
        light = mi.Vector3f((wi * turned).astype(np.float32))
        value, density = bsdf.eval_pdf(CONTEXT, si, light)
        errors = np.abs(np.array(value).T - wanted) / np.maximum(wanted, floor)
        exact = 0.5 * rows.pdf * density_of_passed(wi, mirrored, wo, index)
        densities = np.abs(np.array(density) - exact) / np.maximum(exact, floor)
        numbers = mi.Point2f((rows.random * [0.5, 1] + [0.5, 0]).T.astype(np.float32))
        drawn, _ = bsdf.sample(CONTEXT, si, mi.Float(0), numbers)
        below = rows.drawn.T.astype(float)
        seen = (wo[2] > 0) & (below[2] > 0) & passes(below, wo, index)
        through = passed(below, wo, index)
        seen &= through[2] < 0
        moved = np.abs(np.array(drawn.wo) - through * turned).max(0)
        found.append([errors[lit].max(), densities[lit].max(), moved[seen].max()])
    return np.max(found, 0).tolist()


def judge_place(bsdf, bundle, uv, view, draws):
    """The p-value of the chi-square test, and the energy of draws and of a quadrature."""
    transmits = bundle.manifest.transmitted is not None
    lobes = lobes_at(
        bundle.parameters(), np.array([uv], np.float32), np.zeros(1, np.float32), view[None]
    )
    sharpest = int(lobes.widths.max(1)[:, 0].argmin())
    frame, seen = lobes.frames[sharpest][..., 0], lobes.seen[sharpest][:, 0]
    domain = Domain((seen * [-1, -1, 1]) @ frame)

    def sample(numbers):
        si = place(uv, view, dr.width(numbers))
        drawn, _ = bsdf.sample(CONTEXT, si, numbers[0], mi.Vector2f([numbers[1], numbers[2]]))
        is_lit = drawn.wo.z != 0 if transmits else drawn.wo.z > 0
        return drawn.wo, dr.select(is_lit, mi.Float(1), 0)

    def density(direction):
        si = place(uv, view, dr.width(direction))
        return bsdf.pdf(CONTEXT, si, direction) * domain.stretch(direction)

    # at grazing views, lobes are cut at the horizon: points in a cell have to resolve the cut
    for side in QUADRATURES:
        test = mi.chi2.ChiSquareTest(
            domain=domain,
            sample_func=sample,
            pdf_func=density,
            sample_dim=3,
            sample_count=draws,
            res=51,
            ires=side,
        )
        test.run(SIGNIFICANCE, 1, quiet=True)
        if test.p_value > DOUBTFUL:
            break
    random = np.random.default_rng(7)
    first, second, third = map(mi.Float, random.random((3, draws)).astype(np.float32))
    drawn, weight = bsdf.sample(CONTEXT, place(uv, view, draws), first, mi.Point2f(second, third))
    # without what passes through
    weight = np.array(weight).mean(0) * (transmits | (np.array(drawn.wo)[2] > 0))
    turn, height = np.meshgrid(
        (np.arange(2 * GRID) + 0.5) / GRID, (np.arange(8 * GRID) + 0.5) / 8 / GRID
    )
    points = mi.Point2f(np.stack([np.pi * (turn.ravel() - 1), height.ravel()]).astype(np.float32))
    wi = domain.map_forward(points)
    value = bsdf.eval(CONTEXT, place(uv, view, dr.width(wi)), wi) * domain.stretch(wi)
    energy = np.array(value).mean() * 2 * np.pi
    return float(test.p_value), float(weight.mean()), float(energy)


def sphere_mesh(columns=512, rows=256):
    """A sphere whose uv are those of `verdigris render`."""
    turn, height = np.meshgrid(np.linspace(-1, 1, columns + 1), np.linspace(0, 1, rows + 1))
    latitude = np.pi * (height - 0.5)
    position = np.stack(
        [
            np.sin(np.pi * turn) * np.cos(latitude),
            np.sin(latitude),
            np.cos(np.pi * turn) * np.cos(latitude),
        ],
        -1,
    ).reshape(-1, 3)
    corner = np.arange(columns * rows) + np.repeat(np.arange(rows), columns)
    across, up = 1, columns + 1
    faces = np.concatenate(
        [
            np.stack([corner, corner + across, corner + up + across], 1),
            np.stack([corner, corner + up + across, corner + up], 1),
        ]
    )
    mesh = mi.Mesh(
        "sphere", len(position), len(faces), has_vertex_normals=True, has_vertex_texcoords=True
    )
    values = mi.traverse(mesh)
    values["vertex_positions"] = mi.Float(position.ravel().astype(np.float32))
    values["vertex_normals"] = mi.Float(position.ravel().astype(np.float32))
    uv = np.stack([turn.ravel() + 0.5, 1 - height.ravel()], 1)
    values["vertex_texcoords"] = mi.Float(uv.ravel().astype(np.float32))
    values["faces"] = mi.UInt32(faces.ravel().astype(np.uint32))
    values.update()
    return mesh


def compare_picture(path, bundle, size=64):
    """The mean of Mitsuba's picture over that of `render`, and their correlation."""
    lighting = Lighting(environment=0.0, emission=0.0)
    student = Student(bundle.parameters(), open_device("software"))
    own = np.asarray(render(student, "sphere", size, lighting=lighting, subpixels=8))[..., :3]
    plain = sphere_mesh()
    folder = Path(tempfile.mkdtemp())
    plain.write_ply(str(folder / "sphere.ply"))
    scene = mi.load_dict(
        {
            "type": "scene",
            "integrator": {"type": "direct"},
            "sensor": {
                "type": "perspective",
                "fov": FRONT.field_of_view,
                "to_world": mi.ScalarTransform4f().look_at(
                    origin=[0, 0, FRONT.distance], target=[0, 0, 0], up=[0, 1, 0]
                ),
                "film": {
                    "type": "hdrfilm",
                    "width": size,
                    "height": size,
                    "rfilter": {"type": "box"},
                    "component_format": "float32",
                    "pixel_format": "rgb",
                },
                "sampler": {"type": "stratified", "sample_count": 256},
            },
            "light": {
                "type": "directional",
                "direction": [-each for each in lighting.direction],
                "irradiance": {"type": "rgb", "value": list(lighting.colour)},
            },
            "shape": {
                "type": "ply",
                "filename": str(folder / "sphere.ply"),
                "bsdf": {"type": "verdigris", "filename": str(path)},
            },
        }
    )
    found = np.array(mi.render(scene))
    return float(found.mean() / own.mean()), float(np.corrcoef(found.ravel(), own.ravel())[0, 1])


def judge(path, options):
    bundle = open_bundle(path)
    bsdf = mi.load_dict({"type": "verdigris", "filename": str(path)})
    random = np.random.default_rng(3)
    found = {"bundle": path.stem, "rows": compare_rows(bsdf, bundle), "p": []}
    if bundle.manifest.transmitted:
        found["below"] = compare_rows_below(bsdf, bundle)
    energies = []
    for index in range(options.places):
        uv, turn = random.random(2), 2 * np.pi * random.random()
        cosine = COSINES[index % len(COSINES)]
        sine = np.sqrt(1 - cosine**2)
        view = np.array([sine * np.cos(turn), sine * np.sin(turn), cosine], np.float32)
        p, *energy = judge_place(bsdf, bundle, uv.tolist(), view, options.draws)
        found["p"].append(p)
        energies.append(energy)
    drawn, integrated = np.sum(energies, 0)
    found["energy"] = drawn / integrated
    if options.picture:
        found["picture"] = compare_picture(path, bundle)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundles", nargs="+", type=Path)
    parser.add_argument("--places", type=int, default=8)
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--picture", action="store_true")
    options = parser.parse_args()
    for path in options.bundles:
        print(json.dumps(judge(path, options)), flush=True)


if __name__ == "__main__":
    main()
