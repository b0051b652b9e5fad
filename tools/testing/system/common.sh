# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# What the trials in a whole system share.  Sourced by them.

# shellcheck source=tools/testing/tap.sh
. /try/tap.sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 SYSTEMD_PAGER=cat SYSTEMD_COLORS=0
log=/root/log

# check NAME COMMAND...: the command must succeed; its output is shown if it fails.
check()
{
	local name=$1
	shift

	if "$@" >$log 2>&1 </dev/null; then
		ok "$name"
	else
		not_ok "$name" "not so: $*
$(tail -n 30 $log)"
	fi
}

not()
{
	! "$@"
}

# says PATTERN COMMAND...: the command prints a line like this, whatever its status.
says()
{
	local pattern=$1 said
	shift

	said=$("$@" 2>&1) || :
	echo "$said"
	echo "$said" | grep -E -- "$pattern"
}

# await SECONDS COMMAND...: the command succeeds in time.
await()
{
	local left=$(($1 * 4))
	shift

	until "$@" >$log.await 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || {
			cat $log.await
			return 1
		}
		sleep 0.25
	done
}

# has UNIT PROPERTY VALUE
has()
{
	local value

	value=$(systemctl show -P "$2" "$1")
	echo "$1: $2 is '$value'"
	[ "$value" = "$3" ] || {
		systemctl status --no-pager -n 20 "$1"
		return 1
	}
}

# runs UNIT: it is active, and stays so for a moment.
runs()
{
	has "$1" ActiveState active && sleep 1 && has "$1" ActiveState active
}

# comes UNIT: it runs within a minute.
comes()
{
	await 60 runs "$1" || {
		cat $log.await
		return 1
	}
}

pid_of()
{
	systemctl show -P MainPID "$1"
}

# drop_in UNIT LINE...: more settings of this unit.
drop_in()
{
	local folder=/etc/systemd/system/$1.d
	shift

	mkdir -p "$folder"
	printf '%s\n' '[Service]' "$@" >"$folder/trial.conf"
	systemctl daemon-reload
}

# no_drop_in UNIT
no_drop_in()
{
	rm -rf "/etc/systemd/system/$1.d"
	systemctl daemon-reload
}

# gets NAME: the file of the server is the one that it serves.
gets()
{
	rm -f /root/got
	timeout 60 krdma get -q "10.77.0.1:$1" /root/got && cmp "/srv/krdma/files/$1" /root/got
}

# module_objects: what the module has but for each device.
no_objects()
{
	local left

	left=$(awk '$1 !~ /device$/ && $2 != 0' /sys/kernel/debug/krdma/objects)
	echo "$left"
	[ -z "$left" ]
}
