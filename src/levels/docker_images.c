/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "levels/docker_cell.h"

/*
 * Official images, small ones where the language works in them: Alpine's musl cannot use
 * most wheels and binaries that Python and TypeScript programs install.
 */
static const struct {
	const char *language;
	const char *image;
} images[] = {
	{"python", "python:3.11-slim"},
	{"javascript", "node:22-alpine"},
	{"typescript", "node:22-slim"},
	{"ruby", "ruby:3.3-alpine"},
	{"php", "php:8.3-cli-alpine"},
	{"perl", "perl:5.40-slim"},
	{"lua", "alpine:3.20"},
	{"r", "r-base:4.4.1"},
	{"bash", "alpine:3.20"},
	{"sh", "alpine:3.20"},
	{"zsh", "alpine:3.20"},
	{"c", "gcc:14"},
	{"c++", "gcc:14"},
	{"go", "golang:1.23-alpine"},
	{"rust", "rust:1-slim"},
	{"java", "eclipse-temurin:21-jdk"},
	{"binary", "alpine:3.20"},
};

const char *dw_docker_image(const struct dw_runtime *runtime)
{
	for (size_t i = 0; i < ARRAY_SIZE(images); i++)
		if (strcmp(images[i].language, runtime->name) == 0)
			return images[i].image;
	return NULL;
}
