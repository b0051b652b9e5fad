#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma serve, krdma get and krdma put on one machine.  Runs inside a VM; see peer.sh.
# Prints TAP.  The output on a terminal is tested only if /tool/terminal is there; see terminal.c.
#
# Some tests look at a copy in progress.  They need a copy to take some seconds, as it does on an
# emulated machine.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

there=$work/there away=$work/away
mkdir -p "$there/folder" "$away"
cd "$away" || exit 1
before=$(resources)

# same NAME FILE FILE: the files are equal.
same()
{
	holds "$1" cmp "$2" "$3"
}

# parts FOLDER: print the partial files in FOLDER.
parts()
{
	find "$1" -maxdepth 1 -name '.krdma-*.part'
}

# only_part FILE: the folder of FILE has one partial file, and FILE does not exist.
only_part()
{
	[ -f "$(parts "$(dirname "$1")")" ] && [ ! -e "$1" ]
}

mib=1048576
# A line of progress that is above 0%.
some=' +[1-9][0-9]*% '
: >"$there/nothing"
printf x >"$there/byte"
printf 123456789 >"$there/digits"
head -c $((mib + 1)) /dev/urandom >"$there/odd"
head -c $((16 * mib)) /dev/urandom >"$there/middle"
head -c $((64 * mib)) /dev/urandom >"$there/long"
head -c $((100 * mib)) /dev/urandom >"$there/large"
cp "$there/odd" "$there/folder/inside"

# Getting and putting

offer all --write "$there"
for file in nothing byte odd large; do
	try krdma get $host/$file
	ended "$file comes" 0 '!.'
	try krdma put $file $host/put.$file
	ended "$file goes" 0 '!.'
	same "it is what it was ($file)" "$there/put.$file" "$there/$file"
	rm -f "$there/put.$file"
done
holds "no part is left" [ -z "$(find "$work" -name '*.part')" ]
rm -f large

try krdma get -j $host/digits $host/odd .
ended "JSON has it all" 0 '^\[\{"operation":"get","host":"10\.77\.0\.1","port":7476,"name":"digits",' \
	'"local":"\.","streams":1,"bytes":9,"transferred":9,"resumed_from":0,"seconds":[0-9.]+,' \
	'"bytes_per_second":[0-9]+,"crc32c":"e3069283","mode":"0644"\}' \
	'\{"operation":"get",.*"name":"odd".*"bytes":1048577'
cp "$work/out" /out/get.json
try krdma put -j digits odd $host/folder/
ended "several go into a folder" 0 '"name":"folder/digits"' '"name":"folder/odd"' \
	'"operation":"put"'
cp "$work/out" /out/put.json
same "the first is there" digits "$there/folder/digits"
same "the second is there" odd "$there/folder/odd"
try krdma put digits $host/folder
ended "that it is a folder need not be said" 0 '!.'
try krdma put odd $host
ended "without a path it goes to the top" 0 '!.'
try krdma get -j --pretty $host/digits $host/none .
ended "one of two fails, and the other one comes" 1 '"error": ?"ENOENT"' '"side": ?"peer"' \
	'"crc32c": ?"e3069283"' "has no file 'none'"
cp "$work/out" /out/get-failed.json

try krdma get $host/folder/inside other
same "it can have another name" other odd
mkdir -p into
try krdma get $host/digits $host/folder/inside into
same "several come into a folder" into/inside odd
try krdma get $host/digits -
holds "to standard output" [ "$(cat "$work/out")" = 123456789 ]
try krdma get $host/digits /dev/null
ended "into a device, which is still one" 0 '!.'
holds "it is a device" [ -c /dev/null ]
mkfifo pipe
cat pipe >piped &
try krdma get $host/odd pipe
wait $!
same "into a pipe" piped odd
try krdma get '[fd77::1]:7476/digits' six
same "over IPv6, with a port" six "$there/digits"
try krdma get fd77::1/digits six
ended "over IPv6, without" 0 '!.'
try krdma get node1/digits named
same "from a host with a name" named "$there/digits"
try krdma get rdma://$host/digits addressed
same "from a URL" addressed "$there/digits"
try krdma put digits rdma://$host/addressed
same "to a URL" "$there/addressed" digits
rm -f "$there/addressed"

