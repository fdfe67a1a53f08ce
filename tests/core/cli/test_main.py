"""The command as its user meets it: exit codes, messages, files."""

import io
import json
import os
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer

from verdigris.core.cli import loader
from verdigris.core.cli import main as cli
from verdigris.core.material.load import mtlx_document

from ..in_process import into, run_command, stream_of
from ..material.documents import with_image
from ..material.surfaces import write_image
from ..small_endings import SMALL_ENDINGS

EXAMPLES = Path(__file__).parents[3] / "examples"
PRISM = EXAMPLES / "car_paint.mtlx"
IN_PROCESS = str(Path(__file__).parents[1] / "in_process.py")
# Little to compile.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF"/>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="chalk" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def chalk(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "chalk.mtlx"
    path.write_text(CHALK)
    return path


def verdigris(*arguments):
    """In this process."""
    code, out, err = run_command(arguments)
    return subprocess.CompletedProcess(arguments, code, out, err)


def module_of(command):
    return import_module(f"verdigris.core.cli.commands.{loader.COMMANDS[command].module}")


def test_the_profile_does_not_swallow_the_command():
    found = verdigris("--profile", "bake", "copper_tray.mtlx")
    assert found.returncode == 2
    assert "verdigris --profile trace.json bake" in " ".join(found.stderr.split())
    assert not Path("bake").exists()
    # also after it
    found = verdigris("bake", "--profile", "copper_tray.mtlx")
    assert "'copper_tray.mtlx' does not" in " ".join(found.stderr.split())


def test_a_profile_may_follow_the_command(tmp_path):
    trace = tmp_path / "trace.json"
    for words in (("--profile", str(trace)), (f"--profile={trace}",)):
        subprocess.run([sys.executable, "-m", "verdigris.core", "versions", *words, "x"])
        assert trace.stat().st_size
        trace.unlink()


def test_help_answers_in_half_a_second():
    def seconds():
        """Of the processor, which other programs disturb less."""
        before = os.times()
        subprocess.run([sys.executable, "-m", "verdigris.core", "--help"], check=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    assert any(seconds() < 0.5 for _ in range(3))


def test_wrong_usage_exits_with_2():
    assert verdigris("no-such-command").returncode == 2
    assert verdigris("render").returncode == 2
    assert verdigris("render", PRISM, "-o", "x.png", "--light", "up").returncode == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["render", PRISM, "-o", ""], "an argument after -o"),
        (["render", ""], "an argument after render"),
        (["bake", PRISM, "--out="], "'--out='"),
    ],
)
def test_a_word_that_is_empty_is_wrong_usage(words, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = verdigris(*words)
    assert ended.returncode == 2
    assert f"{named} is empty" in ended.stderr
    assert not list(tmp_path.iterdir())


def test_the_version_is_that_of_the_project_file():
    project = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text())["project"]
    ended = verdigris("--version")
    assert (ended.returncode, ended.stdout) == (0, f"verdigris {project['version']}\n")


def test_what_a_picture_would_leave_out_is_refused_by_its_option(tmp_path):
    mesh = EXAMPLES / "tray.obj"
    ended = verdigris("render", PRISM, "-o", tmp_path / "x.png", "--view", "plane", "--mesh", mesh)
    assert ended.returncode == 2
    assert "--mesh" in ended.stderr and "tray.obj" in ended.stderr and "'plane'" in ended.stderr
    assert not list(tmp_path.iterdir())


def commands_with(option, group=None, words=()):
    for name, each in (group or typer.main.get_command(cli.app)).commands.items():
        if hasattr(each, "commands"):
            yield from commands_with(option, each, (*words, name))
        elif any(option in parameter.opts for parameter in each.params):
            yield (*words, name)


def test_a_search_folder_that_is_none_is_refused_by_every_command_that_takes_one(tmp_path):
    (tmp_path / "file").touch()
    commands = list(commands_with("--search"))
    assert {("bake",), ("verify",), ("panel",), ("scene", "run"), ("farm", "task")} <= {*commands}
    for words in commands:
        for name, told in (
            ("gone", f"the folder {tmp_path / 'gone'} cannot be read (No such file or directory)"),
            ("n" * 300, "cannot be read (File name too long): correct it, or leave it out"),
            ("file", f"{tmp_path / 'file'} is not a folder: correct it, or leave it out"),
        ):
            given = ("--search", tmp_path, "--search", tmp_path / name)
            code, printed, said = run_command([*words, *given])
            assert (code, printed) == (2, ""), words
            assert "--search" in said and told in " ".join(said.split()), words


