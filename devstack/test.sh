#!/usr/bin/env bash
# Run the checks and the tests: all of the default ones, or those that are named.
#
#   devstack/test.sh [NAME…] [-- PYTEST ARGUMENTS]
#
#   lint types                                            (checks)
#   architecture unit property functional conformance integration   (tests, the default)
#   chaos                                                 (longer tests; a quick part of them is
#                                                          among the default ones)
#   benchmarks                                            (figures with many rows, minutes; after
#                                                          all others, in one process)
#   tempest                                               (manila-tempest-plugin against a stack,
#                                                          half an hour; arguments after -- are
#                                                          those of tests.conformance.tempest)
#
# Installs what it needs: Debian packages when root, Python packages into .venv. Tests start the
# servers they need themselves, on ports of their own. The last line is pytest's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

CHECKS="lint types"
TESTS="architecture unit property functional conformance integration"
LONG="chaos"
ALONE="benchmarks"
PLUGIN="tempest"

# Without names: what of the chaos tests needs no servers and no waiting.
QUICK_CHAOS="tests/chaos/test_eventlet.py tests/chaos/test_generated.py tests/chaos/test_generated_time.py \
    tests/chaos/test_machine.py tests/chaos/test_sent_again.py \
    tests/chaos/test_storm_judge.py"

chosen=()
while [ $# -gt 0 ]; do
    case $1 in
        --) shift; break ;;
        -h|--help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *)
            [[ " $CHECKS $TESTS $LONG $ALONE $PLUGIN " == *" $1 "* ]] || fail "There is no $1; see --help."
            chosen+=("$1")
            shift
            ;;
    esac
done
quick_chaos=
# shellcheck disable=SC2206
[ ${#chosen[@]} -gt 0 ] || { chosen=($CHECKS $TESTS); quick_chaos=$QUICK_CHAOS; }

wants() {
    [[ " ${chosen[*]} " == *" $1 "* ]]
}

if wants integration || wants chaos || wants conformance || wants benchmarks || wants tempest; then
    # shellcheck disable=SC2086
    apt_packages $PACKAGES_LOCAL $PACKAGES_SERVERS $PACKAGES_TESTS \
        || say "Tests that need them are skipped."
fi
python_environment "mysql,postgresql,memcache,etcd,redis,test,docs"
eventlet_beside
export PATH=$VENV/bin:$PATH

failed=()
check() {
    say "== $*"
    "$@" </dev/null || failed+=("$*")
}

if wants lint; then
    check ruff check .
    check ruff format --check .
    check codespell
    check lint-imports
    for script in devstack/*.sh .ci/run; do
        check bash -n "$script"
    done
fi
if wants types; then
    check mypy
    check mypy --explicit-package-bases devstack
    check env MYPYPATH=doc/ext mypy -p reference
fi

directories=()
for name in $TESTS $LONG; do
    if wants "$name" && [ -d "tests/$name" ]; then
        directories+=("tests/$name")
    fi
done

# shellcheck disable=SC2206
directories+=($quick_chaos)

status=0
[ ${#failed[@]} -eq 0 ] || status=1
run_pytest() {
    local code=0
    python -m pytest "$@" </dev/null 2>&1 | tee "$VENV/pytest.out" || code=${PIPESTATUS[0]}
    [ "$code" -eq 0 ] || status=$code
}
if [ ${#directories[@]} -gt 0 ]; then
    # Tests of one module stay together, for they share what is dear to start.
    jobs=$(nproc)
    arguments=(--numprocesses "$((jobs < 4 ? jobs : 4))" --dist loadscope --durations 15)
    run_pytest "${arguments[@]}" "${directories[@]}" "$@"
fi
if wants "$ALONE"; then
    # Nothing else runs meanwhile, and the figures are shown.
    run_pytest --capture no --durations 15 "tests/$ALONE" "$@"
fi
if wants tempest; then
    check python -m tests.conformance.tempest "$@"
    [ ${#failed[@]} -eq 0 ] || status=1
fi
if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    [ ! -e "$VENV/pytest.out" ] || tail -n 1 "$VENV/pytest.out"
fi
exit "$status"
