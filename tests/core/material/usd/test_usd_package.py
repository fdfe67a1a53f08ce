"""USDZ packages: their images are unpacked into the cache."""

import zipfile

import pytest

from verdigris.core.base.device import CACHE_VARIABLE
from verdigris.core.batch.scene.sources import ReadOptions, entries_of
from verdigris.core.material.usd.usd_package import unpack

STAGE = """#usda 1.0
def Material "m"
{
    token outputs:surface.connect = </m/s.outputs:surface>
    def Shader "s"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </m/t.outputs:rgb>
        token outputs:surface
    }
    def Shader "t"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @0/colour.png@
        float3 outputs:rgb
    }
}
"""


def write_package(path, files, kind=zipfile.ZIP_STORED):
    """A package as USD requires: contents start at multiples of 64 bytes."""
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = kind
            padding = -(archive.fp.tell() + 34 + len(name)) % 64
            info.extra = b"\x86\x19" + padding.to_bytes(2, "little") + bytes(padding)
            archive.writestr(info, content)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("confined", [False, True])
def test_a_material_of_a_package_has_its_images_as_files(tmp_path, cache, confined):
    path = write_package(tmp_path / "a.usdz", {"a.usda": STAGE, "0/colour.png": b"pixels"})
    for _ in range(2):
        [entry] = entries_of(path, ReadOptions(confined=confined, allowed=(tmp_path,)))
        assert (entry.problem, entry.source.name, entry.stage) == ("", f"{path}/m", str(path))
        [image] = cache.rglob("colour.png")
        assert image.read_bytes() == b"pixels"
        assert f'value="{image.as_posix()}"' in entry.source.text
        # a confined bake may read it
        assert any(image.is_relative_to(folder) for folder in entry.source.search)


def test_a_package_that_changes_is_unpacked_again(tmp_path):
    first = unpack(write_package(tmp_path / "a.usdz", {"a.usda": STAGE}))
    second = unpack(write_package(tmp_path / "a.usdz", {"a.usda": STAGE + "\n"}))
    assert first != second and second[1].read_text() == STAGE + "\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a.usda": STAGE, "../out.png": b""},
        {"a.usda": STAGE, "/tmp/out.png": b""},
        {"a.usda": STAGE, "..\\out.png": b""},
        {"a.usda": STAGE, "C:/out.png": b""},
        {"colour.png": b"", "a.usda": STAGE},
        {},
    ],
)
def test_other_archives_are_not_unpacked(tmp_path, cache, files):
    assert unpack(write_package(tmp_path / "a.usdz", files)) is None
    assert not list(cache.rglob("*.*"))


def test_compressed_and_damaged_packages_are_not_unpacked(tmp_path):
    files = {"a.usda": STAGE * 9}
    assert unpack(write_package(tmp_path / "a.usdz", files, zipfile.ZIP_DEFLATED)) is None
    (tmp_path / "b.usdz").write_bytes(b"PK\x03\x04damaged")
    assert unpack(tmp_path / "b.usdz") is None
    assert unpack(tmp_path / "gone.usdz") is None
