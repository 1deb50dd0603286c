"""Where the local stack keeps what, and the files that it writes there."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import socket
import sys
from pathlib import Path

from devstack.servers import HOST, free_port

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("FILESHARE_CACHE") or Path.home() / ".cache" / "fileshare")

REGION = "RegionOne"
PASSWORD = "secret"

# Sections of the dummy back ends: name, zone, handles share servers.
DUMMIES = (
    ("alpha", "manila-zone-0", False),
    ("beta", "manila-zone-1", False),
    ("gamma", "manila-zone-2", True),
)
SERVERS = ("mariadb", "rabbitmq", "rabbitmq_mapper", "rabbitmq_node", "memcached", "ganesha")


class PortTaken(Exception):
    """A port that the stack needs is somebody else's."""


def listening(port: int) -> bool:
    """Whether something listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def check_port(port: int, option: str) -> None:
    """Raise PortTaken where something listens on a port that we want."""
    if listening(port):
        message = f"something else listens on {HOST}:{port}; choose another port with {option}"
        raise PortTaken(message)


@dataclasses.dataclass(frozen=True)
class Settings:
    """One stack: its directory, its ports, its back ends."""

    directory: Path
    api_port: int = 8786
    keystone_port: int = 5000
    backends: str = "both"

    @property
    def programs(self) -> Path:
        """Where the fileshare-* commands are."""
        return Path(sys.executable).parent

    @property
    def configuration(self) -> Path:
        """The daemons' configuration file."""
        return self.directory / "fileshare.conf"

    @property
    def share_url(self) -> str:
        """The service's endpoint, as the catalogue has it."""
        return f"http://{HOST}:{self.api_port}/v2"

    @property
    def identity_url(self) -> str:
        """Keystone's endpoint."""
        return f"http://{HOST}:{self.keystone_port}/v3"

    @functools.cached_property
    def ports(self) -> dict[str, int]:
        """The servers' ports: chosen once, kept while the data directory lives."""
        record = self.directory / "ports.json"
        if record.exists():
            known: dict[str, int] = json.loads(record.read_text())
            return known
        chosen = {name: free_port() for name in SERVERS}
        self.directory.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(chosen))
        return chosen

    @property
    def enabled(self) -> list[str]:
        """The back ends' sections; the local one mounts and exports, which takes root."""
        dummies = [name for name, _, _ in DUMMIES] if self.backends != "local" else []
        local = self.backends == "local" or (self.backends == "both" and os.geteuid() == 0)
        return dummies + (["local"] if local else [])

    def check_ports(self) -> None:
        """Refuse to start where somebody else serves already."""
        check_port(self.api_port, "--port")
        check_port(self.keystone_port, "--keystone-port")


def write_fileshare(settings: Settings, database: str, messages: str, cache: str) -> None:
    """Write fileshare.conf: quick turns, so that a person or a test need not wait."""
    where = settings.directory
    text = f"""[DEFAULT]
debug = true
host = stack
my_ip = {HOST}
state_path = {where / "state"}
enabled_share_backends = {",".join(settings.enabled)}
enabled_share_protocols = NFS,CIFS
default_share_type = default
storage_availability_zone = manila-zone-0
osapi_share_listen = {HOST}
osapi_share_listen_port = {settings.api_port}
osapi_share_workers = 2
auth_strategy = keystone
transport_url = {messages}
report_interval = 2
service_down_time = 20
periodic_interval = 5

[database]
connection = {database}

[coordination]
backend_url = file://{where / "state" / "coordination"}

[oslo_concurrency]
lock_path = {where / "state" / "locks"}

[intents]
lease = 15
poll_interval = 2

[keystone_authtoken]
auth_type = password
auth_url = {settings.identity_url}
www_authenticate_uri = {settings.identity_url}
username = fileshare
password = {PASSWORD}
project_name = service
user_domain_id = default
project_domain_id = default
region_name = {REGION}
service_token_roles_required = true
memcached_servers = {cache}
"""
    for name, zone, servers in DUMMIES:
        if name in settings.enabled:
            text += dummy_section(where, name, zone, servers=servers)
    if "local" in settings.enabled:
        text += local_section(where / "local", HOST, settings.ports["ganesha"])
    (where / "state" / "locks").mkdir(parents=True, exist_ok=True)
    settings.configuration.write_text(text)


