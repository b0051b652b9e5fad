#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests folders with krdma serve, krdma get, krdma put and krdma ls on one machine.  Runs inside a
# VM; see peer.sh.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

there=$work/there away=$work/away
mkdir -p "$there/project/src/deep" "$there/project/empty" "$there/many" "$away"
cd "$away" || exit 1
before=$(resources)

# state FOLDER: names, types, permission bits and content of all that is in it.
state()
{
	(cd "$1" && find . | sort | while read -r name; do
		echo "$name $(stat -c '%a %F' "$name") $([ -d "$name" ] || md5sum <"$name")"
	done)
}

# moments FOLDER: names and times of modification.
moments()
{
	(cd "$1" && find . | sort | while read -r name; do
		echo "$name $(stat -c %Y "$name")"
	done)
}

# alike NAME WHAT FOLDER FOLDER: WHAT prints the same for both.
alike()
{
	"$2" "$3" >"$work/first"
	"$2" "$4" >"$work/second"
	if cmp -s "$work/first" "$work/second"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$work/first" "$work/second")"
	fi
}

echo readme >"$there/project/README"
echo hidden >"$there/project/.config"
head -c 100000 /dev/urandom >"$there/project/src/main.c"
: >"$there/project/src/deep/nothing"
echo header >"$there/project/src/deep/head er.h"
chmod 750 "$there/project/src/main.c" "$there/project/src/deep"
chmod 700 "$there/project/empty"
for file in project/src/main.c project/src/deep project/empty project; do
	touch -d '2001-09-09 01:46:40' "$there/$file"
done
for i in $(seq 100); do
	echo "$i" >"$there/many/file$i"
done

offer all --write "$there"

# Folders from there

try krdma get -r $host:project .
ended "a folder comes" 0 '!.'
holds "with all that is in it" [ "$(cd project && find . | sort | md5sum)" = \
	"$(cd "$there/project" && find . | sort | md5sum)" ]
alike "it is what it was" state "$there/project" project
holds "but for its times" [ "$(moments project | md5sum)" != "$(moments "$there/project" | md5sum)" ]
echo mine >project/README
try krdma get -r $host:project .
ended "nothing is replaced unasked" 1 "'./project/README' exists" 'krdma get -u'
holds "it is still there" [ "$(cat project/README)" = mine ]
try krdma get -r -u -j $host:project .
ended "with -u, what differs is" 1 "'.config' in './project' was not copied" 'such files too: --hidden' \
	'"name":"project/README".*"transferred":7'
cp "$work/out" /out/get-tree.json
touch -r project/src project/README
try krdma get -r --checksum -j $host:project .
ended "with --checksum, what has the same content is not" 1 '"name":"project/README",[^}]*"skipped":true'
printf 'README\n' >project/README
touch -r "$there/project/README" project/README
try krdma get -r -u -j $host:project .
ended "-u does not see what has length and time of the source" 1 \
	'"name":"project/README",[^}]*"skipped":true'
try krdma get -r --checksum -p -j $host:project .
ended "--checksum does" 1 '"name":"project/README",[^}]*"transferred":7'
holds "it is the server's" cmp project/README "$there/project/README"
try krdma get -r -u -p -j --hidden $host:project .
ended "hidden names too, if asked for" 0 '"name":"project/.config"' \
	'"name":"project/README".*"skipped":true'
alike "now it is the same" state "$there/project" project
try krdma get -r -p $host:project/ other
alike "a slash at the end means what is in it" state "$there/project" other
alike "-p keeps times" moments "$there/project" other
try krdma get -r -u -j --hidden $host:project/ other
ended "then nothing is left to get" 0 '"skipped":true' '!"transferred":[1-9]'
try krdma get -r $host:project/README alone
ended "a file may be meant, too" 0 '!.'
holds "it comes" cmp alone "$there/project/README"
try krdma get -r $host:none .
ended "a folder that is missing there" 1 "has no file 'none"
rm -rf other project alone

