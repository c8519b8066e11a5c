/* The reference backend: the formula, sample by sample. */
#include "config.h"
#include "core/sideband/check.h"

#include "core/backend/instance.h"

#include <string.h>

#define NEGATE_WHOLE(type, least, greatest)                                                        \
  do {                                                                                             \
    type value;                                                                                    \
    memcpy(&value, component, sizeof value);                                                       \
    value = value == (least) ? (greatest) : (type)-value;                                          \
    memcpy(component, &value, sizeof value);                                                       \
  } while (0)

/* component is a part of a sample; for CI4 it is the whole sample, whose imaginary part is the low
 * nibble. */
static void negate(AstroFormat format, guint8 *component)
{
  const AstroFormatInfo *info = astro_format_info(format);

  switch (format) {
  case ASTRO_FORMAT_CI4: {
    const guint low = *component & 15;
    *component = (guint8)((*component & 0xf0) | (low == 8 ? 7 : (16 - low) & 15));
    break;
  }
  case ASTRO_FORMAT_CI8:
  case ASTRO_FORMAT_I8:
    NEGATE_WHOLE(gint8, G_MININT8, G_MAXINT8);
    break;
  case ASTRO_FORMAT_CI16LE:
  case ASTRO_FORMAT_I16LE:
    NEGATE_WHOLE(gint16, G_MININT16, G_MAXINT16);
    break;
  case ASTRO_FORMAT_CI32LE:
    NEGATE_WHOLE(gint32, G_MININT32, G_MAXINT32);
    break;
  default: /* floats: the sign is the last byte's highest bit */
    component[info->bytes / (info->is_complex ? 2 : 1) - 1] ^= 0x80;
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const AstroSidebandConfig *config = instance;
  const AstroSidebandArguments *arguments = data;
  const AstroFormat format = config->stream.format;
  const AstroFormatInfo *info = astro_format_info(format);
  const gboolean is_spectra = config->stream.quantity == ASTRO_QUANTITY_SPECTRA;

  if (!astro_sideband_check(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  const AstroSidebandSpan span = astro_sideband_span(&config->stream, arguments->steps);
  const guint64 samples = span.outer * span.extent * span.inner;
  for (guint64 to = 0; to < samples; to++) {
    const guint64 k = to / span.inner % span.extent;
    const guint64 from = is_spectra ? to - k * span.inner + (span.extent - 1 - k) * span.inner : to;
    guint8 *sample = (guint8 *)out->data + to * info->bytes;
    memcpy(sample, (const guint8 *)in->data + from * info->bytes, info->bytes);
    if (format == ASTRO_FORMAT_CI4)
      negate(format, sample);
    else if (info->is_complex)
      negate(format, sample + info->bytes / 2);
    else if ((arguments->first + k) % 2)
      negate(format, sample);
  }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_sideband_reference, sizeof(AstroSidebandConfig), config, error);
}

const AstroBackend astro_sideband_reference = {
  .stage = "sideband",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroSidebandConfig),
  .shape = astro_sideband_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
