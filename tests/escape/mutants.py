# SPDX-License-Identifier: Apache-2.0
"""The walls, and how to take each of them away.

A mutant is the launcher (or dewar) with one wall removed by an edit of its
source: nothing in the product itself can be told to leave a wall out. Each
names attacks that must then get through; `red` holds them by place: a level, or
`warm` for the warm cells of level container. A wall that
is doubled on purpose says so in `redundant`: its mutant changes no verdict, and
the mutant of `both` walls together shows that each of them holds alone. One without
which no warm cell comes to be says so in `refused`: who asks for one gets a cold one.
"""


def mutant(name, wall, edits, red=None, redundant=None, both=None, refused=None, user=None):
    """user: who must run it to see the difference, if not either."""
    return {"name": name, "wall": wall, "edits": edits, "red": red or {},
            "redundant": redundant, "both": both, "refused": refused, "user": user}


# What init compares before it takes a program from a zygote.
UNSEEN = ("src/launch/entered.c", "if (!dw_readback_shares_all(word.pid, &shared))", "if (false)")
UNCOUNTED = ("src/launch/entered.c", "if ((plan->h->flags & DW_PLAN_SECCOMP) && ", "if (false && ")
NO_WARM_ARGUMENTS = ("runners/walls.c", " &&\n\t       load_filter(dw_seccomp_args,\n\t                   sizeof(dw_seccomp_args) / sizeof(*dw_seccomp_args), f);", ";")
NO_WARM_LANDLOCK = ("runners/walls.c", "if (ruleset >= 0 && ", "if (false && ")
NO_WARM_CAPSET = ("runners/walls.c", "sys(__NR_capset, &header, none)", "0")
NO_WARM_BOUNDING = ("runners/walls.c", "r = sys(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);",
                    "r = -22;")

ZYGOTES_SHM = ("src/launch/mounts.c", "\t\telse if (e->op == DW_PLAN_BIND && (e->flags & DW_PLAN_WRITABLE))\n"
               "\t\t\tfd = new_tmpfs(&own, err);\n", "")
ONE_ID = ("src/levels/container.c", "h->map_to = INSIDE_ID + way->index;", "h->map_to = INSIDE_ID;")


def outside(kind, flag, red, *more, user=None):
    """Without one namespace a forked program stays in its zygote's; init looks for that."""
    edits = [("runners/zygote.c", flag, "")]
    return [mutant("warm-outside-" + kind, "namespace", edits,
                   refused="init compares its namespaces with the program's"),
            mutant("warm-outside-%s-unseen" % kind, "namespace", edits + [UNSEEN, *more],
                   {"warm": red}, user=user)]


