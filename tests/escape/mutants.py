# SPDX-License-Identifier: Apache-2.0
"""The walls, and the edits that remove each of them.

A mutant is the launcher (or dewar) with one wall removed by edits of its source: the
product itself has no option to omit a wall. An edit is (anchor, old, new): in the
statement below the comment `mutant: ANCHOR`, in any file, `old` is replaced by `new`,
or, with None for `old`, the whole statement (anchors.py).

Each mutant names attacks that must then succeed; `red` lists them by place: a level, or
`warm` for the warm cells of level container. For a wall that is redundant on purpose,
`redundant` gives the reason: its mutant changes no verdict, and the mutant of `both`
walls together shows that each of them is sufficient. If no warm cell can be created
without a wall, `refused` gives the reason: a request for a warm cell gets a cold one.
"""


def mutant(name, wall, edits, red=None, redundant=None, both=None, refused=None, user=None):
    """user: "root" or "plain", if only that user sees the difference."""
    return {"name": name, "wall": wall, "edits": edits, "red": red or {},
            "redundant": redundant, "both": both, "refused": refused, "user": user}


NO_LANDLOCK = ("landlock", None, "")
WRITABLE_BINDS = ("read-only-binds", None, "")
WRITABLE_ROOT = ("read-only-root", "MOUNT_ATTR_RDONLY |", "")
INIT_OPEN = ("init-closed", None, "")
FDS_NOT_CLOSED = ("close-inherited-fds", None, "r = 0;")

# The properties that init compares before it accepts a program from a zygote.
UNSEEN = ("compare-namespaces", None, "")
UNCOUNTED = ("count-filters", None, "")

NO_WARM_ARGUMENTS = (
    "warm-seccomp-filters",
    "load_filter(dw_seccomp_args, sizeof(dw_seccomp_args) / sizeof(*dw_seccomp_args), f)", "true")
NO_WARM_ALLOW_LIST = (
    "warm-seccomp-filters",
    "load_filter(dw_seccomp_allow, sizeof(dw_seccomp_allow) / sizeof(*dw_seccomp_allow), f)",
    "true")
NO_WARM_LANDLOCK = ("warm-landlock", None, "")
NO_WARM_CAPSET = ("warm-capabilities", "sys(__NR_capset, &header, none)", "0")
NO_WARM_BOUNDING = ("warm-bounding-set", None, "r = -22;")
WARM_INIT_OPEN = ("warm-init-closed", "|| dw_init_close(&err) < 0", "")

ZYGOTES_TMP = ("nested-mounts", "e->op == DW_PLAN_TMPFS", "false")
ZYGOTES_SHM = ("nested-mounts", "e->op == DW_PLAN_BIND", "false")
FILES_REPLACED = ("job-makes-new-files", "again", "true")
ONE_ID = ("one-id-per-cell", "+ role->index", "")


def outside(kind, flag, red, *more, user=None):
    """Without a new namespace a forked program stays in that of its zygote; init checks that."""
    edits = [("warm-namespaces", flag, "")]
    return [mutant("warm-outside-" + kind, "namespace", edits,
                   refused="init compares its namespaces with the program's"),
            mutant("warm-outside-%s-unseen" % kind, "namespace", edits + [UNSEEN, *more],
                   {"warm": red}, user=user)]


