"""The self-test of the application, as the panel offers and starts it."""

from __future__ import annotations

from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.worker_environment import read_setting, store_setting
from verdigris.core.hosts.guarded_host import GuardedHost
from verdigris.core.hosts.host import log_beside
from verdigris.ui.signals import INFO, WARNING, Notices

# The setting of the machine: names of applications in which the self-test was offered.
_OFFERED_IN = "selftest_offered_in"


class Selftest:
    """Runs in another process of the application."""

    def __init__(self, host: GuardedHost, notices: Notices) -> None:
        self._host, self._notices = host, notices
        self._started: Path | None = None

    def claim_offer(self) -> bool:
        """Whether to offer the self-test: once on a machine, in each version of an application."""
        # for plain files there is no application to test
        if not self._host.can_paint:
            return False
        try:
            offered = read_setting(_OFFERED_IN)
            names = offered if isinstance(offered, list) else []
            if self._host.name in names:
                return False
            store_setting(_OFFERED_IN, [*names, self._host.name])
        except VerdigrisError:
            # an offer that cannot be remembered would come each time
            return False
        return True

    @property
    def default_report(self) -> Path:
        """The file for the report, if none is chosen."""
        application = self._host.name.split()[0].lower()
        return Path.home() / f"verdigris_selftest_{application}.json"

    @property
    def last_report(self) -> Path:
        """The report that was begun last, or else the default one, perhaps of an earlier day."""
        return self._started or self.default_report

    def check_window(self) -> None:
        """Begins the check in the open window, which asks first."""
        report = self.default_report
        report = report.with_name(f"{report.stem}_window.json")
        try:
            self._host.check_window(report)
        except VerdigrisError as failure:
            self._notices.add(WARNING, str(failure))

    def start(self, report: Path) -> None:
        try:
            self._host.start_selftest(report)
        except VerdigrisError as failure:
            self._notices.add(WARNING, str(failure))
        else:
            self._started = report
            log = log_beside(report)
            text = f"The self-test is running. Its output goes to {log}, its report to {report}."
            self._notices.add(INFO, text)