chmod 777 odd
try krdma put odd $host/bits
holds "permission bits go along as far as the umask lets them" [ "$(stat -c %a "$there/bits")" = 755 ]
try krdma put --exact-mode odd $host/bits
holds "or exactly" [ "$(stat -c %a "$there/bits")" = 777 ]
(umask 077 && krdma get $host/bits bits)
holds "and come along as far" [ "$(stat -c %a bits)" = 700 ]
(umask 077 && krdma get --exact-mode --no-sync $host/bits bits)
holds "or exactly, too" [ "$(stat -c %a bits)" = 777 ]
truncate -s 3G "$there/sparse"
try krdma get -j $host/sparse
ended "of a file with nothing in it nothing is sent" 0 '"bytes":3221225472,"transferred":0'
holds "and it takes no room" [ "$(stat -c %b sparse)" -lt 1000 ]
rm -f sparse "$there/sparse"

# Progress, and the server's output

try krdma get --progress $host/large
ended "progress can be asked for" 0 '^large +[0-9]+% ' '^large 100% +100 MiB of +100 MiB '
try krdma get -q $host/odd
ended "or not" 0 '!.'
if [ -x "$here/terminal" ]; then
	try "$here/terminal" krdma get $host/middle
	tr '\r' '\n' <"$work/out" >"$work/lines"
	cp "$work/lines" "$work/out"
	ended "on a terminal there is progress" 0 '^middle +\[#*-+\] +[0-9]+% .* of +16\.0 MiB .*/s .* left' \
		'^middle .* 100% +16\.0 MiB of +16\.0 MiB .*/s +[0-9]+:[0-9][0-9]'
	holds "its lines are no wider than the terminal" \
		awk 'length > 79 { exit 1 }' "$work/lines"
	try "$here/terminal" krdma get -q $host/odd
	ended "and none with -q" 0 '!%'
else
	skip "what is seen on a terminal" "there is no /tool/terminal"
fi
stop_server all
ended "the server tells of each" 0 "^serving '.*/there' at \[::\]:7476, writable$" \
	"^10\.77\.0\.1:[0-9]+ get 'digits' 9 B in [0-9.]+ s$" "put 'folder/odd' 1\.0 MiB in " \
	"get 'none' failed: No such file or directory" "^\[fd77::1\]:[0-9]+ get 'digits'"

# Interrupted copies, and -c

rm -f large "$there/large"
offer go_on --write "$there"
begin krdma get --progress $host/long
await "$work/err" "$some"
leave KILL "$client"
holds "a client that is killed leaves its part" only_part long
try krdma get -C -j $host/long
ended "and the next one goes on from there" 0 '"bytes":67108864' '!"resumed_from":0,'
cp "$work/out" /out/get-resumed.json
holds "by that much less is transferred" [ "$(($(number "$work/out" transferred) + \
	$(number "$work/out" resumed_from)))" = $((64 * mib)) ]
same "it is what it was, in two parts" long "$there/long"

rm -f long
begin krdma get --progress $host/long
await "$work/err" "$some"
leave INT "$client"
ended "Ctrl-C ends it" 130 'interrupted' 'Continue with: krdma get -C'
holds "and leaves the part alone" only_part long
# Change one byte of the partial file.  It must not be used then.
printf '?' | dd of="$(parts .)" bs=1 seek=1000 conv=notrunc 2>/dev/null
try krdma get -C -j $host/long
ended "a part with a wrong byte is not used" 0 '"resumed_from":0,"'
same "it is what it was, from the beginning" long "$there/long"

begin krdma put --progress long $host/back
await "$work/err" "$some"
leave KILL "$client"
await "$work/servers/go_on" "put 'back' failed"
holds "a client that is killed leaves its part at the server" only_part "$there/back"
printf '?' | dd of="$(parts "$there")" bs=1 seek=1000 conv=notrunc 2>/dev/null
try krdma put -C -j long $host/back
ended "a part with a wrong byte is not used there either" 0 '"resumed_from":0,"'
same "it is what it was, there from the beginning" long "$there/back"
rm -f "$there/back"

