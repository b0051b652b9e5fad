// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the tool's code that needs no device: values of options, statistics, messages between
 * the two sides, text that is safe to print, pictures, the pattern of selftest, and checksums.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doctor_rules.h"
#include "file_internal.h"
#include "peer_hello.h"
#include "ping_rping.h"
#include "port_counters.h"
#include "progress.h"
#include "selftest_pattern.h"
#include "stats.h"
#include "svg.h"
#include "tap.h"
#include "value.h"

/* The last message of complain(), which replaces the tool's own function here. */
static char said[512];

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
}

/*
 * Values of options
 */

static bool is_number(const char *word, uint64_t expected)
{
	uint64_t value = 0;

	return !value_number("-x", word, 1, 1000, &value) && value == expected;
}

static bool is_size(const char *word, uint64_t expected)
{
	uint64_t value = 0;

	return !value_size("-x", word, UINT64_C(1) << 40, &value) && value == expected;
}

static bool is_time(const char *word, uint64_t expected)
{
	uint64_t value = 0;

	return !value_time("-x", word, 86400 * VALUE_SECOND, &value) && value == expected;
}

static bool refuses_number(const char *word)
{
	uint64_t value = 7;

	said[0] = '\0';
	return value_number("-x", word, 1, 1000, &value) == -EINVAL && value == 7 &&
	       strstr(said, "-x") && strstr(said, word);
}

static bool refuses_size(const char *word)
{
	uint64_t value = 7;

	said[0] = '\0';
	return value_size("-x", word, UINT64_C(1) << 40, &value) == -EINVAL && value == 7 &&
	       strstr(said, "-x") && strstr(said, word);
}

static bool refuses_time(const char *word)
{
	uint64_t value;

	said[0] = '\0';
	return value_time("-x", word, 86400 * VALUE_SECOND, &value) == -EINVAL &&
	       strstr(said, "-x") && strstr(said, word);
}

static void test_numbers(void)
{
	tap_result(is_number("1", 1) && is_number("1000", 1000) && is_number("007", 7),
		   "numbers are read");
	tap_result(refuses_number("0") && refuses_number("1001") && refuses_number("-1") &&
		   refuses_number("+1") && refuses_number(" 1") && refuses_number("1 ") &&
		   refuses_number("0x10") && refuses_number("") && refuses_number("1e2") &&
		   refuses_number("18446744073709551617"),
		   "what is no number, or out of range, is refused and named");
}

static void test_sizes(void)
{
	uint64_t sizes[4];
	size_t count;

	tap_result(is_size("0", 0) && is_size("64", 64) && is_size("4k", 4096) &&
		   is_size("4K", 4096) && is_size("1MiB", 1048576) && is_size("1g", 1 << 30) &&
		   is_size("7b", 7) && is_size("1T", UINT64_C(1) << 40),
		   "sizes are read, with their units");
	tap_result(is_size("4kB", 4000) && is_size("3MB", 3000000) && is_size("4KiB", 4096) &&
		   is_size("2gb", 2000000000) && is_size("1TB", UINT64_C(1000000000000)),
		   "kB is a power of ten, k and KiB are of two");
	tap_result(refuses_size("k") && refuses_size("4kk") && refuses_size("4 k") &&
		   refuses_size("-4k") && refuses_size("2000g") && refuses_size("4t") &&
		   refuses_size("4ki") && refuses_size("4bk") && refuses_size("4p") &&
		   refuses_size("4kBs") && refuses_size("1100000000001") &&
		   refuses_size("18446744073709551615g"),
		   "what is no size, or too large, is refused and named");
	tap_result(!value_sizes("-s", "64,4k,1", 65536, 1024, sizes, 4, &count) && count == 3 &&
		   sizes[0] == 64 && sizes[1] == 4096 && sizes[2] == 1,
		   "a list of sizes keeps its order");
	tap_result(!value_sizes("-s", "all", 65536, 8, sizes, 4, &count) && count == 4 &&
		   sizes[0] == 1 && sizes[3] == 8, "all sizes are the powers of two");
	tap_result(value_sizes("-s", "1,2,3,4,5", 65536, 8, sizes, 4, &count) &&
		   value_sizes("-s", "1,,2", 65536, 8, sizes, 4, &count) &&
		   value_sizes("-s", "1,", 65536, 8, sizes, 4, &count) &&
		   value_sizes("-s", "", 65536, 8, sizes, 4, &count) &&
		   value_sizes("-s", "1,128k", 65536, 8, sizes, 4, &count) &&
		   value_sizes("-s", "1,0000000000000000000000000000000000000001", 65536, 8, sizes,
			       1, &count),
		   "lists that are too long, or have a gap, are refused");
	tap_result(value_sizes("-s", "00000000000000000000000000000001024", 65536, 8, sizes, 4,
			       &count) &&
		   value_numbers("-d", "1,00000000000000000000000000000000002", 0, 8, sizes, 4,
				 &count) &&
		   !value_sizes("-s", "0000000000000000000000000001024", 65536, 8, sizes, 4,
				&count) &&
		   count == 1 && sizes[0] == 1024, "an item that is too long is refused, not cut");
}

