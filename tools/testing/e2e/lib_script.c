// SPDX-License-Identifier: GPL-2.0
/*
 * A server for one client of libkrdma's file transfers that says what a test wants.
 */
#include "lib_script.h"

static void *script_run(void *context)
{
	struct script *script = context;
	struct message message;
	struct raw raw;

	if (!raw_accept(&raw, script->session, script->listener, script->hello, script->length) &&
	    script->talk)
		script->talk(&raw, script->context);
	/* Until the client disconnects. */
	while (raw_receive(&raw, &message) > 0)
		;
	raw_close(&raw);
	return NULL;
}

int script_get(struct script *script, struct files *files, const char *name, const char *as,
	       const struct krdma_file_options *options, struct krdma_file_result *result)
{
	struct __kernel_sockaddr_storage address;
	struct sockaddr_storage at;
	char path[FILES_PATH];
	pthread_t thread;
	int ret;

	script->session = files->session;
	ret = address_set(&address, BOOT_ADDRESS, 0);
	if (!ret)
		ret = krdma_listen(files->session, (struct sockaddr *)&address, 0, 0,
				   &script->listener);
	if (ret)
		return ret;
	ret = krdma_listener_address(script->listener, &at);
	if (!ret)
		ret = -pthread_create(&thread, NULL, script_run, script);
	if (!ret) {
		ret = krdma_file_get(files->session, (struct sockaddr *)&at, name,
				     files_path(path, files->here, as), options, result,
				     sizeof(*result));
		pthread_join(thread, NULL);
	}
	krdma_listener_close(script->listener);
	return ret;
}