begin krdma put --progress long $host/again
await "$work/err" "$some"
leave TERM "$client"
ended "SIGTERM ends it" 143 'interrupted'
await "$work/servers/go_on" "put 'again' failed: Operation canceled"
touch long
try krdma put -C -j long $host/again
ended "of a file that was written since, nothing is used" 0 '"resumed_from":0,"'
holds "what another client has left of it is not lost" [ -f "$(parts "$there")" ]
rm -f "$there/again" "$(parts "$there")"

begin krdma put --progress long $host/lost
await "$work/err" "$some"
leave KILL "$server"
finish
ended "a server that is killed is missed" 1 'the connection to 10\.77\.0\.1:7476 has ended' \
	'continue with: krdma put -C'
offer after --write "$there"
try krdma put -C -j long $host/lost
ended "what it had taken is used" 0 '!"resumed_from":0,'
same "it is what it was, of two servers" long "$there/lost"
rm -f "$there/lost"

# Several clients at the same time

try krdma get $host/middle
for i in 1 2 3 4; do
	krdma get $host/middle middle.$i &
	eval "client_$i=\$!"
done
krdma put middle $host/at-once &
# shellcheck disable=SC2034 # used by the eval below
client_5=$!
failed=0
for i in 1 2 3 4 5; do
	eval "wait \$client_$i" || failed=1
done
holds "five clients at once are served" [ $failed = 0 ]
for i in 1 2 3 4; do
	same "client $i has it" middle.$i "$there/middle"
	rm -f middle.$i
done
same "client 5 has put it" "$there/at-once" middle
rm -f "$there/at-once"

# Errors and their messages

try krdma get $host/../there/digits out1
ended "a name that leads out" 1 "leads out of the served folder"
ln -s /etc "$there/etc"
try krdma get $host/etc/passwd out2
ended "a link that leads out" 1 "leads out of the served folder"
try krdma put digits $host//tmp/digits
ended "a name from the root" 1 "leads out of the served folder"
try krdma put digits $host/../digits
ended "a name above, to be written" 1 "leads out of the served folder"
holds "nothing was written there" [ ! -e /tmp/digits -a ! -e "$work/digits" ]
try krdma get $host/folder
ended "a folder" 1 "'folder' is a folder at 10\.77\.0\.1" 'all that is in it: -r'
try krdma get $host/digits none/digits
ended "a folder that is missing here" 1 "'none/digits': No such file or directory"
try krdma put none $host/
ended "a file that is missing here" 1 "cannot put none: 'none': No such file or directory"
try krdma put digits $host/none/digits
ended "a folder that is missing there" 1 "has no folder for 'none/digits'"
try krdma put into $host/into
ended "a folder to be put" 1 "'into' is a folder"
try krdma get $host:9999/digits
ended "nobody there" 1 'cannot get 10\.77\.0\.1:9999/digits: connection refused' 'Start it there: krdma serve DIR'
try krdma get 10.66.0.1/digits
ended "no way there" 1 'no RDMA device here has a route to 10\.66\.0\.1' 'krdma doctor 10\.66\.0\.1'
try krdma get no-such-host/digits
ended "no such host" 1 "cannot find the address of 'no-such-host'"
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'krdma get "$1"/long - >/dev/full' sh $host
ended "output that is full" 1 'No space left on device'
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'krdma get "$1"/long - | head -c 1 >/dev/null; echo ended' sh $host
ended "output that nobody reads" 0 ended 'Broken pipe'
mkdir small
mount -t tmpfs -o size=4m tmpfs small
try krdma get $host/middle small
ended "a disk that is full" 1 "not enough space for 'small': No space left on device" 'krdma get -C'
umount small
main=$server
offer busy -P 7480 -q --clients 1 "$there"
begin krdma get --progress $host:7480/long held
await "$work/err" "$some"
kill -STOP "$client"
cp "$work/err" "$work/held.err"
try krdma get $host:7480/digits out4
ended "a server with clients enough" 1 'has reached its limit of clients'
kill -CONT "$client"
gone "$client"
stop_server busy
ended "a quiet server says nothing of clients" 0 '^serving' '!get'
server=$main
stop_server after

