/* Conversions between visibilities that are sums and visibilities that are means. */
#include "config.h"
#include "core/convert/convert.h"
#include "core/lib/formats/kernels.h"

gboolean astro_convert_is_counted(const AstroStream *from, const AstroStream *to)
{
  return from->quantity == ASTRO_QUANTITY_VISIBILITIES &&
         ((from->format == ASTRO_FORMAT_CI32LE && astro_format_info(to->format)->is_float) ||
          (to->format == ASTRO_FORMAT_CI32LE && astro_format_info(from->format)->is_float));
}

guint64 astro_convert_counted(const AstroConvertConfig *config, gpointer out, gconstpointer in,
                              double scale, const AstroValidityMeta *meta, const AstroLayout *shape)
{
  const AstroConvertKernel kernel = astro_convert_kernels_c[config->from][config->to];
  const gsize from_bytes = astro_format_info(config->from)->bytes,
              to_bytes = astro_format_info(config->to)->bytes;
  const gboolean means = config->from == ASTRO_FORMAT_CI32LE;
  AstroValidityRun run;
  guint64 clipped = 0;

  astro_validity_run_init(&run, meta, shape);
  while (astro_validity_next_run(&run)) {
    const double count = means ? 1.0 / MAX(run.count, 1) : run.count;
    clipped += kernel((guint8 *)out + run.first * to_bytes,
                      (const guint8 *)in + run.first * from_bytes, 2 * run.length, scale * count);
  }
  return clipped;
}
