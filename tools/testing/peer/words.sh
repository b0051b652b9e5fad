#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Hostile peers that use the protocols of libkrdma's whole files and long messages.  Runs as run.sh
# does.
#
#	words.sh SEED WORDS

# shellcheck source=tools/testing/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$(dirname "$0")/peer.sh"

here=$(dirname "$0")
seed=$1 words=$2
patience=${KRDMA_PEER_PATIENCE:-600}

# offered: start a server of whole files in the background, as serve() does.
offered()
{
	local name=$1
	shift

	krdma serve "$@" >"$work/servers/$name" 2>"$work/servers/$name.err" </dev/null &
	server=$!
	await "$work/servers/$name" . || not_ok "krdma serve $* serves" "$(cat "$work/servers/$name.err")"
}

before=$(resources)
for folder in served read; do
	mkdir -p "$work/$folder/dir"
	head -c 300000 /dev/urandom >"$work/$folder/there"
	head -c 10000 /dev/urandom >"$work/$folder/dir/there"
done
echo outside >"$work/outside"
ln -s ../outside "$work/served/link"

# Long messages
serve messages "$here/messenger" serve $host 7501
messages=$((words / 4 + 5))
"$here/messenger" ask $host 7501 $messages >"$work/honest" 2>&1 &
honest=$!
try "$here/words" messages $host 7501 "$seed" "$words"
ended "a hostile peer says announcements and answers, right and wrong" 0 ' 0 findings$' '!^FOUND'
gone $honest
cp "$work/honest" "$work/out"
ended "an honest one has its messages back meanwhile" 0 "^$messages messages came back\$" '!^FOUND'
try "$here/messenger" ask $host 7501 5
ended "and afterwards" 0 '^5 messages came back$' '!^FOUND'
leave TERM "$server"
cp "$work/servers/messages" "$work/out"
ended "a server of long messages has found nothing outside its room" 143 '!^FOUND'

# Whole files, first read only and then writable; clients that may write change names in the second
# folder
offered read -P 7502 "$work/read"
try "$here/words" files $host 7502 "$seed" "$words"
ended "a hostile peer says what is said of files, right and wrong" 0 ' 0 findings$' '!^FOUND'
try krdma get $host:7502/there "$work/got"
# Proves: F8
ended "files are served afterwards" 0
holds "and are what they were" cmp "$work/got" "$work/read/there"
stop_server read
offered served --write -P 7503 "$work/served"
try "$here/words" files $host 7503 $((seed + 1)) "$words"
ended "a hostile peer says it where files may be written" 0 ' 0 findings$' '!^FOUND'
try krdma put "$work/got" $host:7503/honest
ended "files are taken afterwards" 0
holds "and are what they should be" cmp "$work/got" "$work/served/honest"
stop_server served
# Proves: F8
holds "nothing outside of what is served was changed" [ "$(cat "$work/outside")" = outside ]
holds "nothing was added where nobody may write" [ "$(find "$work/read" | wc -l)" = 4 ]
holds "nothing is left behind of those" nothing_is_left "$before"
tap_end
