"""verdigris.h, compiled with a sanitizer: against the reference, BC7 of others, damage, Vulkan."""

import json
import os
import re
import shutil
import struct
import subprocess
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.colour import srgb_from_linear
from verdigris.core.bundle.files.ktx2 import BC7, RGBA8, RGBA16F
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.stored_textures import Exported
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.proxies.proxy_texture import TransmittedAlbedo
from verdigris.core.bundle.runtime.evaluate_queries import QUERY
from verdigris.core.bundle.runtime.runtime_files import EXAMPLES, RUNTIME_SHADERS
from verdigris.core.geometry import relief
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.material.sides import passed
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.spec import NetworkSpec

from ...geometry.reliefs import bumpy_heights, rays
from ...material.test_sides import directions
from ..bundles import lively_parameters, made_up, make_bundle, with_older_head, write_as_older
from ..files.independent_decoder import Material
from ..runtime.shader_files import StrictFiles, require_tool, run
from ..runtime.test_sides import lively_sides

FUZZER = Path(__file__).parents[3] / "fuzz" / "fuzz_header.c"
STRICT = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
VALIDATION_LAYER = Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
VALIDATED = {
    "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
    "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
}
OPENED = """#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
int main(void) {
    VdBundle bundle;
    VdError error;
    puts(vd_open(&bundle, "PATH", &error) ? "opened" : error.text);
    if (!vd_open(&bundle, "nothing.vdg", &error))
        printf("%.13s", error.text);
    return 0;
}
"""
SPEC = NetworkSpec(5, 2, "leaky_smelu", frame_count=1)


def compile_c(source, output, *options, libraries=("-lm",)):
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    run(compiler, *STRICT, *options, "-I", RUNTIME_SHADERS, source, "-o", output, *libraries)
    return output


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    output = tmp_path_factory.mktemp("c") / "cpu_decoder"
    return compile_c(EXAMPLES / "cpu_decoder.c", output)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundles") / "a.vdg"
    return write_bundle(path, made_up(SPEC, 16, 12), Contents(name="made up"))


