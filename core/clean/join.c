/* Channels that are cleaned together. */
#include "config.h"
#include "core/backend/count.h"
#include "core/clean/join.h"

#include "core/kit/noise.h"
#include "core/stream/stream.h"

#include <math.h>

/* A plane in which a component shows with less than this part of its flux has no say about it. */
#define LEAST_RESPONSE 1e-3

static gboolean is_finite(const AstroCleanMethod *method, const AstroCleanWork *work, guint plane)
{
  const gsize n = (gsize)work->config->in_size * work->config->in_size;
  for (gsize i = 0; i < n; i++)
    if (!isfinite(astro_clean_at(method, work->psf, plane * work->psf_step + i)))
      return FALSE;
  return TRUE;
}

/* Relative to the middle of the band, so that the first coefficient is the flux there. */
static double place_of(const AstroCleanConfig *config, guint channel)
{
  if (!(config->frequency > 0))
    return 0;
  return astro_channel_frequency(config->frequency, config->bandwidth, config->channels, channel) /
             config->frequency -
         1;
}

/* Residuals count by their share and, as fluxes are residuals over responses, by those squared. */
static gboolean init_fit(AstroCleanJoin *join)
{
  g_autofree double *weights = g_new(double, join->planes);
  if (!join->terms || !astro_clean_join_has_data(join))
    return TRUE;
  for (guint i = 0; i < join->planes; i++)
    weights[i] = join->response[i] > LEAST_RESPONSE
                     ? join->share[i] * join->response[i] * join->response[i]
                     : 0;
  return astro_polynomial_init(&join->fit, join->x, weights, join->planes, join->terms);
}

static AstroCleanJoin *new_join(guint planes, guint terms)
{
  AstroCleanJoin *join = g_new0(AstroCleanJoin, 1);
  join->planes = planes;
  join->terms = terms;
  join->share = g_new0(double, planes);
  join->x = g_new0(double, planes);
  join->response = g_new(double, planes);
  return join;
}

void astro_clean_join_free(AstroCleanJoin *join)
{
  astro_polynomial_clear(&join->fit);
  g_free(join->share);
  g_free(join->x);
  g_free(join->response);
  g_free(join);
}

static guint count_data(const AstroCleanJoin *join)
{
  guint n = 0;
  for (guint i = 0; i < join->planes; i++)
    n += join->share[i] > 0;
  return n;
}

gboolean astro_clean_join_has_data(const AstroCleanJoin *join)
{
  return count_data(join) > 0;
}

AstroCleanJoin *astro_clean_join_new(const AstroCleanMethod *method, const AstroCleanWork *work,
                                     guint product, const double *weights, GError **error)
{
  const AstroCleanConfig *config = work->config;
  g_autoptr(AstroCleanJoin) join = new_join(config->channels, config->spectral_terms);
  double sum = 0;
  for (guint i = 0; i < join->planes; i++) {
    const double weight = weights ? weights[i * (config->products + 1) + product] : 1;
    join->share[i] = weight > 0 && isfinite(weight) && is_finite(method, work, i) ? weight : 0;
    join->x[i] = place_of(config, i);
    join->response[i] = 1;
    sum += join->share[i];
  }
  for (guint i = 0; i < join->planes && sum > 0; i++)
    join->share[i] /= sum;
  if (init_fit(join))
    return g_steal_pointer(&join);
  astro_backend_refuse(error,
                       "clean: %u spectral terms, and only %u of %u channels have visibilities: "
                       "expected no more terms than channels with visibilities",
                       join->terms, count_data(join), join->planes);
  return NULL;
}

AstroCleanJoin *astro_clean_join_for(const AstroCleanJoin *join, const double *response)
{
  AstroCleanJoin *copy = new_join(join->planes, join->terms);
  for (guint i = 0; i < join->planes; i++) {
    copy->share[i] = join->share[i];
    copy->x[i] = join->x[i];
    copy->response[i] = join->share[i] > 0 ? response[i] : 1;
  }
  if (!init_fit(copy))
    g_clear_pointer(&copy, astro_clean_join_free);
  return copy;
}

double astro_clean_join_response(const AstroCleanJoin *join)
{
  double sum = 0;
  for (guint i = 0; i < join->planes; i++)
    sum += join->share[i] * join->response[i];
  return sum;
}

void astro_clean_component(const AstroCleanWork *work, double *values)
{
  const AstroCleanJoin *join = work->join;
  double coefficients[ASTRO_POLYNOMIAL_MOST_TERMS];
  if (!join)
    return;
  for (guint i = 0; i < join->planes; i++) {
    const gboolean sees = join->share[i] > 0 && join->response[i] > LEAST_RESPONSE;
    values[i] = sees ? values[i] / join->response[i] : 0;
  }
  if (!join->terms)
    return;
  astro_polynomial_solve(&join->fit, values, coefficients);
  for (guint i = 0; i < join->planes; i++)
    values[i] = astro_polynomial_at(coefficients, join->terms, join->x[i]);
}

void astro_clean_search_sum(const AstroCleanMethod *method, const AstroCleanWork *work)
{
  const gsize n = (gsize)work->config->size * work->config->size;
  for (gsize i = 0; work->join && i < n; i++) {
    double sum = 0;
    ASTRO_COUNT(2 * work->join->planes);
    ASTRO_COUNT_BYTES((work->join->planes + 1) * astro_format_info(work->config->format)->bytes);
    for (guint plane = 0; plane < work->join->planes; plane++)
      if (work->join->share[plane] > 0)
        sum += work->join->share[plane] * astro_clean_at(method, work->residual, plane * n + i);
    astro_clean_put(method, work->search, i, sum);
  }
}

/* Noise and highest residual of a plane inside the border, and its flux. */
static AstroCleanResult result_of(const AstroCleanMethod *method, const AstroCleanWork *work,
                                  guint plane, const AstroCleanResult *cleaned)
{
  const guint size = work->config->size, border = work->config->border;
  const gsize n = (gsize)size * size;
  g_autofree double *sizes = g_new(double, n);
  AstroCleanResult result = *cleaned;
  gsize used = 0;
  result.peak = result.flux = 0;
  for (gsize i = 0; i < n; i++) {
    const guint x = i % size, y = (guint)(i / size);
    const double value = fabs(astro_clean_at(method, work->residual, plane * n + i));
    result.flux += astro_clean_at(method, work->model, plane * n + i);
    if (MIN(x, y) < border || MAX(x, y) >= size - border || !isfinite(value))
      continue;
    result.peak = MAX(result.peak, value);
    sizes[used++] = value;
  }
  result.noise = used ? astro_noise_of_sizes(sizes, used) : 0;
  if (astro_clean_share(work, plane) == 0)
    result.end = ASTRO_CLEAN_EMPTY;
  return result;
}

void astro_clean_tell(const AstroCleanMethod *method, const AstroCleanWork *work, guint channel,
                      guint product, const AstroCleanResult *cleaned, AstroCleanResult *results)
{
  const AstroCleanConfig *config = work->config;
  if (!work->join) {
    results[channel * config->products + product] = *cleaned;
    return;
  }
  for (guint i = 0; i < work->join->planes; i++)
    results[i * config->products + product] = result_of(method, work, i, cleaned);
  results[config->channels * config->products + product] = *cleaned;
}