static void test_times(void)
{
	char text[VALUE_TIME_TEXT], moment[VALUE_MOMENT_TEXT];

	tap_result(is_time("1", VALUE_SECOND) && is_time("0", 0) && is_time("0.2", 200000000) &&
		   is_time(".1", 100000000) && is_time(".5s", 500000000) &&
		   is_time("1.5s", 1500000000) && is_time("50ms", 50000000) &&
		   is_time("7us", 7000) && is_time("20ns", 20) && is_time("1.5ns", 1) &&
		   is_time("2min", 120 * VALUE_SECOND) && is_time("1.5h", 5400 * VALUE_SECOND) &&
		   is_time("0.999999999h", UINT64_C(3599999996400)) && is_time("2.5us", 2500) &&
		   is_time("0.0000000001", 0) && is_time("86400", 86400 * VALUE_SECOND),
		   "times are read, with their units");
	tap_result(refuses_time("") && refuses_time("1.") &&
		   refuses_time("-1") && refuses_time("inf") && refuses_time("1,5") &&
		   refuses_time(".") && refuses_time(".s") &&
		   refuses_time("1 s") && refuses_time("1m") && refuses_time("25h") &&
		   refuses_time("24.1h") && refuses_time("86401") &&
		   refuses_time("86400.1") && refuses_time("99999999999999999999"),
		   "what is no time, or too long, is refused and named");
	tap_result(!strcmp(value_time_text(text, 0), "0 ns") &&
		   !strcmp(value_time_text(text, 999), "999 ns") &&
		   !strcmp(value_time_text(text, 1234), "1.23 us") &&
		   !strcmp(value_time_text(text, 45600000), "45.6 ms") &&
		   !strcmp(value_time_text(text, UINT64_C(250000000000)), "250 s"),
		   "times are written with three digits");
	setenv("TZ", "XST-5:30", 1);
	tzset();
	tap_result(!strcmp(value_moment_text(moment, &(struct timespec){ 1700000000, 7999999 }, 3),
			   "2023-11-15T03:43:20.007+05:30") &&
		   !strcmp(value_moment_text(moment, &(struct timespec){ 0, 42000 }, 6),
			   "1970-01-01T05:30:00.000042+05:30"),
		   "a moment is written as ISO 8601 wants it, in local time");
	setenv("TZ", "XST3", 1);
	tzset();
	tap_result(!strcmp(value_moment_text(moment, &(struct timespec){ 0, 0 }, 3),
			   "1969-12-31T21:00:00.000-03:00"), "also west of Greenwich");
	unsetenv("TZ");
	tzset();
}

/*
 * Statistics
 */

/* Xorshift.  Its period is far longer than any test needs. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* @value is at least @exact, and less than one percent above it. */
static bool is_near(uint64_t value, uint64_t exact)
{
	return value >= exact && (double)(value - exact) <= 0.008 * (double)exact;
}

static struct stats stats;

static void test_few_values(void)
{
	uint64_t i;

	stats_init(&stats);
	tap_result(!stats_percentile(&stats, STATS_P50) && !stats_deviation(&stats),
		   "of nothing, everything is 0");
	stats_add(&stats, 77777);
	tap_result(stats.least == 77777 && stats.greatest == 77777 && stats.mean == 77777 &&
		   stats_percentile(&stats, 1) == 77777 &&
		   stats_percentile(&stats, STATS_P100) == 77777 && !stats_deviation(&stats),
		   "of one value, everything is that");
	stats_init(&stats);
	for (i = 1; i <= 200; i++)
		stats_add(&stats, i);
	tap_result(stats_percentile(&stats, STATS_P50) == 100 &&
		   stats_percentile(&stats, STATS_P90) == 180 &&
		   stats_percentile(&stats, STATS_P99) == 198 &&
		   stats_percentile(&stats, STATS_P99_9) == 200 && stats.mean == 100.5,
		   "small values have exact percentiles");
	stats_init(&stats);
	for (i = 0; i < 4; i++)
		stats_add(&stats, i & 1 ? 1000 : 2000);
	tap_result(stats_deviation(&stats) == 500, "the deviation is that of all values");
	stats_init(&stats);
	for (i = 0; i < 1000; i++)
		stats_add(&stats, UINT64_C(1000000000000) + i % 2);
	tap_result(stats_deviation(&stats) <= 1, "large values that hardly differ, hardly deviate");
}

