#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The units under systemd: started, failing, restarted, stopped, and confined.  Prints TAP.

# shellcheck source=tools/testing/system/common.sh
. /try/common.sh

serve=krdma-serve@files.service
blk=krdma-blk@disk.service

device_file_is_the_groups()
{
	[ "$(stat -c '%F %G %a' /dev/krdma | tee $log)" = "character special file rdma 660" ]
}

no_unit_failed()
{
	systemctl --failed --no-legend --plain
	[ -z "$(systemctl --failed --no-legend --plain)" ]
}

# confined UNIT: its process is another user's, without capabilities and under a filter.
confined()
{
	local status

	status=/proc/$(pid_of "$1")/status
	grep -E '^(Uid|NoNewPrivs|Seccomp|CapEff):' "$status"
	[ "$(awk '$1 == "Uid:" { print $2 }' "$status")" -gt 1000 ] &&
		grep -q '^NoNewPrivs:	1$' "$status" && grep -q '^Seccomp:	2$' "$status" &&
		grep -q '^CapEff:	0*$' "$status"
}

# killed UNIT: its process is killed, and systemd starts another one.
is_restarted()
{
	local before

	before=$(pid_of "$1")
	kill -9 "$before"
	await 60 has "$1" NRestarts 1 && comes "$1" && [ "$(pid_of "$1")" != "$before" ]
}

# stops UNIT: at once, and as what it should.
stops()
{
	local began

	began=$(cut -d . -f 1 /proc/uptime)
	systemctl stop "$1" && has "$1" ActiveState inactive && has "$1" Result success &&
		[ $(($(cut -d . -f 1 /proc/uptime) - began)) -lt 10 ]
}

puts_file()
{
	head -c 100000 /dev/urandom >/root/new && krdma put -q /root/new 10.77.0.1:7477/new &&
		cmp /root/new /srv/krdma/files/new
}

# probe COMMAND: is run with the settings of the unit that serves files, to its end.
probe()
{
	drop_in krdma-serve@probe.service "Restart=no" "ExecStart=" "ExecStart=$*" \
		"Type=oneshot"
	systemctl reset-failed krdma-serve@probe.service 2>/dev/null
	systemctl start krdma-serve@probe.service
}

# filtered COMMAND: it is killed for a system call; without the filter it is not.
filtered()
{
	not probe "$*" && has krdma-serve@probe.service ExecMainStatus 31 || return
	drop_in krdma-serve@probe.service "Restart=no" "ExecStart=" "ExecStart=-$*" \
		"Type=oneshot" "SystemCallFilter="
	systemctl reset-failed krdma-serve@probe.service
	systemctl start krdma-serve@probe.service && not has krdma-serve@probe.service ExecMainStatus 31
}

# The start of the machine.

check "no unit has failed" no_unit_failed
check "the module is loaded" test -d /sys/module/krdma
check "/dev/krdma is there, for the group rdma" device_file_is_the_groups

# Files.

mkdir -p /srv/krdma/files /srv/krdma/probe /srv/other
head -c 3000000 /dev/urandom >/srv/krdma/files/data
check "a server whose folder does not exist is not started" systemctl start krdma-serve@nowhere
check "and has not failed" has krdma-serve@nowhere.service Result success
mkdir -p /srv/krdma/two-words
check "a server whose name has a hyphen is started" systemctl start krdma-serve@two-words
check "for the folder of this name" await 30 runs krdma-serve@two-words.service
systemctl stop krdma-serve@two-words
check "the server is enabled and started without an RDMA device" systemctl enable --now $serve
check "without an RDMA device it waits for one" runs $serve
check "an RDMA device comes" sh /try/device.sh 0
# Proves: F13 (units)
check "then a client gets a file" await 30 gets data
check "the server is another user, without capabilities, under a filter of system calls" confined $serve
# Proves: F13 (units)
check "killed, the server is started again" is_restarted $serve
check "and a client gets a file" gets data
check "stopped, the server ends with success" stops $serve
check "then a client is told that nothing listens" says 'no server|refused|listen' not gets data

# What a unit wants is not loaded if it is on a blacklist, as if it were missing.
echo "blacklist krdma" >/etc/modprobe.d/missing.conf
check "the module is unloaded" rmmod krdma
check "started without the module" systemctl start $serve
check "without the module the server is started again and again" await 60 has $serve NRestarts 2
check "its log says that the module is missing" says 'modprobe krdma' journalctl --no-pager -u $serve
rm /etc/modprobe.d/missing.conf
check "the module is there again, and the server runs without help" comes $serve
check "it has loaded the module" test -d /sys/module/krdma
check "and a client gets a file" gets data

echo 'OPTIONS="--port 7477 --write"' >/etc/krdma/serve-files
chgrp rdma /srv/krdma/files
chmod g+w /srv/krdma/files
systemctl restart $serve
check "with other options it listens at another port" await 30 krdma get -q 10.77.0.1:7477/data /root/other
check "a client cannot put a file where the unit may only read" says 'does not allow writing' not puts_file
drop_in $serve "ReadWritePaths=/srv/krdma/files"
systemctl restart $serve
check "a client puts a file where the unit may write" await 30 puts_file
no_drop_in $serve

