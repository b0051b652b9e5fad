// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: read the rules that nft and iptables print.  A rule that names the UDP port 4791
 * decides; without one, the policy for other packets does.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doctor_rules.h"

#define PORT	4791u

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

static const char *read_number(const char *at, unsigned int *number)
{
	for (*number = 0; isdigit((unsigned char)*at); at++)
		if (*number < 100000)
			*number = *number * 10 + (unsigned int)(*at - '0');
	return at;
}

/* True if the ports from @at to @end have the port: numbers, and ranges as in 4000-5000. */
static bool has_port(const char *at, const char *end)
{
	unsigned int low, high;

	while (at < end) {
		if (!isdigit((unsigned char)*at)) {
			at++;
			continue;
		}
		at = read_number(at, &low);
		high = low;
		if ((*at == '-' || *at == ':') && isdigit((unsigned char)at[1]))
			at = read_number(at + 1, &high);
		if (low <= PORT && PORT <= high)
			return true;
	}
	return false;
}

static bool ends_with(const char *line, const char *end, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(end - line) >= length && !memcmp(end - length, text, length);
}

/*
 * True if a rule names the port as that to which packets go: "udp dport 4791",
 * "th dport { 53, 4791 }", "-p udp ... --dport 4791" and "--dports 53,4791".
 */
static bool names_port(const char *line, bool nft)
{
	const char *at = line, *from, *end;

	if (!nft && !strstr(line, "-p udp "))
		return false;
	while ((from = strstr(at, "dport"))) {
		at = from + strlen("dport");
		if (nft ? !ends_with(line, from, "udp ") && !ends_with(line, from, "th ") :
			  !ends_with(line, from, " --") || ends_with(line, from, "! --"))
			continue;
		at += *at == 's';
		at += strspn(at, " ");
		end = at + (*at == '{' ? strcspn(at, "}") : strcspn(at, " "));
		if (has_port(at, end))
			return true;
	}
	return false;
}

/* Comments are text. */
static void blank_quoted(char *line)
{
	bool quoted = false;

	for (; *line; line++) {
		if (*line == '"')
			quoted = !quoted;
		else if (quoted)
			*line = '_';
	}
}

static void remember(struct rules *rules, const char *line)
{
	line += strspn(line, " \t");
	printable(rules->which, sizeof(rules->which), line, strlen(line));
}

static const char *skip_words(const char *at, unsigned int count)
{
	while (count--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return at;
}

static bool begins_with(const char *line, const char *text)
{
	return !strncmp(line, text, strlen(text));
}

/* True for "drop" and "reject ..." without a condition.  To count and log is none. */
static bool keeps_all_out(const char *line)
{
	line += strspn(line, " \t");
	for (;;) {
		if (begins_with(line, "counter packets "))
			line = skip_words(line, 5);
		else if (begins_with(line, "counter "))
			line = skip_words(line, 1);
		else if (begins_with(line, "log prefix "))
			line = skip_words(line, 3);
		else
			break;
	}
	return !strcmp(line, "drop") || begins_with(line, "drop ") || !strcmp(line, "reject") ||
	       begins_with(line, "reject ");
}

/*
 * The lines: "chain input {", "type filter hook input priority filter; policy drop;", rules.  One
 * without a condition, at the end of the chain, decides like a policy.
 */
static void read_nft_line(struct rules *rules, const char *line, const char *shown, bool *input)
{
	if (strstr(line, "chain "))
		*input = false;
	if (strstr(line, " hook input "))
		*input = true;
	if (names_port(line, true)) {
		rules->lets_in |= has_word(line, "accept");
		if (has_word(line, "drop") || has_word(line, "reject")) {
			rules->keeps_out = true;
			remember(rules, shown);
		}
	} else if (*input && (strstr(line, "policy drop") || keeps_all_out(line))) {
		rules->rest_is_kept_out = true;
		remember(rules, shown);
	}
}

static void read_iptables_line(struct rules *rules, const char *line, const char *shown)
{
	if (!strcmp(line, "-P INPUT DROP") || !strncmp(line, "-A INPUT -j DROP", 16) ||
	    !strncmp(line, "-A INPUT -j REJECT", 18)) {
		rules->rest_is_kept_out = true;
		remember(rules, shown);
	} else if (names_port(line, false)) {
		rules->lets_in |= has_word(line, "ACCEPT");
		if (has_word(line, "DROP") || has_word(line, "REJECT")) {
			rules->keeps_out = true;
			remember(rules, shown);
		}
	}
}

int doctor_read_rules(struct rules *rules, char *text, bool nft)
{
	char *line, *rest = text, *shown = strdup(text);
	bool input = false;

	memset(rules, 0, sizeof(*rules));
	if (!shown)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		char *same = shown + (line - text);

		same[strlen(line)] = '\0';
		blank_quoted(line);
		if (nft)
			read_nft_line(rules, line, same, &input);
		else
			read_iptables_line(rules, line, same);
	}
	free(shown);
	return 0;
}
