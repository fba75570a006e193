// SPDX-License-Identifier: GPL-2.0-or-later
#include "monitor.h"

int main(int argc, char **argv)
{
	(void)argc;
	return monitor_main(argv);
}