def test_a_search_folder_is_read(tmp_path):
    (tmp_path / "maps").mkdir()
    write_image(tmp_path / "maps" / "flat.png", np.zeros((2, 2, 3), np.uint8))
    (tmp_path / "a.mtlx").write_text(with_image("flat.png"))
    command = ["inspect", tmp_path / "a.mtlx", "--no-probe"]
    assert run_command(command)[0] == 1
    assert run_command([*command, "--search", tmp_path / "maps"])[0] == 0


@pytest.mark.parametrize("command", [("render", PRISM, "-o", "x.png"), ("view", "x.vdg")])
def test_a_view_that_cannot_be_is_refused_by_its_option_before_anything_is_opened(command):
    for view, told in (
        ("cube", "--view: 'cube' is not known: use one of sphere, plane, ball, cloth, tile, mesh"),
        ("mesh", "--view: 'mesh' needs a mesh file: name it with --mesh"),
    ):
        ended = verdigris(*command, "--view", view, "--device", "none such")
        assert ended.returncode == 2
        assert told in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    "command, option, largest",
    [
        (("render", PRISM, "-o", "x.png"), "--samples", 4096),
        (("render", PRISM, "-o", "x.png"), "--size", 2048),
        (("compare", PRISM, PRISM, "-o", "x.png"), "--size", 2048),
        (("measure", "x.vdg", "--source", PRISM), "--samples", 1 << 24),
        (("measure", "x.vdg", "--source", PRISM), "--size", 1024),
        (("view", "x.vdg"), "--size", 2048),
    ],
)
def test_what_would_take_days_is_refused_by_its_option_before_a_device_is_opened(
    command, option, largest
):
    def opened(*_):
        raise AssertionError("a device was opened")

    patch = (module_of(command[0]), "open_device", opened)
    for value in (10**9, largest + 1, 0):
        code, _, told = run_command([*command, option, value], patch)
        assert code == 2
        assert all(text in told for text in (option, str(value), str(largest)))


@pytest.mark.parametrize(
    "command, ranges",
    [
        ("measure", ("held-out samples, 1 to 16777216.", "picture in pixels, 1 to 1024.")),
        ("compare", ("picture in pixels, 1 to 2048.", "The picture: .png or .exr.")),
    ],
)
def test_the_help_says_which_values_an_option_takes(command, ranges):
    code, printed, _ = run_command([command, "--help"])
    assert code == 0
    assert [text for text in ranges if text not in " ".join(printed.split())] == []


