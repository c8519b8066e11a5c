/* The sums of an integration, and the visibilities made from them. */
#include "core/correlator/sums.h"
#include "core/backend/threads.h"
#include "core/kit/pages.h"
#include <stdlib.h>
#include <string.h>

/* The CPU packs so many at once; a device reads them in place once they are worth reading and
 * writing all sums, 8 N^2 bytes a channel for N inputs, where gathering takes 4 N bytes a step. */
guint64 astro_correlator_part_steps(const AstroCorrelatorConfig *config, gboolean on_device)
{
  const guint64 inputs = (guint64)config->stations * config->pols, all = config->integration;
  const guint64 least = on_device ? MAX(2 * inputs, 256) : 256;
  for (guint64 parts = all / least; parts > 1; parts--)
    if (all % parts == 0)
      return all / parts;
  return all;
}

guint64 astro_correlator_baselines(guint stations, AstroTriangle triangle)
{
  guint64 n = stations;
  return triangle == ASTRO_TRIANGLE_FULL ? n * n : n * (n + 1) / 2;
}

gsize astro_correlator_output_bytes(const AstroCorrelatorConfig *config)
{
  return config->channels / config->channel_step *
         astro_correlator_baselines(config->stations, config->triangle) * config->pols *
         config->pols * 8;
}

static gboolean sums_bytes(const AstroCorrelatorConfig *config, gsize *bytes)
{
  gsize n;
  return g_size_checked_mul(&n, astro_correlator_channel_sums(config), config->channels) &&
         g_size_checked_mul(bytes, n, 2 * sizeof(gint64));
}

/* Integrations within a single block never touch the sums, which then take no memory. */
gboolean astro_correlator_sums_new(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config,
                                   GError **error)
{
  gsize bytes;
  sums->any = sums_bytes(config, &bytes) ? astro_pages_zeros(bytes) : NULL;
  if (!sums->any)
    return astro_backend_no_memory(
        error, "no memory for the sums of %u stations, %u polarisations and %u channels: %.3g GB",
        config->stations, config->pols, config->channels,
        16e-9 * astro_correlator_channel_sums(config) * config->channels);
  return TRUE;
}

void astro_correlator_sums_free(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config)
{
  gsize bytes;
  if (sums->any && sums_bytes(config, &bytes))
    astro_pages_zeros_free(sums->any, bytes);
  sums->any = NULL;
}

void astro_correlator_strides(AstroCorrelatorStrides *strides, const AstroCorrelatorConfig *config,
                              guint64 steps)
{
  const AstroLayout *layout = &config->layout;
  gsize stride = astro_format_info(config->from)->bytes;
  *strides = (AstroCorrelatorStrides){ 0, 0, 0, 0 };
  for (guint i = layout->n_axes; i-- > 0;) {
    guint64 extent = layout->extents[i];
    switch (layout->axes[i]) {
    case ASTRO_AXIS_TIME:
      strides->time = stride;
      extent = steps;
      break;
    case ASTRO_AXIS_CHANNEL:
      strides->channel = stride;
      break;
    case ASTRO_AXIS_STATION:
      strides->station = stride;
      break;
    default:
      strides->pol = stride;
      break;
    }
    stride *= extent;
  }
  if (astro_layout_find(layout, ASTRO_AXIS_TIME) < 0)
    strides->time = stride; /* blocks of whole frames: time comes first */
}

gboolean astro_correlator_check_blocks(const AstroCorrelatorConfig *config, const AstroBlock *in,
                                       guint n_in, const AstroBlock *out, guint n_out,
                                       const AstroCorrelatorArguments *arguments, GError **error)
{
  guint64 step = (guint64)config->channels * config->stations * config->pols *
                 astro_format_info(config->from)->bytes;
  if (n_in > 1 || (n_in == 0 && arguments->count > 0) || (arguments->dump && n_out != 1))
    return astro_backend_refuse(
        error, "%u blocks in and %u out, expected one of spectra and for a dump one out", n_in,
        n_out);
  if (arguments->first > arguments->steps || arguments->count > arguments->steps - arguments->first)
    return astro_backend_refuse(error,
                                "time steps %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                                " more are not within a block of %" G_GUINT64_FORMAT,
                                arguments->first, arguments->count, arguments->steps);
  if (n_in && in[0].bytes / step < arguments->steps)
    return astro_backend_refuse(error,
                                "a block of %" G_GSIZE_FORMAT
                                " bytes does not hold %" G_GUINT64_FORMAT
                                " time steps of %" G_GUINT64_FORMAT " bytes",
                                in[0].bytes, arguments->steps, step);
  if (arguments->dump && out[0].bytes < astro_correlator_output_bytes(config))
    return astro_backend_refuse(error,
                                "a block of %" G_GSIZE_FORMAT
                                " bytes does not hold visibilities of %" G_GSIZE_FORMAT " bytes",
                                out[0].bytes, astro_correlator_output_bytes(config));
  return TRUE;
}

typedef struct {
  const AstroCorrelatorConfig *config;
  AstroCorrelatorSums sums;
  const AstroCorrelatorCounts *counts;
  gpointer out;
  gboolean is_float;
  AstroCorrelatorMeans means;
  gint failed; /* channel whose sums do not fit, plus 1; 0: none */
} Dump;

/* The sum of one product over a group of channels. */
typedef struct {
  gint64 re, im;
  double real_re, real_im;
} Total;

