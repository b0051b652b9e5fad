# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# A machine that enforces Secure Boot: which modules load, and what krdma doctor says.  Sourced by the
# trials that differ in where the own key is known.

# shellcheck source=tools/testing/system/common.sh
. /try/common.sh

secure_boot_is_on()
{
	# Four bytes of attributes, and the value.
	[ "$(od -An -t u1 -j 4 -N 1 /sys/firmware/efi/efivars/SecureBoot-* | tr -d ' ')" = 1 ]
}

# log_has PATTERN: the kernel has said so since the last time.
log_has()
{
	dmesg >/root/dmesg
	dmesg -C
	cat /root/dmesg
	grep -E "$1" /root/dmesg
}

# installed FOLDER: the modules of this folder are installed.
install_from()
{
	cp "$1"/*.ko "/lib/modules/$(uname -r)/updates/" && depmod
}

doctor_asks_for_a_key()
{
	says '^WARN +signature +this kernel loads only modules that are signed' krdma doctor &&
		not krdma doctor
}

doctor_is_content()
{
	krdma doctor && not says 'signature' krdma doctor
}

untainted()
{
	# 8192: a module without a valid signature; 4096: one from outside of the kernel's source.
	[ $(($(cat /proc/sys/kernel/tainted) & 8192)) -eq 0 ]
}

check_enforced()
{
	check "the firmware enforces Secure Boot" secure_boot_is_on
	check "the kernel is locked down" grep -F '[integrity]' /sys/kernel/security/lockdown
	check "at the start of the machine, the module without a signature was not loaded" \
		not test -d /sys/module/krdma
}

check_refused()
{
	dmesg -C
	check "modprobe says why" says 'Key was rejected by service|Operation not permitted' not modprobe krdma
	check "so does the kernel's log" log_has 'Loading of unsigned module is rejected|unsigned module loading is restricted'
	check "krdma doctor says that modules must be signed" doctor_asks_for_a_key

	check "modules that a stranger has signed are installed" install_from /try/stranger
	check "a module that a stranger has signed is refused" \
		says 'Key was rejected by service|Required key not available' not modprobe krdma
	check "krdma doctor says that modules must be signed with a known key" doctor_asks_for_a_key
}

check_loaded()
{
	check "the block device that is signed with the own key is loaded" modprobe krdma_blk
	check "the kernel is not tainted by a signature" untainted
	check "an RDMA device comes" sh /try/device.sh 0
	check "krdma doctor finds nothing wrong" doctor_is_content
	check "the unit that serves files works" sh -c 'mkdir -p /srv/krdma/files && cp /etc/os-release /srv/krdma/files &&
		systemctl start krdma-serve@files'
	check "a client gets a file" await 60 gets os-release
}
