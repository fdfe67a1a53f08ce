"""A run that was killed goes on to the bundles of one that nobody killed.

A run of five kills: python killed_runs.py FOLDER --materials 3 --kills 5 --longest-delay 3
"""

from .killed_runs import main


def test_a_killed_run_goes_on_to_the_same_bundles(tmp_path):
    found = main([str(tmp_path), *["--materials", "1", "--kills", "1", "--steps", "300"]])
    # the first began afresh, the second where the first had left its checkpoint
    (first,), (second,) = found["begun_at_steps"]
    ((kept,),) = found["kept_steps"]
    assert first == 0 < second == kept
    assert found["ended"] == {"m0": "baked"}
    assert found["numbers_equal"]
    assert found["manifests_differ"] == []
    assert found["verify"]
    assert found["left_behind"] == []
