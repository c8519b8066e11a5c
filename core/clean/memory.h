/* The memory of CLEAN. */
#pragma once

#include "core/clean/clean.h"

G_BEGIN_DECLS

/* Bytes that the cpu backend needs at most for a configuration (AstroCleanConfig), beside images in
 * and out, with the mask and the models that arguments may bring. */
guint64 astro_clean_memory(gconstpointer config, guint threads);

G_END_DECLS
