# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# librdmacm's own programs, for run.sh.

# shellcheck source=tools/testing/interop/both.sh
[ -n "${krdma_at:-}" ] || . "$(dirname "$0")/both.sh"

# One message in each direction

serve hello "$here/hello" listen "$krdma_at" 7471 3
for _ in 1 2; do
	there rdma_client -s "$krdma_at"
	ended "rdma_client is served" 0 'rdma_client: end 0$'
done
# A connection that has ended does not disturb the next one.
there rdma_client -s "$krdma_at" -p 7471
ended "rdma_client is served again" 0 'rdma_client: end 0$'
served hello
# Proves: F8
ended "what rdma_client sends has its length" 0 '^16 bytes came, and were answered$'

serve_there server 7472 rdma_server -p 7472
try "$here/hello" connect "$far_at" 7472
ended "rdma_server answers" 0 '^16 bytes have answered$' '^ended: EPIPE$'
finish_there server
# Proves: F8
ended "rdma_server has what it wanted" 0 'rdma_server: end 0$'

# Eight connections, a hundred messages of a thousand bytes each way on each of them

serve many "$here/many" listen "$krdma_at" 7473 8 100 1000
there ucmatose -s "$krdma_at" -p 7473 -c 8 -C 100 -S 1000
ended "ucmatose has eight connections to krdma" 0 'return status 0$'
served many
# Proves: F8
ended "eight hundred messages come from ucmatose" 0 \
	'^800 sent, 800 have come, 8 connections ended$'

serve_there many 7474 ucmatose -p 7474 -c 8 -C 100 -S 1000
try "$here/many" connect "$far_at" 7474 8 100 1000
ended "krdma has eight connections to ucmatose" 0 \
	'^800 sent, 800 have come, 8 connections ended$'
finish_there many
# Proves: F8
ended "eight hundred messages come to ucmatose" 0 'return status 0$'

# rping, which compares the data that it receives with the data that it sent

serve rping krdma ping --rping --listen
for size in 23 64 4096 65535; do
	there rping -c -a "$krdma_at" -C 3 -S $size -V -v
	holds "rping is served: $size bytes" [ "$status" = 0 -a \
		"$(objects "$work/out" '^ping data: rdma-ping-')" = 3 ]
done
stop_server rping
# Proves: F8
ended "rping is served, all sizes" 0 ' left after 6 messages' '4 clients served, 0 failed'

served_by_rping=0
for size in 23 64 4096 65535; do
	serve_there rping 7174 rping -s -a "$far_at" -C 3 -S $size -V
	try krdma ping --rping -c 3 -i 0 -s $size "$far_at"
	ended "rping serves $size bytes" 0 '^3 transmitted, 3 received'
	finish_there rping
	[ "$status" != 0 ] || served_by_rping=$((served_by_rping + 1))
done
# Proves: F8
holds "rping serves, all sizes, and finds its text right" [ $served_by_rping = 4 ]
