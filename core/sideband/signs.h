/* Loops of the CPU backend that change signs and reorder samples. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Size of a component: half of a complex sample, a real sample, or a byte of CI4, which is a whole
 * sample. */
guint astro_sideband_component_bytes(AstroFormat format);

/* Changes the sign of those of n components whose masks have all bits set; the other masks are
 * zero. A mask is as large as a component. in may be out. */
typedef void (*AstroSidebandSigns)(gpointer out, gconstpointer in, gconstpointer masks, gsize n);

AstroSidebandSigns astro_sideband_signs(AstroFormat format);

/* Copies n samples of 1, 2, 4, 8 or 16 bytes in reverse order. in may be out. */
void astro_sideband_reverse(gpointer out, gconstpointer in, gsize n, guint sample_bytes);
/* Exchanges two rows of as many bytes. */
void astro_sideband_exchange(gpointer out_a, gpointer out_b, gconstpointer in_a, gconstpointer in_b,
                             gsize bytes);

G_END_DECLS
