// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: check the module and its device file, and that they fit this tool.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define MODULE_FOLDER	"/sys/module/krdma"

#define REMEDY_MODULE	"modprobe -r krdma && modprobe krdma"
/* What DKMS knows of krdma is in this folder. */
#define DKMS_FOLDER	"/var/lib/dkms/krdma"

/* Name of the user to add to the group. */
static void user_name(char *name, size_t size)
{
	const char *user = getenv("USER");

	printable(name, size, user && *user ? user : "USER", size - 1);
}

static void explain_open(struct doctor *doctor, int err)
{
	char user[64];

	switch (err) {
	case -EACCES:
	case -EPERM:
		user_name(user, sizeof(user));
		doctor_say(doctor, "file", VERDICT_FAIL,
			   "%s cannot be opened: only root and the group rdma may",
			   KRDMA_DEVICE_PATH);
		doctor_mend(doctor, "as root; then log in again", "usermod -aG rdma %s", user);
		break;
	case -EPROTONOSUPPORT:
	case -ENOTTY:
		doctor_say(doctor, "file", VERDICT_FAIL,
			   "the loaded module does not support the tool's version of the interface, %d",
			   KRDMA_ABI_VERSION);
		doctor_mend(doctor, "as root; with the module of the tool's release",
			    REMEDY_MODULE);
		break;
	case -EDQUOT:
		doctor_say(doctor, "file", VERDICT_FAIL,
			   "%s cannot be opened: this user has reached the limit of sessions",
			   KRDMA_DEVICE_PATH);
		doctor_mend(doctor, "as root; or another number",
			    "echo 4096 > " MODULE_FOLDER "/parameters/max_sessions");
		break;
	default:
		doctor_say(doctor, "file", VERDICT_FAIL, "%s cannot be opened: %s",
			   KRDMA_DEVICE_PATH, strerror(-err));
		doctor_mend(doctor, "as root; shows what the kernel reports", "dmesg | grep krdma");
		break;
	}
}

/* Returns true if the file has @word in its first line. */
static bool file_says(const char *path, const char *word)
{
	char line[128] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, word);
}

/* Have the module built and installed for the running kernel. */
static void mend_install(struct doctor *doctor, const struct installed *installed)
{
	if (!access(DKMS_FOLDER, F_OK))
		doctor_mend(doctor, "as root; it needs the headers of that kernel",
			    "dkms autoinstall -k %s", installed->running);
	else
		doctor_mend(doctor, "as root, in krdma's sources; it needs the kernel's headers",
			    "make && make install-module");
}

/* Secure Boot sets one of the two, depending on the distribution. */
static bool enforces_signatures(void)
{
	static const char lockdown[] = "/sys/kernel/security/lockdown";

	return file_says("/sys/module/module/parameters/sig_enforce", "Y") ||
	       file_says(lockdown, "[integrity]") || file_says(lockdown, "[confidentiality]");
}

static void check_signature(struct doctor *doctor, const struct installed *installed)
{
	const char *file = "";

	if (!enforces_signatures())
		return;
	if (installed->judged)
		file = installed->is_signed ? "; krdma.ko is signed" : "; krdma.ko is not signed";
	doctor_say(doctor, "signature", VERDICT_WARN,
		   "this kernel loads only modules that are signed with a key that it knows%s",
		   file);
	doctor_mend(doctor, "as root; the key with which DKMS signs; confirm it at the next start",
		    "mokutil --import /var/lib/dkms/mok.pub");
}

/* Only root can read the log on most machines. */
static void check_refusal(struct doctor *doctor, const struct installed *installed)
{
	char reason[256];

	if (!doctor_kernel_refusal(reason, sizeof(reason)))
		return;
	doctor_say(doctor, "load", VERDICT_WARN, "the kernel has refused to load it: %s", reason);
	if (strstr(reason, "Unknown symbol"))
		doctor_mend(doctor, "as root; insmod does not load what krdma needs",
			    "modprobe krdma");
	else if (!strstr(reason, "is rejected"))
		mend_install(doctor, installed);
}

static void explain_module(struct doctor *doctor)
{
	struct installed installed;

	doctor->unloaded = true;
	doctor_find_module("krdma", &installed);
	if (installed.here) {
		doctor_say(doctor, "module", VERDICT_FAIL,
			   "the module krdma is not loaded; it is installed for this kernel");
		doctor_mend(doctor, "as root", "modprobe krdma");
	} else if (!installed.known) {
		doctor_say(doctor, "module", VERDICT_FAIL,
			   "the module krdma is not loaded; there are no modules of this kernel, %s",
			   installed.running);
		doctor_mend(doctor, "as root; on the host, if this is a container",
			    "modprobe krdma");
	} else if (installed.others) {
		doctor_say(doctor, "module", VERDICT_FAIL,
			   "the module krdma is installed for %s, but not for this kernel, %s",
			   installed.other, installed.running);
		mend_install(doctor, &installed);
	} else {
		doctor_say(doctor, "module", VERDICT_FAIL,
			   "the module krdma is not installed for this kernel, %s",
			   installed.running);
		mend_install(doctor, &installed);
	}
	check_signature(doctor, &installed);
	check_refusal(doctor, &installed);
}

static void check_versions(struct doctor *doctor)
{
	char version[sizeof(((struct krdma_info_args *)NULL)->module_version) + 1];
	struct krdma_info_args info;
	int err = krdma_info_query(doctor->session, &info, sizeof(info));

	if (err) {
		doctor_say(doctor, "version", VERDICT_FAIL,
			   "the version of the module is not known: %s", strerror(-err));
		return;
	}
	printable(version, sizeof(version), info.module_version, sizeof(info.module_version));
	if (strcmp(version, krdma_version())) {
		doctor_say(doctor, "version", VERDICT_WARN,
			   "the module is %s and this tool %s: features of only one of them are missing",
			   version, krdma_version());
		doctor_mend(doctor, "as root; if the module of the tool's release is installed",
			    REMEDY_MODULE);
	} else {
		doctor_say(doctor, "version", VERDICT_OK, "module and tool are both %s", version);
	}
	if (!(info.features & KRDMA_FEATURE_TRANSFERS)) {
		doctor_say(doctor, "version", VERDICT_FAIL,
			   "the module can show devices, but not transfer data");
		doctor_mend(doctor, "as root; with the module of the tool's release",
			    REMEDY_MODULE);
	}
}

void doctor_module(struct doctor *doctor)
{
	bool loaded = !access(MODULE_FOLDER, F_OK), there = !access(KRDMA_DEVICE_PATH, F_OK);
	int err;

	/* A container may have the device file without seeing the module in sysfs. */
	if (!loaded && !there) {
		explain_module(doctor);
		return;
	}
	if (loaded)
		doctor_say(doctor, "module", VERDICT_OK, "krdma is loaded");
	if (!there) {
		doctor_say(doctor, "file", VERDICT_FAIL,
			   "%s is not there, though the module is loaded", KRDMA_DEVICE_PATH);
		doctor_mend(doctor, "as root; for a container: --device "
			    KRDMA_DEVICE_PATH, "modprobe -r krdma && modprobe krdma");
		return;
	}
	err = krdma_open(&doctor->session);
	if (err) {
		doctor->session = NULL;
		explain_open(doctor, err);
		return;
	}
	doctor_say(doctor, "file", VERDICT_OK, "%s can be opened", KRDMA_DEVICE_PATH);
	check_versions(doctor);
}
