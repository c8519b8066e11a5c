/* Convert: samples from one format to another of the same kind (complex or real).
 *
 * out = round_half_even(saturate(in * scale)). The product is taken and rounded in single precision
 * where both formats fit it (CI4, CI8, CI16LE, CF16LE, CF32LE, F32LE), else in double; so all
 * variants agree bit for bit. A component that saturates, or that is NaN and becomes 0, counts as
 * clipped; between floating-point formats nothing is clipped but what overflows CF16LE to infinity.
 */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  AstroFormat from, to;
} AstroConvertConfig;

typedef struct {
  double scale;
  guint64 samples; /* whole samples in the block */
  guint64
      *clipped; /* components that saturated are added here; a device backend adds them at drain */
} AstroConvertArguments;

/* Whether there is a conversion: both complex or both real. */
gboolean astro_convert_possible(AstroFormat from, AstroFormat to);

/* The scale that scale=auto picks for a block: the rms of its components becomes a quarter of full
 * scale for 8 bits, 2.95 steps for 4 bits (least distortion of noise), 1/16 of full scale for 16
 * and 32 bits, 1 for floating point and U64LE. 1 where the block is all zero or holds no finite
 * rms. */
double astro_convert_auto_scale(AstroFormat from, AstroFormat to, gconstpointer block,
                                guint64 samples);

/* submit takes one block in and one out, and an AstroConvertArguments *. */
extern const AstroBackend astro_convert_reference;
extern const AstroBackend astro_convert_cpu;
extern const AstroBackend *const astro_convert_backends[]; /* up to a NULL */

G_END_DECLS