def decode(decoder, folder, *words):
    command = [decoder, folder, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def largest_of(done):
    """The largest difference, as a share of what the bundle's bounds allow."""
    assert done.returncode == 0, done.stderr
    return float(re.search(r"largest difference: ([\d.]+)", done.stdout)[1])


def test_the_picture_has_the_uv_of_the_preview(decoder, bundle, tmp_path):
    """docs/RUNTIME.md has people compare both: a row of it by a decoder of our tests."""
    assert decode(decoder, bundle, tmp_path / "a.ppm").returncode == 0
    drawn = np.frombuffer((tmp_path / "a.ppm").read_bytes()[-3 * 128**2 :], np.uint8)
    columns, light = np.arange(20, 108), np.array([-0.38, 0.57, 0.73])
    x, y = (columns + 0.5) / 64 - 1, np.full(len(columns), 1 - 40.5 / 64)
    z = np.sqrt(1 - x * x - y * y)
    normal, tangent = np.stack([x, y, z], 1), np.stack([z, 0 * x, -x], 1)
    tangent /= np.hypot(x, z)[:, None]
    frame = np.stack([tangent, np.cross(normal, tangent), normal], 1)
    uv = np.stack([np.arctan2(x, z), np.arcsin(y)], 1) / np.pi + 0.5
    response = Material(bundle).response(uv, np.zeros(len(x)), frame @ light, frame[:, :, 2])
    wanted = 255 * np.clip(srgb_from_linear(3 * response), 0, 1)
    np.testing.assert_allclose(drawn.reshape(128, 128, 3)[40, columns], wanted, atol=1.1)


def test_live_values_are_those_of_each_row(decoder, tmp_path):
    spec = NetworkSpec(5, 2, "leaky_smelu", live_inputs=3)
    living = write_bundle(tmp_path / "a.vdg", made_up(spec, 16, 12), Contents(name="living"))
    assert largest_of(decode(decoder, living)) < 0.05


@pytest.mark.parametrize(
    ("spec", "texel_format"),
    [
        (SPEC, RGBA16F),
        (NetworkSpec(16, 3, "silu", frame_count=2), RGBA8),
        (NetworkSpec(7, 1, "relu", frame_count=3), BC7),
        (NetworkSpec(8, 4, "leaky_relu", frame_count=4), BC7),
        (NetworkSpec(8, 2, "silu", latent_channels=4, frame_count=3), BC7),
    ],
    ids=["leaky_smelu", "silu", "relu", "leaky_relu", "4 latents"],
)
def test_the_decoder_in_c_agrees_with_the_reference(decoder, tmp_path, spec, texel_format):
    exported = made_up(spec, 16, 5, texel_format=texel_format)
    write_bundle(tmp_path / "a.vdg", exported, Contents(name="made up"))
    # of one percent
    assert largest_of(decode(decoder, tmp_path / "a.vdg")) < 0.02


def test_relief_is_that_of_numpy(tmp_path):
    heights = make_height_map(bumpy_heights())
    bundle = make_bundle(tmp_path / "bumps.vdg", relief=heights)
    source = tmp_path / "relief.c"
    source.write_text("""
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
int main(int count, char **words)
{
    VdBundle bundle;
    VdError error;
    float row[11], found[7];
    if (count < 2 || !vd_open(&bundle, words[1], &error))
        return 1;
    if (bundle.relief.format != VD_R8G8B8A8_UNORM)
        return 2;
    while (fread(row, sizeof row, 1, stdin)) {
        vd_relief(&bundle, row, row + 4, row + 2, row[10], found);
        found[3] = vd_relief_shadow(&bundle, found, row + 7, row + 2, row[10]);
        vd_relief_normal(&bundle, found, row + 2, row[10], found + 4);
        fwrite(found, sizeof found, 1, stdout);
    }
    vd_close(&bundle);
    return 0;
}
""")
    program = compile_c(source, tmp_path / "relief", *SANITIZED)
    count = 3000
    uv, wo, extent = rays(count)
    _, wi, _ = rays(count, seed=7)
    for level in (0, 2):
        columns = [uv, extent, wo, wi, np.full((count, 1), level + 0.5)]
        rows = np.concatenate(columns, 1).astype("<f4")
        done = subprocess.run(
            [program, bundle.folder], input=rows.tobytes(), capture_output=True, check=True
        )
        found = np.frombuffer(done.stdout, "<f4").reshape(count, 7)
        seen = relief.relief(heights, rows[:, :2], rows[:, 4:7], rows[:, 2:4], level)
        off = np.abs(found[:, 2] - seen.height) / heights.scale
        # a ray that grazes an edge may miss it in single floats
        same = off < 1e-3
        assert same.mean() > 0.995
        np.testing.assert_allclose(found[same, :2], seen.uv[same], atol=2e-3)
        place = relief.Relief(found[:, :2].astype(float), found[:, 2].astype(float))
        lit = relief.lit(heights, place, rows[:, 7:10], rows[:, 2:4], level)
        assert (found[:, 3] == lit).mean() > 0.995 and 0.2 < lit.mean() < 0.9
        normals = relief.normal(heights, place.uv, rows[:, 2:4], level)
        np.testing.assert_allclose(found[:, 4:], normals, atol=2e-3)


@pytest.mark.parametrize("index", [1.0, 1.5, 0.75])
def test_light_from_below_is_that_of_numpy(decoder, tmp_path, index):
    """The rows of both references, and directions over the whole sphere."""
    parameters, below = (lively_parameters(SPEC, seed=seed) for seed in (3, 4))
    parameters.transmitted = TransmittedSide(below.decoder, index, -below.head)
    passing = TransmittedAlbedo([np.full((1, 1, 4), 99, np.uint8)], 8)
    leaf = make_bundle(tmp_path / "leaf.vdg", parameters, transmitted_albedo=passing)
    assert largest_of(decode(decoder, leaf.folder)) < 0.05
    wi, wo = directions()
    wi[:, ::2] = passed(wi[:, ::2], wo[:, ::2], index)
    wi[2, 1::4] *= -1
    uv = np.random.default_rng(3).random((wi.shape[1], 2))
    rows = np.concatenate([uv, wi.T, wo.T], 1).astype("<f4")
    source = tmp_path / "sides.c"
    source.write_text("""
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
int main(int count, char **words)
{
    VdBundle bundle;
    VdReference reference;
    VdError error;
    float row[8], response[3];
    if (count < 2 || !vd_open(&bundle, words[1], &error) ||
        !vd_open_reference(&bundle, words[1], &reference, &error))
        return 1;
    fwrite(&bundle.record_below, 1, sizeof bundle.record_below, stdout);
    fwrite(bundle.weights, 1, bundle.weights_bytes, stdout);
    fwrite(bundle.constants, 1, bundle.constants_bytes, stdout);
    while (fread(row, 4, 8, stdin) == 8) {
        vd_decode(&bundle, row, 0, row + 2, row + 5, response);
        fwrite(response, 4, 3, stdout);
    }
    if (bundle.transmitted_albedo.format != VD_R8G8B8A8_SRGB)
        return 2;
    fprintf(stderr, "%u %u", (unsigned)reference.count, bundle.transmitted_albedo.level[0].data[2]);
    vd_close_reference(&reference);
    vd_close(&bundle);
    return 0;
}
""")
    program = compile_c(source, tmp_path / "sides", *SANITIZED)
    command = [program, leaf.folder]
    done = subprocess.run(command, input=rows.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout[-12 * len(rows) :], "<f4").reshape(-1, 3)
    uv, wi, wo = (part.astype(float) for part in np.split(rows, (2, 5), axis=1))
    numbers = leaf.exact_parameters().astype(np.float64)
    wanted = evaluate_at_lod(numbers, uv, np.zeros(len(uv)), wi, wo)
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-5)
    assert (wanted[wi[:, 2] < 0].sum(1) > 0).sum() > 40
    names = "weights", "transmitted", "constants", "transmitted_constants"
    stored = b"".join((leaf.folder / f"{name}.bin").read_bytes() for name in names)
    assert done.stdout[128 : -12 * len(rows)] == stored
    size = leaf.manifest.weights.bytes
    record = struct.unpack("<16I", done.stdout[64:128])
    assert record[4] == size and min(record[5:7]) > size
    assert struct.unpack("<f", done.stdout[116:120]) == (index,)
    # rows from below, beside those of the first reference
    count, texel = map(int, done.stderr.split())
    assert count > 1.2 * len(leaf.reference()) and texel == 99


