/* The definition of convert.h, one component at a time. */
#include "config.h"
#include "core/backend/count.h"
#include "core/convert/convert.h"
#include "core/convert/check.h"
#include "core/lib/formats/half.h"

#include "core/backend/instance.h"

#include <math.h>
#include <string.h>

/* in: the component as it was read; product: that times the scale. write returns whether it
 * clipped. */
typedef double (*ReadFunc)(const guint8 *block, guint64 component);
typedef gboolean (*WriteFunc)(guint8 *block, guint64 component, double in, double product);

/* The half nearest to a value. Its last place is worth 2^(exponent - 10), but at least 2^-24. */
static guint16 half_nearest(double value)
{
  if (isnan(value))
    return 0x7e00;
  guint16 sign = signbit(value) ? 0x8000 : 0;
  value = fabs(value);
  if (isinf(value))
    return sign | 0x7c00;
  gint exponent = value > 0 ? MAX(ilogb(value), -14) : -14;
  double places = rint(ldexp(value, 10 - exponent)); /* 1024 to 2048, or less if denormal */
  if (exponent + 15 + (places == 2048) > 30)
    return sign | 0x7c00;
  return sign | (guint16)((exponent + 14) * 1024 + (gint)places);
}

#define READ(name, type)                                                                           \
  static double read_##name(const guint8 *block, guint64 component)                                \
  {                                                                                                \
    type value;                                                                                    \
    memcpy(&value, block + component * sizeof value, sizeof value);                                \
    return (double)value;                                                                          \
  }
READ(i8, gint8)
READ(i16, gint16)
READ(i32, gint32)
READ(u64, guint64)
READ(f32, float)
READ(f64, double)

static double read_i4(const guint8 *block, guint64 component)
{
  gint nibble = component % 2 ? block[component / 2] & 15 : block[component / 2] >> 4;
  return nibble < 8 ? nibble : nibble - 16;
}

static double read_f16(const guint8 *block, guint64 component)
{
  guint16 half;
  memcpy(&half, block + component * sizeof half, sizeof half);
  return astro_half_value(half);
}

/* The integer nearest to the product, not below low. beyond: the first value that is too large. */
static gboolean hold(double product, double low, double beyond, double *whole, gboolean *above)
{
  *whole = isnan(product) ? 0 : rint(product);
  *above = *whole >= beyond;
  gboolean below = *whole < low;
  if (below)
    *whole = low;
  return isnan(product) || *above || below;
}

#define WRITE_INTEGER(name, type, lowest, highest)                                                 \
  static gboolean write_##name(guint8 *block, guint64 component, double in, double product)        \
  {                                                                                                \
    double whole;                                                                                  \
    gboolean above, clipped = hold(product, lowest, (double)(highest) + 1, &whole, &above);        \
    type value = above ? highest : (type)whole;                                                    \
    memcpy(block + component * sizeof value, &value, sizeof value);                                \
    return clipped;                                                                                \
  }
WRITE_INTEGER(i8, gint8, G_MININT8, G_MAXINT8)
WRITE_INTEGER(i16, gint16, G_MININT16, G_MAXINT16)
WRITE_INTEGER(i32, gint32, G_MININT32, G_MAXINT32)
WRITE_INTEGER(u64, guint64, 0, G_MAXUINT64)

static gboolean write_i4(guint8 *block, guint64 component, double in, double product)
{
  double whole;
  gboolean above, clipped = hold(product, -8, 8, &whole, &above);
  guint8 nibble = (above ? 7 : (gint)whole) & 15, *byte = block + component / 2;
  *byte = component % 2 ? (*byte & 0xf0) | nibble : (*byte & 0x0f) | nibble << 4;
  return clipped;
}

static gboolean write_f16(guint8 *block, guint64 component, double in, double product)
{
  guint16 half = half_nearest(product);
  memcpy(block + component * sizeof half, &half, sizeof half);
  return isfinite(in) && (half & 0x7fff) == 0x7c00;
}

static gboolean write_f32(guint8 *block, guint64 component, double in, double product)
{
  guint32 quiet = 0x7fc00000;
  float value = (float)product;
  if (isnan(product))
    memcpy(&value, &quiet, sizeof value);
  memcpy(block + component * sizeof value, &value, sizeof value);
  return FALSE;
}

static gboolean write_f64(guint8 *block, guint64 component, double in, double product)
{
  guint64 quiet = G_GUINT64_CONSTANT(0x7ff8000000000000);
  if (isnan(product))
    memcpy(&product, &quiet, sizeof product);
  memcpy(block + component * sizeof product, &product, sizeof product);
  return FALSE;
}

static const struct {
  ReadFunc read;
  WriteFunc write;
  gboolean fits_single;
} formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { read_i4, write_i4, TRUE },
  [ASTRO_FORMAT_CI8] = { read_i8, write_i8, TRUE },
  [ASTRO_FORMAT_CI16LE] = { read_i16, write_i16, TRUE },
  [ASTRO_FORMAT_CF16LE] = { read_f16, write_f16, TRUE },
  [ASTRO_FORMAT_CF32LE] = { read_f32, write_f32, TRUE },
  [ASTRO_FORMAT_CF64LE] = { read_f64, write_f64, FALSE },
  [ASTRO_FORMAT_CI32LE] = { read_i32, write_i32, FALSE },
  [ASTRO_FORMAT_F32LE] = { read_f32, write_f32, TRUE },
  [ASTRO_FORMAT_F64LE] = { read_f64, write_f64, FALSE },
  [ASTRO_FORMAT_U64LE] = { read_u64, write_u64, FALSE },
  [ASTRO_FORMAT_I8] = { read_i8, write_i8, TRUE },
  [ASTRO_FORMAT_I16LE] = { read_i16, write_i16, TRUE },
};

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const AstroConvertConfig *config = instance;
  const AstroConvertArguments *work = arguments;
  if (!astro_convert_check(config, in, n_in, out, n_out, work, error))
    return FALSE;
  const AstroFormatInfo *info = astro_format_info(config->from);
  if (config->from == config->to && work->scale == 1) {
    if (work->samples > 0)
      memcpy(out->data, in->data, work->samples * info->bytes);
    return TRUE;
  }
  gboolean single = formats[config->from].fits_single && formats[config->to].fits_single;
  guint64 components = work->samples * (info->is_complex ? 2 : 1);
  guint64 clipped = 0;
  for (guint64 i = 0; i < components; i++) {
    ASTRO_COUNT(1);
    double value = formats[config->from].read(in->data, i);
    double product = single ? (double)((float)value * (float)work->scale) : value * work->scale;
    clipped += formats[config->to].write(out->data, i, value, product);
  }
  if (result)
    result->clipped += clipped;
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "reference";
  return astro_instance_new(&astro_convert_reference, sizeof(AstroConvertConfig), config, error);
}

const AstroBackend astro_convert_reference = {
  .stage = "convert",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroConvertConfig),
  .shape = astro_convert_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
