/* Checks configurations and blocks of flags, and finds their values. */
#include "config.h"
#include "core/flag/check.h"

#include <math.h>
#include <string.h>

/* ---- values ---- */

static const AstroAxis unit_axes[] = { ASTRO_AXIS_STATION, ASTRO_AXIS_BEAM, ASTRO_AXIS_BASELINE };

static gint find_unit(const AstroLayout *layout)
{
  for (guint i = 0; i < G_N_ELEMENTS(unit_axes); i++)
    if (astro_layout_find(layout, unit_axes[i]) >= 0)
      return astro_layout_find(layout, unit_axes[i]);
  return -1;
}

guint64 astro_flag_units(const AstroStream *stream)
{
  const gint at = find_unit(&stream->layout);
  return at < 0 ? 1 : stream->layout.extents[at];
}

guint astro_flag_channels(const AstroStream *stream)
{
  return (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
}

guint64 astro_flag_rows(const AstroFlagConfig *config, const AstroFlagArguments *arguments)
{
  return config->method == ASTRO_FLAG_KURTOSIS && config->in.quantity == ASTRO_QUANTITY_SPECTRA
             ? 1
             : arguments->phase + arguments->steps;
}

gboolean astro_flag_has_blocks(const AstroFlagConfig *config)
{
  return config->method == ASTRO_FLAG_THRESHOLD ||
         (config->method == ASTRO_FLAG_KURTOSIS && config->in.quantity == ASTRO_QUANTITY_SPECTRA);
}

/* Positive products, whose noise is in proportion to them. */
static gboolean is_positive(const char *product)
{
  return product[0] == 'I' || g_str_equal(product, "XX") || g_str_equal(product, "YY") ||
         g_str_equal(product, "RR") || g_str_equal(product, "LL");
}

/* Products, without squares; kurtosis takes only those that have one. */
static void place_products(AstroFlagPlaces *places, const AstroFlagConfig *config, guint64 stride)
{
  places->parts = 0;
  for (guint i = 0; i < config->products.n; i++) {
    const gint square = astro_power_products_square(&config->products, i);
    if (astro_power_is_square(config->products.names[i]) ||
        (config->method == ASTRO_FLAG_KURTOSIS && square < 0))
      continue;
    places->is_power[places->parts] = is_positive(config->products.names[i]);
    places->part[places->parts] = i * stride;
    places->square[places->parts++] = (guint64)MAX(square, 0) * stride;
  }
}

/* Offsets along the axes of polarisation, of which visibilities have two. */
static void place_pols(AstroFlagPlaces *places, const AstroLayout *shape, const guint64 *strides)
{
  places->parts = 1;
  for (guint i = shape->n_axes; i-- > 0;) {
    if (shape->axes[i] != ASTRO_AXIS_POL)
      continue;
    const guint before = places->parts;
    places->parts *= (guint)shape->extents[i];
    for (guint p = before; p < places->parts; p++)
      places->part[p] = places->part[p % before] + p / before * strides[i];
  }
}

void astro_flag_places(AstroFlagPlaces *places, const AstroFlagConfig *config, guint64 steps)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(&config->in, steps, &shape);
  astro_layout_strides(&shape, strides);
  const gint unit = find_unit(&shape);
  *places = (AstroFlagPlaces){
    .steps = steps,
    .units = astro_flag_units(&config->in),
    .channels = astro_flag_channels(&config->in),
    .time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME),
    .channel = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL),
    .unit = unit < 0 ? 0 : strides[unit],
  };
  if (config->in.quantity == ASTRO_QUANTITY_POWER)
    place_products(places, config, astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL));
  else
    place_pols(places, &shape, strides);
}

/* ---- counts ---- */

static guint64 along(AstroValidityAxis axis, guint64 index)
{
  return index / axis.group * axis.stride;
}

void astro_flag_counts(AstroFlagCounts *counts, const AstroFlagConfig *config, guint64 steps,
                       const AstroValidityMeta *meta, const AstroFlagPlaces *places)
{
  static const AstroValidityAxis none = { .group = 1 };
  AstroLayout shape;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint64 strides[ASTRO_MAX_AXES];

  *counts = (AstroFlagCounts){ .time = none, .channel = none, .unit = none };
  if (!meta)
    return;
  astro_stream_shape(&config->in, steps, &shape);
  astro_layout_strides(&shape, strides);
  astro_validity_axes(meta, &shape, axes);
  const gboolean is_single = config->in.quantity == ASTRO_QUANTITY_SPECTRA &&
                             astro_layout_find(&shape, ASTRO_AXIS_BEAM) < 0;
  counts->counts = meta->counts;
  counts->least = is_single ? MAX(meta->full, 1) : 1;
  for (guint i = 0; i < shape.n_axes; i++) {
    if (shape.axes[i] == ASTRO_AXIS_TIME)
      counts->time = axes[i];
    else if (shape.axes[i] == ASTRO_AXIS_CHANNEL)
      counts->channel = axes[i];
    else if (shape.axes[i] == ASTRO_AXIS_POL)
      for (guint p = 0; p < places->parts; p++)
        counts->part[p] += along(axes[i], places->part[p] / strides[i] % shape.extents[i]);
    else
      counts->unit = axes[i];
  }
}

