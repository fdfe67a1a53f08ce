"""Documents that include others: reading, file search, and refusals."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, standard_surface, with_image
from ..images import decoded_srgb
from ..surfaces import glow, write_image


def test_an_include_in_the_folder_is_read_and_its_file_is_known(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shader.mtlx").write_text(document(standard_surface()))
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="parts/shader.mtlx"/>', material()))
    loaded = load_document(main)
    loaded.check(loaded.require_material())
    assert [file.name for file in loaded.files] == ["main.mtlx", "shader.mtlx"]
    assert len(list(loaded.nodes_of(loaded.require_material()))) == 2


def seen_of(path, name):
    """What a material of a document gives off at the middle, and the files that it reads."""
    loaded = load_document(path)
    found = loaded.require_material(name)
    files = [facts.file for facts in describe(loaded, name, probe=False)[0].textures]
    return glow(Teacher(loaded, found), [[0.5, 0.5]])[0], files


def test_files_beside_an_included_document_are_those_that_it_means(tmp_path):
    """Libraries give the images of each material the same names, in a folder of each."""
    colours = {"": (10, 20, 30), "gold": (200, 100, 50), "lead": (60, 70, 80), "zinc": (1, 2, 3)}
    prefixes = {"gold": "maps/", "lead": "", "zinc": ""}
    file = {"gold": "diffuse.png", "lead": "maps/diffuse.png", "zinc": "maps/diffuse.&lt;UDIM>.png"}
    for name, colour in colours.items():
        folder = tmp_path / name / "maps"
        folder.mkdir(parents=True)
        for stem in ("diffuse", "diffuse.1001"):
            write_image(folder / f"{stem}.png", np.tile(np.uint8(colour), (2, 2, 1)))
    for name in file:
        read = f'<input name="file" type="filename" value="{file[name]}"/>'
        image = f'<image name="{name}_map" type="color3">{read}</image>'
        ports = f'<input name="emission_color" type="color3" nodename="{name}_map"/>'
        shader = f'<surface_unlit name="{name}_glow" type="surfaceshader">{ports}</surface_unlit>'
        text = document(image, shader, material(f"{name}_glow", name))
        prefixed = text.replace("<materialx", f'<materialx fileprefix="{prefixes[name]}"', 1)
        (tmp_path / name / "made.mtlx").write_text(prefixed)
    main = tmp_path / "main.mtlx"
    main.write_text(document(*(f'<xi:include href="{name}/made.mtlx"/>' for name in file)))
    for name in file:
        got, (read,) = seen_of(main, name)
        np.testing.assert_allclose(got * 255, colours[name], atol=1e-3)
        assert f"/{name}/maps" in (tmp_path / read).resolve().as_posix()


def test_a_file_that_is_not_beside_an_included_document_is_looked_for_as_ever(tmp_path):
    (tmp_path / "parts").mkdir()
    write_image(tmp_path / "grey.png", np.full((2, 2, 3), 51, np.uint8))
    (tmp_path / "parts" / "made.mtlx").write_text(with_image("grey.png"))
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="parts/made.mtlx"/>'))
    loaded = load_document(main)
    assert texture_files(loaded, loaded.require_material()) == (tmp_path / "grey.png",)
    assert loaded.root.getNode("picture").getInputValue("file") == "grey.png"


def test_materials_of_an_included_namespace_are_found_under_their_names_there(tmp_path):
    half = '<input name="in2" type="color3" value="0.5, 0.5, 0.5"/>'
    shared = (
        '<nodedef name="ND_half" node="half"><input name="of" type="color3" value="0.8, 0.4, 0.2" '
        'colorspace="srgb_texture"/>'
        '<output name="out" type="color3"/></nodedef><nodegraph name="NG_half" nodedef="ND_half">'
        '<multiply name="m" type="color3"><input name="in1" type="color3" interfacename="of"/>'
        f'{half}</multiply><output name="out" type="color3" nodename="m"/></nodegraph>'
        '<half name="m" type="color3"/><nodegraph name="graph">'
        '<input name="given" type="color3" nodename="m"/><dot name="m" type="color3">'
        '<input name="in" type="color3" interfacename="given"/></dot>'
        '<output name="out" type="color3" nodename="m"/></nodegraph>'
    )
    glows = '<input name="emission_color" type="color3" {}/>'
    unlit = '<surface_unlit name="{}" type="surfaceshader">{}</surface_unlit>'
    look = '<look name="shown"><materialassign name="a" material="gold" geom="/"/></look>'
    in_graph = unlit.format("shader", glows.format('nodegraph="graph" output="out"'))
    text = document(shared, in_graph, material(name="gold"), look)
    (tmp_path / "shared.mtlx").write_text(text.replace("<materialx", '<materialx namespace="ours"'))
    here = unlit.format("shader", glows.format('nodename="m"')) + material(name="lead")
    uses = '<ours:half xmlns:ours="ours" name="m" type="color3"/>'
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="shared.mtlx"/>', uses, here))
    loaded = load_document(main)
    looks = {found.name: found.looks for found in loaded.materials}
    assert looks == {"ours:gold": ("ours:shown",), "lead": ()}
    at = np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]])
    expected = [*0.5 * decoded_srgb(np.array([0.8, 0.4, 0.2])), 1]
    for name in looks:
        got = Teacher(loaded, loaded.require_material(name)).unlit(*at)[0]
        np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize("confined", [False, True])
def test_an_include_stays_in_the_search_path(tmp_path, confined):
    (tmp_path / "shader.mtlx").write_text(document(standard_surface()))
    inner = tmp_path / "inner"
    inner.mkdir()
    main = inner / "main.mtlx"
    main.write_text(document('<xi:include href="../shader.mtlx"/>', material()))
    expected = f"outside of the allowed folders .*: allow its folder with --search {tmp_path}$"
    with pytest.raises(DocumentError, match=expected):
        load_document(main, confined=confined)
    assert load_document(main, [tmp_path], confined).require_material()


def test_documents_that_include_each_other_are_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        text = document(f'<xi:include href="{other}.mtlx"/>')
        (tmp_path / f"{name}.mtlx").write_text(text)
    with pytest.raises(DocumentError, match="include each other"):
        load_document(tmp_path / "a.mtlx")
