"""The steps of a self-test, and what became of each."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.probe import Probe

PASSED, REFUSED, LEFT_OUT, FAILED = "passed", "refused", "left out", "failed"
_LONGEST = 2000


class DifferenceError(Exception):
    """A result that differs from the scene."""


@dataclass
class Step:
    """A call and its outcome."""

    name: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0
    expected: str = ""
    """Why the call must be refused; empty if it must succeed."""


@dataclass
class Report:
    """The host, the versions and the steps."""

    host: str = ""
    python: str = sys.version.split()[0]
    system: str = platform.platform()
    probe: Probe | None = None
    """What is here."""
    steps: list[Step] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    """The MaterialX text of each material that was read."""
    baked: dict[str, str] = field(default_factory=dict)
    """What the worker reported of the bake."""

    @property
    def passed(self) -> bool:
        """Whether each step ended as expected."""
        return all(step.outcome != FAILED for step in self.steps)

    def run(self, name: str, call: Callable[[], Any], refused: str = "") -> Any:
        """Runs a step and records it. `refused` is the reason why it must be refused. A step
        without a result returns None."""
        began = time.monotonic()
        step = Step(name, PASSED, expected=refused)
        self.steps.append(step)
        result = None
        try:
            result = call()
            step.detail = _short(result)
            if refused:
                step.outcome = FAILED
                step.detail = f"must be refused, because {refused}, and was not: {step.detail}"
        except VerdigrisError as failure:
            step.outcome = REFUSED if refused else FAILED
            step.detail = str(failure)
        except DifferenceError as difference:
            step.outcome, step.detail = FAILED, str(difference)
        except Exception:  # noqa: BLE001 - the report covers all steps
            step.outcome, step.detail = FAILED, traceback.format_exc()[-_LONGEST:]
        step.seconds = round(time.monotonic() - began, 3)
        return result

    def leave_out(self, name: str, why: str) -> None:
        """Records a step that cannot be tried here."""
        self.steps.append(Step(name, LEFT_OUT, why))


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
