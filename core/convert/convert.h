/* Convert: samples from one format to another of the same kind (complex or real).
 *
 * The arithmetic is fixed to the bit, so that all backends and variants agree. For each component:
 *
 * - It is read exactly; U64LE is rounded to double.
 *
 * - The product in * scale is rounded once: in single precision, the scale being rounded to single
 *   first, where both formats are among CI4, CI8, CI16LE, CF16LE, CF32LE, I8, I16LE, F32LE; else
 *   in double.
 *
 * - A whole-number format takes the product rounded to the nearest whole number, ties to even, then
 *   held to its range, which is all of it: -8 to 7, -128 to 127, ..., 0 to 2^64 - 1. Clipped is
 *   what does not fit once rounded (127.4 fits CI8, 127.5 does not), infinity, and NaN, which
 *   becomes 0.
 *
 * - A floating-point format takes the product rounded once, ties to even; denormals are kept, zeros
 *   keep their sign. A NaN becomes the positive quiet NaN without payload (7e00, 7fc00000,
 *   7ff8000000000000). Clipped is only what was finite and is infinite in CF16LE.
 *
 * From a format to itself with scale 1 the bits are copied as they are and nothing is clipped. The
 * rounding mode is the default one, to nearest. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroFormat from, to;
} AstroConvertConfig;

typedef struct {
  double scale;
  guint64 samples; /* whole samples in the block */
} AstroConvertArguments;

/* Whether there is a conversion: both complex or both real. */
gboolean astro_convert_possible(AstroFormat from, AstroFormat to);

/* The scale that scale=auto picks for a block: the rms of its components becomes a quarter of full
 * scale for 8 bits, 2.95 steps for 4 bits (least distortion of noise), 1/16 of full scale for 16
 * and 32 bits, 1 for floating point and U64LE. 0 where the block tells none: it is empty or all
 * zero, or nothing in it is finite. Components that are not finite are left out; full scale is
 * 2^(bits - 1). Reads the whole block; the result does not depend on the number of threads. */
double astro_convert_auto_scale(AstroFormat from, AstroFormat to, gconstpointer block,
                                guint64 samples);
/* The same of a block of that shape, with samples that have no count left out; of means that become
 * sums, each as large as its count makes it. */
double astro_convert_auto_scale_of_good(AstroFormat from, AstroFormat to, gconstpointer block,
                                        const AstroValidityMeta *meta, const AstroLayout *shape,
                                        gboolean become_sums);

/* Visibilities of CI32LE are sums and those of floats are means of what their counts say. Whether
 * it is one into the other, and the conversion of a block of that shape by its counts: sums of
 * nothing, which are 0, stay 0. Returns how many components were clipped. */
gboolean astro_convert_is_counted(const AstroStream *from, const AstroStream *to);
guint64 astro_convert_counted(const AstroConvertConfig *config, gpointer out, gconstpointer in,
                              double scale, const AstroValidityMeta *meta,
                              const AstroLayout *shape);

/* submit takes one block in and one out, which may lie at any address but must not overlap, and an
 * AstroConvertArguments *. */
extern const AstroBackend astro_convert_reference;
extern const AstroBackend astro_convert_cpu;
extern const AstroBackend *const astro_convert_backends[]; /* up to a NULL */

G_END_DECLS
