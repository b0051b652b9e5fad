// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: how much memory may be locked.  Registering an MR locks its memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cause.h"
#include "doctor.h"

/* Enough for the buffers of each of the tool's commands, in bytes. */
#define PLENTY		(64ull << 20)
#define TRIAL		65536

#define CAP_IPC_LOCK_BIT	14

/* Returns true with CAP_IPC_LOCK, which root has: the limit does not apply. */
static bool is_exempt(void)
{
	unsigned long long effective = 0;
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];

	if (!status)
		return !geteuid();
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(status);
	return effective >> CAP_IPC_LOCK_BIT & 1;
}

static void mend_limit(struct doctor *doctor)
{
	/* For one group, and behind what the file may say already. */
	doctor_mend(doctor,
		    "as root, for the group rdma; then log in again; for a service: LimitMEMLOCK=infinity",
		    "echo '@rdma - memlock unlimited' >> /etc/security/limits.d/rdma.conf");
}

static void check_limit(struct doctor *doctor)
{
	struct rlimit limit;
	char size[SIZE_TEXT_MAX];

	if (is_exempt()) {
		doctor_say(doctor, "memlock", VERDICT_OK,
			   "this process may lock, and so register, any amount of memory");
	} else if (getrlimit(RLIMIT_MEMLOCK, &limit)) {
		doctor_say(doctor, "memlock", VERDICT_WARN,
			   "the limit of locked memory is not known: %s", strerror(errno));
	} else if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= PLENTY) {
		doctor_say(doctor, "memlock", VERDICT_OK,
			   "this process may lock, and so register, %s of memory",
			   limit.rlim_cur == RLIM_INFINITY ? "any amount" :
			   size_text(size, limit.rlim_cur));
	} else {
		doctor_say(doctor, "memlock", VERDICT_WARN,
			   "this process may lock, and so register, only %s of memory",
			   size_text(size, limit.rlim_cur));
		mend_limit(doctor);
	}
}

/* Register an MR, because limits do not tell for certain whether this works. */
static void check_register(struct doctor *doctor)
{
	struct krdma_mr *mr;
	struct cause cause;
	int err = krdma_mr_alloc(doctor->session, doctor->device, TRIAL,
				 KRDMA_ACCESS_LOCAL_WRITE, &mr);

	switch (err) {
	case 0:
		krdma_mr_deregister(mr, 0);
		doctor_say(doctor, "register", VERDICT_OK, "memory can be registered");
		break;
	case -ENOMEM:
	case -EPERM:
		doctor_say(doctor, "register", VERDICT_FAIL,
			   "not even 64KiB of memory can be registered: %s", strerror(-err));
		mend_limit(doctor);
		break;
	case -EDQUOT:
		cause_of_quota(&cause, doctor->session);
		doctor_say(doctor, "register", VERDICT_FAIL, "memory cannot be registered: %s",
			   cause.why);
		doctor_mend(doctor, "the limits, and what counts against them", "krdma info");
		break;
	default:
		doctor_say(doctor, "register", VERDICT_FAIL, "memory cannot be registered: %s",
			   strerror(-err));
		break;
	}
}

/* Report a limit of the module of which at least 90 % is used. */
static void check_quota(struct doctor *doctor, const struct krdma_limit_query_args *limit)
{
	const char *name = krdma_limit_name(limit->limit);
	bool owner = limit->owner_used > limit->user_used;
	uint64_t used = owner ? limit->owner_used : limit->user_used;

	if (limit->max == KRDMA_LIMIT_UNKNOWN || used < limit->max - limit->max / 10)
		return;
	doctor_say(doctor, "limits", used < limit->max ? VERDICT_WARN : VERDICT_FAIL,
		   "%s has %llu of %llu allowed: %s",
		   owner ? "the owner of this user namespace" : "this user",
		   (unsigned long long)used, (unsigned long long)limit->max, name);
	doctor_mend(doctor, "as root; or another number",
		    "echo %llu > /sys/module/krdma/parameters/max_%s%s",
		    (unsigned long long)(limit->limit == KRDMA_LIMIT_MEMORY ?
					 (limit->max >> 19) + 1 : 2 * limit->max + 1),
		    name, limit->limit == KRDMA_LIMIT_MEMORY ? "_mb" : "");
}

/* A module that does not know the request has no limits to report. */
static void check_quotas(struct doctor *doctor)
{
	unsigned int said = doctor->warned + doctor->failed;
	struct krdma_limit_query_args limit;
	uint32_t number;

	for (number = 0; !krdma_limit_query(doctor->session, number, &limit,
					    sizeof(limit)); number++)
		check_quota(doctor, &limit);
	if (number && said == doctor->warned + doctor->failed)
		doctor_say(doctor, "limits", VERDICT_OK,
			   "this user has reached no limit");
}

void doctor_limits(struct doctor *doctor)
{
	check_limit(doctor);
	if (doctor->session)
		check_quotas(doctor);
	if (doctor->session && doctor->device)
		check_register(doctor);
}
