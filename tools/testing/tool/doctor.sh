#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Tests krdma doctor.  Runs inside a VM; see peer.sh.  It breaks parts of the machine's
# configuration, and repairs them.  Prints TAP.

here=$(dirname "$0")
# shellcheck source=tools/testing/tap.sh
. "$here/tap.sh"
# shellcheck source=tools/testing/tool/peer.sh
. "$here/peer.sh"

before=$(resources)
mkdir -p "$work/bin"

# try_user COMMAND: like try(), as the user nobody.
try_user()
{
	try su -s /bin/sh nobody -c "$1"
}

try krdma doctor
# Proves: E13
ended "all is well" 0 '^OK +module +krdma is loaded$' '^OK +file +/dev/krdma can be opened$' \
	'^OK +version +module and tool are both [0-9]' '^OK +device +there is 1 RDMA device$' \
	'^OK +interface +dummy0, behind rxe0, has an address$' \
	'^OK +mtu +packets of rxe0 carry 1024 bytes, because the MTU of dummy0 is 1500; 4096 are faster$' \
	'^ +ip link set dummy0 mtu 4192   \(' '^OK +port +port 1 of rxe0 is active$' \
	'^OK +memlock ' '^OK +register ' '^OK +firewall +neither nft nor iptables' '!WARN' '!FAIL'
escape=$(printf '\033')
holds "in a pipe there is no color" [ "$(grep -c "$escape" "$work/out")" = 0 ]
for words in '--color' '--color=always'; do
	try krdma doctor $words
	ended "color is there if one likes: $words" 0 "^$escape\\[32mOK  $escape\\[0m  module "
done
try "$here/terminal" krdma doctor
ended "at a terminal there is color" 0 "^$escape\\[32mOK  $escape\\[0m  module "
try "$here/terminal" krdma --color=never doctor
ended "at a terminal there is none if one likes" 0 '^OK +module ' "!$escape"
# What is printed at 80 columns, with a line for each check, and with those of a pipe.
tr -d '\r' <"$work/out" >"$work/narrow"
holds "lines are not longer than the terminal, but for commands" \
	[ "$(grep -v '^ *ip link' "$work/narrow" | awk 'length > 80' | wc -l)" = 0 ]
try krdma doctor
holds "between words, and none is missing" \
	[ "$(tr -s ' \n' '  ' <"$work/narrow")" = "$(tr -s ' \n' '  ' <"$work/out")" ]
holds "a pipe has a line for each" [ "$(grep -c '^OK' "$work/out")" -ge 12 -a \
	"$(wc -l <"$work/narrow")" -gt "$(wc -l <"$work/out")" ]
try env NO_COLOR=1 "$here/terminal" krdma doctor
ended "nor if the environment says so" 0 '^OK +module ' "!$escape"
try krdma doctor --color=blue
ended "a color that is none" 2 "^krdma: --color needs always, never or auto, not 'blue'"
try krdma doctor -j $host
ended "JSON has it all" 0 '^\{"checks":\[\{"check":"module","verdict":"ok","text":"krdma is loaded"\},' \
	'"check":"mtu","verdict":"ok",.*"remedy":"ip link set dummy0 mtu 4192","note":"' \
	'"check":"route","verdict":"ok"' '"check":"connect","verdict":"ok"' \
	'\],"warned":0,"failed":0\}$'
cp "$work/out" /out/doctor.json

# The route to a host

try krdma doctor $host
ended "a host that answers" 0 '^OK +route +10\.77\.0\.1 is reached from rxe0$' \
	'^OK +connect +10\.77\.0\.1 answers$'
try krdma doctor fd77::1 7477
ended "a port at which nobody listens" 1 \
	'^FAIL +connect +fd77::1 answers, but no program listens at port 7477 there$' \
	'^ +krdma serve -P 7477 DIR   '
