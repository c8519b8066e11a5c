/* Converts samples between formats inside a task, with the kernels of kernels.h. */
#pragma once

#include "core/lib/formats/kernels.h"

G_BEGIN_DECLS

typedef struct {
  AstroConvertKernel kernel;  /* for multiples of ASTRO_CONVERT_STEP components */
  AstroConvertKernel rest;    /* for any number */
  guint components;           /* per sample */
  gsize from_bytes, to_bytes; /* per sample */
  gboolean same;
} AstroSamples;

void astro_samples_init(AstroSamples *samples, AstroFormat from, AstroFormat to);

/* Returns how many components were clipped. */
guint64 astro_samples_convert(const AstroSamples *samples, gpointer out, gconstpointer in, gsize n);

G_END_DECLS
