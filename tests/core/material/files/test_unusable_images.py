"""Images that cannot be used are refused with node, path and reason."""

import errno
import os
import re
import shutil
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import TextureError, VerdigrisError
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import chain, with_image


def load(folder, file, **options):
    document = parse_document(with_image(file), [folder], "tray.mtlx", **options)
    return Teacher(document, device=open_device("software"))


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.png"
    texels = np.random.default_rng(3).random((64, 64, 3)).astype(np.float32)
    image = oiio.ImageBuf(texels)
    image.set_write_format("uint8")
    assert image.write(str(path))
    return path


def test_a_whole_texture_loads(whole):
    assert load(whole.parent, whole.name)


@pytest.mark.parametrize("kept", [0.3, 0.7])
@pytest.mark.parametrize("suffix", [".png", ".exr", ".tif"])
def test_a_truncated_texture_is_refused_as_damaged(whole, suffix, kept):
    path = whole.with_suffix(suffix)
    if suffix != ".png":
        assert oiio.ImageBuf(str(whole)).write(str(path))
    data = path.read_bytes()
    cut = path.with_name(f"cut{suffix}")
    cut.write_bytes(data[: int(len(data) * kept)])
    reason = r"is (damaged \([^;]+\): save it again|not a readable image: .*: save it as .*)$"
    message = rf"tray\.mtlx: picture/file: .*cut\{suffix} {reason}"
    with pytest.raises(TextureError, match=message):
        load(path.parent, cut.name)


def test_an_empty_texture_is_refused_as_empty(whole):
    (whole.parent / "empty.png").write_bytes(b"")
    with pytest.raises(TextureError, match=r"empty\.png is empty \(0 bytes\)"):
        load(whole.parent, "empty.png")


def test_a_folder_whose_name_is_no_unicode_is_refused_before_it_is_read(whole):
    folder = whole.parent / "old\udcff"
    try:
        folder.mkdir()
    except (OSError, ValueError):
        pytest.skip("this system's names are all Unicode")
    whole.rename(folder / whole.name)
    with pytest.raises(TextureError, match=r"whole\.png: the name .* is not Unicode: rename it"):
        load(folder, whole.name)


def test_a_folder_in_the_place_of_a_texture_is_refused_as_one(whole):
    (whole.parent / "maps.png").mkdir()
    with pytest.raises(TextureError, match=r"'maps\.png' is the folder .*maps\.png: name a file"):
        load(whole.parent, "maps.png")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("wood.&lt;udim&gt;.png", "wood.1001.png"),
        ("wood.%(UDIM)d.png", "wood.1001.png"),
        ("wood_u&lt;U&gt;_v&lt;V&gt;.png", "wood_u1_v1.png"),
        ("&lt;uvtile&gt;.png", "u1_v1.png"),
    ],
)
def test_tokens_of_other_programs_are_read(whole, name, file):
    whole.rename(whole.with_name(file))
    load(whole.parent, name)


def test_an_unknown_token_is_refused_with_the_one_that_is_known(whole):
    whole.rename(whole.with_name("wood.1001.png"))
    with pytest.raises(TextureError, match=r"was not found in .*; the token for tiles is <UDIM>$"):
        load(whole.parent, "wood.$UDIM.png")


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("wood.{0Frame}.png", r"\{0Frame\}"),
        ("wood.$F4.png", r"\$F4"),
        ("wood.&lt;f4&gt;.png", "<f4>"),
        ("wood.%04d.png", "%04d"),
        ("wood.####.png", "####"),
    ],
)
def test_a_sequence_is_refused_with_what_stands_for_its_frame(whole, name, frame):
    whole.rename(whole.with_name("wood.0001.png"))
    with pytest.raises(
        TextureError, match=f"; {frame} is the frame of a sequence, .*: name the file of one frame$"
    ):
        load(whole.parent, name)


@pytest.mark.parametrize("token", ["[kind]", "$FOLDER", "{kind}", "<kind>"])
def test_a_token_that_nothing_reports_is_refused_as_such(whole, token):
    escaped = token.replace("<", "&lt;")
    with pytest.raises(TextureError, match=f"replace {re.escape(token)} with its value$"):
        load(whole.parent, f"{escaped}/oak.png")


@pytest.mark.parametrize("name", ["$FOLDER/wood.png", "wood#2.png", "wood%20d.png"])
def test_a_name_without_a_frame_is_refused_as_any_other(whole, name):
    with pytest.raises(TextureError, match=r"^(?!.*sequence).* was not found"):
        load(whole.parent, name)


def test_what_is_no_image_is_refused(whole):
    (whole.parent / "notes.png").write_text("not an image")
    with pytest.raises(TextureError, match=r"notes\.png is not a readable image"):
        load(whole.parent, "notes.png")


def test_a_texture_that_does_not_fit_is_refused_by_its_header(tmp_path):
    path = tmp_path / "long.png"
    assert oiio.ImageBuf(oiio.ImageSpec(20_000, 2, 3, "uint8")).write(str(path))
    with pytest.raises(
        TextureError, match=r"long\.png is 20000 x 2 texels; .* at most 16384 a side"
    ):
        load(tmp_path, "long.png")


