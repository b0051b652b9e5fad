# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests the count of krdma's own instructions by function, and compares some with their limits.
# Sourced by run, which has $topdir and $work, and after blk.sh, which has blk_at_most().
# shellcheck disable=SC2154 # those

# The most that krdma's own functions and those of the device may take; about 3 % above what they do.
operations_limits()
{
	blk_at_most "$1" "krdma: write, batch of 1" 412
	blk_at_most "$1" "krdma: write, batch of 64" 252
	blk_at_most "$1" "krdma-template: write, batch of 1" 375
	blk_at_most "$1" "krdma-template: write, batch of 64" 227
	blk_at_most "$1" "ring by hand: write, batch of 1" 1115
	blk_at_most "$1" "ring by hand: write, batch of 64" 270
	blk_at_most "$1" "lanes: open and close, batch of 60" 12000
}

# Verbs are without krdma, and what krdma takes is there by function.
operations_are_told_apart()
{
	grep -q '^verbs: write, batch of 1: [1-9][0-9]* = 0 of krdma + ' "$work/operations" ||
		echo "verbs have krdma's instructions, or none were counted"
	sed -n '/^krdma: write, batch of 1:/,/^[^ ]*-template: /p' "$work/operations" |
		grep -q '^ *[1-9][0-9]*\.[0-9]  krdma_qp_post_one' ||
		echo "the function that posts is missing"
}

"$topdir/tools/bench/code/run" --operations 6.1 >"$work/operations" || :
sed -n '/^ /!s/^/# /p' "$work/operations"
check "cost.operations_are_told_apart" operations_are_told_apart
check "cost.operations_take_few_instructions" operations_limits "$work/operations"
