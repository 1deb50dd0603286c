"""Microversions: the one list of them, and spans between two of them.

Every operation and every field names the versions it belongs to by a span.  A version that
stands in no declaration, or a declaration with a version that stands not here, fails a test.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from fileshare import errors

HISTORY = {
    "2.0": "The first version; a request without a version header is served as this one.",
    "2.1": "The availability zone asked for when a share is created is honoured.",
    "2.2": "A share type says whether its shares can have snapshots, and so does each share.",
    "2.3": "Administrators see share instances, and can reset or delete them by force.",
    "2.4": "Consistency groups, an experiment that ended with 2.31; no part of it is served.",
    "2.5": "Shares tell how far a migration has come, as task_state.",
    "2.6": "The share_type of a share is an id; its name is told as share_type_name.",
    "2.7": "Paths and actions lose their os- prefix.",
    "2.8": "A share can be made public when it is taken under management.",
    "2.9": "Export locations have paths of their own, no longer fields of share and instance.",
    "2.10": "Shares and instances sum up the state of their access rules.",
    "2.11": "Replicas of shares, as an experiment.",
    "2.12": "Snapshots can be taken under management and released from it.",
    "2.13": "Access can be given to cephx identities.",
    "2.14": "An export location says whether it is preferred.",
    "2.15": "The first form of the migration actions; it is no longer served.",
    "2.16": "A share names the user who made it.",
    "2.17": "A snapshot names the user and the project that made it.",
    "2.18": "A share network shows its gateway.",
    "2.19": "Administrators see snapshot instances.",
    "2.20": "A share network shows its MTU.",
    "2.21": "An access rule shows the key that the back end made for it.",
    "2.22": "Migration in two phases; instances show their share type.",
    "2.23": "Pools can be filtered by share type.",
    "2.24": "To make a share of a snapshot is a capability of its own.",
    "2.25": "Quotas can be listed with what is in use.",
    "2.26": "Share networks no longer speak of Nova networks.",
    "2.27": "A share can be reverted to its newest snapshot.",
    "2.28": "Access rules tell each step of their way; an error does not block other rules.",
    "2.29": "Migration asks for all of its choices.",
    "2.30": "Instances say whether their rules are held read-only.",
    "2.31": "Share groups, their types and their snapshots, as an experiment.",
    "2.32": "Snapshots can be mounted: they have access rules and export locations.",
    "2.33": "Access rules tell when they were made and changed.",
    "2.34": "Share groups have a zone and tell how consistent their snapshots are.",
    "2.35": "Shares and instances can be found by export location.",
    "2.36": "Lists can be searched by a part of the name or description.",
    "2.37": "User messages tell why an operation failed.",
    "2.38": "Access can be given to IPv6 addresses.",
    "2.39": "Quotas for each share type.",
    "2.40": "Quotas for share groups and their snapshots.",
    "2.41": "Share types have a description.",
    "2.42": "Lists of shares can count what they would hold without paging.",
    "2.43": "Share types can be filtered by extra specs.",
    "2.44": "Security services name an organisational unit.",
    "2.45": "Access rules are a resource, with metadata.",
    "2.46": "Share types and group types say which of them is the default.",
    "2.47": "Replicas have export locations of their own; a share shows its active ones only.",
    "2.48": "A share type can be bound to availability zones.",
    "2.49": "Share servers, and what lives on them, can be taken under management.",
    "2.50": "Share types can be changed.",
    "2.51": "A share network is made of subnets, one for each zone.",
    "2.52": "Messages can be filtered by time.",
    "2.53": "Quotas for replicas and their gigabytes.",
    "2.54": "Creation of a share from a snapshot tells its progress.",
    "2.55": "Share groups are no experiment any more.",
    "2.56": "Replicas are no experiment any more.",
    "2.57": "Share servers can be migrated, as an experiment.",
    "2.58": "Limits count share groups and their snapshots.",
    "2.59": "The progress of a migration holds details of the back end.",
    "2.60": "The project id may be left out of paths.",
    "2.61": "A share type can bound the size of its shares.",
    "2.62": "A quota for the size of a single share.",
    "2.63": "Security services of a network in use can be added and replaced.",
    "2.64": "A share can be made larger past the scheduler's view, by force.",
    "2.65": "A new share can ask for the host of other shares, or for another.",
    "2.66": "Group types can be filtered by group specs.",
    "2.67": "A new share or replica can ask for one host.",
    "2.68": "Some metadata keys of shares are the administrator's only.",
    "2.69": "Shares can be put into a recycle bin, and taken out of it.",
    "2.70": "A zone of a share network can have several subnets.",
    "2.71": "Instances tell when they were changed.",
    "2.72": "A new replica can ask for a share network.",
    "2.73": "Snapshots have metadata.",
    "2.74": "Access rules can be changed while a replica is in error.",
    "2.75": "Promotion of a replica can wait for the clients to come to rest.",
    "2.76": "Security services name a default Active Directory site.",
    "2.77": "Shares can be handed over to another project.",
    "2.78": "Subnets have metadata.",
    "2.79": "Lists of snapshots can count what they would hold without paging.",
    "2.80": "Backups of shares, as an experiment.",
    "2.81": "Resource locks protect a share from deletion.",
    "2.82": "Resource locks protect access rules, and can hide what they hold.",
    "2.83": "A disabled service says why.",
    "2.84": "A new share can ask for the name of its mount point.",
    "2.85": "A backup tells its type.",
    "2.86": "A back end can be told to check all of its shares.",
    "2.87": "Export locations have metadata.",
    "2.88": "The level of an access rule can be changed.",
    "2.89": "Changed metadata of a subnet reaches the driver.",
    "2.90": "A new share can be encrypted with a key of its owner.",
    "2.91": "A backup can be restored to another share.",
    "2.92": "A share taken under management can be given the name of its mount point.",
    "2.93": "Services can be filtered by whether they check their shares.",
    "2.94": "QoS types and their specs.",
    "2.95": "Replicas have metadata.",
    "2.96": "Migration of shares is no experiment any more.",
    "2.97": "Shares can be filtered by availability zone.",
    "2.98": "The progress of a migration has a path of its own instead of an action.",
    "2.99": "A share type can pass the access rules of a share on to its snapshots.",
}

# What was served once and is not any more, and what the code serves at every version.
WITHOUT_TRACE = frozenset({"2.4", "2.15", "2.60"})

_FORM = re.compile(r"([1-9]\d*)\.([1-9]\d*|0)", re.ASCII)


class Version(NamedTuple):
    """One microversion; versions compare as numbers do."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version that a text names; raises InvalidVersion when it is no version at all."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise errors.InvalidVersion(version=text)
        return cls(int(match[1]), int(match[2]))


