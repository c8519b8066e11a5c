/* For the CPU backend: planes that are transformed along u only. A task takes a few columns,
 * transforms them along v in its caches, and adds the result to the image. */
#pragma once

#include "core/lib/fft/columns.h"
#include "core/image/image.h"
#include "core/image/kernels.h"

G_BEGIN_DECLS

typedef struct AstroImageColumns AstroImageColumns;

AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config,
                                           const AstroImageKernels *kernels,
                                           const AstroFftColumnsKernels *transforms);
/* Bytes of its rooms, one a thread, at most. */
guint64 astro_image_columns_bytes(const AstroImageConfig *config, guint threads);
void astro_image_columns_free(AstroImageColumns *self);

typedef struct {
  const AstroImageArguments *arguments;
  const guint8 *in;
  const guint8 *map; /* touched tiles, or NULL */
  guint8 *out;
  const double *inverse;
  const AstroImageSeries *series;
} AstroImageColumnsCall;

/* Adds a plane to the image. */
void astro_image_columns_add(AstroImageColumns *self, const AstroImageColumnsCall *call,
                             guint threads);

G_END_DECLS
