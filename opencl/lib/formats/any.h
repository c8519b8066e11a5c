/* For programs that have any.cl behind opencl/runtime/samples.cl. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The options that these need, to be freed. */
char *astro_opencl_any_options(void);

G_END_DECLS
