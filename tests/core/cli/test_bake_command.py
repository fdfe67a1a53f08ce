"""`bake`, `measure` and `compare` as their user meets them: output, messages, exit codes."""

import io
import json
import os
import re
import shutil
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import typer

from verdigris.core.baking.measure.measure import draw_held_out, measure_student, texel_footprint
from verdigris.core.baking.state import run as run_of_training
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.text import parse_bytes
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.cli import main as cli
from verdigris.core.cli.shared.bake_options import GROUPS
from verdigris.core.cli.shared.bake_output import live_line
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.pictures.compare.metrics import SampleMetrics
from verdigris.core.pictures.picture_files import write_picture
from verdigris.core.progress import Metrics, Phase, Step

from ..in_process import run_command
from ..small_endings import SMALL_ENDINGS

# Two materials with little to compile; the first is kept whole, of the second something is ignored.
TEXT = """<materialx version="1.39">
<oren_nayar_diffuse_bsdf name="a" type="BSDF">
<input name="color" type="color3" value="0.7, 0.3, 0.1"/></oren_nayar_diffuse_bsdf>
<surface name="b" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="a"/></surface>
<surfacematerial name="clay" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="b"/></surfacematerial>
<dielectric_bsdf name="c" type="BSDF"><input name="tint" type="color3" value="0.1, 0.2, 0.6"/>
<input name="roughness" type="vector2" value="0.3, 0.3"/>
<input name="normal" type="vector3" value="0.6, 0, 0.8"/></dielectric_bsdf>
<surface name="d" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="c"/></surface>
<surfacematerial name="pane" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="d"/></surfacematerial></materialx>"""
# Little to compile.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="{colour}"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="clay" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
SMALL = (
    *("--device", "software", "--resolution", 16),
    *("--set", "network=2x16", "--set", "batch=256", "--set", "starts=1"),
)
QUICK = (*SMALL, "--iterations", 60)
EDITED = "the source has changed since the bake: edited.mtlx has changed"
CONTROL = "\x1b"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def in_process(*arguments):
    """In this process, which has a device open: exit code, output, errors. The closing pictures of
    bakes are small, as nobody looks at them."""
    code, out, err = run_command(arguments, *SMALL_ENDINGS)
    assert "Traceback" not in err
    return code, out, err


@pytest.fixture
def command():
    """The same with errors on one line."""

    def run(*arguments):
        code, out, err = in_process(*arguments)
        return code, out, " ".join(err.split())

    return run


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "two.mtlx"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def result(source):
    """Of the second of both materials, with a folder of its own."""
    out = source.parent / "out"
    ran = in_process("bake", source, *QUICK, "-m", "clay", "-m", "pane", "-o", out, "-q")
    code, printed, errors = ran
    assert code == 0, errors
    # quiet: the path on one stream, what is ignored on the other
    assert printed == f"{out / 'clay.vdg'}\n{out / 'pane.vdg'}\n"
    assert errors.startswith("verdigris: pane: value of 'normal' is ignored: ")
    assert errors.count("\n") == 1
    return out / "pane.vdg"


def test_the_help_shows_few_options_each_in_one_group():
    command = typer.main.get_command(cli.app).commands["bake"]
    shown = [each.name for each in command.params if not getattr(each, "hidden", False)]
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted({*shown, "help"} - {"files"})
    assert len(grouped) - 1 <= 20
    code, text, _ = in_process("bake", "--help")
    assert code == 0 and all(f"\n{group}:\n" in text for group in GROUPS)


