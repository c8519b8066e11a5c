#include "core/lib/transpose/check.h"

gboolean astro_transpose_check(const AstroTransposeConfig *config, gsize *bytes, GError **error)
{
  gsize sample = config->sample_bytes, total = sample;
  guint seen = 0;

  if (config->n_axes < 1 || config->n_axes > ASTRO_MAX_AXES)
    return astro_backend_refuse(error, "transpose: %u axes, expected 1 to %d", config->n_axes,
                                ASTRO_MAX_AXES);
  if (sample < 1 || sample > 16 || (sample & (sample - 1)))
    return astro_backend_refuse(
        error, "transpose: samples of %" G_GSIZE_FORMAT " bytes, expected 1, 2, 4, 8 or 16",
        sample);
  for (guint i = 0; i < config->n_axes; i++) {
    if (config->order[i] >= config->n_axes)
      return astro_backend_refuse(error, "transpose: place %u of the output names axis %u of %u", i,
                                  config->order[i], config->n_axes);
    if (seen & 1u << config->order[i])
      return astro_backend_refuse(error, "transpose: the output names axis %u twice",
                                  config->order[i]);
    seen |= 1u << config->order[i];
    if (!config->extents[i])
      return astro_backend_refuse(error, "transpose: axis %u has no steps", i);
    if (!g_size_checked_mul(&total, total, config->extents[i]) || total > G_MAXSSIZE)
      return astro_backend_refuse(error, "transpose: a block of more bytes than can be addressed");
  }
  *bytes = total;
  return TRUE;
}

gboolean astro_transpose_shape(gconstpointer config, GError **error)
{
  gsize bytes;
  return astro_transpose_check(config, &bytes, error);
}

gboolean astro_transpose_check_blocks(const AstroTransposeConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      GError **error)
{
  gsize bytes = 0;
  if (!astro_transpose_check(config, &bytes, error))
    return FALSE;
  if (n_in != 1 || n_out != 1)
    return astro_backend_refuse(error, "transpose: %u blocks in and %u out, expected one each",
                                n_in, n_out);
  if (in->bytes < bytes || out->bytes < bytes)
    return astro_backend_refuse(error,
                                "transpose: blocks of %" G_GSIZE_FORMAT
                                " bytes in and %" G_GSIZE_FORMAT " out, expected %" G_GSIZE_FORMAT,
                                in->bytes, out->bytes, bytes);
  guintptr from = (guintptr)in->data, to = (guintptr)out->data;
  if (from < to + bytes && to < from + bytes)
    return astro_backend_refuse(error, "transpose: the block in and the block out overlap");
  return TRUE;
}