krdma serve -P 7477 -q / >"$work/served" 2>&1 &
server=$!
await "$work/served" serving
try krdma doctor node1 7477
ended "a port at which somebody listens" 0 '^OK +connect +a program answers at 10\.77\.0\.1, port 7477$'
leave INT "$server"
try krdma doctor 10.66.0.1
ended "a host without a way" 1 '^FAIL +route +no RDMA device here has a route to 10\.66\.0\.1' \
	'^ +ip route get 10\.66\.0\.1'
ip link add dummy8 type dummy
ip address add 10.88.0.1/24 dev dummy8
ip link set dummy8 up
try krdma doctor 10.88.0.2
ended "a host behind another interface" 1 \
	'^FAIL +route +no RDMA device here has a route to 10\.88\.0\.2; packets go there out of dummy8$' \
	'^ +rdma link add rxe_dummy8 type rxe netdev dummy8   \(as root\)$'
# A name of an interface may have anything but a slash, a colon and blanks.
odd=$(printf 'a\033[31m;b')
ip link set dummy8 down
ip link set dummy8 name "$odd"
ip link set "$odd" up
try krdma doctor 10.88.0.2
ended "an interface whose name controls a terminal" 1 \
	'^FAIL +route +.* packets go there out of a\?\[31m;b$' \
	'^ +rdma link add rxe_INTERFACE type rxe netdev INTERFACE   \(as root\)$' "!$escape"
rdma link add rxe8 type rxe netdev "$odd"
ip link set "$odd" down
try krdma doctor
ended "and is no part of a command" 0 '^WARN +interface +a\?\[31m;b, behind rxe8, is down$' \
	'^ +ip link set INTERFACE up   \(as root\)$' "!$escape"
rdma link delete rxe8
ip link set "$odd" name dummy8
ip link set dummy8 up
try krdma doctor -j "$(printf 'x\377y')"
ended "a host that is no UTF-8" 1 '"text":"cannot find the address of .x\?y.: '
cp "$work/out" /out/doctor-no-utf8.json
try krdma doctor no-such-host
ended "a host that is none" 1 "^FAIL +host +cannot find the address of 'no-such-host': "

# Commands that wait for a host end by Ctrl-C.
for words in "doctor 10.77.0.99" "ls 10.77.0.99:" "get 10.77.0.99:file $work/file"; do
	# shellcheck disable=SC2086 # a command with its arguments
	begin krdma $words
	usleep 700000
	leave INT "$client"
	holds "Ctrl-C ends krdma ${words%% *}" [ "$status" = 130 ]
done

# The network: the command that doctor prints repairs each fault.

ip link set dummy0 down
try krdma doctor
ended "an interface that is down" 1 '^FAIL +interface +dummy0, behind rxe0, is down$' \
	'^ +ip link set dummy0 up   \(as root\)$'
try krdma doctor -j
ended "and so in JSON" 1 '"verdict":"fail".*"remedy":"ip link set dummy0 up"' '"failed":1\}$'
cp "$work/out" /out/doctor-failed.json
ip link set dummy0 up
ip address flush dev dummy0
try krdma doctor
ended "an interface without an address" 1 '^FAIL +interface +dummy0, behind rxe0, has no address$' \
	'^ +ip address add 10\.0\.0\.1/24 dev dummy0   \('
ip address add 10.77.0.1/24 dev dummy0
ip link set dummy0 mtu 600
try krdma doctor
ended "an MTU that is small" 0 \
	'^WARN +mtu +packets of rxe0 carry only (256|512) bytes, because the MTU of dummy0 is 600$' \
	'^ +ip link set dummy0 mtu 4192   '
ip link set dummy0 mtu 4192
try krdma doctor
ended "an MTU that is large" 0 '^OK +mtu +packets of rxe0 carry 4096 bytes$' '!WARN'
ip link set dummy0 mtu 1500
# An interface whose MTU is below 1280 loses its IPv6 addresses.
ip -6 address add fd77::1/64 dev dummy0
rdma link add rxe8 type rxe netdev dummy8
ip link set dummy8 down
try krdma doctor
ended "one of two that is down" 0 '^WARN +interface +dummy8, behind rxe8, is down$' \
	'^OK +device +there are 2 RDMA devices$' '^OK +port +port 1 of rxe0 is active$'
