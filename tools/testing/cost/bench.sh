# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests the comparison with peers.  Sourced by run, which has $topdir, $work and tap.sh.
# shellcheck disable=SC2154 # those

# misused NAME PATTERN COMMAND...: the command must end with status 2 and say why; if not, this
# prints what it did.
misused()
{
	local name=$1 pattern=$2 said status=0
	shift 2

	said=$("$@" 2>&1 >/dev/null) || status=$?
	if [ $status = 2 ] && grep -qE -- "$pattern" <<<"$said"; then
		return 0
	fi
	printf '%s: status %d, said: %s\n' "$name" "$status" "$said"
}

# misuses SCRIPT: misuses the options that both scripts have.
misuses()
{
	misused "no value" '--kernel wants a value' "$1" --kernel
	misused "no value" '--rounds wants a value' "$1" --rounds
	misused "no number" "--rounds wants a number from 1 to [0-9]*, not 'x'" "$1" --rounds x
	misused "no rounds" "--rounds wants a number from 1 to [0-9]*, not '0'" "$1" --rounds 0
	misused "no kernel" "--kernel is 6.1, 6.12 or 7.2, not '5.0'" "$1" --kernel 5.0
	misused "no option" "'--fast' is not an option.*--help" "$1" --fast
}

# check NAME COMMAND...: the command must succeed and print nothing.
check()
{
	local said

	said=$("${@:2}" 2>&1) || said+=$'\nits status is not 0'
	if [ -z "$said" ]; then
		ok "$1"
	else
		not_ok "$1" "$said"
	fi
}

bench_options()
{
	misuses "$topdir/tools/bench/run"
	misused "mode" "--mode is instructions or wall, not 'fast'" \
		"$topdir/tools/bench/run" --mode fast
	misused "too many" "--conns: 8000 at most" "$topdir/tools/bench/run" --conns 9000
	misused "no value" "--out wants a value" "$topdir/tools/bench/run" --out
}

block_options()
{
	misuses "$topdir/tools/bench/block"
	misused "no value" '--crc wants a value' "$topdir/tools/bench/block" --crc
	misused "no value" '--mtu wants a value' "$topdir/tools/bench/block" --mtu
	misused "mtu" "--mtu wants a number from 1500 to 65535, not '9'" \
		"$topdir/tools/bench/block" --mtu 9
	misused "crc" "--crc wants the name of a module, not '/x'" \
		"$topdir/tools/bench/block" --crc /x
}

# lines KRDMA VERBS: prints made-up results of two rounds.
lines()
{
	local round

	for round in 1 2; do
		echo "$round krdma value connect.own.at-once=1.busy $1"
		echo "$round verbs value connect.own.at-once=1.busy $2"
	done
}

# verdict KRDMA VERBS: prints the verdict on these figures.
verdict()
{
	lines "$1" "$2" >"$work/lines"
	"$topdir/tools/bench/report/make" --out "$work" --kernel 6.1 --rounds 2 --conns 0 \
		"instructions=$work/lines" | grep -E 'connect.own.at-once=1.busy:|targets are met'
}

verdicts()
{
	verdict 80 100 >"$work/said"
	grep -q '^  met .*: 0.80 of verbs' "$work/said" || cat "$work/said"
	grep -q '^1 of 1 targets are met' "$work/said" || cat "$work/said"
	verdict 82 100 >"$work/said"
	grep -q '^  MISSED .*: 0.82 of verbs' "$work/said" || cat "$work/said"
	grep -q '^0 of 1 targets are met' "$work/said" || cat "$work/said"
}

# A line that is not a result must be reported.
nonsense()
{
	local line said

	for line in "1 krdma value write" "1 krdma speed write 7" "1 krdma value write fast" \
		"1 krdma time write 1 2 3"; do
		{
			lines 1 1
			echo "$line"
		} >"$work/lines"
		if said=$("$topdir/tools/bench/report/make" --out "$work" --kernel 6.1 --rounds 2 \
			--conns 0 "instructions=$work/lines" 2>&1); then
			echo "'$line' is taken for a result"
		elif ! grep -q "lines:5: not a result: $line" <<<"$said"; then
			echo "of '$line' it says: $said"
		fi
	done
}

