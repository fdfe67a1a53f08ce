"""A process beside this one computes the same, is used again, and may be lost."""

import operator
import os

import numpy as np
import pytest

from verdigris.core.base.process.beside import Beside


@pytest.fixture
def beside():
    found = Beside("json")
    yield found
    found.end()


def test_it_computes_in_one_process_that_stays(beside):
    processes = {beside.call(os.getpid) for _ in range(3)}
    assert len(processes) == 1 and os.getpid() not in processes
    values = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(beside.call(np.linalg.svd, values)[1], np.linalg.svd(values)[1])


def test_a_process_that_is_killed_or_prints_is_no_loss(beside):
    first = beside.call(os.getpid)
    assert beside.call(print, "not an answer") is None
    beside._process.kill()
    beside._process.wait()
    assert beside.call(os.getpid) not in (first, os.getpid())


def test_what_cannot_be_sent_or_fails_is_computed_here(beside):
    assert beside.call(lambda: os.getpid()) == os.getpid()
    with pytest.raises(ZeroDivisionError):
        beside.call(operator.truediv, 1, 0)
    assert beside.call(operator.add, 1, 2) == 3


def test_without_a_process_the_caller_computes(beside, monkeypatch):
    monkeypatch.setattr("verdigris.core.base.process.beside._MODULE", "verdigris.none")
    assert beside.call(os.getpid) == os.getpid()