# The names of new folders are on disk, like those of files.
mkdir fresh
try strace -f -y -e trace=fsync -o "$work/synced" krdma get -r -q $host:project fresh
for folder in fresh fresh/project fresh/project/src fresh/project/src/deep fresh/project/empty; do
	holds "$folder is synced" grep -q "fsync([0-9]*<$away/$folder>) *= 0" "$work/synced"
done
rm -rf fresh/project
try strace -f -y -e trace=fsync -o "$work/synced" krdma get -r -q --no-sync $host:project fresh
holds "unless that is not asked for" [ -d fresh/project/src/deep -a \
	"$(grep -c 'fsync(' "$work/synced")" = 0 ]
rm -rf fresh

ln -s /tmp "$there/many/out"
ln -s ../project "$there/many/way"
ln -s file1 "$there/many/link"
mkfifo "$there/many/pipe"
begin=$(cut -d ' ' -f 1 /proc/uptime)
try krdma get -r -q $host/many .
took=$(awk -v begin="$begin" '{ print int(($1 - begin) * 1000) }' /proc/uptime)
ended "links to folders and pipes are left out" 0 "'way' was not copied: a symbolic link" \
	"'pipe' was not copied: neither"
holds "a link to a file is that file" [ "$(cat many/link)" = 1 ]
holds "no other way leads out" [ ! -e many/out ]
holds "a hundred files are there" [ "$(find many -type f | wc -l)" = 101 ]
if [ "$took" -le 300 ]; then
	ok "a hundred small files take little time"
else
	not_ok "a hundred small files take little time" "$took ms"
fi
echo "# $took ms for 100 files"
rm -rf many "$there/many/way" "$there/many/pipe" "$there/many/out" "$there/many/link"
try krdma get -r -j --streams 4 $host/many .
ended "over four connections" 0 '!error' '"streams":1' '!"streams":4'
alike "it is what it was, in four parts" state "$there/many" many
mkdir "$there/lone"
head -c 5000000 /dev/urandom >"$there/lone/file"
try krdma get -r -j --streams 4 $host/lone .
ended "the only file has all four" 0 '"streams":4'
alike "it is what it was, by four" state "$there/lone" lone
try krdma put -j --streams 3 lone/file $host/lone/by-three
ended "a file that is named has as many as it may" 0 '"streams":3'
holds "it is there" cmp lone/file "$there/lone/by-three"
rm -rf lone "$there/lone"

# The server takes eight clients of one address, unless it is told otherwise.
mkdir "$there/forty"
for i in $(seq 40); do
	head -c 300000 /dev/urandom >"$there/forty/$i"
done
try krdma get -r -j --streams 16 $host/forty .
ended "over more connections than the server has for an address" 0 '!error' '!limit of clients'
alike "it is what it was, by those that the server takes" state "$there/forty" forty
try krdma put -r -j --streams 16 forty $host/fortieth
ended "the same way back" 0 '!error' '!limit of clients'
alike "it is what it was, there" state forty "$there/fortieth"
rm -rf "$there/fortieth"
main=$server
offer one -P 7480 --clients 1 --clients-per-address 1 "$there"
mkdir one
try krdma get -r -q --streams 16 $host:7480/forty one
ended "over the only one that there is" 0 '!.'
alike "it is what it was, by one" state "$there/forty" one/forty
# The thread with the place may be done before the other one knows that it has none.
mkdir "$there/two"
printf x >"$there/two/a"
printf y >"$there/two/b"
failed=0
for i in $(seq 20); do
	rm -rf two
	krdma get -r -q --no-sync --streams 2 $host:7480/two . || failed=$((failed + 1))
	cmp two/b "$there/two/b" || failed=$((failed + 1))
	# Until the server has its place back.
	usleep 200000
done
holds "who has the place waits for those who may have none" [ $failed = 0 ]
stop_server one
server=$main
rm -rf one two forty "$there/forty" "$there/two"

