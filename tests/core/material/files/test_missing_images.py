"""Where images are read from: anywhere, or within the search path of a confined document; what is
reported of those that are missing, and the folder that makes them found."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import MissingTextureError, TextureError
from verdigris.core.material.files import missing_files
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, standard_surface, with_image
from ..surfaces import write_image


def save_image(path, tiles=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    for each in [path.with_name(path.name.replace("TILE", tile)) for tile in tiles] or [path]:
        write_image(each, np.full((2, 2, 3), 100, np.uint8))
    return path


def with_images(*files):
    """A document that reads several files."""
    images = "".join(
        f'<image name="picture{at}" type="color3">'
        f'<input name="file" type="filename" value="{file}"/></image>'
        for at, file in enumerate(files)
    )
    sums = '<add name="sum0" type="color3"><input name="in1" type="color3" nodename="picture0"/>'
    sums += "</add>" + "".join(
        f'<add name="sum{at}" type="color3">'
        f'<input name="in1" type="color3" nodename="sum{at - 1}"/>'
        f'<input name="in2" type="color3" nodename="picture{at}"/></add>'
        for at in range(1, len(files))
    )
    last = f'<input name="base_color" type="color3" nodename="sum{len(files) - 1}"/>'
    return document(images, sums, standard_surface(last), material())


@pytest.fixture
def scene(tmp_path):
    """A document's folder in a project, apart from the folders of other tests."""
    folder = tmp_path / "show" / "assets" / "chair"
    folder.mkdir(parents=True)
    return folder


def saved(scene, *files):
    path = scene / "chair.mtlx"
    path.write_text(with_images(*files))
    return path


def files_of(path, *search, **options):
    loaded = load_document(path, search, **options)
    return texture_files(loaded, loaded.require_material())


def refusal(path, *search, **options):
    with pytest.raises(TextureError) as refused:
        files_of(path, *search, **options)
    return str(refused.value)


def search_of(text):
    """The folders of the options --search in an error."""
    words = text.replace(",", " ").replace(":", " ").split()
    return [Path(folder) for option, folder in pairwise(words) if option == "--search"]


NAMES_OUTSIDE = ("../../textures/oak.png", r"..\..\textures\oak.png", "{project}/textures/oak.png")


@pytest.mark.parametrize("name", NAMES_OUTSIDE)
def test_an_image_may_lie_anywhere(scene, name):
    project = scene.parent.parent
    there = save_image(project / "textures" / "oak.png")
    assert files_of(saved(scene, name.format(project=project.as_posix()))) == (there,)


@pytest.mark.parametrize("name", NAMES_OUTSIDE)
def test_a_confined_document_reads_images_of_its_search_path_alone(scene, name):
    project = scene.parent.parent
    there = save_image(project / "textures" / "oak.png")
    path = saved(scene, name.format(project=project.as_posix()))
    text = refusal(path, confined=True)
    assert text.endswith(
        f"is {there}, outside of the allowed folders ({scene}): allow its folder with --search "
        f"{there.parent}"
    )
    assert files_of(path, *search_of(text), confined=True) == (there,)


def test_a_link_that_leads_outside_is_refused_in_a_confined_document(scene):
    there = save_image(scene.parent / "oak.png")
    (scene / "link.png").symlink_to(there)
    path = saved(scene, "link.png")
    assert "outside of the allowed folders" in refusal(path, confined=True)
    assert files_of(path) == (there,)


@pytest.mark.parametrize("folder", [".", "given"])
def test_links_of_folders_and_similar_names_lead_no_confined_document_outside(scene, folder):
    save_image(scene.parent / "secret" / "oak.png")
    given = scene / folder
    given.mkdir(exist_ok=True)
    (given / "textures").symlink_to(scene.parent / "secret")
    for name in (
        "textures/oak.png",
        "textures/OAK.png",
        "textures/oak.tif",
        "textures/oak.&lt;UDIM&gt;.png",
    ):
        text = refusal(saved(scene, name), given, confined=True)
        assert "outside of the allowed folders" in text or "found in" in text
        assert "secret/oak.png, where" not in text


