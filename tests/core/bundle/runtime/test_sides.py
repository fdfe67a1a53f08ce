"""A bundle that transmits: written, decoded from docs/FORMAT.md alone, and by the runtime shader on
a device, each against numpy."""

import json

import numpy as np
import pytest

from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.cost import cost_of_bundle
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.verify.device_decoders import decoders_on
from verdigris.core.bundle.verify.sphere_density import density_row
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.sides import density_of_passed, passed
from verdigris.core.network.light import both_sides
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.parameters import TransmittedSide

from ...in_process import run_command
from ...material.test_sides import directions
from ..bundles import lively_parameters, make_bundle
from ..files.independent_sides import Sides

COUNT = 200
SHADER = Source(
    "test_sides",
    """
import bundle.runtime.bundle_material;
import bundle.runtime.neural_material;
import bundle.runtime.neural_sides;

struct Query { float2 uv; float2 random; float3 wi; float3 wo; }

StructuredBuffer<Query> queries;
RWStructuredBuffer<float4> answers;
uniform uint count;

[shader("compute")] [numthreads(64, 1, 1)]
void look(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= count)
        return;
    const Query query = queries[thread.x];
    const NeuralSides sides = bundleSides();
    const NeuralSidesSurface surface = prepare(sides, query.uv, 0.0, query.wo, 0.4);
    answers[3 * thread.x] = float4(surface.shade(sides, query.wi), surface.pdf(query.wi));
    const NeuralSample drawn = surface.sampleResponse(sides, query.random);
    answers[3 * thread.x + 1] = float4(drawn.wi, drawn.pdf);
    answers[3 * thread.x + 2] = float4(drawn.weight, 0.0);
}
""",
)


def lively_sides(index):
    parameters, below = (lively_parameters(seed=seed) for seed in (3, 4))
    parameters.transmitted = TransmittedSide(below.decoder, index, -below.head)
    return export_numbers(parameters)


@pytest.fixture(scope="module", params=[1.0, 1.5])
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides") / "leaf.vdg"
    return make_bundle(folder, lively_sides(request.param))


@pytest.fixture(scope="module")
def queries(bundle):
    """uv, wi on both sides, wo, and two numbers."""
    random = np.random.default_rng(2)
    wi, wo = (each.T.copy() for each in directions(COUNT))
    # a solid refracts to the viewer from few directions
    wi[::4] = passed(wi[::4].T, wo[::4].T, bundle.manifest.transmitted.index).T
    wi[2::4, 2] *= -1
    uv, numbers = random.random((2, COUNT, 2))
    return tuple(each.astype(np.float32) for each in (uv, wi, wo, numbers))


def in_numpy(bundle, uv, wi, wo):
    parameters = bundle.exact_parameters().astype(np.float64)
    return evaluate_at_lod(parameters, uv.astype(float), np.zeros(len(uv)), *map(wide, (wi, wo)))


def wide(values):
    return values.astype(np.float64)


def test_a_decoder_from_the_page_alone_decodes_both_sides(bundle, queries):
    uv, wi, wo, numbers = map(wide, queries)
    material = Sides(bundle.folder)
    found = material.response(uv, np.zeros(len(uv)), wi, wo)
    expected = in_numpy(bundle, uv, wi, wo)
    np.testing.assert_allclose(found, expected, rtol=2e-7, atol=1e-9)
    assert (expected[::2].sum(1) > 0).mean() > 0.4 and (expected[1::2] > 0).all()
    parameters = bundle.exact_parameters().astype(np.float64)
    latents = latents_at_lod(parameters, uv.T, np.zeros(len(uv)))
    own = SphereSampler.at(parameters, latents, wo.T, 0.4)
    place = uv, np.zeros(len(uv)), wo
    np.testing.assert_allclose(material.density(*place, wi, 0.4), own.pdf(wi.T), rtol=1e-6)
    drawn = own.draw(numbers.T).T
    np.testing.assert_allclose(material.draw(*place, numbers, 0.4), drawn, atol=2e-7)


def test_an_older_reader_sees_the_reflection(bundle, queries):
    uv, wi, wo, _ = map(wide, queries)
    path = bundle.folder / "manifest.json"
    text = path.read_text()
    manifest = json.loads(text)
    del manifest["transmission"]
    try:
        path.write_text(json.dumps(manifest))
        found = Sides(bundle.folder).response(uv, np.zeros(len(uv)), wi, wo)
    finally:
        path.write_text(text)
    expected = in_numpy(bundle, uv, wi, wo)
    np.testing.assert_allclose(found[1::2], expected[1::2], rtol=2e-7)
    assert not found[::2].any()


