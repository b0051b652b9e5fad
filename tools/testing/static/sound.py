# SPDX-License-Identifier: GPL-2.0
"""The tree without defects of the tests of the static checks."""

import os

from krdma_static import cache, pictures, tests

GPL_C = "// SPDX-License-Identifier: GPL-2.0\n"
GPL_H = "/* SPDX-License-Identifier: GPL-2.0 */\n"
GPL_SH = "#!/bin/bash\n# SPDX-License-Identifier: GPL-2.0\n"
KNOWN = "https" + "://example.org/known"
GPL_RST = ".. SPDX-License-Identifier: GPL-2.0\n\n"

CORE = GPL_C + """\
#include "core.h"

/**
 * krdma_answer() - the answer
 * @question: what it is about
 *
 * Context: any.
 * Return: 42.
 */
int krdma_answer(int question)
{
	return 42;
}
EXPORT_SYMBOL_GPL(krdma_answer);
"""

ROWS = """\
# SPDX-License-Identifier: GPL-2.0
A. Answers

A1: Every question has
    an answer.
A2: Questions.
    not offered: nobody asks any.
"""
# An annotation for all tiers of e2e.  PROOFS has annotations that name tiers.
PROVES = "/* Proves: A1 */\n"
ANSWERS = "TEST_F(device, answers)\n{\n}\n"
CASE = "static void waits(struct core_test *test)\n{\n}\n\n\tCORE_CASE_CONTEXTS(waits),\n"
ANSWERS_RAN = [f"{tier}: device.64: device.answers\n" for tier in tests.TIERS["e2e"]]

# The header declares what is above, a macro and an inline function use what is below, and the lower
# file has a static function, a variable, a member and a tag with names of the upper one.
FAKE_H = GPL_H + """\
struct fake_high_count {
	int fake_ops;
};

int fake_twice(int x);
extern const struct fake_table fake_ops;
int fake_mid(int x);
int fake_once(int x);

#define FAKE_STEP(x)	fake_low_step((x) + 1)

static inline int fake_next(int x)
{
	return fake_once(x);
}

static inline int fake_plus(int x)
{
	return x + 1;
}
"""
FAKE_LOW = GPL_C + """\
#include "fake_all.h"

static int fake_help(int x)
{
	return fake_plus(x);
}

int fake_low_step(int x)
{
	struct fake_high_count all = { .fake_ops = x };
	int fake_high_count = all.fake_ops;

	return fake_help(fake_high_count);
}

int fake_once(int fake_twice)
{
	return fake_help(fake_twice);
}
"""
FAKE_MID = GPL_C + """\
#include "fake_all.h"

int fake_mid(int x)
{
	return fake_once(x);
}
"""
# What no file of krdma/core/ may use.
ABOVE = """\
const struct krdma_far_table krdma_far_ops = { .x = 1 };

int krdma_far_above(int x)
{
	return x;
}

int far_plain(int x)
{
	return x;
}

int
krdma_far_line(int x)
{
	return x;
}
"""
ABOVE_H = """\
int krdma_far_above(int x);
int far_plain(int x);
int krdma_far_line(int x);

static inline int krdma_far_inline(int x)
{
	return x;
}
"""
CAPS = "#include \"core/caps.h\"\n#include \"trace.h\"\n"

BLK_ONE = GPL_C + "int krdma_blk_one(void)\n{\n\treturn 1;\n}\n"

FAKE_HIGH = GPL_C + """\
#include "fake_all.h"

int fake_high_count;

static int fake_help(int x)
{
	return FAKE_STEP(x);
}

int fake_twice(int x)
{
	return fake_help(fake_next(x));
}

const struct fake_table fake_ops = {
	.twice = fake_twice,
	.mid = fake_mid,
};
"""

TUTORIAL = GPL_RST + """\
Tutorial
========

.. all of tools/testing/example.c

.. from tools/testing/example.c

.. code-block:: c

    int answer(void)
    {
            return 42;
    }

.. from tools/testing/example.c

.. code-block:: c

    // SPDX-License-Identifier: GPL-2.0
"""
EXAMPLE = GPL_C + """\
int answer(void)
{
	return 42;
}
"""

DESCRIPTIONS = """\
# SPDX-License-Identifier: GPL-2.0
resource krdma_answer_id[int32]: 0

ioctl$KRDMA_ASK(fd fd, cmd const[KRDMA_ASK], arg ptr[inout, krdma_question])

krdma_question {
	size	len[parent, int32] (in)
}
"""

