// SPDX-License-Identifier: GPL-2.0-or-later
#include "ctl.h"

int main(int argc, char **argv)
{
	(void)argc;
	return ctl_main(argv);
}