rdma link delete rxe8
ip link delete dummy8
rdma link delete rxe0
try krdma doctor
# Proves: E13
ended "no device" 1 '^FAIL +device +there is no RDMA device here' \
	'^ +rdma link add rxe0 type rxe netdev dummy0   \(as root\)$' '!port'
rdma link add rxe0 type rxe netdev dummy0
try krdma doctor $host
# Proves: E13
ended "what it says mends it" 0 '^OK +connect '

# Namespaces

try unshare -n krdma doctor
ended "another namespace" 1 '^FAIL +(device|interface) .*namespace$' '^ +(rdma dev set|ip netns exec) '

# Right after a start

ip link set dummy0 down
{ sleep 1; ip link set dummy0 up; ip -6 address add fd77::1/64 dev dummy0; } &
try krdma doctor
ended "a link that comes a second later is waited for" 0 '^OK +port +port 1 of rxe0 is active$' \
	'^OK +interface ' '!FAIL'
wait $!

# Who uses it

krdma serve -P 7477 -q / >"$work/served" 2>&1 &
server=$!
await "$work/served" serving
try krdma doctor
ended "who keeps the module from being unloaded" 0 \
	"^OK +users +krdma cannot be unloaded while these use it: krdma \\($server\\)\$" '^ +krdma stat   '
leave INT "$server"
cat >"$work/bin/rdma" <<'SCRIPT'
#!/bin/sh
echo 'link rxe0/1 lqpn 1 type GSI state RTS sq-psn 7 comm [ib_core] '
echo 'link rxe0/1 lqpn 17 type RC state RTS rqpn 18 rq-psn 1 sq-psn 7 path-mig-state ARMED comm [krdma] '
echo 'link rxe0/1 lqpn 19 type RC state RTS rqpn 18 rq-psn 1 sq-psn 7 path-mig-state ARMED pdn 5 pid 231 comm perf'
echo 'link rxe0/1 lqpn 20 type RC state RTS rqpn 18 rq-psn 1 sq-psn 7 path-mig-state ARMED pdn 5 pid 231 comm perf'
echo 'link rxe0/1 lqpn 21 type RC state RTS rqpn 18 rq-psn 1 sq-psn 7 path-mig-state ARMED comm [nvme_rdma] '
SCRIPT
chmod +x "$work/bin/rdma"
try env PATH="$work/bin:$PATH" krdma doctor
ended "who else keeps a device" 0 \
	'^OK +users +others have queue pairs of RDMA devices: perf \(231\), \[nvme_rdma\]$' \
	'!cannot be unloaded'
rm "$work/bin/rdma"

# Permissions and limits

chmod 600 /dev/krdma
try_user "krdma doctor"
ended "one who may not" 1 \
	'^FAIL +file +/dev/krdma cannot be opened: only root and the group rdma may$' \
	'^ +usermod -aG rdma ' '!device'
chmod 666 /dev/krdma
try_user "ulimit -l 256; krdma doctor"
# Proves: E13
ended "one who may lock little memory" 0 \
	'^WARN +memlock +this process may lock, and so register, only 256KiB of memory$' \
	"echo '@rdma - memlock unlimited' >> /etc/security/limits.d/rdma.conf " '^OK +register ' \
	'^WARN +firewall +only root can see whether a firewall blocks UDP port 4791$'
try_user "ulimit -l 4; krdma doctor"
ended "one who may lock next to none" 1 '^FAIL +register +not even 64KiB of memory can be registered'
ports=$(cat /sys/module/krdma/parameters/max_ports)
echo 0 >/sys/module/krdma/parameters/max_ports
try_user "krdma doctor"
# Proves: E13
ended "one who has all ports that it may have" 1 \
	'^FAIL +limits +this user has 0 of 0 allowed: ports$' \
	'^ +echo 1 > /sys/module/krdma/parameters/max_ports   \(as root'
