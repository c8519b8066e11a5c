/* Convert: samples from one format to another of the same kind (complex or real).
 *
 * A component is a real sample, or the real or imaginary part of a complex one. The arithmetic is
 * fixed to the bit, so that all backends and variants agree. For each component:
 *
 * - It is read exactly; U64LE is rounded to double.
 *
 * - The product in * scale is rounded once. If both formats are among CI4, CI8, CI16LE, CF16LE,
 *   CF32LE, I8, I16LE and F32LE, that is in single precision, with the scale rounded to single
 *   first; else in double.
 *
 * - An integer format takes the product rounded to the nearest integer, ties to even, and then
 *   held to its full range: -8 to 7, -128 to 127, ..., 0 to 2^64 - 1. A component is clipped if it
 *   does not fit once rounded (127.4 fits CI8, 127.5 does not), if it is infinite, or if it is NaN,
 *   which becomes 0.
 *
 * - A floating-point format takes the product rounded once, ties to even; denormals are kept, zeros
 *   keep their sign. A NaN becomes the positive quiet NaN without payload (7e00, 7fc00000,
 *   7ff8000000000000). A component is clipped only if it was finite and is infinite in CF16LE.
 *
 * From a format to itself with scale 1, bits are copied as they are and nothing is clipped. The
 * rounding mode is the default, to nearest. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
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

/* Whether the formats can be converted: both are complex, or both real. */
gboolean astro_convert_possible(AstroFormat from, AstroFormat to);

/* The scale that scale=auto picks for a block. The rms of the components becomes a quarter of full
 * scale for 8 bits, 2.95 steps for 4 bits (the least distortion of noise), and 1/16 of full scale
 * for 16 and 32 bits; for floating point and U64LE the scale is 1. Full scale is 2^(bits - 1).
 * Components that are not finite are left out. Returns 0 if no scale can be told: the block is
 * empty or all zero, or nothing in it is finite. Reads the whole block; the result does not depend
 * on the number of threads. */
double astro_convert_auto_scale(AstroFormat from, AstroFormat to, gconstpointer block,
                                guint64 samples);
/* The same for a block of that shape, leaving out samples whose count is 0. become_sums: the block
 * holds means that become sums, so each is taken times its count. */
double astro_convert_auto_scale_of_good(AstroFormat from, AstroFormat to, gconstpointer block,
                                        const AstroValidityMeta *meta, const AstroLayout *shape,
                                        gboolean become_sums);

/* Visibilities in CI32LE are sums over the good samples, those in floating point are means. Whether
 * a conversion goes from one to the other; and that conversion of a block of that shape, with its
 * counts. Sums over no samples, which are 0, stay 0. Returns how many components were clipped. */
gboolean astro_convert_is_counted(const AstroStream *from, const AstroStream *to);
guint64 astro_convert_counted(const AstroConvertConfig *config, gpointer out, gconstpointer in,
                              double scale, const AstroValidityMeta *meta,
                              const AstroLayout *shape);

/* submit takes one block in and one out, at any addresses as long as they do not overlap, and an
 * AstroConvertArguments *. */
extern const AstroBackend astro_convert_reference;
extern const AstroBackend astro_convert_cpu;
extern const AstroBackend *const astro_convert_backends[]; /* up to a NULL */

/* An AstroTellWork. */
gboolean astro_convert_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
