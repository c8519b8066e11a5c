/* Checks the configuration and calls of a transform, and divides it into passes. */
#include "config.h"
#include "core/lib/fft/check.h"

/* FFTW's lengths are int. */
#define MOST_SAMPLES ((guint64)1 << 30)

/* The wanted range is widened to whole cache lines, since these are what is copied. */
#define WANTED_GRAIN 16

static gboolean is_real(AstroFormat format)
{
  return !astro_format_info(format)->is_complex;
}

static guint component_bytes(AstroFormat format)
{
  return astro_format_info(format)->bytes / (is_real(format) ? 1 : 2);
}

static gboolean is_taken(AstroFormat format)
{
  return format > ASTRO_FORMAT_UNKNOWN && format < ASTRO_N_FORMATS &&
         astro_format_info(format)->is_float && component_bytes(format) >= sizeof(float);
}

gint astro_fft_halved(const AstroFftConfig *config)
{
  if (is_real(config->from) || is_real(config->to))
    for (gint i = (gint)config->n_axes - 1; i >= 0; i--)
      if (config->axes[i].transformed)
        return i;
  return -1;
}

guint64 astro_fft_extent(const AstroFftConfig *config, guint axis, gboolean out)
{
  gboolean halved =
      (gint)axis == astro_fft_halved(config) && !is_real(out ? config->to : config->from);
  return halved ? config->extents[axis] / 2 + 1 : config->extents[axis];
}

/* Blank lines must be known before they are transformed: those along u come first. */
static gboolean check_map(const AstroFftConfig *config, GError **error)
{
  const guint n = config->n_axes;
  guint64 grids = 1;
  gboolean others = FALSE;

  if (config->share_map == 0)
    return TRUE;
  for (guint i = 0; i + 2 < n; i++) {
    grids *= config->extents[i];
    others |= config->axes[i].transformed;
  }
  if (n >= 2 && config->axes[n - 1].transformed && config->extents[n - 1] > 1 && !others &&
      config->extents[n - 2] && config->extents[n - 2] <= MOST_SAMPLES && !is_real(config->from) &&
      !is_real(config->to) && grids && grids % config->share_map == 0)
    return TRUE;
  return astro_backend_refuse(
      error,
      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " grids with %u axes share a map of "
      "touched tiles, expected a divisor of the number of complex grids of fixed size that are "
      "transformed along the last axis, or the last two",
      config->share_map, grids, n);
}

gboolean astro_fft_check(gconstpointer given, GError **error)
{
  const AstroFftConfig *config = given;
  guint n_transformed = 0, n_free = 0;

  if (!is_taken(config->from) || !is_taken(config->to) ||
      component_bytes(config->from) != component_bytes(config->to))
    return astro_backend_refuse(
        error,
        "%s to %s is not a Fourier transform, expected CF32LE, CF64LE, F32LE or F64LE of one "
        "precision (astroconvert converts to them)",
        astro_format_info(config->from)->name, astro_format_info(config->to)->name);
  if ((is_real(config->from) && is_real(config->to)) ||
      (is_real(config->from) && config->inverse) || (is_real(config->to) && !config->inverse))
    return astro_backend_refuse(
        error,
        "%s to %s %s: real samples are transformed forward to complex ones, or inverse "
        "from them",
        astro_format_info(config->from)->name, astro_format_info(config->to)->name,
        config->inverse ? "inverse" : "forward");
  for (guint i = 0; i < config->n_axes; i++) {
    const AstroFftAxis *axis = &config->axes[i];
    n_transformed += axis->transformed;
    n_free += config->extents[i] == 0;
    if (!axis->transformed)
      continue;
    if (config->extents[i] == 0 || config->extents[i] > MOST_SAMPLES ||
        axis->origin_in >= config->extents[i] || axis->origin_out >= config->extents[i])
      return astro_backend_refuse(
          error, "a transform of %" G_GUINT64_FORMAT " samples, expected 1 to %" G_GUINT64_FORMAT,
          config->extents[i], MOST_SAMPLES);
    guint64 made = astro_fft_extent(config, i, TRUE);
    if (axis->n_wanted > made || axis->wanted > made - axis->n_wanted)
      return astro_backend_refuse(error,
                                  "%" G_GUINT64_FORMAT " samples wanted from %" G_GUINT64_FORMAT
                                  " on, but the transform has only %" G_GUINT64_FORMAT,
                                  axis->n_wanted, axis->wanted, made);
  }
  gint halved = astro_fft_halved(config);
  if (halved >= 0 && (is_real(config->from) ? config->axes[halved].origin_out
                                            : config->axes[halved].origin_in) != 0)
    return astro_backend_refuse(error,
                                "the bins of real samples begin at zero: they cannot be centred");
  if (n_transformed == 0 || n_free > 1)
    return astro_backend_refuse(
        error, "a transform along %u axes with %u free ones, expected 1 or more, and at most 1",
        n_transformed, n_free);
  return check_map(config, error);
}

