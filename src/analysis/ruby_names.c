/* SPDX-License-Identifier: Apache-2.0 */
/* The names of Ruby that need a reason. */
#include "analysis/ruby.h"

const char *const dw_ruby_modules[] = {
	"socket",   "net",    "open-uri", "open3",    "fileutils",   "pty",   "fiddle",
	"ffi",      "drb",    "webrick",  "openssl",  "tempfile",    "etc",   "syslog",
	"objspace", "ripper", "faraday",  "httparty", "rest-client", "excon", "typhoeus",
	"shell",    "dl",     "win32ole", NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

const struct dw_danger dw_ruby_dangers[] = {
	{"Kernel.eval", "builtin:eval", E, DW_CODE_SELF},
	{"Kernel.binding.eval", "builtin:eval", E, DW_CODE_SELF},
	{"TOPLEVEL_BINDING.eval", "builtin:eval", E, DW_CODE_SELF},
	{"Kernel.instance_eval", "builtin:instance_eval", E, DW_CODE_SELF},
	{"Kernel.class_eval", "builtin:class_eval", E, DW_CODE_SELF},
	{"Kernel.module_eval", "builtin:module_eval", E, DW_CODE_SELF},
	{"Kernel.open", "builtin:open", W, 0},
	{"Kernel.gets", "builtin:gets", W, 0},
	{"File.open", "builtin:open", W, 0},
	{"File.new", "builtin:open", W, 0},
	{"File.write", "builtin:open", W, 0},
	{"File.read", "builtin:open", W, 0},
	{"IO.read", "builtin:open", W, 0},
	{"IO.write", "builtin:open", W, 0},
	{"Kernel.system", "shell:system", E, DW_CODE_SHELL},
	{"Kernel.exec", "shell:exec", E, DW_CODE_SHELL},
	{"Kernel.spawn", "shell:spawn", E, DW_CODE_SHELL},
	{"Kernel.fork", "shell:fork", W, 0},
	{"Kernel.`", "shell:backtick", E, DW_CODE_SHELL},
	{"Kernel.syscall", "native:syscall", E, 0},
	{"Process.spawn", "shell:", E, DW_CODE_SHELL},
	{"Process.exec", "shell:", E, DW_CODE_SHELL},
	{"Process.fork", "shell:", W, 0},
	{"Process.kill", "shell:", W, 0},
	{"IO.popen", "shell:", E, DW_CODE_SHELL},
	{"Open3.*", "shell:", E, DW_CODE_SHELL},
	{"PTY.spawn", "shell:", E, DW_CODE_SHELL},
	{"PTY.getpty", "shell:", E, DW_CODE_SHELL},
	{"File.delete", "delete:", E, 0},
	{"File.unlink", "delete:", E, 0},
	{"File.truncate", "delete:", E, 0},
	{"Dir.rmdir", "delete:", E, 0},
	{"Dir.unlink", "delete:", E, 0},
	{"Dir.delete", "delete:", E, 0},
	{"FileUtils.rm**", "delete:", E, 0},
	{"FileUtils.remove**", "delete:", E, 0},
	{"FileUtils.safe_unlink", "delete:", E, 0},
	{"Pathname.new().delete", "delete:Pathname.delete", E, 0},
	{"Pathname.new().unlink", "delete:Pathname.unlink", E, 0},
	{"Pathname.new().rmtree", "delete:Pathname.rmtree", E, 0},
	{"Net.HTTP.*", "network:Net::HTTP", W, 0},
	{"Net.FTP.*", "network:Net::FTP", W, 0},
	{"Net.SMTP.*", "network:Net::SMTP", W, 0},
	{"Net.SSH.*", "network:Net::SSH", W, 0},
	{"TCPSocket.*", "network:TCPSocket", W, 0},
	{"TCPServer.*", "network:TCPServer", W, 0},
	{"UDPSocket.*", "network:UDPSocket", W, 0},
	{"UNIXSocket.*", "network:UNIXSocket", W, 0},
	{"Socket.*", "network:Socket", W, 0},
	{"URI.open", "network:URI.open", W, 0},
	{"OpenURI.*", "network:OpenURI", W, 0},
	{"Faraday.*", "network:Faraday", W, 0},
	{"HTTParty.*", "network:HTTParty", W, 0},
	{"RestClient.*", "network:RestClient", W, 0},
	{"Fiddle.*", "native:Fiddle", E, 0},
	{"Fiddle.Function.new", "native:Fiddle", E, 0},
	{"Marshal.load", "dynamic:", E, 0},
	{"YAML.load", "dynamic:", W, 0},
	{"YAML.unsafe_load", "dynamic:", E, 0},
	{"RubyVM.InstructionSequence.*", "dynamic:RubyVM", E, 0},
	{"ObjectSpace.each_object", "reflection:", W, 0},
	{0},
};

#undef E
#undef W

/* Methods that every object has, as far as we ask. */
const char dw_ruby_kernel[] =
	" eval instance_eval class_eval module_eval open gets system exec spawn fork syscall "
	"` binding require load require_relative autoload method send __send__ public_send "
	"const_get instance_variable_get loop raise exit exit! abort throw fail ";

/* Without a block they run a text. */
const char dw_ruby_needs_text[] = " instance_eval class_eval module_eval ";