def commands_of(group, words=()):
    """All commands, with the words that lead to them."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands_of(each, (*words, name))
        else:
            yield (*words, name), each


def test_every_command_has_a_short_line_in_the_list_and_an_example_that_it_accepts(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for words, command in commands_of(typer.main.get_command(cli.app)):
        assert not command.get_short_help_str(62).endswith("..."), words
        program, *example = shlex.split(command.epilog.removeprefix("Example: "))
        assert (program, *example[: len(words)]) == ("verdigris", *words)
        assert len(command.epilog) <= 76, words
        command.make_context(words[-1], example[len(words) :])


def test_an_interruption_exits_with_130_and_says_so():
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    patch = (mtlx_document, "load_document", interrupted)
    assert run_command(["inspect", PRISM], patch) == (130, "", "verdigris: interrupted\n")


@pytest.mark.parametrize("command", ["inspect", "render"])
def test_a_missing_file_exits_with_1_and_one_line(command, tmp_path):
    more = ("-o", tmp_path / "out.png") if command == "render" else ()
    result = verdigris(command, tmp_path / "gone.mtlx", *more)
    assert result.returncode == 1
    assert result.stderr.strip() == (f"verdigris: {tmp_path / 'gone.mtlx'}: there is no such file")
    assert list(tmp_path.iterdir()) == []


def test_inspect_prints_json_that_a_machine_can_read():
    result = verdigris("inspect", EXAMPLES / "copper_tray.mtlx", "--json", "--no-probe")
    assert result.returncode == 0
    found = json.loads(result.stdout)["materials"][0]
    assert found["name"] == "copper_tray"
    assert len(found["textures"]) >= 5
    assert all(texture["width"] > 0 for texture in found["textures"])


def test_inspect_of_a_material_that_cannot_be_baked_exits_with_1(tmp_path):
    text = (EXAMPLES / "car_paint.mtlx").read_text().replace("open_pbr_surface", "no_such_kind")
    broken = tmp_path / "broken.mtlx"
    bare = '<surfacematerial name="bare" type="material"/></materialx>'
    broken.write_text(text.replace("</materialx>", bare))
    result = verdigris("inspect", broken, "--no-probe")
    assert result.returncode == 1
    assert "no_such_kind" in result.stdout
    assert "bare\n  not baked nothing is connected to its surfaceshader\n" in result.stdout
    assert "Traceback" not in result.stderr


def test_inspect_lists_the_materials_of_a_stage_that_references_documents(tmp_path):
    stage = tmp_path / "show.usda"
    document = (EXAMPLES / "car_paint.mtlx").as_posix()
    stage.write_text(
        f"#usda 1.0\n(\n    subLayers = [@{document}@, @gone.mtlx@]\n)\n"
        'def Material "bare"\n{\n}\n'
    )
    code, said, _ = run_command(["inspect", stage, "--no-probe"])
    assert code == 0
    assert "car_paint\n  surface   open_pbr_surface" in said
    assert "gone\n  not baked gone.mtlx: there is no such file" in said
    assert "bare\n  not baked /bare: has no surface: connect" in said
    found = run_command(["inspect", stage, "--no-probe", "--json", "--material", "/bare"])
    assert found[0] == 1
    assert list(json.loads(found[1])["left_out"]) == ["bare"]
    assert "it has: gone, car_paint, bare" in run_command(["inspect", stage, "-m", "no"])[2]


def test_render_writes_a_png_that_another_reader_reads(tmp_path, chalk):
    import OpenImageIO as oiio

    target = tmp_path / "out.png"
    result = verdigris("render", chalk, "--reference", "--size", 24, "-o", target)
    assert result.returncode == 0, result.stderr
    pixels = np.asarray(oiio.ImageBuf(str(target)).get_pixels("float"))
    assert pixels.shape == (24, 24, 3)
    assert pixels[8:16, 8:16].std() > 0.01
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_render_refuses_what_it_cannot_write_before_it_works(tmp_path):
    result = verdigris("render", PRISM, "-o", tmp_path / "out.bmp")
    assert result.returncode == 1
    assert "out.bmp: pictures are written as .png or .exr" in result.stderr
    result = verdigris("render", PRISM, "-o", tmp_path / "gone" / "out.png")
    assert result.returncode == 1
    assert "does not exist: create it" in result.stderr


def test_a_device_that_does_not_exist_is_refused_by_name(tmp_path):
    result = verdigris("render", PRISM, "-o", tmp_path / "out.png", "--device", "abacus")
    assert result.returncode == 1
    assert "'abacus' is not known: choose one of auto, software, vulkan" in result.stderr


FULL = "verdigris: cannot write its output: the disk is full\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_output_that_cannot_be_written_is_an_error_of_one_line():
    command = [sys.executable, "-m", "verdigris.core", "inspect", str(PRISM), "--no-probe"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (result.returncode, result.stderr) == (1, FULL)
    # where nothing waits in a buffer, printing itself fails
    unbuffered = stream_of(os.open("/dev/full", os.O_WRONLY), is_unbuffered=True)
    assert into(unbuffered, "inspect", PRISM, "--no-probe") == (1, FULL)


def test_memory_that_does_not_suffice_is_an_error_of_one_line():
    def load(*_, **__):
        np.empty(1 << 50)

    ended = run_command(("inspect", PRISM, "--no-probe"), (mtlx_document, "load_document", load))
    assert ended[:2] == (1, "") and ended[2].count("\n") == 1
    assert ended[2].startswith("verdigris: not enough memory: ") and "--resolution" in ended[2]


def test_a_reader_that_goes_away_is_no_failure_of_what_it_has_read_of():
    command = [sys.executable, "-m", "verdigris.core", "inspect", str(PRISM), "--no-probe"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert (running.returncode, said) == (141, b"")


@pytest.mark.parametrize("is_unbuffered", [False, True])
@pytest.mark.parametrize("words", [("inspect", PRISM, "--no-probe"), ("--help",)])
def test_a_closed_pipe_is_none_of_any_command_however_it_is_buffered(words, is_unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    assert into(stream_of(writer, is_unbuffered), *words) == (141, "")


def test_a_command_without_standard_output_does_its_work():
    """In processes of their own: tests/core/batch/test_endings.py."""
    patch = (sys, "stdout", None)
    assert run_command(["inspect", PRISM, "--no-probe"], patch) == (0, "", "")


def test_without_standard_error_what_belongs_there_is_not_among_results(tmp_path):
    code, printed, _ = run_command(["inspect", tmp_path / "gone.mtlx"], (sys, "stderr", None))
    assert (code, printed) == (1, "")


@pytest.mark.skipif(os.name == "nt", reason="replaces its output as POSIX shells do")
def test_an_output_that_can_only_be_read_is_none(tmp_path):
    """As where bash opens its script in the place of an output that was closed."""
    command = [sys.executable, "-m", "verdigris.core", "inspect", str(tmp_path / "gone.mtlx")]
    missing = ["sh", "-c", 'exec "$@" </dev/null 2>&0', "sh", *command]
    failed = subprocess.run(missing, stdout=subprocess.PIPE, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "")
    with Path(os.devnull).open() as only_read:
        patch = (sys, "stdout", only_read)
        assert run_command(["inspect", PRISM, "--no-probe"], patch) == (0, "", "")


def test_a_bake_whose_progress_nobody_can_take_goes_on(tmp_path, chalk):
    small = ("--preset", "draft", "--resolution", 4, "--iterations", 2, "--set", "starts=1")
    with Path(os.devnull).open() as only_read:
        patches = (*SMALL_ENDINGS, (sys, "stderr", only_read))
        code, _, _ = run_command(("bake", chalk, *small, "-o", tmp_path), *patches)
    assert code == 0
    assert (tmp_path / "chalk.vdg/manifest.json").is_file()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no file without an end")
def test_a_document_without_an_end_is_refused():
    result = verdigris("inspect", "/dev/zero")
    assert result.returncode == 1
    assert "/dev/zero: has 67 MB; a MaterialX document may have at most" in result.stderr


def test_a_name_that_the_terminal_cannot_show_stops_nothing(tmp_path):
    text = '<materialx version="1.39"><'
    (tmp_path / "\u6728.mtlx").write_text(text)
    shown = io.BytesIO()
    terminal = io.TextIOWrapper(shown, encoding="ascii", errors="strict")
    code, _, errors = run_command(["scene", "plan", tmp_path], (sys, "stdout", terminal))
    assert (code, errors) == (0, "")
    assert shown.getvalue().startswith(b"\\u6728  cannot be baked")


def results_of(program, commands, **options):
    """Exit code, output and errors of each of these commands, which `program` runs in one process
    of their own. It reads them as JSON, and may call run_command."""
    prelude = (
        f"import json, runpy, sys\nrun_command = runpy.run_path({IN_PROCESS!r})['run_command']\n"
    )
    words = [sys.executable, "-P", "-c", prelude + program]
    text = json.dumps(commands, default=str)
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return [tuple(each) for each in json.loads(done.stdout)]


IN_FOLDER_THAT_IS_GONE = """
import os
os.rmdir(os.getcwd())
print(json.dumps([run_command(words) for words in json.load(sys.stdin)]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that a process stands in")
def test_a_working_folder_that_is_gone_is_told_in_one_line(tmp_path):
    """In a process of its own, which looks for no modules there, as the installed command does."""
    gone = tmp_path / "gone"
    gone.mkdir()
    commands = (
        ("render", PRISM, "-o", "x.png"),
        ("farm", "template", PRISM),
        ("inspect", "tray.mtlx"),
        ("scene", "plan", "props"),
        ("scene", "plan", "props.json"),
        ("bake", PRISM, "--importance", "map.exr"),
        ("render", PRISM, "--mesh", "tray.obj", "-o", Path("/x.png").absolute()),
        ("verify", "tray.vdg"),
    )
    told = "verdigris: the working folder was removed: change to an existing folder\n"
    found = results_of(IN_FOLDER_THAT_IS_GONE, commands, cwd=gone)
    assert dict(zip(commands, found, strict=True)) == dict.fromkeys(commands, (1, "", told))
    assert not gone.exists()


LIMITED = """
import pathlib, resource
import MaterialX, OpenImageIO, numpy
from verdigris.core.cli import main as cli
held = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (16 << 20), -1))
cli.app = lambda: __import__("slangpy")
cli.main()
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="tells no address space")
def test_a_library_that_finds_no_memory_is_told_in_one_line():
    """Slang's compiler is larger than what is left to it."""
    words = [sys.executable, "-P", "-c", LIMITED]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("verdigris: not enough memory: ")


def test_a_library_that_is_broken_otherwise_is_no_lack_of_memory():
    def break_off():
        raise ImportError("libslang.so: undefined symbol: spCreate")

    with pytest.raises(ImportError, match="undefined symbol"):
        run_command([], (cli, "app", break_off))


NARROW = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1_500_000 << 10, -1))
print(json.dumps([run_command(words) for words in json.load(sys.stdin)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="has no such limits")
def test_an_address_space_in_which_a_driver_would_crash_is_told_in_one_line(tmp_path):
    bake = ("bake", PRISM, "-o", tmp_path)
    environment = {**os.environ, "VERDIGRIS_DEVICE": "software"}
    found = results_of(NARROW, [(*bake, "--device", "software"), bake], env=environment)
    told = (
        "verdigris: this process may map only 1.5 GB of memory; a bake on the CPU needs "
        "2.7 GB at least: lift the limit (ulimit -v unlimited, or the limit of the batch "
        "system)\n"
    )
    assert found == [(1, "", told)] * 2


SMALL_FILES = """
import resource
def run(limit, words):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
    return run_command(words)
print(json.dumps([run(*each) for each in json.load(sys.stdin)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="has no such limits")
def test_no_command_crashes_where_files_are_too_small_for_the_memory_of_a_driver(tmp_path):
    commands = (
        (0, ("render", PRISM, "-o", "x.png"), "a software device needs one"),
        (20_000_000, ("compare", PRISM, PRISM, "-o", "x.png"), "a software device needs one"),
        (20_000_000, ("inspect", PRISM), "a software device needs one"),
        (20_000_000, ("bake", PRISM, "-o", "."), "a bake on the CPU needs one"),
    )
    given = [(limit, (*words, "--device", "software")) for limit, words, _ in commands]
    found = results_of(SMALL_FILES, given, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
    for (limit, words, needs), result in zip(commands, found, strict=True):
        told = (
            f"verdigris: this process may write files of only {limit / 1e6:.3g} MB; {needs} "
            "of 134 MB at least: lift the limit (ulimit -f unlimited, or the limit of the batch "
            "system)\n"
        )
        assert result == (1, "", told), words


@pytest.mark.skipif(sys.platform != "linux", reason="has no such limits")
def test_an_output_that_outgrows_what_a_file_may_have_is_an_error_of_one_line(tmp_path):
    import resource

    whole = resource.getrlimit(resource.RLIMIT_FSIZE)
    with (tmp_path / "out.json").open("w") as out:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, whole[1]))
        try:
            result = into(out, "inspect", PRISM, "--no-probe", "--json")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, whole)
    assert result == (
        1,
        "verdigris: cannot write its output: the file is too large for the file system or "
        "ulimit -f\n",
    )


@pytest.mark.skipif(os.name == "nt", reason="rights are other ones there")
@pytest.mark.parametrize("word", ["verify", "inspect"])
def test_what_may_not_be_read_is_a_failure_and_no_wrong_use(word, tmp_path):
    folder = tmp_path / "a.vdg"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    folder.chmod(0)
    try:
        if os.access(folder, os.R_OK):
            pytest.skip("whoever runs this may read everything")
        words = [sys.executable, "-P", "-m", "verdigris.core", word, str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        folder.chmod(0o700)
    assert done.returncode == 1
    assert "cannot be opened (Permission denied)" in done.stderr
