/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_HEADERS_H
#define DW_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Parsers for the head of a request, whose content the client controls. They depend on no
 * other module, so that they can be fuzzed.
 */

/*
 * Returns true if Host is localhost, an address or one of the n names, with any port. A
 * web page can point its own name at this server (DNS rebinding), but then its browser
 * sends that name in Host, never an address.
 */
bool dw_headers_is_our_host(const char *host, char *const *names, size_t n);

/*
 * Returns true if Origin is the page of the given Host (which may be NULL) or one of the
 * n origins.
 */
bool dw_headers_is_our_page(const char *origin, const char *host, char *const *origins,
                            size_t n);

/* Returns true if Accept lists the type, with any parameters. */
bool dw_headers_accepts(const char *accept, const char *type);

/*
 * Returns true if the path matches the route, one part of which may be "{id}"; that
 * part of the path is copied to ret, which is untouched otherwise.
 */
bool dw_headers_path_fits(const char *route, const char *path, char *ret, size_t size);

#endif