static void test_many_values(void)
{
	static uint64_t values[20000];
	static const unsigned int asked[] = { STATS_P50, STATS_P90, STATS_P99, STATS_P99_9 };
	uint64_t state = 88172645463325252, value, count, sum = 0, last = 0;
	const size_t all = ARRAY_SIZE(values);
	bool near = true, rises = true;
	size_t i, at = 0;

	stats_init(&stats);
	for (i = 0; i < all; i++) {
		/* Values of all magnitudes. */
		values[i] = next_random(&state) >> (next_random(&state) % 60);
		stats_add(&stats, values[i]);
	}
	qsort(values, all, sizeof(values[0]), by_value);
	for (i = 0; i < ARRAY_SIZE(asked); i++)
		near = near && is_near(stats_percentile(&stats, asked[i]),
				       values[(all * asked[i] + STATS_P100 - 1) / STATS_P100 - 1]);
	tap_result(near, "percentiles are right to less than one percent");
	tap_result(stats.least == values[0] && stats.greatest == values[all - 1] &&
		   stats_percentile(&stats, STATS_P100) == values[all - 1],
		   "the ends are exact");
	while (stats_next(&stats, &at, &value, &count)) {
		rises = rises && (!sum || value > last) && count;
		last = value;
		sum += count;
	}
	tap_result(rises && sum == all && last == values[all - 1],
		   "a walk through the buckets meets every value, in their order");
}

static void test_each_bucket(void)
{
	bool right = true;
	uint64_t value;
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		for (value = (UINT64_C(1) << bit) - 1; value <= (UINT64_C(1) << bit) + 1; value++) {
			stats_init(&stats);
			stats_add(&stats, value);
			stats_add(&stats, UINT64_MAX);
			right = right && is_near(stats_percentile(&stats, STATS_P50), value);
		}
	}
	stats_init(&stats);
	stats_add(&stats, UINT64_MAX);
	tap_result(right && stats_percentile(&stats, STATS_P50) == UINT64_MAX,
		   "every power of two, and its neighbours, has its bucket");
}

/* The same values, in one and in two parts. */
static void test_merge(void)
{
	static struct stats parts[2];
	uint64_t i, value;

	stats_init(&stats);
	stats_init(&parts[0]);
	stats_init(&parts[1]);
	for (i = 0; i < 3000; i++) {
		value = 100 + i * i % 70001;
		stats_add(&stats, value);
		stats_add(&parts[i % 3 == 0], value);
	}
	stats_merge(&parts[0], &parts[1]);
	tap_result(parts[0].count == 3000 && parts[0].least == stats.least &&
		   parts[0].greatest == stats.greatest &&
		   fabs(parts[0].mean - stats.mean) < 0.001 &&
		   stats_deviation(&parts[0]) == stats_deviation(&stats) &&
		   !memcmp(parts[0].buckets, stats.buckets, sizeof(stats.buckets)),
		   "the values of two threads are the same as those of one");
	stats_init(&parts[1]);
	stats_merge(&parts[1], &stats);
	stats_init(&parts[0]);
	stats_merge(&parts[1], &parts[0]);
	tap_result(parts[1].count == stats.count && parts[1].least == stats.least &&
		   stats_deviation(&parts[1]) == stats_deviation(&stats),
		   "none added to some, and some to none, are some");
}

/*
 * Counters of ports
 */

static bool is_counter(const char *text, uint64_t expected)
{
	uint64_t value = 77;

	return counter_parse(text, strlen(text), &value) && value == expected;
}

static void test_counters(void)
{
	static const char * const odd[] = {
		"", "\n", " ", "-1\n", "+1\n", "0x10\n", "1.5\n", "1 2\n", "N/A\n", " 7\n", "7\tx",
		"18446744073709551616\n", "99999999999999999999999\n",
	};
	struct counter some[] = {
		{ COUNTERS, "port_xmit_data", 100 },
		{ HW_COUNTERS, "packet_seq_err", 5 },
		{ HW_COUNTERS, "rnr_nak_retry_err", 2 },
		{ HW_COUNTERS, "sent_bytes", 7 },
	};
	const struct port port = { .device = "some0", .counters = some, .count = 4 };
	const struct port none = { .device = "none0" };
	uint64_t value = 77;
	size_t i;

	tap_result(is_counter("0\n", 0) && is_counter("12", 12) && is_counter("007\n", 7) &&
		   is_counter("18446744073709551615\n", UINT64_MAX), "counters are whole numbers");
	for (i = 0; i < ARRAY_SIZE(odd); i++)
		if (counter_parse(odd[i], strlen(odd[i]), &value) || value != 77)
			break;
	tap_result(i == ARRAY_SIZE(odd), "what is no whole number is no counter");
	tap_result(port_add_up(&port, PORT_SENT_BYTES, &value) && value == 400,
		   "InfiniBand's counter of data counts words, and comes first");
	tap_result(port_add_up(&port, PORT_RETRANSMISSIONS, &value) && value == 7,
		   "retransmissions have several causes");
	tap_result(!port_add_up(&port, PORT_ERRORS, &value) &&
		   !port_add_up(&none, PORT_SENT_BYTES, &value), "what is not counted is not 0");
}

/*
 * Messages between the two sides
 */

