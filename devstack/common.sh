# What quickstart.sh, stack.sh and test.sh share. Sourced, not run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${FILESHARE_VENV:-$ROOT/.venv}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# Programs and the Debian packages that hold them.
PACKAGES_LOCAL="mkfs.btrfs=btrfs-progs ganesha.nfsd=nfs-ganesha dbus-daemon=dbus-daemon ip=iproute2 \
    mount=mount setsid=util-linux"
PACKAGES_SERVERS="mariadbd=mariadb-server-core mariadb-install-db=mariadb-server-core \
    my_print_defaults=mariadb-client-core rabbitmq-server=rabbitmq-server epmd=erlang-base \
    memcached=memcached"
PACKAGES_TESTS="postgres=postgresql systemd-analyze=systemd git=git etcd=etcd-server \
    redis-server=redis-server locale-gen=locales"

say() {
    printf '%s\n' "$*"
}

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

found() {
    case $1 in
        postgres) compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null ;;
        *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
    esac
}

# apt_packages PROGRAM=PACKAGE…: install the packages of missing programs, saying which.
apt_packages() {
    local pair missing=()
    for pair in "$@"; do
        found "${pair%%=*}" || missing+=("${pair#*=}")
    done
    if [[ " $* " == *" ganesha.nfsd="* ]]; then
        compgen -G '/usr/lib/*/ganesha/libfsalvfs.so' >/dev/null || missing+=(nfs-ganesha-vfs)
        compgen -G '/usr/lib/*/libnfs.so.13' >/dev/null || missing+=(libnfs13)
    fi
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    # NFS-Ganesha looks for mounts there; every running Debian has it, a bare root does not.
    if [ ! -e /etc/mtab ] && [ "$(id -u)" = 0 ]; then
        say "Making /etc/mtab, a link to /proc/self/mounts"
        ln -sf ../proc/self/mounts /etc/mtab
    fi
    [ ${#missing[@]} -gt 0 ] || return 0
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    if [ "$(id -u)" != 0 ]; then
        say "Not installed, and only root may install them: ${missing[*]}"
        return 1
    fi
    say "Installing Debian packages: ${missing[*]}"
    install_packages "${missing[@]}"
}

# Packages are installed without their services being started: everything here runs its own.
install_packages() {
    local policy=/usr/sbin/policy-rc.d log made=no status=0
    log=$(mktemp)
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        made=yes
    fi
    {
        apt-get -qq update \
            && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y "$@"
    } >"$log" 2>&1 </dev/null || status=$?
    [ $made = no ] || rm -f $policy
    [ $status = 0 ] || tail -n 30 "$log" >&2
    rm -f "$log"
    return $status
}

# python_environment EXTRAS: the virtual environment with this tree and its dependencies.
python_environment() {
    local extras=$1 mark wanted
    mark=$VENV/fileshare-installed
    wanted=$(printf '%s %s ' "$ROOT" "$extras"; sha256sum <"$ROOT/pyproject.toml")
    if [ -x "$VENV/bin/python" ] && [ "$(cat "$mark" 2>/dev/null)" = "$wanted" ]; then
        return 0
    fi
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
        || fail "Python 3.11 or newer is needed; python3 is $(python3 --version)."
    say "Installing Python packages into $VENV (fileshare[$extras])"
    [ -x "$VENV/bin/pip" ] || python3 -m venv "$VENV"
    "$VENV/bin/python" -m pip install -qq --upgrade pip setuptools wheel </dev/null
    "$VENV/bin/python" -m pip install -qq --editable "$ROOT[$extras]" </dev/null
    printf '%s' "$wanted" >"$mark"
}

# eventlet_beside: eventlet in a directory of its own, $VENV/eventlet. oslo.service brings it along,
# but this program and its tests have to do without it.
eventlet_beside() {
    local wanted
    if "$VENV/bin/python" -c 'import eventlet' 2>/dev/null; then
        "$VENV/bin/python" -m pip uninstall -qq -y eventlet </dev/null
    fi
    [ ! -d "$VENV/eventlet/eventlet" ] || return 0
    wanted=$("$VENV/bin/python" -c 'import tomllib
extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print(*extras["eventlet"])')
    say "Installing $wanted into $VENV/eventlet"
    "$VENV/bin/python" -m pip install -qq --target "$VENV/eventlet" "$wanted" </dev/null
}

# quick_database_driver: mysqlclient where it can be built; PyMySQL does the same more slowly.
quick_database_driver() {
    "$VENV/bin/python" -c 'import MySQLdb' 2>/dev/null && return 0
    if [ "$(id -u)" = 0 ]; then
        apt_packages gcc=gcc pkg-config=pkg-config mariadb_config=libmariadb-dev || true
        "$VENV/bin/python" -c 'import os, sysconfig
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null \
            || install_packages python3-dev || true
    fi
    "$VENV/bin/python" -m pip install -qq mysqlclient </dev/null 2>/dev/null \
        || say "mysqlclient could not be built; the database is reached by PyMySQL."
}