echo "$ports" >/sys/module/krdma/parameters/max_ports
try_user "krdma doctor"
ended "one who has not" 0 '^OK +limits +this user has reached no limit$'
chmod 600 /dev/krdma

# The QP of the connection manager, as the program rdma shows it

# managers STATE: replace rdma by a script that shows the GSI QP of rxe0 in STATE.  It also shows
# two QPs in error that doctor must ignore: an RC QP of rxe0, and the GSI QP of another device.
managers()
{
	printf '#!/bin/sh\nprintf "%%s\\n" "link rxe0/1 lqpn 1 type GSI state %s sq-psn 7 comm [ib_core] " \
		"link rxe0/1 lqpn 17 type RC state ERR sq-psn 7 comm [krdma] " \
		"link rxe00/1 lqpn 1 type GSI state ERR sq-psn 0 comm [ib_core] "\n' "$1" >"$work/bin/rdma"
	chmod +x "$work/bin/rdma"
}

try rdma resource show qp
ended "what rdma shows is what is read" 0 '^link rxe0/1 lqpn 1 type GSI state RTS '
path=$PATH
PATH=$work/bin:$PATH
managers ERR
try krdma doctor
ended "a manager whose queue pair is in error" 1 '^OK +port +port 1 of rxe0 is active$' \
	'^FAIL +manager +cannot connect over port 1 of rxe0: ' \
	'^ +rdma link delete rxe0 && rdma link add rxe0 type rxe netdev dummy0   \(as root; '
managers RTS
try krdma doctor
ended "a manager whose queue pair is alive" 0 '^OK +port +port 1 of rxe0 is active$' '!manager'
rm -f "$work/bin/rdma"
PATH=$path

# Firewalls, as scripts named nft, iptables and ip6tables show them

# firewall NAME TEXT: make a script NAME that prints TEXT.
firewall()
{
	printf '%s\n' "$2" >"$work/bin/$1.rules"
	printf '#!/bin/sh\ncat "%s"\n' "$work/bin/$1.rules" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

PATH=$work/bin:$PATH
firewall nft 'table inet filter {
	chain input {
		type filter hook input priority filter; policy accept;
		udp dport 53 drop
	}
}'
try krdma doctor
ended "nft lets it in" 0 '^OK +firewall +nft does not block UDP port 4791'
firewall nft 'table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept
	}
}'
try krdma doctor
ended "nft keeps out what it does not know" 0 \
	'^WARN +firewall +nft drops what no rule accepts, .*policy drop;$' \
	'^ +nft insert rule inet filter input udp dport 4791 accept   '
firewall nft 'table inet firewalld {
	chain filter_INPUT {
		type filter hook input priority filter + 10; policy accept;
		ct state { established, related } accept
		reject with icmpx admin-prohibited
	}
}'
try krdma doctor
ended "also by a rule at the end" 0 '^WARN +firewall +nft drops what no rule accepts, .*: reject with icmpx'
firewall nft 'table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		ct state established counter packets 84791 bytes 900 accept
	}
}'
try krdma doctor
ended "a counter that looks like the port is none" 0 '^WARN +firewall +nft drops what no rule accepts'
firewall nft 'table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		udp dport 4791 accept
	}
}'
try krdma doctor
ended "nft knows it" 0 '^OK +firewall +nft ' '!WARN'
firewall nft 'table inet filter {
	chain input {
		type filter hook input priority filter; policy accept;
		udp dport 4791 drop
	}
	chain output {
		type filter hook output priority filter; policy drop;
	}
}'
try krdma doctor
ended "nft keeps it out" 0 '^WARN +firewall +nft has a rule .*: udp dport 4791 drop$'
rm -f "$work/bin/nft"
firewall iptables '-P INPUT DROP
-P FORWARD DROP
-P OUTPUT ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT'
try krdma doctor
ended "iptables keeps out what it does not know" 0 \
	'^WARN +firewall +iptables drops what no rule accepts, .*-P INPUT DROP$' \
	'^ +iptables -I INPUT -p udp --dport 4791 -j ACCEPT   \(as root\)$'
