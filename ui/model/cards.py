"""The cards in front of the viewport: what is wrong with a material, and which bakes it has. A card
is shown where the artist looks: a page that is not in front would hide it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.text import format_share
from verdigris.core.bundle.history import Version
from verdigris.core.hosts.troubles import find_trouble
from verdigris.core.worker.protocol.worker_events import IDLE
from verdigris.ui.signals import ERROR, INFO, WARNING, capitalise, short_paths

if TYPE_CHECKING:
    from verdigris.ui.model.panel_model import PanelModel

# Requests that need a dialog, which the widget shows.
LOCATE_FOLDER, COPY_REPORT, OPEN_FILE = "locate folder", "copy report", "open file"
_MOST_NAMED = 3
_UNLISTED = "The scene cannot be read."


@dataclass(frozen=True)
class Action:
    """A button of a card."""

    text: str
    do: Callable[[], None] | str
    """What it does, or the name of a request to the widget."""
    tip: str = ""
    is_next: bool = False
    """Whether it is what the artist needs before anything else: its button is filled."""


@dataclass(frozen=True)
class Card:
    """A message with its remedies."""

    key: str
    """The kind of message. A message that was hidden stays hidden for this material."""
    severity: str
    text: str
    detail: str = ""
    actions: tuple[Action, ...] = ()
    whole: str = ""
    """The detail with whole paths, if it differs."""
    steps: tuple[str, ...] = ()
    """What the artist can do in the application, shown on request."""


def cards_of(model: PanelModel) -> list[Card]:
    """The cards for the state of the panel, the most important first."""
    found = _failed(model)
    if model.state.report is not None:
        found += _problem(model) if model.state.is_refused else _left_out(model.state.report)
        found += _own_file(model) + _for_textures(model)
    if model.link.state == IDLE and not model.state.is_refused and not model.state.has_trained:
        found += _earlier(model)
    return [_with_why(model, card) for card in found]


def _with_why(model: PanelModel, card: Card) -> Card:
    """The card with a button that explains its message, if the page of troubleshooting does."""
    message = card.whole or card.detail
    if card.severity == INFO or not (title := find_trouble(message)):
        return card
    tip = f"Shows the entry of the page Troubleshooting: {title}"
    why = Action("Why?", lambda: model.trouble.show(message), tip)
    return replace(card, actions=(*card.actions, why))


_COPY = Action("Copy report", COPY_REPORT, "Copies what failed, with versions and traceback")


_OPEN = Action("Open a file…", OPEN_FILE, "Reads this material from a .mtlx or USD file")


def _own_file(model: PanelModel) -> list[Card]:
    """The chosen material is read from a file, which a bake would otherwise hide."""
    own = model.scene.find_own_file(model.state.current)
    if own is None or model.link.is_busy:
        return []
    tip = "Reads this material from the scene again"
    actions = (Action("Read the scene", model.documents.leave_file, tip), _OPEN)
    text = f"Read from {own.path.name}, not from the scene."
    return [Card(f"own file {own.path}", INFO, text, "", actions)]


def _for_textures(model: PanelModel) -> list[Card]:
    """Nodes without an equal in MaterialX, which the application can bake to images."""
    names = model.state.for_textures
    if not names or model.link.is_busy:
        return []
    text = "1 node is left out" if len(names) == 1 else f"{len(names)} nodes are left out"
    tip = "Bakes these nodes to images in the application, and connects them. You can undo it."
    action = Action("Make textures", model.documents.make_textures, tip)
    return [Card(f"textures {names}", WARNING, f"{text}.", _listed([*names]), (action,))]


def _failed(model: PanelModel) -> list[Card]:
    """A call that the application failed at, unless it is why the material cannot be baked."""
    failure, report = model.state.failure, model.state.report or {}
    if failure is None or str(failure) == report.get("problem"):
        return []
    text, why = "The application reports an error.", str(failure)
    is_alone = model.state.current is None and model.host.has_scene
    actions, steps = ((_OPEN, _COPY), model.host.export_steps) if is_alone else ((_COPY,), ())
    return [Card(f"failed {why}", ERROR, text, short_paths(why), actions, why, steps)]


def _problem(model: PanelModel) -> list[Card]:
    report = model.state.report or {}
    problem = str(report.get("problem", ""))
    missing = [each for each in report.get("textures", ()) if each.get("is_missing")]
    if not missing:
        why, failure = capitalise(problem), model.state.failure
        what = "This material cannot be baked." if model.state.materials else _UNLISTED
        steps = model.host.export_steps
        around = [_OPEN] if steps else []
        if failure is not None and str(failure) == problem:
            around.append(_COPY)
        return [Card("problem", ERROR, what, short_paths(why), tuple(around), why, steps)]
    names = list(dict.fromkeys(_file_name(str(each.get("file", ""))) for each in missing))
    folders = model.state.missing_folders
    locate: list[Action] = []
    if folders:
        more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
        where = Path(folders[0]).name or folders[0]
        tip = "Also looks for images in: " + ", ".join(folders)
        do = model.search_missing_folders
        locate.append(Action(f"Search in {where}{more}", do, tip, is_next=True))
    tip = "Chooses a folder to look for the images in, and opens the material again"
    locate.append(Action("Locate folder…", LOCATE_FOLDER, tip))
    count = len(names)
    text = f"{count} texture{'s' * (count != 1)} missing"
    return [Card("missing", ERROR, text, _listed(names), tuple(locate), problem)]


def _left_out(report: Mapping[str, Any]) -> list[Card]:
    """Parts that a bake drops: an artist would take their absence for an error."""
    names = [str(part["name"]) for part in report.get("parts", ()) if part["fate"] == "dropped"]
    return [Card("left out", WARNING, f"Not baked: {_listed(names)}")] if names else []


def _earlier(model: PanelModel) -> list[Card]:
    """Earlier bakes, interrupted or complete."""
    found, history = [], model.state.history
    interrupted, present = history.interrupted, history.present
    if interrupted is not None:
        verb = "Stopped" if interrupted.is_kept else "Interrupted"
        word = "Continue" if interrupted.is_kept else "Resume"
        by = f" ({interrupted.preset})" if interrupted.preset else ""
        actions = (
            Action(word, model.continue_interrupted, "Goes on with the settings of that bake"),
            Action("Discard", history.discard_checkpoint, "Removes the checkpoint"),
        )
        share = format_share(interrupted.share) if interrupted.share >= 0.01 else "less than 1%"
        text = f"{verb} at {share}{by}. {word}?"
        found.append(Card("interrupted", INFO, text, "", actions))
    reasons = model.state.changes.of(model.state.current)
    if present is not None and reasons:
        actions = (
            Action("Bake again", model.bake_again, "Bakes the material as it is now"),
            Action("Show", lambda: model.show_version(present), "Shows the result of that bake"),
        )
        text, why = f"Changed since the bake {when(present)}.", capitalise(_listed([*reasons]))
        found.append(Card("changed", WARNING, text, why, actions))
    elif present is not None and not history.shown[0]:
        by = f" by {present.preset}" if present.preset else ""
        tip = "Shows the result of that bake beside the material"
        actions: tuple[Action, ...] = (Action("Show", lambda: model.show_version(present), tip),)
        if model.host.has_scene and not _is_same(model.state.noted, present.folder):
            tip = "Notes this result at the material in the scene. You can undo it."
            do = partial(model.scene.note_version, present.folder)
            actions = (*actions, Action("Note in the scene", do, tip))
        found.append(Card("baked", INFO, f"Baked {when(present)}{by}. Show?", "", actions))
    return found


def when(version: Version, now: datetime | None = None) -> str:
    """`today at 14:05`, `yesterday` or `on 3 May 2026`."""
    at = version.baked.astimezone()
    days = ((now or datetime.now()).astimezone().date() - at.date()).days
    if days <= 0:
        return f"today at {at:%H:%M}"
    return "yesterday" if days == 1 else f"on {at.day} {at:%B %Y}"


def _is_same(noted: Path | None, bundle: Path) -> bool:
    """Whether the scene notes a bundle; it may name it otherwise."""
    try:
        return noted is not None and (noted == bundle or noted.samefile(bundle))
    except OSError:
        return False


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
