# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs programs that create their own QPs, for run.sh.  Some behave well; others do not, and must
# not keep krdma from serving others.

# shellcheck source=tools/testing/interop/both.sh
[ -n "${krdma_at:-}" ] || . "$(dirname "$0")/both.sh"

# The verbs programs connect to krdma's side, which prints the result for each of them

serve verbs "$here/with_verbs" listen "$krdma_at" 7490 10
told=$work/servers/verbs

begin_there asks verbs connect "$krdma_at" 7490 asks
holds "one asks for a connection" await "$told" '^asks: has come$'
there verbs connect "$krdma_at" 7490 good
# Proves: F8
ended "beside one that waits for its answer others are served" 0 '^read: right$' '^answered$'
far signal asks KILL
# Proves: F8
holds "one that dies without having its answer is reported" await "$told" \
	'^asks: ended: ECONNRESET$'

begin_there answered verbs connect "$krdma_at" 7490 answered
far await answered '^answered$'
holds "one has its answer and does not say so" [ "$status" = 0 ]
there verbs connect "$krdma_at" 7490 good
# Proves: F8
ended "beside one that does not go on others are served" 0 '^read: right$' '^answered$'
far signal answered KILL
# Proves: F8
holds "one that dies before it is connected is reported" await "$told" \
	'^answered: not connected: ECONNRESET$'

there verbs connect "$krdma_at" 7490 wrong-key
ended "a write with a wrong key is refused" 0 '^wrong-key: remote access error$'
# Until 6.12, rxe raises no event when such a QP goes to the error state: the peer must leave.
shared=shared shared_end=EIO
case $(uname -r) in
6.1.*) shared=shared-leaves shared_end=EPIPE ;;
esac
there verbs connect "$krdma_at" 7490 $shared
ended "a write with a wrong key is refused where receives are shared" 0 \
	"^$shared: remote access error$"
there verbs connect "$krdma_at" 7490 beyond
ended "a read beyond what is offered is refused" 0 '^beyond: remote access error$'
there verbs connect "$krdma_at" 7490 too-long
# rxe reports an operation error at both ends; other devices report a length error.
ended "a message that is too long is refused" 0 '^too-long: remote operation error$'
there verbs connect "$krdma_at" 7490 unexpected
ended "a message that nobody waits for is not taken" 0 \
	'^unexpected: RNR retry counter exceeded$'
there verbs connect "$krdma_at" 7490 good
# Proves: F8
ended "after all these others are served" 0 '^read: right$' '^answered$'
served verbs
# Proves: F8
ended "what is read and written is right" 0 '^good: written: right$' '!written: wrong'
# The verbs programs leave it to krdma to end the connection.
# Proves: F8
ended "a wrong key is reported" 0 '^wrong-key: receive: flushed$' '^wrong-key: ended: EIO$'
ended "a wrong key is reported where receives are shared" 0 \
	"^$shared: ended: $shared_end$"
# Proves: F8
ended "a read beyond is reported" 0 '^beyond: receive: flushed$' '^beyond: ended: EIO$'
# Proves: F8
ended "a message that is too long is reported" 0 \
	'^too-long: receive: local operation error$' '^too-long: ended: EIO$'
# Proves: F8
ended "one whose message nobody waits for is reported" 0 '^unexpected: ended: EPIPE$'

serve refuse "$here/with_verbs" refuse "$krdma_at" 7491 57
there verbs connect "$krdma_at" 7491 lengths
# Proves: F8
ended "private data of every length come to krdma" 0 '^57 of 57 lengths$'
served refuse
# Proves: F8
ended "no private data are taken for krdma's" 0 '^57 strangers$'

# krdma connects to the verbs programs

# krdma_goes HOW: connect to a verbs program that listens and behaves as HOW says.
krdma_goes()
{
	serve_there "$1" 7492 verbs listen "$far_at" 7492 "$1"
	try "$here/with_verbs" connect "$far_at" 7492 "$1"
}

krdma_goes good
ended "krdma reads what is offered to it" 0 '^read: right$' '^answered$'
finish_there good
# Proves: F8
ended "what krdma writes is right" 0 '^written: right$'
krdma_goes wrong-key
# Proves: F8
ended "krdma is told of a key that is wrong" 0 '^read: remote access error$'
finish_there wrong-key
krdma_goes too-long
# Proves: F8
ended "krdma is told of a message that is too long" 0 '^read: right$' '^write: success$' \
	'^send: remote operation error$'
finish_there too-long
krdma_goes unexpected
# Proves: F8
ended "krdma is told of a message that nobody waits for" 0 '^write: success$' \
	'^send: rnr retry exceeded$'
finish_there unexpected

serve_there deaf 7493 verbs listen "$far_at" 7493 deaf
"$here/with_verbs" connect "$far_at" 7493 deaf >"$work/deaf" 2>&1 &
client=$!
far await deaf '^asked$'
holds "krdma asks one that does not answer" [ "$status" = 0 ]
far signal deaf KILL
finish
cp "$work/deaf" "$work/out"
# Proves: F8
ended "krdma is told of one that dies instead of answering" 0 '^not connected: ECONN'

serve_there refuses 7494 verbs listen "$far_at" 7494 refuses
try "$here/with_verbs" lengths "$far_at" 7494
# Proves: F8
ended "private data of every length come from krdma" 0 '^57 of 57 lengths, then EMSGSIZE$'
finish_there refuses
ended "one that refuses all of them has heard them" 0

# With two machines a peer can vanish without notice.  Then krdma's response is sent again and
# again for more than a minute.  The connection manager does that, in the same way on all kernels,
# so a test on one kernel is enough

case $NODES-$(uname -r) in
2-6.1.*)
	patience=300
	serve vanishes "$here/with_verbs" listen "$krdma_at" 7495 2
	begin_there answered verbs connect "$krdma_at" 7495 answered
	far await answered '^answered$'
	holds "one has its answer, and then its cable is pulled" [ "$status" = 0 ]
	vm-link 2 off
	try verbs connect "$krdma_at" 7495 good
	ended "beside one that has vanished others are served" 0 '^read: right$' '^answered$'
	# Wait first, because polling the whole time would load the machine.
	sleep 60
	served vanishes
	ended "one that vanishes before it is connected is reported" 0 \
		'^answered: not connected: ETIMEDOUT$'
	vm-link 2 on
	patience=120
	tries=0
	until far signal answered KILL; [ "$status" = 0 ] || [ $tries -ge 60 ]; do
		tries=$((tries + 1))
		sleep 1
	done
	there verbs connect "$krdma_at" 7495 good
	ended "it is reached again" 1 '^RDMA_CM_EVENT_REJECTED instead of '
	;;
esac
