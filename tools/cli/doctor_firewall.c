// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check whether a firewall of this machine blocks RoCE, which uses UDP port 4791.
 */
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"
#include "doctor_rules.h"

#define PORT		"4791"

/* A firewall program, and the command that opens the port. */
struct firewall {
	const char *list[5];
	bool nft;
	/* The same, to be typed. */
	const char *shows;
	const char *remedy;
	const char *note;
};

static void judge(struct doctor *doctor, const struct firewall *firewall,
		  const struct rules *rules)
{
	const char *program = firewall->list[0];

	if (rules->keeps_out) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "%s has a rule that blocks UDP port " PORT ", RoCE: %s", program,
			   rules->which);
	} else if (rules->rest_is_kept_out && !rules->lets_in) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "%s drops what no rule accepts, and none accepts UDP port " PORT
			   ", RoCE: %s", program, rules->which);
	} else {
		doctor_say(doctor, "firewall", VERDICT_OK,
			   "%s does not block UDP port " PORT ", RoCE", program);
		return;
	}
	doctor_mend(doctor, firewall->note, "%s", firewall->remedy);
}

static bool check(struct doctor *doctor, const struct firewall *firewall)
{
	struct rules rules;
	bool there;
	char *text = doctor_output_of(firewall->list, &there);

	if (text && !doctor_read_rules(&rules, text, firewall->nft)) {
		judge(doctor, firewall, &rules);
	} else if (there && !geteuid()) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "the rules of %s cannot be read: it fails, or prints more than 1 MiB",
			   firewall->list[0]);
		doctor_mend(doctor, "as root", "%s", firewall->shows);
	} else if (there) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "%s shows its rules only to root", firewall->list[0]);
		doctor_mend(doctor, "as root", "krdma doctor");
	}
	free(text);
	return there;
}

void doctor_firewall(struct doctor *doctor)
{
	static const struct firewall firewalls[] = {
		/* Counters, which -s leaves out, have numbers that look like ports. */
		{ { "nft", "-s", "list", "ruleset", NULL }, true, "nft list ruleset",
		  "nft insert rule inet filter input udp dport " PORT " accept",
		  "as root; 'nft list ruleset' shows the names of your table and chain" },
		{ { "iptables", "-S", NULL }, false, "iptables -S",
		  "iptables -I INPUT -p udp --dport " PORT " -j ACCEPT", "as root" },
		{ { "ip6tables", "-S", NULL }, false, "ip6tables -S",
		  "ip6tables -I INPUT -p udp --dport " PORT " -j ACCEPT", "as root" },
	};
	bool any = false;

	if (!doctor->roce)
		return;
	for (size_t i = 0; i < sizeof(firewalls) / sizeof(*firewalls); i++)
		any |= check(doctor, &firewalls[i]);
	if (any)
		return;
	/* The PATH of other users than root may lack the folder of these programs. */
	if (geteuid()) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "only root can see whether a firewall blocks UDP port " PORT);
		doctor_mend(doctor, "as root", "krdma doctor");
	} else {
		doctor_say(doctor, "firewall", VERDICT_OK,
			   "neither nft nor iptables is installed");
	}
}
