# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# librpma programs, for run.sh.

# shellcheck source=tools/testing/interop/both.sh
[ -n "${krdma_at:-}" ] || . "$(dirname "$0")/both.sh"

# Size and usage in librpma's descriptors, as rpma.h and the programs define them.
of_rpma='^told: offset 64, memory of 12416 bytes, usage 1f, direct write 0$'

# librpma connects; krdma's side promises direct write

serve memory "$here/with_rpma_memory" listen "$krdma_at" 7480
there rpma_memory connect "$krdma_at" 7480
# Proves: F8
ended "librpma connects and has krdma's private data" 0 '^read: right$'
# Proves: F8
ended "librpma reads krdma's memory and flushes it" 0 '^read: right$' '^flush: done$'
# Proves: F8
ended "librpma's flush to persistence is done where that is promised" 0 \
	'^persistent flush, direct write 1: done$'
# Proves: F8
ended "krdma reads and writes librpma's memory" 0 '^what came by writes: right$' \
	'^what came at once: together$' '^ended: .*losed'
served memory
ended "krdma is told of librpma's memory when asked" 0 "$of_rpma"
# Proves: F8
ended "librpma has written krdma's memory" 0 '^what came by writes: right$' \
	'^what came at once: together$'
# Proves: F8
ended "krdma reads librpma's memory and flushes it" 0 '^read: right$' '^flush: done$' \
	'^persistent flush: EOPNOTSUPP$'

# krdma connects, and promises no direct write

serve_there memory 7481 rpma_memory listen "$far_at" 7481
try "$here/with_rpma_memory" connect "$far_at" 7481
# Proves: F8
ended "krdma connects and has librpma's private data" 0 "$of_rpma"
ended "krdma reads the memory of a librpma that listens and flushes it" 0 '^read: right$' \
	'^flush: done$' '^persistent flush: EOPNOTSUPP$'
ended "a librpma that listens has written krdma's memory" 0 '^what came by writes: right$' \
	'^what came at once: together$'
finish_there memory
# Proves: F8
ended "a librpma that listens reads krdma's memory and flushes it" 0 '^read: right$' \
	'^flush: done$'
# Proves: F8
ended "librpma's flush to persistence is refused where it is not promised" 0 \
	'^persistent flush, direct write 0: Not supported$'
# Proves: F8
ended "krdma has written the memory of a librpma that listens" 0 \
	'^what came by writes: right$' '^what came at once: together$'

# Messages of two connections, with immediate data and without, in both directions; both sides use
# an SRQ

# Messages of both connections, as rpma.h defines them.
message_0='^connection 0, message 0: right, immediate 0$'
message_1='^connection 1, message 0: right, immediate 0$'
immediate_0='^connection 0, message 1: right, immediate 1020301$'
immediate_1='^connection 1, message 1: right, immediate 1020311$'
write_0='^connection 0, write 2: right, immediate 1020302$'
write_1='^connection 1, write 2: right, immediate 1020312$'

serve messages "$here/with_rpma_message" listen "$krdma_at" 7482
there rpma_message connect "$krdma_at" 7482
# Proves: F8
ended "krdma's messages come to librpma's shared receive queue" 0 "$message_0" "$message_1" \
	"$immediate_0" "$immediate_1"
# Proves: F8
ended "krdma's writes with immediate data come to librpma" 0 "$write_0" "$write_1"
served messages
# Proves: F8
ended "librpma's messages come to krdma's shared receive queue" 0 "$message_0" "$message_1" \
	"$immediate_0" "$immediate_1"
# Proves: F8
ended "librpma's writes with immediate data come to krdma" 0 "$write_0" "$write_1" \
	'^ended: EPIPE$'

serve_there messages 7483 rpma_message listen "$far_at" 7483
try "$here/with_rpma_message" connect "$far_at" 7483
# Proves: F8
ended "messages of a librpma that listens come to krdma" 0 "$message_0" "$message_1" \
	"$immediate_0" "$immediate_1" "$write_0" "$write_1"
finish_there messages
# Proves: F8
ended "krdma's messages come to a librpma that listens" 0 "$message_0" "$message_1" \
	"$immediate_0" "$immediate_1" "$write_0" "$write_1"