def test_json_prints_a_line_for_each_event(source, tmp_path):
    # the next preset, of four pairs of directions, does not allow this batch
    chosen = (*QUICK, "--set", "batch=258", "-m", "pane", "-o", tmp_path)
    code, printed, errors = in_process("bake", source, *chosen, "--json")
    assert (code, errors) == (0, "")
    events = [json.loads(line) for line in printed.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[:2] == ["started", "warning"]
    assert kinds[-1] == "finished"
    assert {"phase", "step"} < set(kinds)
    assert events[0]["materials"] == ["pane"]
    assert events[-1]["results"] == [str(tmp_path / "pane.vdg")]
    assert events[-1]["step"] == 60


def test_the_live_line_leaves_pipes_readable(source, tmp_path):
    """In processes of their own: tests/core/baking/test_bake.py."""
    code, printed, told = in_process("bake", source, *QUICK, "-m", "pane", "-o", tmp_path)
    assert code == 0
    assert CONTROL not in printed + told
    first, path, verdict, figures, hint, slower, advice = printed.splitlines()
    assert first.startswith("60 steps in ")
    assert path == str(tmp_path / "pane.vdg")
    assert verdict.count("●") + verdict.count("○") == 5
    # what to do next is read last
    expected = r"  next: --preset standard comes closer, and takes (about )?\d+( to \d+)? (s|min)"
    assert re.fullmatch(expected + " on this machine", advice)
    assert re.fullmatch(r"  sphere .* dB, visible difference \d\.\d+, light [+-].*%", figures)
    assert "the material is constant" in hint
    # a graph of numbers only
    speed = r"  pane's own graph is [\d.]+ times faster than the neural material on this CPU \(.*"
    assert re.fullmatch(speed, slower)
    assert "warning: pane: value of 'normal' is ignored: MaterialX uses the surface's own" in told
    # what is told is not broken where a terminal would end
    assert all("warning" in line or "2x16 at 16" in line for line in told.splitlines())


def test_what_measure_prints_is_what_the_oracle_finds_in_the_file(source, result, command):
    options = ("--samples", 5000, "--seed", 3, "--size", 24, "--device", "software")
    code, out, _ = command("measure", result, "--source", source, *options, "--json")
    assert code == 0
    found = json.loads(out)
    document = load_document(source)
    teacher = Teacher(document, document.require_material("pane"), open_device("software"))
    parameters = open_bundle(result).parameters()

    class Oracle:
        def response(self, uv, wi, wo, live=None):
            return evaluate(parameters.spec, parameters, uv, 0, wi, wo)

    for prefix, footprint in (("", [texel_footprint(16)]), ("point_", [])):
        held_out = draw_held_out(teacher, 5000, 3, *footprint)
        for name, value in asdict(measure_student(Oracle(), held_out)).items():
            assert found[prefix + name] == pytest.approx(value, rel=1e-4), prefix + name
    assert (found["material"], found["samples"], found["seed"]) == ("pane", 5000, 3)


def test_measuring_against_what_was_not_baked_is_told(source, result, tmp_path, command):
    options = ("--samples", 500, "--size", 16, "--device", "software")
    code, _, told = command("measure", result, "--source", source, *options)
    assert (code, told) == (0, "")
    edited = tmp_path / "edited.mtlx"
    edited.write_text(TEXT.replace("0.1, 0.2, 0.6", "0.1, 0.2, 0.5"))
    code, out, told = command("measure", result, "--source", edited, *options)
    assert code == 0 and "log_mae" in out and "sky_bias" in out
    assert told == f"verdigris: {EDITED}"
    _, _, told = command("measure", result, "--source", source, "-m", "clay", *options)
    assert told.endswith("has changed since the bake: its material is 'clay', not 'pane'")
    for document, warnings in ((source, []), (edited, [EDITED])):
        _, out, told = command("measure", result, "--source", document, *options, "--json")
        assert json.loads(out)["warnings"] == warnings
        assert told == "".join(f"verdigris: {warning}" for warning in warnings)


def test_comparing_with_what_was_not_baked_is_told_on_whichever_side_the_document_is(
    source, result, tmp_path, command
):
    edited = tmp_path / "edited.mtlx"
    edited.write_text(TEXT.replace("0.1, 0.2, 0.6", "0.1, 0.2, 0.5"))
    options = ("-o", tmp_path / "all.png", "--size", 16, "--device", "software")
    for pair, warning in (
        ((source, result), ""),
        ((edited, result), f"verdigris: {EDITED}"),
        ((result, edited), f"verdigris: {EDITED}"),
        ((result, result), ""),
    ):
        code, out, told = command("compare", *pair, *options)
        assert (code, told) == (0, warning)
        assert "all.png: PSNR " in out
    code, _, told = command("compare", source, edited, "-m", "pane", *options)
    assert (code, told) == (0, "")


def paint(folder, grey):
    write_picture(folder / "grey.png", np.full((4, 4, 3), grey, np.float32))


@pytest.fixture(scope="module")
def hole(tmp_path_factory):
    """A document that reads an image and covers nothing, beside its bundle."""
    folder = tmp_path_factory.mktemp("hole")
    paint(folder, 0.5)
    image = """<image name="i" type="color3"><input name="file" type="filename" value="grey.png"/>
</image><oren"""
    text = CHALK.replace("<oren", image, 1).replace('value="{colour}"', 'nodename="i"')
    opacity = 'nodename="d"/><input name="opacity" type="float" value="0"/>'
    (folder / "chalk.mtlx").write_text(text.replace('nodename="d"/>', opacity, 1))
    ran = in_process("bake", folder / "chalk.mtlx", *SMALL, "--iterations", 1, "-o", folder, "-q")
    assert ran[0] == 0, ran
    return folder


def test_comparing_with_a_texture_that_was_changed_is_told(hole, tmp_path, command):
    options = ("-o", tmp_path / "all.png", "--size", 16, "--device", "software")
    pair = (hole / "chalk.mtlx", hole / "clay.vdg")
    assert command("compare", *pair, *options)[2] == ""
    paint(hole, 0.2)
    code, _, told = command("compare", *pair, *options)
    paint(hole, 0.5)
    assert (code, told) == (
        0,
        "verdigris: the source has changed since the bake: grey.png has changed",
    )


def test_materials_of_one_name_are_measured_each_by_its_own(tmp_path, command):
    source, twin = tmp_path / "red.mtlx", tmp_path / "green.mtlx"
    source.write_text(CHALK.format(colour="0.7, 0.3, 0.1"))
    twin.write_text(CHALK.format(colour="0.1, 0.6, 0.1"))
    options = ("-m", "clay", "-o", tmp_path, "--name", "both", "-q")
    code, out, _ = command("bake", source, twin, *SMALL, "--iterations", 150, *options)
    assert code == 0
    errors = []
    assert [Path(path).name for path in out.split()] == ["both-clay.vdg", "both-clay-2.vdg"]
    for path in out.split():
        code, printed, _ = command(
            *("measure", path, "--source", source, "--json"),
            *("--samples", 4000, "--size", 16, "--device", "software"),
        )
        assert code == 0
        errors.append(json.loads(printed)["log_mae"])
    # the second has learnt the other document's colour
    assert errors[0] < 0.7 * errors[1]


def test_compare_draws_reference_result_and_heat_side_by_side(source, result, tmp_path, command):
    import OpenImageIO as oiio

    def pixels(path):
        return np.asarray(oiio.ImageBuf(str(path)).get_pixels("uint8"))

    options = ("-m", "pane", "--size", 32, "--device", "software")
    code, out, _ = command("compare", source, result, "-o", tmp_path / "all.png", *options)
    assert code == 0
    assert re.search(r"all.png: PSNR \d+\.\d dB, FLIP 0\.\d{4}", out)
    command("render", source, "-o", tmp_path / "reference.png", *options)
    command("render", result, "-o", tmp_path / "neural.png", *options)
    panels = pixels(tmp_path / "all.png")
    assert panels.shape == (32, 96, 3)
    np.testing.assert_array_equal(panels[:, :32], pixels(tmp_path / "reference.png"))
    np.testing.assert_array_equal(panels[:, 32:64], pixels(tmp_path / "neural.png"))
    # heat: none far from the sphere, much on it
    heat = panels[:, 64:].astype(int).sum(-1)
    assert heat[0, 0] < 0.5 * heat[8:24, 8:24].max()
    # four: their pictures above, and the difference of each to the first one below it
    several = (source, result, source, result, "--out", tmp_path / "four.png")
    code, out, _ = command("compare", *several, *options)
    assert code == 0
    lines = re.findall(r"four.png, (\S+): PSNR (\S+) dB, FLIP (\S+) ", out)
    assert [name for name, *_ in lines] == [result.name, source.name, result.name]
    assert lines[1][1:] == ("100.0", "0.0000") and lines[0] == lines[2]
    four = pixels(tmp_path / "four.png")
    assert four.shape == (64, 128, 3)
    for column, part in ((0, 0), (1, 1), (2, 0), (3, 1)):
        cell = four[:32, 32 * column : 32 * (column + 1)]
        np.testing.assert_array_equal(cell, panels[:, 32 * part : 32 * (part + 1)])
    for column in (1, 3):
        np.testing.assert_array_equal(four[32:, 32 * column : 32 * (column + 1)], panels[:, 64:])
    code, _, errors = command("compare", *[source] * 5, "-o", tmp_path / "five.png", *options)
    assert code == 2 and "5 files: name the reference and 1 to 3 others" in errors


@pytest.mark.parametrize(
    ("environment", "light"), [(0.8, "one light and a studio"), (0, "one light")]
)
def test_compare_says_what_its_picture_is_lit_by_as_its_figures_are_not_those_of_measure(
    source, result, tmp_path, command, environment, light
):
    options = ("--size", 24, "--device", "software")
    lit = ("-o", tmp_path / "all.png", "--environment", environment)
    code, out, _ = command("compare", source, result, *lit, *options)
    assert code == 0
    found = re.fullmatch(
        r".*: PSNR (\S+) dB, FLIP (\S+) \(of this picture without emission, lit by (.+)\)\n", out
    )
    assert found and found[3] == f"{light}; measure uses another light"
    few = ("--samples", 500, "--json")
    measured = json.loads(command("measure", result, "--source", source, *few, *options)[1])
    assert f"{measured['sphere_psnr']:.1f}" != found[1]
    assert f"{measured['sphere_ldr_flip']:.4f}" != found[2]


def test_compare_sees_through_what_a_bundle_keeps_as_opacity(hole, tmp_path, command):
    import OpenImageIO as oiio

    bundle, picture = hole / "clay.vdg", tmp_path / "all.png"
    options = ("--size", 16, "--device", "software")
    assert command("compare", hole / "chalk.mtlx", bundle, "-o", picture, *options)[0] == 0
    assert command("render", bundle, "-o", tmp_path / "neural.png", *options)[0] == 0
    panels, neural = (
        np.asarray(oiio.ImageBuf(str(path)).get_pixels("uint8"))
        for path in (picture, tmp_path / "neural.png")
    )
    np.testing.assert_array_equal(panels[:, 16:32], neural)


def test_compare_takes_a_name_for_each_document_or_one_for_those_that_have_it(
    source, tmp_path, command
):
    chalk, picture = tmp_path / "chalk.mtlx", tmp_path / "all.png"
    chalk.write_text(CHALK.format(colour="0.1, 0.2, 0.6").replace('"clay"', '"chalk"'))
    options = ("-o", picture, "--size", 16, "--device", "software")
    code, same, _ = command("compare", source, source, "-m", "pane", *options)
    assert code == 0 and "PSNR 100.0 dB" in same
    code, apart, _ = command("compare", source, source, "-m", "pane", "-m", "clay", *options)
    assert code == 0 and "PSNR 100.0 dB" not in apart
    assert command("compare", chalk, source, "-m", "pane", *options)[0] == 0
    code, _, errors = command("compare", chalk, source, "-m", "gone", *options)
    assert code == 1 and "has no material 'gone'; there are: chalk, clay, pane" in errors
    code, _, errors = command("compare", chalk, source, *["-m", "pane"] * 3, *options)
    assert code == 2 and "--material: 3 names for 2 documents: use one for each" in errors


def test_compare_has_no_mesh_to_draw(source, tmp_path, command):
    picture = tmp_path / "all.png"
    code, _, errors = command("compare", source, source, "-o", picture, "--view", "mesh")
    assert code == 2
    assert "--view: 'mesh' is not known: use one of sphere, plane" in errors


def test_more_samples_than_memory_holds_are_refused(source, result, command):
    code, _, errors = command("measure", result, "--source", source, "--samples", 10**14)
    assert code == 2
    assert "--samples" in errors
    assert "is not in the range 1 to 16777216" in errors


def write_map(path, values):
    import OpenImageIO as oiio

    values = np.asarray(values, np.float32)
    spec = oiio.ImageSpec(values.shape[1], values.shape[0], 1, "float")
    image = oiio.ImageOutput.create(str(path))
    image.open(str(path), spec)
    image.write_image(values[..., None])
    image.close()
    return path


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((8, 8)), "is zero everywhere"),
        (np.where(np.eye(8), np.nan, 1), "8 texels are not finite"),
        (np.where(np.eye(8), -1, 1), "8 texels are negative"),
        (np.ones((1, 9000)), "is 9000 x 1: scale the importance map down to at most 8192"),
    ],
)
def test_an_importance_map_that_cannot_be_is_refused(values, message, source, tmp_path, command):
    path = write_map(tmp_path / "map.exr", values)
    out = tmp_path / "out"
    code, _, errors = command("bake", source, *QUICK, "-m", "clay", "-o", out, "--importance", path)
    assert code == 1
    assert f"verdigris: {path}: " in errors
    assert message in errors
    assert not out.exists()