# Secrets, allowed addresses, and rules of folders

(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret" &&
	head -c 32 /dev/urandom | base64 >"$work/other")
offer secret --write --secret "$work/secret" --allow "$host,fd78::/16" "$there"
try krdma get --secret "$work/secret" $host/digits
ended "who knows the secret is served" 0 '!.'
try krdma put --secret "$work/secret" digits $host/secret
ended "also to put a file" 0 '!.'
try krdma get $host/digits
ended "who does not know it is not" 1 'requires a secret' 'krdma get --secret FILE'
try krdma get --secret "$work/other" $host/digits
ended "nor who knows another one" 1 'has another secret'
try krdma get 'fd77::1/digits'
ended "nor who is at another address" 1 'admits no clients from this address' \
	'krdma serve --allow'
chmod 644 "$work/other"
try krdma get --secret "$work/other" $host/digits
ended "a secret that others may read is none" 2 'other users can read it' 'umask 077'
chmod 640 "$work/other"
try krdma get --secret "$work/other" $host/digits
ended "also one for a group" 2 'other users can read it'
try env CREDENTIALS_DIRECTORY="$work" krdma get --secret "$work/other" $host/digits
ended "but not one that systemd has made, with the mask of an ACL" 1 'has another secret'
chmod 644 "$work/other"
try env CREDENTIALS_DIRECTORY="$work" krdma get --secret "$work/other" $host/digits
ended "unless all may read it" 2 'other users can read it'
mkfifo -m 600 "$work/fifo"
sh -c 'exec 3>"$1" && touch "$1.opened"' sh "$work/fifo" &
writer=$!
# Until the writer waits for a reader, and, after that, until it would be done.
usleep 500000
try krdma get --secret "$work/fifo" $host/digits
ended "nor is one in a pipe" 2 'it is not a regular file'
usleep 500000
holds "which is not even opened" [ ! -e "$work/fifo.opened" ]
kill "$writer" 2>/dev/null || :
gone "$writer"
ln -s "$work/secret" "$work/link"
try krdma get --secret "$work/link" $host/digits
ended "but one behind a link is" 0 '!.'
echo short >"$work/other"
chmod 600 "$work/other"
try krdma serve --secret "$work/other" "$there"
ended "nor is a short one" 2 'less than 16 bytes'
try krdma serve --allow 10.0.0.0/99 "$there"
ended "addresses are read" 1 "'10\.0\.0\.0/99' is not a list of addresses"
stop_server secret
ended "the server tells of them" 0 '^10\.77\.0\.1:[0-9]+ was refused: it has another secret$' \
	'^10\.77\.0\.1:[0-9]+ was refused: it has no secret$'
mkdir -p "$there/drop" "$there/pub"
cp "$there/digits" "$there/pub/digits"
offer rules --write --read-only pub --write-only drop --request-timeout 5s --progress-timeout 30s \
	--clients-per-address 4 --connections 20 --no-sync "$there"
try krdma put digits $host/drop/
ended "into a folder to be written only, a file is put" 0 '!.'
try krdma put odd $host/drop/digits
ended "but replaces none" 1 "'drop/digits' exists at 10\.77\.0\.1"
try krdma get $host/drop/digits dropped
ended "nor is one got" 1 'or is not permitted'
try krdma get $host/pub/digits public
ended "from a folder to be read only, a file is got" 0 '!.'
# Of the four further connections this address has one, as of the 16 places it has four.
try krdma get -j --streams 4 $host/pub/digits public
ended "over as many connections as the server grants" 0 '"streams":2'
try krdma put odd $host/pub/digits
ended "but none is put there" 1 'does not allow writing'
try krdma serve --read-only nothing "$there"
ended "a folder with a rule is there" 1 "there is no folder 'nothing' in it for a rule"
stop_server rules
offer read -I $host "$there"
try krdma put digits $host/digits2
ended "a server that is not to be written" 1 'does not allow writing' 'krdma serve --write DIR'
try krdma get fd77::1/digits out3
ended "a server at another address" 1 'cannot get \[fd77::1\]:7476/digits: connection refused'
try krdma serve -I $host "$there"
ended "a second server" 1 'another program listens there' 'krdma serve -P PORT'
stop_server read

