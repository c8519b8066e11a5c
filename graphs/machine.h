/* The command gst-astro machine, and descriptions of machines. */
#pragma once

#include "core/machine/machine.h"
#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_machine(const AstroArguments *arguments);

/* The machine that a name or a path describes: a name is that of an installed file, such as h100.
 * NULL: this machine, measured now, which takes some seconds. */
AstroMachine *astro_machine_find(const char *name, GError **error);

/* Measures the GPU, if there is one, and fills in its part. A GPU that fails is left out, and
 * *trouble says why; it is freed by the caller. */
void astro_machine_measure_gpu(AstroMachine *machine, char **trouble);

G_END_DECLS