static void test_hello(void)
{
	const struct hello hello = {
		.service = SERVICE_BENCH, .operation = OPERATION_READ, .length = 0x01020304,
		.depth = 0xfffffffe,
	};
	static const uint8_t expected[HELLO_SIZE] = {
		'K', 'R', 'D', 't', 1, 2, 4, 0, 4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff
	};
	uint8_t wire[HELLO_ROOM] = { 0 };
	struct hello back;
	size_t length;
	bool refused = true;

	hello_encode(&hello, wire);
	tap_result(!memcmp(wire, expected, sizeof(expected)), "a hello is what is documented");
	memset(&back, 0x55, sizeof(back));
	tap_result(!hello_decode(wire, HELLO_SIZE, &back) && back.service == hello.service &&
		   back.operation == hello.operation && back.length == hello.length &&
		   back.depth == hello.depth && !hello_decode(wire, HELLO_ROOM, &back),
		   "a hello is understood, also with zeroes behind it");
	for (length = 0; length < HELLO_SIZE; length++)
		refused = refused && hello_decode(wire, length, &back) == -EINVAL;
	wire[7] = 1;
	refused = refused && hello_decode(wire, HELLO_SIZE, &back) == -EINVAL;
	wire[7] = 0;
	wire[0] ^= 1;
	refused = refused && hello_decode(wire, HELLO_SIZE, &back) == -EINVAL;
	tap_result(refused, "half a hello, and what is none, is refused");
	wire[0] ^= 1;
	wire[4] = 2;
	tap_result(hello_decode(wire, 6, &back) == -EPROTONOSUPPORT &&
		   hello_decode(wire, 5, &back) == -EINVAL,
		   "a hello of a later version is known as one");
}

static void test_answer(void)
{
	struct hello_answer answer = { .verdict = VERDICT_LENGTH, .limit = 0x0a0b0c0d }, back;
	uint8_t wire[ANSWER_SIZE];
	bool refused = true;
	size_t length;

	memset(answer.descriptor, 0x77, sizeof(answer.descriptor));
	answer_encode(&answer, wire);
	tap_result(!answer_decode(wire, sizeof(wire), &back) && back.version == HELLO_VERSION &&
		   back.verdict == VERDICT_LENGTH && back.limit == answer.limit &&
		   !memcmp(back.descriptor, answer.descriptor, sizeof(back.descriptor)),
		   "an answer is understood");
	for (length = 0; length < ANSWER_SIZE; length++)
		refused = refused && answer_decode(wire, length, &back) == -EINVAL;
	memset(wire, 0, sizeof(wire));
	refused = refused && answer_decode(wire, sizeof(wire), &back) == -EINVAL;
	tap_result(refused, "half an answer, and what is none, is refused");
	answer_encode(&answer, wire);
	wire[4] = 9;
	wire[5] = VERDICT_VERSION;
	tap_result(!answer_decode(wire, 6, &back) && back.version == 9 &&
		   back.verdict == VERDICT_VERSION,
		   "of a later version's answer, version and verdict are understood");
}

/* @show is name_text(), for output on a terminal, or name_json(), for JSON. */
static bool shows(size_t (*show)(char *, size_t, const char *), const char *name,
		  const char *expected)
{
	char text[64];

	return show(text, sizeof(text), name) == strlen(expected) && !strcmp(text, expected);
}

ATTRIBUTE(format(printf, 2, 3))
static bool says(const char *expected, const char *format, ...)
{
	va_list arguments;
	char *text;
	bool same;

	va_start(arguments, format);
	text = message_text(format, arguments);
	va_end(arguments);
	same = text && !strcmp(text, expected);
	free(text);
	return same;
}

static void test_names(void)
{
	char small[6];

	setenv("LC_ALL", "C", 1);
	tap_result(shows(name_text, "a b~\\x", "a b~\\x"), "a printable name is shown as it is");
	tap_result(shows(name_text, "\033[2J\r\n\177", "\\x1b[2J\\x0d\\x0a\\x7f"),
		   "controls are shown as numbers");
	tap_result(shows(name_text, "\303\244", "\\xc3\\xa4"),
		   "UTF-8 too, where the terminal is not known to take it");
	tap_result(shows(name_json, "\303\244\033", "\303\244\\x1b"), "but a program gets it");
	setenv("LC_ALL", "", 1);
	setenv("LC_CTYPE", "de_DE.utf8", 1);
	tap_result(shows(name_text, "\303\244\xe2\x82\xac\xf0\x9f\x98\x80",
			 "\303\244\xe2\x82\xac\xf0\x9f\x98\x80"),
		   "and a terminal that takes it");
	tap_result(shows(name_text, "\302\2332J", "\\xc2\\x9b2J"), "but no C1 control");
	tap_result(shows(name_text, "a\342\200\256b", "a\\xe2\\x80\\xaeb"),
		   "nor what turns the direction of text");
	tap_result(shows(name_text, "a\302\255\341\240\216\363\240\201\201\357\277\271b",
			 "a\\xc2\\xad\\xe1\\xa0\\x8e\\xf3\\xa0\\x81\\x81\\xef\\xbf\\xb9b"),
		   "nor what has no width: a soft hyphen, a tag");
	tap_result(shows(name_text, "\357\277\277", "\\xef\\xbf\\xbf"), "nor what is no character");
	tap_result(shows(name_text, "\xc0\xaf\xed\xa0\x80\xff\xe2\x82",
			 "\\xc0\\xaf\\xed\\xa0\\x80\\xff\\xe2\\x82"),
		   "nor what is not UTF-8");
	tap_result(name_text(small, sizeof(small), "ab\033") == 2 && !strcmp(small, "ab") &&
		   name_text(small, sizeof(small), "a\033") == 5 && !strcmp(small, "a\\x1b"),
		   "what does not fit is left out whole");
	tap_result(says("cannot x a\\x0akrdma: b: 7\nTry", "cannot x %s: %d\nTry",
			"a\nkrdma: b", 7),
		   "a name in a message does not break its lines");
	tap_result(says("a\\x01b\\x01", "%s\n", "a\1b"),
		   "nor does one that has the mark of a line break");
}