def test_constants_weights_and_rows_are_those_of_the_bundle(bundle, tmp_path):
    source = tmp_path / "dump.c"
    source.write_text("""
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
int main(int count, char **words)
{
    VdBundle bundle;
    VdReference reference;
    VdError error;
    double largest;
    float *answers;
    uint32_t row, i;
    if (count < 2 || !vd_open(&bundle, words[1], &error))
        return 1;
    if (!vd_open_reference(&bundle, words[1], &reference, &error))
        return 2;
    fwrite(reference.queries, sizeof *reference.queries, reference.count, stdout);
    answers = (float *)calloc(reference.count, 48);
    for (row = 0; row < reference.count; row++)
        for (i = 0; i < 3; i++)
            answers[12 * row + i] = reference.responses[row][i] * 1.005f;
    if (!vd_compare(&bundle, &reference, answers, 12, &largest, &error) || largest < 0.4)
        return 3;
    answers[12 * 77 + 1] *= 1.01f;
    if (vd_compare(&bundle, &reference, answers, 12, &largest, &error) || largest < 1.4)
        return 4;
    answers[12 * 77 + 1] = NAN;
    if (vd_compare(&bundle, &reference, answers, 12, &largest, &error))
        return 5;
    fprintf(stderr, "%s", error.text);
    free(answers);
    vd_close_reference(&reference);
    fwrite(&bundle.record, 1, sizeof bundle.record, stdout);
    fwrite(bundle.weights, 1, bundle.weights_bytes, stdout);
    fwrite(bundle.constants, 1, bundle.constants_bytes, stdout);
    vd_close(&bundle);
    return 0;
}
""")
    program = compile_c(source, tmp_path / "dump")
    done = subprocess.run([program, bundle], capture_output=True, check=True)
    assert b"reference.json: the largest difference, divided by the allowed one," in done.stderr
    rows = open_bundle(bundle).reference()
    queries = np.frombuffer(done.stdout[: len(rows) * QUERY.itemsize], QUERY)
    for name in ("uv", "lod", "wi", "wo"):
        np.testing.assert_array_equal(queries[name], getattr(rows, name))
    random = np.stack([queries["random"], queries["random2"]], 1)
    np.testing.assert_array_equal(random, rows.sampler.random)
    found = done.stdout[queries.nbytes :]
    stored = (bundle / "weights.bin").read_bytes() + (bundle / "constants.bin").read_bytes()
    assert found[128:] == stored
    manifest = json.loads((bundle / "manifest.json").read_text())
    latents = manifest["latents"]
    numbers = np.frombuffer(found[:64], "<f4")
    np.testing.assert_array_equal(numbers, np.float32(latents["scale"] + latents["offset"]))
    size = [latents[name] for name in ("width", "height", "levels")]
    places = {each["name"]: each["offset"] for each in manifest["weights"]["tensors"]}
    hidden = [places[f"layer{index}.weights"] for index in range(2)]
    assert struct.unpack("<16I", found[64:128]) == (*size, 0, 0, *hidden, *(0,) * 9)

    # what older samplers do not have is filled with zeros
    for version in "4.3", "4.5":
        parameters = with_older_head(lively_parameters(), version)
        older = make_bundle(tmp_path / f"{version}.vdg", parameters).folder
        write_as_older(older, parameters.spec, version)
        done = subprocess.run([program, older], capture_output=True, check=True)
        stored = (older / "weights.bin").read_bytes() + (older / "constants.bin").read_bytes()
        assert done.stdout.endswith(stored)


