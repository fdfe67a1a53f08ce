"""Digests of sources show each change."""

import hashlib
import shutil
from pathlib import Path

import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import source_facts, texture_files

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


@pytest.fixture
def tile(tmp_path):
    shutil.copy(EXAMPLES / "glazed_tile.mtlx", tmp_path)
    shutil.copytree(EXAMPLES / "textures", tmp_path / "textures")
    return tmp_path / "glazed_tile.mtlx"


def facts_of(path):
    document = load_document(path)
    return source_facts(document, document.require_material())


def test_every_image_that_the_material_reads_is_named_with_its_digest(tile):
    found = facts_of(tile)["textures"]
    names = ["glazed_tile_color.jpg", "glazed_tile_masks.png", "glazed_tile_normal.png"]
    images = [tile.parent / "textures" / name for name in names]
    assert found == [
        {"file": each.name, "sha256": hashlib.sha256(each.read_bytes()).hexdigest()}
        for each in images
    ]


def test_no_folder_of_this_machine_is_reported(tile):
    assert str(tile.parent) not in str(facts_of(tile))


def test_another_value_is_another_document_and_the_old_value_is_the_old_one(tile):
    before = facts_of(tile)["document_sha256"]
    text = tile.read_text()
    tile.write_text(text.replace('"0.13"', '"0.14"'))
    assert facts_of(tile)["document_sha256"] != before
    tile.write_text(text)
    assert facts_of(tile)["document_sha256"] == before


def test_every_tile_of_a_set_is_a_file_of_the_material(tile):
    color = tile.parent / "textures" / "glazed_tile_color.jpg"
    for number in (1001, 1002):
        shutil.copy(color, color.with_name(f"wall.{number}.jpg"))
    text = tile.read_text().replace("glazed_tile_color.jpg", "wall.&lt;UDIM&gt;.jpg")
    tile.write_text(text)
    document = load_document(tile)
    names = [each.name for each in texture_files(document, document.require_material())]
    assert names == [
        *("glazed_tile_masks.png", "glazed_tile_normal.png"),
        *("wall.1001.jpg", "wall.1002.jpg"),
    ]


def test_an_image_that_is_gone_is_named(tile):
    (tile.parent / "textures" / "glazed_tile_masks.png").unlink()
    with pytest.raises(TextureError, match=r"glazed_tile_masks\.png"):
        facts_of(tile)
