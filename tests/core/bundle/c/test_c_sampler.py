"""The sampler, its density and the light of environments in verdigris.h, against numpy."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.material.sides import passed
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.environment_light import (
    environment_light,
    environment_light_split,
)
from verdigris.core.network.light.environment_sides import (
    environment_light_of_sides,
    environment_light_split_of_sides,
)
from verdigris.core.network.light.sampler import lobes_of, look_at
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.spec import NetworkSpec

from ...material.test_sides import directions
from ..bundles import lively_parameters, made_up, make_bundle, with_older_head, write_as_older
from ..files.independent_sampler import Sampler
from ..runtime.test_environment_light import Smooth
from ..runtime.test_sides import lively_sides
from .test_c_header import SANITIZED, compile_c

SAMPLES = 16
ROW = np.dtype(
    [
        *(("uv", "<f4", 2), ("lod", "<f4"), ("share", "<f4"), ("wi", "<f4", 3), ("wo", "<f4", 3)),
        *(("random", "<f4", 2), ("samples", "<f4"), ("live", "<f4", 3)),
    ]
)
ANSWER = np.dtype(
    [
        *(("response", "<f4", 3), ("pdf", "<f4"), ("drawn", "<f4", 3), ("is_lit", "<f4")),
        *(("drawn_pdf", "<f4"), ("light", "<f4", 3), ("split", "<f4", 3)),
    ]
)
# The environment is that of test_environment_light.py.
PROGRAM = """
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
static void radiance(void *user, const float direction[3], float solid_angle, float light[3])
{
    const float *colour = (const float *)user;
    int i;
    for (i = 0; i < 3; i++)
        light[i] = (colour[i] + direction[i]) / (1 + solid_angle);
}
static void irradiance(void *user, const float normal[3], float light[3])
{
    int i;
    (void)user;
    for (i = 0; i < 3; i++)
        light[i] = 3 + normal[i];
}
int main(int count, char **words)
{
    float colour[3] = {1.5f, 2, 1.2f}, row[16], found[15];
    VdEnvironment environment;
    VdBundle bundle;
    VdSurface surface;
    VdError error;
    environment.radiance = radiance, environment.irradiance = irradiance, environment.user = colour;
    if (count < 2 || !vd_open(&bundle, words[1], &error))
        return 1;
    while (fread(row, sizeof row, 1, stdin)) {
        const float *live = bundle.live_count ? row + 13 : 0;
        vd_prepare(&bundle, row, row[2], row + 7, live, row[3], &surface);
        found[3] = vd_pdf(&surface, row + 4);
        found[7] = (float)vd_draw(&surface, row + 10, found + 4);
        found[8] = vd_pdf(&surface, found + 4);
        memset(found + 9, 0, 6 * sizeof *found);
        if (row[12] >= 0)
            vd_shade(&surface, row + 4, found);
        if (row[12] > 0) {
            vd_environment_light(&surface, &environment, (uint32_t)row[12], row + 10, found + 9);
            vd_environment_light_split(&surface, &environment, found + 12);
        }
        fwrite(found, sizeof found, 1, stdout);
    }
    vd_close(&bundle);
    return 0;
}
"""


@pytest.fixture(scope="module")
def look(tmp_path_factory):
    """What the program finds at rows of a bundle."""
    folder = tmp_path_factory.mktemp("c")
    (folder / "sampler.c").write_text(PROGRAM)
    program = compile_c(folder / "sampler.c", folder / "sampler", *SANITIZED, "-O1")

    def look(bundle, rows):
        command, given = [program, Path(bundle)], rows.tobytes()
        done = subprocess.run(command, input=given, capture_output=True, check=True, timeout=300)
        return np.frombuffer(done.stdout, ANSWER)

    return look


def rows_of(count, **columns):
    rows = np.zeros(count, ROW)
    for name, values in columns.items():
        rows[name] = values
    return rows


def wide(rows, name):
    return rows[name].astype(np.float64).T


@pytest.mark.parametrize("live", [0, 3], ids=["no live inputs", "live inputs"])
def test_the_sampler_of_an_opaque_surface_has_the_rows_of_the_reference(look, tmp_path, live):
    spec = NetworkSpec(8, 2, "silu", frame_count=3, live_inputs=live)
    opened = make_bundle(tmp_path / "a.vdg", made_up(spec, 16, 12))
    wanted = opened.reference()
    columns = {name: getattr(wanted, name) for name in ("uv", "lod", "wi", "wo")}
    if live:
        columns["live"] = wanted.live
    rows = rows_of(len(wanted), random=wanted.sampler.random, share=0.3, **columns)
    found = look(opened.folder, rows)
    np.testing.assert_allclose(found["response"], wanted.exported, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found["pdf"], wanted.sampler.pdf, rtol=1e-3, atol=1e-5)
    near = np.abs(found["drawn"] - wanted.sampler.drawn).max(1) < 1e-3
    # a number on the border of two lobes can fall into the other in single floats
    assert near.mean() > 0.995
    drawn_pdf = wanted.sampler.drawn_pdf[near]
    np.testing.assert_allclose(found["drawn_pdf"][near], drawn_pdf, rtol=5e-3, atol=1e-4)


def test_environment_light_of_an_opaque_surface_is_that_of_numpy(look, tmp_path):
    opened = make_bundle(tmp_path / "a.vdg")
    wi, wo = (np.abs(each).T for each in directions(80))
    random = np.random.default_rng(3).random((2, 80, 2))
    rows = rows_of(80, uv=random[0], random=random[1], wi=wi, wo=wo, samples=SAMPLES)
    found = look(opened.folder, rows)
    numbers = opened.exact_parameters().astype(np.float64)
    uv, wo = wide(rows, "uv"), wide(rows, "wo")
    lobes = lobes_of(numbers, look_at(numbers, latents_at_lod(numbers, uv, np.zeros(80)), wo))

    def shade(wi):
        return evaluate_at_lod(numbers, uv.T, np.zeros(80), wi.T, wo.T).T

    numbers_drawn = wide(rows, "random")
    require_near(found["light"], environment_light(lobes, shade, Smooth(), SAMPLES, numbers_drawn))
    require_near(found["split"], environment_light_split(numbers, lobes, shade, Smooth(), wo))


def require_near(found, wanted):
    errors = np.abs(found.T - wanted) / (np.abs(wanted) + 0.01)
    # a sample on the border of two lobes can fall into the other in single floats
    assert np.percentile(errors, 95) < 2e-3
    assert (wanted > 0.01).mean() > 0.9


@pytest.fixture(scope="module", params=[1.0, 1.5, 0.75])
def sides(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides") / "leaf.vdg"
    return make_bundle(folder, lively_sides(request.param))


def test_the_sampler_of_both_sides_is_that_of_numpy(look, sides):
    count, random = 200, np.random.default_rng(2)
    index = sides.manifest.transmitted.index
    wi, wo = directions(count)
    # a solid refracts to the viewer from few directions
    wi[:, ::4] = passed(wi[:, ::4], wo[:, ::4], index)
    wi[2, 2::4] *= -1
    uv, numbers = random.random((2, count, 2))
    rows = rows_of(count, uv=uv, wi=wi.T, wo=wo.T, random=numbers, share=0.4)
    found = look(sides.folder, rows)
    parameters = sides.exact_parameters().astype(np.float64)
    uv, wi, wo = (wide(rows, name) for name in ("uv", "wi", "wo"))
    latents, lod = latents_at_lod(parameters, uv, np.zeros(count)), np.zeros(count)
    own = SphereSampler.at(parameters, latents, wo, float(np.float32(0.4)))
    response = evaluate_at_lod(parameters, uv.T, lod, wi.T, wo.T)
    np.testing.assert_allclose(found["response"], response, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(found["pdf"], own.pdf(wi), rtol=2e-3, atol=1e-5)
    drawn = own.draw(wide(rows, "random"))
    lit = drawn.any(0)
    assert 0.3 < lit.mean() < 1 and (drawn[2, lit] < 0).any() and (drawn[2, lit] > 0).any()
    np.testing.assert_array_equal(found["is_lit"], lit)
    np.testing.assert_allclose(found["drawn"][lit], drawn.T[lit], atol=1e-3)
    np.testing.assert_allclose(found["drawn_pdf"][lit], own.pdf(drawn)[lit], rtol=5e-3, atol=1e-4)

    rows["samples"], rows["share"] = SAMPLES, 0.5
    rows, wo, latents = rows[:60], wo[:, :60], latents[:, :60]
    found = look(sides.folder, rows)
    even = SphereSampler.at(parameters, latents, wo)

    def shading(numbers):
        return lambda wi: evaluate_at_lod(numbers, uv.T[:60], lod[:60], wi.T, wo.T).T

    light = environment_light_of_sides(
        even, shading(parameters), Smooth(), SAMPLES, wide(rows, "random")
    )
    require_near(found["light"], light)
    shades = tuple(map(shading, parameters.sides))
    split = environment_light_split_of_sides(parameters, even, shades, Smooth())
    require_near(found["split"], split)


def test_what_is_drawn_over_the_sphere_has_its_density(look, sides):
    """Pearson's chi-square test over cells of equal solid angle. The density of a cell is its mean
    over the cell, and integrates to 1 with the share of draws that carry no light."""
    count, cells, inside = 30_000, 12, 16
    random = np.random.default_rng(5)
    fine = (np.arange(cells * inside) + 0.5) / (cells * inside)
    z, turn = (each.ravel() for each in np.meshgrid(2 * fine - 1, 2 * np.pi * fine, indexing="ij"))
    sine = np.sqrt(1 - z * z)
    grid = np.stack([sine * np.cos(turn), sine * np.sin(turn), z], 1)
    for wo in (0.6, 0, 0.8), (0.8, 0.5, 0.33):
        place = {"uv": random.random(2), "wo": wo / np.linalg.norm(wo), "share": 0.4}
        place["samples"] = -1  # no responses
        rows = rows_of(count, random=random.random((count, 2)), **place)
        found = look(sides.folder, rows)
        drawn = found["drawn"][found["is_lit"] > 0]
        np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, atol=2e-3)
        row = np.clip((drawn[:, 2] + 1) / 2 * cells, 0, cells - 1).astype(int)
        column = (np.arctan2(drawn[:, 1], drawn[:, 0]) / (2 * np.pi) % 1 * cells).astype(int)
        hits = np.bincount(row * cells + column % cells, minlength=cells**2)
        density = look(sides.folder, rows_of(len(grid), wi=grid, **place))["pdf"].astype(float)
        blocks = density.reshape(cells, inside, cells, inside).mean((1, 3)).ravel()
        expected = count * blocks * 4 * np.pi / cells**2
        is_enough = expected > 20
        chi = ((hits - expected) ** 2 / np.maximum(expected, 1e-9))[is_enough].sum()
        degrees = is_enough.sum()
        assert degrees > 40 and abs(chi - degrees) < 4 * np.sqrt(2 * degrees), (chi, degrees)
        total = 4 * np.pi * density.mean() + 1 - len(drawn) / count
        assert total == pytest.approx(1, abs=0.012)


@pytest.mark.parametrize("version", ["4.3", "4.5", "4.6", "none"])
def test_older_samplers_keep_their_own_limits(look, tmp_path, version):
    parameters = with_older_head(lively_parameters(), version)
    folder = make_bundle(tmp_path / "a.vdg", parameters).folder
    own = Sampler(folder)
    # until then one number for all lobes
    own.table["view_cosine_minimum"] = own.table["view_cosine_maximum"]
    if version == "none":
        path = folder / "manifest.json"
        manifest = json.loads(path.read_text())
        del manifest["sampler"]
        path.write_text(json.dumps(manifest))
    else:
        write_as_older(folder, parameters.spec, version)
    wi, wo = (np.abs(each).T for each in directions(60))
    # grazing: there the limits differ
    wo[::2] = wo[::2] * [1, 1, 0.02] / np.linalg.norm(wo[::2] * [1, 1, 0.02], axis=1)[:, None]
    numbers = np.random.default_rng(1).random((60, 2)) * [1, 0.99]
    rows = rows_of(60, uv=0.3, wi=wi, wo=wo, random=numbers)
    found = look(folder, rows)
    wi, wo, numbers = (wide(rows, name).T for name in ("wi", "wo", "random"))
    if version == "none":
        np.testing.assert_allclose(found["pdf"], (wi[:, 2] + 0.5) / 2 / np.pi, rtol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(found["drawn"], axis=1), 1, atol=1e-5)
        assert found["is_lit"].all()
        return
    own = own.at(wide(rows, "uv").T, np.zeros(60), wo)
    np.testing.assert_allclose(found["pdf"], own.density(wi), rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(found["drawn"], own.draw(numbers), atol=2e-3)