static void test_rping(void)
{
	static const uint8_t expected[RPING_MESSAGE] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xa0, 0xa1, 0xa2, 0xa3, 0, 1, 0, 0
	};
	uint8_t wire[RPING_MESSAGE];
	struct krdma_remote_mr remote;
	char text[64], small[16];
	bool ended = true;
	uint64_t i;

	rping_message_encode(UINT64_C(0x0102030405060708), 0xa0a1a2a3, 65536, wire);
	rping_message_decode(expected, &remote);
	tap_result(!memcmp(wire, expected, sizeof(wire)) &&
		   remote.addr == UINT64_C(0x0102030405060708) && remote.key == 0xa0a1a2a3 &&
		   remote.length == 65536, "rping's message is in network order");
	rping_text(text, sizeof(text), 0);
	tap_result(!strcmp(text,
			   "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr") &&
		   strlen(text) == 63, "rping's first text is rping's");
	rping_text(text, sizeof(text), 58);
	tap_result(!strncmp(text, "rdma-ping-58: AB", 16), "rping's letters come round again");
	for (i = 1; i; i *= 10) {
		rping_text(small, sizeof(small), i);
		ended = ended && strlen(small) == 15;
		if (i > UINT64_MAX / 10)
			break;
	}
	tap_result(ended, "rping's text fits, whatever its number");
}

/*
 * Pictures
 */

static bool ticks_are_right(const struct svg_axis *axis, double low, double high)
{
	struct svg_ticks ticks;
	size_t i;

	svg_axis_ticks(axis, low, high, &ticks);
	if (ticks.count < 2 || !(ticks.low < ticks.high) || ticks.low > low * 1.000001 ||
	    ticks.high < high * 0.999999)
		return false;
	for (i = 0; i < ticks.count; i++) {
		if (i && ticks.at[i] <= ticks.at[i - 1])
			return false;
		if (ticks.at[i] < ticks.low * 0.999999 || ticks.at[i] > ticks.high * 1.000001)
			return false;
	}
	return svg_axis_place(axis, &ticks, ticks.low) < 0.000001 &&
	       svg_axis_place(axis, &ticks, ticks.high) > 0.999999;
}

static void test_axes(void)
{
	const struct svg_axis linear = { .scale = SVG_LINEAR }, binary = { .scale = SVG_LOG2 },
			      decimal = { .scale = SVG_LOG10 };
	uint64_t state = 2463534242;
	double low, high;
	bool right = true;
	int i;

	for (i = 0; i < 20000; i++) {
		low = (double)(next_random(&state) >> (next_random(&state) % 64)) + 1;
		high = low + (double)(next_random(&state) >> (next_random(&state) % 64));
		right = right && ticks_are_right(&binary, low, high) &&
			ticks_are_right(&decimal, low, high) && ticks_are_right(&linear, 0, high);
	}
	tap_result(right && ticks_are_right(&linear, 0, 0.000001),
		   "axes hold what they show, and have ticks");
}

/* Names and titles in a picture must not inject XML. */
static void test_picture(void)
{
	static const struct svg_point points[] = {
		{ 1, 5 }, { 0, 1 }, { 1024, 0 }, { 4096, 1000000 },
	};
	static const struct svg_line lines[] = {
		{ "<script>&\"'\x01\xff", points, 4 },
		{ "empty", points, 0 },
	};
	const struct svg_chart chart = {
		.title = "a < b & c",
		.x = { .label = "size", .scale = SVG_LOG2 },
		.y = { .label = "time", .scale = SVG_LOG10 },
		.lines = lines, .count = 2, .marks = 1,
	};
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	int err = svg_write(file, "]]>", "what it shows", &chart, 1);

	fclose(file);
	tap_result(!err && strstr(text, "&lt;script&gt;&amp;&quot;'??") &&
		   strstr(text, "a &lt; b &amp; c") && strstr(text, "<title>]]&gt;</title>") &&
		   !strstr(text, "<script") && !strstr(text, "nan") && !strstr(text, "inf"),
		   "a picture is XML, whatever the names in it are");
	tap_result(!err && strstr(text, "points=\"") && length > 6 &&
		   !strcmp(text + length - 7, "</svg>\n"), "a picture has its lines and its end");
	free(text);
	file = fopen("/dev/full", "w");
	tap_result(svg_write(file, "full", "full", &chart, 1) == -EIO,
		   "a picture that cannot be written is an error");
	fclose(file);
}

/*
 * The pattern of selftest
 */

#define PATTERN_ROOM	1000

