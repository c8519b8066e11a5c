/* Checks configurations and blocks of the calibration, and reads values of blocks. */
#include "config.h"
#include "core/calibrate/check.h"

#include <math.h>
#include <string.h>

#define LAYOUT "channel:baseline:pol:pol"

guint astro_calibrate_step(const AstroCalibrateConfig *config)
{
  const guint channels = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL);
  const gboolean all = config->channel_step == 0 || config->type == ASTRO_GAINS_DELAY;
  return all ? channels : MIN(config->channel_step, channels);
}

guint astro_calibrate_groups(const AstroCalibrateConfig *config)
{
  const guint channels = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL),
              step = astro_calibrate_step(config);
  return (channels + step - 1) / step;
}

guint astro_calibrate_values(const AstroCalibrateConfig *config)
{
  const guint pols = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  return config->type == ASTRO_GAINS_FULL ? pols * pols : pols;
}

AstroCalibrateSize astro_calibrate_size(const AstroCalibrateConfig *config)
{
  const guint pols = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  return (AstroCalibrateSize){
    .channels = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL),
    .stations = (guint)astro_stream_stations(&config->in),
    .pols = pols,
    .products = pols * pols,
    .baselines = astro_stream_extent(&config->in, ASTRO_AXIS_BASELINE),
  };
}

static gboolean check_side(const AstroStream *stream, const char *side, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (stream->quantity == ASTRO_QUANTITY_VISIBILITIES && strcmp(layout, LAYOUT) == 0)
    return TRUE;
  return astro_backend_refuse(error,
                              "calibrate, %s: %s of layout %s, expected visibilities of "
                              "layout " LAYOUT,
                              side, astro_quantity_name(stream->quantity), layout);
}

static gboolean check_formats(AstroFormat in, AstroFormat out, GError **error)
{
  if ((in == ASTRO_FORMAT_CI32LE && out == ASTRO_FORMAT_CF32LE) ||
      (in == out && (in == ASTRO_FORMAT_CF32LE || in == ASTRO_FORMAT_CF64LE)))
    return TRUE;
  return astro_backend_refuse(error,
                              "calibrate from format=%s to %s, expected CF32LE or CF64LE to the "
                              "same format, or CI32LE to CF32LE: "
                              "calibrated visibilities are not whole numbers",
                              astro_format_name(in), astro_format_name(out));
}

static gboolean check_stations(const AstroCalibrateConfig *c, GError **error)
{
  const AstroCalibrateSize size = astro_calibrate_size(c);
  if ((guint64)size.stations * (size.stations + 1) / 2 != size.baselines)
    return astro_backend_refuse(error,
                                "calibrate: %" G_GUINT64_FORMAT " baselines, which is not those of "
                                "any number of stations, each with itself and those before it",
                                size.baselines);
  if (c->type == ASTRO_GAINS_FULL && size.pols != 2)
    return astro_backend_refuse(error,
                                "calibrate: type=full for pols=%u, expected 2: a matrix mixes two "
                                "polarisations; type=gain is for one",
                                size.pols);
  return TRUE;
}

gboolean astro_calibrate_shape(gconstpointer config, GError **error)
{
  const AstroCalibrateConfig *c = config;
  if (!check_side(&c->in, "input", error) || !check_side(&c->out, "output", error) ||
      !check_formats(c->in.format, c->out.format, error) ||
      !astro_stream_check_lower(&c->in, error) || !check_stations(c, error))
    return FALSE;
  if (!(c->in.frequency > 0) || !(c->in.bandwidth > 0))
    return astro_backend_refuse(error,
                                "calibrate, input: frequency=%g Hz and bandwidth=%g Hz, expected "
                                "both: the model and the table of gains need them",
                                c->in.frequency, c->in.bandwidth);
  return astro_layout_is_equal(&c->in.layout, &c->out.layout) ||
         astro_backend_refuse(error, "calibrate: input and output must have the same extents");
}