MUTANTS = [
    mutant("no-network-namespace", "namespace", [
        ("cell-namespaces", "CLONE_NEWNET |", ""),
        ("loopback", None, ""),
    ], {"container": ["connect-to-loopback", "connect-to-the-internet", "fetch-metadata",
                      "send-udp-to-loopback", "meet-by-tcp-on-loopback"]}),
    mutant("no-ipc-namespace", "namespace", [
        ("cell-namespaces", "CLONE_NEWIPC |", ""),
    ], {"container": ["leave-a-sysv-segment", "meet-by-semaphores", "meet-by-sysv-shm"]}),
    mutant("no-uts-namespace", "namespace", [
        ("cell-namespaces", "CLONE_NEWUTS |", ""),
        ("host-name", None, ""),
    ], {"container": ["ask-for-the-domain-name", "ask-for-the-host-name"]}),
    mutant("no-cgroup-namespace", "namespace", [
        ("cell-namespaces", "| CLONE_NEWCGROUP", ""),
    ], {"container": ["read-own-cgroup"]}, user="root"),
    # Without a pid namespace a cell cannot have its own /proc either.
    mutant("no-pid-namespace", "namespace", [
        ("cell-namespaces", "CLONE_NEWPID |", ""),
        ("own-proc", "new_proc(err)", 'open_tree(AT_FDCWD, "/proc", CLONE_TREE)'),
    ], {"container": ["ask-ps", "read-witness-arguments", "scan-for-processes",
                      "read-arguments-of-the-neighbour"]}, user="root"),
    mutant("a-folder-of-the-host", "mount", [
        ("planned-mounts-only", "fchdir(old) < 0",
         'attach(open_tree(old, "mnt", CLONE_TREE), "/mnt", err) < 0 || fchdir(old) < 0'),
    ], {"container": ["read-other-folders"]}),
    mutant("old-root-stays", "mount", [
        ("detach-old-root", 'umount2(".", MNT_DETACH) < 0 ||', ""),
    ], {"container": ["read-the-mount-table"]}),
    mutant("binds-writable", "mount", [WRITABLE_BINDS],
           {"container": ["chmod-workspace-file", "touch-workspace-file",
                          "set-acl-of-workspace-file"]}, user="plain"),
    mutant("binds-writable-and-no-landlock", "mount", [WRITABLE_BINDS, NO_LANDLOCK],
           {"container": ["delete-the-workspace", "exchange-workspace-files",
                          "clear-read-only-of-usr"]}, user="plain"),
    mutant("root-writable", "mount", [WRITABLE_ROOT],
           redundant="Landlock refuses the same writes", both="root-writable-and-no-landlock",
           user="root"),
    mutant("root-writable-and-no-landlock", "mount", [WRITABLE_ROOT, NO_LANDLOCK],
           {"container": ["write-into-the-root"]}, user="root"),
    mutant("whole-proc", "mount", [
        ("proc-subset", '"subset", "pid",', ""),
    ], {"container": ["read-boot-id", "read-kernel-command-line", "read-kernel-symbols"]}),
    mutant("tmp-without-end", "mount", [
        ("tmpfs-limits", '"size", size, "nr_inodes", inodes,', ""),
    ], {"container": ["fill-one-file", "fill-dev-shm", "make-empty-files", "make-folders"]}),
    mutant("no-landlock", "landlock", [NO_LANDLOCK],
           {"process": ["read-flag-by-path", "write-beside-flag", "signal-the-witness",
                        "read-shadow", "delete-the-home", "connect-to-an-abstract-socket"]}),
    mutant("landlock-without-scope", "landlock", [
        ("landlock-scope", None, ""),
    ], {"process": ["signal-the-witness", "kill-the-witness", "connect-to-an-abstract-socket"]}),
    mutant("no-seccomp", "seccomp", [
        ("seccomp", None, ""),
    ], {"process": ["hold-an-io-uring", "clone-into-new-users", "create-a-setuid-file"],
        "container": ["hold-an-io-uring", "clone-into-new-users", "clone3-into-new-users",
                      "create-a-setuid-file"]}),
    mutant("seccomp-without-arguments", "seccomp", [
        ("seccomp-filters",
         'load("arguments", dw_seccomp_args, ARRAY_SIZE(dw_seccomp_args), err)', "0"),
    ], {"process": ["clone-into-new-users", "lease-workspace-file"],
        "container": ["clone-into-new-users", "clone-with-high-bits", "lease-workspace-file",
                      "leave-a-device-by-renaming"]}),
    mutant("seccomp-without-allow-list", "seccomp", [
        ("seccomp-filters",
         'load("calls", dw_seccomp_allow, ARRAY_SIZE(dw_seccomp_allow), err)', "0"),
    ], {"process": ["hold-an-io-uring"],
        "container": ["hold-an-io-uring", "clone3-into-new-users", "chmod-by-a-32-bit-call",
                      "hold-a-userfaultfd"]}),
    mutant("seccomp-without-the-last", "seccomp", [
        ("seccomp-last-filter", None, "return 0;"),
    ], {"container": ["trace-its-own-child", "seize-its-own-child"]}),
    mutant("capabilities-stay", "capability", [
        ("drop-capabilities", None, ""),
        ("lock-secure-bits", None, ""),
        ("empty-bounding-set", None, "errno = EINVAL;"),
    ], {"process": ["take-capabilities", "raise-ambient-capabilities", "read-witness-environ"]},
           user="root"),
    mutant("no-rlimits", "rlimit", [
        ("rlimits", None, ""),
    ], {"process": ["open-sockets", "fill-one-file"],
        "container": ["open-sockets", "copy-descriptors", "raise-file-limit"]}),
    mutant("cgroups-not-joined", "cgroup", [
        ("cgroup-join", None, "r = 0;"),
    ], {"process": ["fork-bomb", "fill-a-list"],
        "container": ["fork-bomb", "fill-a-list", "fill-pipes", "clone-bomb"]}, user="root"),
    mutant("no-sampling", "supervisor", [
        ("sampling", None, ""),
    ], {"process": ["fill-a-list"],
        "container": ["fill-a-list", "fill-a-memfd", "fill-sysv-segment"]}, user="plain"),
    mutant("init-open-to-the-program", "capability", [INIT_OPEN],
           redundant="Landlock keeps init out of the program's domain",
           both="init-open-and-no-landlock"),
    mutant("init-open-and-no-landlock", "capability", [INIT_OPEN, NO_LANDLOCK],
           {"container": ["open-memory-of-init"]}),
    mutant("descriptors-not-closed", "absent", [FDS_NOT_CLOSED],
           redundant="what is not closed at the start is close-on-exec before the program",
           both="descriptors-not-closed-at-all"),
    mutant("descriptors-not-closed-at-all", "absent", [
        FDS_NOT_CLOSED,
        ("close-on-exec", None, "r = 0;"),
    ], {"process": ["find-a-leaked-descriptor", "read-leaked-descriptor"],
        "container": ["find-a-leaked-descriptor", "read-leaked-descriptor",
                      "write-through-leaked-descriptor"]}),
    mutant("environment-passed-on", "absent", [
        ("clean-environment", None, """
	for (char **e = environ; *e; e++) {
		char name[256];

		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
		dw_plan_add_env(plan, name, strchr(*e, '=') + 1);
	}
	plan_variables(plan, folder, rt->env);
"""),
    ], {"process": ["print-a-variable"],
        "container": ["print-a-variable", "find-the-ssh-agent", "ask-for-the-login"]}),
    mutant("ids-of-root", "namespace", [
        ("give-up-root", "dw_ids_become(h->become, err)", "0"),
    ], {"container": ["tell-the-caller-by-id-map"]}, user="root"),
    mutant("cell-not-ended", "supervisor", [
        ("end-the-cell", None, "(void)end_holder();"),
    ], {"process": ["leave-a-daemon"]}, user="plain"),
    mutant("collects-through-links", "supervisor", [
        ("open-beneath", None, "return open_how(dir_fd, path, flags, mode, 0);"),
    ], {"process": ["collect-a-link"], "container": ["collect-a-link"]}),

    # ---- walls that a zygote sets up for a warm cell, and that init checks ----
    # The zygote already has no_new_privs, without which the kernel accepts no filter.
    mutant("warm-id-not-taken", "namespace", [
        ("warm-id", "!take_id(order->id, f) ||", ""),
    ], refused="init cannot inspect a process with another id, and accepts none uninspected",
           user="root"),
    mutant("warm-capabilities-stay", "capability", [NO_WARM_CAPSET],
           refused="init cannot inspect a process with more capabilities than its own, and "
                   "accepts none uninspected"),
    mutant("warm-capabilities-stay-unseen", "capability", [
        NO_WARM_CAPSET, NO_WARM_BOUNDING, UNSEEN,
    ], {"warm": ["find-a-process-without-walls"]}),
    mutant("warm-bounding-set-stays", "capability", [NO_WARM_BOUNDING],
           redundant="the other sets are empty, and no_new_privs lets no program fill them",
           both="warm-capabilities-stay-unseen"),
    mutant("warm-no-rlimits", "rlimit", [
        ("warm-rlimits", "|| !set_rlimits(order, f)", ""),
    ], {"warm": ["open-sockets", "copy-descriptors", "raise-file-limit"]}),
    mutant("warm-no-landlock", "landlock", [NO_WARM_LANDLOCK],
           redundant="init is closed to the program, and the mounts are read-only",
           both="warm-init-open-and-no-landlock"),
    mutant("warm-seccomp-a-filter-less", "seccomp", [NO_WARM_ARGUMENTS],
           refused="init counts the filters that the program has"),
    mutant("warm-seccomp-without-arguments", "seccomp", [NO_WARM_ARGUMENTS, UNCOUNTED],
           {"warm": ["clone-into-new-users", "clone-with-high-bits", "lease-workspace-file",
                     "leave-a-device-by-renaming"]}),
    mutant("warm-seccomp-without-allow-list", "seccomp", [NO_WARM_ALLOW_LIST, UNCOUNTED],
           {"warm": ["hold-an-io-uring", "clone3-into-new-users", "hold-a-userfaultfd",
                     "rewrite-who-shares-its-memory"]}),
    mutant("warm-seccomp-without-the-last", "seccomp", [
        ("warm-seccomp-last-filter", None, "return true;"),
        UNCOUNTED,
    ], {"warm": ["trace-its-own-child", "seize-its-own-child"]}),
    mutant("warm-descriptors-not-closed", "absent", [
        ("warm-close-fds", "sys(__NR_close_range, FIRST_OWN_FD, ~0U, 0)", "0"),
    ], {"warm": ["keep-what-was-left-open"]}),
    mutant("warm-cgroups-not-joined", "cgroup", [
        ("warm-cgroup-join", 'sys(__NR_write, fds[first + i], "0", 1)', "0"),
    ], {"warm": ["fill-a-list", "end-the-others-and-fork"]}, user="root"),
    mutant("warm-holder-before-the-filter", "seccomp", [
        ("warm-seccomp-last-filter", "return", "dw_hold_memory();\n\treturn"),
        ("warm-memory-holder", None, ""),
    ], {"warm": ["find-a-process-without-walls"]}, user="root"),
    mutant("warm-init-open", "capability", [WARM_INIT_OPEN],
           redundant="Landlock keeps init out of the program's domain",
           both="warm-init-open-and-no-landlock"),
    mutant("warm-init-open-and-no-landlock", "capability", [WARM_INIT_OPEN, NO_WARM_LANDLOCK],
           {"warm": ["open-memory-of-init"]}),
    # The zygote has loaded a random number generator that no child seeds again.
    mutant("warm-zygote-unseeded", "absent", [
        ("warm-python-fork", "PyOS_BeforeFork();",
         "extern void *PyImport_ImportModule(const char *name) __attribute__((weak));\n"
         '\t(void)PyImport_ImportModule("random");\n\tPyOS_BeforeFork();'),
        ("warm-python-fork", "PyOS_AfterFork_Child();", ""),
    ], {"warm": ["draw-the-same-numbers"]}),
    *outside("network", "CLONE_NEWNET |", ["keep-a-namespace-apart", "meet-by-tcp-on-loopback",
                                           "meet-by-udp-on-loopback"]),
    *outside("ipc", "CLONE_NEWIPC |", ["keep-a-namespace-apart", "meet-by-sysv-shm",
                                       "meet-by-semaphores"]),
    # Landlock's rules permit only the cell's own /tmp; and cells of root cannot open files of
    # the trial run in the zygote's /tmp, because they belong to another id.
    *outside("mount", "CLONE_NEWNS |", ["keep-a-namespace-apart", "leave-a-file-in-tmp"],
             FILES_REPLACED, NO_WARM_LANDLOCK, user="plain"),
    *outside("uts", "CLONE_NEWUTS |", ["keep-a-namespace-apart"]),
    *outside("cgroup", "| CLONE_NEWCGROUP", ["keep-a-namespace-apart"]),
    mutant("warm-outside-pid", "namespace", [
        ("warm-namespaces", "CLONE_NEWPID |", ""),
    ], refused="init accepts only its own child"),
    mutant("warm-outside-user", "namespace", [
        ("warm-namespaces", "CLONE_NEWUSER |", ""),
    ], refused="only a process in the cell's user namespace can enter the other namespaces"),

    # ---- the nursery, in whose namespaces the cells of a zygote begin as copies ----
    mutant("nursery-without-network", "namespace", [
        ("nursery-namespaces", "CLONE_NEWNET |", ""),
        ("loopback", None, ""),
    ], refused="a zygote can enter only namespaces that the cell's user namespace owns"),
    mutant("nursery-without-ipc", "namespace", [
        ("nursery-namespaces", "CLONE_NEWIPC |", ""),
    ], refused="a zygote can enter only namespaces that the cell's user namespace owns"),
    mutant("nursery-without-own-mounts", "mount", [
        ("nursery-mounts", None, "return 0;"),
    ], refused="in a /proc that is not the cell's, init does not find the program"),
    mutant("nursery-with-the-zygotes-tmp", "mount", [ZYGOTES_TMP, FILES_REPLACED],
           {"warm": ["leave-a-file-in-tmp", "meet-at-fifo-in-tmp"]}, user="plain"),
    mutant("nursery-with-the-zygotes-dev-shm", "mount", [ZYGOTES_SHM],
           {"warm": ["meet-in-dev-shm"]}),
    mutant("warm-one-id-for-all", "namespace", [ONE_ID],
           redundant="two cells have no file in common that an id could open",
           both="warm-one-id-and-one-dev-shm", user="root"),
    mutant("warm-one-id-and-one-dev-shm", "namespace", [ONE_ID, ZYGOTES_SHM],
           {"warm": ["meet-by-posix-shm"]}, user="root"),
]

