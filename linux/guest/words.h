/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The words of a line of the configuration, taken one after the other. */
#ifndef SHOAL_WORDS_H
#define SHOAL_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define MAX_WORDS 128

struct words {
	char *word[MAX_WORDS + 1];
	int count, next;
};

/* Splits `line`, which is changed, at blanks. */
struct words words_of(char *line);
/* The next word, as it is or as a number (`never` is NEVER); fails without one. */
const char *text(struct words *w);
uint64_t number(struct words *w);
/* The next word as bytes, two digits each; `-` is none. Returns their number. */
size_t hexadecimal(struct words *w, unsigned char *into, size_t room);
/* Copies a name, which must fit. */
void copy_name(char *into, size_t size, const char *name);

#endif