gboolean astro_calibrate_check(const AstroCalibrateConfig *config, const AstroBlock *in, guint n_in,
                               guint n_out, const AstroCalibrateArguments *arguments,
                               const AstroResult *result, GError **error)
{
  const gboolean reads =
      arguments->work == ASTRO_CALIBRATE_ADD || arguments->work == ASTRO_CALIBRATE_APPLY;
  if (n_in != (guint)reads || n_out != (arguments->work == ASTRO_CALIBRATE_APPLY ? 1u : 0u) ||
      (reads && in->bytes < arguments->steps * astro_stream_step_bytes(&config->in)))
    return astro_backend_refuse(error, "calibrate: the sizes of the blocks do not fit the streams");
  if (arguments->reference >= astro_calibrate_size(config).stations)
    return astro_backend_refuse(error, "calibrate: the reference is station %u of %u",
                                arguments->reference, astro_calibrate_size(config).stations);
  if (arguments->work == ASTRO_CALIBRATE_SOLVE && !(result && result->own))
    return astro_backend_refuse(error, "calibrate: there is no room for the solution");
  return !reads || config->in.format != ASTRO_FORMAT_CI32LE || arguments->validity ||
         astro_backend_refuse(error,
                              "sums (CI32LE) came without the counts that make means of them: "
                              "expected visibilities of format=CF32LE");
}

void astro_calibrate_channel_init(AstroCalibrateChannel *channel,
                                  const AstroCalibrateConfig *config,
                                  const AstroCalibrateArguments *arguments, const AstroBlock *in)
{
  AstroLayout shape;
  *channel = (AstroCalibrateChannel){ .config = config,
                                      .size = astro_calibrate_size(config),
                                      .validity = arguments->validity,
                                      .data = in->data };
  astro_stream_shape(&config->in, arguments->steps, &shape);
  channel->lead = shape.n_axes - 4;
  if (channel->validity && channel->validity->counts)
    astro_validity_axes(channel->validity, &shape, channel->axes);
}

static guint64 along(const AstroValidityAxis *axis, guint64 index)
{
  return index / MAX(axis->group, 1) * axis->stride;
}

static guint32 count_at(const AstroCalibrateChannel *c, guint64 baseline, guint product)
{
  if (!c->validity)
    return 1;
  if (!c->validity->counts)
    return MAX(c->validity->full, 1);
  const AstroValidityAxis *axes = c->axes + c->lead;
  return c->validity->counts[(c->lead ? along(c->axes, c->step) : 0) + along(axes, c->channel) +
                             along(axes + 1, baseline) + along(axes + 2, product / c->size.pols) +
                             along(axes + 3, product % c->size.pols)];
}

complex double astro_calibrate_value(const AstroCalibrateChannel *c, guint64 baseline,
                                     guint product, double *count)
{
  const gsize at =
      (((gsize)c->step * c->size.channels + c->channel) * c->size.baselines + baseline) *
          c->size.products +
      product;
  const guint32 n = count_at(c, baseline, product);
  complex double value;
  if (c->config->in.format == ASTRO_FORMAT_CF64LE) {
    const double *v = (const double *)(gconstpointer)c->data + 2 * at;
    value = v[0] + I * v[1];
  } else if (c->config->in.format == ASTRO_FORMAT_CF32LE) {
    const float *v = (const float *)(gconstpointer)c->data + 2 * at;
    value = (double)v[0] + I * (double)v[1];
  } else {
    const gint32 *v = (const gint32 *)(gconstpointer)c->data + 2 * at;
    value = n ? ((double)v[0] + I * (double)v[1]) / n : 0;
  }
  const gboolean good = n > 0 && isfinite(creal(value)) && isfinite(cimag(value));
  *count = good ? n : 0;
  return good ? value : 0;
}

/* ---- rows ---- */

static void read_row(const AstroCalibrateChannel *c, gsize first, gsize n, complex double *values)
{
  if (c->config->in.format == ASTRO_FORMAT_CF64LE) {
    memcpy(values, (const complex double *)(gconstpointer)c->data + first, n * sizeof *values);
  } else if (c->config->in.format == ASTRO_FORMAT_CF32LE) {
    const float *v = (const float *)(gconstpointer)c->data + 2 * first;
    for (gsize k = 0; k < n; k++)
      values[k] = (double)v[2 * k] + I * (double)v[2 * k + 1];
  } else {
    const gint32 *v = (const gint32 *)(gconstpointer)c->data + 2 * first;
    for (gsize k = 0; k < n; k++)
      values[k] = (double)v[2 * k] + I * (double)v[2 * k + 1];
  }
}

