# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests what a MiB of a file costs.  Sourced by run, after idle.sh, which has is().
# shellcheck disable=SC2154 # $topdir and $work

# Most thousand instructions of both ends for a MiB: about 5 % more than performance.rst has.
readonly files_get=26100 files_get_8=28400 files_put=25900 files_put_8=28100

files_options()
{
	misused "no length" "usage: " "$topdir/tools/bench/files/run" 0
	misused "too many streams" "usage: " "$topdir/tools/bench/files/run" 8 17
}

files_measures()
{
	"$topdir/tools/bench/files/run" >"$work/files" 2>"$work/files.progress" || {
		cat "$work/files" "$work/files.progress"
		return 1
	}
}

# files_at_most FIGURES NAME LIMIT: the figure of that name; prints what it is if it is more.
files_at_most()
{
	local count

	count=$(awk -v name="$2" '$1 == name { print $2 }' "$1")
	[ "${count:-0}" -gt 0 ] && [ "$count" -le "$3" ] ||
		echo "$2: ${count:-no} thousand instructions, not $3 at most"
}

# files_are_cheap FIGURES
files_are_cheap()
{
	files_at_most "$1" get "$files_get"
	files_at_most "$1" get.8 "$files_get_8"
	files_at_most "$1" put "$files_put"
	files_at_most "$1" put.8 "$files_put_8"
}

# Figures that are a tenth higher, and none.
files_finds()
{
	awk '{ print $1, int($2 * 1.1) }' "$work/files" >"$work/files-more"
	: >"$work/files-none"
	[ "$(files_are_cheap "$work/files-more" | grep -c 'thousand instructions')" = 4 ] ||
		echo "more instructions are not found"
	[ "$(files_are_cheap "$work/files-none" | grep -c 'no thousand')" = 4 ] ||
		echo "figures that are missing are not found"
}

check "files.says_what_is_wrong_with_its_options" files_options
check "files.measures" files_measures
check "files.a_copy_is_cheap" files_are_cheap "$work/files"
check "files.a_copy_that_costs_more_is_found" files_finds
