// SPDX-License-Identifier: GPL-2.0-or-later
/* In place of libFuzzer: gives a fuzzer the inputs in the files named. */
#include <unistd.h>

#include "fuzz.h"

static void replay(const char *path)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = NULL;
	size_t used = 0;
	size_t size = 0;
	size_t got;

	HOLDS(file);
	do {
		if (used == size) {
			size = size ? 2 * size : 4096;
			data = realloc(data, size);
			HOLDS(data);
		}
		got = fread(data + used, 1, size - used, file);
		used += got;
	} while (got);
	fclose(file);
	/* Of just that size: a read past the end is seen. */
	data = realloc(data, used ? used : 1);
	HOLDS(data);
	LLVMFuzzerTestOneInput(data, used);
	free(data);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		replay(argv[i]);
	/* Not on stdout, where the programs print. */
	fprintf(stderr, "%d inputs\n", argc - 1);
	return 0;
}