# A symbolic link below the destination leads nowhere.
mkdir -p trap/project "$work/outside"
ln -s "$work/outside" trap/project/src
try krdma get -r -u --hidden $host:project trap
ended "a link in the way is not followed" 1 "make the folder 'trap/project/src'"
holds "nothing is behind it" [ -z "$(ls "$work/outside")" ]
rm -rf trap
mkdir trap
ln -s "$work/outside" trap/project
try krdma get -r -u --hidden $host:project trap
ended "nor one in the place of the folder" 1 "make the folder 'trap/project'"
try krdma get -r -u --hidden "$host:pro*" trap
ended "that a pattern has found" 1 "make the folder 'trap/project'"
holds "nothing is behind that" [ -z "$(ls "$work/outside")" ]
rm trap/project
echo outside >"$work/outside/victim"
ln -s "$work/outside" trap/README
try krdma get -u "$host:project/READ*" trap
holds "nor does a file that it has found go through a link to a folder" \
	[ "$(ls "$work/outside")" = victim ]
rm -rf trap/README
ln -s "$work/outside/victim" trap/README
try krdma get -u "$host:project/READ*" trap
holds "or to a file" [ "$(cat "$work/outside/victim")" = outside ]
rm -rf trap/README
mkdir trap/README
try krdma get -u "$host:project/READ*" trap
ended "nor into a folder of its name" 1 'folder'
holds "where nothing is" [ -z "$(ls trap/README)" ]
ln -s "$work/outside" given
try krdma get -r -q --hidden $host:project/ given
ended "a link that is named is followed" 0
holds "what it leads to has everything" cmp "$work/outside/README" "$there/project/README"
rm -rf trap given "$work/outside"

# Patterns

try krdma get "$host:many/file1?" .
ended "a pattern needs no -r" 0 '!.'
holds "all that it fits come" [ "$(echo file*)" = \
	"file10 file11 file12 file13 file14 file15 file16 file17 file18 file19" ]
rm -f file*
try krdma get "$host:*/src/*.c" .
ended "folders may have one" 0 '!.'
holds "what it fits comes" cmp main.c "$there/project/src/main.c"
try krdma get "$host:*/src/*.c" .
ended "the file is not replaced unasked" 1 "'./main.c' exists" || :
mkdir "$there/several" "$there/several/a" "$there/several/b" several
echo first >"$there/several/a/name"
echo second >"$there/several/b/name"
try krdma get "$host:several/*/name" several
ended "files of one name do not replace one another" 1 "'several/name' exists"
holds "the first one is there" [ "$(cat several/name)" = first ]
echo mine >several/name
try krdma get "$host:several/b*/name" several
ended "nor what was here" 1 "'several/name' exists" 'krdma get -u'
holds "it is still here" [ "$(cat several/name)" = mine ]
try krdma get --checksum "$host:several/b*/name" several
ended "unless they are to" 0 '!.'
holds "then it is replaced" [ "$(cat several/name)" = second ]
try krdma get "$host:several/a/name" several
ended "a name without a pattern replaces, too" 0 '!.'
holds "by what it names" [ "$(cat several/name)" = first ]
try krdma get "$host:several/*/" several
ended "folders that it fits are left out, with a slash, too" 1 'several/a/'
rm -rf several "$there/several"
try krdma get "$host:project/*" .
ended "a folder among them is left out" 1 "'project/src' was not copied: it is a folder" '!config'
holds "the files come" [ "$(cat README)" = readme ]
try krdma get "$host:project/.c*" .
holds "a pattern with a dot fits names with a dot" [ "$(cat .config)" = hidden ]
try krdma get "$host:nothing*" .
ended "a pattern that fits nothing is a name" 1 "has no file 'nothing\*'"
try krdma get "$host:many/*" none
ended "a pattern wants a folder" 2 "'none' is not a folder here"
rm -rf README .config main.c
printf x >"$there/-rf"
printf x >"$there/$(printf 'a\tb')"
try krdma get "$host:*" .
ended "names that are not harmless are left out" 1 "'-rf' in '.' was not copied" 'begins with' \
	'control or invisible characters'