def bc7_blocks(random, count):
    """Random blocks of modes 4, 5 and 6."""
    blocks = random.integers(0, 256, (count, 16), np.uint8)
    for mode, (kept, mark) in enumerate(((0xE0, 0x10), (0xC0, 0x20), (0x80, 0x40))):
        blocks[mode::3, 0] = blocks[mode::3, 0] & kept | mark
    return blocks


def decoded_elsewhere(blocks, width, height, folder):
    """Texels [height, width, 4] of blocks, by OpenImageIO's reader of DDS files."""
    header = struct.pack("<4s7I44x", b"DDS ", 124, 0x81007, height, width, blocks.size, 0, 1)
    header += struct.pack("<2I4s20x5I", 32, 4, b"DX10", 0x1000, 0, 0, 0, 0)
    header += struct.pack("<5I", 98, 3, 0, 1, 0)  # DXGI_FORMAT_BC7_UNORM
    (folder / "a.dds").write_bytes(header + blocks.tobytes())
    # as stored: not multiplied by alpha, which reads back less
    hints = oiio.ImageSpec()
    hints["oiio:UnassociatedAlpha"] = 1
    image = oiio.ImageInput.open(str(folder / "a.dds"), hints)
    assert image, oiio.geterror()
    return np.asarray(image.read_image(oiio.UINT8)).reshape(height, width, 4)