ASK = """\
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
class Question:
    def ask(self, loud: bool = False) -> int:
        return 42
"""
UAPI = "/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */\n"
LGPL_C = "// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause\n"
# Not compiled: only the tables are read.
LGPL_MAN = ".\\\" SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause\n"
CLI_OPTIONS = LGPL_C + """\
#ifdef KRDMA_TOOL
static const struct option common_options[] = {
	{ "json", no_argument, NULL, COMMON | 'j' },
	{ NULL, 0, NULL, 0 },
};
#endif
"""
CLI_MAIN = LGPL_C + """\
#ifdef KRDMA_TOOL
static const char usage[] =
	"Usage: krdma COMMAND\\n"
	"  ask     asks\\n"
	"  -j, --json     JSON\\n"
	"Manual: krdma(8)\\n";

static const struct command commands[] = {
	{ "ask", cmd_ask },
	{ "demand", cmd_ask },
	{ NULL, NULL },
};
#endif
"""
CLI_ASK = LGPL_C + """\
#ifdef KRDMA_TOOL
static const char usage[] =
	"Usage: krdma ask [OPTION]...\\n"
	"  -t, --twice     two times\\n"
	"      --late TIME later\\n"
	"Manual: krdma-ask(8)\\n";

static const struct own_option own_options[] = {
	{ "twice", 't', false },
	{ "late", OPTION_LATE, true },
	{ NULL, 0, false },
};
#endif
"""
CLI_PAGE = """\
.SH DESCRIPTION
.B krdma ask
asks.
.SH OPTIONS
.TP
.BR \\-j ", " \\-\\-json
JSON.
.SH EXIT STATUS
0 or 1.
.SH EXAMPLES
.EX
$ krdma ask
.EE
"""
ASK_PAGE = CLI_PAGE.replace(".BR \\-j", """\
.BR \\-t ", " \\-\\-twice
Two times.
.TP
.BI \\-\\-late " time"
Later; not \\-\\-never.
.TP
.BR \\-j""")
LIB_HEADER = "/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */\n" + """\
/**
 * krdma_begin() - Begin
 * @x: anything
 *
 * Errors: EINVAL.
 */
int krdma_begin(int x);

/**
 * krdma_end() - End
 */
void krdma_end(void);
"""
LIB_PAGE = ".SH ERRORS\n.TP\n.B \\-EINVAL\nNo.\n.SH EXAMPLES\n.EX\nkrdma_begin(1);\nkrdma_end();\n.EE\n"

with open(os.path.join(cache.TOP, pictures.DRAW), encoding="utf-8") as drawing:
    TERMINAL = drawing.read()
SESSION = "Two machines, 6.1:\n\n# krdma ask 7\nkrdma: cannot ask 7: no answer\nAsk again\n"
DEMO = GPL_SH + "echo \"Two machines, $(uname -r):\"\nmust 'krdma ask 7'\nsee 'krdma dev'\n"
ANSWERER = "// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause\nchar text[] = \"cannot ask %u: %s\\n\"\n" \
    "\t\"Ask again\";\n"


def picture(text):
    """The picture of a record."""
    names = {"__name__": "terminal"}
    exec(compile(TERMINAL, pictures.DRAW, "exec"), names)  # pylint: disable=exec-used
    return names["draw"]("ask", text)


FAR = "/**\n * krdma_far_one() - one\n *\n * Context: any.\n * Return: 1.\n */\nint krdma_far_one(void)\n" \
    "{\n\treturn 1;\n}\nEXPORT_SYMBOL_NS_GPL(krdma_far_one, \"KRDMA\");\n"
FAR += FAR.replace("one", "two").replace("1", "2")
THREADS = GPL_RST + """\
Threads
=======

.. list-table::

   * - functions
     - safe
     - not safe
   * - ``krdma_far_one`` ``two``
     - 2
     - 0
"""
RECORD = "# SPDX-License-Identifier: GPL-2.0\nnull.verbs.write 300.40\nnull.krdma.write 1025.19\n"
FIGURES = """
.. figures of tools/bench/record

A write takes 1,025, which is 725 more than 300, in a batch of 64.

.. end of figures

They were 2,000.  See ``e2e: device.answers``, ``shell: it counts`` and ``device.any_number_of_them``.
"""

