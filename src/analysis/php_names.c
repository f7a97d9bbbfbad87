/* SPDX-License-Identifier: Apache-2.0 */
/* The names of PHP that need a reason, or lead to those that do. */
#include "analysis/php.h"

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

const struct dw_danger dw_php_dangers[] = {
	{"eval", "builtin:", E, DW_CODE_SELF},
	{"create_function", "builtin:", E, 0},
	{"fopen", "builtin:", W, 0},
	{"file_get_contents", "builtin:", W, 0},
	{"file_put_contents", "builtin:", W, 0},
	{"readfile", "builtin:", W, 0},
	{"system", "shell:", E, DW_CODE_SHELL},
	{"exec", "shell:", E, DW_CODE_SHELL},
	{"shell_exec", "shell:", E, DW_CODE_SHELL},
	{"passthru", "shell:", E, DW_CODE_SHELL},
	{"popen", "shell:", E, DW_CODE_SHELL},
	{"proc_open", "shell:", E, DW_CODE_SHELL},
	{"pcntl_exec", "shell:", E, 0},
	{"pcntl_fork", "shell:", W, 0},
	{"posix_kill", "shell:", W, 0},
	{"mail", "network:", W, 0},
	{"unlink", "delete:", E, 0},
	{"rmdir", "delete:", E, 0},
	{"ftruncate", "delete:", E, 0},
	{"fsockopen", "network:", W, 0},
	{"pfsockopen", "network:", W, 0},
	{"stream_socket_client", "network:", W, 0},
	{"stream_socket_server", "network:", W, 0},
	{"socket_create", "network:", W, 0},
	{"socket_connect", "network:", W, 0},
	{"curl_init", "network:", W, 0},
	{"curl_exec", "network:", W, 0},
	{"curl_multi_exec", "network:", W, 0},
	{"ftp_connect", "network:", W, 0},
	{"gethostbyname", "network:", W, 0},
	{"dns_get_record", "network:", W, 0},
	{"unserialize", "dynamic:", E, 0},
	{"extract", "reflection:", W, 0},
	{"parse_str", "reflection:", W, 0},
	{"dl", "native:", E, 0},
	{"putenv", "native:", W, 0},
	{"ffi::cdef", "native:FFI", E, 0},
	{"ffi::load", "native:FFI", E, 0},
	{0},
};

#undef E
#undef W

/* Functions that call what they are given the name of. */
const char dw_php_callers[] =
	" call_user_func call_user_func_array array_map array_filter array_walk array_reduce "
	"array_walk_recursive usort uasort uksort register_shutdown_function "
	"register_tick_function ob_start preg_replace_callback iterator_apply "
	"set_error_handler set_exception_handler spl_autoload_register forward_static_call "
	"array_udiff array_uintersect array_diff_ukey is_callable ";

const char dw_php_reflectors[] =
	" reflectionfunction reflectionmethod reflectionclass reflectionobject ";

const char dw_php_from_outside[] =
	" $_GET $_POST $_REQUEST $_COOKIE $_SERVER $_FILES $GLOBALS ";