holds "they are not there" [ -z "$(find . -maxdepth 1 -type f)" ]
rm -f "$there/-rf" "$there/$(printf 'a\tb')"

# Folders to there

krdma get -r -q -p $host:project . || :
try krdma put -r project $host:copies/
ended "a folder goes, and those to it are made" 0 '!.'
holds "with all that is in it" [ "$(cd project && find . | sort | md5sum)" = \
	"$(cd "$there/copies/project" && find . | sort | md5sum)" ]
holds "a folder for its owner alone is one there" [ "$(stat -c %a "$there/copies/project/empty")" = 700 ]
holds "and not one to it" [ "$(stat -c %a "$there/copies")" = 755 ]
try krdma put -r -p project $host:copies
alike "into a folder that is there" state project "$there/copies/project"
alike "-p keeps times there too" moments project "$there/copies/project"
echo newer >project/README
try krdma put -r -u -j project $host:copies
ended "with -u, what differs goes" 0 '"name":"copies/project/README",[^}]*"transferred":6' \
	'"name":"copies/project/.config",[^}]*"skipped":true'
touch project/README
try krdma put -r --checksum -j project $host:copies
ended "with --checksum, what has the same content does not" 0 \
	'"name":"copies/project/README",[^}]*"skipped":true' '!"transferred":[1-9]'
try krdma put -r -p project/ $host:again
alike "a slash at the end means what is in it" state project "$there/again"
ln -s README project/link
try krdma put -r -u project/ $host:again
ended "links are left out" 0 "'project//*link' was not copied: a symbolic link"
holds "they are not there" [ ! -e "$there/again/link" ]
try krdma put -r many $host:project/README
ended "a folder does not replace a file" 1 'cannot put'
holds "the file is still there" [ "$(cat "$there/project/README")" = readme ]
try krdma put -r --streams 3 many $host:three
alike "over three connections" state many "$there/three"

# Standard input

printf 'from a pipe' >"$work/in"
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'cat "$1" | krdma put - "$2:input"' sh "$work/in" $host
ended "standard input goes" 0 '!.'
holds "it is there" cmp "$work/in" "$there/input"
holds "with the permission bits of a new file" [ "$(stat -c %a "$there/input")" = 644 ]
# shellcheck disable=SC2016 # for the shell inside
try sh -c 'umask 027 && cat "$1" | krdma put - "$2:input"' sh "$work/in" $host
holds "as the umask here allows them" [ "$(stat -c %a "$there/input")" = 640 ]
try krdma put - $host:
ended "it needs a name" 2 'standard input needs a name'

# Lists

try krdma ls $host:
ended "a list" 0 '^project/$' '^many/$' '^input$' '!README'
try krdma ls -l $host:project
ended "with all about them" 0 '^-rw-r--r--  *7 [0-9-]* [0-9:]* README$' \
	'^drwx------  *0 2001-09-09 01:46 empty/$' '!config'
try krdma ls -a $host:project
ended "with hidden names" 0 '^\.config$'
try krdma ls -r rdma://$host/project
ended "of all levels" 0 '^src/deep/head er\.h$'
try krdma ls -j $host:project/README
ended "of one file, as JSON" 0 '"name":"README","type":"file","bytes":7,"mode":"0644","modified":[0-9.]*'
cp "$work/out" /out/ls.json
try krdma ls "$host:*/src"
ended "of what a pattern fits" 0 'project/src:$' '^main\.c$'
try krdma ls $host:none
ended "of what is missing" 1 "cannot ls 10\.77\.0\.1:7476/none" "has no file 'none'"
try krdma ls $host:9999
ended "a port alone names a server" 1 'connection refused' 'Start it there'
try krdma ls
ended "of nothing" 2 "'krdma ls' needs HOST"

# A command that is interrupted, and a server that goes away

mkdir "$there/big"
for i in 1 2 3 4; do
	head -c 16777216 /dev/urandom >"$there/big/$i"
