/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compile a grammar's scanner with a smaller buffer size than tree-sitter provides.
 *
 * A scanner saves its state in a buffer of tree-sitter. Some scanners check for a few
 * bytes less than they then write: in addition to a here-document's word, bash (0.23.3)
 * writes seven bytes and checks for three, ruby (0.23.1) writes four and checks for two.
 */
#include <tree_sitter/parser.h>

#undef TREE_SITTER_SERIALIZATION_BUFFER_SIZE
#define TREE_SITTER_SERIALIZATION_BUFFER_SIZE 1000

/* The include path is the grammar's folder. */
#include <scanner.c>
