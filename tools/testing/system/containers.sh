#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The container image: podman makes it, and two containers of it use one device.  Prints TAP.

# shellcheck source=tools/testing/system/common.sh
. /try/common.sh

# Without a daemon that makes control groups.
podman()
{
	command podman --cgroup-manager cgroupfs --log-level error "$@"
}

# run OPTION... krdma ARGUMENT...: as the Containerfile says.
run()
{
	podman run --rm --network host --device /dev/krdma --ulimit memlock=-1 "$@"
}

make_image()
{
	(cd /try/sources && podman build -t krdma -f packaging/container/Containerfile .) &&
		podman images | grep 'localhost/krdma'
}

two_containers()
{
	mkdir -p /root/one /root/two && cp /root/content /root/one/file || return
	run -d --name server -v /root/one:/data krdma serve -P 7480 /data || return
	await 60 krdma ls 10.77.0.1:7480/ || return
	run -v /root/two:/data krdma get -q 10.77.0.1:7480/file /data/got && cmp /root/one/file /root/two/got
}

check "an RDMA device comes" sh -c '[ -e /sys/class/infiniband/rxe0 ] || sh /try/device.sh 0'
head -c 1000000 /dev/urandom >/root/content
# Proves: F13 (units)
check "podman makes the image" make_image
check "a container shows the device" says 'rxe0' run krdma dev
check "krdma doctor finds nothing wrong in it" run krdma doctor
check "without the device file it says what is missing" says '/dev/krdma' \
	podman run --rm --network host krdma dev
# Proves: F13 (units)
check "a container gets a file from another one" two_containers
check "the host sees the container that serves" says 'krdma' krdma stat
check "the container ends" podman stop -t 10 server
tap_end
