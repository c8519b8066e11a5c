/* The reference backend: value by value. */
#include "config.h"
#include "core/add/check.h"
#include "core/backend/count.h"

#include "core/backend/instance.h"

#include <string.h>

typedef struct {
  const AstroAddConfig *config;
  const AstroAddArguments *arguments;
  const AstroBlock *in;
  guint n_in;
  guint64 values; /* per step */
} Work;

/* Finds the value that a piece has for a place in the block; FALSE if it has none. */
static gboolean find(const Work *work, guint piece, guint64 place, gconstpointer *value,
                     guint32 *count)
{
  const AstroAddPiece *p = &work->arguments->pieces[piece];
  const guint64 step = place / work->values;
  AstroLayout shape;
  guint64 index[ASTRO_MAX_AXES];
  if (!work->in[piece].data || step < p->at || step >= p->at + p->n)
    return FALSE;
  guint64 at = (step - p->at + p->first) * work->values + place % work->values;
  *value =
      (const guint8 *)work->in[piece].data + at * astro_stream_sample_bytes(&work->config->stream);
  *count = p->full;
  if (!p->meta)
    return TRUE;
  astro_add_piece_shape(work->config, p, &shape);
  for (guint i = shape.n_axes; i-- > 0; at /= shape.extents[i])
    index[i] = at % shape.extents[i];
  *count = astro_validity_at(p->meta, &shape, index);
  return TRUE;
}

static void add_mean(const Work *work, guint64 place, gpointer out)
{
  const AstroFormat format = work->config->stream.format;
  const gboolean is_double = astro_format_is_double(format);
  const guint parts = astro_format_info(format)->is_complex ? 2 : 1;
  double sum[2] = { 0, 0 }, weights = 0;
  for (guint i = 0; i < work->n_in; i++) {
    gconstpointer value;
    guint32 count;
    if (!find(work, i, place, &value, &count) || count == 0)
      continue;
    for (guint k = 0; k < parts; k++)
      sum[k] += count * (is_double ? ((const double *)value)[k] : ((const float *)value)[k]);
    weights += count;
    ASTRO_COUNT(2 * parts + 1);
  }
  for (guint k = 0; k < parts; k++) {
    ASTRO_COUNT(1);
    const double mean = weights > 0 ? sum[k] / weights : 0;
    if (is_double)
      ((double *)out)[k] = mean;
    else
      ((float *)out)[k] = (float)mean;
  }
}

static gboolean add_integers(const Work *work, guint64 place, gpointer out)
{
  const gboolean is_wide = work->config->stream.format == ASTRO_FORMAT_U64LE;
  guint64 wide = 0;
  gint64 sum[2] = { 0, 0 };
  for (guint i = 0; i < work->n_in; i++) {
    gconstpointer value;
    guint32 count;
    if (!find(work, i, place, &value, &count))
      continue;
    ASTRO_COUNT(is_wide ? 1 : 2);
    if (is_wide && !g_uint64_checked_add(&wide, wide, *(const guint64 *)value))
      return FALSE;
    for (guint k = 0; !is_wide && k < 2; k++)
      sum[k] += ((const gint32 *)value)[k];
  }
  if (is_wide) {
    *(guint64 *)out = wide;
    return TRUE;
  }
  for (guint k = 0; k < 2; k++) {
    if (sum[k] < G_MININT32 || sum[k] > G_MAXINT32)
      return FALSE;
    ((gint32 *)out)[k] = (gint32)sum[k];
  }
  return TRUE;
}

static void add_reals(const Work *work, guint64 place, gpointer out)
{
  const AstroFormatInfo *format = astro_format_info(work->config->stream.format);
  const gboolean is_double = astro_format_is_double(work->config->stream.format);
  for (guint k = 0; k < (format->is_complex ? 2 : 1); k++) {
    double sum = 0;
    for (guint i = 0; i < work->n_in; i++) {
      gconstpointer value;
      guint32 count;
      if (!find(work, i, place, &value, &count))
        continue;
      ASTRO_COUNT(1);
      sum += is_double ? ((const double *)value)[k] : ((const float *)value)[k];
    }
    if (is_double)
      ((double *)out)[k] = sum;
    else
      ((float *)out)[k] = (float)sum;
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const Work work = { instance, data, in, n_in, astro_add_values(instance) };
  const AstroStream *stream = &work.config->stream;
  const gsize bytes = astro_stream_sample_bytes(stream);
  if (!astro_add_check(instance, in, n_in, out, n_out, data, error))
    return FALSE;
  for (guint64 i = 0; i < work.values * work.arguments->steps; i++) {
    gpointer to = (guint8 *)out->data + i * bytes;
    if (astro_add_is_mean(stream))
      add_mean(&work, i, to);
    else if (astro_format_info(stream->format)->is_float)
      add_reals(&work, i, to);
    else if (!add_integers(&work, i, to))
      return astro_add_refuse_large(instance, error);
  }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_add_reference, sizeof(AstroAddConfig), config, error);
}

const AstroBackend astro_add_reference = {
  .stage = "add",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroAddConfig),
  .shape = astro_add_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
