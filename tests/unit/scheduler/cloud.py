"""A small cloud in a database of its own, for the tests that place shares."""

from __future__ import annotations

import contextlib
import uuid

import sqlalchemy as sa

from fileshare import conf as options
from fileshare.db import clock, intents, models, services, session
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import ServiceState, ServiceStatus
from fileshare.intents import destinations
from fileshare.intents.consumer import Consumer
from fileshare.intents.runtime import Runtime
from fileshare.scheduler import handlers


class Silence:
    """A doorbell that remembers, and locks that are always free."""

    def __init__(self):
        self.rung = []

    def ring(self, destination, intent_id):
        self.rung.append((destination, intent_id))

    def stop(self):
        pass

    @contextlib.contextmanager
    def lock(self, name):
        yield


def load_options(**values):
    conf = options.load([], files=[])
    for name, value in values.items():
        conf.set_override(name, value)
    return conf


class Cloud:
    def __init__(self, url, **values):
        self.sessions = session.Sessions(session.create_engine(url))
        self.conf = load_options(**values)
        self.runtime = Runtime(self.conf, self.sessions, Silence(), Silence())
        self.statements = []
        models.Base.metadata.create_all(self.sessions.engine)
        sa.event.listen(
            self.sessions.engine,
            "before_cursor_execute",
            lambda _c, _cursor, statement, *_rest: self.statements.append(statement),
        )

    def scheduler(self):
        return Consumer(
            self.runtime, handlers.handlers(self.conf), [destinations.SCHEDULER], str(uuid.uuid4())
        )

    def do(self, work, *args, **kwargs):
        return self.sessions.run(lambda each: work(each, *args, **kwargs))

    def execute(self, statement):
        return self.do(lambda each: session.count(each, statement))

    def backend(self, host, zone="nova", *, state=ServiceState.UP, status=ServiceStatus.ENABLED):
        identity = services.Identity("fileshare-share", host, "share", zone, "node", "1")
        self.do(services.join, identity, 60)
        self.execute(
            sa.update(models.Service)
            .where(models.Service.host == host)
            .values(state=state, status=status)
        )

    def report(self, host, zone="nova", asked_at=None, pools=("gold",), **values):
        capabilities = values.pop(
            "capabilities", {"storage_protocol": "NFS", "snapshot_support": False}
        )
        numbers = {"total_gb": 100.0, "free_gb": 50.0, "capabilities": capabilities, **values}
        reports = [{"pool": pool, **numbers} for pool in pools]
        asked_at = asked_at or self.do(clock.moment)
        self.do(services.report_pools, host, zone, reports, asked_at)

    def add(self, *rows):
        def write(each):
            for row in rows:
                each.add(row)
                each.flush()

        self.do(write)

    def type(self, **specs):
        type_id = str(uuid.uuid4())
        rows = [
            models.ShareTypeExtraSpec(share_type_id=type_id, key=key, value=value)
            for key, value in specs.items()
        ]
        self.add(models.ShareType(id=type_id, name=type_id), *rows)
        return type_id

    def share(self, work, *, verb="create", size=10, host=None, metadata=None, **columns):
        """A share that is held by an intent for the scheduler."""
        share_id, intent_id = str(uuid.uuid4()), str(uuid.uuid4())
        columns = {"share_proto": "NFS", "project_id": "p", "size": size, **columns}
        held = {"status": SHARE[verb].during, "host": host}
        self.add(
            models.Share(id=share_id, intent_id=intent_id, **columns, **held),
            models.ShareInstance(id=share_id, share_id=share_id, **held),
            *(
                models.ShareMetadata(share_id=share_id, key=key, value=value)
                for key, value in (metadata or {}).items()
            ),
        )
        self.do(
            intents.write,
            id=intent_id,
            kind=work.kind,
            event=work.event,
            resource_type="share",
            resource_id=share_id,
            share_id=share_id,
            project_id="p",
            destination=destinations.SCHEDULER,
            payload=work.dump(),
        )
        return intent_id

    def intent(self, intent_id):
        return self.do(intents.get, intent_id)

    def instance(self, intent_id):
        share_id = self.intent(intent_id).share_id
        return self.do(lambda each: each.get(models.ShareInstance, share_id))

    def share_of(self, intent_id):
        share_id = self.intent(intent_id).share_id
        return self.do(lambda each: each.get(models.Share, share_id))

    def messages(self):
        rows = self.do(lambda each: each.scalars(sa.select(models.Message)).all())
        return [(row.action_id, row.detail_id) for row in rows]

    def pool(self, host):
        return self.do(
            lambda each: each.scalars(
                sa.select(models.PoolReport).where(models.PoolReport.host == host)
            ).one()
        )

    def age_heartbeats(self, seconds):
        self.execute(sa.update(models.Service).values(heartbeat_at=clock.after(-seconds)))
