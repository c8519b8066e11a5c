/* Checks configurations and blocks of the add stage. */
#include "config.h"
#include "core/add/check.h"

gboolean astro_add_is_mean(const AstroStream *stream)
{
  return stream->quantity == ASTRO_QUANTITY_POWER ||
         (stream->quantity == ASTRO_QUANTITY_VISIBILITIES && stream->format != ASTRO_FORMAT_CI32LE);
}

static gboolean has_format(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF32LE || format == ASTRO_FORMAT_CF64LE ||
         format == ASTRO_FORMAT_CI32LE || format == ASTRO_FORMAT_F64LE ||
         format == ASTRO_FORMAT_F32LE || format == ASTRO_FORMAT_U64LE;
}

gboolean astro_add_shape(gconstpointer data, GError **error)
{
  const AstroAddConfig *config = data;
  g_autofree char *layout = astro_layout_to_string(&config->stream.layout);
  if (!has_format(config->stream.format))
    return astro_backend_refuse(error,
                                "values in %s cannot be added, expected CF32LE, CF64LE, CI32LE, "
                                "F32LE, F64LE or U64LE",
                                astro_format_name(config->stream.format));
  return astro_layout_find(&config->stream.layout, ASTRO_AXIS_TIME) <= 0 ||
         astro_backend_refuse(
             error,
             "layout %s has time after other axes: expected it first, or not at all "
             "(astrotranspose)",
             layout);
}

guint64 astro_add_values(const AstroAddConfig *config)
{
  return astro_stream_step_bytes(&config->stream) / astro_stream_sample_bytes(&config->stream);
}

void astro_add_piece_shape(const AstroAddConfig *config, const AstroAddPiece *piece,
                           AstroLayout *shape)
{
  astro_stream_shape(&config->stream, piece->steps, shape);
}

gboolean astro_add_check(const AstroAddConfig *config, const AstroBlock *in, guint n_in,
                         const AstroBlock *out, guint n_out, const AstroAddArguments *arguments,
                         GError **error)
{
  const gsize step = astro_stream_step_bytes(&config->stream);
  gboolean ok = n_in > 0 && n_out == 1 && out->bytes >= arguments->steps * step;
  for (guint i = 0; ok && i < n_in; i++) {
    const AstroAddPiece *p = &arguments->pieces[i];
    ok = p->first + p->n <= p->steps && p->at + p->n <= arguments->steps &&
         (!in[i].data || in[i].bytes >= p->steps * step);
  }
  return ok ||
         astro_backend_refuse(error,
                              "add: pieces of %u blocks do not fit a block of %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes",
                              n_in, arguments->steps, step);
}

gboolean astro_add_refuse_large(const AstroAddConfig *config, GError **error)
{
  return astro_backend_refuse(error, "a sum does not fit %s%s",
                              astro_format_name(config->stream.format),
                              config->stream.quantity == ASTRO_QUANTITY_VISIBILITIES
                                  ? ": expected means (CF32LE), which astrocorrelator sends if "
                                    "its caps ask for them, or shorter integrations"
                                  : "");
}
