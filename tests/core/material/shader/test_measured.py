"""Measured materials: a GGX written in the grid of the MERL database is read back."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

TINT = np.array([0.9, 0.6, 0.3])
SCALES = np.array([1 / 1500, 1.15 / 1500, 1.66 / 1500])


def ggx(h, cosine, nl, nv, alpha):
    """A GGX lobe without the cosine of the light, by the half vector's z and the angles."""
    d = alpha**2 / (np.pi * (h**2 * (alpha**2 - 1) + 1) ** 2)
    a2 = alpha**2
    visible = 0.5 / (nl * np.sqrt(a2 + (1 - a2) * nv**2) + nv * np.sqrt(a2 + (1 - a2) * nl**2))
    fresnel = TINT + (1 - TINT) * np.clip(1 - cosine, 0, 1)[..., None] ** 5
    return (d * visible)[..., None] * fresnel


def write_merl(path, alpha):
    """By the layout of BRDFRead.cpp of the database: the angle of the half vector on a square-root
    scale, in degrees the angle of the light about it, and half a turn."""
    half = (np.arange(90) / 90) ** 2 * np.pi / 2
    difference, turn = np.arange(90) / 90 * np.pi / 2, np.arange(180) / 180 * np.pi
    th, td, pd = np.meshgrid(half, difference, turn, indexing="ij")
    # the light about the half vector, which lies in the plane of x and z
    d = np.stack([np.sin(td) * np.cos(pd), np.sin(td) * np.sin(pd), np.cos(td)], -1)
    along = np.stack([np.cos(th), np.zeros_like(th), -np.sin(th)], -1)
    normal = np.stack([np.sin(th), np.zeros_like(th), np.cos(th)], -1)
    wi = d[..., :1] * along + d[..., 1:2] * [0, 1, 0] + d[..., 2:] * normal
    wo = 2 * d[..., 2:] * normal - wi
    nl, nv = wi[..., 2], wo[..., 2]
    above = (nl > 0) & (nv > 0)
    values = ggx(np.cos(th), d[..., 2], np.maximum(nl, 1e-3), np.maximum(nv, 1e-3), alpha)
    values = np.where(above[..., None], values / SCALES, -1)
    with path.open("wb") as file:
        file.write(np.array([90, 90, 180], "<i4").tobytes())
        file.write(np.moveaxis(values, -1, 0).astype("<f8").tobytes())


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("merl") / "gold-paint.binary"
    write_merl(path, 0.25)
    return path


def test_a_table_in_merls_grid_is_read_back_within_its_interpolation(measured):
    random = np.random.default_rng(4)
    z = 0.25 + 0.75 * random.random((2, 3000))
    turn = 2 * np.pi * random.random((2, 3000))
    side = np.sqrt(1 - z**2)
    wi, wo = np.stack([side * np.cos(turn), side * np.sin(turn), z], -1).astype(np.float32)
    found = Teacher(load_document(measured)).response(np.zeros((3000, 2), np.float32), wi, wo)
    wi, wo = wi.astype(float), wo.astype(float)
    h = (wi + wo) / np.linalg.norm(wi + wo, axis=1, keepdims=True)
    expected = ggx(h[:, 2], (wi * h).sum(1), wi[:, 2], wo[:, 2], 0.25) * wi[:, 2:]
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=2e-3)
    assert np.abs(found / expected - 1).mean() < 2e-3
    # mirrored and exchanged directions are measured once
    other = Teacher(load_document(measured)).response(
        np.zeros((3000, 2), np.float32), wo.astype(np.float32), wi.astype(np.float32)
    )
    np.testing.assert_allclose(other / wo[:, 2:], found / wi[:, 2:], rtol=1e-3, atol=1e-4)


def test_a_measured_material_is_a_document_and_its_digest_sees_the_file(measured):
    document = load_document(measured)
    (report,) = describe(document, probe=False)
    assert report.name == "gold-paint"
    assert [path.name for path in document.files] == [measured.name]
    before = source_facts(document, document.require_material())
    data = bytearray(measured.read_bytes())
    data[100] ^= 1
    measured.write_bytes(data)
    again = load_document(measured)
    facts = source_facts(again, again.require_material())
    assert changed_sources(before, facts) == [f"{measured.name} has changed"]


def test_damaged_measurements_and_other_files_are_refused(tmp_path):
    for data, expected in (
        (b"", "has no entries in 0 bytes"),
        (np.array([90, 90, 360], "<i4").tobytes(), "has 90 x 90 x 360 entries in 12 bytes"),
    ):
        (tmp_path / "bad.binary").write_bytes(data)
        with pytest.raises(DocumentError, match=expected):
            load_document(tmp_path / "bad.binary")


def test_a_shader_reads_an_array_of_numpy(tmp_path):
    np.save(tmp_path / "ramp.npy", np.array([[0.1, 0.2], [0.3, 0.4]]))
    (tmp_path / "a.slang").write_text(
        '[VerdigrisFile("ramp.npy")] StructuredBuffer<float> ramp;\n'
        "float3 response(float2 uv, float3 wi, float3 wo) { return ramp[uint(uv.x * 4)]; }\n"
    )
    up = np.float32([[0, 0, 1]] * 4)
    uv = np.float32([[0.1, 0], [0.3, 0], [0.6, 0], [0.9, 0]])
    found = Teacher(load_document(tmp_path / "a.slang", confined=True)).response(uv, up, up)
    np.testing.assert_allclose(found[:, 0], [0.1, 0.2, 0.3, 0.4], rtol=1e-6)
    np.save(tmp_path / "ramp.npy", np.array([np.nan]))
    with pytest.raises(DocumentError, match="numbers that are not finite"):
        Teacher(load_document(tmp_path / "a.slang"))
