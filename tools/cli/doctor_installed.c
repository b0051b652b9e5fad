// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: which kernel modules are installed, and what the kernel reported about krdma.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

#define MODULES_FOLDER	"/lib/modules"
/* At the end of a file that is signed; see scripts/sign-file of the kernel. */
#define SIGNATURE_END	"~Module signature appended~\n"

/* Folder of the running kernel's modules. */
static const char *running(void)
{
	static struct utsname kernel;

	return uname(&kernel) ? "" : kernel.release;
}

/* Whether a path like "updates/dkms/krdma.ko.xz" is that of the module.  "-" is as good as "_". */
static bool is_path_of(const char *path, size_t length, const char *module)
{
	const char *slash = memrchr(path, '/', length), *name = slash ? slash + 1 : path;
	size_t rest = length - (size_t)(name - path);

	for (; *module; module++, name++, rest--)
		if (!rest || (*name == '-' ? '_' : *name) != *module)
			return false;
	return rest >= 3 && !strncmp(name, ".ko", 3) && (rest == 3 || name[3] == '.');
}

/* Look for a module in a list of /lib/modules/RELEASE; @path receives its place below that. */
static bool list_has(const char *release, const char *list, const char *module, char *path,
		     size_t size)
{
	char place[PATH_MAX], *line = NULL;
	size_t room = 0, length;
	bool found = false;
	FILE *file;

	if (snprintf(place, sizeof(place), MODULES_FOLDER "/%s/%s", release, list) >=
	    (int)sizeof(place))
		return false;
	file = fopen(place, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &room, file) > 0) {
		length = strcspn(line, ":\n");
		found = is_path_of(line, length, module);
		if (found && path)
			snprintf(path, size, "%.*s", (int)length, line);
	}
	free(line);
	fclose(file);
	return found;
}

/* The other kernels for which a module is installed; @release receives one of them. */
static unsigned int count_others(const char *module, char *release, size_t size)
{
	DIR *folder = opendir(MODULES_FOLDER);
	struct dirent *entry;
	unsigned int count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, running()) ||
		    !list_has(entry->d_name, "modules.dep", module, NULL, 0))
			continue;
		count++;
		printable(release, size, entry->d_name, size - 1);
	}
	closedir(folder);
	return count;
}

/* Whether a module's file is signed; false if that is not known, because it is compressed. */
static bool read_signature(const char *path, bool *is_signed)
{
	char end[sizeof(SIGNATURE_END)] = "", place[PATH_MAX];
	FILE *file;

	if (snprintf(place, sizeof(place), MODULES_FOLDER "/%s/%s", running(), path) >=
	    (int)sizeof(place))
		return false;
	if (strcmp(place + strlen(place) - 3, ".ko"))
		return false;
	file = fopen(place, "re");
	if (!file)
		return false;
	*is_signed = !fseek(file, 1 - (long)sizeof(end), SEEK_END) &&
		     fread(end, 1, sizeof(end) - 1, file) == sizeof(end) - 1 &&
		     !strcmp(end, SIGNATURE_END);
	fclose(file);
	return true;
}

void doctor_find_module(const char *module, struct installed *installed)
{
	char path[PATH_MAX] = "", loaded[PATH_MAX], folder[PATH_MAX];

	memset(installed, 0, sizeof(*installed));
	printable(installed->running, sizeof(installed->running), running(),
		  sizeof(installed->running) - 1);
	snprintf(folder, sizeof(folder), MODULES_FOLDER "/%s", running());
	snprintf(loaded, sizeof(loaded), "/sys/module/%s", module);
	installed->known = !access(folder, F_OK);
	installed->loaded = !access(loaded, F_OK);
	installed->here = list_has(running(), "modules.dep", module, path, sizeof(path)) ||
			  list_has(running(), "modules.builtin", module, NULL, 0);
	if (*path)
		installed->judged = read_signature(path, &installed->is_signed);
	installed->others = count_others(module, installed->other, sizeof(installed->other));
}

/* What the kernel says of a module that it does not load. */
static bool is_refusal(const char *text)
{
	static const char * const krdmas[] = {
		"version magic", "disagrees about version of symbol", "Unknown symbol",
		"no symbol version", "uses symbol", "does not match",
	};

	if (strstr(text, "Loading of") && strstr(text, "is rejected"))
		return true;
	if (strncmp(text, "krdma: ", strlen("krdma: ")))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(krdmas); i++)
		if (strstr(text, krdmas[i]))
			return true;
	return false;
}

bool doctor_kernel_refusal(char *text, size_t size)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192], *said;
	bool found = false;
	ssize_t length;

	if (log < 0)
		return false;
	for (;;) {
		length = read(log, record, sizeof(record) - 1);
		/* EPIPE: records were overwritten meanwhile, and the next one follows. */
		if (length < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (length <= 0)
			break;
		record[length] = '\0';
		/* "6,1234,5678901,-;text", and then lines of further properties. */
		said = strchr(record, ';');
		if (!said)
			continue;
		said++;
		said[strcspn(said, "\n")] = '\0';
		if (!is_refusal(said))
			continue;
		printable(text, size, said, size - 1);
		found = true;
	}
	close(log);
	return found;
}
