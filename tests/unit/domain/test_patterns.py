from __future__ import annotations

import time

import hypothesis
import pytest
from hypothesis import strategies

from fileshare import errors
from fileshare.domain import patterns

NAME = "node-1.example.org@backend1#pool_1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "node",
        "^node-1.example.org@backend1#pool_1$",
        r"node-\d+\.example\.(org|net)@backend[0-9]+#.*",
        "node.*(@backend1|@backend2)",
        "(node|host)?-1",
        "[n(*+]ode",
        r"(node)-1\.(example)\.org",
        "node-1{1,3}.",
        "(?:n)??.*?o.{1,2}?e(?P<rest>.*)",
    ],
)
def test_usable(text):
    assert patterns.compiled(text, "name").match(NAME)


@pytest.mark.parametrize("text", ["ode", "node$", "backend1"])
def test_it_begins_at_the_beginning(text):
    assert not patterns.compiled(text, "name").match(NAME)


@pytest.mark.parametrize(
    "text",
    [
        "(",
        "[",
        "*",
        "a**",
        "(?P<",
        "[[a]",
        "[a--b]",
        "\\",
        "a{99999999999999999999}",
        "n" * 256,
        "(a+)+$",
        "(a|a)*$",
        "((a*)b?)*$",
        "(?:a{1,9}){1,9}",
        "(.*a){20}",
        ".*.*.*.*.*.*.*x",
        ".?" * 60,
        "n(.?){1,60}x",
    ],
)
def test_refused(text):
    with pytest.raises(errors.InvalidInput, match="field name"):
        patterns.compiled(text, "name")


def test_the_slowest_that_is_taken_ends():
    pattern = patterns.compiled("(a)*(a)*a*$", "name")
    begun = time.process_time()
    assert not pattern.match("a" * 255 + "b")
    assert time.process_time() - begun < 5


@hypothesis.given(strategies.text(alphabet="ab.*+?{}()[]|\\^$0,1:<=!-&", max_size=40))
def test_whatever_is_given_is_refused_or_matches(text):
    try:
        pattern = patterns.compiled(text, "name")
    except errors.InvalidInput:
        return
    pattern.match(NAME)
