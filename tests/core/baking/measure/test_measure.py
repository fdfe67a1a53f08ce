"""What is computed once for a teacher, in whichever thread."""

import gc
import threading
import weakref

from verdigris.core.baking.measure.measure import once


class Anything:
    """Stands for a teacher: any object that can be told from others."""


def test_a_second_thread_waits_for_what_the_first_computes():
    teacher, is_computing, may_end, found = Anything(), threading.Event(), threading.Event(), []

    def slow():
        is_computing.set()
        may_end.wait(5)
        return "found"

    first = threading.Thread(target=lambda: found.append(once(teacher, "key", slow)))
    second = threading.Thread(target=lambda: found.append(once(teacher, "key", lambda: "again")))
    first.start()
    is_computing.wait(5)
    second.start()
    second.join(0.05)
    assert second.is_alive()
    may_end.set()
    first.join()
    second.join()
    assert found == ["found", "found"]


def test_teachers_and_keys_are_apart_and_a_failure_is_not_kept():
    one, other = Anything(), Anything()
    results = iter(range(9))
    assert [once(each, key, lambda: next(results)) for each in (one, other) for key in "aab"] == [
        *(0, 0, 1),
        *(2, 2, 3),
    ]

    def fail():
        raise ValueError

    for _ in range(2):
        try:
            once(one, "fails", fail)
        except ValueError:
            continue
        raise AssertionError
    assert once(one, "fails", lambda: 5) == 5


def test_what_was_computed_goes_with_the_teacher():
    class Result:
        pass

    teacher, kept = Anything(), Result()
    seen = weakref.ref(kept)
    once(teacher, "key", lambda result=kept: result)
    del kept
    gc.collect()
    assert seen() is not None
    del teacher
    gc.collect()
    assert seen() is None
