// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping: output.
 */
#include <time.h>

#include <json-c/json.h>

#include "peer_stop.h"
#include "ping.h"
#include "value.h"

/* Flush each line, and stop when standard output has no reader any more. */
static void flush(void)
{
	fflush(stdout);
	if (ferror(stdout))
		stop_now();
}

/* Print milliseconds, with at least three significant digits from 0.01 ms on. */
static void print_ms(uint64_t ns)
{
	double ms = (double)ns / 1e6;

	printf(ms < 1 ? "%.4f" : ms < 10 ? "%.3f" : ms < 100 ? "%.2f" : "%.1f", ms);
}

void ping_report_begin(const struct ping *ping)
{
	const struct ping_settings *settings = ping->settings;

	if (settings->common->json)
		return;
	printf("PING %s port %u%s: %llu bytes, through %s", ping->peer.name, settings->port,
	       settings->rping ? " as rping" : "",
	       (unsigned long long)settings->length, ping->peer.device);
	if (ping->peer.trunk)
		printf(", over a lane of trunk %llu\n", (unsigned long long)ping->peer.trunk);
	else if (settings->lane)
		puts(", over a plain connection: the other side takes no lanes");
	else
		putchar('\n');
	flush();
}

static const char *answer_name(enum ping_answer answer)
{
	static const char * const names[PING_ANSWERS] = {
		[PING_ANSWERED] = "answered",
		[PING_WRONG] = "wrong",
		[PING_UNANSWERED] = "unanswered",
		[PING_UNSENT] = "unsent",
		[PING_LATE] = "late",
	};

	return names[answer];
}

static void print_json(const struct ping *ping, uint64_t number, enum ping_answer answer,
		       uint64_t ns)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_number(object, "seq", number);
	json_put_number(object, "bytes", ping->settings->length);
	json_put_text(object, "answer", answer_name(answer));
	json_put_number(object, "time_ns", ns);
	json_print(object, ping->settings->common);
}

static void print_stamp(void)
{
	char text[VALUE_MOMENT_TEXT];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("[%s] ", value_moment_text(text, &now, 6));
}

static void print_text(const struct ping *ping, uint64_t number, enum ping_answer answer,
		       uint64_t ns)
{
	unsigned long long seq = number;
	char text[VALUE_TIME_TEXT];

	if (ping->settings->stamped)
		print_stamp();
	switch (answer) {
	case PING_ANSWERED:
		printf("%llu bytes from %s: seq=%llu time=",
		       (unsigned long long)ping->settings->length, ping->peer.address, seq);
		print_ms(ns);
		puts(" ms");
		break;
	case PING_WRONG:
		printf("%swrong data%s from %s: seq=%llu\n", color_begin(COLOR_BAD), color_end(),
		       ping->peer.address, seq);
		break;
	case PING_UNANSWERED:
		printf("%sno answer%s from %s: seq=%llu, waited %s\n", color_begin(COLOR_BAD),
		       color_end(), ping->peer.address, seq, value_time_text(text, ns));
		break;
	case PING_UNSENT:
		printf("not sent to %s: seq=%llu, %u messages are unanswered\n",
		       ping->peer.address, seq, PING_WINDOW);
		break;
	case PING_LATE:
		printf("%slate answer%s from %s: seq=%llu time=", color_begin(COLOR_DOUBTFUL),
		       color_end(), ping->peer.address, seq);
		print_ms(ns);
		puts(" ms");
		break;
	case PING_ANSWERS:
		break;
	}
}

void ping_report(struct ping *ping, uint64_t number, enum ping_answer answer, uint64_t ns)
{
	const struct ping_settings *settings = ping->settings;

	ping->answers[answer]++;
	if (answer != PING_LATE)
		ping->transmitted++;
	if (answer == PING_ANSWERED)
		stats_add(&ping->times, ns);
	if (settings->common->json) {
		if (!settings->common->details)
			return;
		print_json(ping, number, answer, ns);
	} else {
		if (settings->quiet)
			return;
		print_text(ping, number, answer, ns);
	}
	flush();
}

static void print_end_json(const struct ping *ping, uint64_t elapsed)
{
	const struct ping_settings *settings = ping->settings;
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "host", settings->host);
	json_put_text(object, "address", ping->peer.address);
	json_put_number(object, "port", settings->port);
	json_put_text(object, "protocol", settings->rping ? "rping" : "krdma");
	json_put_text(object, "device", ping->peer.device);
	json_put_text(object, "kind", ping->peer.trunk ? "lane" : "plain");
	json_put_number(object, "trunk", ping->peer.trunk);
	json_put_number(object, "bytes", settings->length);
	json_put_number(object, "transmitted", ping->transmitted);
	json_put_number(object, "received", ping->answers[PING_ANSWERED]);
	json_put_number(object, "lost", ping->transmitted - ping->answers[PING_ANSWERED]);
	json_put_number(object, "wrong", ping->answers[PING_WRONG]);
	json_put_number(object, "late", ping->answers[PING_LATE]);
	json_put_number(object, "elapsed_ns", elapsed);
	json_put(object, "rtt_ns", stats_json(&ping->times));
	json_print(object, settings->common);
}

static void print_rtt(const struct stats *times)
{
	printf("rtt min/avg/max/mdev = ");
	print_ms(times->least);
	putchar('/');
	print_ms((uint64_t)(times->mean + 0.5));
	putchar('/');
	print_ms(times->greatest);
	putchar('/');
	print_ms(stats_deviation(times));
	printf(" ms\nrtt p50/p90/p99/p99.9 = ");
	print_ms(stats_percentile(times, STATS_P50));
	putchar('/');
	print_ms(stats_percentile(times, STATS_P90));
	putchar('/');
	print_ms(stats_percentile(times, STATS_P99));
	putchar('/');
	print_ms(stats_percentile(times, STATS_P99_9));
	puts(" ms");
}

/* Return the loss in percent; 0 only if nothing was sent or nothing is lost. */
static double loss(const struct ping *ping)
{
	uint64_t lost = ping->transmitted - ping->answers[PING_ANSWERED];

	return ping->transmitted ? 100.0 * (double)lost / (double)ping->transmitted : 0;
}

void ping_report_end(const struct ping *ping)
{
	uint64_t elapsed = clock_ns() - ping->begun;

	if (ping->settings->common->json) {
		print_end_json(ping, elapsed);
		return;
	}
	printf("\n--- %s krdma ping statistics ---\n"
	       "%llu transmitted, %llu received", ping->settings->host,
	       (unsigned long long)ping->transmitted,
	       (unsigned long long)ping->answers[PING_ANSWERED]);
	if (ping->answers[PING_WRONG])
		printf(", %llu with wrong data", (unsigned long long)ping->answers[PING_WRONG]);
	if (ping->answers[PING_LATE])
		printf(", %llu late", (unsigned long long)ping->answers[PING_LATE]);
	printf(", %.6g%% loss, time %llu ms\n", loss(ping),
	       (unsigned long long)(elapsed / 1000000));
	if (ping->times.count)
		print_rtt(&ping->times);
}
