"""Speed of the teacher: loading and evaluation.

    python docs/benchmarks/bench_teacher.py [FILE ...] [--device D] [--samples N] [--search DIR]

Prints for each material the seconds from opening the document to the first sample, in a new process
with an open device and an empty cache (cold) or a filled one (warm), and samples per second with
all data on the device. The default material is a generated Standard Surface with two textures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TWO_TEXTURES = """<materialx version="1.39" colorspace="lin_rec709">
  <image name="colour" type="color3"><input name="file" type="filename" value="colour.png"
    colorspace="srgb_texture"/></image>
  <image name="roughness" type="float">
    <input name="file" type="filename" value="rough.png"/></image>
  <standard_surface name="shader" type="surfaceshader">
    <input name="base_color" type="color3" nodename="colour"/>
    <input name="specular_roughness" type="float" nodename="roughness"/>
    <input name="coat" type="float" value="0.5"/><input name="sheen" type="float" value="0.3"/>
    <input name="metalness" type="float" value="0.3"/>
    <input name="diffuse_roughness" type="float" value="0.3"/>
    <input name="specular_anisotropy" type="float" value="0.4"/>
  </standard_surface>
  <surfacematerial name="two_textures" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="shader"/></surfacematerial>
</materialx>"""


def write_two_textures(folder: Path) -> Path:
    import OpenImageIO as oiio

    random = np.random.default_rng(1)
    for name, channels in (("colour.png", 3), ("rough.png", 1)):
        texels = random.random((2048, 2048, channels)).astype(np.float32)
        image = oiio.ImageBuf(texels)
        image.set_write_format("uint8")
        image.write(str(folder / name))
    path = folder / "two_textures.mtlx"
    path.write_text(TWO_TEXTURES)
    return path


def hemisphere(random: np.random.Generator, count: int) -> np.ndarray:
    z = 0.05 + 0.95 * random.random(count)
    turn = 2 * np.pi * random.random(count)
    s = np.sqrt(1 - z * z)
    return np.stack([s * np.cos(turn), s * np.sin(turn), z], 1).astype(np.float32)


def first_sample(file: str, device: str, search: list[str]) -> dict[str, float | str]:
    from verdigris.core.base.device import open_device
    from verdigris.core.material.load.mtlx_document import load_document
    from verdigris.core.material.teacher.teacher import Teacher

    opened = open_device(device)
    start = time.perf_counter()
    teacher = Teacher(load_document(file, search), device=opened)
    up = np.float32([[0.0, 0.6, 0.8]])
    teacher.response(np.float32([[0.5, 0.5]]), up, up)
    return {"seconds": time.perf_counter() - start, "device": str(opened)}


def samples_a_second(file: str, device: str, search: list[str], count: int) -> float:
    from verdigris.core.base.device import open_device
    from verdigris.core.material.load.mtlx_document import load_document
    from verdigris.core.material.teacher.teacher import Teacher

    teacher = Teacher(load_document(file, search), device=open_device(device))
    random = np.random.default_rng(0)
    buffers = [
        teacher.device.new_buffer(values)
        for values in (
            random.random((count, 2), np.float32),
            hemisphere(random, count),
            hemisphere(random, count),
        )
    ]
    best = float("inf")
    for _ in range(5):
        rounds = 1 if teacher.device.is_software else 20
        teacher.device.gpu.wait_for_idle()
        start = time.perf_counter()
        for _ in range(rounds):
            teacher.response_on_device(count, *buffers)
        teacher.device.gpu.wait_for_idle()
        best = min(best, (time.perf_counter() - start) / rounds)
    return count / best


def in_a_new_process(cache: Path, arguments: list[str]) -> float:
    # Mesa has its own cache of compiled shaders, which also has to be empty
    environment = {
        **os.environ,
        "VERDIGRIS_CACHE_DIR": str(cache / "verdigris"),
        "MESA_SHADER_CACHE_DIR": str(cache / "mesa"),
    }
    command = [sys.executable, __file__, "--first-sample", *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(result.stdout.splitlines()[-1])["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--search", action="append", default=[])
    parser.add_argument("--first-sample", action="store_true")
    options = parser.parse_args()
    if options.first_sample:
        print(json.dumps(first_sample(options.files[0], options.device, options.search)))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or [str(write_two_textures(Path(folder)))]
        from verdigris.core.base.device import open_device

        device = open_device(options.device)
        count = options.samples or (1 << 20 if device.is_software else 1 << 24)
        print(f"{device}, {count} samples")
        print("| material | cold s | warm s | M samples/s |\n| --- | --- | --- | --- |")
        more = [argument for place in options.search for argument in ("--search", place)]
        for number, file in enumerate(files):
            arguments = [file, "--device", options.device, *more]
            cache = Path(folder) / f"cache{number}"
            cold = in_a_new_process(cache, arguments)
            warm = min(in_a_new_process(cache, arguments) for _ in range(3))
            rate = samples_a_second(file, options.device, options.search, count)
            name = Path(file).stem
            print(f"| {name} | {cold:.2f} | {warm:.2f} | {rate / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
