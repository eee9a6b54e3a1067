#!/bin/sh
# Runs every fuzz target for SECONDS each: tools/fuzz.sh [SECONDS [TARGET...]]
# New inputs that reach new code are added to a scratch corpus; the committed one, fuzz/corpus.tar, is only read.
# FUZZ_MINIMISE=1 then merges the scratch corpora into it, smallest inputs first.
set -eu

seconds=${1:-60}
[ $# -gt 0 ] && shift
cd "$(dirname "$0")/.."
scratch=${FUZZ_SCRATCH:-fuzz/artifacts/corpus}
tar -xf fuzz/corpus.tar -C fuzz

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "cargo-fuzz is missing" >&2
    echo "hint: cargo install cargo-fuzz --locked" >&2
    exit 3
fi
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzzing needs a nightly toolchain" >&2
    echo "hint: rustup toolchain install nightly --profile minimal" >&2
    exit 3
fi

# The code has no unsafe: debug assertions find more than an address sanitiser, and at full speed.
flags="--sanitizer none"
# shellcheck disable=SC2086
cargo +nightly fuzz build $flags
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)

failed=
for target in "$@"; do
    mkdir -p "$scratch/$target" "fuzz/corpus/$target"
    echo "== $target, $seconds s" >&2
    dictionary=
    [ -f "fuzz/dictionaries/$target" ] && dictionary="-dict=fuzz/dictionaries/$target"
    # shellcheck disable=SC2086
    cargo +nightly fuzz run $flags "$target" "$scratch/$target" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 $dictionary \
        || failed="$failed $target"
    if [ "${FUZZ_MINIMISE:-0}" = 1 ]; then
        # shellcheck disable=SC2086
        cargo +nightly fuzz run $flags "$target" "fuzz/corpus/$target" "$scratch/$target" -- -merge=1 -max_len=1024
    fi
done
if [ "${FUZZ_MINIMISE:-0}" = 1 ]; then
    # The same inputs make the same archive.
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=ustar -cf fuzz/corpus.tar -C fuzz corpus
fi
if [ -n "$failed" ]; then
    echo "found something in:$failed (inputs in fuzz/artifacts)" >&2
    echo "hint: cargo +nightly fuzz run $flags TARGET INPUT" >&2
    exit 1
fi