static inline Total total(const Dump *dump, guint group, guint64 index)
{
  guint64 stride = astro_correlator_channel_sums(dump->config);
  guint step = dump->config->channel_step;
  guint64 at = group * (guint64)step * stride + index;
  Total sum = { 0, 0, 0, 0 };
  for (guint c = 0; c < step; c++, at += stride) {
    if (dump->is_float) {
      sum.real_re += dump->sums.real[2 * at];
      sum.real_im += dump->sums.real[2 * at + 1];
    } else {
      sum.re += dump->sums.integer[2 * at];
      sum.im += dump->sums.integer[2 * at + 1];
    }
  }
  if (!dump->is_float) {
    sum.real_re = (double)sum.re;
    sum.real_im = (double)sum.im;
  }
  return sum;
}

/* Finds sums beyond int32 before anything is written. In a full triangle the lowest int32 is also
 * refused, as it cannot be conjugated. */
static void check_group(gpointer data, guint64 group)
{
  Dump *dump = data;
  gint64 least = dump->config->triangle == ASTRO_TRIANGLE_FULL ? -G_MAXINT32 : G_MININT32;
  guint64 n = astro_correlator_channel_sums(dump->config);
  for (guint64 i = 0; i < n; i++) {
    Total sum = total(dump, (guint)group, i);
    if (sum.re != (gint32)sum.re || sum.im > G_MAXINT32 || sum.im < least) {
      g_atomic_int_set(&dump->failed, (gint)(group + 1));
      return;
    }
  }
}

static inline void put(const Dump *dump, guint64 at, Total sum, guint64 count, gint sign)
{
  if (dump->config->to == ASTRO_FORMAT_CI32LE) {
    gint32 *out = (gint32 *)dump->out + 2 * at;
    out[0] = (gint32)sum.re;
    out[1] = (gint32)(sign * sum.im);
    return;
  }
  float *out = (float *)dump->out + 2 * at;
  double factor = count ? 1 / (double)count : 0;
  out[0] = (float)(sum.real_re * factor);
  out[1] = (float)(sign * sum.real_im * factor);
}

static void write_group(gpointer data, guint64 group)
{
  Dump *dump = data;
  const AstroCorrelatorConfig *config = dump->config;
  guint pols = config->pols;
  gboolean full = config->triangle == ASTRO_TRIANGLE_FULL;
  guint64 base = group * astro_correlator_baselines(config->stations, config->triangle);
  guint64 baseline = 0;
  for (guint i = 0; i < config->stations; i++)
    for (guint j = 0; j <= i; j++, baseline++) {
      guint64 count =
          astro_correlator_counts_good(dump->counts, config->channel_step, (guint)group, baseline);
      guint64 lower = base + (full ? (guint64)i * config->stations + j : baseline);
      guint64 upper = base + (guint64)j * config->stations + i;
      for (guint p = 0; p < pols; p++)
        for (guint q = 0; q < pols; q++) {
          Total sum = total(dump, (guint)group, (baseline * pols + p) * pols + q);
          put(dump, (lower * pols + p) * pols + q, sum, count, 1);
          if (full && j < i)
            put(dump, (upper * pols + q) * pols + p, sum, count, -1);
        }
    }
}

static void clear_group(gpointer data, guint64 group)
{
  const Dump *dump = data;
  guint64 n = 2 * astro_correlator_channel_sums(dump->config) * dump->config->channel_step;
  memset(dump->sums.integer + group * n, 0, n * sizeof(gint64));
}

/* The same if nothing was lost, and sums and means are in the same order. */
static void write_means(gpointer data, guint64 channel)
{
  Dump *dump = data;
  guint64 n = 2 * astro_correlator_channel_sums(dump->config);
  dump->means((float *)dump->out + channel * n, dump->sums.integer + channel * n, n,
              1 / (double)dump->counts->samples);
}

void astro_correlator_clear(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                            AstroCorrelatorCounts *counts)
{
  if (counts->samples > 0)
    memset(sums.any, 0,
           astro_correlator_channel_sums(config) * config->channels * 2 * sizeof(gint64));
  astro_correlator_counts_reset(counts);
}

gboolean astro_correlator_plain(const AstroCorrelatorConfig *config,
                                const AstroCorrelatorCounts *counts)
{
  return config->to == ASTRO_FORMAT_CF32LE && config->channel_step == 1 &&
         config->triangle == ASTRO_TRIANGLE_LOWER && counts->tables == 0 && counts->samples > 0;
}

void astro_correlator_end(const AstroCorrelatorConfig *config, AstroCorrelatorCounts *counts,
                          const AstroCorrelatorTold *told)
{
  astro_correlator_counts_tell(counts, config, told);
  astro_correlator_counts_reset(counts);
}

gboolean astro_correlator_dump(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                               AstroCorrelatorCounts *counts, gpointer out,
                               AstroCorrelatorMeans means, guint threads,
                               const AstroCorrelatorTold *told, GError **error)
{
  guint groups = config->channels / config->channel_step;
  Dump dump = {
    .config = config,
    .sums = sums,
    .counts = counts,
    .out = out,
    .is_float = astro_format_info(config->from)->is_float,
    .means = means,
  };
  gboolean plain = astro_correlator_plain(config, counts);
  if (config->to == ASTRO_FORMAT_CI32LE)
    astro_parallel(groups, threads, check_group, &dump);
  if (dump.failed)
    astro_correlator_refuse_sum(config, counts, (guint)(dump.failed - 1) * config->channel_step,
                                error);
  else if (plain)
    astro_parallel(groups, threads, write_means, &dump);
  else
    astro_parallel(groups, threads, write_group, &dump);
  if (!plain) /* means have cleared them */
    astro_parallel(groups, threads, clear_group, &dump);
  astro_correlator_end(config, counts, told);
  return !dump.failed;
}