/* Each wrong byte of the data and of its guards is found, and reported with its value. */
static bool finds_each_byte(size_t offset, size_t length)
{
	uint8_t mr[PATTERN_ROOM];
	struct pattern_fault fault;
	size_t i, begin = offset < PATTERN_GUARD ? 0 : offset - PATTERN_GUARD;
	size_t end = offset + length + PATTERN_GUARD;

	if (end > sizeof(mr))
		end = sizeof(mr);
	pattern_clear(mr, sizeof(mr), offset, length, 7);
	pattern_fill(mr + offset, 0, length, 7);
	pattern_check(mr, sizeof(mr), offset, length, 7, &fault);
	if (fault.count)
		return false;
	for (i = begin; i < end; i++) {
		mr[i] ^= 1;
		pattern_check(mr, sizeof(mr), offset, length, 7, &fault);
		if (fault.count != 1 || fault.offset != (int64_t)i - (int64_t)offset ||
		    fault.is != mr[i] || fault.expected != (mr[i] ^ 1))
			return false;
		mr[i] ^= 1;
	}
	return true;
}

/* Data that has not arrived is wrong in every byte. */
static bool misses_everything(size_t offset, size_t length)
{
	uint8_t mr[PATTERN_ROOM];
	struct pattern_fault fault;

	pattern_clear(mr, sizeof(mr), offset, length, 7);
	pattern_check(mr, sizeof(mr), offset, length, 7, &fault);
	if (fault.count != length)
		return false;
	pattern_check_clear(mr, sizeof(mr), offset, length, 7, &fault);
	if (fault.count)
		return false;
	if (!length)
		return true;
	mr[offset + length / 2] ^= 0x80;
	pattern_check_clear(mr, sizeof(mr), offset, length, 7, &fault);
	return fault.count == 1;
}

/* A pattern that is filled in parts, as for several SGEs, is the same as one filled at once. */
static bool same_in_parts(void)
{
	uint8_t whole[200], parts[200];
	size_t at, length;

	pattern_fill(whole, 0, sizeof(whole), 9);
	for (at = 0, length = 1; at < sizeof(parts); at += length, length++) {
		if (length > sizeof(parts) - at)
			length = sizeof(parts) - at;
		pattern_fill(parts + at, at, length, 9);
	}
	return !memcmp(whole, parts, sizeof(whole));
}

/* Data of another offset or seed must not pass as correct. */
static bool tells_places_apart(void)
{
	struct pattern_fault fault;
	uint8_t data[128];
	uint64_t other;

	for (other = 1; other < 200; other++) {
		memset(&fault, 0, sizeof(fault));
		pattern_fill(data, other, sizeof(data), 3);
		pattern_compare(data, 0, sizeof(data), 3, 0, &fault);
		if (fault.count < sizeof(data) / 2)
			return false;
		memset(&fault, 0, sizeof(fault));
		pattern_fill(data, 0, sizeof(data), 3 + other);
		pattern_compare(data, 0, sizeof(data), 3, 0, &fault);
		if (fault.count < sizeof(data) / 2)
			return false;
	}
	return true;
}

static void test_pattern(void)
{
	static const size_t places[] = { 0, 1, 7, 8, 63, 64, 65, 200 };
	static const size_t lengths[] = { 0, 1, 7, 8, 9, 64, 100 };
	bool found = true, missed = true;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			found = found && finds_each_byte(places[i], lengths[j]);
			missed = missed && misses_everything(places[i], lengths[j]);
		}
		found = found && finds_each_byte(PATTERN_ROOM - lengths[i % 7], lengths[i % 7]);
	}
	tap_result(found, "each wrong byte of data or guards is found, and named");
	tap_result(missed, "data that have not arrived are wrong in every byte");
	tap_result(same_in_parts(), "a pattern in parts is the pattern as a whole");
	tap_result(tells_places_apart(), "a pattern of another place or seed is another one");
}

/*
 * Names
 */

static bool prints(const char *name, const char *expected)
{
	char text[64];
	size_t length = printable(text, sizeof(text), name, strlen(name));

	return length == strlen(expected) && !strcmp(text, expected);
}

