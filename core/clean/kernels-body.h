/* One text for all instruction sets: the including file defines the BYTES of a vector, and names
 * the table (KERNELS) and the instruction set (NAME, LEVEL). */
#include "core/clean/kernels.h"

#define SUBTRACT(name, real, whole)                                                                \
  static real name(real *rest, const real *psf, gsize n, real flux)                                \
  {                                                                                                \
    typedef real Vector __attribute__((vector_size(BYTES)));                                       \
    typedef real Unaligned __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));  \
    typedef whole Mask __attribute__((vector_size(BYTES)));                                        \
    const gsize lanes = BYTES / sizeof(real);                                                      \
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

const AstroCleanKernels KERNELS = { { NAME, LEVEL }, subtract_single, subtract_double };
