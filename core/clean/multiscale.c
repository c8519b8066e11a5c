/* Components of several sizes: the scale with the highest peak is worked on for a while, then the
 * residual is brought up to date and the scales are compared again. */
#include "config.h"
#include "core/clean/join.h"
#include "core/clean/method.h"
#include "core/clean/stop.h"

#include <math.h>
#include <string.h>

/* A scale is left when its peaks have fallen to this part of the first. */
#define SUBLOOP 0.8

/* Peaks count for more by 1 / BIAS for each factor of two in scale, from the smallest size above 0
 * on, which counts as a point does: otherwise points would be taken for small extended sources. */
#define BIAS 0.6

/* A Gaussian's standard deviation, in units of its scale. */
#define WIDTH (3 / 16.)

/* Inner cycles end a little below the level at which the outer loop ends, so that rounding cannot
 * keep it from moving on. */
#define BELOW (1 - 1e-6)

/* A scale is left out if the array hardly sees it: less than this part of the flux of a component
 * shows in the image, and noise would be taken for large components. */
#define VISIBLE 1e-3

typedef struct {
  const AstroCleanMethod *method;
  const AstroCleanWork *work;
  gpointer smoothed;          /* the residual, at the scale that is looked at */
  gpointer mean;              /* of several planes: the same of their mean, else smoothed */
  gpointer found;             /* components of one run of cycles */
  gpointer drawn;             /* those of a plane, with their size */
  gpointer spread, spread_on; /* the point-spread functions, smoothed once and twice */
  guint smoothed_to;          /* the scale that those are for, plus 1; 0: none */
  double centre;              /* the middle of spread_on before it was made 1 */
  AstroCleanJoin *join;       /* of several planes: for this scale */
  gboolean is_left_out[ASTRO_CLEAN_MOST_SCALES];
} Scales;

guint astro_clean_radius(double scale)
{
  return (guint)ceil(4 * WIDTH * scale);
}

static gsize bytes_of(const Scales *scales, guint size)
{
  return (gsize)size * size * astro_clean_bytes(scales->method);
}

static void init(Scales *scales, const AstroCleanMethod *method, const AstroCleanWork *work)
{
  const AstroCleanConfig *config = work->config;
  *scales = (Scales){ .method = method, .work = work };
  const guint planes = astro_clean_planes_of(work);
  scales->smoothed = g_malloc(planes * bytes_of(scales, config->size));
  scales->mean = work->join ? g_malloc(bytes_of(scales, config->size)) : scales->smoothed;
  scales->found = g_malloc(planes * bytes_of(scales, config->size));
  scales->drawn = g_malloc(bytes_of(scales, config->size));
  scales->spread = g_malloc(planes * bytes_of(scales, config->in_size));
  scales->spread_on = g_malloc(planes * bytes_of(scales, config->in_size));
}

static void clear(Scales *scales)
{
  g_clear_pointer(&scales->join, astro_clean_join_free);
  if (scales->work->join)
    g_free(scales->mean);
  g_free(scales->smoothed);
  g_free(scales->found);
  g_free(scales->drawn);
  g_free(scales->spread);
  g_free(scales->spread_on);
}

static double scale_of(const Scales *scales, guint number)
{
  return scales->work->config->scales[number];
}

/* Where components of a scale are looked for: all of them has to be inside the border. */
static AstroCleanConfig config_of(const Scales *scales, guint number)
{
  AstroCleanConfig config = *scales->work->config;
  config.border += astro_clean_radius(scale_of(scales, number));
  return config;
}

static double bias_of(const Scales *scales, guint number)
{
  const double scale = scale_of(scales, number), first = scale_of(scales, 0);
  const double smallest = first > 0 ? first : scale_of(scales, 1);
  return scale > 0 ? pow(BIAS, -log2(scale / smallest)) : 1;
}

static void smooth(const Scales *scales, guint number, gconstpointer in, guint size, gpointer out)
{
  const double scale = scale_of(scales, number);
  if (scale > 0)
    scales->method->smooth(in, size, WIDTH * scale, astro_clean_radius(scale),
                           scales->work->threads, out);
  else
    memcpy(out, in, bytes_of(scales, size));
}

/* The residual at a scale, to be cleaned there. */
static AstroCleanWork work_at(const Scales *scales, const AstroCleanConfig *config)
{
  AstroCleanWork work = *scales->work;
  work.config = config;
  work.psf = scales->spread_on;
  work.psf_step = (gsize)config->in_size * config->in_size;
  work.search = scales->mean;
  work.join = scales->join;
  work.residual = scales->smoothed;
  work.model = scales->found;
  return work;
}

static double peak_at(const Scales *scales, guint number, gconstpointer weight)
{
  const AstroCleanConfig config = config_of(scales, number);
  const AstroCleanWork work = work_at(scales, &config);
  smooth(scales, number, scales->work->search, config.size, scales->mean);
  return scales->method->peak(&work, weight);
}

/* The scale with the highest peak, which is returned with its bias. */
static double find_scale(const Scales *scales, gconstpointer weight, guint *best)
{
  double highest = -1;
  for (guint i = 0; i < scales->work->config->n_scales; i++) {
    if (scales->is_left_out[i])
      continue;
    const double peak = bias_of(scales, i) * peak_at(scales, i, weight);
    if (peak > highest) {
      highest = peak;
      *best = i;
    }
  }
  return highest;
}

static void multiply(const Scales *scales, gpointer values, guint size, double factor)
{
  for (gsize i = 0; i < (gsize)size * size; i++)
    astro_clean_put(scales->method, values, i, factor * astro_clean_at(scales->method, values, i));
}

/* Number `plane` of images that stand one after another. */
static gpointer plane_of(const Scales *scales, gconstpointer images, guint plane, guint size)
{
  return (guint8 *)images + plane * bytes_of(scales, size);
}

