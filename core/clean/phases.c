/* The deconvolution of one image: where peaks are looked for, and in which order. */
#include "config.h"
#include "core/clean/join.h"
#include "core/clean/method.h"

#include <math.h>
#include <string.h>

/* Noise is measured in squares of that many beams. */
#define NOISE_BEAMS 25
#define NOISE_LEAST 16 /* pixels: a square has to hold enough of them */

static gsize pixels(const AstroCleanWork *work)
{
  return (gsize)work->config->size * work->config->size;
}

/* Where there are several planes, those with a point-spread function that is not finite have no
 * share. */
static gboolean has_psf(const AstroCleanMethod *method, const AstroCleanWork *work)
{
  const gsize n = (gsize)work->config->in_size * work->config->in_size;
  for (gsize i = 0; i < n && !work->join; i++)
    if (!isfinite(astro_clean_at(method, work->psf, i)))
      return FALSE;
  return !work->join || astro_clean_join_has_data(work->join);
}

/* Pixels that are NaN or infinite become NaN, which stays NaN and compares as not greater, so that
 * no peak is found there. FALSE if there is no other pixel where peaks are looked for. */
static gboolean mark_bad_pixels(const AstroCleanMethod *method, const AstroCleanWork *work,
                                const guint8 *mask)
{
  const guint size = work->config->size, border = work->config->border;
  const gsize n = pixels(work) * astro_clean_planes_of(work);
  gboolean any = FALSE;
  for (gsize i = 0; i < n; i++)
    if (!isfinite(astro_clean_at(method, work->residual, i)))
      astro_clean_put(method, work->residual, i, NAN);
  astro_clean_search_sum(method, work);
  for (guint y = 0; y < size; y++)
    for (guint x = 0; x < size; x++) {
      const gsize at = (gsize)y * size + x;
      if (isfinite(astro_clean_at(method, work->search, at)) && (!mask || mask[at]))
        any |= MIN(x, y) >= border && MAX(x, y) < size - border;
    }
  return any;
}

static gpointer weight_of_mask(const AstroCleanMethod *method, gsize n, const guint8 *mask)
{
  gpointer weight = mask ? g_malloc(n * astro_clean_bytes(method)) : NULL;
  for (gsize i = 0; mask && i < n; i++)
    astro_clean_put(method, weight, i, mask[i] ? 1 : 0);
  return weight;
}

static AstroCleanResult cycle(const AstroCleanMethod *method, const AstroCleanWork *work,
                              const AstroCleanLimits *limits)
{
  return work->config->n_scales ? astro_clean_multiscale(method, work, limits)
                                : method->cycle(work, limits);
}

/* Adds what further cycles did. */
static void add(AstroCleanResult *all, const AstroCleanResult *part, AstroCleanLimits *limits)
{
  const AstroCleanResult before = *all;
  *all = *part;
  all->iterations += before.iterations;
  all->flux += before.flux;
  if (before.first > 0)
    all->first = before.first;
  limits->iterations -= part->iterations;
  limits->highest = all->first;
}

static gboolean has_flux(const AstroCleanMethod *method, const AstroCleanWork *work, gsize at)
{
  for (guint plane = 0; plane < astro_clean_planes_of(work); plane++)
    if (astro_clean_at(method, work->model, plane * pixels(work) + at) != 0)
      return TRUE;
  return FALSE;
}

/* Gives weight only to pixels that have flux in the model. FALSE if none has. */
static gboolean keep_model(const AstroCleanMethod *method, const AstroCleanWork *work,
                           const guint8 *mask, gpointer weight)
{
  gboolean any = FALSE;
  for (gsize i = 0; i < pixels(work); i++) {
    const gboolean kept = has_flux(method, work, i) && (!mask || mask[i]);
    astro_clean_put(method, weight, i, kept ? 1 : 0);
    any |= kept;
  }
  return any;
}

/* The noise is measured anew after each run of cycles, since sidelobes hide it at first. */
static void clean_what_stands_out(const AstroCleanMethod *method, const AstroCleanWork *work,
                                  const AstroCleanArguments *arguments, gpointer weight,
                                  AstroCleanLimits *limits, AstroCleanResult *all)
{
  const guint width = MAX((guint)MIN(NOISE_BEAMS * arguments->major, 1e6), NOISE_LEAST);
  AstroCleanResult part;
  do {
    limits->noise = astro_clean_even_noise(method, work->config, work->search, width, weight);
    for (gsize i = 0; arguments->mask && i < pixels(work); i++)
      if (!arguments->mask[i])
        astro_clean_put(method, weight, i, 0);
    part = cycle(method, work, limits);
    add(all, &part, limits);
  } while (part.end == ASTRO_CLEAN_NOISE && part.iterations > 0);
}

static AstroCleanResult clean_by_auto_mask(const AstroCleanMethod *method,
                                           const AstroCleanWork *work,
                                           const AstroCleanArguments *arguments,
                                           AstroCleanLimits limits)
{
  const double times = limits.times;
  const gconstpointer mask = limits.weight;
  AstroCleanResult all = { 0 };
  g_autofree gpointer weight = g_malloc(pixels(work) * astro_clean_bytes(method));
  limits.weight = weight;
  limits.times = work->config->auto_mask;
  clean_what_stands_out(method, work, arguments, weight, &limits, &all);
  if (all.end == ASTRO_CLEAN_NOISE) {
    const gboolean any = keep_model(method, work, arguments->mask, weight);
    limits.noise = 0;
    limits.times = times;
    const AstroCleanResult part = cycle(method, work, &limits);
    add(&all, &part, &limits);
    if (!any)
      all.end = ASTRO_CLEAN_NOISE;
  }
  all.peak = method->peak(work, mask);
  return all;
}

AstroCleanResult astro_clean_image(const AstroCleanMethod *method, const AstroCleanWork *work,
                                   const AstroCleanArguments *arguments)
{
  const AstroCleanConfig *config = work->config;
  AstroCleanResult result = { .end = ASTRO_CLEAN_EMPTY };

  memset(work->model, 0, pixels(work) * astro_clean_planes_of(work) * astro_clean_bytes(method));
  if (!has_psf(method, work) || !mark_bad_pixels(method, work, arguments->mask))
    return result;
  g_autofree gpointer weight = weight_of_mask(method, pixels(work), arguments->mask);
  const AstroCleanLimits limits = { .weight = weight,
                                    .iterations = config->iterations,
                                    .threshold = config->threshold,
                                    .times = config->auto_threshold,
                                    .fraction = config->fraction };
  result = config->auto_mask > 0 ? clean_by_auto_mask(method, work, arguments, limits)
                                 : cycle(method, work, &limits);
  if (!config->n_scales && result.end != ASTRO_CLEAN_INTERRUPTED)
    method->subtract(work, TRUE);
  return result;
}