/* ---- checks ---- */

static gboolean check_kind(const AstroFlagConfig *config, GError **error)
{
  const AstroQuantity quantity = config->in.quantity;
  const gboolean samples = quantity == ASTRO_QUANTITY_POWER || quantity == ASTRO_QUANTITY_SPECTRA;
  switch (config->method) {
  case ASTRO_FLAG_KURTOSIS:
    return samples ||
           astro_backend_refuse(error,
                                "method=kurtosis of %s, expected spectra, or power with the "
                                "squares of its products: take method=threshold",
                                astro_quantity_name(quantity));
  case ASTRO_FLAG_THRESHOLD:
    return samples || quantity == ASTRO_QUANTITY_VISIBILITIES ||
           astro_backend_refuse(error,
                                "method=threshold of %s, expected spectra, power or visibilities",
                                astro_quantity_name(quantity));
  default:
    return samples || quantity == ASTRO_QUANTITY_VISIBILITIES ||
           quantity == ASTRO_QUANTITY_VOLTAGES ||
           astro_backend_refuse(error,
                                "flags for %s, expected voltages, spectra, power or visibilities",
                                astro_quantity_name(quantity));
  }
}

/* Whether a product of one polarisation, so that its power is exponential. */
static gboolean is_single(const char *product)
{
  return g_str_equal(product, "XX") || g_str_equal(product, "YY") || g_str_equal(product, "RR") ||
         g_str_equal(product, "LL");
}

static gboolean check_squares(const AstroFlagConfig *config, GError **error)
{
  guint squares = 0;
  for (guint i = 0; i < config->products.n; i++) {
    const gint square = astro_power_products_square(&config->products, i);
    if (square < 0)
      continue;
    squares++;
    if (!is_single(config->products.names[i]))
      return astro_backend_refuse(error,
                                  "method=kurtosis of product %s, whose kurtosis is not known: "
                                  "expected XX, YY, RR or LL with their squares (astropower "
                                  "products=XX:YY square=true)",
                                  config->products.names[i]);
  }
  return squares > 0 || astro_backend_refuse(
                            error, "method=kurtosis of power without squares: expected astropower "
                                   "square=true, or method=threshold");
}

static gboolean check_kurtosis(const AstroFlagConfig *config, GError **error)
{
  if (!(config->false_alarm > 0 && config->false_alarm < 1))
    return astro_backend_refuse(error, "false-alarm=%g, expected more than 0 and less than 1",
                                config->false_alarm);
  if (config->in.quantity == ASTRO_QUANTITY_POWER)
    return check_squares(config, error);
  if (config->in.format == ASTRO_FORMAT_CI4)
    return astro_backend_refuse(error,
                                "method=kurtosis of spectra of format CI4: rounding to 4 bits "
                                "changes the kurtosis of noise, expected astroflag before the "
                                "format is converted, or method=threshold");
  return config->block >= ASTRO_FLAG_LEAST_SAMPLES ||
         astro_backend_refuse(error,
                              "method=kurtosis with block=%u, expected at least %d spectra: fewer "
                              "say too little",
                              config->block, ASTRO_FLAG_LEAST_SAMPLES);
}

static gboolean check_threshold(const AstroFlagConfig *config, GError **error)
{
  if (!(config->threshold > 0 && config->threshold <= 100))
    return astro_backend_refuse(error, "threshold=%g, expected more than 0 and at most 100",
                                config->threshold);
  return (config->longest >= 1 && config->longest <= ASTRO_FLAG_LONGEST) ||
         astro_backend_refuse(error, "longest=%u, expected 1 to %d", config->longest,
                              ASTRO_FLAG_LONGEST);
}

static gboolean check_layout(const AstroFlagConfig *config, GError **error)
{
  const AstroLayout *layout = &config->in.layout;
  guint units = 0;
  for (guint i = 0; i < G_N_ELEMENTS(unit_axes); i++)
    units += astro_layout_find(layout, unit_axes[i]) >= 0;
  if (units <= 1)
    return TRUE;
  g_autofree char *text = astro_layout_to_string(layout);
  return astro_backend_refuse(error,
                              "layout %s, expected at most one axis of stations, beams or "
                              "baselines",
                              text);
}