static void read_counts(const AstroCalibrateChannel *c, guint i, double *counts)
{
  const guint products = c->size.products;
  const gsize n = (gsize)(i + 1) * products;
  if (!c->validity || !c->validity->counts) {
    const double all = c->validity ? MAX(c->validity->full, 1) : 1;
    for (gsize k = 0; k < n; k++)
      counts[k] = all;
    return;
  }
  const AstroValidityAxis *axes = c->axes + c->lead;
  const guint64 first = (c->lead ? along(c->axes, c->step) : 0) + along(axes, c->channel);
  guint64 offsets[ASTRO_CALIBRATE_MOST_PRODUCTS];
  for (guint p = 0; p < products; p++)
    offsets[p] = along(axes + 2, p / c->size.pols) + along(axes + 3, p % c->size.pols);
  for (guint j = 0; j <= i; j++) {
    const guint32 *at = c->validity->counts + first + along(axes + 1, (guint64)i * (i + 1) / 2 + j);
    for (guint p = 0; p < products; p++)
      *counts++ = at[offsets[p]];
  }
}

void astro_calibrate_row(const AstroCalibrateChannel *c, guint i, complex double *values,
                         double *counts)
{
  const gsize n = (gsize)(i + 1) * c->size.products;
  const gsize first = (((gsize)c->step * c->size.channels + c->channel) * c->size.baselines +
                       (gsize)i * (i + 1) / 2) *
                      c->size.products;
  const gboolean are_sums = c->config->in.format == ASTRO_FORMAT_CI32LE;
  read_row(c, first, n, values);
  read_counts(c, i, counts);
  for (gsize k = 0; k < n; k++) {
    const gboolean good = counts[k] > 0 && isfinite(creal(values[k])) && isfinite(cimag(values[k]));
    counts[k] = good ? counts[k] : 0;
    values[k] = good ? (are_sums ? values[k] / counts[k] : values[k]) : 0;
  }
}

/* ---- columns ---- */

static void read_column(const AstroCalibrateChannel *c, gsize first, guint n, guint product,
                        complex double *values)
{
  const guint step = 2 * c->size.products;
  const gsize at = 2 * (first + product);
  if (c->config->in.format == ASTRO_FORMAT_CF64LE) {
    const double *v = (const double *)(gconstpointer)c->data + at;
    for (guint j = 0; j < n; j++, v += step)
      values[j] = v[0] + I * v[1];
  } else if (c->config->in.format == ASTRO_FORMAT_CF32LE) {
    const float *v = (const float *)(gconstpointer)c->data + at;
    for (guint j = 0; j < n; j++, v += step)
      values[j] = (double)v[0] + I * (double)v[1];
  } else {
    const gint32 *v = (const gint32 *)(gconstpointer)c->data + at;
    for (guint j = 0; j < n; j++, v += step)
      values[j] = (double)v[0] + I * (double)v[1];
  }
}

static void read_column_counts(const AstroCalibrateChannel *c, guint i, guint product,
                               double *counts)
{
  const guint64 row = (guint64)i * (i + 1) / 2;
  if (!c->validity || !c->validity->counts) {
    const double all = c->validity ? MAX(c->validity->full, 1) : 1;
    for (guint j = 0; j < i; j++)
      counts[j] = all;
    return;
  }
  const AstroValidityAxis *axes = c->axes + c->lead;
  const guint32 *at = c->validity->counts + (c->lead ? along(c->axes, c->step) : 0) +
                      along(axes, c->channel) + along(axes + 2, product / c->size.pols) +
                      along(axes + 3, product % c->size.pols);
  if (axes[1].group <= 1) {
    for (guint j = 0; j < i; j++)
      counts[j] = at[(row + j) * axes[1].stride];
    return;
  }
  for (guint j = 0; j < i; j++)
    counts[j] = at[along(axes + 1, row + j)];
}

void astro_calibrate_column(const AstroCalibrateChannel *c, guint i, guint product,
                            complex double *values, double *counts)
{
  const gsize first = (((gsize)c->step * c->size.channels + c->channel) * c->size.baselines +
                       (gsize)i * (i + 1) / 2) *
                      c->size.products;
  const gboolean are_sums = c->config->in.format == ASTRO_FORMAT_CI32LE;
  read_column(c, first, i, product, values);
  read_column_counts(c, i, product, counts);
  for (guint j = 0; j < i; j++) {
    const gboolean good = counts[j] > 0 && isfinite(creal(values[j])) && isfinite(cimag(values[j]));
    counts[j] = good ? counts[j] : 0;
    values[j] = good ? (are_sums ? values[j] / counts[j] : values[j]) : 0;
  }
}
