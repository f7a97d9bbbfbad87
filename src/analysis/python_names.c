/* SPDX-License-Identifier: Apache-2.0 */
/* The names of Python that need a reason, or lead to those that do. */
#include "analysis/python.h"

const char *const dw_python_modules[] = {
	"os",         "sys",          "subprocess", "shutil",
	"socket",     "http",         "urllib",     "requests",
	"ctypes",     "importlib",    "pty",        "multiprocessing",
	"cffi",       "posix",        "nt",         "pickle",
	"marshal",    "shelve",       "code",       "codeop",
	"runpy",      "pkgutil",      "imp",        "ftplib",
	"smtplib",    "telnetlib",    "poplib",     "imaplib",
	"xmlrpc",     "socketserver", "asyncore",   "urllib3",
	"httpx",      "aiohttp",      "paramiko",   "pexpect",
	"builtins",   "webbrowser",   "commands",   "_posixsubprocess",
	"websockets", "zipimport",    "_ctypes",    "_socket",
	NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

const struct dw_danger dw_python_dangers[] = {
	{"builtins.eval", "builtin:", E, DW_CODE_SELF},
	{"builtins.exec", "builtin:", E, DW_CODE_SELF},
	{"builtins.compile", "builtin:", E, DW_CODE_SELF},
	{"builtins.__import__", "builtin:", E, 0},
	{"builtins.open", "builtin:", W, 0},
	{"builtins.input", "builtin:", W, 0},
	{"builtins.raw_input", "builtin:input", W, 0},
	{"builtins.execfile", "builtin:exec", E, 0},
	{"builtins.breakpoint", "builtin:", W, 0},
	{"io.open", "builtin:open", W, 0},
	{"codecs.open", "builtin:open", W, 0},
	{"os.system", "shell:", E, DW_CODE_SHELL},
	{"os.popen", "shell:", E, DW_CODE_SHELL},
	{"os.exec**", "shell:", E, 0},
	{"os.spawn**", "shell:", E, 0},
	{"os.posix_spawn**", "shell:", E, 0},
	{"os.startfile", "shell:", E, 0},
	{"os.fork", "shell:", W, 0},
	{"os.forkpty", "shell:", W, 0},
	{"os.kill**", "shell:", W, 0},
	{"posix.system", "shell:", E, DW_CODE_SHELL},
	{"subprocess.run", "shell:", E, DW_CODE_SHELL},
	{"subprocess.call", "shell:", E, DW_CODE_SHELL},
	{"subprocess.Popen", "shell:", E, DW_CODE_SHELL},
	{"subprocess.check_call", "shell:", E, DW_CODE_SHELL},
	{"subprocess.check_output", "shell:", E, DW_CODE_SHELL},
	{"subprocess.getoutput", "shell:", E, DW_CODE_SHELL},
	{"subprocess.getstatusoutput", "shell:", E, DW_CODE_SHELL},
	{"commands.getoutput", "shell:", E, DW_CODE_SHELL},
	{"commands.getstatusoutput", "shell:", E, DW_CODE_SHELL},
	{"_posixsubprocess.fork_exec", "shell:", E, 0},
	{"pty.spawn", "shell:", E, DW_CODE_SHELL},
	{"pexpect.spawn", "shell:", E, DW_CODE_SHELL},
	{"pexpect.run", "shell:", E, DW_CODE_SHELL},
	{"asyncio.create_subprocess_shell", "shell:", E, DW_CODE_SHELL},
	{"asyncio.create_subprocess_exec", "shell:", E, 0},
	{"os.remove", "delete:", E, 0},
	{"os.unlink", "delete:", E, 0},
	{"os.rmdir", "delete:", E, 0},
	{"os.removedirs", "delete:", E, 0},
	{"os.truncate", "delete:", E, 0},
	{"posix.unlink", "delete:", E, 0},
	{"posix.remove", "delete:", E, 0},
	{"shutil.rmtree", "delete:", E, 0},
	{"shutil.move", "delete:", W, 0},
	{"pathlib.Path().unlink", "delete:pathlib.Path.unlink", E, 0},
	{"pathlib.Path().rmdir", "delete:pathlib.Path.rmdir", E, 0},
	{"pathlib.PosixPath().unlink", "delete:pathlib.Path.unlink", E, 0},
	{"pathlib.Path.unlink", "delete:", E, 0},
	{"pathlib.Path.rmdir", "delete:", E, 0},
	{"pathlib.Path().open", "builtin:open", W, 0},
	{"pathlib.Path().write_text", "builtin:open", W, 0},
	{"pathlib.Path().write_bytes", "builtin:open", W, 0},
	{"socket.socket", "network:", W, 0},
	{"socket.create_connection", "network:", W, 0},
	{"socket.create_server", "network:", W, 0},
	{"socket.getaddrinfo", "network:", W, 0},
	{"socket.gethostbyname", "network:", W, 0},
	{"_socket.socket", "network:", W, 0},
	{"urllib.request.*", "network:", W, 0},
	{"urllib.urlopen", "network:", W, 0},
	{"http.client.HTTP**", "network:", W, 0},
	{"http.server.*", "network:", W, 0},
	{"socketserver.*", "network:", W, 0},
	{"requests.*", "network:", W, 0},
	{"httpx.*", "network:", W, 0},
	{"aiohttp.*", "network:", W, 0},
	{"urllib3.*", "network:", W, 0},
	{"websockets.*", "network:", W, 0},
	{"ftplib.*", "network:", W, 0},
	{"smtplib.*", "network:", W, 0},
	{"telnetlib.*", "network:", W, 0},
	{"poplib.*", "network:", W, 0},
	{"imaplib.*", "network:", W, 0},
	{"paramiko.*", "network:", W, 0},
	{"xmlrpc.client.*", "network:", W, 0},
	{"asyncio.open_connection", "network:", W, 0},
	{"asyncio.start_server", "network:", W, 0},
	{"webbrowser.open**", "network:", W, 0},
	{"ctypes.*", "native:", E, 0},
	{"cffi.*", "native:", E, 0},
	{"mmap.mmap", "native:", W, 0},
	{"pickle.load**", "dynamic:", E, 0},
	{"pickle.Unpickler", "dynamic:", E, 0},
	{"marshal.load**", "dynamic:", E, 0},
	{"shelve.open", "dynamic:", W, 0},
	{"yaml.load", "dynamic:", W, 0},
	{"yaml.unsafe_load", "dynamic:", E, 0},
	{"types.FunctionType", "dynamic:", E, 0},
	{"types.CodeType", "dynamic:", E, 0},
	{"types.LambdaType", "dynamic:", E, 0},
	{"code.interact", "dynamic:", E, 0},
	{"code.Interactive**", "dynamic:", E, 0},
	{"codeop.*", "dynamic:", E, 0},
	{"runpy.*", "dynamic:", E, 0},
	{"timeit.timeit", "dynamic:", W, DW_CODE_SELF},
	{"timeit.repeat", "dynamic:", W, DW_CODE_SELF},
	{"sys._getframe", "reflection:", E, 0},
	{"sys.settrace", "reflection:", W, 0},
	{"sys.setprofile", "reflection:", W, 0},
	{"inspect.currentframe", "reflection:", W, 0},
	{"inspect.stack", "reflection:", W, 0},
	{"gc.get_objects", "reflection:", W, 0},
	{"gc.get_referrers", "reflection:", W, 0},
	{0},
};

#undef E
#undef W

/* What need not be imported, as far as we ask. */
const char dw_python_builtins[] =
	" eval exec compile __import__ open input raw_input execfile breakpoint getattr "
	"setattr delattr globals locals vars chr str bytes bytearray map iter type exit quit "
	"reversed ";

/* Attributes that lead from any object to everything else. */
const char dw_python_dunders[] =
	" __subclasses__ __globals__ __builtins__ __bases__ __base__ __mro__ __code__ "
	"__closure__ __loader__ __getattribute__ __reduce__ __reduce_ex__ f_globals f_locals "
	"f_builtins f_back f_code gi_frame gi_code cr_frame cr_code ag_frame tb_frame "
	"func_globals func_code __import__ mro ";

/* Modules that many others have as an attribute of theirs. */
const char dw_python_carried[] =
	" os sys subprocess shutil socket importlib builtins ctypes ";
