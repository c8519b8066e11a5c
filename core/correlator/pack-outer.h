/* Packs samples one by one for outer.h; for formats that have no faster way. read makes a number of
 * a stored component. Included with SCALAR. */
#include "core/correlator/kernels.h"

#define PACK_OUTER(name, component, read)                                                          \
  void astro_correlator_pack_##name(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows) \
  {                                                                                                \
    SCALAR *out = (SCALAR *)packed;                                                                \
    for (guint t = 0; t < rows->count; t++, out += 2 * PANEL) {                                    \
      const component *in = (const component *)(rows->first + t * rows->stride);                   \
      if (rows->inputs < PANEL)                                                                    \
        memset(out, 0, 2 * PANEL * sizeof *out);                                                   \
      for (guint i = 0; i < rows->inputs; i++) {                                                   \
        out[i] = (SCALAR)read(in[2 * i]);                                                          \
        out[PANEL + i] = (SCALAR)read(in[2 * i + 1]);                                              \
      }                                                                                            \
    }                                                                                              \
  }