def dummy_section(where: Path, name: str, zone: str, *, servers: bool) -> str:
    """The section of a back end that stores nothing."""
    replication = (
        "" if servers else "replication_domain = DUMMY_DOMAIN\ndummy_replication_type = readable\n"
    )
    return f"""
[{name}]
share_driver = dummy
share_backend_name = {name.upper()}
driver_handles_share_servers = {servers}
backend_availability_zone = {zone}
dummy_state_path = {where / "state" / "dummy" / name}
dummy_driver_delay = 0.05
{replication}"""


def local_section(where: Path, address: str, port: int) -> str:
    """The section of a back end that keeps shares in a file of this machine."""
    return f"""
[local]
share_driver = local
share_backend_name = LOCAL
driver_handles_share_servers = False
backend_availability_zone = manila-zone-0
local_share_size = 4
local_state_path = {where}
local_export_ips = {address}
local_nfs_port = {port}
"""


def write_credentials(settings: Settings) -> None:
    """Write the files that a shell sources to be somebody."""
    people = (("openrc", "admin", "admin"), ("openrc-demo", "demo", "demo"))
    for file, user, project in (*people, ("openrc-reader", "reader", "demo")):
        (settings.directory / file).write_text(
            "unset OS_AUTH_TYPE OS_TOKEN OS_ENDPOINT\n"
            f"export OS_AUTH_URL={settings.identity_url}\n"
            "export OS_IDENTITY_API_VERSION=3\n"
            f"export OS_REGION_NAME={REGION}\n"
            f"export OS_USERNAME={user}\n"
            f"export OS_PASSWORD={PASSWORD}\n"
            f"export OS_PROJECT_NAME={project}\n"
            "export OS_USER_DOMAIN_ID=default\n"
            "export OS_PROJECT_DOMAIN_ID=default\n",
        )


def digest(configuration: Path) -> dict[str, str]:
    """A variable for a program's environment: with its configuration, the program changes."""
    return {"FILESHARE_DIGEST": hashlib.sha256(configuration.read_bytes()).hexdigest()}


def exports(credentials: Path) -> dict[str, str]:
    """What a file of credentials exports."""
    lines = credentials.read_text().splitlines()
    pairs = (line.removeprefix("export ").partition("=") for line in lines if "export " in line)
    return {name: value for name, _, value in pairs}


TEMPEST = """[DEFAULT]
debug = True
use_stderr = False
log_file = {where}/tempest.log

[oslo_concurrency]
lock_path = {where}/lock

[auth]
use_dynamic_credentials = True
admin_username = admin
admin_password = {password}
admin_project_name = admin
admin_domain_name = Default
admin_user_domain_name = Default
admin_project_domain_name = Default
tempest_roles = member
create_isolated_networks = False

[identity]
auth_version = v3
uri_v3 = {identity}
uri = {identity}
v3_endpoint_type = public
region = {region}
default_domain_id = default
admin_role = admin

[identity-feature-enabled]
api_v2 = False
api_v2_admin = False
api_v3 = True

[enforce_scope]
keystone = True
manila = True

[service_available]
manila = True
cinder = False
nova = False
neutron = False
glance = False
swift = False
horizon = False

[validation]
run_validation = False

[share]
min_api_microversion = 2.0
max_api_microversion = 2.99
catalog_type = shared-file-system
backend_names = ALPHA,BETA
backend_replication_type = readable
build_interval = 1
build_timeout = 180
capability_sg_consistent_snapshot_support = pool
create_networks_when_multitenancy_enabled = False
enable_ip_rules_for_protocols = nfs
enable_ro_access_level_for_protocols = nfs,cifs
enable_user_rules_for_protocols = cifs
multi_backend = True
multitenancy_enabled = False
run_driver_assisted_backup_tests = True
run_driver_assisted_migration_tests = True
run_manage_unmanage_snapshot_tests = True
run_manage_unmanage_tests = True
run_migration_with_preserve_snapshots_tests = True
run_mount_snapshot_tests = True
run_replication_tests = True
run_revert_to_snapshot_tests = True
"""


def write_tempest(settings: Settings) -> None:
    """Write tempest.conf for the dummy back ends."""
    where = settings.directory / "tempest"
    (where / "lock").mkdir(parents=True, exist_ok=True)
    text = TEMPEST.format(
        where=where,
        password=PASSWORD,
        identity=settings.identity_url,
        region=REGION,
    )
    (settings.directory / "tempest.conf").write_text(text)