def test_the_runtime_shader_is_the_numpy_decoder(bundle, queries, software):
    uv, wi, wo, numbers = queries
    material = BundleMaterial(bundle, software)
    expected = in_numpy(bundle, uv, wi, wo)
    np.testing.assert_allclose(material.response(uv, wi, wo), expected, rtol=1e-3, atol=1e-5)
    # seen from inside
    assert not material.response(uv, -wi, -wo).any()

    query = software.new_buffer(np.concatenate([uv, numbers, wi, wo], 1).ravel(), 40)
    answers = software.new_space(3 * COUNT, 16)
    given = {"queries": query, "answers": answers, "count": COUNT, **material.bindings()}
    software.dispatch(material.kernel(SHADER, "look"), COUNT, given)
    found = answers.to_numpy().view(np.float32).reshape(COUNT, 3, 4)
    np.testing.assert_allclose(found[:, 0, :3], expected, rtol=1e-3, atol=1e-5)
    parameters = bundle.exact_parameters().astype(np.float64)
    latents = latents_at_lod(parameters, wide(uv).T, np.zeros(COUNT))
    own = SphereSampler.at(parameters, latents, wide(wo).T, float(np.float32(0.4)))
    np.testing.assert_allclose(found[:, 0, 3], own.pdf(wide(wi).T), rtol=5e-3, atol=1e-5)
    drawn = own.draw(wide(numbers).T)
    np.testing.assert_allclose(found[:, 1, :3], drawn.T, atol=2e-3)
    lit = drawn.any(0)
    assert 0.5 < lit.mean() < 1 and (found[lit, 1, 2] < 0).any() and (found[lit, 1, 2] > 0).any()
    weight = in_numpy(bundle, uv, drawn.T, wo)[lit] / own.pdf(drawn)[lit, None]
    np.testing.assert_allclose(found[lit, 2, :3], weight, rtol=0.02, atol=1e-3)
    assert not found[~lit, 2].any()


def test_verify_compares_both_sides_and_the_density_over_the_sphere(bundle, software, monkeypatch):
    shipped = decoders_on(bundle, software)
    proof = verify(bundle, shipped.decoders, samplers=shipped.samplers, below=shipped.below)
    assert proof.holds
    rows = [row.what for row in proof.rows]
    for name in ("numpy", "portable"):
        for what in (f"{name} against", f"{name} sampler against"):
            assert len([row for row in rows if row.startswith(f"transmitted: {what}")]) == 2, rows
    assert rows.count("density over the sphere against 1") == 1
    monkeypatch.setattr(
        both_sides, "density_of_passed", lambda *given: 1.02 * density_of_passed(*given)
    )
    assert not density_row(bundle.parameters()).holds


def test_what_the_runtime_shader_draws_has_its_density_over_the_sphere(bundle, software):
    """Pearson's chi-square test, over cells of equal solid angle, at two places. The density of a
    cell is a mean over the sphere."""
    per_place, rows, columns, inside = 20_000, 12, 12, 16
    random, material = np.random.default_rng(5), BundleMaterial(bundle, software)
    parameters = bundle.exact_parameters().astype(np.float64)
    fine = (np.arange(rows * inside) + 0.5) / (rows * inside) * 2 - 1
    turns = 2 * np.pi * (np.arange(columns * inside) + 0.5) / (columns * inside)
    z, turn = (each.ravel() for each in np.meshgrid(fine, turns, indexing="ij"))
    sine = np.sqrt(1 - z * z)
    grid = np.stack([sine * np.cos(turn), sine * np.sin(turn), z])
    for wo in np.array([[0.6, 0, 0.8], [0.995, 0, 0.0999]]) / np.linalg.norm([0.6, 0, 0.8]):
        uv, at, towards = (np.tile(each, (per_place, 1)) for each in (random.random(2), wo, wo))
        numbers = random.random((per_place, 2))
        query = np.concatenate([uv, numbers, towards, at], 1).astype(np.float32)
        answers = software.new_space(3 * per_place, 16)
        given = {"queries": software.new_buffer(query.ravel(), 40), "answers": answers}
        given |= {"count": per_place, **material.bindings()}
        software.dispatch(material.kernel(SHADER, "look"), per_place, given)
        drawn = answers.to_numpy().view(np.float32).reshape(per_place, 3, 4)[:, 1, :3]
        drawn = drawn[drawn.any(1)]
        row = np.clip((drawn[:, 2] + 1) / 2 * rows, 0, rows - 1e-6).astype(int)
        column = np.arctan2(drawn[:, 1], drawn[:, 0]) % (2 * np.pi) / (2 * np.pi) * columns
        cell = row * columns + np.minimum(column.astype(int), columns - 1)
        found = np.bincount(cell, minlength=rows * columns)
        latents = latents_at_lod(parameters, np.tile(uv[:1].T, len(z)), np.zeros(len(z)))
        lens = np.tile(wo[:, None], len(z))
        density = SphereSampler.at(parameters, latents, lens, 0.4).pdf(grid)
        blocks = density.reshape(rows, inside, columns, inside).mean((1, 3)).ravel()
        expected = per_place * blocks * 4 * np.pi / len(blocks)
        is_enough = expected > 20
        chi = ((found - expected) ** 2 / np.maximum(expected, 1e-9))[is_enough].sum()
        degrees = is_enough.sum()
        assert degrees > 40 and abs(chi - degrees) < 4 * np.sqrt(2 * degrees), (chi, degrees)


def test_costs_and_words_count_both_decoders(bundle, software):
    weights = bundle.manifest.weights.bytes
    assert cost_of_bundle(bundle, software, is_brief=True).weights_bytes == 2 * weights
    _, out, _ = run_command(["inspect", bundle.folder])
    through = {1.0: "a thin wall", 1.5: "a solid with the index 1.5"}
    wanted = f"passes    light, as {through[bundle.manifest.transmitted.index]}: {weights:,} more"
    assert wanted in out
