/* Packs samples one by one for outer.h, for formats without a faster way. A sample has `components`
 * stored components, in; re_of and im_of are expressions for its parts. Included with SCALAR. */
#include "core/correlator/kernels.h"

#define PACK_OUTER(name, component, components, re_of, im_of)                                      \
  void astro_correlator_pack_##name(guint8 *packed, gpointer traits,                               \
                                    const AstroCorrelatorRows *rows)                               \
  {                                                                                                \
    for (guint t = 0; t < rows->count; t++) {                                                      \
      SCALAR *out = packed_lanes(packed, t);                                                       \
      const component *in = (const component *)(rows->first + t * rows->stride);                   \
      for (guint i = rows->inputs; i < PANEL; i++)                                                 \
        out[i] = out[PART + i] = out[2 * PART + i] = out[3 * PART + i] = 0;                        \
      for (guint i = 0; i < rows->inputs; i++, in += components) {                                 \
        SCALAR re = (SCALAR)(re_of), im = (SCALAR)(im_of);                                         \
        out[i] = re;                                                                               \
        out[PART + i] = im;                                                                        \
        out[2 * PART + i] = re + im;                                                               \
        out[3 * PART + i] = re - im;                                                               \
      }                                                                                            \
    }                                                                                              \
  }
