/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzzers for the parsers of bytes that a peer or another user chooses: what the files share.
 */
#ifndef KRDMA_PARSERS_H
#define KRDMA_PARSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A result that no input may cause: ends the target, and the input is saved. */
#define EXPECT(condition)							\
do {										\
	if (!(condition)) {							\
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,	\
			#condition);						\
		abort();							\
	}									\
} while (0)

/*
 * Each target parses an input of its own allocation, so that the address sanitizer sees an access
 * beyond the end.  Returns 0.
 */
typedef int (*parser_target)(const uint8_t *data, size_t size);

int parser_remote_mr(const uint8_t *data, size_t size);
int parser_mr_desc(const uint8_t *data, size_t size);
int parser_private_data(const uint8_t *data, size_t size);
int parser_lane_hello(const uint8_t *data, size_t size);
int parser_lane_frame(const uint8_t *data, size_t size);
int parser_blk_welcome(const uint8_t *data, size_t size);
int parser_blk_refusal(const uint8_t *data, size_t size);
int parser_blk_command(const uint8_t *data, size_t size);
int parser_message(const uint8_t *data, size_t size);
int parser_parts(const uint8_t *data, size_t size);
int parser_simple_hello(const uint8_t *data, size_t size);
int parser_simple_header(const uint8_t *data, size_t size);
int parser_simple_imm(const uint8_t *data, size_t size);
int parser_simple_arrivals(const uint8_t *data, size_t size);
int parser_hub_greeting(const uint8_t *data, size_t size);
int parser_hub_refusal(const uint8_t *data, size_t size);
int parser_hub_frame(const uint8_t *data, size_t size);
int parser_rpma_memory(const uint8_t *data, size_t size);
int parser_rpma_peer(const uint8_t *data, size_t size);
int parser_rpma_example(const uint8_t *data, size_t size);
int parser_file_message(const uint8_t *data, size_t size);
int parser_file_list(const uint8_t *data, size_t size);
int parser_file_hello(const uint8_t *data, size_t size);
int parser_file_flow(const uint8_t *data, size_t size);
int parser_file_accept(const uint8_t *data, size_t size);
int parser_file_name(const uint8_t *data, size_t size);
int parser_file_nets(const uint8_t *data, size_t size);
int parser_file_part(const uint8_t *data, size_t size);
int parser_hello(const uint8_t *data, size_t size);
int parser_answer(const uint8_t *data, size_t size);
int parser_rping(const uint8_t *data, size_t size);
int parser_selftest_words(const uint8_t *data, size_t size);
int parser_selftest_far(const uint8_t *data, size_t size);
int parser_fdinfo(const uint8_t *data, size_t size);
int parser_blk_config(const uint8_t *data, size_t size);
int parser_url(const uint8_t *data, size_t size);
int parser_value(const uint8_t *data, size_t size);
int parser_secret(const uint8_t *data, size_t size);
int parser_names(const uint8_t *data, size_t size);
int parser_json(const uint8_t *data, size_t size);
int parser_completion(const uint8_t *data, size_t size);

/* text.c */

/* A copy with a zero at its end. */
char *text_of(const uint8_t *data, size_t size);
/* Valid UTF-8 (or ASCII) without anything that controls a terminal or the text direction. */
bool text_is_shown(const char *text, bool utf8);
/* Sets the locale's encoding, as output.c sees it. */
void text_locale(bool utf8);
/* From now on output goes to memory; then its text, which the caller frees. */
void output_begin(void);
char *output_end(void);
/* A file in memory with these bytes; its offset is 0. */
int memory_file(const uint8_t *data, size_t size);

/* kernel.c: the module's decoder of memory descriptors. */
int parser_desc_of_module(const uint8_t *data, size_t size, uint64_t *addr, uint64_t *length,
			  uint32_t *key, uint32_t *rights);

/* cover.c: the places that the code under test has reached since cover_begin(). */
#define COVER_PLACES	65536
extern uint16_t cover_reached[COVER_PLACES];
extern unsigned int cover_count;
void cover_begin(void);
void cover_end(void);
/* Called by the code under test. */
void __sanitizer_cov_trace_pc(void);

#endif
