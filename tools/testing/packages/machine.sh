#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC1091 # the file is copied there
#
# What a user does with the packages, in a clean system: the older ones are installed, with the
# headers of a kernel; those of a second kernel are installed beside; the packages are upgraded,
# used, removed and purged.  Prints TAP.
#
# usage: machine.sh SUITE OLD NEW
set -eu
suite=$1 old=$2 new=$3
. /try/tap.sh
log=/try/log

# check NAME COMMAND...: the command must succeed; its output is shown if it fails.  In it errexit
# holds, which it would not in a condition.
check()
{
	local name=$1 status
	shift

	set +e
	(set -e && "$@") >$log 2>&1 </dev/null
	status=$?
	set -e
	if [ "$status" -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "$(tail -n 40 $log)"
	fi
}

not()
{
	! "$@"
}

# nothing COMMAND...: it must print nothing.
nothing()
{
	local found

	found=$("$@") || :
	[ -z "$found" ] || {
		echo "$found"
		return 1
	}
}

apt()
{
	apt-get -qy -o Dpkg::Use-Pty=0 "$@"
}

# offer old|new: the packages that apt finds beside Debian's own.
offer()
{
	echo "deb [trusted=yes] file:/try/$1 ./" >/etc/apt/sources.list.d/krdma.list
	apt update
}

# kernels: the releases whose headers are installed.
kernels()
{
	ls /lib/modules
}

# built_for VERSION COUNT: DKMS has installed both modules for every kernel, and these are COUNT.
built_for()
{
	local kernel module file count=0

	for kernel in $(kernels); do
		[ -e "/lib/modules/$kernel/build" ] || continue
		count=$((count + 1))
		for module in krdma krdma_blk; do
			file=$(find "/lib/modules/$kernel/updates/dkms" -name "$module.ko*")
			[ "$(modinfo -F version "$file")" = "$1" ] || {
				echo "$kernel: $module is not version $1"
				dkms status
				cat "/var/lib/dkms/krdma/$1/build/make.log" 2>/dev/null
				return 1
			}
			[ "$(modinfo -F vermagic "$file" | cut -d ' ' -f 1)" = "$kernel" ] || return 1
		done
	done
	echo "modules for $count kernels"
	[ "$count" -eq "$2" ]
}

# Debug information would be ten times the size of the code.
modules_are_stripped()
{
	local file plain

	for file in /lib/modules/*/updates/dkms/krdma*.ko*; do
		plain=/try/module.ko
		case $file in
		*.xz) xz -dc "$file" >$plain ;;
		*.zst) zstd -qdcf "$file" >$plain ;;
		*) cp "$file" $plain ;;
		esac
		readelf -SW $plain >/try/sections
		grep -q '\.modinfo' /try/sections
		nothing grep '\.debug_info' /try/sections
		[ "$(stat -c %s $plain)" -lt 4000000 ]
	done
	[ -s /try/sections ]
}

only_the_new_source()
{
	[ -d "/usr/src/krdma-$new" ]
	[ ! -e "/usr/src/krdma-$old" ]
	nothing sh -c "dkms status | grep -F '$old'"
}

# Every man page is found, and those of functions lead to the page that has them.
pages_render()
{
	local page

	for page in 'krdma 8' 'krdma-get 1' 'krdma 4' 'libkrdma 3' 'krdma_conn_accept 3'; do
		# shellcheck disable=SC2086 # a name and a section
		set -- $page
		if ! man "$2" "$1" >/try/page 2>&1 || ! grep -qi "^NAME" /try/page; then
			echo "$page"
			cat /try/page
			return 1
		fi
	done
}

# The examples, as libkrdma-dev brings them, with pkg-config.
examples_build()
{
	rm -rf /try/examples
	cp -r /usr/share/doc/libkrdma-dev/examples /try/examples
	[ "$(pkg-config --modversion libkrdma)" = "$new" ]
	make -C /try/examples CFLAGS="-O2 -Wall -Wextra -Werror"
	ldd /try/examples/simple_client | grep -q 'libkrdma\.so\.0 => /'
}

# A program of libkrdma without the module: its error says what is missing.
example_says_what_is_missing()
{
	local said

	said=$(not /try/examples/simple_client 127.0.0.1 7471 2>&1)
	echo "$said"
	[ -n "$said" ]
}

# Modules that use krdma, with the headers and the symbols that krdma-dkms leaves.
example_modules_build()
{
	local kernel

	for kernel in $(kernels); do
		[ -e "/lib/modules/$kernel/build" ] || continue
		rm -rf /try/module
		cp -r /usr/share/doc/krdma-dkms/examples/module /try/module
		make -C /try/module KDIR="/lib/modules/$kernel/build" KRDMA="/usr/src/krdma-$new" \
			SYMBOLS="/var/lib/dkms/krdma/$new/$kernel/$(uname -m)/Module.symvers"
		[ -s /try/module/hello_send.ko ]
	done
}

group_exists()
{
	getent group rdma
}

# The rules name a group that exists, and udev can read them.
udev_accepts()
{
	if udevadm verify --help >/dev/null 2>&1; then
		udevadm verify /usr/lib/udev/rules.d/60-krdma.rules
	else
		# An older udev says on reading what is wrong.
		nothing sh -c "udevadm test-builtin path_id /nowhere 2>&1 | grep 60-krdma"
	fi
}

modules_load_names_a_module()
{
	local name file

	name=$(grep -v '^#' /usr/lib/modules-load.d/krdma.conf)
	# Only where there is the module: without it systemd-modules-load.service fails.
	dpkg -S /usr/lib/modules-load.d/krdma.conf | grep -q '^krdma-dkms:'
	# By its file: where only a kernel's headers are installed, nobody runs depmod.
	for file in "/lib/modules/"*"/updates/dkms/$name.ko"*; do
		modinfo -F name "$file" | grep -qx krdma
	done
}

units=/usr/lib/systemd/system

# unit_is_accepted UNIT: as UNIT@files.
unit_is_accepted()
{
	nothing sh -c "systemd-analyze verify $1@files.service 2>&1 | grep -F krdma"
	systemd-analyze verify --recursive-errors=one "$1@files.service"
}

# "a-b" is NAME as it is: %I would make "a/b" of it.
unit_takes_names_as_they_are()
{
	grep -q %i "$units/$1@.service"
	nothing grep %I "$units/$1@.service"
}

# A mistake in the unit, so that it is known that one is found.
unit_mistake_is_found()
{
	sed 's/^DynamicUser=.*/DynamicUser=perhaps/' $units/krdma-serve@.service >/try/krdma-bad@.service
	systemd-analyze verify /try/krdma-bad@.service 2>&1 | grep -F krdma-bad
}

# exposure UNIT: systemd's figure, from 0 (confined) to 10.
exposure()
{
	systemd-analyze security --offline=yes --no-pager "$1" 2>/dev/null |
		sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p'
}

# unit_is_confined UNIT MOST
unit_is_confined()
{
	local level

	cp "$units/$1@.service" "/try/$1@files.service"
	level=$(exposure "/try/$1@files.service")
	echo "$1: exposure $level"
	awk -v level="$level" -v most="$2" 'BEGIN { exit !(level != "" && level <= most) }'
}

# The unit that exports memory runs the tool with a verb and options that the tool knows: without the
# module it fails because of the module.
unit_runs_the_tool()
{
	local command

	command=$(sed -n 's/^ExecStart=//p' "$units/krdma-blk@.service" | sed 's/%i/disk/g')
	OPTIONS="--size 1M --allow any" sh -c "$command" >/try/unit 2>&1 && return 1
	cat /try/unit
	grep -q 'krdma_blk' /try/unit
	nothing grep -i usage /try/unit
}

# stops_by TARGET FILE [container]: how the unit ends an export with that file while TARGET is being
# started.
stops_by()
{
	local command

	mkdir -p /try/stubs /try/exports/disk
	# shellcheck disable=SC2016 # for the shell inside
	printf '#!/bin/sh\nfor word; do [ "$word" != %s ] || echo "12 $word start waiting"; done\n' \
		"$1" >/try/stubs/systemctl
	printf '#!/bin/sh\necho "$*"\n' >/try/stubs/krdma
	printf '#!/bin/sh\n[ -n "%s" ]\n' "${3:-}" >/try/stubs/systemd-detect-virt
	chmod +x /try/stubs/systemctl /try/stubs/krdma /try/stubs/systemd-detect-virt
	echo "$2" >/try/exports/disk/file
	command=$(sed -n 's/^ExecStop=//p' "$units/krdma-blk@.service" | sed 's/%i/disk/g
		s,/usr/bin/krdma,krdma,; s,/sys/kernel/config/krdma_blk,/try,')
	PATH=/try/stubs:$PATH sh -c "$command"
}

# Clients lose the memory only if the kernel ends, and only for what can be saved.
unit_takes_nothing_in_vain()
{
	[ "$(stops_by reboot.target /kept)" = "blk end disk -f" ]
	[ "$(stops_by poweroff.target /kept)" = "blk end disk -f" ]
	[ "$(stops_by reboot.target '')" = "blk end disk" ]
	[ "$(stops_by soft-reboot.target /kept)" = "blk end disk" ]
	[ "$(stops_by none /kept)" = "blk end disk" ]
	[ "$(stops_by halt.target /kept)" = "blk end disk -f" ]
	[ "$(stops_by halt.target /kept container)" = "blk end disk" ]
}

# Read, not loaded: the kernel is the host's.  And a profile with a mistake is not accepted.
profile_is_accepted()
{
	apparmor_parser -Q -K /try/krdma-serve
	sed 's/ rwk,/ rwq,/' /try/krdma-serve >/try/krdma-bad
	not apparmor_parser -Q -K /try/krdma-bad
}

# What is installed is what the packages say.
files_are_the_packages()
{
	nothing dpkg --verify krdma-dkms krdma-tools libkrdma0 libkrdma-dev krdma-doc
}

doc_is_there()
{
	grep -q '<title>.*krdma' /usr/share/doc/krdma-doc/html/index.html
	[ -s /usr/share/doc/krdma-doc/html/reference/library.html ]
	nothing find /usr/share/doc/krdma-doc -xtype l
}

no_krdma_left()
{
	# What apt and man remember of what they have seen is theirs.
	nothing find / -xdev \( -path /try -o -path /proc -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /etc/apt/sources.list.d \) -prune -o -iname '*krdma*' -print
}

only_configuration_is_left()
{
	nothing sh -c "find / -xdev \( -path /try -o -path /proc -o -path /var -o -path /etc \) \
		-prune -o -iname '*krdma*' -print"
}

check "the older packages are offered" offer old
check "they are installed, with the headers of a kernel" apt install krdma-dkms krdma-tools \
	libkrdma-dev krdma-doc linux-headers-amd64 man-db pkg-config systemd udev binutils
check "the tool is the older one" test "$(krdma --version)" = "krdma $old"
check "DKMS has built the older modules" built_for "$old" 1
check "the headers of a second kernel are installed beside" \
	apt install -t "$suite-backports" linux-headers-amd64
check "DKMS has built the older modules for both kernels" built_for "$old" 2

check "the newer packages are offered" offer new
check "apt upgrades to them" apt upgrade
check "the tool is the newer one" test "$(krdma --version)" = "krdma $new"
# Proves: F13
check "DKMS has built the newer modules for both kernels" built_for "$new" 2
check "the older source is gone" only_the_new_source
check "the modules have no debug information" modules_are_stripped

check "the files are those of the packages" files_are_the_packages
check "the tool says that the module is missing" sh -c 'krdma dev 2>&1 | grep -q "modprobe krdma"'
check "manual pages are found" pages_render
check "a compiler is installed" apt install make gcc libc6-dev
# Proves: F13
check "the examples are built with pkg-config" examples_build
check "an example says what is missing" example_says_what_is_missing
check "modules that use krdma are built" example_modules_build
check "the group rdma exists" group_exists
check "udev accepts the rules" udev_accepts
check "modules-load.d names the module" modules_load_names_a_module
check "systemd accepts the unit that serves files" unit_is_accepted krdma-serve
check "systemd accepts the unit that exports memory" unit_is_accepted krdma-blk
check "the unit that serves files takes a name with a hyphen" unit_takes_names_as_they_are krdma-serve
check "so does the unit that exports memory" unit_takes_names_as_they_are krdma-blk
check "systemd finds a mistake in a unit" unit_mistake_is_found
check "the unit that serves files is confined" unit_is_confined krdma-serve 2.0
sed 's/^/# /' $log
check "the unit that exports memory is confined" unit_is_confined krdma-blk 2.5
sed 's/^/# /' $log
check "the unit that exports memory runs the tool as the tool expects it" unit_runs_the_tool
check "it takes no memory from clients that could keep it" unit_takes_nothing_in_vain
check "AppArmor's parser is installed" apt install apparmor
check "AppArmor's parser accepts the profile" profile_is_accepted
check "the documents are there" doc_is_there

check "the packages are removed" apt remove krdma-dkms krdma-tools libkrdma0 libkrdma-dev krdma-doc
check "no file of them is left outside of /etc and /var" only_configuration_is_left
# Proves: F13
check "purged, they leave nothing" apt purge krdma-dkms krdma-tools libkrdma0 libkrdma-dev krdma-doc
check "nothing named krdma is left" no_krdma_left
tap_end
