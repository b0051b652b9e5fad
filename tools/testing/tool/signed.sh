#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests what a user sees where the kernel loads only signed modules.  Runs inside a VM; see peer.sh.  The
# kernel cannot be made to load others again, so this comes last.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

enforce=/sys/module/module/parameters/sig_enforce

try rmmod krdma
ended "krdma is unloaded" 0
try krdma doctor
ended "doctor says that the module is missing" 1 '^FAIL +module +the module krdma is not ' \
	'!signature'
if [ ! -e $enforce ]; then
	skip "doctor says that modules must be signed" "this kernel does not check signatures"
	tap_end
	exit
fi
echo 1 >$enforce
try insmod /vm/krdma.ko
holds "the kernel refuses a module without a signature" [ "$status" != 0 ]
holds "the kernel's log says why" sh -c 'dmesg | grep "Loading of unsigned module is rejected"'
try krdma doctor
ended "doctor says that modules must be signed" 1 '^FAIL +module +the module krdma is not ' \
	'^WARN +signature +this kernel loads only modules that are signed with a key that it knows$' \
	'^ +mokutil --import /var/lib/dkms/mok.pub   ' \
	'^WARN +load +the kernel has refused to load it: Loading of unsigned module is rejected$'
modules=/lib/modules/$(uname -r)
mkdir -p /lib/modules
mount -t tmpfs none /lib/modules
mkdir "$modules"
cp /vm/krdma.ko "$modules/"
echo 'krdma.ko: kernel/ib_core.ko' >"$modules/modules.dep"
try krdma doctor
ended "doctor says that the installed one is not" 1 \
	'^WARN +signature +this kernel loads only modules .* it knows; krdma.ko is not signed$'
printf '%s\n' '~Module signature appended~' >>"$modules/krdma.ko"
try krdma doctor
ended "doctor says that the installed one is" 1 \
	'^WARN +signature +this kernel loads only modules .* it knows; krdma.ko is signed$'
umount /lib/modules
tap_end