def test_texels_that_are_not_numbers_count_as_black_and_are_reported(tmp_path):
    texels = np.full((16, 16, 3), 0.5, np.float32)
    texels[2, 3] = np.nan
    texels[4, 5, 1] = -np.inf
    for name, kind in (("odd.exr", "half"), ("even.exr", "float")):
        image = oiio.ImageBuf(texels if name == "odd.exr" else np.nan_to_num(texels, neginf=0))
        image.set_write_format(kind)
        assert image.write(str(tmp_path / name))
    odd, even = (load(tmp_path, name) for name in ("odd.exr", "even.exr"))
    rng = np.random.default_rng(1)
    uv, ahead = rng.random((512, 2), np.float32), np.float32([[0, 0, 1]]).repeat(512, 0)
    np.testing.assert_allclose(
        odd.response(uv, ahead, ahead), even.response(uv, ahead, ahead), rtol=1e-5
    )
    reported = [part for part in describe_teacher(odd).parts if part.name.startswith("image")]
    assert [(part.name, part.fate, part.how) for part in reported] == [
        ("image odd.exr", "approximated", "2 texels are not finite: they read as 0")
    ]
    assert "image even.exr" not in [part.name for part in describe_teacher(even).parts]


def test_tiles_over_more_places_than_a_shader_knows_are_refused(tmp_path):
    for number in (1001, 1130):
        image = oiio.ImageBuf(oiio.ImageSpec(2, 2, 3, "uint8"))
        assert image.write(str(tmp_path / f"skin.{number}.png"))
    with pytest.raises(TextureError, match=r"skin.1001.png span 10 x 13 cells, and at most 128"):
        load(tmp_path, "skin.&lt;UDIM&gt;.png")


def test_a_document_of_two_tokens_is_not_found_by_that_name(tmp_path):
    text = '<materialx version="1.39"><xi:include href="{0}.{0}.mtlx"/></materialx>'
    with pytest.raises(VerdigrisError, match=r"'<UDIM>\.<UDIM>\.mtlx' was not found in"):
        parse_document(text.format("&lt;UDIM&gt;"), [tmp_path])


def test_a_folder_of_tiles_that_may_not_be_read_is_named(whole, monkeypatch):
    whole.rename(whole.with_name("t.1001.png"))

    def refused(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(type(whole), "iterdir", refused)
    with pytest.raises(TextureError) as refusal:
        load(whole.parent, "t.&lt;UDIM&gt;.png")
    assert str(refusal.value).endswith(
        f"the folder {whole.parent} cannot be read (Permission denied): "
        "allow reading it, or move the tiles"
    )


def test_a_texture_that_may_not_be_read_is_no_damaged_one(whole, monkeypatch):
    monkeypatch.setattr(oiio.ImageInput, "open", lambda path: None)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(TextureError) as refusal:
        load(whole.parent, whole.name)
    assert str(refusal.value).endswith(
        f"{whole} cannot be read: its permissions do not allow it; change them"
    )


@pytest.mark.parametrize("name", ["shut/whole.png", "shut/below/t.&lt;UDIM&gt;.png"])
def test_a_texture_in_a_folder_that_may_not_be_entered_is_not_reported_as_missing(
    name, whole, monkeypatch
):
    shut = whole.parent / "shut"
    (shut / "below").mkdir(parents=True)
    shutil.copy(whole, shut)
    shutil.copy(whole, shut / "below" / "t.1001.png")
    assert load(whole.parent, name)
    stat, access = os.stat, os.access

    def closed_stat(path, **options):
        if shut in Path(path).parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", closed_stat)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != shut and access(path, mode))
    with pytest.raises(TextureError) as refusal:
        load(whole.parent, name)
    reported = str(refusal.value)
    assert "not found" not in reported and reported.endswith(
        f"cannot be read: the folder {shut} does not permit it; allow reading and entering it"
    )


@pytest.fixture
def link(tmp_path):
    def make(name, target):
        try:
            (tmp_path / name).symlink_to(target)
        except OSError:
            pytest.skip("this system lets nobody link")

    return make


def test_a_tile_that_is_a_link_to_nothing_is_refused_by_name(whole, link):
    whole.rename(whole.with_name("t.1001.png"))
    link("t.1002.png", "gone.png")
    with pytest.raises(TextureError, match=r"t\.1002\.png cannot be read \(No such file"):
        load(whole.parent, "t.&lt;UDIM&gt;.png")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ring", "'ring' was not found in"),
        ("ring/other.png", "'ring/other.png' was not found in"),
        ("ring/u.&lt;UDIM&gt;.png", "no tile of 'ring/u.<UDIM>.png' was found in"),
        ("t.&lt;UDIM&gt;.png", r"t\.1001\.png cannot be read"),
    ],
)
def test_links_that_go_round_lead_to_no_texture(whole, link, name, message):
    link("ring", "ring")
    link("t.1001.png", "t.1001.png")
    with pytest.raises(TextureError, match=message):
        load(whole.parent, name)


def test_a_folder_to_search_that_is_a_link_to_itself_has_no_files(whole, link):
    link("ring", "ring")
    document = parse_document(with_image("gone.png"), [whole.parent / "ring"], "tray.mtlx")
    with pytest.raises(
        TextureError, match=r"'gone\.png' was not found in .*ring: correct the name"
    ):
        Teacher(document, device=open_device("software"))


@pytest.mark.parametrize("name", ["a\x01b.png", "x" * 5000, "con:\\|?*.png", "."])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    import html

    try:
        load(tmp_path, html.escape(name))
    except VerdigrisError as failure:
        assert len(str(failure)) < 1500
    else:
        raise AssertionError("it was loaded")


def test_a_document_of_two_thousand_nodes_is_generated():
    document = parse_document(chain(2000))
    generated = generate(document, document.require_material())
    assert generated.source.count("n1999") > 0