# The results of the two programs in their shortest run, and those of both in the kernel.
readonly bench_names="write.8.depth=1.poll read.8.depth=1.poll fetch-add.8.depth=1.poll
	write.8.depth=1.event read.8.depth=1.event fetch-add.8.depth=1.event
	echo.8.depth=1.event write.8.depth=64.batch=1 write.8.depth=64.batch=16
	write.8.depth=64.batch=64 write.4096.depth=16.batch=4 read.4096.depth=16.batch=4
	write.65536.depth=16.batch=4 read.65536.depth=16.batch=4 wake.8 register.4KiB
	release.4KiB register.2MiB release.2MiB connect.own.at-once=1 connect.own.at-once=64
	connect.own.at-once=1.busy connect.own.at-once=64.busy open.own.2 close.own.2
	memory.own.2.kernel memory.own.2.process.resident open.shared.2 close.shared.2
	memory.shared.2.kernel memory.shared.2.process.resident grown.own.2 grown.shared.2
	write.8.over=2 write.8.over=1of2"
readonly bench_kernel_names="write.batch=1.conns=1 read.batch=1.conns=1
	fetch-add.batch=1.conns=1 message.batch=1.conns=1 write.batch=64.conns=1
	read.batch=64.conns=1 fetch-add.batch=64.conns=1 message.batch=64.conns=1"

bench_measures()
{
	"$topdir/tools/bench/run" --quick --mode instructions --kernel 6.1 --rounds 1 --count 1 \
		--conns 2 --out "$work/bench" >"$work/bench.table" 2>"$work/bench.progress" || {
		cat "$work/bench.progress"
		return 1
	}
}

# lacks PEER NAME...: prints which results of PEER are missing in the figures, or are no numbers.
lacks()
{
	local peer=$1 name
	shift

	for name; do
		jq -e --arg name "$name" --arg peer "$peer" \
			'.modes.instructions.results[$name][$peer].figure | type == "number"' \
			"$work/bench/bench.json" >/dev/null || echo "$peer has no $name"
	done
}

bench_lacks()
{
	local peer

	for peer in krdma verbs; do
		# shellcheck disable=SC2086 # names are words
		lacks $peer $bench_names
		# shellcheck disable=SC2086 # likewise
		lacks kernel-$peer $bench_kernel_names
	done
	lacks rpma write.8.depth=1.poll read.8.depth=1.poll connect.own.at-once=1
	lacks rping rping.64
}

# The table has a line for each target.  The page has its plots and fetches nothing.
bench_shows()
{
	local page=$work/bench/report.html plot

	[ "$(grep -cE '^  (met|MISSED) ' "$work/bench.table")" = \
		"$(jq '.targets | length' "$work/bench/bench.json")" ] ||
		echo "the table has not as many targets as there are"
	jq -e '.targets | length > 10' "$work/bench/bench.json" >/dev/null || echo "few targets"
	for plot in write.8.depth=1.poll "bandwidth over size" "kernel memory over connections"; do
		grep -q "aria-label=\"$plot" "$page" || echo "there is no plot of $plot"
	done
	! grep -E '(src|href)=|url\(|@import' "$page" || echo "the page fetches something"
}

check "bench.says_what_is_wrong_with_its_options" bench_options
check "bench.block_says_what_is_wrong_with_its_options" block_options
check "bench.says_what_is_met_and_what_is_missed" verdicts
check "bench.takes_no_nonsense_for_a_result" nonsense
check "bench.measures" bench_measures
check "bench.has_every_peer_and_name" bench_lacks
check "bench.shows_what_it_has_measured" bench_shows