@pytest.mark.parametrize("name", ["../Oak.png", "/gone/oak.png", "{folder}/OAK.png", "oak.tif"])
def test_a_file_outside_of_a_confined_search_path_is_not_reported(scene, name):
    save_image(scene.parent / "oak.png")
    text = refusal(saved(scene, name.format(folder=scene.parent)), confined=True)
    assert "was not found" in text and str(scene.parent / "oak.png") not in text


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("oak.png", "textures/oak.png"),
        ("oak.png", "../textures/oak.png"),
        ("oak.png", "../../textures/wood/oak.png"),
        ("Oak.PNG", "oak.png"),
        ("oak.tif", "oak.png"),
        ("maps/oak.png", "../lib/maps/oak.exr"),
        (r"D:\old\maps\oak.png", "../maps/oak.png"),
        (r"\\server\share\oak.png", "oak.png"),
        ("/home/me/maps/oak.png", "maps/oak.png"),
        ("dark%20oak.png", "dark oak.png"),
        ("oak.&lt;UDIM&gt;.png", "../maps/oak.TILE.png"),
        (r"D:\maps\OAK.&lt;UDIM&gt;.tif", "textures/oak.TILE.exr"),
        ("oak.&lt;UVTILE&gt;.png", "../maps/oak.TILE.png"),
    ],
)
def test_a_missing_image_is_named_with_the_option_that_makes_it_found(scene, name, there):
    tiles = () if "TILE" not in there else ("u1_v1",) if "UVTILE" in name else ("1001", "1002")
    expected = save_image(scene / there, tiles).resolve()
    path = saved(scene, name)
    text = refusal(path)
    folders = search_of(text)
    assert len(folders) == 1 and str(expected).split("TILE")[0] in text, text
    found = files_of(path, *folders)
    assert [str(each) for each in found] == [
        str(expected).replace("TILE", tile) for tile in tiles or ("",)
    ]


@pytest.mark.parametrize("name", ["gone.png", "../gone.png", "gone.&lt;UDIM&gt;.png"])
def test_without_a_guess_the_remedy_is_general(scene, name):
    assert refusal(saved(scene, name)).endswith(
        ": correct the name or add its folder with --search"
    )


def test_a_guess_is_the_nearest_and_most_similar_file(scene):
    for name in ("../a/OAK.png", "../b/oak.png", "b/oak.exr", "../../c/maps/oak.png"):
        save_image(scene / name)
    assert f"{scene.parent / 'b' / 'oak.png'} may be intended" in refusal(saved(scene, "oak.png"))
    maps = scene.parent.parent / "c" / "maps" / "oak.png"
    assert f"{maps} may be intended" in refusal(saved(scene, "maps/oak.png"))


def test_the_folders_of_other_images_are_searched_wherever_they_are(scene, tmp_path):
    known = save_image(tmp_path / "far" / "x" / "y" / "z" / "oak.png")
    other = save_image(known.with_name("ash.png"))
    path = saved(scene, known.as_posix(), "ash.png")
    text = refusal(path)
    assert search_of(text) == [known.parent]
    assert files_of(path, known.parent) == tuple(sorted((known, other)))


def test_one_error_and_one_option_cover_several_missing_images(scene):
    library = scene.parent.parent / "library"
    for name in ("wood/oak.png", "metal/tin.png", "skin.1001.png"):
        save_image(library / name)
    path = saved(scene, "wood/oak.png", "metal/tin.png", "skin.&lt;UDIM&gt;.png")
    text = refusal(path)
    assert text == (
        f"{path}: 3 textures were not found: 'wood/oak.png', 'metal/tin.png', 'skin.<UDIM>.png': "
        f"add --search {library}, where all of them were found"
    )
    assert len(files_of(path, library)) == 3
    (report,) = describe(load_document(path), probe=False)
    assert report.problem == text and report.search_in == (str(library),)


def test_a_teacher_names_all_missing_images_at_once(scene):
    save_image(scene.parent / "maps" / "oak.png")
    loaded = load_document(saved(scene, "oak.png", "maps/ash.png"))
    with pytest.raises(
        TextureError, match=r"2 textures were not found: 'oak\.png', 'maps/ash\.png'"
    ):
        Teacher(loaded, device=open_device("software"))


