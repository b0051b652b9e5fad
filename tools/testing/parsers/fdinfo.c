// SPDX-License-Identifier: GPL-2.0
/*
 * What the module says of an object in /proc, which the process that owns it influences:
 * objects.c, which is included because its parser is not a function of its own.
 */
#include "objects.c"
#include "parsers.h"

static void check_text(const char *text, size_t size)
{
	EXPECT(memchr(text, '\0', size) && text_is_shown(text, true));
}

int parser_fdinfo(const uint8_t *data, size_t size)
{
	struct objects objects = { 0 };
	struct object object;
	FILE *file;

	if (!size)
		return 0;
	text_locale(true);
	file = fmemopen((void *)(uintptr_t)data, size, "r");
	EXPECT(file);
	for (int i = 0; i < 3; i++) {
		if (!read_object(file, &object))
			break;
		EXPECT(object.kind >= 0 && object.kind < OBJECT_KINDS);
		check_text(object.state, sizeof(object.state));
		check_text(object.local, sizeof(object.local));
		check_text(object.remote, sizeof(object.remote));
		object.id += (uint32_t)i / 2;
		EXPECT(!append(&objects, &object));
		rewind(file);
	}
	fclose(file);
	join(&objects);
	EXPECT(!objects.count || objects_find(&objects, &objects.list[0]) == &objects.list[0]);
	EXPECT(objects.count <= 2);
	objects_free(&objects);
	return 0;
}