static gsize block_bytes(const AstroFftConfig *config, guint64 steps, gboolean out)
{
  gsize bytes = astro_format_info(out ? config->to : config->from)->bytes * steps;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->extents[i])
      bytes *= astro_fft_extent(config, i, out);
  return bytes;
}

static gsize map_bytes(const AstroFftConfig *config, guint64 steps)
{
  const guint n = config->n_axes;
  gsize maps = steps;

  for (guint i = 0; i + 2 < n; i++)
    maps *= config->extents[i];
  return maps / config->share_map * astro_grid_tiles((guint)config->extents[n - 2]) *
         astro_grid_tiles((guint)config->extents[n - 1]);
}

gboolean astro_fft_check_call(const AstroFftConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out, const guint64 *steps,
                              GError **error)
{
  gsize bytes_in = block_bytes(config, *steps, FALSE),
        bytes_out = block_bytes(config, *steps, TRUE);

  if (config->share_map && n_in == 2) {
    if (in[1].bytes < map_bytes(config, *steps))
      return astro_backend_refuse(
          error, "maps of touched tiles of %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT,
          in[1].bytes, map_bytes(config, *steps));
    n_in = 1;
  }
  if (n_in == 1 && n_out == 1 && in->bytes >= bytes_in && out->bytes >= bytes_out)
    return TRUE;
  return astro_backend_refuse(
      error,
      "%u blocks in and %u out of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
      " bytes, expected one of %" G_GSIZE_FORMAT " and one of %" G_GSIZE_FORMAT,
      n_in, n_out, n_in ? in->bytes : 0, n_out ? out->bytes : 0, bytes_in, bytes_out);
}

gboolean astro_fft_touched(const AstroFftConfig *config, const AstroBlock *in, guint n_in,
                           AstroFftTouched *touched)
{
  const guint n = config->n_axes;

  if (!config->share_map || n_in < 2)
    return FALSE;
  *touched = (AstroFftTouched){ .map = in[1].data,
                                .share = config->share_map,
                                .rows = config->extents[n - 2],
                                .tiles = astro_grid_tiles((guint)config->extents[n - 1]) };
  return TRUE;
}

static void find_wanted(const AstroFftAxis *axis, guint64 n, guint64 *first, guint64 *count)
{
  guint64 end = axis->n_wanted ? axis->wanted + axis->n_wanted : n;

  *first = axis->wanted / WANTED_GRAIN * WANTED_GRAIN;
  *count = MIN((end + WANTED_GRAIN - 1) / WANTED_GRAIN * WANTED_GRAIN, n) - *first;
}

/* In passes along other axes only the wanted part of the last axis is computed, if that has been
 * transformed before. */
static void find_lines(const AstroFftConfig *config, guint64 last_extent, gboolean is_last,
                       AstroFftPass *pass)
{
  const AstroFftAxis *last = &config->axes[config->n_axes - 1];

  pass->period = pass->n_lines = pass->inner;
  pass->first_line = 0;
  if (is_last || !last->transformed || is_real(config->to))
    return;
  pass->period = last_extent;
  find_wanted(last, last_extent, &pass->first_line, &pass->n_lines);
}

guint astro_fft_passes(const AstroFftConfig *config, guint64 steps,
                       AstroFftPass passes[ASTRO_MAX_AXES])
{
  gint halved = astro_fft_halved(config);
  gboolean has_free = FALSE;
  guint n = 0;

  for (guint i = 0; i < config->n_axes; i++)
    has_free |= config->extents[i] == 0;
  /* Start with the last axis, whose lines are contiguous, unless that one must come last. */
  for (guint k = 0; k < config->n_axes; k++) {
    guint a = is_real(config->to) ? k : config->n_axes - 1 - k;
    const AstroFftAxis *axis = &config->axes[a];
    if (!axis->transformed)
      continue;
    AstroFftPass *pass = &passes[n++];
    gboolean real = (gint)a == halved;
    *pass = (AstroFftPass){ .outer = has_free ? 1 : steps,
                            .inner = 1,
                            .n = config->extents[a],
                            .n_in = astro_fft_extent(config, a, FALSE),
                            .n_out = astro_fft_extent(config, a, TRUE),
                            .origin_in = axis->origin_in,
                            .origin_out = axis->origin_out,
                            .real_in = real && is_real(config->from),
                            .real_out = real && is_real(config->to),
                            .inverse = config->inverse };
    /* Every other axis has the length that it has on the complex side, since the pass with the real
     * side is first or last. */
    for (guint b = 0; b < config->n_axes; b++) {
      guint64 extent = config->extents[b] ? config->extents[b] : steps;
      if ((gint)b == halved)
        extent = config->extents[b] / 2 + 1;
      *(b < a ? &pass->outer : &pass->inner) *= b == a ? 1 : extent;
    }
    find_wanted(axis, pass->n_out, &pass->wanted, &pass->n_wanted);
    find_lines(config, astro_fft_extent(config, config->n_axes - 1, TRUE), a + 1 == config->n_axes,
               pass);
  }
  return n;
}
