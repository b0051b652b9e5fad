# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Digests of what results rest on: while that is the same, the results are kept, and the tests are
# not run again.  Sourced by check and check-full, after common.sh.
# shellcheck disable=SC2034 # for those who source it
# shellcheck disable=SC2154 # of common.sh

readonly status_file=Documentation/status.rst

# What every test in a VM rests on, beside its tier.
readonly VM="tools/common.sh tools/deps tools/vm tools/testing/run-tier tools/testing/tap.sh \
tools/testing/tap-count"

# tier_text TIER...: what tiers.sh has for these tiers: their functions, those that they name, and
# what stands outside of functions.  A change of another tier is none for these.  tier_text_of reads
# another tiers.sh from its input.
tier_text()
{
	tier_text_of "$@" <"$topdir/tools/testing/tiers.sh"
}

tier_text_of()
{
	awk -v tiers="$*" '
		/^[[:blank:]]*(#|$)/ { next }
		/^[a-z0-9_]+\(\)$/ {
			name = substr($0, 1, length($0) - 2)
			names[++count] = name
			next
		}
		name == "" { outside = outside $0 "\n"; next }
		{ body[name] = body[name] $0 "\n" }
		/^[})]$/ { name = "" }
		END {
			wanted = split(tiers, queue, " ")
			for (i = 1; i <= wanted; i++) {
				gsub(/[-.]/, "_", queue[i])
				queue[i] = "tier_" queue[i]
				if (!(queue[i] in body)) {
					print "tiers.sh has no " queue[i] "()" >"/dev/stderr"
					exit 1
				}
			}
			for (i = 1; i <= wanted; i++) {
				if (queue[i] in reached)
					continue
				reached[queue[i]] = 1
				for (j = 1; j <= count; j++)
					if (body[queue[i]] ~ "(^|[^a-z0-9_])" names[j] "([^a-z0-9_]|$)")
						queue[++wanted] = names[j]
			}
			for (j = 1; j <= count; j++)
				if (names[j] in reached)
					printf "%s()\n%s", names[j], body[names[j]]
			printf "%s", outside
		}'
}

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
