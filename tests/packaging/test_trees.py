"""Trees with their wheels in a bare Python of each application's version. They are downloaded.

VERDIGRIS_TREES=FOLDER pytest tests/packaging/test_trees.py
"""

import os
from pathlib import Path

import pytest
from check_trees import check
from hosts import HOSTS

FOLDER = os.environ.get("VERDIGRIS_TREES", "")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="set VERDIGRIS_TREES to a folder for 300 MB of packages"),
    pytest.mark.timeout(600),
]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_tree_imports_and_its_panel_opens_in_a_bare_python(host):
    found = check(host, Path(FOLDER).resolve(), None)
    if isinstance(found, str):
        pytest.skip(found)
    assert found["python"].startswith(host.python) and found["modules"] > 10
    offered = dict(line.split("==") for line in host.offers)
    assert found["PySide6"] == offered["PySide6-Essentials"]
    if host.python == "3.11":
        assert found["numpy"] == "1.26.4"
