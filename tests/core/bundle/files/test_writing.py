"""Bundles are written atomically, whenever the writer is killed."""

import errno
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError, VerdigrisError
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import noting_links
from verdigris.core.bundle.files import replace_folder as replacing
from verdigris.core.bundle.files.ktx2 import BC7, RGBA8, RGBA16F, formats_of
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.network.spec import NetworkSpec

from ..bundles import lively_parameters, make_bundle

DRIVER = Path(__file__).with_name("killed_writers.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_writer_killed_at_any_step_leaves_the_old_bundle_or_none():
    # in memory where that can be: the deaths are those of processes, not of disks
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        command = [sys.executable, DRIVER, folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    ways = json.loads(done.stdout)
    assert {*ways} == {"exchange", "aside"}
    for way, found in ways.items():
        # one process for each step that a write takes, and the last one lived
        for kind, before in (("first", "none"), ("second", "before")):
            assert len(found[kind]) > 15, way
            change = found[kind].index("after")
            assert found[kind] == [before] * change + ["after"] * (len(found[kind]) - change), way
            assert 0 < change < len(found[kind]) - 1
        assert set(found["timed"]) <= {"before", "after"}, way


def test_a_full_disk_leaves_the_old_bundle(tmp_path, monkeypatch):
    path = tmp_path / "a.vdg"
    before = make_bundle(path, name="before")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BundleError, match=r"a.vdg: cannot be written \(the disk is full"):
            write_bundle(path, lively_parameters(seed=9), Contents(name="after"))
    assert open_bundle(path).manifest == before.manifest
    assert [file.name for file in tmp_path.iterdir()] == ["a.vdg"]


def test_the_manifest_holds_names_as_people_write_them(tmp_path):
    """A decoder in C shows its text without unescaping it."""
    folder = write_bundle(tmp_path / "a.vdg", lively_parameters(), Contents(name="Grünes 図"))
    assert '"name": "Grünes 図"'.encode() in (folder / "manifest.json").read_bytes()


def test_only_bundles_are_replaced(tmp_path):
    folder = tmp_path / "precious.vdg"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    file = tmp_path / "file.vdg"
    file.write_text("more of it")
    for path in (folder, file):
        with pytest.raises(BundleError, match=r"already exists and is not a bundle: move it away"):
            write_bundle(path, lively_parameters(), Contents())
    assert (folder / "thesis.txt").read_text() == "years of work"
    assert file.read_text() == "more of it"


def test_a_bundle_is_no_scene_and_a_folder_of_others_is_neither(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    other = tmp_path / "extension"
    other.mkdir()
    (other / "manifest.json").write_text('{"manifest_version": 3}')
    for path in (bundle.folder, other):
        with pytest.raises(BundleError, match="is not a scene pack: move"):
            pack([bundle], path)
    assert open_bundle(bundle.folder).manifest == bundle.manifest
    assert [file.name for file in other.iterdir()] == ["manifest.json"]
    # what was damaged can be made again
    scene = pack([bundle], tmp_path / "scene.vdg").folder
    (scene / "manifest.json").write_text('{"format": "verdigr')
    assert len(pack([bundle], scene).materials) == 1
    with pytest.raises(BundleError, match=r"already exists and is not a bundle: move it away"):
        make_bundle(scene)


@pytest.mark.parametrize(
    "manifest",
    [
        b"// settings of another program\n{}",
        b'{"format": "other", "data": "' + b"x" * (16 << 20) + b'"}',
    ],
)
def test_another_programs_folder_is_not_taken_for_a_damaged_bundle(manifest, tmp_path):
    folder = tmp_path / "other.vdg"
    folder.mkdir()
    (folder / "manifest.json").write_bytes(manifest)
    if manifest.startswith(b"{"):
        (folder / "weights.bin").write_bytes(b"of a model")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(BundleError, match=r"other.vdg: already exists and is not a bundle: move"):
        make_bundle(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_manifest_that_may_not_be_read_is_not_replaced(tmp_path, monkeypatch):
    before = make_bundle(tmp_path / "a.vdg", name="before").manifest
    open_file = Path.open

    def refused(path, *arguments, **options):
        if path.name == "manifest.json":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        with pytest.raises(BundleError, match=r"a.vdg: .* \(Permission denied\): make it readable"):
            write_bundle(tmp_path / "a.vdg", lively_parameters(), Contents(name="after"))
    assert open_bundle(tmp_path / "a.vdg").manifest == before


def test_an_empty_folder_and_a_link_to_a_bundle_are_written_to(tmp_path):
    (tmp_path / "empty.vdg").mkdir()
    make_bundle(tmp_path / "empty.vdg", name="in the folder")
    (tmp_path / "link.vdg").symlink_to("empty.vdg")
    with noting_links() as notes:
        make_bundle(tmp_path / "link.vdg", name="through the link")
        make_bundle(tmp_path / "plain.vdg")
    link, empty = tmp_path / "link.vdg", tmp_path / "empty.vdg"
    assert notes == [f"{link}: is a link, so {empty} was written"]
    assert link.is_symlink()
    assert open_bundle(tmp_path / "empty.vdg").manifest.name == "through the link"


def test_a_link_to_a_bundle_that_is_not_there_yet_is_written_to(tmp_path):
    (tmp_path / "store").mkdir()
    link = tmp_path / "link.vdg"
    link.symlink_to("store/new.vdg")
    replacing.check_replaceable(link, "verdigris.material")
    make_bundle(link, name="through the link")
    assert link.is_symlink()
    assert open_bundle(tmp_path / "store" / "new.vdg").manifest.name == "through the link"
    astray = tmp_path / "astray.vdg"
    astray.symlink_to("nowhere/new.vdg")
    with pytest.raises(BundleError, match=r"astray\.vdg: already exists and is not a bundle"):
        replacing.check_replaceable(astray, "verdigris.material")


def test_a_link_to_itself_is_refused_and_stays(tmp_path):
    ring = tmp_path / "ring.vdg"
    ring.symlink_to("ring.vdg")
    with pytest.raises(VerdigrisError, match=r"ring.vdg: already exists and is not a bundle: move"):
        make_bundle(ring)
    assert ring.readlink() == Path("ring.vdg")
    assert list(tmp_path.glob("*")) == [ring]


def test_while_a_bundle_is_written_another_writer_is_refused(tmp_path):
    with locked(tmp_path, "a.vdg"), pytest.raises(VerdigrisError, match=r"'a.vdg' is being"):
        write_bundle(tmp_path / "a.vdg", lively_parameters(), Contents())
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_set_aside_by_a_killed_writer_is_found_by_readers(tmp_path):
    path = tmp_path / "a.vdg"
    make_bundle(path, name="before")
    path.rename(replacing.backup_path(path))
    bundle = open_bundle(path)
    assert bundle.manifest.name == "before"
    bundle.check_files()


@pytest.mark.parametrize("texel_format", formats_of("latents"))
def test_a_written_bundle_is_read_back(texel_format, tmp_path):
    spec = NetworkSpec(hidden_width=16, hidden_layers=2, activation="leaky_smelu")
    parameters = lively_parameters(spec)
    bundle = make_bundle(
        tmp_path / "a.vdg",
        parameters,
        texel_format,
        name="Émail",
        source={"material": "enamel", "seed": 3},
        report={"dropped": [{"name": "glitter", "how": ""}]},
    )
    read = bundle.parameters()
    assert (read.spec, bundle.layout) == (spec, parameters.layout)
    np.testing.assert_array_equal(read.decoder, parameters.decoder.astype(np.float16))
    reach = np.ptp(parameters.latents, axis=0).max()
    error = np.abs(read.latents - parameters.latents)
    # random latents do not suit blocks
    assert error.mean() < 0.2 * reach
    step = {BC7: 2 * reach, RGBA8: reach / 255, RGBA16F: 4e-3}[texel_format]
    assert error.max() <= 0.51 * step
    manifest = bundle.manifest
    assert (manifest.name, manifest.source["seed"], bundle.source_name) == ("Émail", 3, "enamel")
    assert manifest.cost["multiply_adds"] == 16 * 8 + 28 * 16 + 16 * 16 + 16 * 6
    sizes = [(bundle.folder / name).stat().st_size for name in ("weights.bin", "latents.ktx2")]
    assert manifest.cost["loaded_bytes"] == sum(sizes)


def test_weights_lie_as_cooperative_vectors_want_them(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(NetworkSpec(hidden_width=12)))
    data = bundle.weights_bytes()
    assert len(data) % 128 == 0
    used = np.zeros(len(data), bool)
    for tensor in bundle.manifest.tensors:
        is_matrix = len(tensor.shape) == 2
        assert tensor.offset % (128 if is_matrix else 64) == 0
        if is_matrix:
            # 28 inputs are 56 bytes, and 12 are 24: both go up to a multiple of 16
            assert tensor.row_stride == -(-2 * tensor.shape[1] // 16) * 16
        for row in range(tensor.shape[0] if is_matrix else 1):
            start = tensor.offset + row * tensor.row_stride
            used[start : start + 2 * tensor.shape[-1]] = True
    numbers = bundle.spec.parameter_count + bundle.spec.head_layers[-1].end
    assert used.sum() == 2 * numbers
    assert not np.frombuffer(data, np.uint8)[~used].any()


def test_a_bundle_that_is_half_removed_looks_not_whole(tmp_path, monkeypatch):
    make_bundle(tmp_path / "a.vdg")
    (tmp_path / "a.vdg").rename(tmp_path / ".a.vdg.1.0.tmp")
    with monkeypatch.context() as patched:
        # as a kill would end it
        patched.setattr("shutil.rmtree", lambda *_, **__: None)
        replacing.clear_leftovers(tmp_path / "a.vdg")
    found = []
    replacing.clear_leftovers(tmp_path / "a.vdg", found.append)
    assert not found and not [*tmp_path.iterdir()]


def test_leftovers_are_cleared_whatever_the_name_and_nothing_else_is(tmp_path):
    for name in ("a[1].vdg", "a1.vdg"):
        (tmp_path / f".{name}.77.tmp").mkdir()
        (tmp_path / f".{name}.77.tmp" / "half").write_text("")
    make_bundle(tmp_path / "a[1].vdg")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".a1.vdg.77.tmp", "a[1].vdg"]


@pytest.mark.skipif(os.name == "nt", reason="folders are not read-only there")
@pytest.mark.parametrize("has_exchange", [True, False])
def test_a_bundle_that_was_made_read_only_is_replaced_and_nothing_of_it_stays(
    has_exchange, tmp_path, monkeypatch
):
    def minds(remove):
        """As for any user but root, whom rights do not bind."""

        def removed(path, *, dir_fd=None):
            folder = os.fstat(dir_fd) if dir_fd else Path(path).parent.stat()
            if not folder.st_mode & stat.S_IWUSR:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            remove(path, dir_fd=dir_fd)

        return removed

    for name in ("unlink", "rmdir"):
        monkeypatch.setattr(os, name, minds(getattr(os, name)))
    if not has_exchange:
        monkeypatch.setattr(replacing, "exchange", lambda *_: False)
    (tmp_path / "store").mkdir(mode=0o555)
    for number in range(3):
        bundle = make_bundle(tmp_path / "a.vdg", name=f"number {number}")
        (bundle.folder / "elsewhere").symlink_to(tmp_path / "store")
        (bundle.folder / "runtime").mkdir(mode=0o555)
        bundle.folder.chmod(0o555)
        assert sorted(each.name for each in tmp_path.iterdir()) == ["a.vdg", "store"]
        assert open_bundle(tmp_path / "a.vdg").manifest.name == f"number {number}"
    (tmp_path / ".a.vdg.77.tmp").symlink_to("store")
    make_bundle(tmp_path / "a.vdg")
    # what a link leads to is not the bundle's
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o555


def test_leftovers_of_a_longer_name_stay(tmp_path):
    (tmp_path / ".a.vdg.vdg.77.tmp").mkdir()
    (tmp_path / ".a.vdg.77.tmp").mkdir()
    make_bundle(tmp_path / "a.vdg")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".a.vdg.vdg.77.tmp", "a.vdg"]


def test_a_folder_that_can_be_written_to_and_not_listed_is_written_to(tmp_path, monkeypatch):
    before = make_bundle(tmp_path / "a.vdg", name="before")
    list_folder = Path.iterdir

    def unlisted(folder):
        if folder == tmp_path:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return list_folder(folder)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", unlisted)
        after = make_bundle(tmp_path / "a.vdg", name="after")
    assert (before.manifest.name, after.manifest.name) == ("before", "after")
    assert [file.name for file in tmp_path.iterdir()] == ["a.vdg"]


def test_a_link_to_a_file_is_refused_before_anything_is_made_beside_the_file(tmp_path):
    theirs, link = tmp_path / "mine" / "v.txt", tmp_path / "all.vdg"
    theirs.parent.mkdir()
    theirs.write_text("precious")
    os.utime(theirs.parent, (1e9, 1e9))
    link.symlink_to(theirs)
    with pytest.raises(BundleError, match=r"v\.txt: already exists and is not a bundle"):
        replacing.replace_folder(link, {"manifest.json": b"{}"})
    assert theirs.parent.stat().st_mtime == 1e9
