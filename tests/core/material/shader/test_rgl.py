"""Files in the layout of the RGL database, written from a GGX lobe, are read back."""

import struct

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.shader.rgl import rec709_weights
from verdigris.core.material.teacher.teacher import Teacher

TINT = np.array([0.9, 0.6, 0.3])
GRID, COLOURS = 48, 40


def lobe(alpha, view, light):
    """A GGX lobe with its cosine, and without shadowing: its colours are smooth."""
    m = view + light
    m /= np.linalg.norm(m, axis=-1, keepdims=True)
    fresnel = 0.3 + 0.7 * (1 - np.clip((m * view).sum(-1), 0, 1)) ** 5
    return normals(alpha, m) * fresnel * (0.5 + 0.5 * light[..., 2])


def normals(alpha, m):
    d = (m[..., 0] / alpha[0]) ** 2 + (m[..., 1] / alpha[1]) ** 2 + m[..., 2] ** 2
    return 1 / (np.pi * alpha[0] * alpha[1] * d**2)


def direction(theta, phi):
    sine = np.sin(theta)
    return np.stack([sine * np.cos(phi), sine * np.sin(phi), np.cos(theta) + 0 * phi], -1)


def of_unit(u, v):
    """The direction at a place of the unit square (Dupuy and Jakob 2018, section 4)."""
    return direction(u**2 * np.pi / 2, (2 * v - 1) * np.pi)


def warped(density, samples):
    """Where the warp of a bilinear density puts samples of the unit square: by sums over a fine
    grid, first over rows, then along the row."""
    fine = np.linspace(0, 1, 1500)
    nodes = np.linspace(0, 1, GRID)
    rows = np.trapezoid(density, axis=1)
    along = np.interp(fine, nodes, rows)
    sums = np.concatenate([[0], np.cumsum(along[1:] + along[:-1])])
    found = np.empty_like(samples)
    found[:, 1] = np.interp(samples[:, 1], sums / sums[-1], fine)
    for number, (x, _) in enumerate(samples):
        place = found[number, 1] * (GRID - 1)
        low = min(int(place), GRID - 2)
        row = density[low] + (place - low) * (density[low + 1] - density[low])
        along = np.interp(fine, nodes, row)
        sums = np.concatenate([[0], np.cumsum(along[1:] + along[:-1])])
        found[number, 0] = np.interp(x, sums / sums[-1], fine)
    return found


def write(path, alpha, phis, thetas, wavelengths=None):
    """The fields of a file, by src/bsdfs/measured.cpp and src/core/tensor.cpp of Mitsuba 3."""
    u, v = np.meshgrid(np.linspace(0, 1, GRID), np.linspace(0, 1, GRID))
    is_isotropic = len(phis) <= 2
    ndf = normals(alpha, of_unit(u, v))
    sigma = 0.4 + 0.6 * u
    vndf = np.empty((len(phis), len(thetas), GRID, GRID))
    colours = np.empty((len(phis), len(thetas), 3, COLOURS, COLOURS))
    places = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, COLOURS)]), -1).reshape(-1, 2)
    for a, phi in enumerate(phis):
        for b, theta in enumerate(thetas):
            view = direction(np.float64(theta), np.float64(phi))
            turn = phi / (2 * np.pi) if is_isotropic else 0
            m = of_unit(u, v + turn)
            vndf[a, b] = normals(alpha, m) * np.maximum(m @ view, 0.05) * (u + 0.02)
            at = warped(vndf[a, b], places)
            m = of_unit(at[:, 0], at[:, 1] + turn)
            light = 2 * (m @ view)[:, None] * m - view
            found = lobe(alpha, view, light) / normals(alpha, m)
            found *= 4 * (0.4 + 0.6 * np.sqrt(theta * 2 / np.pi))
            colours[a, b] = (found[:, None] * TINT).T.reshape(3, COLOURS, COLOURS)
    fields = {"phi_i": phis, "theta_i": thetas, "ndf": ndf, "sigma": sigma, "vndf": vndf}
    if wavelengths is None:
        fields["rgb"] = colours
    else:
        grey = colours[:, :, :1] / TINT[0]
        fields |= {"wavelengths": wavelengths, "spectra": np.repeat(grey, len(wavelengths), 2)}
    text = np.frombuffer(b"a test", np.uint8)
    arrays = {name: np.asarray(each, "<f4") for name, each in fields.items()}
    arrays |= {"description": text, "jacobian": np.uint8([1])}
    head = sum(2 + len(name) + 11 + 8 * each.ndim for name, each in arrays.items()) + 18
    parts, offset = [b"tensor_file\0", struct.pack("<BBI", 1, 0, len(arrays))], head
    for name, each in arrays.items():
        kind = 1 if each.dtype == np.uint8 else 10
        parts += [struct.pack("<H", len(name)), name.encode()]
        parts.append(struct.pack("<HBQ", each.ndim, kind, offset))
        parts.append(struct.pack(f"<{each.ndim}Q", *each.shape))
        offset += each.nbytes
    path.write_bytes(b"".join([*parts, *(each.tobytes() for each in arrays.values())]))


