# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared by every script of the project: paths, messages to the user, and locks that keep two runs
# at once apart.
#
# Progress goes to stderr, results to stdout, so that any script can be used in
# $(...).

# set -e must hold inside $(...), too: otherwise a script would take half a result for a whole one.
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

# step WHAT: prints a line at the beginning of something that takes a while, with the time since the
# first script of this run began.
step()
{
	printf '[%3ds] %s\n' $(($(date +%s) - KRDMA_STARTED)) "$*" >&2
}

warn()
{
	printf '%s: warning: %s\n' "${0##*/}" "$*" >&2
}

# die SENTENCE: prints what failed, why, and what to do next; then ends the script.
die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# need_space DIR MIB WHAT: ends the script now rather than later with a half-written file.
need_space()
{
	local dir=$1 need=$2 what=$3 have

	mkdir -p "$dir" 2>/dev/null ||
		die "cannot create $dir for $what; make it writable or set KRDMA_CACHE to another folder"
	have=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
	[ "${have:-0}" -ge "$need" ] ||
		die "$what needs $need MiB in $dir, where $have MiB are free; free some space or set KRDMA_CACHE to another folder"
}

# with_lock NAME COMMAND...: runs the command while no other run on this machine has the lock.  A
# run that has to wait prints that.
with_lock()
{
	local name=$1 fd status
	shift

	{ mkdir -p "$krdma_cache/locks" && exec {fd}>"$krdma_cache/locks/$name"; } 2>/dev/null ||
		die "cannot write to $krdma_cache; make it writable or set KRDMA_CACHE to another folder"
	if ! flock -n "$fd"; then
		step "waiting: another run is preparing $name"
		until flock -w 20 "$fd"; do
			step "still waiting for $name"
		done
	fi
	# Not "|| status=$?": that would switch errexit off inside the command.  It is off anyway if
	# the caller tests the status.
	"$@" {fd}>&-
	status=$?
	exec {fd}>&-
	return "$status"
}

# cached COMMAND...: keeps in the cache what compilers make of the same source, for every clone of
# the project.  For programs only: the kernel's builds compile code that names its folder, and
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
