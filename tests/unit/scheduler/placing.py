"""Pools and requests for the tests of the scheduler."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import random
import zlib

from fileshare.scheduler import model, pipeline

ALL_FILTERS = tuple(
    sorted(point.name for point in importlib.metadata.entry_points(group=pipeline.FILTERS))
)
assert len(ALL_FILTERS) == 13


def pool(host="node1@alpha#gold", **values):
    backend, _hash, name = host.partition("#")
    state = model.PoolState(id=zlib.crc32(host.encode()), host=host, backend=backend, pool=name)
    return dataclasses.replace(state, **{"total": 100.0, "free": 50.0, **values})


def request(specs=None, protocol=None, **values):
    demand = model.demand(specs or {}, protocol)
    return model.PlacementRequest(**{"size": 1, "demand": demand, **values})


def pipe(*filters, weighers=(), seed=0):
    return pipeline.Pipeline(
        filters=pipeline.load(pipeline.FILTERS, filters, pipeline.Filter),
        weighers=tuple(weighers),
        random=random.Random(seed),
    )