def test_images_without_a_guess_are_named_beside_those_with_one(scene):
    save_image(scene.parent / "maps" / "oak.png")
    text = refusal(saved(scene, "oak.png", "gone.png"))
    assert text.endswith(f"add --search {scene.parent / 'maps'}, where one of them was found")


def test_windows_paths_are_listed_as_they_are_written(scene):
    text = refusal(saved(scene, r"D:\tex\oak.png", r"D:\tex\ash.png"))
    assert r"'D:\tex\oak.png', 'D:\tex\ash.png'" in text
    assert r": 'D:\tex\oak.png' was not found" in refusal(saved(scene, r"D:\tex\oak.png"))


def test_who_has_no_options_gets_the_folder(scene):
    save_image(scene.parent / "maps" / "oak.png")
    loaded = parse_document(with_image("oak.png"), [scene], has_options=False)
    (report,) = describe(loaded, probe=False)
    folder = scene.parent / "maps"
    assert f": search in {folder}, where {folder / 'oak.png'} may be intended" in report.problem
    assert report.search_in == (str(folder),)


def test_a_file_that_is_read_for_another_is_reported(scene):
    there = save_image(scene.parent / "maps" / "oak.exr")
    path = saved(scene, r"D:\old\Oak.png")
    (report,) = describe(load_document(path, [there.parent]), probe=False)
    assert not report.problem
    (part,) = [part for part in report.parts if part.name.startswith("file")]
    assert (part.name, part.fate) == (r"file 'D:\\old\\Oak.png'", "approximated")
    assert part.how == f"was not found: {there} is read instead"


@pytest.mark.parametrize("name", ["oak.png", "oak.&lt;UDIM&gt;.png"])
def test_a_file_of_the_written_name_is_not_reported(scene, name):
    save_image(scene / "oak.TILE.png", ["1001"])
    save_image(scene / "oak.png")
    (report,) = describe(load_document(saved(scene, name), [scene]), probe=False)
    assert not [part for part in report.parts if part.name.startswith("file")]


def test_similar_names_need_a_folder_that_was_named(scene):
    save_image(scene / "oak.png")
    path = saved(scene, "Oak.PNG")
    assert search_of(refusal(path)) == [scene]


def test_an_option_with_blanks_is_quoted(scene):
    save_image(scene / "my maps" / "oak.png")
    assert f'--search "{scene / "my maps"}"' in refusal(saved(scene, "oak.png"))


def test_the_search_for_missing_files_is_bounded(scene, monkeypatch):
    for number in range(30):
        save_image(scene / f"folder{number:02}" / "ash.png")
    monkeypatch.setattr(missing_files, "MOST_FILES", 20)
    listed = missing_files._Index([scene], 0).files
    assert len(listed) == 20
    monkeypatch.setattr(missing_files, "MOST_SECONDS", -1.0)
    assert missing_files._Index([scene], 2).files == []


def test_many_missing_files_search_once(scene, monkeypatch):
    scans = []
    around = missing_files._files_around
    monkeypatch.setattr(
        missing_files, "_files_around", lambda *given: scans.append(given) or around(*given)
    )
    refusal(saved(scene, *(f"gone{number}.png" for number in range(20))))
    assert len(scans) == 1


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/", "\\", "C:", "<UDIM>", "a/<UDIM>/b", "\0", "a" * 5000, "%00", "[", "("],
)
def test_hostile_names_have_no_guess_and_no_crash(scene, name):
    loaded = parse_document(with_image("a.png"), [scene])
    for search in (
        loaded.search,
        parse_document(with_image("a.png"), [scene], confined=True).search,
    ):
        guess = missing_files.guess_file(name.replace("\0", ""), search)
        assert guess is None or guess.path.name
        assert list(search.repaired(name.replace("\0", ""))) is not None


def test_the_error_for_missing_images_has_their_folders():
    failure = MissingTextureError("text", "a.png", (Path("/maps"),))
    assert str(failure) == "text" and failure.folders == (Path("/maps"),)