def directions(thetas, count=1500):
    random = np.random.default_rng(6)
    # views on measured angles: the test is of the warp, not of what lies between views
    theta = np.stack([random.choice(thetas[1:-1], count), 1.1 * random.random(count)])
    wo, wi = direction(theta, 2 * np.pi * random.random((2, count))).astype(np.float32)
    return np.zeros((count, 2), np.float32), wi, wo


def test_an_isotropic_file_in_colours_is_read_back(tmp_path):
    thetas = np.linspace(0, 1.4, 6)
    write(tmp_path / "metal.bsdf", (0.4, 0.4), np.array([0.0]), thetas)
    uv, wi, wo = directions(thetas)
    found = Teacher(load_document(tmp_path / "metal.bsdf")).response(uv, wi, wo)
    expected = lobe((0.4, 0.4), wo.astype(float), wi.astype(float))[:, None] * TINT
    assert np.abs(found / expected - 1).mean() < 0.01
    np.testing.assert_allclose(found, expected, rtol=0.06, atol=5e-3)


def test_an_anisotropic_file_in_spectra_is_read_back_with_mirrored_azimuths(tmp_path):
    phis, thetas = np.linspace(-np.pi, 0, 9), np.linspace(0, 1.4, 4)
    alpha = (0.35, 0.55)
    write(tmp_path / "steel.bsdf", alpha, phis, thetas, np.linspace(380, 720, 18))
    uv, wi, wo = directions(thetas)
    found = Teacher(load_document(tmp_path / "steel.bsdf")).response(uv, wi, wo)
    np.testing.assert_allclose(found, found[:, :1].repeat(3, 1), rtol=1e-4)
    expected = lobe(alpha, wo.astype(float), wi.astype(float))
    assert np.abs(found[:, 0] / expected - 1).mean() < 0.03


def test_spectra_become_colours_of_rec_709():
    wavelengths = np.linspace(360, 760, 81)
    weights = rec709_weights(wavelengths)
    np.testing.assert_allclose(weights.sum(1), 1)
    blue, red = wavelengths < 480, wavelengths > 600
    assert (weights @ blue).argmax() == 2 and (weights @ red).argmax() == 0
    # unevenly spaced wavelengths give the same colour
    uneven = np.concatenate([np.linspace(360, 550, 20), np.linspace(551, 760, 210)])
    np.testing.assert_allclose(rec709_weights(uneven) @ (uneven > 600), weights @ red, atol=0.05)


def test_damaged_files_are_refused(tmp_path):
    for data in (b"", b"tensor_file\0", b"tensor_file\0" + struct.pack("<BBI", 1, 0, 9) + b"\xff"):
        (tmp_path / "bad.bsdf").write_bytes(data)
        with pytest.raises(DocumentError, match="damaged or no file of the RGL"):
            load_document(tmp_path / "bad.bsdf")
    (tmp_path / "bad.bsdf").write_bytes(b"tensor_file\0" + struct.pack("<BBI", 1, 0, 0))
    with pytest.raises(DocumentError, match="has no field 'phi_i'"):
        load_document(tmp_path / "bad.bsdf")
