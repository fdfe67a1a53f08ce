"""Files of a compressed set: read by decoders that are not ours, and damaged."""

import hashlib
import json
import re
import shutil

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.compress.compress import picture
from verdigris.core.compress.set_files import BOUND, open_set
from verdigris.core.compress.verify_set import verify_set

from ..bundle.runtime.shader_files import require_tool, run
from ..bundle.runtime.web_gpu import open_gpu, run_shader


@pytest.fixture(scope="module")
def latents(done):
    """Texels of all levels from KTX files, by a parser of ten lines and an independent decoder of
    BC7."""
    decoder = pytest.importorskip("texture2ddecoder", reason="texture2ddecoder is not installed")
    found = []
    for name in ("fine", "coarse"):
        data = (done.path / f"{name}.ktx2").read_bytes()
        width, height = np.frombuffer(data, "<u4", 2, 20)
        count = int(np.frombuffer(data, "<u4", 1, 40)[0])
        levels = []
        for level in range(count):
            at, size, _ = map(int, np.frombuffer(data, "<u8", 3, 80 + 24 * level))
            sides = [max(1, int(side) >> level) for side in (height, width)]
            rows, columns = (-(-side // 4) * 4 for side in sides)
            texels = decoder.decode_bc7(data[at : at + size], columns, rows)
            bgra = np.frombuffer(texels, np.uint8).reshape(rows, columns, 4)
            levels.append(bgra[: sides[0], : sides[1], [2, 1, 0, 3]])
        found.append(levels)
    return found


@pytest.fixture(scope="module")
def rows(done):
    return np.array(json.loads((done.path / "reference.json").read_text())["rows"])


def evaluate_row(manifest, weights, latents, u, v, level):
    """The page's steps, one place at a time, in plain Python and doubles."""
    inputs = []
    for levels in latents:
        texels = levels[min(level, len(levels) - 1)] / 255.0
        height, width, _ = texels.shape
        x, y = u * width - 0.5, v * height - 0.5
        left, top = int(np.floor(x)), int(np.floor(y))
        right, lower = x - left, y - top
        filtered = sum(
            wide * high * texels[(top + down) % height, (left + aside) % width]
            for down, high in ((0, 1 - lower), (1, lower))
            for aside, wide in ((0, 1 - right), (1, right))
        )
        near = texels[int(v * height + 1e-3) % height, int(u * width + 1e-3) % width]
        inputs += [*(2 * filtered - 1), *(2 * near - 1)]
    for octave in (1, 2):
        for place, side in ((u, width), (v, height)):
            angle = 2 * np.pi * octave * place * side
            inputs += [np.sin(angle), np.cos(angle)]
    values, at = np.array(inputs), 0
    network = manifest["network"]
    sizes = [network["width"]] * network["hidden"] + [manifest["channels"]]
    for number, outputs in enumerate(sizes):
        count = outputs * len(values)
        matrix = weights[at : at + count].reshape(outputs, len(values))
        values = matrix @ values + weights[at + count : at + count + outputs]
        at += count + outputs
        if number < len(sizes) - 1:
            values = np.where(values > 0, values, network["slope"] * values)
    return np.clip(values, 0, 1)


def test_a_decoder_of_the_page_gives_the_reference(done, latents, rows):
    manifest = json.loads((done.path / "manifest.json").read_text())
    weights = np.fromfile(done.path / "weights.bin", "<f2").astype(float)
    assert len(set(rows[:, 2])) == manifest["levels"] == 6
    for row in rows[:120]:
        found = evaluate_row(manifest, weights, latents, row[0], row[1], int(row[2]))
        np.testing.assert_allclose(found, row[3:], atol=2e-6)


def test_the_set_verifies_on_the_device(done, device):
    result = verify_set(open_set(done.path), device)
    assert result.holds
    assert [row.what.split(" ")[0] for row in result.rows] == ["numpy", "shader"]
    assert max(row.found for row in result.rows) < 1e-4
    assert not result.notes


def test_glsl_gives_the_reference_by_another_compiler(done, latents, rows, tmp_path):
    gpu = open_gpu("wgpu")
    text = (done.path / "runtime" / "texture_set.glsl").read_text()
    source, output = tmp_path / "set.comp", tmp_path / "set.spv"
    source.write_text(f"#version 450\n{text}")
    run(require_tool("glslangValidator"), "-V", "--target-env", "vulkan1.1", source, "-o", output)
    module, opened = gpu
    storage, usage = module.BufferUsage.STORAGE, module.TextureUsage
    views = []
    for levels in latents:
        height, width, _ = levels[0].shape
        texture = opened.create_texture(
            size=(width, height, 1),
            mip_level_count=len(levels),
            format="rgba8unorm",
            usage=usage.COPY_DST | usage.TEXTURE_BINDING,
        )
        for level, texels in enumerate(levels):
            tall, wide, _ = texels.shape
            layout = {"bytes_per_row": 4 * wide, "rows_per_image": tall}
            target = {"texture": texture, "mip_level": level}
            data = np.ascontiguousarray(texels)
            opened.queue.write_texture(target, data, layout, (wide, tall, 1))
        views.append(texture.create_view())
    queries = np.zeros((len(rows), 4), "f4")
    queries[:, :3] = rows[:, :3]
    weights = np.fromfile(done.path / "weights.bin", np.uint8)
    bound = [*views, (weights, storage), (queries, storage), None]
    code, channels = output.read_bytes(), rows.shape[1] - 3
    found = run_shader(gpu, code, "main", bound, len(rows), channels)
    np.testing.assert_allclose(found, rows[:, 3:], atol=BOUND)


def test_glsl_is_included_and_has_a_function_for_each_texture(done, tmp_path):
    text = (done.path / "runtime" / "texture_set.glsl").read_text()
    assert "neuralVector" not in text
    calls = "".join(
        f"result += {name}(values){'.x' if kind != 'float' else ''};"
        for kind, name in re.findall(r"^(\w+) (neuralSet_\w+)\(", text, re.MULTILINE)
    )
    assert calls.count("neuralSet_") == 4
    path = tmp_path / "own.frag"
    path.write_text(
        f"#version 450\n#define NEURAL_NO_ENTRY_POINT\n{text}\n"
        "layout(location = 0) in vec2 uv; layout(location = 0) out float result;\n"
        "void main() { float values[9]; neuralTextureSetEvaluate(uv, 0u, values); result = 0.0; "
        f"{calls} }}\n"
    )
    run(require_tool("glslangValidator"), "-V", path, "-o", tmp_path / "own.spv")


def test_a_set_opens_as_it_was_written(done):
    stored = open_set(done.path)
    assert stored.textures == tuple(
        each.__class__(**{**each.__dict__, "file": each.file.rpartition("/")[2]})
        for each in done.textures.textures
    )
    np.testing.assert_array_equal(stored.compressed.decode(), done.result.compressed.decode())
    assert stored.manifest["errors"]["psnr"] == pytest.approx(done.result.psnr, abs=0.01)
    assert len(stored.manifest["errors"]["psnr_by_level"]) == 6
    drawn = picture(done)
    assert drawn.shape == (4 * 32, 3 * 32, 3)


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        ("manifest.json", lambda data: data.replace(b"verdigris.textures", b"other"), "format"),
        ("manifest.json", lambda data: data.replace(b'"1.0"', b'"2.0"', 1), "version is '2.0'"),
        ("manifest.json", lambda data: data.replace(b'"hidden": 1', b'"hidden": 2'), "network"),
        ("fine.ktx2", lambda data: data[:-1] + b"?", "fine.ktx2: sha256"),
        ("weights.bin", lambda data: data[:-2], "weights.bin: bytes"),
        ("reference.json", lambda data: data + b" ", "reference.json: bytes"),
        ("runtime/texture_set.glsl", lambda data: b"?" + data[1:], "texture_set.glsl: sha256"),
    ],
)
def test_damage_is_found(done, tmp_path, file, damage, message):
    copied = tmp_path / "wall.vdt"
    shutil.copytree(done.path, copied)
    path = copied / file
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BundleError, match=message):
        open_set(copied)


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_weights_of_another_length_are_refused_also_with_their_own_record(done, tmp_path, cut):
    copied = tmp_path / "wall.vdt"
    shutil.copytree(done.path, copied)
    data = (copied / "weights.bin").read_bytes()[:-cut]
    (copied / "weights.bin").write_bytes(data)
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["network"] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (copied / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match=f"network.bytes is {len(data)}: the network has"):
        open_set(copied)


@pytest.mark.parametrize(("column", "value"), [(0, -0.1), (1, 1e30), (2, 0.5), (2, 6), (2, -1)])
def test_a_reference_at_a_place_that_is_not_in_the_set_is_refused(done, tmp_path, column, value):
    copied = tmp_path / "wall.vdt"
    shutil.copytree(done.path, copied)
    rows = json.loads((copied / "reference.json").read_text())["rows"]
    rows[3][column] = value
    data = json.dumps({"rows": rows}).encode()
    (copied / "reference.json").write_bytes(data)
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["reference"] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (copied / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match=r"reference\.json: rows is .*each row must begin with u"):
        open_set(copied)


def test_other_shaders_are_reported(done, tmp_path, device):
    copied = tmp_path / "wall.vdt"
    shutil.copytree(done.path, copied)
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["textures"][0]["name"] = "paint"
    (copied / "manifest.json").write_text(json.dumps(manifest))
    result = verify_set(open_set(copied), None)
    assert result.notes == (
        "not checked, because this Verdigris writes other files: texture_set_numbers.slang",
    )
