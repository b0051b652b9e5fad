# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Digests of what results rest on: while that is the same, the results are kept, and the tests are
# not run again.  Sourced by check and check-full, after common.sh.
# shellcheck disable=SC2034 # for those who source it
# shellcheck disable=SC2154 # of common.sh

readonly status_file=Documentation/status.rst

# What every test in a VM rests on.
readonly VM="tools/common.sh tools/deps tools/vm tools/testing/tiers.sh \
tools/testing/run-tier tools/testing/tap.sh tools/testing/tap-count"

# bytes PATH..., code PATH...: the digest of each file there that belongs to the project, and
# the same without the comments in C.  What --write writes does not count.
bytes()
{
	local digester=${digester:-xargs -0 -r sha256sum --} path

	cd "$topdir" || return
	for path; do
		[ -e "$path" ] || die "there is no $path, on which a shard is said to rest"
	done
	if [[ "$*" != *\ /* && $1 != /* ]] && git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard -- "$@"
	else
		find "$@" -type f -not -path './build/*' -not -name '*.pyc' -print0
	fi | grep -zvxE "(\./)?($status_file|Documentation/coverage.rst)" | LC_ALL=C sort -zu |
		while IFS= read -r -d '' path; do
			[ ! -e "$path" ] || printf '%s\0' "$path"
		done | $digester
}

code()
{
	local digester=$topdir/tools/testing/code-digest

	bytes "$@"
}

# kernels_of SERIES...: what stands behind these names here.
kernels_of()
{
	local series

	for series; do
		case $series in
		debug | kcsan | uml)
			echo "$series $(readlink -f "$krdma_cache/source/current") $(gcc -dumpfullversion)"
			;;
		*) readlink -f "$krdma_cache/kernels/by-series/$series" || echo "$series" ;;
		esac
	done
}
