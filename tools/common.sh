# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What every script of the project shares: where things are, how it speaks to
# a person, how two runs at once keep out of each other's way.
#
# Progress goes to stderr, results to stdout, so that any script can be used in
# $(...).

# set -e holds inside $(...) too: what is assigned from there is half a result
# otherwise, taken for a whole one.
shopt -s inherit_errexit

topdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
krdma_cache=${KRDMA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/krdma}
# shellcheck disable=SC2034 # read by the scripts that source this file
readonly topdir krdma_cache
export KRDMA_STARTED=${KRDMA_STARTED:-$(date +%s)}

say()
{
	printf '%s\n' "$*" >&2
}

# step WHAT: a line for the beginning of something that takes a while, with the
# time since the first script began that led here.
step()
{
	printf '[%3ds] %s\n' $(($(date +%s) - KRDMA_STARTED)) "$*" >&2
}

warn()
{
	printf '%s: warning: %s\n' "${0##*/}" "$*" >&2
}

# die SENTENCE: what failed, why, what to do next; then stop.
die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# need_space DIR MIB WHAT: stop now rather than with a half-written file.
need_space()
{
	local dir=$1 need=$2 what=$3 have

	mkdir -p "$dir" 2>/dev/null ||
		die "cannot create $dir for $what; make it writable or set KRDMA_CACHE to another folder"
	have=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
	[ "${have:-0}" -ge "$need" ] ||
		die "$what needs $need MiB in $dir, where $have MiB are free; free some space or set KRDMA_CACHE to another folder"
}

# with_lock NAME COMMAND...: one at a time on this machine, however many runs
# there are; whoever has to wait is told.
with_lock()
{
	local name=$1 fd
	shift

	{ mkdir -p "$krdma_cache/locks" && exec {fd}>"$krdma_cache/locks/$name"; } 2>/dev/null ||
		die "cannot write to $krdma_cache; make it writable or set KRDMA_CACHE to another folder"
	if ! flock -n "$fd"; then
		step "waiting: another run is preparing $name"
		until flock -w 20 "$fd"; do
			step "still waiting for $name"
		done
	fi
	# Not "|| status=$?": that would switch errexit off inside the command.
	"$@" {fd}>&-
	exec {fd}>&-
}

# cached COMMAND...: what compilers make of the same source is kept in the cache, for every
# clone of the project.  For programs: the kernel's builds compile what names its folder, and
# tools/vm/kernel keeps modules.
cached()
{
	[ -x /usr/lib/ccache/gcc ] || {
		"$@"
		return
	}
	PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$krdma_cache/ccache CCACHE_BASEDIR=$topdir \
		CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=500M "$@"
}
