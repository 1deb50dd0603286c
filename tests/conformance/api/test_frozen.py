"""A released version never changes."""

from __future__ import annotations

import dataclasses

import freeze
import pytest

from fileshare.api.fields import Field, View
from fileshare.api.microversions import VERSIONS, span
from fileshare.api.openapi import digest, document
from fileshare.api.resource import Many
from fileshare.api.resources.extensions import extensions
from fileshare.api.shapes import TEXT

FILES = sorted(freeze.FROZEN.glob("*.sha256"))


@pytest.mark.skipif(not FILES, reason="no version has been released yet")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_frozen(path):
    assert freeze.current(path.stem) == path.read_text().strip()


def changed(**changes):
    first, *others = extensions
    return [dataclasses.replace(first, **changes), *others]


def test_a_new_field_changes_its_versions_only():
    table = (*extensions.operations[0].answer.view.fields, Field("x", TEXT, span=span("2.50")))
    operations = changed(answer=Many("extensions", View(table)))
    for version, same in (("2.49", True), ("2.50", False)):
        before = digest(document(extensions, VERSIONS[version]))
        assert (digest(document(operations, VERSIONS[version])) == before) is same


def test_prose_does_not_count():
    def handler(request):
        """Say it in other words."""

    version = VERSIONS["2.0"]
    operations = changed(handler=handler)
    assert document(operations, version) != document(extensions, version)
    assert digest(document(operations, version)) == digest(document(extensions, version))
