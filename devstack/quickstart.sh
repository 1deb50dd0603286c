#!/usr/bin/env bash
# From a clean tree to a file in a share, in a few minutes; leaves the service running.
#
#   sudo bash devstack/quickstart.sh [--once | --stop | --purge] [--port N]
#
#   --once    stop the service again when all steps have passed
#   --stop    stop it now          --purge   and remove its data
#
# Installs Debian packages (it says which), and Python packages into .venv; starts one process,
# fileshare-standalone, with a file system in a file that NFS-Ganesha exports to this machine.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

case " $* " in
    *" -h "*|*" --help "*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
[ "$(id -u)" = 0 ] || fail "This mounts a file system and starts an NFS server, so it needs root:
  sudo bash devstack/quickstart.sh
Without root, devstack/stack.sh up --backends dummy runs all but the storage."
# shellcheck disable=SC2086
apt_packages $PACKAGES_LOCAL
python_environment "client"
exec "$VENV/bin/python" -m devstack.quickstart "$@"
