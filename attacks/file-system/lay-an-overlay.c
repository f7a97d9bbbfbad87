/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: mount an overlay whose lower layer is a folder of the host
 * Promise:  host-files
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(lay_an_overlay)
{
	char options[512];

	(void)mkdir("m", 0777);
	(void)snprintf(options, sizeof(options), "lowerdir=%s/deep/a/b/c:%s/home",
	               attack_value("BASE"), attack_value("BASE"));
	if (mount("overlay", "m", "overlay", MS_RDONLY, options) < 0)
		attack_stopped("mount");
	else
		(void)attack_spill_file("m/flag");
	return 0;
}
