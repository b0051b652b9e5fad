// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Parse values of options.  strtod() and similar functions are not used, because they accept
 * signs, blanks, "inf", hexadecimal numbers and the decimal separator of the locale.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "value.h"

/* The longest item of a list. */
#define ITEM_MAX 32

/* Parse at least one digit, and leave @at behind the last one. */
static int read_digits(const char **at, uint64_t *value)
{
	const char *from = *at;
	uint64_t sum = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (sum > (UINT64_MAX - 9) / 10)
			return -ERANGE;
		sum = sum * 10 + (uint64_t)(**at - '0');
	}
	if (*at == from)
		return -EINVAL;
	*value = sum;
	return 0;
}

int value_number(const char *option, const char *word, uint64_t least, uint64_t most,
		 uint64_t *value)
{
	const char *at = word;
	uint64_t number;

	if (read_digits(&at, &number) || *at || number < least || number > most) {
		complain("%s needs a number from %llu to %llu, not '%s'", option,
			 (unsigned long long)least, (unsigned long long)most, word);
		return -EINVAL;
	}
	*value = number;
	return 0;
}

/*
 * Return a unit of size in bytes; 0 if it is unknown.  As with dd(1), "k" and "KiB" are powers of
 * two, and "kB" is one of ten.
 */
static uint64_t size_unit(const char *unit)
{
	static const char prefixes[] = "kmgt";
	uint64_t binary = 1, decimal = 1;
	size_t i;

	if (!*unit || !strcasecmp(unit, "b"))
		return 1;
	for (i = 0; prefixes[i]; i++) {
		binary *= 1024;
		decimal *= 1000;
		if (strncasecmp(unit, &prefixes[i], 1))
			continue;
		if (!unit[1] || !strcasecmp(unit + 1, "ib"))
			return binary;
		return strcasecmp(unit + 1, "b") ? 0 : decimal;
	}
	return 0;
}

int value_size(const char *option, const char *word, uint64_t most, uint64_t *value)
{
	char limit[SIZE_TEXT_MAX];
	const char *at = word;
	uint64_t number, unit;

	if (read_digits(&at, &number))
		goto refuse;
	unit = size_unit(at);
	if (!unit || number > most / unit)
		goto refuse;
	*value = number * unit;
	return 0;
refuse:
	complain("%s needs a size up to %s, such as 64, 4k or 1M, not '%s'", option,
		 size_text(limit, most), word);
	return -EINVAL;
}

/* Return a unit of time in nanoseconds; 0 if it is unknown. */
static uint64_t time_unit(const char *unit)
{
	if (!*unit || !strcmp(unit, "s"))
		return VALUE_SECOND;
	if (!strcmp(unit, "ms"))
		return 1000000;
	if (!strcmp(unit, "us"))
		return 1000;
	if (!strcmp(unit, "ns"))
		return 1;
	if (!strcmp(unit, "min"))
		return 60 * VALUE_SECOND;
	if (!strcmp(unit, "h"))
		return 3600 * VALUE_SECOND;
	return 0;
}

int value_time(const char *option, const char *word, uint64_t most, uint64_t *value)
{
	uint64_t whole = 0, part = 0, scale = 1, unit;
	const char *at = word;

	if (*at != '.' && read_digits(&at, &whole))
		goto refuse;
	if (*at == '.') {
		/* Digits after the ninth are ignored. */
		for (at++; *at >= '0' && *at <= '9'; at++) {
			if (scale == VALUE_SECOND)
				continue;
			part = part * 10 + (uint64_t)(*at - '0');
			scale *= 10;
		}
		if (scale == 1)
			goto refuse;
	}
	unit = time_unit(at);
	if (!unit || whole > most / unit)
		goto refuse;
	/* No overflow: part < scale <= 10^9 and unit < 2^42, so the quotient of unit goes first. */
	part = unit / scale * part + unit % scale * part / scale;
	if (part > most - whole * unit)
		goto refuse;
	*value = whole * unit + part;
	return 0;
refuse:
	complain("%s needs a time of at most %llu s, such as 1, 0.2 or 50ms, not '%s'", option,
		 (unsigned long long)(most / VALUE_SECOND), word);
	return -EINVAL;
}

/*
 * Copy the next item of a list to @item, and advance @at.  Returns 1; 0 if there is none; or
 * -EINVAL after an error message.
 */
static int next_item(const char *option, const char **at, char item[ITEM_MAX])
{
	size_t length;

	if (!*at)
		return 0;
	length = strcspn(*at, ",");
	if (length >= ITEM_MAX) {
		complain("%s has a value that is too long: '%.*s...'", option, ITEM_MAX, *at);
		return -EINVAL;
	}
	memcpy(item, *at, length);
	item[length] = '\0';
	*at = (*at)[length] ? *at + length + 1 : NULL;
	return 1;
}

static int too_many(const char *option, size_t room)
{
	complain("%s takes at most %zu values at once", option, room);
	return -EINVAL;
}

int value_sizes(const char *option, const char *word, uint64_t most, uint64_t all,
		uint64_t *values, size_t room, size_t *count)
{
	const char *at = word;
	char item[ITEM_MAX];
	uint64_t size;
	int found, err;

	*count = 0;
	if (!strcmp(word, "all")) {
		for (size = 1; size <= all && *count < room; size *= 2)
			values[(*count)++] = size;
		return 0;
	}
	while ((found = next_item(option, &at, item)) > 0) {
		if (*count == room)
			return too_many(option, room);
		err = value_size(option, item, most, &values[*count]);
		if (err)
			return err;
		(*count)++;
	}
	return found;
}

int value_numbers(const char *option, const char *word, uint64_t least, uint64_t most,
		  uint64_t *values, size_t room, size_t *count)
{
	const char *at = word;
	char item[ITEM_MAX];
	int found, err;

	*count = 0;
	while ((found = next_item(option, &at, item)) > 0) {
		if (*count == room)
			return too_many(option, room);
		err = value_number(option, item, least, most, &values[*count]);
		if (err)
			return err;
		(*count)++;
	}
	return found;
}

const char *value_time_text(char text[VALUE_TIME_TEXT], uint64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	size_t i = 0;
	double value;

	while (i + 1 < ARRAY_SIZE(units) && (double)ns >= units[i + 1].ns)
		i++;
	value = (double)ns / units[i].ns;
	if (!i)
		snprintf(text, VALUE_TIME_TEXT, "%.0f %s", value, units[i].name);
	else
		snprintf(text, VALUE_TIME_TEXT, value < 9.995 ? "%.2f %s" :
			 value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[i].name);
	return text;
}

const char *value_moment_text(char text[VALUE_MOMENT_TEXT], const struct timespec *moment,
			      int digits)
{
	long part = digits == 3 ? moment->tv_nsec / 1000000 : moment->tv_nsec / 1000, offset;
	char second[32];
	struct tm local;

	localtime_r(&moment->tv_sec, &local);
	strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &local);
	offset = local.tm_gmtoff / 60;
	snprintf(text, VALUE_MOMENT_TEXT, "%s.%0*ld%c%02ld:%02ld", second, digits, part,
		 offset < 0 ? '-' : '+', labs(offset) / 60, labs(offset) % 60);
	return text;
}
