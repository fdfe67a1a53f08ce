"""The readers. Each reads one damaged folder, and may raise VerdigrisError alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError


@dataclass(frozen=True)
class Target:
    read: Callable[[Path], object]
    kept: tuple[str, ...] = ()
    """Endings of names of files that are not damaged: another target damages them."""
    is_bounded: bool = True
    """Whether memory and time have limits. USD's own library takes gigabytes as it opens a file,
    and no code of ours can prevent it."""


def read_bundle(folder: Path) -> None:
    from verdigris.core.bundle.files.read import is_bundle, open_bundle
    from verdigris.core.bundle.history import read_version
    from verdigris.core.bundle.scene.scene_pack import is_scene

    path = folder / "a.vdg"
    read_version(path, {})
    is_bundle(path), is_scene(path)
    bundle = open_bundle(path)
    # a damaged file must not keep the others from being read
    _each(bundle.check_files, bundle.check_constants, bundle.parameters, bundle.reference,
          bundle.latents, bundle.emission, bundle.opacity, bundle.proxies)  # fmt: skip
    _ = bundle.source_name, bundle.nominal_side, bundle.advised, bundle.wanted_live


def read_pack(folder: Path) -> None:
    from verdigris.core.bundle.scene.scene_pack import open_scene

    scene = open_scene(folder / "a.vdg")
    _each(scene.check_files, lambda: [*scene.parameters()], scene.stored)
    for material in scene.materials:
        _each(lambda: [scene.reference(each) for each in material.sides],  # noqa: B023
              lambda: scene.textures(material), lambda: scene.relief(material),  # noqa: B023
              lambda: scene.transmitted_albedo(material))  # noqa: B023  # fmt: skip


def read_set(folder: Path) -> None:
    import numpy as np

    from verdigris.core.compress.set_files import is_texture_set, open_set

    is_texture_set(folder / "a.vdt")
    stored = open_set(folder / "a.vdt")
    with np.errstate(all="ignore"):
        stored.compressed.evaluate(np.array([[0.25, 0.75]]), stored.compressed.levels - 1)


def read_checkpoint(folder: Path) -> None:
    from verdigris.core.baking.state import checkpoint, resume
    from verdigris.core.baking.state.choices import StartChoice
    from verdigris.core.baking.state.sizes import SizeChoice

    for path, facts in checkpoint.states_in(folder):
        checkpoint.materials_of(facts)
        resume.changed_source(facts, (), _NoMap())
        assert path.name
    path = folder / "a.bake.npz"
    saved = checkpoint.load(path)
    settings, _ = resume._stored_settings(saved.facts, path)
    _each(
        lambda: resume._stage(saved.facts, settings, saved.parameters.layout),
        lambda: SizeChoice.from_facts(saved.facts.get("size")),
        lambda: StartChoice.from_saved(saved.facts, saved.state, saved.parameters, settings.starts),
    )


class _NoMap:
    importance = None


def read_ladder(folder: Path) -> None:
    from verdigris.core.hosts.ladder_looks import find_report, read_look, read_vertices

    _each(lambda: read_vertices(folder / "vertex_colours.npz"))
    find_report(folder / "ladder.json")
    look = read_look(folder / "ladder.json")
    files = [each.vertices for each in look.rungs if each.vertices]
    for file in [*files, *([look.stage] if look.stage else [])]:
        if not file.resolve().is_relative_to(folder.resolve()):
            raise AssertionError(f"a report names {file}, outside of its folder")


def read_importance(folder: Path) -> None:
    from verdigris.core.importance.maps import read_importance as read

    read(_only_file(folder))


def read_hdri(folder: Path) -> None:
    from verdigris.core.lighting.environment_file import read_environment

    read_environment(_only_file(folder))


def read_texture(folder: Path) -> None:
    from verdigris.core.material.files.image_headers import check_size, read_info
    from verdigris.core.material.files.image_texels import read_image
    from verdigris.core.material.files.paths import SearchPath

    info = read_info(_only_file(folder).name, "node", SearchPath.of(folder))
    check_size(info, "node")
    read_image(info, "node")


def read_mesh(folder: Path) -> None:
    from verdigris.core.geometry.mesh import load_mesh, mesh_files
    from verdigris.core.geometry.mesh_values import load_painted_mesh, load_primvars, uv_sets

    path = _only_file(folder)
    mesh = load_mesh(path)
    _each(
        lambda: load_painted_mesh(path, "color" if path.suffix == ".obj" else "displayColor.r"),
        lambda: uv_sets(load_primvars(path, mesh), mesh),
        lambda: mesh_files(path),
    )


def read_document(folder: Path) -> None:
    from verdigris.core.hosts.documents import kinds_of_nodes, parse_text
    from verdigris.core.material.load.mtlx_document import load_document
    from verdigris.core.material.report import describe

    path = folder / "a.mtlx"
    text = path.read_text("utf-8", errors="replace")
    _each(lambda: kinds_of_nodes(parse_text(text, "a.mtlx")))
    document = load_document(path, confined=True)
    for report in describe(document, probe=False):
        report.as_json()


def read_stage(folder: Path) -> None:
    from verdigris.core.batch.scene.sources import ReadOptions, entries_of

    # confined, another process would read it
    for entry in entries_of(_only_file(folder), ReadOptions(allowed=(folder,))):
        assert entry.name


def read_scene(folder: Path) -> None:
    from verdigris.core.batch.scene.entry import DocumentCache
    from verdigris.core.batch.scene.scene import Grouping, SceneOptions, group_of
    from verdigris.core.batch.scene.scene import read_scene as read

    documents = DocumentCache()
    scene = read(folder / "a.json", SceneOptions(confined=True), documents)
    if not scene.out.resolve().is_relative_to(folder.resolve()) and scene.out.is_absolute():
        raise AssertionError(f"a confined scene writes to {scene.out}")
    whole = [each for each in scene.entries if not each.problem]
    for grouping in Grouping:
        _each(lambda: group_of(whole, grouping, 4, documents))  # noqa: B023


def read_farm(folder: Path) -> None:
    from verdigris.core.batch.farm import openjd

    path = _only_file(folder)
    if path.name == "rules.json":
        rules = openjd.read_path_rules(path)
        for each in ("/a/b", "C:\\a\\b", "", "//x"):
            openjd.map_path(each, rules)
        return
    if path.name == "materials.json":
        names = openjd.read_material_list(path)
        choices = openjd.HostJobChoices("a", "hython", "batch.py")
        json.dumps(openjd.host_job_template(Path("a.hip"), Path("out"), names, choices))
        return
    try:
        values = json.loads(path.read_bytes())
        name, tasks, options = values["name"], values["tasks"], values["options"]
        # names come from documents: texts, whatever is in them
        texts = [isinstance(each, str) for each in (name, *tasks, *options)]
    except (ValueError, TypeError, LookupError, RecursionError):
        return
    if all(texts) and isinstance(tasks, list) and isinstance(options, list):
        choices = openjd.HostJobChoices(name, "hython", "batch.py", options=tuple(options))
        openjd.host_job_template(Path("a.hip"), Path("out"), tasks, choices)


def read_preset(folder: Path) -> None:
    from verdigris.ui.model.parts.own_presets import OwnPresets
    from verdigris.ui.model.parts.own_presets import read_preset as read

    OwnPresets(folder).refresh()
    read(folder / "a.vdpreset")


def read_memory(folder: Path) -> None:
    from verdigris.ui.memory import Memory

    try:
        stored = json.loads((folder / "memory.json").read_bytes())
    except (ValueError, RecursionError):
        return
    if not isinstance(stored, dict):
        return
    texts = {name: value if isinstance(value, str) else json.dumps(value)
             for name, value in stored.items()}  # fmt: skip
    memory = Memory(_Settings(texts))  # type: ignore[arg-type]
    memory.choices(), memory.live(), memory.recent(), memory.view(), memory.layout("panel")
    memory.bundle_of(Path("tile.mtlx"))
    memory.add_recent(Path("b.mtlx"))
    memory.note_bundle(Path("b.mtlx"), Path("b.vdg"))
    memory.outcomes()


class _Settings(dict):  # type: ignore[type-arg]
    """As QSettings."""

    value = dict.get
    setValue = dict.__setitem__  # noqa: N815


def read_protocol(folder: Path) -> None:
    from verdigris.core.worker.protocol.commands import command_line, parse
    from verdigris.core.worker.protocol.messages import Decoder, Fault, encode
    from verdigris.core.worker.protocol.streams import _parsed

    data = _only_file(folder).read_bytes().replace(b"\n ", b" ")
    decoder = Decoder()
    cut = len(data) // 3
    found = [*decoder.feed(data[:cut]), *decoder.feed(data[cut:]), *decoder.feed(b"\n")]
    decoder.end()
    commands = [_parsed(each) for each in found if not isinstance(each, Fault)]
    for command in commands:
        if not isinstance(command, Fault):
            # what is read can be sent
            encode(*command_line(command))
    for each in found:
        if not isinstance(each, Fault):
            _each(lambda: parse(each))  # noqa: B023


def read_directions(folder: Path) -> None:
    from verdigris.core.settings.draw_settings import read_directions as read

    read(str(_only_file(folder)))


def read_camera(folder: Path) -> None:
    from verdigris.core.importance.camera import read_camera as read

    read(_only_file(folder))


def read_notes(folder: Path) -> None:
    """What commands note for the next one, beside results that can come from others."""
    from verdigris.core.batch.plan.inputs import DigestCache
    from verdigris.core.batch.plan.state_folder import _owner
    from verdigris.core.batch.run.summary import CURRENT, Row, _earlier
    from verdigris.core.bundle.history import History
    from verdigris.core.hosts.file_host import FilesHost

    digests = DigestCache(folder)
    digests(folder / "a.mtlx")
    digests.save()
    _owner(folder)
    for facts in _earlier(folder / "summary.json").values():
        Row("a", CURRENT, folder / "a.vdg").with_earlier_facts(facts).as_json(folder)
    history = History(folder / "a.vdg")
    history.versions(), history.trash()
    host = FilesHost(folder / "a.mtlx")
    for material in host.materials():
        host.attached(material)


class _Node:
    """The readers in JavaScript, in a process of their own."""

    process: subprocess.Popen[str] | None = None

    def read(self, folder: Path) -> None:
        if self.process is None or self.process.poll() is not None:
            script = Path(__file__).parent / "readers.mjs"
            self.process = subprocess.Popen(
                ["node", "--max-old-space-size=1500", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(str(folder)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"node ended with {self.process.wait()}")
        answer = json.loads(line)
        if answer["is_own"]:
            raise VerdigrisError(answer["text"])
        if answer["text"]:
            raise RuntimeError(answer["text"])


def _each(*readers: Callable[[], object]) -> None:
    """Calls all of them. The first refusal is raised at the end."""
    refusals: list[VerdigrisError] = []
    for each in readers:
        try:
            each()
        except VerdigrisError as refusal:
            str(refusal)
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def read_shader(folder: Path) -> None:
    from verdigris.core.material.files.paths import SearchPath
    from verdigris.core.material.shader.declarations import read_declarations
    from verdigris.core.material.shader.expand import expand_shader
    from verdigris.core.material.shader.reached_code import without_unused

    text = expand_shader(folder / "a.slang", SearchPath.of(folder, confined=True))
    for file in text.files:
        if not file.resolve().is_relative_to(folder.resolve()):
            raise AssertionError(f"a confined shader includes {file}")
    read_declarations(text.text).rewritten(())
    without_unused(text.text, ["response"])


def read_measured(folder: Path) -> None:
    from verdigris.core.material.shader.tables import read_table

    path = folder / "lights.json"
    read_table(path if path.is_file() else folder / "a.bsdf", "a")


def read_link(folder: Path) -> None:
    from verdigris.core.link.client import complete
    from verdigris.core.link.protocol import SNAPSHOT, decode

    message = decode((folder / "a.link").read_bytes())
    if message.kind == SNAPSHOT:
        complete(message, {}).parameters()


def _only_file(folder: Path) -> Path:
    return next(each for each in sorted(folder.iterdir()) if each.is_file())


TARGETS = {
    "bundle": Target(read_bundle),
    "pack": Target(read_pack),
    "set": Target(read_set),
    "checkpoint": Target(read_checkpoint),
    "ladder": Target(read_ladder),
    "importance": Target(read_importance),
    "hdri": Target(read_hdri),
    "texture": Target(read_texture),
    "mesh": Target(read_mesh, is_bounded=False),
    "shader": Target(read_shader),
    "measured": Target(read_measured),
    "document": Target(read_document),
    "stage": Target(read_stage, is_bounded=False),
    "scene": Target(read_scene, (".mtlx", ".usda")),
    "farm": Target(read_farm),
    "preset": Target(read_preset),
    "memory": Target(read_memory),
    "protocol": Target(read_protocol),
    "directions": Target(read_directions),
    "camera": Target(read_camera),
    "notes": Target(read_notes, (".mtlx", ".bin", ".ktx2")),
    "link": Target(read_link),
    "javascript": Target(_Node().read),
}
