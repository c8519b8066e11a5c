/* Refuses transpositions that no backend makes. */
#include "core/transpose/check.h"

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
    return astro_backend_refuse(error, "transpose: %u blocks in and %u out, expected one of each",
                                n_in, n_out);
  if (in->bytes < bytes || out->bytes < bytes)
    return astro_backend_refuse(error,
                                "transpose: the blocks have %" G_GSIZE_FORMAT
                                " bytes in and %" G_GSIZE_FORMAT " out, expected %" G_GSIZE_FORMAT,
                                in->bytes, out->bytes, bytes);
  guintptr from = (guintptr)in->data, to = (guintptr)out->data;
  if (from < to + bytes && to < from + bytes)
    return astro_backend_refuse(error, "transpose: the input and output blocks overlap");
  return TRUE;
}
