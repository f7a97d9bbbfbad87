/* SPDX-License-Identifier: Apache-2.0 */
/* A file of settings is refused with its name and a line, or is within all ranges. */
#undef NDEBUG
#include "daemon/config.h"

#include "fuzz/fuzz.h"

static void check_list(char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert(list[i] && list[i][0] != '\0');
	assert(n == 0 || !list[n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_config *config = NULL;
	struct dw_error err = {0};

	if (dw_config_parse("x.yaml", (const char *)data, size, &config, &err) < 0) {
		assert(!config && err.code == DW_E_INVALID);
		assert(strncmp(err.text, "x.yaml:", 7) == 0);
		assert(err.text[7] >= '1' && err.text[7] <= '9');
		fuzz_check_refusal(&err);
		return 0;
	}
	assert(config->runs.n_levels >= 1 && config->runs.queue <= 1000000);
	check_list(config->runs.levels, config->runs.n_levels);
	check_list(config->http.hosts, config->http.n_hosts);
	check_list(config->http.origins, config->http.n_origins);
	assert(config->http.connections > 0 && config->http.body_bytes > 0);
	assert(config->log_level && config->log_format && config->local.scopes != 0);
	for (size_t i = 0; i < config->pool.n_templates; i++)
		assert(config->pool.templates[i].name &&
		       config->pool.templates[i].language);
	dw_config_free(config);
	return 0;
}