SOUND = {
    "MAINTAINERS": "# SPDX-License-Identifier: GPL-2.0\nA\nP:\tmr core\nB\nP:\tio\n",
    ".gitignore": "build/\n",
    "Makefile": "# SPDX-License-Identifier: GPL-2.0\nall check:\n\ttrue\n",
    "README.rst": GPL_RST + """\
Sound
=====

.. in a clean system

Run ``make check``, or ``tools/script --fast`` with ``KRDMA_MODE=1``::

    $ sudo make check       # all

See `the index <Documentation/index.rst>`_.

.. image:: Documentation/pictures/demo.svg
""",
    "Documentation/index.rst": GPL_RST + """\
Index
=====

* `coverage <coverage.rst>`_, `rows <coverage.rows>`_, `testing <testing.rst>`_
* `tutorial <tutorial/one.rst>`_, `threads <threads.rst>`_, `files <overview/files.rst>`_
""",
    "Documentation/overview/files.rst": GPL_RST + """\
Files
=====

======================= ========
``krdma/core.c``        answers
``krdma/user/file.c``   asks
``krdma/io/far.c``      is far
``krdma/cm/far.c``      is, too
``krdma/core/caps.c``   computes
``blk/one.c``           one
``blk/two.c``           two
======================= ========
""",
    "Documentation/tutorial/one.rst": TUTORIAL,
    "tools/testing/example.c": EXAMPLE,
    "Documentation/testing.rst": GPL_RST + "Testing\n=======\n" + FIGURES,
    "tools/bench/record": RECORD,
    "Documentation/threads.rst": THREADS,
    "include/krdma/krdma.h": GPL_H + "int krdma_far_one(void);\nint krdma_far_two(void);\n",
    "krdma/cm/far.c": GPL_C + FAR,
    "tools/demo": DEMO,
    pictures.DRAW: TERMINAL,
    "tools/cli/answer.c": ANSWERER,
    "Documentation/pictures/demo.session": SESSION,
    "Documentation/pictures/demo.svg": picture(SESSION),
    "Documentation/coverage.rows": ROWS,
    "krdma/core.c": CORE,
    "krdma/core.h": GPL_H + "#include <rdma/ib_verbs.h>\n\nint krdma_answer(int question);\n",
    "krdma/user/file.c": GPL_C + "#include <linux/krdma.h>\n\nstatic struct krdma_question last;\n",
    "krdma/core/caps.c": GPL_C + CAPS,
    "krdma/core/caps.h": GPL_H + "#include <linux/types.h>\n",
    "krdma/io/far.c": GPL_C + ABOVE,
    "krdma/io/far.h": GPL_H + ABOVE_H,
    "krdma/trace.h": GPL_H + "#include <linux/tracepoint.h>\n",
    "krdma/compat/compat.h": GPL_H + "#include <linux/version.h>\n",
    "uapi/linux/krdma.h":
        "/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */\n#include <linux/ioctl.h>\n"
        "\nstruct krdma_question {\n\t__u32 size;\n};\n\n#define KRDMA_ASK\t_IO(0xBC, 0)\n",
    "tools/script": GPL_SH + "[ \"${KRDMA_MODE:-}\" != \"${1#--fast}\" ]\n",
    "tools/fuzz/krdma.txt": DESCRIPTIONS,
    "tools/lib/krdma.c": "// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause\n",
    "tools/python/krdma/_abi.py": "# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause\n",
    "tools/python/krdma/ask.py": ASK,
    "tools/guest": "#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0\nexec true\n",
    "tools/testing/pure/Makefile": "# SPDX-License-Identifier: GPL-2.0\nSOURCES := krdma/core/caps.c\n",
    "tools/testing/e2e/device.c": GPL_C + PROVES + ANSWERS,
    "tools/testing/e2e/asked.c": GPL_C + ANSWERS,
    "tools/testing/e2e/Makefile":
        "# SPDX-License-Identifier: GPL-2.0\nPROGRAMS_ASKED := other \\\n\tasked\n",
    "tools/testing/core/cases.c": GPL_C + CASE,
    "tools/testing/e2e/shell": GPL_SH + "ok()\n{\n\ttrue\n}\nok shell.counts\n",
    "tools/testing/e2e/many.c": GPL_C + "TEST_F(device, any_number_of_them)\n",
    "tools/testing/shell/run": GPL_SH + "ok()\n{\n\ttrue\n}\nok \"it counts\"\n",
    "kunit/limits.c": GPL_C + """\
static void clamps(struct kunit *test)
{
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(clamps),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "limits",
	.test_cases = limits_cases,
};
""",
    "kunit/more.c": GPL_C + "int limits_more(void)\n{\n\treturn limits();\n}\n",
    "kunit/fake_all.h": FAKE_H,
    "kunit/fake_low.c": FAKE_LOW,
    "kunit/fake_mid.c": FAKE_MID,
    "kunit/fake_high.c": FAKE_HIGH,
    "blk/one.c": BLK_ONE,
    "blk/one.h": GPL_H + "int krdma_blk_one(void);\n",
    "blk/two.h": GPL_H + "int krdma_blk_two(void);\n",
    "blk/two.c": GPL_C + "int krdma_blk_two(void)\n{\n\treturn krdma_blk_one();\n}\n",
    "tools/cli/options.c": CLI_OPTIONS,
    "tools/cli/main.c": CLI_MAIN,
    "tools/cli/cmd_ask.c": CLI_ASK,
    "tools/cli/man/krdma.8": LGPL_MAN + CLI_PAGE,
    "tools/cli/man/krdma-ask.8": LGPL_MAN + ASK_PAGE,
    "tools/lib/man/libkrdma.3": LGPL_MAN + LIB_PAGE,
    "tools/lib/krdma_begin.h": LIB_HEADER,
    "tools/testing/static/urls": KNOWN + "\nhttp://www.w3.org/2000/svg\n",
    "tools/link": GPL_SH + f"echo {KNOWN}\n",
}
