// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check whether a firewall of this machine blocks RoCE, which uses UDP port 4791.
 * The output of nft and iptables is searched for rules that name the port.  Without such a rule,
 * the policy for other packets decides.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define PORT		"4791"

/* What the rules do with the port, and with packets that match no rule. */
struct rules {
	bool lets_in;
	bool keeps_out;
	bool rest_is_kept_out;
	/* The rule or chain that blocks. */
	char which[128];
};

static bool has_word(const char *line, const char *word)
{
	size_t length = strlen(word);
	const char *at = line;

	for (; (at = strstr(at, word)); at += length) {
		char before = at == line ? ' ' : at[-1], after = at[length];

		if ((before == ' ' || before == '\t') &&
		    (!after || after == ' ' || after == ';' || after == '\t'))
			return true;
	}
	return false;
}

static void remember(struct rules *rules, const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	printable(rules->which, sizeof(rules->which), line, strlen(line));
}

/* The lines: "chain input {", "type filter hook input priority filter; policy drop;", rules. */
static void read_nft_line(struct rules *rules, const char *line, bool *input)
{
	if (strstr(line, "chain "))
		*input = false;
	if (strstr(line, " hook input "))
		*input = true;
	if (strstr(line, PORT)) {
		rules->lets_in |= has_word(line, "accept");
		if (has_word(line, "drop") || has_word(line, "reject")) {
			rules->keeps_out = true;
			remember(rules, line);
		}
	} else if (*input && strstr(line, "policy drop")) {
		rules->rest_is_kept_out = true;
		remember(rules, line);
	}
}

/* A rule without a condition, at the end of the chain, decides like a policy. */
static void read_iptables_line(struct rules *rules, const char *line)
{
	if (!strcmp(line, "-P INPUT DROP") || !strncmp(line, "-A INPUT -j DROP", 16) ||
	    !strncmp(line, "-A INPUT -j REJECT", 18)) {
		rules->rest_is_kept_out = true;
		remember(rules, line);
	} else if (strstr(line, PORT)) {
		rules->lets_in |= has_word(line, "ACCEPT");
		if (has_word(line, "DROP") || has_word(line, "REJECT")) {
			rules->keeps_out = true;
			remember(rules, line);
		}
	}
}

static struct rules read_rules(char *text, bool nft)
{
	struct rules rules = { 0 };
	char *line, *rest = text;
	bool input = false;

	while ((line = strsep(&rest, "\n"))) {
		if (nft)
			read_nft_line(&rules, line, &input);
		else
			read_iptables_line(&rules, line);
	}
	return rules;
}

/* A firewall program, and the command that opens the port. */
struct firewall {
	const char *list[4];
	bool nft;
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

	if (text) {
		rules = read_rules(text, firewall->nft);
		free(text);
		judge(doctor, firewall, &rules);
	} else if (there) {
		doctor_say(doctor, "firewall", VERDICT_WARN,
			   "%s shows its rules only to root", firewall->list[0]);
		doctor_mend(doctor, "as root", "krdma doctor");
	}
	return there;
}

void doctor_firewall(struct doctor *doctor)
{
	static const struct firewall firewalls[] = {
		{ { "nft", "list", "ruleset", NULL }, true,
		  "nft insert rule inet filter input udp dport " PORT " accept",
		  "as root; 'nft list ruleset' shows the names of your table and chain" },
		{ { "iptables", "-S", NULL }, false,
		  "iptables -I INPUT -p udp --dport " PORT " -j ACCEPT", "as root" },
		{ { "ip6tables", "-S", NULL }, false,
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
