// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Explain why a file was not copied, and what to do.
 */
#include <errno.h>
#include <string.h>

#include "cause.h"
#include "cli.h"
#include "copy.h"

#define NAME_TEXT	256

/* Words that the messages about one failure use. */
struct words {
	char place[URL_PLACE_TEXT];
	/* The source, as given by the user. */
	char what[URL_PLACE_TEXT + NAME_TEXT];
	char name[NAME_TEXT];
	char local[NAME_TEXT];
	const char *host;
	const char *verb;
	/* Command that continues an interrupted copy. */
	const char *again;
	/* Command that starts a suitable server. */
	const char *serve;
};

static void set_words(const struct copy *copy, struct words *words)
{
	name_text(words->name, sizeof(words->name), copy->name);
	name_text(words->local, sizeof(words->local), copy->local);
	url_place(copy->url, words->place);
	words->host = copy->url->host;
	words->verb = copy->verb ? copy->verb : copy->put ? "put" : "get";
	words->again = copy->verb ? "the same command" :
				    copy->put ? "krdma put -C ..." : "krdma get -C ...";
	words->serve = copy->put ? "krdma serve --write DIR" : "krdma serve DIR";
	if (copy->put)
		snprintf(words->what, sizeof(words->what), "%s", words->local);
	else
		snprintf(words->what, sizeof(words->what), "%s/%s", words->place, words->name);
}

/* @begun: data has been transferred. */
static void explain_between(const struct words *words, int err, bool begun)
{
	struct cause cause;

	if (err == -EPROTO && begun) {
		complain("cannot %s %s: %s violates the protocol, or the network changes data\n"
			 "Continue with: %s", words->verb, words->what, words->place,
			 words->again);
		return;
	}
	cause_of(&cause, words->host, err == -EADDRNOTAVAIL ? -EHOSTUNREACH : err);
	switch (err) {
	case -ECONNREFUSED:
		complain("cannot %s %s: %s\n"
			 "Start it there: %s (with -P PORT, if not at %u)",
			 words->verb, words->what, cause.why, words->serve, KRDMA_FILE_PORT);
		break;
	case -ECONNRESET:
		complain("cannot %s %s: the connection to %s has ended, maybe with the server\n"
			 "When it serves again, continue with: krdma %s -C ...",
			 words->verb, words->what, words->place, words->verb);
		break;
	case -EPROTO:
		complain("cannot %s %s: the program that answers at %s is not krdma serve\n"
			 "Give the port of krdma serve: %s:PORT/...",
			 words->verb, words->what, words->place, words->host);
		break;
	case -EKEYREJECTED:
		complain("cannot %s %s: the server at %s does not know this secret\n"
			 "Start it there with the same secret: krdma serve --secret FILE ...",
			 words->verb, words->what, words->place);
		break;
	case -EPROTONOSUPPORT:
		complain("cannot %s %s: krdma at %s has another version; this is %s\n"
			 "Install the same version on both machines", words->verb, words->what,
			 words->host, krdma_version());
		break;
	default:
		if (*cause.mend)
			complain_cause(&cause, "cannot %s %s", words->verb, words->what);
		else
			complain("cannot %s %s: the connection to %s failed: %s\n"
				 "To see what is missing: krdma doctor %s", words->verb,
				 words->what, words->place, cause.why, words->host);
		break;
	}
}

static void explain_peer(const struct copy *copy, const struct words *words, int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		complain("cannot %s %s: %s has no %s '%s'\n"
			 "Names are relative to the served folder; 'krdma ls' lists them",
			 words->verb, words->what, words->host,
			 copy->put ? "folder for" : "file", words->name);
		break;
	case -EACCES:
	case -EPERM:
		complain("cannot %s %s: '%s' leads out of the served folder, or is not permitted\n"
			 "Check the permissions of file and folder for the server: %s",
			 words->verb, words->what, words->name, words->host);
		break;
	case -EROFS:
		complain("cannot put %s: the server at %s does not allow writing\n"
			 "If it should, start it there with --write: krdma serve --write DIR",
			 words->what, words->place);
		break;
	case -EISDIR:
		complain("cannot %s %s: '%s' is a folder at %s\n%s", words->verb, words->what,
			 words->name, words->host,
			 copy->put ? "Add / to put it into that folder" :
				     "Get all that is in it: -r");
		break;
	case -EOPNOTSUPP:
		complain("cannot %s %s: '%s' at %s is neither a file nor a folder",
			 words->verb, words->what, words->name, words->host);
		break;
	case -EUSERS:
		complain("cannot %s %s: %s has reached its limit of clients, in all or from here\n"
			 "Try again later, or raise the limits there: --clients, --clients-per-address",
			 words->verb, words->what, words->place);
		break;
	case -ECONNREFUSED:
		complain("cannot %s %s: the server at %s admits no clients from this address\n"
			 "To admit them, start it there with this address too: krdma serve --allow",
			 words->verb, words->what, words->place);
		break;
	case -ENOKEY:
		complain("cannot %s %s: the server at %s requires a secret\n"
			 "Give the one that it was started with: krdma %s --secret FILE ...",
			 words->verb, words->what, words->place, words->verb);
		break;
	case -EKEYREJECTED:
		complain("cannot %s %s: the server at %s has another secret\n"
			 "Give the one that it was started with: krdma %s --secret FILE ...",
			 words->verb, words->what, words->place, words->verb);
		break;
	case -ETIMEDOUT:
		complain("cannot %s %s: the server at %s has ended it for lack of progress\n"
			 "Continue with: %s", words->verb, words->what, words->place,
			 words->again);
		break;
	case -ESHUTDOWN:
		complain("cannot %s %s: the server at %s is shutting down\n"
			 "When it serves again, continue with: %s",
			 words->verb, words->what, words->place, words->again);
		break;
	case -EBUSY:
		complain("cannot put %s: another client continues '%s' at %s\n"
			 "Try again when it is done, or start again: without -C", words->what,
			 words->name, words->host);
		break;
	case -EEXIST:
		complain("cannot put %s: '%s' exists at %s, and must not be replaced\n"
			 "Give it another name", words->what, words->name, words->host);
		break;
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		complain("cannot put %s: not enough space at %s: %s\n"
			 "Free some there, then continue with: krdma put -C ...",
			 words->what, words->host, strerror(-err));
		break;
	case -ENOMEM:
		complain("cannot %s %s: the server at %s may not lock enough memory\n"
			 "Try again when it has fewer clients, or raise its limit: ulimit -l",
			 words->verb, words->what, words->place);
		break;
	case -ESTALE:
		complain("cannot get %s: it was changed while it was copied\n"
			 "Try again", words->what);
		break;
	case -EBADMSG:
		complain("cannot put %s: the received data differ from the sent data (checksum)\n"
			 "Try again; if it happens again, memory or a network card is broken",
			 words->what);
		break;
	default:
		complain("cannot %s %s: the server at %s says: %s", words->verb, words->what,
			 words->place, strerror(-err));
		break;
	}
}

