"""Bakes documents by MaterialX's TextureBaker, for bench_texture_baker.py.

python docs/benchmarks/write_baked.py 256 BAKED examples/*.mtlx

It needs OpenGL and a display; `xvfb-run` makes one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import MaterialX as mx
from MaterialX import PyMaterialXGenShader as Gen
from MaterialX import PyMaterialXRender as Render
from MaterialX import PyMaterialXRenderGlsl as RenderGlsl


def main() -> None:
    size, out = int(sys.argv[1]), Path(sys.argv[2])
    library, search = mx.createDocument(), mx.getDefaultDataSearchPath()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), search, library)
    for source in map(Path, sys.argv[3:]):
        for kind in ("as_is", "gltf"):
            folder = out / kind / source.stem
            folder.mkdir(parents=True, exist_ok=True)
            try:
                bake(source, folder / source.name, size, library, search, kind == "gltf")
            except (LookupError, RuntimeError) as failure:
                print(f"{kind} {source.stem}: {failure}", flush=True)
                continue
            print(f"{kind} {source.stem}: {len(list(folder.glob('*.png')))} textures", flush=True)


def bake(source, target, size, library, search, is_translated) -> None:
    document = mx.createDocument()
    mx.readFromXmlFile(document, str(source))
    document.setDataLibrary(library)
    if is_translated:
        Gen.ShaderTranslator.create().translateAllMaterials(document, "gltf_pbr")
    images = mx.FileSearchPath(str(source.parent))
    images.append(search)
    baker = RenderGlsl.TextureBaker.create(size, size, Render.BaseType.UINT8)
    baker.bakeAllMaterials(document, images, str(target))
    # file names without the folder, so that it can be moved
    target.write_text(target.read_text().replace(f"{target.parent}/", ""))


if __name__ == "__main__":
    main()
