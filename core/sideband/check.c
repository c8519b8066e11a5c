/* Checks configurations and blocks of the sideband stage, and reverses the counts of channels. */
#include "config.h"
#include "core/sideband/check.h"

/* The band of real samples begins at their zero frequency. If it is narrower than they can carry it
 * would begin elsewhere after the reversal, where no stage expects it. */
static gboolean check_real(const AstroStream *stream, GError **error)
{
  const double carried = stream->rate_n > 0 ? (double)stream->rate_n / stream->rate_d / 2 : 0;

  if (carried == 0 || stream->bandwidth == 0 || stream->bandwidth >= carried * (1 - 1e-9))
    return TRUE;
  return astro_backend_refuse(
      error,
      "bandwidth=%.15g Hz of real samples at a rate of %d/%d, expected half "
      "the rate, %.15g Hz: a narrower band cannot be reversed",
      stream->bandwidth, stream->rate_n, stream->rate_d, carried);
}

gboolean astro_sideband_shape(gconstpointer config, GError **error)
{
  const AstroStream *stream = &((const AstroSidebandConfig *)config)->stream;
  const gboolean is_voltages = stream->quantity == ASTRO_QUANTITY_VOLTAGES;

  if (!is_voltages && stream->quantity != ASTRO_QUANTITY_SPECTRA)
    return astro_backend_refuse(error, "%s, expected voltages or spectra",
                                astro_quantity_name(stream->quantity));
  if (astro_format_info(stream->format)->is_complex)
    return TRUE;
  if (!is_voltages || stream->format == ASTRO_FORMAT_U64LE)
    return astro_backend_refuse(
        error, "%s of format=%s, expected %s", astro_quantity_name(stream->quantity),
        astro_format_name(stream->format), is_voltages ? "samples with a sign" : "complex ones");
  return check_real(stream, error);
}

gboolean astro_sideband_check(const AstroSidebandConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroSidebandArguments *arguments, GError **error)
{
  const gsize bytes = arguments->steps * astro_stream_step_bytes(&config->stream);

  if (n_in != 1 || n_out != 1)
    return astro_backend_refuse(error, "sideband: %u blocks in and %u out, expected one each", n_in,
                                n_out);
  if (in->bytes >= bytes && out->bytes >= bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "sideband: blocks of %" G_GSIZE_FORMAT
                              " bytes in and %" G_GSIZE_FORMAT " out, expected %" G_GSIZE_FORMAT,
                              in->bytes, out->bytes, bytes);
}

AstroSidebandSpan astro_sideband_span(const AstroStream *stream, guint64 steps)
{
  const gboolean is_spectra = stream->quantity == ASTRO_QUANTITY_SPECTRA;
  AstroSidebandSpan span = { 1, 1, 1 };
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  const gint middle =
      is_spectra || !astro_format_info(stream->format)->is_complex
          ? astro_layout_find(&shape, is_spectra ? ASTRO_AXIS_CHANNEL : ASTRO_AXIS_TIME)
          : -1;
  for (gint i = 0; i < (gint)shape.n_axes; i++)
    *(i == middle ? &span.extent : i < middle ? &span.outer : &span.inner) *= shape.extents[i];
  return span;
}

void astro_sideband_reverse_validity(AstroValidityMeta *meta)
{
  const gint channel = astro_layout_find(&meta->shape, ASTRO_AXIS_CHANNEL);
  guint64 outer = 1, inner = 1;

  if (!meta->counts || channel < 0)
    return;
  for (gint i = 0; i < (gint)meta->shape.n_axes; i++)
    if (i != channel)
      *(i < channel ? &outer : &inner) *= meta->shape.extents[i];
  const guint64 n = meta->shape.extents[channel];
  for (guint64 o = 0; o < outer; o++)
    for (guint64 k = 0; k < n / 2; k++)
      for (guint64 i = 0; i < inner; i++) {
        guint32 *a = meta->counts + (o * n + k) * inner + i;
        guint32 *b = meta->counts + (o * n + n - 1 - k) * inner + i;
        const guint32 held = *a;
        *a = *b;
        *b = held;
      }
}