static void explain_here(const struct copy *copy, const struct words *words,
			 const char *chosen, int err)
{
	const char *where = words->local;

	switch (err) {
	case -EILSEQ:
		complain("cannot get %s: the server calls it '%s', a name that was not requested\n"
			 "Give it a name: krdma get %s/%s ./NAME", words->what, chosen,
			 words->place, words->name);
		break;
	case -EEXIST:
		if (copy->flags & KRDMA_FILE_NEW) {
			complain("cannot get %s: '%s' exists, and its name was not requested\n"
				 "Replace what differs: krdma get -u ...", words->what, where);
			break;
		}
		complain("cannot get %s: the server calls it '%s', and '%s' has one of that name\n"
			 "To replace it: krdma get %s/%s %s/%s", words->what,
			 chosen, where, words->place, words->name, where, chosen);
		break;
	case -ECANCELED:
		complain("cannot %s %s: interrupted\nContinue with: %s", words->verb,
			 words->what, words->again);
		break;
	case -EDQUOT:
		complain("cannot %s %s: %s\n"
			 "The limit is one of the disk, or of the module: krdma info",
			 words->verb, words->what, strerror(-err));
		break;
	case -ENOMEM:
	case -EPERM:
		complain("cannot %s %s: %s\n"
			 "RDMA locks its buffers in memory; 'ulimit -l' shows how much this process may lock\n"
			 "To see how to raise that: krdma doctor", words->verb, words->what,
			 strerror(-err));
		break;
	case -EBADMSG:
		complain("cannot get %s: the received data differ from the sent data (checksum)\n"
			 "Try again; if it happens again, memory or a network card is broken",
			 words->what);
		break;
	case -ESTALE:
		complain("cannot put %s: it was changed while it was copied\n"
			 "Try again", words->what);
		break;
	case -EBUSY:
		complain("cannot get %s: another process continues it in '%s'\n"
			 "Try again when it is done, or start again: without -C", words->what,
			 where);
		break;
	case -ENOSPC:
	case -EFBIG:
		complain("cannot get %s: not enough space for '%s': %s\n"
			 "Free some, then continue with: krdma get -C ...", words->what, where,
			 strerror(-err));
		break;
	case -EISDIR:
		complain("cannot %s %s: '%s' is a folder\n%s", words->verb, words->what, where,
			 copy->put ? "Put all that is in it: -r" :
				     "Give the file another name, or remove the folder");
		break;
	case -EOPNOTSUPP:
		complain("cannot %s %s: '%s' is neither a file nor a folder", words->verb,
			 words->what, where);
		break;
	case -ENAMETOOLONG:
		complain("cannot %s %s: the name is too long for a file here",
			 words->verb, words->what);
		break;
	default:
		complain("cannot %s %s: '%s': %s", words->verb, words->what, where,
			 strerror(-err));
		break;
	}
}

void copy_explain(const struct copy *copy, const struct krdma_file_result *result, int err)
{
	char chosen[NAME_TEXT];
	struct words words;

	set_words(copy, &words);
	switch (result->side) {
	case KRDMA_FILE_SIDE_BETWEEN:
		explain_between(&words, err, result->transferred);
		break;
	case KRDMA_FILE_SIDE_PEER:
		explain_peer(copy, &words, err);
		break;
	default:
		name_text(chosen, sizeof(chosen), result->last);
		explain_here(copy, &words, chosen, err);
		break;
	}
}