echo 'OPTIONS="--no-such-option"' >/etc/krdma/serve-files
systemctl restart $serve
check "with a wrong option it fails, and tries again" await 30 has $serve SubState auto-restart
check "its log names the option" says 'no-such-option' journalctl --no-pager -u $serve
rm /etc/krdma/serve-files
check "corrected, it runs without help" comes $serve
check "and a client gets a file" await 20 gets data

# System calls.

check "the settings of the unit let a program run" probe /bin/true
# Proves: F13 (units)
check "a change of priorities is no system call of the unit" filtered /usr/bin/nice -n -5 /bin/true
check "chroot is no system call of the unit" filtered /usr/sbin/chroot / /bin/true
no_drop_in krdma-serve@probe.service

# AppArmor.

is_serving()
{
	journalctl --no-pager "_PID=$1" | grep serving
}

# other SETTING...: a client gets a file from a server of another folder.
other()
{
	drop_in krdma-serve@probe.service "Restart=no" "ExecStart=" \
		"ExecStart=/usr/bin/krdma serve -P 7478 /srv/other" "$@"
	systemctl restart krdma-serve@probe.service
	await 30 is_serving "$(pid_of krdma-serve@probe.service)" || return
	rm -f /root/other
	krdma get -q 10.77.0.1:7478/file /root/other && cmp /srv/other/file /root/other
}

# denied: what AppArmor has refused so far.
denied()
{
	dmesg | grep 'apparmor="DENIED"'
}

nothing_denied()
{
	not denied
}

# sh may be started, because systemd is not confined, but may start nothing.
probe_under_profile()
{
	drop_in krdma-serve@probe.service "Restart=no" "Type=oneshot" "ExecStart=" \
		"ExecStart=/bin/sh -c '/bin/true && exit 3'" "AppArmorProfile=krdma-serve"
	systemctl stop krdma-serve@probe.service
	systemctl start krdma-serve@probe.service
	has krdma-serve@probe.service ExecMainStatus 126
}

under_profile()
{
	grep -x 'krdma-serve (enforce)' "/proc/$(pid_of $serve)/attr/apparmor/current"
}

check "the kernel has AppArmor" grep -x Y /sys/module/apparmor/parameters/enabled
check "the profile is loaded" apparmor_parser -r /try/krdma-serve
echo 'OPTIONS="--port 7477 --write"' >/etc/krdma/serve-files
drop_in $serve "AppArmorProfile=krdma-serve" "ReadWritePaths=/srv/krdma/files"
systemctl restart $serve
check "the server runs under the profile" await 30 under_profile
rm -f /srv/krdma/files/new
check "a client puts a file there" await 30 puts_file
check "and gets one" await 30 krdma get -q 10.77.0.1:7477/data /root/other
check "AppArmor has refused nothing" nothing_denied
cp /etc/os-release /srv/other/file
check "without the profile another folder can be served" other
# Proves: F13 (units)
check "under the profile its files cannot" says 'is not permitted' not other "AppArmorProfile=krdma-serve"
# Proves: F13 (units)
check "and no other program can be started" probe_under_profile
check "AppArmor has refused both" denied
no_drop_in krdma-serve@probe.service
systemctl reset-failed krdma-serve@probe.service
no_drop_in $serve
rm /etc/krdma/serve-files
systemctl restart $serve
check "without the profile the server runs as before" await 30 gets data

# Memory of the machine as a disk.

fill_disk()
{
	local disk

	disk=$(krdma blk attach 10.77.0.1 disk) && [ -b "$disk" ] &&
		dd if=/root/content of="$disk" bs=1M oflag=direct status=none
}

same_on_disk()
{
	dd if=/dev/krdmab0 bs=1M count=8 iflag=direct status=none | cmp - /root/content
}

head -c 8M /dev/urandom >/root/content
check "an export without options is not started" systemctl start $blk
check "and has not failed" has $blk Result success
echo 'OPTIONS="--size 16M --keep /var/lib/krdma-blk/disk"' >/etc/krdma/blk-disk
systemctl enable --now $blk
check "an export to nobody fails, and is tried again" await 30 has $blk SubState auto-restart
check "its log says why" says 'allow|secret' journalctl --no-pager -u $blk
echo 'OPTIONS="--size 16M --allow 10.77.0.0/24 --keep /var/lib/krdma-blk/disk"' >/etc/krdma/blk-disk
# Proves: F13 (units)
check "corrected, it is exported without help" comes $blk
check "a client attaches it, and writes" fill_disk
check "udev gives the disk a name that stays" await 10 sh -c 'ls /dev/disk/by-id/krdma-*'
check "it is stopped while there is a client" systemctl stop $blk
check "then it has failed" has $blk ActiveState failed
check "and the client loses nothing" same_on_disk
check "its log says that there is a client" says 'client' journalctl --no-pager -u $blk
check "it is started again, with its client" systemctl start $blk
check "and runs" runs $blk
check "and the client reads on" same_on_disk
check "the client detaches" krdma blk detach disk
check "then stopping succeeds" stops $blk
check "the data are in the file" test "$(stat -c %s /var/lib/krdma-blk/disk)" -ge 8388608
check "it is started again" systemctl start $blk
check "a client attaches it" krdma blk attach 10.77.0.1 disk
check "and finds the data" same_on_disk
head -c 8M /dev/urandom >/root/content
check "the client writes other data" \
	dd if=/root/content of=/dev/krdmab0 bs=1M oflag=direct status=none
check "and stays when the machine restarts" same_on_disk
check "no unit has failed at the end" no_unit_failed
tap_end