/* The response to a component, and to one in the smoothed residual, whose middle is returned. */
static double smooth_psf(Scales *scales, guint number, guint plane)
{
  const AstroCleanWork *work = scales->work;
  const guint size = work->config->in_size;
  const gsize middle = (gsize)(size / 2) * size + size / 2;
  const gconstpointer psf =
      (guint8 *)work->psf + plane * work->psf_step * astro_clean_bytes(scales->method);
  gpointer once = plane_of(scales, scales->spread, plane, size);
  gpointer twice = plane_of(scales, scales->spread_on, plane, size);
  smooth(scales, number, psf, size, once);
  smooth(scales, number, once, size, twice);
  return astro_clean_at(scales->method, twice, middle);
}

/* The middle of a single plane's response is made 1, so that the gain means what it says. Those of
 * several planes differ, and the fluxes of components are worked out with them. */
static void prepare(Scales *scales, guint number)
{
  const AstroCleanJoin *join = scales->work->join;
  const guint planes = astro_clean_planes_of(scales->work);
  g_autofree double *middles = g_new0(double, planes);
  if (scales->smoothed_to == number + 1)
    return;
  for (guint plane = 0; plane < planes; plane++)
    if (astro_clean_share(scales->work, plane) > 0)
      middles[plane] = smooth_psf(scales, number, plane);
  g_clear_pointer(&scales->join, astro_clean_join_free);
  scales->join = join ? astro_clean_join_for(join, middles) : NULL;
  const double whole = scales->join ? astro_clean_join_response(scales->join) : middles[0];
  scales->smoothed_to = number + 1;
  scales->is_left_out[number] = !(whole > VISIBLE) || (join && !scales->join);
  scales->centre = join ? 1 : whole;
  if (!scales->is_left_out[number] && !join)
    multiply(scales, scales->spread_on, scales->work->config->in_size, 1 / scales->centre);
}

/* Draws a plane's components with their size. Returns their flux. */
static double add_to_model(Scales *scales, guint number, guint plane)
{
  const guint size = scales->work->config->size;
  gpointer model = plane_of(scales, scales->work->model, plane, size);
  double flux = 0;
  smooth(scales, number, plane_of(scales, scales->found, plane, size), size, scales->drawn);
  for (gsize i = 0; i < (gsize)size * size; i++) {
    const double part = astro_clean_at(scales->method, scales->drawn, i);
    flux += part;
    if (part != 0)
      astro_clean_put(scales->method, model, i, astro_clean_at(scales->method, model, i) + part);
  }
  return flux;
}

/* Takes what was found at a scale out of the residual, and adds it to the model. Returns its flux.
 */
static double take_out(Scales *scales, guint number)
{
  const AstroCleanConfig *config = scales->work->config;
  AstroCleanWork work = *scales->work;
  double flux = 0;
  if (!work.join)
    multiply(scales, scales->found, config->size, 1 / scales->centre);
  work.psf = scales->spread;
  work.psf_step = (gsize)config->in_size * config->in_size;
  work.model = scales->found;
  scales->method->subtract(&work, FALSE);
  astro_clean_search_sum(scales->method, scales->work);
  for (guint plane = 0; plane < astro_clean_planes_of(&work); plane++)
    flux += astro_clean_share(&work, plane) * add_to_model(scales, number, plane);
  return flux;
}

/* level: where the outer loop ends, Jy/beam with the scale's bias. */
static AstroCleanResult clean_at(Scales *scales, guint number, const AstroCleanLimits *limits,
                                 guint iterations, double level)
{
  const AstroCleanConfig config = config_of(scales, number);
  const guint planes = astro_clean_planes_of(scales->work);
  const AstroCleanLimits inner = { .weight = limits->weight,
                                   .iterations = iterations,
                                   .threshold = BELOW * level / bias_of(scales, number),
                                   .noise = G_MINDOUBLE, /* it is not asked for here */
                                   .fraction = SUBLOOP };
  prepare(scales, number);
  if (scales->is_left_out[number])
    return (AstroCleanResult){ 0 };
  for (guint plane = 0; plane < planes; plane++)
    smooth(scales, number, plane_of(scales, scales->work->residual, plane, config.size),
           config.size, plane_of(scales, scales->smoothed, plane, config.size));
  memset(scales->found, 0, planes * bytes_of(scales, config.size));
  const AstroCleanWork work = work_at(scales, &config);
  astro_clean_search_sum(scales->method, &work);
  AstroCleanResult result = scales->method->cycle(&work, &inner);
  result.flux = take_out(scales, number);
  return result;
}

AstroCleanResult astro_clean_multiscale(const AstroCleanMethod *method, const AstroCleanWork *work,
                                        const AstroCleanLimits *limits)
{
  AstroCleanResult result = { 0 };
  AstroCleanStop stop;
  Scales scales;

  init(&scales, method, work);
  astro_clean_stop_init(&stop, work, limits, method->is_double);
  for (;;) {
    guint best = 0;
    const double peak = find_scale(&scales, limits->weight, &best);
    if (astro_clean_stop(&stop, peak, &result))
      break;
    const double highest = limits->highest > 0 ? limits->highest : result.first;
    const double level =
        MAX(MAX(limits->threshold, limits->times * stop.noise), limits->fraction * highest);
    const AstroCleanResult part =
        clean_at(&scales, best, limits, limits->iterations - result.iterations, level);
    result.iterations += part.iterations;
    result.flux += part.flux;
    if (part.end == ASTRO_CLEAN_DIVERGED) {
      result.end = part.end;
      break;
    }
  }
  result.peak = method->peak(work, limits->weight);
  astro_clean_stop_clear(&stop);
  clear(&scales);
  return result;
}