def test_an_importance_map_that_is_no_image_is_refused(source, tmp_path, command):
    path = tmp_path / "map.png"
    path.write_text("not a picture")
    for file, message in ((path, "is not a readable image"), ("gone.png", "no such file")):
        code, _, errors = command("bake", source, *QUICK, "-m", "clay", "--importance", file)
        assert code == 1
        assert f"{file}: " in errors and message in errors


def test_an_importance_map_of_another_size_works_and_a_name_may_say_that_it_is_a_bundles(
    source, tmp_path, command
):
    path = write_map(tmp_path / "map.exr", np.linspace(0, 1, 7 * 3).reshape(3, 7))
    options = ("-m", "clay", "-o", tmp_path, "--importance", path, "--name", "pot.vdg", "-q")
    code, out, _ = command("bake", source, *QUICK, *options)
    assert (code, out) == (0, f"{tmp_path / 'pot.vdg'}\n")


@pytest.mark.parametrize(
    ("option", "value", "code", "message"),
    [
        ("--preset", "fast", 1, "'fast' is not known: use one of draft, standard, final"),
        ("--set", "network=9x9", 2, "2x16, 2x32, 3x64"),
        ("--set", "network", 2, "--set: 'network': use NAME=VALUE"),
        ("--set", "netwrok=2x16", 2, "is not known: use one of activation"),
        ("--set", "draw.pears=2", 2, "is not known: use one of draw."),
        ("--set", "resolution=big", 2, "'big'"),
        ("--network", "2x16", 2, "--network: not an option: use --set network=VALUE"),
        ("--mirror-share", "0", 2, "not an option: use --set draw.mirror_share=VALUE"),
        ("--trainer", "abacus", 1, "'abacus' is not known: use one of tensor, numpy"),
        ("--resolution", "100", 1, "resolution is 100: use a power of two from 4 to 8192"),
        ("--resolution", "wide", 2, "Invalid value for '--resolution'"),
        ("--set", "activation=square", 2, "leaky_relu"),
        ("--set", "batch=3", 1, "batch is 3: use a multiple of 2"),
        ("--seed", "-1", 1, "seed is -1: use 0 or more"),
        ("--time-limit", "0", 1, "time_limit is 0.0: use a finite number above 0"),
        ("--target-error", "-1", 1, "target_error is -1.0: use a finite number above 0"),
        ("--target", "fine", 1, "target 'fine' is not known: use one of good, very good"),
        ("--set", "starts=1000000", 2, "starts is 1000000: use 1 to "),
        ("--name", ".vdg", 1, "'' is not a file name"),
        ("--name", "", 2, "an argument after --name is empty"),
        ("--name", "CON", 1, "the name 'CON' is reserved by Windows: choose another"),
        ("--name", "nul.x", 1, "the name 'nul.x' is reserved by Windows"),
        ("--name", "  ", 1, "is blank: use letters or digits"),
        ("--name", "a/b", 1, "'a/b' is not a file name"),
        ("--material", "slate", 1, "no material 'slate'; there are: clay, pane"),
        ("--device", "abacus", 1, "'abacus' is not known"),
    ],
)
def test_a_wrong_value_is_refused_with_those_that_are_right(
    option, value, code, message, source, tmp_path, command
):
    out = tmp_path / "out"
    found, _, errors = command("bake", source, *QUICK, "-m", "clay", "-o", out, option, value)
    assert found == code
    assert message in errors
    assert not out.exists()


