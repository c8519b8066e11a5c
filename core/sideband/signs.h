/* Signs of components, and orders of samples: the loops of the cpu backend. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* What is counted: halves of complex samples, real samples, or bytes of CI4, which are whole ones.
 */
guint astro_sideband_component_bytes(AstroFormat format);

/* Changes the sign of those of n components whose masks, as large as they are, have all bits set;
 * the others' masks have none. in may be out. */
typedef void (*AstroSidebandSigns)(gpointer out, gconstpointer in, gconstpointer masks, gsize n);

AstroSidebandSigns astro_sideband_signs(AstroFormat format);

/* n samples of 1, 2, 4, 8 or 16 bytes, the last one first. in may be out. */
void astro_sideband_reverse(gpointer out, gconstpointer in, gsize n, guint sample_bytes);
/* Two rows of so many bytes, each to where the other one stands. */
void astro_sideband_exchange(gpointer out_a, gpointer out_b, gconstpointer in_a, gconstpointer in_b,
                             gsize bytes);

G_END_DECLS
