// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-process control of hardware prefetchers: load and unload, in order.
 */
#define pr_fmt(fmt) "prefetch: " fmt

#include <linux/module.h>

#include "backend.h"
#include "cpus.h"
#include "event.h"
#include "hook.h"
#include "netlink.h"
#include "setting.h"
#include "user.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static char *backend = "auto";
module_param(backend, charp, 0444);
MODULE_PARM_DESC(backend, "auto (default): registers or nothing; msr: registers; soft: no effect on hardware, to try things out");

static bool trust_hypervisor;
module_param(trust_hypervisor, bool, 0444);
MODULE_PARM_DESC(trust_hypervisor, "use registers even in a virtual machine");

module_param_named(unprivileged, pf_unprivileged, bool, 0644);
MODULE_PARM_DESC(unprivileged, "users may set their own tasks (default 1)");

/* A bucket then has 64 on average, and a lookup is felt. */
#define MAX_SETTINGS_MAX BIT(20)

static int set_max_settings(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, 1, MAX_SETTINGS_MAX);
}

static const struct kernel_param_ops max_settings_ops = {
	.set = set_max_settings,
	.get = param_get_uint,
};

module_param_cb(max_settings, &max_settings_ops, &pf_max_settings, 0444);
MODULE_PARM_DESC(max_settings, "highest number of settings (1 to 1048576, default 131072)");

static int set_max_per_user(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, 0, MAX_SETTINGS_MAX);
}

static const struct kernel_param_ops max_per_user_ops = {
	.set = set_max_per_user,
	.get = param_get_uint,
};

module_param_cb(max_settings_per_user, &max_per_user_ops,
		&pf_max_settings_per_user, 0644);
MODULE_PARM_DESC(max_settings_per_user, "highest number of settings of a user without CAP_SYS_RESOURCE (0 to 1048576, default 8192)");

#define INTERVAL_MS_DEFAULT 10
#define INTERVAL_MS_MIN 1
#define INTERVAL_MS_MAX 1000

static int set_interval(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, INTERVAL_MS_MIN,
				     INTERVAL_MS_MAX);
}

static const struct kernel_param_ops interval_ops = {
	.set = set_interval,
	.get = param_get_uint,
};

module_param_cb(event_interval_ms, &interval_ops, &pf_event_interval_ms, 0644);
MODULE_PARM_DESC(event_interval_ms, "changes of a core within so many milliseconds are told as one (1 to 1000, default 10)");

static int __init prefetch_init(void)
{
	int err;

	if (!pf_event_interval_ms)
		pf_event_interval_ms = INTERVAL_MS_DEFAULT;

	/* Who reads the log finds here where the last load begins. */
	pr_info("loading version %s\n", PF_VERSION);
	err = pf_backend_choose(backend, trust_hypervisor);
	if (err)
		return err;
	err = pf_hook_init();
	if (err)
		return err;
	err = pf_setting_init();
	if (err)
		return err;
	err = pf_event_init();
	if (err)
		goto free_settings;
	err = pf_cpus_init();
	if (err)
		goto free_events;
	err = pf_family_register();
	if (err)
		goto free_cpus;
	pr_info("%u cores, backend %s\n", pf_domain_count(),
		pf_backend == PREFETCH_BACKEND_MSR ? "msr" :
		"soft (no effect on hardware)");
	return 0;

free_cpus:
	pf_cpus_exit();
free_events:
	pf_event_exit();
free_settings:
	pf_setting_exit();
	return err;
}

static void __exit prefetch_exit(void)
{
	pf_request_close();
	pf_hook_exit();
	pf_event_stop();
	pf_family_unregister();
	pf_cpus_exit();
	pf_event_exit();
	pf_setting_exit();
}

module_init(prefetch_init);
module_exit(prefetch_exit);

MODULE_AUTHOR("The prefetchctl project");
MODULE_DESCRIPTION("Per-process control of hardware prefetchers");
MODULE_VERSION(PF_VERSION);
MODULE_LICENSE("GPL");
