"""The cost of a neural material: counted, measured, and compared with the graph."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.bundle.cost import cost as costs
from verdigris.core.bundle.cost import time_responses
from verdigris.core.bundle.cost.cost import Cost, cost_of_bundle, stored_sources, untrained
from verdigris.core.bundle.cost.source_bytes import source_bytes
from verdigris.core.bundle.cost.time_responses import Nanoseconds, Timing, measure
from verdigris.core.bundle.runtime import device_materials
from verdigris.core.cli import main as cli
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import load_document, select_materials
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.bake_settings import BakeSettings

from ..bundles import make_bundle

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_costs_are_counted_and_measured(bundle, software):
    cost = cost_of_bundle(bundle, software)
    assert cost.weights_bytes == (bundle.folder / "weights.bin").stat().st_size
    # two layers of blocks of 16 bytes: two of them on the finest level, one on each of three others
    assert cost.latents_bytes == 2 * 16 * 5
    # frames 16 x 8, then 28 x 16, 16 x 16, 16 x 6
    assert cost.multiply_adds == 128 + 448 + 256 + 96
    assert cost.nanoseconds.neural > 0
    assert cost.verdict == "use --source FILE to compare with the graph"


def test_maps_count_by_what_a_device_holds_of_them(software, tmp_path):
    opacity = [np.full((side, side, 1), 7, np.uint8) for side in (4, 2, 1)]
    emission = [np.full((side, side, 4), 1, np.float16) for side in (2, 1)]
    bundle = make_bundle(tmp_path / "lamp.vdg", opacity=opacity, emission=emission)
    assert cost_of_bundle(bundle, software).maps_bytes == (16 + 4 + 1) + 8 * (4 + 1)


@pytest.mark.parametrize(
    ("teacher", "verdict", "answer"),
    [
        (
            0.5,
            "the source graph is cheap: baking it would make it 2.0 times slower",
            "No: its graph is cheap, and baked it would be 2.0 times slower.",
        ),
        (
            1.1,
            "the source graph is cheap: baking it would make it no faster",
            "No: its graph is cheap, and baked it would be no faster.",
        ),
        (
            12.0,
            "the neural material is 12.0 times faster than its graph",
            "Yes: baked, it is shaded 12.0 times faster.",
        ),
    ],
)
def test_the_verdict_is_plain(teacher, verdict, answer):
    nanoseconds = Nanoseconds(
        portable=9.0,
        sampler=8.0,
        constants=4.0,
        cooperative=1.5,
        cooperative_sampler=1.2,
        cooperative_stochastic=0.6,
        cooperative_constants=1.0,
        cooperative_registers=0.4,
        teacher=teacher,
    )
    cost = Cost("brass", False, "2x32", "a card", False, 1, 2, 0, 3, 4, nanoseconds)
    assert (cost.verdict, cost.answer) == (verdict, answer)
    assert cost.as_json()["ratio"] == pytest.approx(teacher)
    # a bake warns only of what is slower in every way
    assert cost.warning.startswith("brass's own graph is 2.0 times faster") == (teacher < 1)
    on_cpu = replace(cost, is_software=True).warning
    assert ("on this CPU (a GPU may differ): use the graph" in on_cpu) == (teacher < 1)
    filtered = replace(cost, nanoseconds=replace(nanoseconds, teacher_filtered=2.0))
    assert not filtered.warning and filtered.answer.startswith("Yes")


@pytest.mark.parametrize(
    ("teacher", "filtered", "verdict"),
    [
        (
            1.9,
            13.0,
            "the neural material is 1.9 times faster than its graph at a point, and 13.0 times "
            "faster than the graph averaged over 8 places of a texel, as in the bake, on this "
            "CPU; measure on the GPU",
        ),
        (
            0.25,
            2.0,
            "the source graph is cheap: baking it would make it 4.0 times slower; averaged over 8 "
            "places of a texel, as in the bake, the graph takes 2.0 times as long as the decoder, "
            "on this CPU; measure on the GPU",
        ),
    ],
)
def test_the_verdict_compares_at_a_point_and_over_a_texel(teacher, filtered, verdict):
    nanoseconds = Nanoseconds(2.0, 1.0, teacher=teacher, teacher_filtered=filtered)
    cost = Cost("brass", False, "2x32", "a processor", True, 1, 2, 0, 3, 4, nanoseconds, places=8)
    assert cost.verdict == verdict
    printed = cost.as_json()
    assert (printed["ratio"], printed["filtered_ratio"]) == (teacher, filtered)
    assert printed["nanoseconds"]["neural_way"] == "sampler"


def chalk(folder):
    path = folder / "chalk.mtlx"
    path.write_text(CHALK.format(textures=EXAMPLES / "textures"))
    return path


def taught_with(places):
    return {"settings": {"draw": {"finest_places": places}}}


def test_the_graph_is_averaged_over_the_places_of_the_bake(software, tmp_path):
    teacher = Teacher(load_document(chalk(tmp_path)), device=software)
    bundle = make_bundle(tmp_path / "chalk.vdg", source=taught_with(16))
    cost = cost_of_bundle(bundle, software, teacher)
    assert cost.places == 16
    # sixteen evaluations, on a machine that does other things, too
    assert cost.nanoseconds.teacher_filtered > 4 * cost.nanoseconds.teacher
    assert "averaged over 16 places of a texel" in cost.verdict


@pytest.mark.parametrize("places", [1, 0, 10**9, -4, "8", True, None, [8]])
def test_places_that_are_one_or_unknown_or_nonsense_are_not_measured(software, tmp_path, places):
    bundle = make_bundle(tmp_path / "chalk.vdg", source=taught_with(places))
    assert costs._bake_footprint(bundle.manifest.source, 8).places == 1
    assert costs._bake_footprint({"settings": "lost"}, 8).places == 1
    assert costs._bake_footprint({}, 8).places == 1


def test_costs_are_those_of_the_advised_arithmetic(software, monkeypatch):
    """Which choices are timed on a device that has cooperative vectors."""
    timed = []

    def time(choice, is_together):
        assert is_together == choice.is_together
        timed.append(choice)
        return Timing(1.0, 1)

    monkeypatch.setattr(device_materials, "has_cooperative_vectors", lambda _: True)
    monkeypatch.setattr(
        time_responses, "BundleMaterial", lambda _stored, _device, choice, **_: choice
    )
    monkeypatch.setattr(time_responses, "time_material", time)
    stored = untrained(BakeSettings(network="2x16", resolution=4))
    for advised, careful in (
        (None, {0}),
        ("cooperative", {0}),
        ("careful", {1}),
        ("exacting", {2}),
    ):
        timed.clear()
        assert measure(stored, software, None, advised=advised).cooperative == 1.0
        assert {each.way for each in timed if each.is_cooperative} == careful
    timed.clear()
    assert measure(stored, software, None, advised="portable").cooperative is None
    assert len(timed) == 3 and not any(each.is_cooperative for each in timed)
    # which every advice allows, and which serves whole passes alone
    monkeypatch.setattr(time_responses, "has_cooperative_matrices", lambda _: True)
    found = measure(stored, software, None, advised="portable")
    assert found.together == 1.0 and timed[-1].is_together
    assert replace(found, together=0.1).neural == 1.0


def test_the_images_of_a_graph_are_counted_once_each_as_files_and_block_compressed():
    document, material = select_materials([load_document(EXAMPLES / "copper_tray.mtlx")], ())[0]
    found = source_bytes(document, material)
    files = [*(EXAMPLES / "textures").glob("copper_tray_*")]
    assert found.images == len(files) == 7
    assert found.files == sum(each.stat().st_size for each in files)

    def blocks(side, size):
        sides = [max(1, side >> level) for level in range(side.bit_length())]
        return sum((-(-each // 4)) ** 2 * size for each in sides)

    # four colour images of 1024, and of one channel: two of 512 and one of 256
    wanted = 4 * blocks(1024, 16) + 2 * blocks(512, 8) + blocks(256, 8)
    assert found.compressed == wanted
    # a roughness of half floats and a height of 16 bits have two bytes a texel
    texels = 4 * 1024**2 * 3 + 512**2 * (1 + 2) + 256**2 * 2
    assert found.plain == pytest.approx(texels * 4 / 3, rel=1e-5)


def test_a_bundle_knows_the_bytes_of_its_images_without_their_document(software, tmp_path):
    images = {"images": 2, "files": 900, "plain": 4000, "compressed": 1000}
    bundle = make_bundle(tmp_path / "a.vdg", source={"images": images})
    cost = cost_of_bundle(bundle, software)
    assert (cost.textures, cost.textures_file_bytes) == (2, 900)
    assert (cost.textures_bytes, cost.textures_compressed_bytes) == (4000, 1000)
    assert cost.excess.startswith("the bundle is larger than the block-compressed images that it")
    assert replace(cost, textures_compressed_bytes=1 << 30).excess == ""
    assert replace(cost, may_be_smaller=True).excess == ""
    for damaged in ("none", {}, {**images, "files": -1}, {**images, "plain": "4"}):
        assert stored_sources({"images": damaged}) is None


def test_the_default_bundle_of_1024_texels_stays_within_its_budget():
    found = untrained(BakeSettings(resolution=1024))
    assert sum(level.nbytes for level in found.latents.levels) + len(found.weights) < 12_000_000
    assert len(found.weights) < 40_000
    assert len(untrained(BakeSettings(network="3x64", resolution=4)).weights) < 40_000


CHALK = """<materialx version="1.39">
<image name="colour" type="color3">
<input name="file" type="filename" value="{textures}/copper_tray_metal.jpg"/></image>
<image name="rough" type="float">
<input name="file" type="filename" value="{textures}/brushed_steel_masks.png"/></image>
<oren_nayar_diffuse_bsdf name="diffuse" type="BSDF">
<input name="color" type="color3" nodename="colour"/>
<input name="roughness" type="float" nodename="rough"/></oren_nayar_diffuse_bsdf>
<surface name="surface" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="diffuse"/></surface>
<surfacematerial name="chalk" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="surface"/></surfacematerial>
</materialx>"""


def test_the_command_forecasts_before_a_bake(command, tmp_path):
    found = command("cost", chalk(tmp_path), "--resolution", 64)
    assert found["is_forecast"]
    assert found["ratio"] == pytest.approx(
        found["nanoseconds"]["teacher"] / found["nanoseconds"]["neural"]
    )
    assert found["nanoseconds"]["cooperative"] is None
    assert found["textures"] == 2
    # as the bake would, which averages four places at most on a processor
    assert found["places"] == 4
    assert found["filtered_ratio"] == pytest.approx(
        found["nanoseconds"]["teacher_filtered"] / found["nanoseconds"]["neural"]
    )


def test_options_of_a_forecast_are_refused_for_a_bundle(monkeypatch, capsys):
    for option, value in (("--preset", "draft"), ("--resolution", "64")):
        monkeypatch.setattr(sys, "argv", ["verdigris", "cost", "brass.vdg", option, value])
        with pytest.raises(SystemExit, match="2"):
            cli.main()
        printed = " ".join(capsys.readouterr().err.split())
        why = "brass.vdg is a bundle, which contains its settings: leave it out"
        assert f"{option}: {why}" in printed


def test_a_forecast_refuses_another_source(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["verdigris", "cost", "a.mtlx", "--source", "b.mtlx"])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    printed = " ".join(capsys.readouterr().err.split())
    assert "a.mtlx is a document and is compared with its own graph: leave it out" in printed


@pytest.fixture(scope="module")
def tray_on_gpu(cooperative_card):
    """What an evaluation costs there."""
    teacher = Teacher(load_document(EXAMPLES / "copper_tray.mtlx"), device=cooperative_card)
    settings = BakeSettings(resolution=1024)
    # what the bake takes of this material there
    footprint = Footprint(1 / settings.resolution, 8)
    # what others do on the card lengthens some of it at times, and shortens nothing
    found = [
        asdict(measure(untrained(settings), cooperative_card, teacher, footprint=footprint))
        for _ in range(3)
    ]
    measured = [name for name, value in found[0].items() if value is not None]
    return Nanoseconds(**{name: min(each[name] for each in found) for name in measured})


@pytest.mark.gpu
def test_on_a_gpu_the_decoder_is_not_held_up_by_fetches(tray_on_gpu):
    assert tray_on_gpu.neural <= 2 * tray_on_gpu.cooperative_registers


@pytest.mark.gpu
@pytest.mark.xfail(reason="hangs on how fast the card fetches: docs/BENCHMARKS.md, Runtime")
def test_on_a_gpu_the_tray_is_ten_times_faster_than_its_graph(tray_on_gpu):
    assert tray_on_gpu.ratio >= 10


def test_a_card_is_timed_when_its_clock_is_up(monkeypatch):
    worked = 0.0

    def run(threads: int, rounds: int) -> float:
        nonlocal worked
        seconds = threads * rounds / 2**36 * (6 if worked < 0.3 else 1)
        worked += seconds
        return seconds

    monkeypatch.setattr(time_responses.time, "monotonic", lambda: worked)
    timing = time_responses._grow(run, SimpleNamespace(is_software=False), 0.02)
    assert timing.nanoseconds == pytest.approx(1e9 / 2**36)


@pytest.mark.gpu
def test_on_a_gpu_the_tray_is_ten_times_faster_than_its_graph_averaged_over_a_texel(tray_on_gpu):
    assert tray_on_gpu.filtered_ratio >= 10
