# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Compares the instructions of krdma and krdma_blk for a request of 4 KiB with their limits.  Sourced
# by run, which has $topdir and $work, and after bench.sh, which has check().
# shellcheck disable=SC2154 # those

# blk_at_most COUNTS WHAT LIMIT: the line WHAT of the file COUNTS has LIMIT instructions at most; if
# not, this prints what it has.
blk_at_most()
{
	local count

	count=$(sed -n "s/^$2: \([0-9]*\) = .*/\1/p" "$1")
	[ -n "$count" ] && [ "$count" -le "$3" ] || echo "$2: ${count:-no} instructions, not $3 at most"
}

# blk_requests COUNTS: reads and writes, alone and 32 at a time.
blk_requests()
{
	local rw

	for rw in randread randwrite; do
		blk_at_most "$1" "$rw of 4 KiB, depth 1, 1 at a time" 1000
		blk_at_most "$1" "$rw of 4 KiB, depth 32, 32 at a time" 500
	done
}

# A count of each with 1,001 instructions, and none.
blk_finds()
{
	sed 's/: [0-9]* = /: 1001 = /' "$work/blk" >"$work/blk-more"
	: >"$work/blk-none"
	[ "$(blk_requests "$work/blk-more" | grep -c '1001 instructions')" = 4 ] ||
		echo "more instructions are not found"
	[ "$(blk_requests "$work/blk-none" | grep -c 'no instructions')" = 4 ] ||
		echo "counts that are missing are not found"
}

"$topdir/tools/bench/code/run" 6.1 512 >"$work/blk" || :
sed -n '/^ /!s/^/# /p' "$work/blk"
check "cost.blk_takes_few_instructions_for_a_request" blk_requests "$work/blk"
check "cost.blk_that_takes_more_is_found" blk_finds