# The default tier runs these, one for each class of walls: the quickest mutant that turns a row red
# and, if possible, does not depend on the user. Each takes one to four seconds.
ONE_OF_EACH = (
    "no-uts-namespace",
    "a-folder-of-the-host",
    "seccomp-without-the-last",
    "landlock-without-scope",
    "init-open-and-no-landlock",
    "warm-cgroups-not-joined",
    "warm-no-rlimits",
    "descriptors-not-closed-at-all",
    "collects-through-links",
)


# ---- level docker ----

# The checks that the engine did what was requested.
UNSEEN_NAMESPACES = ("docker-compare-namespaces", None, "")
UNSEEN_NETWORK = ("guest-check-walls", "shared->interfaces > 0", "false")
UNSEEN_ROOT = ("guest-check-walls", "geteuid() == 0", "false")
UNSEEN_CAPABILITIES = ("guest-check-capabilities", None, "")
NO_LANDLOCK_INSIDE = ("docker-inner-walls", "DW_PLAN_LANDLOCK |", "")

# Each needs an engine. Dewar asks the engine for its walls; the program that talks to the engine
# and the guest check them: a mutant takes away the request and all of its checks.
DOCKER_MUTANTS = [
    mutant("docker-network-bridge", "namespace", [
        ("docker-network", '"none"', '"bridge"'),
        UNSEEN_NETWORK,
    ], {"docker": ["connect-to-the-internet", "fetch-metadata"]}),
    mutant("docker-ipc-host", "namespace", [
        ("docker-ipc-namespace", '"private"', '"host"'),
        UNSEEN_NAMESPACES,
    ], {"docker": ["meet-by-sysv-shm", "leave-a-sysv-segment"]}),
    mutant("docker-uts-host", "namespace", [
        ("docker-user-and-host-name", '"Hostname", "dewar"', '"Hostname", ""'),
        ("docker-ipc-namespace", "(void)",
         '(void)json_object_set_new(host, "UTSMode", json_string("host"));\n\t(void)'),
        UNSEEN_NAMESPACES,
    ], {"docker": ["ask-for-the-host-name"]}),
    mutant("docker-no-masks", "mount", [
        ("docker-masked-paths", "make_masked()", "json_null()"),
    ], {"docker": ["read-boot-id", "read-kernel-command-line", "whisper-by-proc-locks",
                   "look-into-the-cgroups"]}),
    mutant("docker-writable-workspace", "mount", [
        ("docker-read-only-mounts", "!writable", "0"),
        NO_LANDLOCK_INSIDE,
    ], {"docker": ["delete-the-workspace"]}),
    mutant("docker-root", "capability", [
        ("docker-user-and-host-name", '"65534:65534"', '"0:0"'),
        ("docker-capabilities", '"CapDrop", json_pack("[s]", "ALL")',
         '"CapAdd", json_pack("[s]", "SYS_ADMIN")'),
        ("docker-inner-walls", "DW_PLAN_DROP |", ""),
        ("guest-drop-capabilities", None, ""),
        UNSEEN_ROOT, UNSEEN_CAPABILITIES,
    ], {"docker": ["take-capabilities"]}),
    mutant("docker-no-seccomp-inside", "seccomp", [
        ("docker-inner-walls", "| DW_PLAN_SECCOMP", ""),
    ], {"docker": ["hold-an-io-uring", "open-a-udp-lite-socket", "create-a-setuid-file"]}),
    mutant("docker-no-landlock-inside", "landlock", [NO_LANDLOCK_INSIDE],
           {"docker": ["hold-a-terminal-device"]}),
]