/* Lists flag values of any format. */
static gboolean check_format(const AstroFlagConfig *config, GError **error)
{
  static const struct {
    AstroQuantity quantity;
    AstroFormat formats[5];
    const char *expected;
  } known[] = {
    { ASTRO_QUANTITY_SPECTRA,
      { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF16LE,
        ASTRO_FORMAT_CF32LE },
      "CI4, CI8, CI16LE, CF16LE or CF32LE" },
    { ASTRO_QUANTITY_POWER, { ASTRO_FORMAT_F32LE }, "F32LE" },
    { ASTRO_QUANTITY_VISIBILITIES,
      { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CI32LE },
      "CF32LE, CF64LE or CI32LE" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(known) && config->method != ASTRO_FLAG_LIST; i++) {
    if (known[i].quantity != config->in.quantity)
      continue;
    for (guint k = 0; k < G_N_ELEMENTS(known[i].formats); k++)
      if (known[i].formats[k] == config->in.format)
        return TRUE;
    return astro_backend_refuse(error, "%s of format %s, expected %s",
                                astro_quantity_name(config->in.quantity),
                                astro_format_name(config->in.format), known[i].expected);
  }
  return TRUE;
}

gboolean astro_flag_shape(gconstpointer configuration, GError **error)
{
  const AstroFlagConfig *config = configuration;
  if (!check_kind(config, error) || !check_format(config, error) || !check_layout(config, error))
    return FALSE;
  if (config->block < 1 || config->block > ASTRO_FLAG_MOST_BLOCK)
    return astro_backend_refuse(error, "block=%u, expected 1 to %d steps", config->block,
                                ASTRO_FLAG_MOST_BLOCK);
  return config->method == ASTRO_FLAG_KURTOSIS    ? check_kurtosis(config, error)
         : config->method == ASTRO_FLAG_THRESHOLD ? check_threshold(config, error)
                                                  : TRUE;
}

gboolean astro_flag_check_blocks(const AstroFlagConfig *config, const AstroBlock *in, guint n_in,
                                 guint n_out, const AstroFlagArguments *arguments,
                                 const AstroResult *result, GError **error)
{
  const gsize bytes = arguments->block_steps * astro_stream_step_bytes(&config->in);
  AstroLayout shape;
  if (n_in > 1 || n_out > 0 || (n_in && in[0].bytes != bytes) ||
      arguments->first + arguments->steps > arguments->block_steps)
    return astro_backend_refuse(error,
                                "flags: %u input and %u output blocks, expected one input block "
                                "of %" G_GSIZE_FORMAT " bytes",
                                n_in, n_out, bytes);
  if (astro_flag_has_blocks(config) && arguments->phase + arguments->steps > config->block)
    return astro_backend_refuse(
        error,
        "flags: steps %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " of a block, which has %u",
        arguments->phase, arguments->phase + arguments->steps, config->block);
  if (arguments->end && (!result || !result->own))
    return astro_backend_refuse(error, "flags: no room for the verdict");
  if (config->method == ASTRO_FLAG_KURTOSIS && config->in.quantity == ASTRO_QUANTITY_POWER &&
      n_in && !arguments->meta)
    return astro_backend_refuse(error,
                                "method=kurtosis of power without counts: the number of samples "
                                "behind its values is not known, expected power straight from "
                                "astropower, or a file that kept the counts");
  if (config->method == ASTRO_FLAG_KURTOSIS && config->in.quantity == ASTRO_QUANTITY_POWER &&
      n_in && arguments->meta->full < ASTRO_FLAG_LEAST_SAMPLES)
    return astro_backend_refuse(error,
                                "method=kurtosis of power of %u samples a value, expected at least "
                                "%d: take a longer integration in astropower",
                                arguments->meta->full, ASTRO_FLAG_LEAST_SAMPLES);
  astro_stream_shape(&config->in, arguments->block_steps, &shape);
  return !arguments->meta || astro_validity_check(arguments->meta, &shape, error);
}

/* ---- kurtosis ---- */

double astro_flag_coarse_power(AstroFormat format)
{
  /* Two components with a standard deviation of 2 steps each: rounding changes the kurtosis by
   * 0.00025. */
  return astro_format_info(format)->is_float ? 0 : 8;
}

guint8 astro_flag_judge_kurtosis(double m, double sum, double squares, double coarse, double low,
                                 double high)
{
  if (sum == 0) /* a receiver or channel that is off */
    return 0;
  if (sum < coarse * m)
    return ASTRO_FLAG_COARSE;
  const double kurtosis = (m + 1) / (m - 1) * (m * squares / (sum * sum) - 1);
  return kurtosis >= low && kurtosis <= high ? ASTRO_FLAG_JUDGED
                                             : ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD;
}
