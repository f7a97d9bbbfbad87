# SPDX-License-Identifier: Apache-2.0
"""Python as a zygote: load the template's modules, wait, run the job.

Everything up to the library's fork() happens once; the rest happens in a child, in its
own cell, for one run. A run must look like `python3 /tmp/main.py`: the same __main__,
argv and path, the same tracebacks and exit codes.
"""

import atexit
import builtins
import gc
import importlib
import os
import sys

import _signal

HERE = "/tmp/.dewar/"


def load(names):
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # pylint: disable=broad-exception-caught
            pass  # not installed, or broken: a program that imports it gets the error


def rehearse():
    """Use once what sets itself up at first use, such as the compiler."""
    with open(HERE + "rehearsal", "rb") as file:
        text = file.read()
    stdout, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
    exec(compile(text, "", "exec", dont_inherit=True), {"__name__": "rehearsal"})
    sys.stdout.close()
    sys.stdout = stdout
    print(end="", flush=True)


def load_library():
    """Load the library as an extension module that is not in the program's sys.modules."""
    if "t" in sys.abiflags:
        sys.exit("a Python without a global lock cannot be forked from yet")
    machinery = sys.modules["_frozen_importlib_external"]
    loader = machinery.ExtensionFileLoader("dewar", HERE + "zygote.so")
    module = loader.create_module(machinery._bootstrap.ModuleSpec(
        "dewar", loader, origin=loader.path))
    sys.modules.pop("dewar", None)
    return module


def differ():
    """Seed what must differ between two children of one zygote."""
    numpy = sys.modules.get("numpy.random")
    if numpy:
        numpy.seed()


def set_env(env):
    for name, value in env:
        os.environ[name] = value
        if name == "PYTHONPATH":
            sys.path[1:1] = [part for part in value.split(":") if part]
        elif name == "TZ":
            importlib.import_module("time").tzset()


def hold_to(names, text, folders):
    """Hold the program to the list of modules, with the hook.py that came with the job."""
    hook = {"__name__": "hook"}
    exec(compile(text, "<dewar>", "exec", dont_inherit=True), hook)
    hook["install"]([name for name in names.split(",") if name], folders)


def make_main(path):
    module = type(sys)("__main__")
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    module.__dict__.update(__file__=path, __cached__=None, __builtins__=builtins,
                           __annotations__={}, __loader__=loader("__main__", path))
    sys.modules["__main__"] = module
    return module.__dict__


def status_of(end):
    """The exit status of a SystemExit, as in the interpreter itself."""
    code = end.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xff
    print(code, file=sys.stderr)
    return 1


def flush():
    ok = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:  # pylint: disable=broad-exception-caught
            ok = False
    return ok


def clear(names):
    """Release the program's objects, so that its files are flushed."""
    for names_here in [sys.modules[name].__dict__ for name in names
                       if isinstance(sys.modules.get(name), type(sys))]:
        for private in (True, False):
            for name in list(names_here):
                if name != "__builtins__" and name.startswith("_") == private:
                    names_here[name] = None
    gc.collect()


def new_modules(known):
    """The modules that were loaded after the last one that is known."""
    names = []
    for name in reversed(sys.modules):
        if name == known[0] and sys.modules[name] is known[1]:
            break
        names.append(name)
    return names


def finish(status, known):
    """Do all of an orderly exit that is visible outside, without freeing the rest."""
    threading = sys.modules.get("threading")
    if threading:
        threading._shutdown()  # pylint: disable=protected-access
    atexit._run_exitfuncs()  # pylint: disable=protected-access
    if not flush() and status == 0:
        status = 120
    clear(["__main__"] + new_modules(known))
    flush()
    if status < 0:
        _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


sys.path[0] = "/tmp"
with open(HERE + "preload", encoding="ascii") as preload:
    load(preload.read().split(",") if os.stat(HERE + "preload").st_size else [])
rehearse()
library = load_library()
scope = make_main("/tmp/main.py")
last = next(reversed(sys.modules))
last = last, sys.modules[last]
result = 0  # pylint: disable=invalid-name
gc.collect()
gc.freeze()
library.fork()  # returns only in the child

differ()
source, script, arguments, environment, hooks = library.wait()  # the run's time starts here

sys.argv = [script, *arguments]
sys.orig_argv = ["python3", *sys.argv]
libraries = sys.path[1:]
if environment:
    set_env(environment)
for allowed, text in hooks:
    hold_to(allowed, text, libraries)
try:
    exec(compile(source, script, "exec", dont_inherit=True), scope)
except SystemExit as error:
    result = status_of(error)
except KeyboardInterrupt as error:
    sys.excepthook(type(error), error, error.__traceback__.tb_next)
    result = -2
except BaseException as error:  # pylint: disable=broad-exception-caught
    result = 1
    sys.last_type, sys.last_value = type(error), error
    sys.last_traceback = error.__traceback__ = error.__traceback__.tb_next
    sys.excepthook(type(error), error, error.__traceback__)
finish(result, last)