MUTANTS = [
    mutant("no-network-namespace", "namespace", [
        ("src/launch/main.c", "CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC",
         "CLONE_NEWPID | CLONE_NEWIPC"),
        ("src/launch/main.c", "\tif (dw_net_loopback_up(err) < 0)\n\t\treturn -1;\n", ""),
    ], {"container": ["connect-to-loopback", "connect-to-the-internet", "fetch-metadata", "send-udp-to-loopback", "meet-by-tcp-on-loopback"]}),
    mutant("no-ipc-namespace", "namespace", [
        ("src/launch/main.c", "CLONE_NEWNET | CLONE_NEWIPC | ", "CLONE_NEWNET | "),
    ], {"container": ["leave-a-sysv-segment", "meet-by-semaphores", "meet-by-sysv-shm"]}),
    mutant("no-uts-namespace", "namespace", [
        ("src/launch/main.c", "CLONE_NEWUTS | CLONE_NEWCGROUP", "CLONE_NEWCGROUP"),
        ("src/launch/main.c", "if (sethostname(hostname, strlen(hostname)) < 0 ||\n"
         "\t    setdomainname(\"(none)\", strlen(\"(none)\")) < 0)", "if (!hostname)"),
    ], {"container": ["ask-for-the-domain-name", "ask-for-the-host-name"]}),
    mutant("no-cgroup-namespace", "namespace", [
        ("src/launch/main.c", "CLONE_NEWUTS | CLONE_NEWCGROUP", "CLONE_NEWUTS"),
    ], {"container": ["read-own-cgroup"]}, user="root"),
    # Without its own pids a cell cannot have its own /proc either.
    mutant("no-pid-namespace", "namespace", [
        ("src/launch/main.c", "CLONE_NEWPID | CLONE_NEWNET", "CLONE_NEWNET"),
        ("src/launch/mounts.c", "\tproc = new_proc(err);",
         "\tproc = open_tree(AT_FDCWD, \"/proc\", CLONE_TREE);"),
    ], {"container": ["ask-ps", "read-witness-arguments", "scan-for-processes", "read-arguments-of-the-neighbour"]}, user="root"),
    mutant("a-folder-of-the-host", "mount", [
        ("src/launch/mounts.c", "#define CLONE_TREE ", "static int host;\n\n#define CLONE_TREE "),
        ("src/launch/mounts.c", "\tproc = new_proc(err);",
         "\thost = open_tree(AT_FDCWD, \"/mnt\", CLONE_TREE);\n\tproc = new_proc(err);"),
        ("src/launch/mounts.c", "\tif (fchdir(old) < 0 || chroot(",
         "\t(void)attach(host, \"/mnt\", err);\n\tif (fchdir(old) < 0 || chroot("),
    ], {"container": ["read-other-folders"]}),
    mutant("old-root-stays", "mount", [
        ("src/launch/mounts.c", " || umount2(\".\", MNT_DETACH) < 0 ||\n\t    chdir(\"/\") < 0)",
         " || chdir(\"/\") < 0)"),
    ], {"container": ["read-the-mount-table"]}),
    mutant("binds-writable", "mount", [
        ("src/launch/mounts.c", "\tif (!(flags & DW_PLAN_WRITABLE))\n"
         "\t\tattr.attr_set |= MOUNT_ATTR_RDONLY;\n", ""),
    ], {"container": ["chmod-workspace-file", "touch-workspace-file", "set-acl-of-workspace-file"]}, user="plain"),
    mutant("binds-writable-and-no-landlock", "mount", [
        ("src/launch/mounts.c", "\tif (!(flags & DW_PLAN_WRITABLE))\n"
         "\t\tattr.attr_set |= MOUNT_ATTR_RDONLY;\n", ""),
        ("src/launch/program.c", "(flags & DW_PLAN_LANDLOCK) &&", "false &&"),
    ], {"container": ["delete-the-workspace", "exchange-workspace-files", "clear-read-only-of-usr"]}, user="plain"),
    mutant("root-writable", "mount", [
        ("src/launch/mounts.c", ".attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID",
         ".attr_set = MOUNT_ATTR_NOSUID"),
    ], redundant="Landlock refuses the same writes", both="root-writable-and-no-landlock", user="root"),
    mutant("root-writable-and-no-landlock", "mount", [
        ("src/launch/mounts.c", ".attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID",
         ".attr_set = MOUNT_ATTR_NOSUID"),
        ("src/launch/program.c", "(flags & DW_PLAN_LANDLOCK) &&", "false &&"),
    ], {"container": ["write-into-the-root"]}, user="root"),
    mutant("whole-proc", "mount", [
        ("src/launch/mounts.c", '{"subset", "pid", NULL}', '{NULL}'),
    ], {"container": ["read-boot-id", "read-kernel-command-line", "read-kernel-symbols"]}),
    mutant("tmp-without-end", "mount", [
        ("src/launch/mounts.c", '"size", size, "nr_inodes", inodes,\n\t                               ',
         ''),
    ], {"container": ["fill-one-file", "fill-dev-shm", "make-empty-files", "make-folders"]}),
    mutant("no-landlock", "landlock", [
        ("src/launch/program.c", "(flags & DW_PLAN_LANDLOCK) &&", "false &&"),
    ], {"process": ["read-flag-by-path", "write-beside-flag", "signal-the-witness", "read-shadow", "delete-the-home", "connect-to-an-abstract-socket"]}),
    mutant("landlock-without-scope", "landlock", [
        ("src/launch/landlock.c", "if (abi >= 6)", "if (abi >= 600)"),
    ], {"process": ["signal-the-witness", "kill-the-witness", "connect-to-an-abstract-socket"]}),
    mutant("no-seccomp", "seccomp", [
        ("src/launch/program.c", "(flags & DW_PLAN_SECCOMP) &&", "false &&"),
    ], {"process": ["hold-an-io-uring", "clone-into-new-users", "create-a-setuid-file"], "container": ["hold-an-io-uring", "clone-into-new-users", "clone3-into-new-users", "create-a-setuid-file"]}),
    mutant("seccomp-without-arguments", "seccomp", [
        ("src/launch/seccomp.c", " ||\n\t    load(\"arguments\", dw_seccomp_args, "
         "ARRAY_SIZE(dw_seccomp_args), err) < 0)", ")"),
    ], {"process": ["clone-into-new-users", "lease-workspace-file"], "container": ["clone-into-new-users", "clone-with-high-bits", "lease-workspace-file", "leave-a-device-by-renaming"]}),
    mutant("seccomp-without-allow-list", "seccomp", [
        ("src/launch/seccomp.c", "load(\"calls\", dw_seccomp_allow, "
         "ARRAY_SIZE(dw_seccomp_allow), err) < 0 ||\n\t    ", ""),
    ], {"process": ["hold-an-io-uring"], "container": ["hold-an-io-uring", "clone3-into-new-users", "chmod-by-a-32-bit-call", "hold-a-userfaultfd"]}),
    mutant("seccomp-without-the-last", "seccomp", [
        ("src/launch/seccomp.c", "\treturn load(\"the last\", dw_seccomp_late, "
         "ARRAY_SIZE(dw_seccomp_late), err);", "\treturn 0;"),
    ], {"container": ["trace-its-own-child", "seize-its-own-child"]}),
    mutant("capabilities-stay", "capability", [
        ("src/launch/caps.c", "\tif (syscall(SYS_capset, &header, none) < 0)",
         "\tif (header.version == 0 && none[0].effective)"),
        ("src/launch/caps.c", "prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0) < 0 && must", "!must && NO_ROOT == 0"),
        ("src/launch/caps.c", "\tfor (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)\n\t\t;\n\tif (errno != EINVAL && must)", "\tif (!must && errno == 12345)"),
    ], {"process": ["take-capabilities", "raise-ambient-capabilities", "read-witness-environ"]}, user="root"),
    mutant("no-rlimits", "rlimit", [
        ("src/launch/program.c", "\tif (set_rlimits(plan, err) < 0)", "\tif (!set_rlimits)"),
    ], {"process": ["open-sockets", "fill-one-file"], "container": ["open-sockets", "copy-descriptors", "raise-file-limit"]}),
    mutant("cgroups-not-joined", "cgroup", [
        ("src/launch/main.c", "r = dw_fd_write_all(given->cgroups[i], \"0\", 1);", "r = 0;"),
    ], {"process": ["fork-bomb", "fill-a-list"], "container": ["fork-bomb", "fill-a-list", "fill-pipes", "clone-bomb"]}, user="root"),
    mutant("no-sampling", "supervisor", [
        ("src/launch/init.c", "\t\tif (plan->h->flags & SAMPLES)\n\t\t\tend->hit =",
         "\t\tif (plan->h->flags == ~0U)\n\t\t\tend->hit ="),
    ], {"process": ["fill-a-list"], "container": ["fill-a-list", "fill-a-memfd", "fill-sysv-segment"]}, user="plain"),
    mutant("init-open-to-the-program", "capability", [
        ("src/launch/init.c", "if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)", "if (false)"),
    ], redundant="Landlock keeps init out of the program's domain", both="init-open-and-no-landlock"),
    mutant("init-open-and-no-landlock", "capability", [
        ("src/launch/init.c", "if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)", "if (false)"),
        ("src/launch/program.c", "(flags & DW_PLAN_LANDLOCK) &&", "false &&"),
    ], {"container": ["open-memory-of-init"]}),
    mutant("descriptors-not-closed", "absent", [
        ("src/launch/main.c", "r = dw_fd_close_from(DW_LAUNCH_FD + 1);", "r = 0;"),
    ], redundant="what is not closed at the start is close-on-exec before the program", both="descriptors-not-closed-at-all"),
    mutant("descriptors-not-closed-at-all", "absent", [
        ("src/launch/main.c", "r = dw_fd_close_from(DW_LAUNCH_FD + 1);", "r = 0;"),
        ("src/launch/program.c", "r = dw_fd_cloexec_from(3);", "r = 0;"),
    ], {"process": ["find-a-leaked-descriptor", "read-leaked-descriptor"], "container": ["find-a-leaked-descriptor", "read-leaked-descriptor", "write-through-leaked-descriptor"]}),
    mutant("environment-passed-on", "absent", [
        ("src/levels/command.c", "\tplan_variables(l, rt->env);\n",
         "\tfor (char **e = environ; *e; e++) {\n\t\tchar name[256];\n\n"
         "\t\t(void)snprintf(name, sizeof(name), \"%.*s\", (int)strcspn(*e, \"=\"), *e);\n"
         "\t\tdw_plan_add_env(&l->plan, name, strchr(*e, '=') + 1);\n\t}\n"
         "\tplan_variables(l, rt->env);\n"),
    ], {"process": ["print-a-variable"], "container": ["print-a-variable", "find-the-ssh-agent", "ask-for-the-login"]}),
    mutant("ids-of-root", "namespace", [
        ("src/launch/main.c", "return dw_ids_become(h->become, err);", "return 0;"),
    ], {"container": ["tell-the-caller-by-id-map"]}, user="root"),
    mutant("cell-not-ended", "supervisor", [
        ("src/launch/init.c", "\tif (!end_holder())\n\t\tend_all(plan);\n", "\t(void)end_holder();\n"),
    ], {"process": ["leave-a-daemon"]}, user="plain"),
    mutant("collects-through-links", "supervisor", [
        ("src/base/path.c", "flags | O_NOFOLLOW, mode,\n\t                RESOLVE_BENEATH | "
         "RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |\n\t                        "
         "RESOLVE_NO_XDEV);", "flags, mode, 0);"),
    ], {"process": ["collect-a-link"], "container": ["collect-a-link"]}),

    # ---- what a zygote raises for a warm cell, and what init sees to ----
    # no_new_privs is the zygote's already, and without it the kernel takes no filter.
    mutant("warm-id-not-taken", "namespace", [
        ("runners/walls.c", "if (!take_id(order->id, f) || ", "if ("),
    ], refused="init cannot look at who has another id, and takes nobody unseen", user="root"),
    mutant("warm-capabilities-stay", "capability", [NO_WARM_CAPSET],
           refused="init cannot look at who may do more than it, and takes nobody unseen"),
    mutant("warm-capabilities-stay-unseen", "capability", [NO_WARM_CAPSET, NO_WARM_BOUNDING, UNSEEN],
           {"warm": ["find-a-process-without-walls"]}),
    mutant("warm-bounding-set-stays", "capability", [NO_WARM_BOUNDING],
           redundant="the other sets are empty, and no_new_privs lets no program fill them",
           both="warm-capabilities-stay-unseen"),
    mutant("warm-no-rlimits", "rlimit", [
        ("runners/walls.c", " ||\n\t    !set_rlimits(order, f))", ")"),
    ], {"warm": ["open-sockets", "copy-descriptors", "raise-file-limit"]}),
    mutant("warm-no-landlock", "landlock", [NO_WARM_LANDLOCK],
           redundant="init is closed to the program, and the mounts are read-only",
           both="warm-init-open-and-no-landlock"),
    mutant("warm-seccomp-a-filter-less", "seccomp", [NO_WARM_ARGUMENTS],
           refused="init counts the filters that the program has"),
    mutant("warm-seccomp-without-arguments", "seccomp", [
        NO_WARM_ARGUMENTS, UNCOUNTED,
    ], {"warm": ["clone-into-new-users", "clone-with-high-bits", "lease-workspace-file", "leave-a-device-by-renaming"]}),
    mutant("warm-seccomp-without-allow-list", "seccomp", [
        ("runners/walls.c", " &&\n\t       load_filter(dw_seccomp_allow,\n\t                   sizeof(dw_seccomp_allow) / sizeof(*dw_seccomp_allow), f)", ""),
        UNCOUNTED,
    ], {"warm": ["hold-an-io-uring", "clone3-into-new-users", "hold-a-userfaultfd", "rewrite-who-shares-its-memory"]}),
    mutant("warm-seccomp-without-the-last", "seccomp", [
        ("runners/walls.c", "\treturn load_filter(dw_seccomp_late,\n\t                   sizeof(dw_seccomp_late) / sizeof(*dw_seccomp_late), f);", "\treturn true;"),
        UNCOUNTED,
    ], {"warm": ["trace-its-own-child", "seize-its-own-child"]}),
    mutant("warm-descriptors-not-closed", "absent", [
        ("runners/zygote.c", "sys(__NR_close_range, FIRST_OWN_FD, ~0U, 0)", "0"),
    ], {"warm": ["keep-what-was-left-open"]}),
    mutant("warm-cgroups-not-joined", "cgroup", [
        ("runners/zygote.c", "sys(__NR_write, fds[first + i], \"0\", 1)", "0"),
    ], {"warm": ["fill-a-list", "end-the-others-and-fork"]}, user="root"),
    mutant("warm-holder-before-the-filter", "seccomp", [
        ("runners/walls.c", "\treturn load_filter(dw_seccomp_late", "\tdw_hold_memory();\n\treturn load_filter(dw_seccomp_late"),
        ("runners/zygote.c", "\tif (ok && order.hold)\n\t\tdw_hold_memory();\n", ""),
    ], {"warm": ["find-a-process-without-walls"]}, user="root"),
    mutant("warm-init-open", "capability", [
        ("src/launch/main.c", "if (program < 0 || dw_init_close(&err) < 0)", "if (program < 0)"),
    ], redundant="Landlock keeps init out of the program's domain", both="warm-init-open-and-no-landlock"),
    mutant("warm-init-open-and-no-landlock", "capability", [
        ("src/launch/main.c", "if (program < 0 || dw_init_close(&err) < 0)", "if (program < 0)"),
        NO_WARM_LANDLOCK,
    ], {"warm": ["open-memory-of-init"]}),
    mutant("warm-zygote-unseeded", "absent", [
        ("runners/python/zygote.py", "import os\nimport sys\n", "import os\nimport random\nimport sys\n"),
        ("runners/python.c", "\tPyOS_AfterFork_Child();\n", ""),
    ], {"warm": ["draw-the-same-numbers"]}),
    *outside("network", "CLONE_NEWNET | ", ["keep-a-namespace-apart", "meet-by-tcp-on-loopback", "meet-by-udp-on-loopback"]),
    *outside("ipc", "CLONE_NEWIPC | ", ["keep-a-namespace-apart", "meet-by-sysv-shm", "meet-by-semaphores"]),
    # Landlock's rules are about the cell's own /tmp; and for root's, what the trial run left in
    # the zygote's is another id's.
    *outside("mount", "CLONE_NEWNS | ", ["keep-a-namespace-apart", "leave-a-file-in-tmp"],
             ("runners/letter.c", "if (again)", "if (true)"), NO_WARM_LANDLOCK, user="plain"),
    *outside("uts", "CLONE_NEWUTS | ", ["keep-a-namespace-apart"]),
    *outside("cgroup", " | CLONE_NEWCGROUP", ["keep-a-namespace-apart"]),
    mutant("warm-outside-pid", "namespace", [
        ("runners/zygote.c", "CLONE_NEWPID | ", ""),
    ], refused="init takes nobody who is not its child"),
    mutant("warm-outside-user", "namespace", [
        ("runners/zygote.c", "CLONE_NEWUSER | ", ""),
    ], refused="the other namespaces are for those of the cell's user namespace"),
    # ---- what the nursery makes, in which a zygote's cells begin as copies of its own ----
    mutant("nursery-without-network", "namespace", [
        ("src/launch/nursery.c", "CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC", "CLONE_NEWPID | CLONE_NEWIPC"),
        ("src/launch/nursery.c", "\tif (dw_net_loopback_up(err) < 0)\n\t\treturn -1;\n", ""),
    ], refused="a zygote can enter only what is the cell's user namespace's"),
    mutant("nursery-without-ipc", "namespace", [
        ("src/launch/nursery.c", "CLONE_NEWNET | CLONE_NEWIPC | ", "CLONE_NEWNET | "),
    ], refused="a zygote can enter only what is the cell's user namespace's"),
    mutant("nursery-without-own-mounts", "mount", [
        ("src/launch/nursery.c", "return dw_mounts_renew(plan, err);", "return 0;"),
    ], refused="in a /proc that is not the cell's, init does not find the program"),
    mutant("nursery-with-the-zygotes-tmp", "mount", [
        ("src/launch/mounts.c", "\t\telse if (e->op == DW_PLAN_TMPFS)\n\t\t\tfd = new_tmpfs(e, err);\n", ""),
        ("runners/letter.c", "if (again)", "if (true)"),
    ], {"warm": ["leave-a-file-in-tmp", "meet-at-fifo-in-tmp"]}, user="plain"),
    mutant("nursery-with-the-zygotes-dev-shm", "mount", [
        ZYGOTES_SHM,
    ], {"warm": ["meet-in-dev-shm"]}),
    mutant("warm-one-id-for-all", "namespace", [ONE_ID],
           redundant="two cells have no file in common that an id could open",
           both="warm-one-id-and-one-dev-shm", user="root"),
    mutant("warm-one-id-and-one-dev-shm", "namespace", [ONE_ID, ZYGOTES_SHM],
           {"warm": ["meet-by-posix-shm"]}, user="root"),
]


