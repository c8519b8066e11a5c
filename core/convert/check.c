/* Refuses conversions that no backend makes. */
#include "config.h"
#include "core/convert/check.h"

static const AstroFormatInfo *find(AstroFormat format)
{
  gboolean known = format > ASTRO_FORMAT_UNKNOWN && format < ASTRO_N_FORMATS;
  return known ? astro_format_info(format) : NULL;
}

gboolean astro_convert_possible(AstroFormat from, AstroFormat to)
{
  const AstroFormatInfo *a = find(from), *b = find(to);
  return a && b && a->is_complex == b->is_complex;
}

static const char *name(AstroFormat format)
{
  const AstroFormatInfo *info = find(format);
  return info ? info->name : "an unknown format";
}

gboolean astro_convert_shape(gconstpointer config, GError **error)
{
  const AstroConvertConfig *pair = config;
  if (astro_convert_possible(pair->from, pair->to))
    return TRUE;
  return astro_backend_refuse(error,
                              "cannot convert %s to %s: expected two complex or two real formats",
                              name(pair->from), name(pair->to));
}

static gboolean check_block(const char *which, const AstroBlock *block, AstroFormat format,
                            guint64 samples, GError **error)
{
  const AstroFormatInfo *info = astro_format_info(format);
  if (samples <= block->bytes / info->bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "convert: the %s block of %" G_GSIZE_FORMAT
                              " bytes holds %" G_GSIZE_FORMAT
                              " samples of %s, expected %" G_GUINT64_FORMAT,
                              which, block->bytes, block->bytes / info->bytes, info->name, samples);
}

gboolean astro_convert_check(const AstroConvertConfig *config, const AstroBlock *in, guint n_in,
                             const AstroBlock *out, guint n_out, const AstroConvertArguments *work,
                             GError **error)
{
  if (n_in != 1 || n_out != 1)
    return astro_backend_refuse(error, "convert takes one block in and one out, not %u and %u",
                                n_in, n_out);
  return check_block("input", in, config->from, work->samples, error) &&
         check_block("output", out, config->to, work->samples, error);
}