static void test_utf8(void)
{
	/*
	 * Two overlong forms, a surrogate, a code point above U+10FFFF, a truncated sequence,
	 * continuation bytes alone, bytes that never occur in UTF-8.
	 */
	static const char * const broken[] = {
		"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
		"\x80\x80", "\xff\xfe",
	};
	/*
	 * DEL, next line, right-to-left override, zero-width space, line separator, noncharacter,
	 * tag character, soft hyphen, vowel separator, escape, newline, two fillers, two
	 * selectors, and another noncharacter.
	 */
	static const char * const steering[] = {
		"\x7f", "\xc2\x85", "\xe2\x80\xae", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xef\xbf\xbf",
		"\xf3\xa0\x81\x81", "\xc2\xad", "\xe1\xa0\x8e", "\033", "\n", "\xe3\x85\xa4",
		"\xef\xbe\xa0", "\xef\xb8\x8f", "\xe1\xa0\x8b", "\xef\xb7\x90",
	};
	static const char signs[] = "\xd0\x90\xe4\xb8\xad\xf0\x9f\x98\x80";
	bool replaced = true, held = true;
	char text[4];

	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("LANG", "C", 1);
	tap_result(prints("a\xc3\xa9z", "a??z"), "names in another encoding have no UTF-8");
	setenv("LC_CTYPE", "de_DE.utf8", 1);
	tap_result(prints("a\xc3\xa9z", "a\xc3\xa9z"), "names where the terminal has UTF-8");
	setenv("LC_ALL", "POSIX", 1);
	tap_result(prints("a\xc3\xa9z", "a??z"), "the variable that counts");
	output_is_utf8();
	tap_result(prints(signs, signs), "names in UTF-8 are as they are in JSON");
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		replaced &= prints(broken[i], strlen(broken[i]) == 2 ? "??" :
				   strlen(broken[i]) == 3 ? "???" : "????");
	tap_result(replaced, "what is no UTF-8 is replaced, byte by byte");
	for (size_t i = 0; i < ARRAY_SIZE(steering); i++)
		held &= prints(steering[i], "?");
	tap_result(held, "what steers a text is replaced");
	tap_result(printable(text, sizeof(text), "ab\xc3\xa9", 4) == 2 && !strcmp(text, "ab"),
		   "no half of a character where there is no room");
}

/*
 * The checksum of files
 */

/* CRC-32C bit by bit, as it is defined. */
static uint32_t crc_of(const unsigned char *data, size_t length)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < length; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

/* The tested code does not read /proc/cpuinfo, so this is an independent answer. */
static bool processor_says(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[8192];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8))
			found = strstr(line, flag);
	}
	if (file)
		fclose(file);
	return found;
}

static void test_crc(void)
{
	static const char * const zeroes[64];
	unsigned char data[256];
	bool same = true, parts = true;
	bool has = processor_says(" sse4_2") || processor_says(" crc32");

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 167 + 13);
	for (size_t from = 0; from < 17; from++) {
		for (size_t length = 0; length + from <= 200; length++) {
			uint32_t right = crc_of(data + from, length);

			same &= file_crc(0, data + from, length) == right;
			same &= file_crc_by_table(0, data + from, length) == right;
			parts &= file_crc(file_crc(0, data + from, length / 3),
					  data + from + length / 3, length - length / 3) == right;
		}
	}
	tap_result(file_crc(0, "123456789", 9) == 0xe3069283, "a checksum that is known");
	tap_result(same, "checksums at all addresses, by the processor and by the table");
	tap_result(parts, "checksums of parts, one after another");
	tap_result(file_crc_zeroes(4711, sizeof(zeroes)) == file_crc(4711, zeroes, sizeof(zeroes)),
		   "checksums of zeroes");
	tap_result(strcmp(file_crc_by(), "table") ? has : !has,
		   "the processor computes checksums where it can");
}

/*
 * Rules of firewalls
 */

enum { KEEPS_OUT = 1, LETS_IN = 2, REST_IS_OUT = 4 };

static bool rules_are(bool nft, const char *rules, int expected)
{
	struct rules is;
	char text[512];

	snprintf(text, sizeof(text), "%s", rules);
	if (doctor_read_rules(&is, text, nft))
		return false;
	return (is.keeps_out ? KEEPS_OUT : 0) + (is.lets_in ? LETS_IN : 0) +
	       (is.rest_is_kept_out ? REST_IS_OUT : 0) == expected;
}

/* One rule in a chain that accepts. */
static bool nft_rule_is(const char *rule, int expected)
{
	char text[512];

	snprintf(text, sizeof(text), "table inet filter {\n\tchain input {\n"
		 "\t\ttype filter hook input priority filter; policy accept;\n\t\t%s\n\t}\n}\n",
		 rule);
	return rules_are(true, text, expected);
}

static bool nft_rule_is_not(const char *rule)
{
	return nft_rule_is(rule, 0);
}