# Serving one file, --once, and JSON

offer one -j --once -P 7481 "$there/digits"
try krdma get $host:7481/none
ended "another file than the one" 1 "has no file 'none'"
try krdma get $host:7481/
ended "a name that nobody has typed replaces nothing" 1 \
	"the server calls it 'digits', and '.' has one of that name" \
	"krdma get $host:7481/ ./digits"
rm -f digits
try krdma get $host:7481/
ended "the one file needs no name" 0 '!.'
same "and has its own here" digits "$there/digits"
finish_server()
{
	gone "$server"
	cp "$work/servers/$1" "$work/out"
	cp "$work/servers/$1.err" "$work/err"
}
finish_server one
ended "the server ends after that" 0 '^\{"event":"serving","address":"\[::\]:7481","path":"' \
	'"writable":false\}$' '^\{"event":"get","peer":"10\.77\.0\.1:[0-9]+","name":"none",' \
	'"error":"ENOENT"\}$' '"name":"","bytes":9,"transferred":9,.*"crc32c":"e3069283"\}$'
cp "$work/out" /out/serve.jsonl
escape=$(printf '\033')
mkdir "$work/names"
for name in .bashrc -rf "$(printf 'a\033[2Jb')"; do
	cp "$there/digits" "$work/names/$name"
	offer chosen -P 7481 "$work/names/$name"
	try krdma get $host:7481/
	ended "the server does not choose every name" 1 'a name that was not requested' \
		"krdma get $host:7481/ \./NAME" "!$escape"
	holds "and nothing has it here" [ ! -e "$name" ]
	try krdma get "$host:7481/no${escape}[2Jne"
	ended "a name that is asked for is not shown as it is" 1 'no.x1b\[2Jne' "!$escape"
	stop_server chosen
	ended "nor by the server" 0 'no.x1b\[2Jne' "!$escape"
done
try krdma serve "$work/names/no${escape}[2Jne"
ended "nor where it cannot be served" 1 'no.x1b\[2Jne' "!$escape"
offer stopped "$there"
begin krdma get --progress $host/long stopped
await "$work/err" "$some"
kill -TERM "$server"
finish
ended "clients of a server that ends are told" 1 'the server at 10\.77\.0\.1:7476 is shutting down'
finish_server stopped
ended "it ends as it should" 0 "get 'long' failed"

# The second signal comes when the server is freed and the session is being closed.
strace -f -o /dev/null -P /dev/krdma -e trace=close -e inject=close:delay_enter=3000000 \
	krdma serve "$there" >"$work/servers/twice" 2>&1 </dev/null &
tracer=$!
await "$work/servers/twice" serving
kill -INT "$(pidof krdma)"
sleep 1
kill -TERM "$(pidof krdma)"
gone "$tracer"
holds "a second signal ends the server at once" [ "$status" = 143 ]

# Invalid command lines, and help

for words in 'get' 'put' 'put digits' 'serve' 'serve a b' "get digits" "get $host" \
	"get -j $host/digits -" "get -C $host/digits -" "get $host/a $host/b missing" \
	"get rdma://$host:x/a" "get $host:0/a" "get $host:70000/a" "get [fd77::1/a" "get :1/a" \
	"serve -P x ." "serve --clients 0 ." "serve --connections 15 ." "get --nonsense $host/a" "put / $host/"; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "not understood: krdma $words" 2 '^krdma: '
done
for words in 'get help' 'put -h' 'serve --help' 'help get' 'help serve'; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "help: krdma $words" 0 '^Usage: krdma '
done
try krdma serve /nothing
ended "what is not there cannot be served" 1 "cannot offer '/nothing'"
try krdma serve /dev/null
ended "nor what is no file" 1 "neither a folder nor a file"

holds "nothing is left of all this" nothing_is_left "$before"
tap_end
