"""The command line of the batch programs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from verdigris.core.baking.bake_request import (
    FLAG,
    NUMBER,
    POSITIVE,
    BakeRequest,
    Option,
    options_of,
)
from verdigris.core.hosts.host import WEIGHT_SET
from verdigris.core.hosts.result_folders import RESULT_FOLDER, result_folder


@dataclass(frozen=True)
class BatchOptions:
    """The options of the command line."""

    materials: tuple[str, ...] = ()
    part: tuple[int, int] = (1, 1)
    """Bake this part of so many parts of the materials, counted from 1."""
    out: Path = Path()
    request: BakeRequest = field(default_factory=BakeRequest)
    """How to bake them."""
    device: str = ""
    force: bool = False
    """Whether to bake materials that are up to date, too."""
    only_list: bool = False
    hand_over: bool = False
    attach: bool = False
    weight_set: str = WEIGHT_SET
    """The name of the painted weights; empty for no weights."""
    quiet: bool = False
    farm: bool = False
    """Whether progress is printed for the session of a farm."""
    options: tuple[str, ...] = ()
    """Further options of `verdigris bake`."""


def read_arguments(
    program: str, arguments: Sequence[str]
) -> tuple[Path, Path | None, BatchOptions]:
    """The scene, the file of the summary, and the options. Wrong usage exits with 2. Paths are
    absolute, as an application can change the working folder."""
    own, passed_on = _split(arguments)
    given = _parser(program).parse_args(own)
    options = BatchOptions(
        materials=tuple(given.material),
        part=given.part,
        out=given.out.absolute() if given.out else result_folder(given.scene.absolute()),
        request=BakeRequest(**{name: getattr(given, name) or None for name in _asked()}),
        device=given.device,
        force=given.force,
        only_list=given.list,
        hand_over=given.hand_over,
        attach=given.attach,
        weight_set=given.weights,
        quiet=given.quiet,
        farm=given.farm,
        options=tuple(passed_on),
    )
    summary = given.summary.absolute() if given.summary else None
    return given.scene.absolute(), summary, options


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Bakes the MaterialX materials of a scene to neural materials. Progress goes "
        "to the standard error, the summary to the standard output or a file.",
        epilog="Options after -- go to `verdigris bake`, for example: -- --resolution 1024. "
        "Ctrl-C ends the running bake, keeps its result, and leaves out the others; a second one "
        "ends at once.",
    )
    parser.add_argument("scene", type=Path, help="the scene to open")
    parser.add_argument(
        *("--material", "-m"),
        action="append",
        default=[],
        metavar="NAME",
        help="bake this material, by name or key; repeatable (default: all)",
    )
    parser.add_argument(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="I/N",
        help="bake part I of N of the materials, for farms",
    )
    parser.add_argument(
        *("--out", "-o"),
        type=Path,
        help=f"folder for the bundles (default: {RESULT_FOLDER} beside the scene)",
    )
    for name, option in _asked().items():
        _add_option(parser, name, option)
    parser.add_argument("--device", default="", help="as in `verdigris bake`")
    parser.add_argument(
        "--force", action="store_true", help="bake materials that are up to date, too"
    )
    parser.add_argument("--list", action="store_true", help="list the materials and bake none")
    parser.add_argument(
        "--hand-over", action="store_true", help="write MaterialX documents and bake none"
    )
    parser.add_argument(
        "--attach",
        action="store_true",
        help="note results in the scene and save it; with --viewport-textures, add a material with "
        "them to the scene",
    )
    parser.add_argument(
        "--weights",
        default=WEIGHT_SET,
        metavar="NAME",
        help="name of the painted weights to use (%(default)s); '' for none",
    )
    parser.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="file for the summary, written after each material (default: standard output)",
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="show no progress")
    parser.add_argument(
        "--farm", action="store_true", help="print progress in the format of Open Job Description"
    )
    return parser


def _asked() -> dict[str, Option]:
    """The options that mean the same as in `verdigris bake`."""
    return {name: option for name, option in options_of().items() if option.in_hosts}


def _add_option(parser: argparse.ArgumentParser, name: str, option: Option) -> None:
    words = (option.word, "-p") if name == "preset" else (option.word,)
    if option.form is FLAG:
        parser.add_argument(*words, dest=name, action="store_true", default=None, help=option.help)
    else:
        kind = float if option.form in (NUMBER, POSITIVE) else str
        parser.add_argument(*words, dest=name, type=kind, help=option.help)


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    number, count = (int(each) for each in found.groups()) if found else (0, 0)
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 2/4")
    return number, count


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before `--`, and those after it."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]