def test_a_folder_that_cannot_be_made_is_refused(source, tmp_path, command):
    file = tmp_path / "file"
    file.write_text("")
    for out, message in ((file, "is a file"), (file / "below", "the folder cannot be made")):
        code, _, errors = command("bake", source, *QUICK, "-m", "clay", "-o", out)
        assert code == 1
        assert f"verdigris: {out}: {message}" in errors


def test_resume_with_nothing_to_resume_starts_afresh(source, tmp_path, command):
    code, out, errors = command(
        "bake", source, *QUICK, "-m", "clay", "-o", tmp_path, "--resume", "-q"
    )
    assert (code, out) == (0, f"{tmp_path / 'clay.vdg'}\n")
    assert "there is no checkpoint to resume: the bake starts from the beginning" in errors


@pytest.mark.parametrize(
    ("option", "value", "steps", "why"),
    [("--time-limit", 0.05, 12_000, "time limit"), ("--target-error", 0.5, 320, "target error")],
)
def test_a_bake_ends_sooner_where_it_may(option, value, steps, why, source, tmp_path, command):
    options = ("-m", "clay", "-o", tmp_path, "--iterations", steps, option, value, "--json")
    code, out, _ = command("bake", source, *SMALL, *options)
    assert code == 0
    finished = json.loads(out.splitlines()[-1])
    assert finished["stopped_by"] == why
    assert finished["step"] < steps


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("manifest.json", "manifest.json: is not JSON"),
        ("weights.bin", "weights.bin: bytes are 100: the manifest"),
        ("latents.ktx2", "latents.ktx2: bytes are 100: the manifest"),
    ],
)
def test_a_damaged_bundle_is_refused_naming_file_and_field(
    file, message, source, result, tmp_path, command
):
    bundle = tmp_path / "damaged.vdg"
    shutil.copytree(result, bundle)
    (bundle / file).write_bytes((bundle / file).read_bytes()[:100])
    picture = tmp_path / "out.png"
    for arguments in (
        ("measure", bundle, "--source", source, "--device", "software"),
        ("render", bundle, "-o", picture, "--device", "software"),
        ("verify", bundle),
        ("inspect", bundle),
    ):
        code, out, errors = command(*arguments)
        assert (code, out) == (1, "")
        assert f"verdigris: {bundle}/" in errors
        assert message in errors
    assert not picture.exists()


