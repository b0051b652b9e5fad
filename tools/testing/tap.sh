# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Test results as TAP, for tests written in shell.

tap_number=0
tap_failed=0

# ok NAME / not_ok NAME [REASON] / skip NAME REASON
ok()
{
	tap_number=$((tap_number + 1))
	printf 'ok %d - %s\n' "$tap_number" "$1"
}

not_ok()
{
	tap_number=$((tap_number + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_number" "$1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

skip()
{
	tap_number=$((tap_number + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_number" "$1" "$2"
}

# tap_end: the plan, and a status that says whether anything failed.
tap_end()
{
	printf '1..%d\n' "$tap_number"
	[ "$tap_number" -gt 0 ] && [ "$tap_failed" -eq 0 ]
}
