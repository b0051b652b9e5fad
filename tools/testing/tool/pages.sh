#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs the commands of the documents on two machines, as tools/docs/sessions prints them, and compares
# their output with that in the documents; see tools/vm/run --nodes 2.  Machine 1 runs the commands
# and prints TAP.  Machine 2 runs what machine 1 sends it, until machine 1 has it end.
#
# With BARE=1 the machines begin as a user's do: without krdma, and without an RDMA device.  The pages
# create both, with the programs that their own commands have installed below /usr/local.

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"
# shellcheck source=tools/testing/tool/match.sh
. "$(dirname "$0")/match.sh"

here=$(dirname "$0")
two=10.77.0.2 port=9999

# bare: remove the device, its driver, and the tool that is in every machine.
bare()
{
	rdma link delete rxe0 && rmmod rdma_rxe && rm -f /bin/krdma && depmod
}

# bare_again: the same, and krdma can be unloaded.
bare_again()
{
	[ -z "${BARE:-}" ] || { rdma link delete rxe0 && rmmod krdma; }
}

[ -z "${BARE:-}" ] || bare || {
	not_ok "the machine is as it was before krdma"
	tap_end
	exit 1
}
before=$(resources)
PATH=$here:$PATH
[ -z "${BARE:-}" ] || PATH=/usr/local/bin:$PATH
cd "$here" || exit
mkdir -p /srv

# Processes that a page has left running.  They are krdma's tool and the examples of all pages.
end_running()
{
	local examples

	examples=$(grep -oE '\./[a-z_]+' "$here/pages" | sort -u | sed 's:^\./::' | tr '\n' ' ')
	cat <<-END
		for name in krdma $examples; do
			killall -INT \$name 2>/dev/null
		done
		sleep 1
		for name in $examples; do
			killall -KILL \$name 2>/dev/null
		done
	END
}

if [ "${NODE:-1}" = 2 ]; then
	: >/tmp/goon
	nc -l -l -p $port -e sh &
	listener=$!
	while [ -e /tmp/goon ]; do
		sleep 1
	done
	kill $listener
	bare_again || exit
	nothing_is_left "$before" || exit
	exit 0
fi

# on MACHINE: run the shell script of stdin there, and print its output.
on()
{
	if [ "$1" = one ]; then
		sh
	else
		nc $two $port
	fi
}

number=0
status=0
command='' how='' machine='' page=''

# judge: compare the output of the last command with that in the document.
judge()
{
	local missing wrong='' name="$page: $machine# $command"

	[ -n "$command" ] || return
	case $how in
	leave)
		# It can print more: see judge_running.
		printf '%s %s\n' "$number" "$name" >>"$work/running"
		command=''
		return
		;;
	fail) [ "$status" != 0 ] || wrong="it has succeeded" ;;
	any) [ "$status" -lt 126 ] || wrong="the status is $status" ;;
	*) [ "$status" = 0 ] || wrong="the status is $status" ;;
	esac
	missing=$(lacks "$work/wanted.$number" "$work/said.$number")
	[ -z "$missing" ] || wrong="${wrong:+$wrong, and }there is no line '$missing'"
	if [ -n "$wrong" ]; then
		not_ok "$name" "$wrong in:
$(cat "$work/said.$number")"
	else
		ok "$name"
	fi
	command=''
}

# judge_running: the same for the commands that the page has left running.
judge_running()
{
	local each name missing tries

	[ -e "$work/running" ] || return
	while read -r each name; do
		tries=0
		while missing=$(lacks "$work/wanted.$each" "$work/said.$each") && [ -n "$missing" ] && [ $tries -lt 30 ]; do
			tries=$((tries + 1))
			sleep 1
		done
		if [ -n "$missing" ]; then
			not_ok "$name" "there is no line '$missing' in:
$(cat "$work/said.$each")"
		else
			ok "$name"
		fi
	done <"$work/running"
	rm "$work/running"
}

# listeners: print the number of listeners of $machine.
listeners()
{
	echo 'krdma stat listeners 2>/dev/null | wc -l' | on "$machine"
}

start()
{
	local tries=0 before_it

	number=$((number + 1))
	: >"$work/said.$number"
	: >"$work/wanted.$number"
	status=0
	if [ "$how" = leave ]; then
		before_it=$(listeners)
		printf 'exec %s 2>&1\n' "$command" |
			on "$machine" >"$work/said.$number" &
		while [ "$(listeners)" = "$before_it" ] && [ $tries -lt 60 ]; do
			tries=$((tries + 1))
			sleep 1
		done
		return
	fi
	set -- nc $two $port
	[ "$machine" = two ] || set -- sh
	# shellcheck disable=SC2016 # for the shell there
	printf '{ %s; } 2>&1; echo "status=$?"\n' "$command" |
		timeout -s KILL "$patience" "$@" >"$work/said.$number" || status=137
	[ $status != 0 ] || status=$(sed -n 's/^status=//p' "$work/said.$number" | tail -n 1)
	sed -i '/^status=/d' "$work/said.$number"
}

# end_page: what the page has left running ends.
end_page()
{
	judge
	judge_running
	end_running | on one >/dev/null
	end_running | on two >/dev/null
}

tries=0
until echo true | nc $two $port 2>/dev/null; do
	tries=$((tries + 1))
	[ $tries -lt 60 ] || break
	sleep 1
done

while IFS= read -r line; do
	case $line in
	"page "*)
		[ -z "$page" ] || end_page
		page=${line#page }
		;;
	"run "*)
		judge
		line=${line#run }
		machine=${line%% *}
		line=${line#* }
		how=${line%% *}
		command=${line#* }
		if [ "$machine" = both ]; then
			machine=one
			start
			line=$command
			judge
			machine=two command=$line
		fi
		start
		;;
	"out "*) printf '%s\n' "${line#out }" >>"$work/wanted.$number" ;;
	esac
done <"$here/pages"
end_page
echo 'rm /tmp/goon' | on two >/dev/null
[ -z "${BARE:-}" ] || holds "krdma can be unloaded after all pages" bare_again
holds "nothing is left" nothing_is_left "$before"
tap_end