@pytest.mark.parametrize(("width", "is_whole"), [(80, False), (120, True)])
def test_the_live_line_is_one_line_of_a_terminal(width, is_whole, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    found = Metrics(20, (SampleMetrics(0.0107, 0.1, 0.2, -0.01),))
    live_line([Phase("small texture", 2, 6), found, Step(20, 2000, 0.1169, 9.7e5, 1.0, 3661.0)])
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue()).splitlines()
    told = next(line for line in lines if "loss" in line)
    assert "loss 0.1169  error 0.0107" in told and told.rstrip().endswith("1 h 1 min left")
    assert ("0.97 M samples/s" in told) == is_whole
    assert len(told) < width


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_first_step_is_told_from_a_failure(source, tmp_path, sent):
    def drawn(*arguments, **named):
        os.kill(os.getpid(), sent)
        return draw_held_out(*arguments, **named)

    for folder in (tmp_path / "new", tmp_path):
        arguments = ("bake", source, *QUICK, "-m", "clay", "-o", folder, "-q")
        code, out, told = run_command(arguments, (run_of_training, "draw_held_out", drawn))
        assert (code, out) == (128 + sent, "")
        assert told.startswith("verdigris: the bake was stopped before its first step: ")
        # a folder that was made for it is gone, and one that was there is as it was
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--bytes", "1.4Q"), 2, "--bytes: '1.4Q' is not a size: use a number of bytes, or one"),
        (("--bytes", "0"), 2, "--bytes: 0 is out of range: use 1 byte to 1024G"),
        (("--bytes", "3"), 1, "most_bytes is 3: the smallest bundle with a decoder of 2x16 takes "),
        (("--set", "size.tolerance=2"), 2, "tolerance is 2.0: use 0 to 1"),
        (("--set", "size.zeal=2"), 2, "size.zeal"),
    ],
)
def test_sizes_that_no_bake_can_have_are_refused(source, tmp_path, options, code, message):
    options = ("--set", "network=2x16", "--device", "software", *options)
    found, _, errors = in_process("bake", source, "-m", "clay", *options, "-o", tmp_path / "out")
    assert found == code and message in " ".join(errors.replace("\u2502", " ").split())
    assert not (tmp_path / "out").exists()


def test_a_size_in_bytes_is_read_as_people_write_it():
    for text, count in (
        ("300", 300),
        ("1.4M", int(1.4 * (1 << 20))),
        ("2 KiB", 2048),
        ("2KB", 2000),
        (".5g", 1 << 29),
    ):
        assert parse_bytes(text) == count
    for text in ("", "M", "-3", "1.4Q", "1e3", "1,4M", "nan", "9" * 40):
        with pytest.raises(SettingsError, match=r"is (not a size|out of range)"):
            parse_bytes(text)
