/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma doctor: what the rules of a firewall do with UDP port 4791, RoCE.
 */
#ifndef KRDMA_CLI_DOCTOR_RULES_H
#define KRDMA_CLI_DOCTOR_RULES_H

#include <stdbool.h>

/**
 * struct rules - what a firewall does with the port
 * @lets_in: a rule that names the port accepts
 * @keeps_out: a rule that names the port drops or rejects
 * @rest_is_kept_out: packets that match no rule are dropped or rejected
 * @which: the rule or chain that blocks
 */
struct rules {
	bool lets_in;
	bool keeps_out;
	bool rest_is_kept_out;
	char which[128];
};

/* @text: what nft or iptables prints; it is changed.  Returns 0 or -ENOMEM. */
int doctor_read_rules(struct rules *rules, char *text, bool nft);

#endif /* KRDMA_CLI_DOCTOR_RULES_H */
