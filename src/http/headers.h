/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HEADERS_H
#define DW_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What the head of a request says. All of it is a client's bytes, and nothing in here
 * knows more than these, so that it can be fuzzed.
 */

/*
 * Is it one of our names in Host: localhost, an address, or one of those n, with any
 * port behind it? A page can have any name lead to us, but its name then is what its
 * browser sends; it cannot have an address sent that is not its own.
 */
bool dw_headers_is_our_host(const char *host, char *const *names, size_t n);

/* Is the page in Origin one of ours, as served at that Host (or NULL), or of those n? */
bool dw_headers_is_our_page(const char *origin, const char *host, char *const *origins,
                            size_t n);

/* Is the type among those in Accept, whatever its parameters are? */
bool dw_headers_accepts(const char *accept, const char *type);

/*
 * Does the path fit the route, one part of which may be "{id}"? What stands for it
 * goes into ret, which is untouched otherwise.
 */
bool dw_headers_path_fits(const char *route, const char *path, char *ret, size_t size);

#endif
