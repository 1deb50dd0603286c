#!/usr/bin/env bash
# A whole cloud on this machine: MariaDB, RabbitMQ, memcached, Keystone and the four daemons.
#   devstack/stack.sh up|down|status|logs|restart|kill|stop …     (--help says more)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

if [ "${1:-}" = up ]; then
    # shellcheck disable=SC2086
    apt_packages $PACKAGES_SERVERS || fail "Install them and try again."
    if [ "$(id -u)" = 0 ] && [[ "$*" != *"dummy"* ]]; then
        # shellcheck disable=SC2086
        apt_packages $PACKAGES_LOCAL
    fi
    python_environment "mysql,memcache,test"
    quick_database_driver
fi
[ -x "$VENV/bin/python" ] || fail "Nothing is installed: devstack/stack.sh up does it."
exec "$VENV/bin/python" -m devstack.stack "$@"
