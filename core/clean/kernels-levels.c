/* Subtracts a row of the point-spread function from a row of the image, and finds the largest
 * absolute value left. */
#include "config.h"
#include "core/clean/kernels.h"

#include "core/backend/level.h"

#define SUBTRACT(name, real, whole)                                                                \
  static real name(real *rest, const real *psf, gsize n, real flux)                                \
  {                                                                                                \
    typedef real Vector __attribute__((vector_size(LEVEL_BYTES)));                                 \
    typedef real Unaligned                                                                         \
        __attribute__((vector_size(LEVEL_BYTES), aligned(sizeof(real)), may_alias));               \
    typedef whole Mask __attribute__((vector_size(LEVEL_BYTES)));                                  \
    const gsize lanes = LEVEL_BYTES / sizeof(real);                                                \
    const Mask no_sign = (whole)(((guint64)1 << (8 * sizeof(real) - 1)) - 1) + (Mask){};           \
    Vector greatest = {};                                                                          \
    real most = 0;                                                                                 \
    gsize i = 0;                                                                                   \
    for (; i + lanes <= n; i += lanes) {                                                           \
      Vector left = *(Unaligned *)(rest + i) - flux * *(const Unaligned *)(psf + i);               \
      Vector size = (Vector)((Mask)left & no_sign);                                                \
      *(Unaligned *)(rest + i) = left;                                                             \
      Mask more = size > greatest;                                                                 \
      greatest = (Vector)((more & (Mask)size) | (~more & (Mask)greatest));                         \
    }                                                                                              \
    for (gsize k = 0; k < lanes; k++)                                                              \
      most = greatest[k] > most ? greatest[k] : most;                                              \
    for (; i < n; i++) {                                                                           \
      rest[i] -= flux * psf[i];                                                                    \
      real size = rest[i] < 0 ? -rest[i] : rest[i];                                                \
      most = size > most ? size : most;                                                            \
    }                                                                                              \
    return most;                                                                                   \
  }

SUBTRACT(subtract_single, float, gint32)
SUBTRACT(subtract_double, double, gint64)

const AstroCleanKernels LEVEL_NAMED(astro_clean_kernels) = { LEVEL_VARIANT, subtract_single,
                                                             subtract_double };
