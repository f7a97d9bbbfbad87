/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grammar's scanner, compiled with a margin.
 *
 * A scanner saves its state into a buffer of tree-sitter's, and some of them count wrong
 * by a few bytes when they look if there is room: bash (0.23.3) writes seven bytes
 * beside a here-document's word and asks for three, ruby (0.23.1) writes four and asks
 * for two. So they are told of a smaller buffer than there is.
 */
#include <tree_sitter/parser.h>

#undef TREE_SITTER_SERIALIZATION_BUFFER_SIZE
#define TREE_SITTER_SERIALIZATION_BUFFER_SIZE 1000

/* The include path is the grammar's folder. */
#include <scanner.c>
