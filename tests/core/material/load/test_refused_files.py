"""Files that are no MaterialX document, or of an unsupported version."""

import zipfile

import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document, parse_document

from ..documents import document, material, standard_surface, with_surface
from ..surfaces import write_image


def test_a_document_of_a_later_version_is_refused_by_its_number():
    with pytest.raises(DocumentError, match=r"has the version 9\.99; versions up to 1\.39"):
        parse_document('<materialx version="9.99"/>')


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16 without its mark"])
def test_a_document_in_another_encoding_is_refused_with_the_right_one(tmp_path, encoding):
    path = tmp_path / "main.mtlx"
    text = f'<?xml version="1.0" encoding="latin-1"?><!-- müde -->{with_surface()}'
    path.write_bytes(text.encode("latin-1" if encoding == "latin-1" else "utf-16-le"))
    reported = (
        r"main\.mtlx: (is neither UTF-8 nor marked as UTF-16 .*: save .* in UTF-8|is a binary file)"
    )
    with pytest.raises(DocumentError, match=reported):
        load_document(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("written", ["", '<?xml version="1.0" encoding="UTF-16"?>'])
def test_a_document_in_utf_16_is_read_as_the_same_in_utf_8_is(tmp_path, encoding, written):
    shader = '<standard_surface name="shader" type="surfaceshader" doc="müde 漆"/>'
    text = document(shader, material()).removeprefix('<?xml version="1.0"?>\n')
    wide, narrow = tmp_path / "wide.mtlx", tmp_path / "narrow.mtlx"
    wide.write_bytes(f"\ufeff{written}{text}".encode(encoding))
    narrow.write_text(text, encoding="utf-8")
    found, wanted = load_document(wide).root, load_document(narrow).root
    assert found.getNode("shader").getAttribute("doc") == "müde 漆"
    assert found.isEquivalent(wanted, mx.ElementEquivalenceOptions())[0]


def test_a_document_in_utf_16_that_ends_within_a_character_is_refused(tmp_path):
    path = tmp_path / "main.mtlx"
    path.write_bytes(f"\ufeff{with_surface()}".encode("utf-16-le")[:-1])
    with pytest.raises(DocumentError, match=r"marked as UTF-16 .*: save the document in UTF-8"):
        load_document(path)


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_a_stage_is_refused_with_the_command_that_takes_it(tmp_path, suffix):
    path = tmp_path / f"set.{suffix}"
    pytest.importorskip("pxr.Usd").Stage.CreateNew(str(path)).Save()
    with pytest.raises(DocumentError, match=rf"is a USD stage.*'verdigris scene run .*{suffix}'"):
        load_document(path)


def test_a_stage_in_a_package_is_refused_with_the_command_that_takes_it(tmp_path):
    path = tmp_path / "set.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("set.usda", "#usda 1.0")
    with pytest.raises(DocumentError, match=r"is a USD stage.*'verdigris scene run .*set\.usdz'"):
        load_document(path)


def test_an_archive_a_picture_and_a_folder_are_refused_as_what_they_are(tmp_path):
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
        archive.writestr("main.mtlx", with_surface())
    write_image(tmp_path / "wood.png", np.zeros((2, 2, 3), np.uint8))
    (tmp_path / "textures").mkdir()
    (tmp_path / "nothing.mtlx").write_bytes(b"")
    (tmp_path / "mark.mtlx").write_bytes(b"\xef\xbb\xbf\n")
    for name, message in (
        ("library.zip", r"library\.zip: is an archive .*: unpack it"),
        ("wood.png", r"wood\.png: is a binary file, .*: name one \(\.mtlx\)"),
        ("textures", r"textures: is a folder: name a MaterialX document \(\.mtlx\) in it"),
        ("nothing.mtlx", r"nothing\.mtlx: is empty: save the document again$"),
        ("mark.mtlx", r"mark\.mtlx: is empty: save the document again$"),
    ):
        with pytest.raises(DocumentError, match=message):
            load_document(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", r"not valid XML: syntax error: line 1, column 0: correct this place$"),
        ('<materialx version="1.39"><a>', r"column 29: the text ends early: save it again$"),
        ('<materialx version="1.3', r"column 0: the text ends early: save it again$"),
        ("<html/>", "the root element is <html>"),
        ('<!DOCTYPE m [<!ENTITY a "aa">]><materialx version="1.39">&a;</materialx>', "entity 'a'"),
        ("<materialx>" + "<a>" * 100 + "</a>" * 100 + "</materialx>", "nested deeper than 64"),
        (document(), "no material with a surface: it has no nodes"),
        (
            document(f'<nodegraph name="g">{standard_surface("")}{material()}</nodegraph>'),
            "the material 'material' is in the graph 'g', which has no output for it",
        ),
        (document('<constant name="c" type="float"/>'), "nodes are of the kinds constant"),
        (document('<surfacematerial name="m" type="material"/>'), "connect a surface shader"),
        (
            document(
                '<volume name="v" type="volumeshader"/><volumematerial name="m" type="material">'
                '<input name="volumeshader" type="volumeshader" nodename="v"/></volumematerial>'
            ),
            "it has a volume, but only surfaces are baked: connect a surface shader too",
        ),
    ],
)
def test_what_is_not_a_material_document_is_refused_with_the_reason(text, message):
    with pytest.raises(DocumentError, match=message):
        parse_document(text).require_material()