VERSIONS: dict[str, Version] = {text: Version.parse(text) for text in HISTORY}
MIN = min(VERSIONS.values())
MAX = max(VERSIONS.values())


class Span(NamedTuple):
    """From a first version to a last one, both within; no last one means «to this day»."""

    since: Version = MIN
    until: Version | None = None

    def __contains__(self, version: object) -> bool:
        since, until = self
        return since <= version and (until is None or version <= until)  # type: ignore[operator]

    def meets(self, other: Span) -> bool:
        """Whether there is a version in both."""
        return self.since <= other.last and other.since <= self.last

    @property
    def last(self) -> Version:
        return self.until or MAX

    def __str__(self) -> str:
        return f"{self.since}-{self.until or ''}"


ALWAYS = Span()


@functools.cache
def span(since: str | None = None, until: str | None = None) -> Span:
    """A span by the names of its ends; a name that is not in the list is a KeyError."""
    return Span(VERSIONS[since] if since else MIN, VERSIONS[until] if until else None)


def before(version: str) -> str:
    """The name of the version just before."""
    names = list(HISTORY)
    return names[names.index(version) - 1]


def negotiate(text: str | None) -> Version:
    """The version that a request asks for; none asks for the first.

    Raises InvalidVersion for a text that is no version, UnsupportedVersion for one not served.
    """
    if text is None:
        return MIN
    known = VERSIONS.get(text)
    if known is not None:
        return known
    raise errors.UnsupportedVersion(version=Version.parse(text), least=MIN, most=MAX)
