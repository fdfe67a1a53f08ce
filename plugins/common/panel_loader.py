"""The panel's session in an application, and its views. Only this module imports Qt, because batch
bakes run without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import HostError

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host

_QT = "PySide6"
_session: dict[str, Any] = {}


def make_panel(host: Host, parent: Any = None) -> Any:
    """A view of the application's session, as a child of another widget. The first one begins the
    session, which goes on when a view is destroyed."""
    try:
        from verdigris.ui.model.panel_model import PanelModel
        from verdigris.ui.panel import Panel
        from verdigris.ui.session import Session
    except ImportError as failure:
        raise HostError(f"the panel cannot be loaded ({failure}): {_remedy(failure)}") from None
    session = find_session()
    if session is None:
        session = _session["session"] = Session(PanelModel(host))
    return Panel(session.model, parent, session=session)


def _remedy(failure: ImportError) -> str:
    if (failure.name or "").startswith(_QT):
        return (
            "it needs Qt 6, and this build of the application has another Qt. Use the build with "
            "Qt 6; menus, nodes and batches work in this one, too"
        )
    return "stage the plug-in again with packaging/stage.py, which adds the packages of the panel"


def find_session() -> Any:
    """The session of this application; None if no panel was opened."""
    found = _session.get("session")
    return found if found is not None and found.is_open else None


def end_session() -> None:
    """Ends the session with its worker, which leaves a checkpoint: the application exits, or
    unloads the plug-in."""
    session = _session.pop("session", None)
    if session is not None:
        session.close()