# ---- level docker ----

# What looks whether the engine has done what it was asked for.
UNSEEN_NAMESPACES = ("src/docker/run.c", "if (check_namespaces(r, err) < 0)", "if (false)")
UNSEEN_NETWORK = ("src/launch/guest.c", "else if ((g->order.flags & DW_GUEST_NO_NETWORK) && shared->interfaces > 0)", "else if (false)")
UNSEEN_ROOT = ("src/launch/guest.c", "else if (geteuid() == 0)", "else if (false)")
UNSEEN_CAPABILITIES = ("src/launch/guest.c", "check_own_walls(&dw_program_walls);", "")
BODY, ORDER = "src/levels/docker_body.c", "src/levels/docker_order.c"
OURS_INSIDE = "DW_PLAN_DROP | DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP"

# Each needs an engine. The walls that the engine makes are asked for by dewar, and looked at
# by what talks to the engine and by the guest: to take one away is to take all of that away.
DOCKER_MUTANTS = [
    mutant("docker-network-bridge", "namespace", [
        (BODY, "\"bridge\"\n\t                                                                      : \"none\"", "\"bridge\" : \"bridge\""),
        UNSEEN_NETWORK,
    ], {"docker": ["connect-to-the-internet", "fetch-metadata"]}),
    mutant("docker-ipc-host", "namespace", [
        (BODY, "\"IpcMode\", json_string(\"private\")", "\"IpcMode\", json_string(\"host\")"),
        UNSEEN_NAMESPACES,
    ], {"docker": ["meet-by-sysv-shm", "leave-a-sysv-segment"]}),
    mutant("docker-uts-host", "namespace", [
        (BODY, "\"Hostname\", \"dewar\"", "\"Hostname\", \"\""),
        (BODY, "\"IpcMode\", json_string(\"private\"));", "\"IpcMode\", json_string(\"private\"));\n(void)json_object_set_new(host, \"UTSMode\", json_string(\"host\"));"),
        UNSEEN_NAMESPACES,
    ], {"docker": ["ask-for-the-host-name"]}),
    mutant("docker-no-masks", "mount", [
        (BODY, "\"MaskedPaths\", make_masked()", "\"MaskedPaths\", json_null()"),
    ], {"docker": ["read-boot-id", "read-kernel-command-line", "whisper-by-proc-locks", "look-into-the-cgroups"]}),
    mutant("docker-writable-workspace", "mount", [
        (BODY, "\"ReadOnly\", !writable", "\"ReadOnly\", 0"),
        (ORDER, OURS_INSIDE, "DW_PLAN_DROP | DW_PLAN_SECCOMP"),
    ], {"docker": ["delete-the-workspace"]}),
    mutant("docker-root", "capability", [
        (BODY, "\"65534:65534\"", "\"0:0\""),
        (BODY, "\"CapDrop\", json_pack(\"[s]\", \"ALL\")", "\"CapAdd\", json_pack(\"[s]\", \"SYS_ADMIN\")"),
        (ORDER, OURS_INSIDE, "DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP"),
        ("src/launch/guest.c", "(void)dw_caps_drop(false, &err);", ""),
        UNSEEN_ROOT, UNSEEN_CAPABILITIES,
    ], {"docker": ["take-capabilities"]}),
    mutant("docker-no-seccomp-inside", "seccomp", [
        (ORDER, OURS_INSIDE, "DW_PLAN_DROP | DW_PLAN_LANDLOCK"),
    ], {"docker": ["hold-an-io-uring", "open-a-udp-lite-socket", "create-a-setuid-file"]}),
    mutant("docker-no-landlock-inside", "landlock", [
        (ORDER, OURS_INSIDE, "DW_PLAN_DROP | DW_PLAN_SECCOMP"),
    ], {"docker": ["hold-a-terminal-device"]}),
]