def with_latents(bundle, folder, data, name):
    """A copy with another latent texture."""
    shutil.copytree(bundle, folder)
    (folder / "latents.ktx2").write_bytes(data)
    document = json.loads((folder / "manifest.json").read_text())
    document["latents"] |= {"format": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


def test_bc7_decodes_as_elsewhere(tmp_path):
    """A bundle in BC7, and its reference from the texels that OpenImageIO reads of the blocks."""
    exported = made_up(SPEC, 16, 12)
    random, levels, texels = np.random.default_rng(4), [], []
    for data in exported.latents.levels:
        rows, columns = data.shape[1:3]
        high, wide = -(-rows // 4), -(-columns // 4)
        blocks = bc7_blocks(random, 2 * high * wide).reshape(2, high * wide, 16)
        levels.append(blocks.tobytes())
        whole = [decoded_elsewhere(each, 4 * wide, 4 * high, tmp_path) for each in blocks]
        texels.append(np.stack(whole)[:, :rows, :columns])
    latents = replace(exported.latents, levels=texels)
    plain = write_bundle(
        tmp_path / "plain.vdg",
        Exported(replace(exported.parameters, latents=latents.values()), latents),
        Contents(name="made up"),
    )
    header = bytearray((plain / "latents.ktx2").read_bytes()[: 80 + 24 * len(levels)])
    struct.pack_into("<I", header, 12, 145)
    end = len(header)
    for index, data in enumerate(levels):
        struct.pack_into("<3Q", header, 80 + 24 * index, end, len(data), len(data))
        end += len(data)
    packed = with_latents(
        plain, tmp_path / "bc7.vdg", bytes(header) + b"".join(levels), "BC7_UNORM_BLOCK"
    )
    decoder = compile_c(EXAMPLES / "cpu_decoder.c", tmp_path / "decoder")
    assert largest_of(decode(decoder, plain)) < 0.02
    assert largest_of(decode(decoder, packed)) < 0.02


def changed(bundle, folder, change):
    shutil.copytree(bundle, folder)
    document = json.loads((folder / "manifest.json").read_text())
    change(document)
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: each.update(version="5.0"), "manifest.json: version is 5.0: this reads 4.x"),
        (lambda each: each.update(format="other"), "manifest.json: format is other"),
        (lambda each: each["latents"].update(levels=3), "manifest.json: latents.levels is 3"),
        (lambda each: each["latents"].pop("scale"), "manifest.json: latents.scale is missing"),
        (
            lambda each: each["latents"].update(file="../a"),
            "latents.file is ../a: it must be a plain",
        ),
        (lambda each: each["weights"].update(bytes=64), "weights.bin: length is"),
        (
            lambda each: each["network"]["output"].update(transform="softplus"),
            "manifest.json: network.output.transform is softplus: this is unknown",
        ),
        (
            lambda each: each["weights"]["tensors"][1].update(offset=1 << 20),
            "weights.tensors.layer0.weights.offset is 1048576: the tensor must end inside",
        ),
    ],
)
def test_an_error_names_file_field_and_value(decoder, bundle, tmp_path, change, message):
    done = decode(decoder, changed(bundle, tmp_path / "a.vdg", change))
    assert done.returncode == 1 and message in done.stderr
    assert done.stderr.count("\n") == 1


def test_damaged_missing_and_packed_files_are_named(decoder, bundle, tmp_path):
    data = bytearray((bundle / "latents.ktx2").read_bytes())
    for name, damage, message in (
        ("flipped", lambda: data.__setitem__(-1, data[-1] ^ 1), "latents.ktx2: sha256 is"),
        ("zstandard", lambda: struct.pack_into("<I", data, 44, 2), "is 2 (Zstandard): unpack"),
    ):
        damage()
        folder = with_latents(bundle, tmp_path / name, bytes(data), "R8G8B8A8_UNORM")
        if name == "flipped":
            shutil.copy(bundle / "manifest.json", folder)
        assert message in decode(decoder, folder).stderr
    shutil.copytree(bundle, tmp_path / "gone")
    (tmp_path / "gone" / "weights.bin").unlink()
    assert "weights.bin: the file is missing" in decode(decoder, tmp_path / "gone").stderr


