// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose content and length follow from their name and a version, so that a file proves by
 * itself that it is whole.
 *
 *	content make FILE NAME VERSION	write FILE as version VERSION of NAME
 *	content check FOLDER		print a line for each entry of FOLDER:
 *		whole NAME VERSION	a file with all the data of one version
 *		cut NAME WHY		a file with a name of its own and other data
 *		part NAME		a part file of libkrdma
 *		other NAME		anything else
 *
 * A file consists of 64-bit words: its version, and then words that depend on the name, the
 * version and the position.  The last word may be cut short by the length.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file in four is smaller than SMALL; the others are smaller than LARGE. */
#define SMALL		4096u
#define LARGE		1048576u
#define WORD		sizeof(uint64_t)

#define HEX		"0123456789abcdef"

static uint64_t mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static uint64_t key_of(const char *name, uint64_t version)
{
	uint64_t key = mix(version);

	while (*name)
		key = mix(key ^ (unsigned char)*name++);
	return key;
}

static size_t length_of(uint64_t key)
{
	return WORD + (key % 4 ? key >> 2 & (LARGE - 1) : key >> 2 & (SMALL - 1));
}

static void fill(uint64_t *words, uint64_t key, uint64_t version, size_t length)
{
	words[0] = version;
	for (size_t i = 1; i * WORD < length; i++)
		words[i] = mix(key + i);
}

static int make(const char *path, const char *name, uint64_t version)
{
	static uint64_t words[LARGE / WORD + 2];
	uint64_t key = key_of(name, version);
	size_t length = length_of(key);
	/* The same version has the same time, so that a transfer can continue. */
	struct timespec times[2] = { { .tv_sec = (time_t)version }, { .tv_sec = (time_t)version } };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	fill(words, key, version, length);
	if (fd < 0 || write(fd, words, length) != (ssize_t)length || futimens(fd, times) ||
	    close(fd)) {
		fprintf(stderr, "content: cannot write %s: %s\n", path, strerror(errno));
		return 1;
	}
	return 0;
}

static bool is_part(const char *name)
{
	return strlen(name) == 61 && !strncmp(name, ".krdma-", 7) &&
	       strspn(name + 7, HEX) == 32 && name[39] == '-' && strspn(name + 40, HEX) == 16 &&
	       !strcmp(name + 56, ".part");
}

/* Prints what is wrong with the content. */
static void judge(const char *name, const unsigned char *data, size_t length)
{
	static uint64_t words[LARGE / WORD + 2];
	uint64_t version, key;
	size_t at = 0;

	if (length < WORD) {
		printf("cut %s has %zu bytes\n", name, length);
		return;
	}
	memcpy(&version, data, WORD);
	key = key_of(name, version);
	if (length != length_of(key)) {
		printf("cut %s version %llu has %zu bytes instead of %zu\n", name,
		       (unsigned long long)version, length, length_of(key));
		return;
	}
	fill(words, key, version, length);
	while (at < length && data[at] == ((unsigned char *)words)[at])
		at++;
	if (at < length)
		printf("cut %s version %llu differs from byte %zu of %zu on\n", name,
		       (unsigned long long)version, at, length);
	else
		printf("whole %s %llu\n", name, (unsigned long long)version);
}

static int check_file(int folder, const char *name)
{
	static unsigned char data[LARGE + 2 * WORD];
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW);
	struct stat status;
	ssize_t got;

	if (fd < 0 || fstat(fd, &status)) {
		fprintf(stderr, "content: cannot read %s: %s\n", name, strerror(errno));
		return 1;
	}
	got = S_ISREG(status.st_mode) ? read(fd, data, sizeof(data)) : -1;
	close(fd);
	if (got < 0)
		printf("other %s\n", name);
	else
		judge(name, data, (size_t)got);
	return 0;
}

static int check(const char *path)
{
	DIR *entries = opendir(path);
	struct dirent *entry;
	int failed = 0;

	if (!entries) {
		fprintf(stderr, "content: cannot read %s: %s\n", path, strerror(errno));
		return 1;
	}
	while ((entry = readdir(entries))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (is_part(entry->d_name))
			printf("part %s\n", entry->d_name);
		else if (entry->d_name[0] != 'w')
			printf("other %s\n", entry->d_name);
		else
			failed |= check_file(dirfd(entries), entry->d_name);
	}
	closedir(entries);
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], argv[3], strtoull(argv[4], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	fprintf(stderr, "usage: content make FILE NAME VERSION, or content check FOLDER\n");
	return 2;
}
