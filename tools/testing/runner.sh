# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What check and check-full share: running tiers, several jobs at a time, counting
# results, and saying how far it is.  Sourced after common.sh; $results is the folder
# for the tiers' output.
# shellcheck disable=SC2154 # that

runner_dir=$topdir/tools/testing

# run_tier TIER: its output to $results/TIER.log, its sums to $results/TIER.sum:
# "passed failed skipped seconds processor-seconds".  What a person should see is shown
# as it comes.  Fails if anything of the tier failed.
run_tier()
{
	local tier=$1 log=$results/$1.log status=0 started=$SECONDS
	local passed failed skipped processor

	rm -f "$results/$tier".{sum,ran}
	# A shell of its own, so that errexit holds inside the tier.
	KRDMA_RESULTS=$results /usr/bin/time -o "$results/$tier.time" -f '%U %S' \
		"$runner_dir/run-tier" "$tier" </dev/null 2>&1 | tee "$log" |
		sed -un -e '/^ *# *\(Starting\|PASSED\|FAILED\|Totals\|SKIP\|[0-9]* skipped\) */d' \
			-e "/: warning: Using 'getaddrinfo' in statically/d" \
			-e '/^ *not ok /p; /# SKIP/p; /^run: /p; /: warning: /p' |
		sed -u "s/^/$tier: /" >&2 ||
		status=$?

	: >"$results/$tier.ran"
	# KTAP nests by indentation: only the innermost lines are tests, and
	# "ok N suite" above them would count their tests twice.
	read -r passed failed skipped < <("$runner_dir/tap-count" "$tier" "$log" "$results/$tier.ran")
	if [ $((passed + failed + skipped)) -eq 0 ]; then
		say "not ok - $tier ran no test; its output: $log"
		tail -n 5 "$log" >&2
		failed=1
	elif [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		say "not ok - $tier ended with status $status though no test of it failed; its output: $log"
		tail -n 5 "$log" >&2
		failed=1
	fi
	processor=$(awk '{ time = $1 + $2 } END { printf "%d", time }' "$results/$tier.time")
	echo "$passed $failed $skipped $((SECONDS - started)) $processor" >"$results/$tier.sum"
	[ "$failed" -eq 0 ] || return 1
	# For the next one's estimate.
	mkdir -p "$krdma_cache/times" && echo $((SECONDS - started)) >"$krdma_cache/times/$tier"
}

# usual_seconds JOB: what it took last time here, or a guess.
usual_seconds()
{
	cat "$krdma_cache/times/$1" 2>/dev/null || echo 90
}

# still_to_do: about how long what runs and what waits will take, in words.
still_to_do()
{
	local job seconds longest=0 sum=0

	for job in "${waiting[@]}" "${running[@]}"; do
		seconds=$(usual_seconds "$job")
		seconds=$((seconds - (${began[$job]:-0} ? SECONDS - ${began[$job]:-0} : 0)))
		seconds=$((seconds > 5 ? seconds : 5))
		sum=$((sum + seconds))
		longest=$((seconds > longest ? seconds : longest))
	done
	sum=$((sum / lanes > longest ? sum / lanes : longest))
	echo "about $(((sum + 59) / 60)) min"
}

# progress WHAT: and what runs, what is left, about how long.
progress()
{
	local line=$1

	[ ${#running[@]} -eq 0 ] || line+=" | runs: ${running[*]}"
	[ ${#waiting[@]} -eq 0 ] || line+=" | left: ${waiting[*]}"
	[ ${#running[@]} -eq 0 ] || line+=" | $(still_to_do)"
	step "$line"
}

# end_all: what still runs is ended, with everything that it started.
# shellcheck disable=SC2317 # called by the trap as well
end_all()
{
	local pid

	for pid in "${!running[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || :
	done
	running=()
}

# run_jobs LANES KEEP-GOING JOB-COMMAND JOB...: so many at a time, each as JOB-COMMAND JOB.
# Ends with the first that fails, unless it is to keep going.
run_jobs()
{
	local keep_going=$2 command=$3 pid job failed=0
	local -A running=() began=()
	local -a waiting=("${@:4}")

	lanes=$1
	trap 'end_all; exit 130' INT
	trap 'end_all; exit 143' TERM HUP
	while [ ${#waiting[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
		while [ ${#waiting[@]} -gt 0 ] && [ ${#running[@]} -lt "$lanes" ]; do
			job=${waiting[0]}
			waiting=("${waiting[@]:1}")
			# A session of its own, to be ended as a whole.
			setsid "$command" --job "$job" &
			running[$!]=$job
			began[$job]=$SECONDS
			progress "$job begins"
		done
		if wait -n -p pid "${!running[@]}"; then
			job=${running[$pid]}
			unset "running[$pid]"
			progress "$job: $(job_said "$job")"
		else
			job=${running[$pid]}
			unset "running[$pid]"
			failed=1
			progress "$job FAILED"
			if [ -z "$keep_going" ]; then
				end_all
				break
			fi
		fi
	done
	trap - INT TERM HUP
	return $failed
}

# failures TIER: by name, and what was said of each: at the end of all, where one looks
# first.
failures()
{
	awk -v tier="$1" '
	/^ *ok / { said = ""; lines = 0 }
	/^ *not ok / {
		sub(/^ *not ok *[0-9]* *(- *)?/, "")
		print tier ": " $0 "\n" said
		said = ""
		lines = 0
		next
	}
	# The first lines are the cause, later ones what followed from it.
	/^ *# [^ ]+\.[ch]:[0-9]+:|EXPECTATION FAILED|^ *# +Expected/ {
		if (lines++ < 4)
			said = said "    " substr($0, 1, 150) "\n"
	}' "$results/$1.log" 2>/dev/null | sed '/^$/d' | head -n 40
}

# table_head, table_row NAME PASSED FAILED SKIPPED SECONDS PROCESSOR [NOTE]
table_head()
{
	printf '%-16s %6s %6s %7s %8s %8s\n' "$1" passed failed skipped time CPU
}

table_row()
{
	printf '%-16s %6d %6d %7d %6d s %6d s%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "${7:+  $7}"
}

# build_tool: what most tiers take along.
build_tool()
{
	cached make -s -j"$(nproc)" -C "$topdir" tools static >"$results/tools.log" 2>&1 || {
		tail -n 20 "$results/tools.log" >&2
		die "library and tool do not build; the whole output: $results/tools.log"
	}
}
