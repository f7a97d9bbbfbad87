/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_VALUES_H
#define DW_POLICY_POLICY_VALUES_H

#include <stddef.h>

#include "dewar/error.h"

/*
 * What single values of a policy's file may be, for the tables of policy_read.c: checks
 * of a text, and those that keep it in another form.
 */
int dw_policy_check_line(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_name(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_door(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_network(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_level(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_severity(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_language(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_finding(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_folder(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_url(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_compare(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_profile(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_command(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_module(const void *base, const char *text, struct dw_error *err);

int dw_policy_take_decision(void *base, const char *const *words, size_t n,
                            struct dw_error *err);
int dw_policy_take_default(void *base, const char *const *words, size_t n,
                           struct dw_error *err);
int dw_policy_take_workspace(void *base, const char *const *words, size_t n,
                             struct dw_error *err);
int dw_policy_take_writable(void *base, const char *const *words, size_t n,
                            struct dw_error *err);

#endif
