/* Converts samples between formats inside a task. */
#include "config.h"
#include "core/lib/formats/samples.h"

#include "core/backend/cpu.h"

#include <string.h>

static const struct {
  AstroVariant variant;
  const AstroConvertKernels *kernels;
} variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_convert_kernels_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_convert_kernels_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, &astro_convert_kernels_c },
};

void astro_samples_init(AstroSamples *samples, AstroFormat from, AstroFormat to)
{
  const typeof(variants[0]) *pick = ASTRO_VARIANT_PICK(variants);
  while (!(*pick->kernels)[from][to])
    pick++;
  *samples = (AstroSamples){
    .kernel = (*pick->kernels)[from][to],
    .rest = astro_convert_kernels_c[from][to],
    .components = astro_format_info(from)->is_complex ? 2 : 1,
    .from_bytes = astro_format_info(from)->bytes,
    .to_bytes = astro_format_info(to)->bytes,
    .same = from == to,
  };
}

guint64 astro_samples_convert(const AstroSamples *samples, gpointer out, gconstpointer in, gsize n)
{
  gsize body = n - n % ASTRO_CONVERT_STEP;
  guint64 clipped = 0;
  if (samples->same) {
    memcpy(out, in, n * samples->from_bytes);
    return 0;
  }
  if (body > 0)
    clipped += samples->kernel(out, in, body * samples->components, 1);
  if (n > body)
    clipped += samples->rest((guint8 *)out + body * samples->to_bytes,
                             (const guint8 *)in + body * samples->from_bytes,
                             (n - body) * samples->components, 1);
  return clipped;
}
