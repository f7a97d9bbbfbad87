/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the readers: an arena, and lists that double their size. */
#include "analysis/reader.h"

#include <stdlib.h>

#define ARENA_MAX ((size_t)16 << 20)
#define CHUNK ((size_t)64 << 10)

struct dw_arena {
	struct dw_arena *next;
	size_t used;
	size_t size;
	size_t all; /* bytes counted in this chunk and the next ones */
	_Alignas(max_align_t) char data[];
};

char *dw_arena_keep(struct dw_arena **arena, const void *data, size_t len, size_t align,
                    uint64_t *fuel, bool *no_memory)
{
	struct dw_arena *here = *arena;
	size_t all = (here ? here->all : 0) + len + align;
	size_t at = here ? (here->used + align - 1) / align * align : 0;

	if (all > ARENA_MAX) {
		*fuel = 0;
		return NULL;
	}
	if (!here || at + len >= here->size) {
		size_t size = len + 1 > CHUNK ? len + 1 : CHUNK;

		here = malloc(sizeof(*here) + size);
		if (!here) {
			*no_memory = true;
			return NULL;
		}
		here->next = *arena;
		here->size = size;
		*arena = here;
		at = 0;
	}
	if (len > 0)
		memcpy(here->data + at, data, len);
	here->data[at + len] = '\0';
	here->used = at + len + 1;
	here->all = all;
	return here->data + at;
}

void dw_arena_free(struct dw_arena *arena)
{
	while (arena) {
		struct dw_arena *next = arena->next;

		free(arena);
		arena = next;
	}
}

void *dw_grow(void *list, size_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? realloc(list, (n > 0 ? n * 2 : 1) * size) : list;
}