def test_a_manifest_of_many_values_is_refused_in_little_memory(decoder, bundle, tmp_path):
    import resource

    folder = shutil.copytree(bundle, tmp_path / "a.vdg")
    (folder / "manifest.json").write_text('{"a": [' + "0," * ((4 << 20) // 2 - 10) + "0]}")
    limits = (64 << 20, 64 << 20)
    done = subprocess.run(
        [decoder, folder],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )
    assert done.returncode == 1
    assert "manifest.json: byte " in done.stderr and "is one value too many" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("name", ["manifest.json", "latents.ktx2", "reference.json"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(decoder, bundle, tmp_path, name):
    folder = shutil.copytree(bundle, tmp_path / "a.vdg")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    done = decode(decoder, folder)
    assert done.returncode == 1
    assert f"{name}: the file is missing, not a plain file, or too large" in done.stderr


def test_damaged_files_of_all_kinds_do_no_harm(tmp_path):
    """A short run of fuzz_header.c, with heights and a decoder for each side; `bootstrap.py fuzz
    header` does the long one."""
    options = (*SANITIZED, "-std=gnu99")
    fuzzer = compile_c(FUZZER, tmp_path / "fuzz", *options)
    relief = make_height_map(bumpy_heights())
    bundle = make_bundle(tmp_path / "a.vdg", lively_sides(1.5), relief=relief).folder
    found = subprocess.run([fuzzer, bundle, "300"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    opened, agreed = map(int, re.findall(r"(\d+) (?:opened|agreed)", found.stdout))
    assert 30 < agreed <= opened < 270


def test_the_header_is_also_cpp(tmp_path):
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    source = tmp_path / "a.cpp"
    source.write_text('#define VERDIGRIS_IMPLEMENTATION\n#include "verdigris.h"\n')
    options = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    run(compiler, *options, "-I", RUNTIME_SHADERS, source)


def test_windows_opens_paths_of_any_letters(tmp_path):
    """By MinGW and Wine. Without a wide path, fopen takes the letters for those of a code page."""
    compiler, wine = map(shutil.which, ("x86_64-w64-mingw32-gcc", "wine"))
    if not (compiler and wine):
        pytest.skip("MinGW or Wine is not installed")
    folder = write_bundle(tmp_path / "Kupfer ü😀.vdg", made_up(SPEC), Contents(name="tray"))
    (tmp_path / "open.c").write_text(OPENED.replace("PATH", folder.name), encoding="utf-8")
    program = tmp_path / "open.exe"
    run(compiler, *STRICT, "-I", RUNTIME_SHADERS, tmp_path / "open.c", "-o", program)
    environment = {**os.environ, "WINEDEBUG": "-all"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([wine, program], check=False, timeout=120, **options)
    assert done.stdout.splitlines() == ["opened", "manifest.json"]


def test_vulkan_draws_what_the_processor_draws(decoder, tmp_path):
    """With the live value that the bundle has by default. Where Khronos' validation layer is
    installed, it also checks the calls and their synchronisation."""
    if not Path("/usr/include/vulkan/vulkan.h").exists():
        pytest.skip("the headers of Vulkan are not installed")
    compiler = require_tool("glslangValidator")
    program = tmp_path / "vulkan_picture"
    compile_c(EXAMPLES / "vulkan_picture.c", program, libraries=("-lvulkan", "-lm"))
    name = "portable_constants.glsl"
    spec = replace(SPEC, live_inputs=1)
    wetness = LiveInput("wetness", "float", (0.0,), (1.0,), 0.75)
    bundle = make_bundle(tmp_path / "a.vdg", made_up(spec, 16, 12), live=(wetness,)).folder
    (tmp_path / name).write_bytes(StrictFiles(spec)[name])
    shader = tmp_path / "picture.spv"
    run(compiler, "-V", f"-I{tmp_path}", EXAMPLES / "picture.comp", "-o", shader)
    environment = draw_and_compare(decoder, program, shader, bundle, tmp_path)
    follow_a_link([program, shader], environment, bundle, made_up(spec, 16, 8, 5), wetness)


def draw_and_compare(decoder, program, shader, bundle, tmp_path):
    """Pictures by the GPU and the processor. Returns the environment of the GPU's program."""
    software = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    environment = {**os.environ, "VK_ICD_FILENAMES": ":".join(map(str, software))}
    if VALIDATION_LAYER.exists():
        environment |= VALIDATED
    command = [program, bundle, shader, tmp_path / "vulkan.ppm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert not done.stdout + done.stderr
    assert decode(decoder, bundle, tmp_path / "processor.ppm").returncode == 0

    def pixels(name, size):
        data = (tmp_path / name).read_bytes()
        return np.frombuffer(data[-3 * size * size :], np.uint8).reshape(size, size, 3) / 255

    drawn, wanted = pixels("vulkan.ppm", 256), pixels("processor.ppm", 128)
    means = drawn.reshape(128, 2, 128, 2, 3).mean((1, 3))
    # four pixels for one, and mip levels
    assert np.median(np.abs(means - wanted)) < 0.02 and wanted.std() > 0.05
    return environment


def test_vulkan_draws_light_from_below(decoder, tmp_path):
    """A leaf: the light is behind a part of the sphere, which is dark if it is opaque."""
    if not Path("/usr/include/vulkan/vulkan.h").exists():
        pytest.skip("the headers of Vulkan are not installed")
    program, name = tmp_path / "vulkan_picture", "portable_constants.glsl"
    compile_c(EXAMPLES / "vulkan_picture.c", program, libraries=("-lvulkan", "-lm"))
    parameters, below = made_up(SPEC, 16, 12).exact, made_up(SPEC, 16, 12, seed=1).exact
    parameters.transmitted = TransmittedSide(below.decoder, 1.0, below.head)
    bundle = make_bundle(tmp_path / "a.vdg", parameters).folder
    (tmp_path / name).write_bytes(StrictFiles(SPEC, transmits=True)[name])
    shader = tmp_path / "picture.spv"
    compiler = require_tool("glslangValidator")
    run(compiler, "-V", f"-I{tmp_path}", EXAMPLES / "picture.comp", "-o", shader)
    draw_and_compare(decoder, program, shader, bundle, tmp_path)
    picture = np.frombuffer((tmp_path / "vulkan.ppm").read_bytes()[-3 * 256**2 :], np.uint8)
    assert picture.reshape(256, 256, 3)[220, 200].min() > 40


def follow_a_link(words, environment, bundle, trained, wetness):
    """A live link shows a training with a texture of another size and format, and then the bundle:
    one pipeline draws both. The last picture is that of the bundle itself."""
    pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")
    from verdigris.core.link.server import LinkServer
    from verdigris.core.link.snapshot import SnapshotMaker, snapshot_of_bundle

    program, shader = words
    facts = {"step": 3, "steps": 9}
    picture = bundle.parent / "linked.ppm"
    with LinkServer(port=0) as server:
        training = SnapshotMaker("tray", (wetness,)).make(trained.parameters, facts=facts)
        server.publish(training)
        command = [program, server.address, shader, picture]
        done = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        while not picture.exists() or picture.stat().st_size < 3 * 256 * 256:
            assert done.poll() is None
            time.sleep(0.05)
        before = picture.read_bytes()
        server.publish(snapshot_of_bundle(bundle, "tray"))
        assert done.communicate(timeout=60)[0] == "1: step 3 of 9\n2: step 0 of 0\n"
    assert done.returncode == 0
    wanted = (bundle.parent / "vulkan.ppm").read_bytes()
    assert picture.read_bytes() == wanted != before
