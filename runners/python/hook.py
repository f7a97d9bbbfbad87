# SPDX-License-Identifier: Apache-2.0
"""Python with an allow-list of modules: the program may import only these.

The importing code decides: the program's own code (the snippet, files beside it, text
that it compiles) is held to the list, whether the module is already loaded or not; code
in Python's library folders imports what it needs. All of this is in the same interpreter
as the program, which can circumvent it: only the walls are a boundary.

Cold, Python starts with this script, as `python3 -I this /tmp/main.py`, so that no file of
the request runs before it. Warm, zygote.py calls install().
"""

import builtins
import importlib
import os
import sys

OWN = (lambda: 0).__code__.co_filename


def install(names, libraries):
    """names: what may be imported; libraries: folders whose code may import anything."""
    bootstrap = sys.modules["_frozen_importlib"]
    names = tuple(names)
    libraries = tuple(os.path.join(folder, "") for folder in libraries if folder)
    caller = sys._getframe
    load, load_module = builtins.__import__, importlib.import_module

    def is_allowed(name):
        return any(name == one or name.startswith(one + ".") for one in names)

    def leads_there(name):
        return any(one.startswith(name + ".") for one in names)

    def refusal(name):
        these = ", ".join(names) if names else "none"
        return ImportError(f"{name} may not be imported here; these may: {these}", name=name)

    def is_program(frame):
        file = frame.f_code.co_filename
        return not (file.startswith(libraries) or file.startswith("<frozen ") or file == OWN)

    def resolve(name, package, level):
        return bootstrap._resolve_name(name, package, level) if level else name

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        if not is_program(caller(1)):
            return load(name, globals, locals, fromlist, level)
        if type(name) is not str:
            raise TypeError("the name of a module must be a str")
        # C code imports like this: it has no frame, and ignores the result.
        if level == 0 and type(fromlist) is list and not fromlist and globals is locals:
            load(name)
            return None
        package = bootstrap._calc___package__(globals) if level else None
        full = resolve(name, package, level) if package or not level else name
        if is_allowed(full) or (fromlist and leads_there(full) and all(
                is_allowed(f"{full}.{one}") for one in fromlist)):
            return load(name, globals, locals, fromlist, level)
        raise refusal(full)

    def import_module(name, package=None):
        if is_program(caller(1)):
            level = len(name) - len(name.lstrip("."))
            full = resolve(name[level:], package, level) if package or not level else name
            if not is_allowed(full):
                raise refusal(full)
        return load_module(name, package)

    class Finder:
        """For code that calls the import machinery directly, past both of the above."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            frame, last = caller(1), ""
            while frame and (frame.f_code.co_filename.startswith("<frozen importlib") or
                             frame.f_code.co_filename == importlib.__file__):
                frame, last = frame.f_back, frame.f_code.co_name
            # C code enters at _find_and_load: allow it, for the program may call a library's.
            if frame and is_program(frame) and last != "_find_and_load" and not (
                    is_allowed(name) or leads_there(name)):
                raise refusal(name)

    sys.meta_path.insert(0, Finder)
    importlib.import_module = import_module
    importlib.__import__ = __import__
    builtins.__import__ = __import__


def make_main(path):
    module = type(sys)("__main__")
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    module.__dict__.update(__file__=path, __cached__=None, __builtins__=builtins,
                           __annotations__={}, __loader__=loader("__main__", path))
    sys.modules["__main__"] = module
    return module.__dict__


def main():
    libraries = list(sys.path)
    del sys.argv[0]
    path = sys.argv[0]
    names = [name for name in os.environ.pop("DEWAR_MODULES").split(",") if name]
    with open(path, "rb") as file:
        source = file.read()
    os.unlink(OWN)
    os.rmdir(os.path.dirname(OWN))
    # The path as without -I, which kept modules in these folders from running first.
    sys.path[:0] = [os.path.dirname(path)] + [
        part for part in os.environ.get("PYTHONPATH", "").split(":") if part]
    install(names, libraries)
    scope = make_main(path)
    try:
        exec(compile(source, path, "exec", dont_inherit=True), scope)
    except SystemExit:
        raise
    except BaseException as error:  # pylint: disable=broad-exception-caught
        sys.last_type, sys.last_value = type(error), error
        sys.last_traceback = error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


if __name__ == "__main__":
    main()
