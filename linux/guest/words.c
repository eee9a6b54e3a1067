/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The words of a line of the configuration, taken one after the other. */
#include "words.h"
#include "guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words words_of(char *line)
{
	struct words words = { 0 };

	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		if (words.count == MAX_WORDS)
			fail("too many words");
		words.word[words.count++] = word;
	}
	return words;
}

const char *text(struct words *w)
{
	if (w->next >= w->count)
		fail("a word is missing after `%s`", w->word[w->count > 0 ? w->count - 1 : 0]);
	return w->word[w->next++];
}

uint64_t number(struct words *w)
{
	const char *word = text(w);
	char *end;
	uint64_t value;

	if (strcmp(word, "never") == 0)
		return NEVER;
	errno = 0;
	value = strtoull(word, &end, 0);
	if (errno || end == word || *end)
		fail("`%s` is not a number", word);
	return value;
}

size_t hexadecimal(struct words *w, unsigned char *into, size_t room)
{
	const char *word = text(w);
	size_t size = strcmp(word, "-") == 0 ? 0 : strlen(word) / 2;

	if (size > room)
		fail("%zu bytes do not fit", size);
	for (size_t i = 0; i < size; i++)
		if (sscanf(word + 2 * i, "%2hhx", &into[i]) != 1)
			fail("`%s` is not hexadecimal", word);
	return size;
}

void copy_name(char *into, size_t size, const char *name)
{
	if (strlen(name) >= size)
		fail("the name `%s` is too long", name);
	strcpy(into, name);
}
