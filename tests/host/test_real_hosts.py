"""The self-test, in a real mayapy or hython where there is one."""

import subprocess
import sys

import pytest

from verdigris.core.cli.commands.selftest import HostName, find_program

pytestmark = pytest.mark.host


@pytest.mark.parametrize("host", list(HostName))
@pytest.mark.timeout(600)
def test_the_selftest_passes_in_the_real_application(host, tmp_path):
    if find_program(host) is None:
        pytest.skip(f"no interpreter of {host.value} on this machine")
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "verdigris.core", "selftest", "--host", host.value]
    done = subprocess.run(
        [*command, "-o", str(report)], capture_output=True, text=True, check=False
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0
