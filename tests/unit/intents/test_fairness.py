"""Whose work is next."""

from __future__ import annotations

import threading

import pytest

from fileshare.intents.fairness import FairQueue

ENOUGH = 4


@pytest.fixture
def made():
    """A queue of ids such as ``a-17``, whose project is ``a``, and what was looked up for it."""
    looks = []

    def look(ids):
        looks.append(list(ids))
        return {id: id.partition("-")[0] for id in ids}

    return FairQueue(look, ENOUGH), looks


def put(queue, project, *numbers):
    for number in numbers:
        queue.put(f"{project}-{number}")


def take(queue, number):
    return [queue.take() for _ in range(number)]


def test_few_are_taken_as_they_come_and_cost_nothing(made):
    queue, looks = made
    put(queue, "a", 1, 2)
    put(queue, "b", 1)
    assert take(queue, 3) == ["a-1", "a-2", "b-1"]
    assert looks == []


def test_a_thousand_do_not_hold_up_one(made):
    queue, looks = made
    put(queue, "a", *range(1000))
    put(queue, "b", 1)
    first = take(queue, 2)
    assert "b-1" in first
    assert len(looks) == 1
    rest = take(queue, 999)
    assert [id for id in [*first, *rest] if id.startswith("a")] == [f"a-{n}" for n in range(1000)]
    assert len(looks) == 1


def test_one_that_comes_later_waits_for_no_crowd(made):
    queue, looks = made
    put(queue, "a", *range(1000))
    take(queue, 10)
    put(queue, "b", 1)
    assert "b-1" in take(queue, 2)
    assert len(looks) == 1


def test_a_crowd_that_goes_on_coming_is_sorted_again_but_not_each_time(made):
    queue, looks = made
    put(queue, "a", *range(100))
    for number in range(100, 140):
        put(queue, "a", number)
        queue.take()
    put(queue, "b", 1)
    assert "b-1" in take(queue, 2 * ENOUGH + 2)
    assert len(looks) <= 40 / ENOUGH + 1


def test_projects_take_turns(made):
    queue, _ = made
    for project in "abc":
        put(queue, project, 1, 2)
    assert take(queue, 6) == ["a-1", "b-1", "c-1", "a-2", "b-2", "c-2"]


def test_without_a_database_it_is_a_queue_all_the_same():
    def look(_ids):
        raise ConnectionError

    queue = FairQueue(look, ENOUGH)
    put(queue, "a", *range(10))
    assert take(queue, 10) == [f"a-{n}" for n in range(10)]


def test_everything_is_taken_once_by_many_and_all_end(made):
    queue, _ = made
    taken = []

    def work():
        while (id := queue.take()) is not None:
            taken.append(id)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for number in range(500):
        put(queue, "ab"[number % 2], number)
    while len(taken) < 500:
        assert all(worker.is_alive() for worker in workers)
    queue.close()
    for worker in workers:
        worker.join(10)
        assert not worker.is_alive()
    assert len(set(taken)) == 500