done
begin krdma get -r --progress $host:big .
await "$work/err" '[1-9][0-9]*% .*/s +[0-9]+:[0-9][0-9] left'
leave INT "$client"
ended "Ctrl-C ends it" 130 'interrupted' 'more files of' 'the same command and -u'
ended "progress has rate and time left of all files" 130 \
	' +[0-9]+% .* of +64\.0 MiB +[0-9.]+ MiB/s +0:[0-5][0-9] left$'
try krdma get -r -u -C $host:big .
ended "it goes on" 0 '!.'
alike "it is what it was, in two goes" state "$there/big" big
rm -rf big
begin krdma get -r --progress --streams 2 $host:big .
await "$work/err" ' +[1-9][0-9]*% '
leave KILL "$server"
finish
ended "a server that is gone is missed once" 1 'has ended' '[0-9] more files of'
offer after --write "$there"
try krdma get -r -u -C -j $host:big .
alike "it is what it was, of two servers" state "$there/big" big
stop_server after
ended "the server tells of lists" 0 "list 'big/'"

# A server that may be written, but not everywhere

mkdir -p "$there/inbox"
offer rules --write --read-only project --write-only inbox "$there"
try krdma put -r many $host:project
ended "a folder that is read-only" 1 'does not allow writing'
try krdma put -r many $host:inbox/
ended "one that is write-only" 0 '!.'
try krdma ls $host:inbox
ended "is not listed" 1 "'inbox' leads out of the served folder, or is not permitted"
stop_server rules

# What cannot be read, there or here, is missed

chmod 755 "$work"
mkdir -p "$there/closed/src" "$there/closed/deep" "$away/half"
echo a >"$there/closed/src/a"
echo b >"$there/closed/deep/b"
chmod 0 "$there/closed/src"
mode=$(stat -c %a /dev/krdma)
chmod 666 /dev/krdma
su -s /bin/sh nobody -c "exec krdma serve '$there'" >"$work/servers/user" 2>&1 </dev/null &
server=$!
await "$work/servers/user" serving || cat "$work/servers/user"
chmod "$mode" /dev/krdma
try krdma get -r $host:closed .
ended "a folder that the server may not read" 1 "cannot read 'closed/src': Permission denied"
holds "what it may read comes" cmp closed/deep/b "$there/closed/deep/b"
try krdma ls -r $host:closed
ended "is missed in a list, too" 1 '^deep/b$' "cannot read 'closed/src'"
mkdir -p "$there/shut/.src"
echo f >"$there/shut/f"
chmod 0 "$there/shut/.src"
try krdma ls -r $host:shut
ended "what is hidden is not missed" 0 '^f$' '!.src'
try krdma ls -r -a $host:shut
ended "unless it is wanted" 1 '^f$' "cannot read 'shut/.src'"
leave INT "$server"
offer whole --write "$there"
echo c >"$away/half/c"
try strace -f -o /dev/null -e trace=getdents64 -e inject=getdents64:error=EIO:when=2+ \
	krdma put -r half $host:halves
ended "a folder here that cannot be read to its end" 1 "cannot read all of 'half"

# A file system that gives folders to somebody else than who makes them

mkdir -p "$there/foreign/in"
echo d >"$there/foreign/in/d"
chmod 700 "$there/foreign"
try strace -f -o /dev/null -e trace=geteuid -e inject=geteuid:retval=12345 \
	krdma get -r $host:foreign .
ended "a folder that belongs to somebody else once it is made" 0 '!.'
holds "is filled" cmp foreign/in/d "$there/foreign/in/d"
echo e >"$there/foreign/.e"
try strace -f -o /dev/null -e trace=geteuid -e inject=geteuid:retval=12345 \
	krdma get -r $host:foreign new
ended "as one that was there before" 1 "its name begins with '\\.'"
stop_server whole
rm -rf closed foreign new

holds "no part is left" [ -z "$(find "$work" -name '*.part')" ]
holds "nothing is left of all this" nothing_is_left "$before"
tap_end