firewall iptables '-P INPUT ACCEPT
-A INPUT -p udp -m udp --dport 4791 -j ACCEPT
-A INPUT -j REJECT --reject-with icmp-port-unreachable'
firewall ip6tables '-P INPUT ACCEPT
-A INPUT -p udp -m udp --dport 4791 -j DROP'
try krdma doctor
ended "iptables knows it, ip6tables keeps it out" 0 '^OK +firewall +iptables ' \
	'^WARN +firewall +ip6tables has a rule .*--dport 4791 -j DROP$'
cp "$work/out" "$work/ip6"
printf '#!/bin/sh\nexit 4\n' >"$work/bin/iptables"
rm -f "$work/bin/ip6tables"
try krdma doctor
ended "one that fails" 0 '^WARN +firewall +the rules of iptables cannot be read: it fails, or ' \
	'^ +iptables -S   \(as root\)$'
rm -f "$work/bin"/*

# The module

mv /dev/krdma /dev/krdma.away
try krdma doctor
ended "no file" 1 '^OK +module ' '^FAIL +file +/dev/krdma is not there, though' '!RDMA device'
mknod /dev/krdma c 1 3
try krdma doctor
ended "a file of something else" 1 '^FAIL +file '
rm /dev/krdma
mv /dev/krdma.away /dev/krdma
rmmod krdma
release=$(uname -r)
modules=/lib/modules/$release
mkdir -p /lib/modules
mount -t tmpfs none /lib/modules
try krdma doctor
ended "no module, and none of this kernel" 1 \
	"^FAIL +module +the module krdma is not loaded; there are no modules of this kernel, $release\$" \
	'^ +modprobe krdma   \(as root; on the host, if this is a container\)$' \
	'^OK +device +the kernel has 1 RDMA device: rxe0$' '^OK +memlock' '!^FAIL +device' '!load ' '!users'
mkdir "$modules"
printf '%s\n' 'kernel/krdma_blk.ko: updates/dkms/krdma.ko' 'kernel/net/xkrdma.ko:' 'kernel/krdmax.ko:' \
	>"$modules/modules.dep"
try krdma doctor
ended "no module is installed" 1 \
	"^FAIL +module +the module krdma is not installed for this kernel, $release\$" \
	"^ +make && make install-module   \\(as root, in krdma's sources; "
mkdir -p /lib/modules/1.2.3-other /var/lib/dkms/krdma
echo 'updates/dkms/krdma.ko.xz: kernel/drivers/infiniband/core/ib_core.ko.xz' \
	>/lib/modules/1.2.3-other/modules.dep
try krdma doctor
ended "the module of another kernel is installed" 1 \
	"^FAIL +module +the module krdma is installed for 1\\.2\\.3-other, but not for this kernel, $release\$" \
	"^ +dkms autoinstall -k $release   \\(as root; it needs the headers of that kernel\\)\$"
rmdir /var/lib/dkms/krdma
echo 'updates/krdma.ko: kernel/ib_core.ko' >>"$modules/modules.dep"
try krdma doctor
# Proves: E13
ended "no module, though it is installed" 1 \
	'^FAIL +module +the module krdma is not loaded; it is installed for this kernel$' \
	'^ +modprobe krdma   \(as root\)$' '^OK +memlock' '!load '
try krdma doctor -j
ended "no module, in JSON" 1 '"check":"module","verdict":"fail".*"remedy":"modprobe krdma"'
cp "$work/out" /out/doctor-no-module.json
# The kernel's version is not compared where symbols have versions, but the rest of the text is.
sed 's/\(vermagic=[^ ]* \)SMP/\1SMQ/' /vm/krdma.ko >"$work/krdma.ko"
try insmod "$work/krdma.ko"
holds "a module of another kernel is not loaded" [ "$status" != 0 ]
try krdma doctor
ended "doctor says why" 1 "^WARN +load +the kernel has refused to load it: krdma: version magic '.*SMQ" \
	"^ +make && make install-module   "

# Devices and drivers, without the module

rdma link delete rxe0
try krdma doctor
ended "no module, and no device" 1 '^FAIL +module ' \
	'^FAIL +device +there is no RDMA device here; rxe makes one of any network interface$' \
	'^ +rdma link add rxe0 type rxe netdev dummy0   \(as root\)$'
try rmmod rdma_rxe
if [ "$status" = 0 ]; then
	try krdma doctor
	ended "a kernel without a driver" 1 \
		"^FAIL +device +there is no RDMA device here, and this kernel, $release, has neither rdma_rxe nor siw to make one\$"
	echo 'kernel/drivers/infiniband/sw/siw/siw.ko.xz:' >>"$modules/modules.dep"
	try krdma doctor
	ended "a kernel with siw alone" 1 '^ +rdma link add siw0 type siw netdev dummy0   \(as root\)$'
	echo 'kernel/drivers/infiniband/sw/rxe/rdma-rxe.ko:' >>"$modules/modules.dep"
	try krdma doctor
	ended "a kernel with rxe" 1 '^ +rdma link add rxe0 type rxe netdev dummy0   \(as root\)$'
	# As modprobe does it, where the modules are.
	umount /lib/modules
	modprobe rdma_rxe
	mount -t tmpfs none /lib/modules
	mkdir "$modules"
	echo 'updates/krdma.ko: kernel/ib_core.ko' >"$modules/modules.dep"
else
	skip "a kernel without a driver" "rxe cannot be unloaded here"
fi
mount -t tmpfs none /sys/class/net
mkdir -p /sys/class/net/eth7/device /sys/class/net/eth8/device /sys/class/net/lo
ln -s ../../bus/pci/drivers/mlx5_core /sys/class/net/eth7/device/driver
ln -s ../../bus/pci/drivers/e1000 /sys/class/net/eth8/device/driver
try krdma doctor
ended "a card whose driver for RDMA is not installed" 1 \
	'^FAIL +device +the card of eth7 can do RDMA, but its driver mlx5_ib is not installed for this kernel$' \
	'!modprobe mlx5_ib' '!eth8'
echo 'kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko.zst:' >>"$modules/modules.dep"
try krdma doctor
ended "a card whose driver for RDMA is not loaded" 1 \
	'^FAIL +device +the card of eth7 can do RDMA, but its driver mlx5_ib is not loaded$' \
	'^ +modprobe mlx5_ib   \(as root\)$' '!eth8' '!rdma link add'
umount /sys/class/net
umount /lib/modules
rdma link add rxe0 type rxe netdev dummy0
for command in stat 'stat -j' 'top -b'; do
	# shellcheck disable=SC2086 # a list of words
	try krdma $command
	ended "without the module, krdma $command is an error" 1 \
		'^krdma: cannot open /dev/krdma: the module krdma is not loaded$' \
		'^Load it, as root: modprobe krdma$' '!SESSION' '!sessions'
done
insmod /vm/krdma.ko
try krdma doctor
ended "all is well again" 0 '!FAIL' '!WARN'

for words in 'doctor a b c' 'doctor a x' 'doctor a 0' 'doctor --nonsense'; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "not understood: krdma $words" 2 '^krdma: '
done
for words in 'doctor help' 'doctor -h' 'help doctor'; do
	# shellcheck disable=SC2086 # words
	try krdma $words
	ended "help: krdma $words" 0 '^Usage: krdma doctor'
done

holds "nothing is left of all this" nothing_is_left "$before"
tap_end