static void test_firewall(void)
{
	char text[] = "-A INPUT -p udp --dport 4791 -m comment --comment \"no RoCE\" -j DROP";
	struct rules rules;

	tap_result(nft_rule_is("udp dport 4791 drop", KEEPS_OUT) &&
		   nft_rule_is("udp dport { 53, 4791 } reject", KEEPS_OUT) &&
		   nft_rule_is("th dport 4700-4800 drop", KEEPS_OUT) &&
		   nft_rule_is("iifname \"eth0\" udp dport 4791 counter accept", LETS_IN),
		   "a rule of nft that names the port decides");
	tap_result(nft_rule_is_not("ct state invalid counter packets 47913 bytes 2398 drop") &&
		   nft_rule_is_not("ct state invalid counter packets 4791 bytes 2398 drop") &&
		   nft_rule_is_not("ct state established counter packets 84791 bytes 900 accept") &&
		   nft_rule_is_not("udp dport 53 counter packets 4791 bytes 4791 drop") &&
		   nft_rule_is_not("tcp dport 4791 drop") &&
		   nft_rule_is_not("udp dport 14791 drop") &&
		   nft_rule_is_not("udp dport { 47911, 479 } drop") &&
		   nft_rule_is_not("udp sport 4791 drop") &&
		   nft_rule_is_not("udp dport != 4791 drop") &&
		   nft_rule_is_not("udp dport 53 drop comment \"not udp dport 4791\"") &&
		   nft_rule_is("udp dport 4791 accept comment \"do not drop it\"", LETS_IN),
		   "counters, other ports and comments are not the port");
	tap_result(rules_are(true, "chain input {\n"
			     " type filter hook input priority 0; policy drop;\n"
			     "ct state established counter packets 84791 bytes 900 accept\n}\n",
			     REST_IS_OUT) &&
		   rules_are(true, "chain output {\n"
			     " type filter hook output priority 0; policy drop;\n}\n", 0),
		   "the policy of the input decides about the rest");
	tap_result(nft_rule_is("reject with icmpx admin-prohibited", REST_IS_OUT) &&
		   nft_rule_is("drop", REST_IS_OUT) &&
		   nft_rule_is("counter packets 12 bytes 4791 drop", REST_IS_OUT) &&
		   nft_rule_is("counter reject comment \"the rest\"", REST_IS_OUT) &&
		   nft_rule_is("log prefix \"kept out: \" counter packets 1 bytes 2 drop",
			       REST_IS_OUT) &&
		   nft_rule_is("udp dport 4791 accept\n\t\tdrop", LETS_IN + REST_IS_OUT) &&
		   nft_rule_is_not("ct state invalid drop") && nft_rule_is_not("counter accept") &&
		   nft_rule_is_not("ip saddr 10.0.0.1 counter drop") &&
		   nft_rule_is_not("log prefix \"drop\"") && nft_rule_is_not("jump drop_all") &&
		   rules_are(true, "chain output {\n type filter hook output priority 0;\n"
			     " drop\n}\nchain other {\n drop\n}\n", 0),
		   "so does a rule without a condition");
	tap_result(rules_are(false, "-P INPUT ACCEPT\n-A INPUT -p udp -m udp --dport 4791 -j DROP",
			     KEEPS_OUT) &&
		   rules_are(false, "-P INPUT DROP\n"
			     "-A INPUT -p udp -m multiport --dports 53,4791 -j ACCEPT",
			     REST_IS_OUT + LETS_IN) &&
		   rules_are(false, "-A INPUT -p udp -m udp --dport 4000:5000 -j REJECT",
			     KEEPS_OUT) &&
		   rules_are(false, "-A INPUT -p tcp -m tcp --dport 4791 -j DROP\n"
			     "-A INPUT -p udp -m udp ! --dport 4791 -j DROP\n"
			     "-A INPUT -p udp -m udp --dport 47910 -j DROP", 0),
		   "so do those of iptables");
	tap_result(!doctor_read_rules(&rules, text, false) && rules.keeps_out &&
		   strstr(rules.which, "\"no RoCE\""), "a rule is shown as it is");
}

/*
 * Progress
 */

/* More than was said is there: a file has grown, or its server has lied. */
static void test_progress(void)
{
	struct progress progress = { .on = true, .terminal = true, .name = "a" };
	FILE *terminal = stderr;
	char *text = NULL;
	size_t size;

	stderr = open_memstream(&text, &size);
	if (!stderr)
		abort();
	progress_show(&progress, 1000, 1);
	progress_end(&progress, 0, 1000, 1);
	progress_end(&progress, 0, 1000, 0);
	progress_end(&progress, 0, 1, 1000);
	fclose(stderr);
	stderr = terminal;
	tap_result(text && strstr(text, "[######") && strstr(text, "#] 100% "),
		   "progress is 100 % at most");
	tap_result(text && strstr(text, "[------") && strstr(text, "   0% "), "and 0 % at least");
	free(text);
}

/*
 * Seconds
 */

static bool time_is(int64_t seconds, uint32_t nanoseconds, const char *expected)
{
	char text[SECONDS_TEXT_MAX];

	seconds_text(text, seconds, nanoseconds);
	if (!strcmp(text, expected))
		return true;
	printf("# %s, not %s\n", text, expected);
	return false;
}

static void test_seconds(void)
{
	tap_result(time_is(0, 0, "0.000000000") &&
		   time_is(1000000007, 9, "1000000007.000000009") &&
		   time_is(INT64_MAX, 999999999, "9223372036854775807.999999999"),
		   "a time is a decimal number");
	tap_result(time_is(-2, 500000000, "-1.500000000") &&
		   time_is(-1, 999999999, "-0.000000001") &&
		   time_is(-3, 0, "-3.000000000") &&
		   time_is(INT64_MIN, 1, "-9223372036854775807.999999999"),
		   "also before 1970");
}

int main(void)
{
	test_seconds();
	test_progress();
	test_firewall();
	test_crc();
	test_names();
	test_numbers();
	test_sizes();
	test_times();
	test_few_values();
	test_many_values();
	test_each_bucket();
	test_merge();
	test_counters();
	test_hello();
	test_answer();
	test_utf8();
	test_rping();
	test_axes();
	test_picture();
	test_pattern();
	return tap_end();
}
