"""Work that is begun ahead of its need."""

from __future__ import annotations

import threading

import pytest

from verdigris.core.bundle.runtime.slang_compiler import result_ahead, working_ahead


def test_a_result_comes_of_the_thread_that_has_begun_it_and_only_once():
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> bytes:
        begun.set()
        may_end.wait(10)
        return threading.current_thread().name.encode()

    with working_ahead({"slow": slow}):
        assert begun.wait(10)
        threading.Timer(0.05, may_end.set).start()
        assert result_ahead("slow").startswith(b"ahead")
        assert result_ahead("slow") is None


def test_what_has_not_begun_is_left_to_the_caller():
    held, may_end = threading.Event(), threading.Event()

    def hold() -> bytes:
        held.set()
        may_end.wait(10)
        return b"held"

    with working_ahead({"first": hold, "second": lambda: pytest.fail("was begun")}):
        assert held.wait(10)
        assert result_ahead("second") is None
        may_end.set()
        assert result_ahead("first") == b"held"


def test_after_the_context_nothing_is_begun_and_a_failure_is_left_to_the_caller():
    held, may_end, done = threading.Event(), threading.Event(), []

    def hold() -> bytes:
        held.set()
        may_end.wait(10)
        raise ValueError("failed")

    with working_ahead({"first": hold, "second": lambda: done.append(1) or b"second"}):
        assert held.wait(10)
    may_end.set()
    assert result_ahead("first") is None
    with working_ahead({"third": hold}):
        held.wait(10)
        assert result_ahead("third") is None
    assert not done
