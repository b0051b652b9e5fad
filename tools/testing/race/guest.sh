#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Runs test programs once for each seed of the delays, inside a VM whose krdma.ko was built
# with KRDMA_RACES=y.
#
#	guest.sh "SEED..." PROGRAM...

parameters=/sys/module/krdma/parameters
seeds=$1
shift
result=0
for seed in $seeds; do
	before=$(cat $parameters/race_delays)
	echo "$seed" >$parameters/race_seed
	sh /tests/run.sh "$@" || result=1
	delays=$(($(cat $parameters/race_delays) - before))
	# Without delays the tests have proved nothing.
	echo "1..1"
	if [ "$delays" -gt 0 ]; then
		echo "ok 1 - race: threads are delayed with seed $seed ($delays times)"
	else
		echo "not ok 1 - race: threads are delayed with seed $seed"
		result=1
	fi
done
exit $result
