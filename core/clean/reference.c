/* The reference backend: subtracts the whole point-spread function from the whole image, in double
 * precision. */
#include "config.h"
#include "core/backend/count.h"
#include "core/clean/join.h"
#include "core/clean/method.h"
#include "core/clean/stop.h"

#include <math.h>

typedef struct {
  AstroCleanConfig config;
} Reference;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_clean_check(config, error))
    return NULL;
  Reference *self = g_new(Reference, 1);
  self->config = *(const AstroCleanConfig *)config;
  *variant = "hogbom";
  return self;
}

/* As images are: this backend alone has wider numbers. */
static inline gsize pixel_bytes(const AstroCleanWork *work)
{
  return astro_format_info(work->config->format)->bytes;
}

/* Returns the highest value with its weight: 0 if there are only masked pixels. */
static double find_peak(const AstroCleanWork *work, const double *weight, guint *x, guint *y)
{
  const double *search = work->search;
  guint size = work->config->size, border = work->config->border;
  double highest = 0;

  *x = *y = border;
  for (guint row = border; row < size - border; row++)
    for (guint column = border; column < size - border; column++) {
      const gsize at = row * size + column;
      const double value = fabs(search[at]) * (weight ? weight[at] : 1);
      ASTRO_COUNT_BYTES(pixel_bytes(work));
      if (value > highest) {
        highest = value;
        *x = column;
        *y = row;
      }
    }
  return highest;
}

static double peak(const AstroCleanWork *work, gconstpointer weight)
{
  guint x, y;
  return find_peak(work, weight, &x, &y);
}

static gboolean is_outside(const AstroCleanConfig *config, gint x, gint y)
{
  const gint border = (gint)config->border, end = (gint)config->size - border;
  return x < border || y < border || x >= end || y >= end;
}

/* Subtracts where the point-spread function is known, and inside or outside of the border as asked.
 */
static void subtract_at(const AstroCleanWork *work, guint plane, guint x, guint y, double flux,
                        gboolean inside, gboolean outside)
{
  gint size = (gint)work->config->size, psf = (gint)work->config->in_size;
  const double *spread = (const double *)work->psf + plane * work->psf_step;
  double *residual =
      (double *)work->residual + (gsize)plane * work->config->size * work->config->size;

  for (gint row = 0; row < size; row++)
    for (gint column = 0; column < size; column++) {
      gint from_y = row - (gint)y + psf / 2, from_x = column - (gint)x + psf / 2;
      if (!(is_outside(work->config, column, row) ? outside : inside))
        continue;
      if (from_y < 0 || from_y >= psf || from_x < 0 || from_x >= psf)
        continue;
      ASTRO_COUNT(2);
      ASTRO_COUNT_BYTES(3 * pixel_bytes(work)); /* both are read, one is written */
      residual[row * size + column] -= flux * spread[from_y * psf + from_x];
    }
}

static void subtract(const AstroCleanWork *work, gboolean only_outside)
{
  const gsize size = work->config->size;
  for (guint plane = 0; plane < astro_clean_planes_of(work); plane++)
    for (guint y = 0; y < size && astro_clean_share(work, plane) > 0; y++)
      for (guint x = 0; x < size; x++) {
        const double flux = ((double *)work->model)[(plane * size + y) * size + x];
        if (flux != 0)
          subtract_at(work, plane, x, y, flux, !only_outside, TRUE);
      }
}

static AstroCleanResult cycle(const AstroCleanWork *work, const AstroCleanLimits *limits)
{
  const AstroCleanConfig *config = work->config;
  const guint planes = astro_clean_planes_of(work);
  g_autofree double *fluxes = g_new(double, planes);
  AstroCleanResult result = { 0 };
  AstroCleanStop stop;

  astro_clean_stop_init(&stop, work, limits, TRUE);
  for (;; result.iterations++) {
    guint x, y;
    if (astro_clean_stop(&stop, find_peak(work, limits->weight, &x, &y), &result))
      break;
    const gsize at = y * config->size + x, image = (gsize)config->size * config->size;
    for (guint plane = 0; plane < planes; plane++)
      fluxes[plane] = ((double *)work->residual)[plane * image + at];
    astro_clean_component(work, fluxes);
    for (guint plane = 0; plane < planes; plane++) {
      const double flux = config->gain * fluxes[plane];
      ((double *)work->model)[plane * image + at] += flux;
      result.flux += astro_clean_share(work, plane) * flux;
      if (astro_clean_share(work, plane) > 0)
        subtract_at(work, plane, x, y, flux, TRUE, FALSE);
    }
    astro_clean_search_sum(&astro_clean_exact, work);
  }
  astro_clean_stop_clear(&stop);
  return result;
}

/* A Gaussian on a square, of sum 1; to be freed. */
static double *gaussian(double width, gint radius)
{
  const gint side = 2 * radius + 1;
  double *values = g_new(double, side *side), sum = 0;
  for (gint i = 0; i < side * side; i++) {
    const gint dx = i % side - radius, dy = i / side - radius;
    sum += values[i] = exp(-0.5 * (dx * dx + dy * dy) / (width * width));
  }
  for (gint i = 0; i < side * side; i++)
    values[i] /= sum;
  return values;
}

/* The sum over the square, as it is written. */
static void smooth(gconstpointer in, guint size, double width, guint radius, guint threads,
                   gpointer out)
{
  const gint n = (gint)size, r = (gint)radius;
  g_autofree double *kernel = gaussian(width, r);
  for (gint y = 0; y < n; y++)
    for (gint x = 0; x < n; x++) {
      double sum = 0;
      for (gint dy = -MIN(r, y); dy <= MIN(r, n - 1 - y); dy++)
        for (gint dx = -MIN(r, x); dx <= MIN(r, n - 1 - x); dx++) {
          const double value = ((const double *)in)[(y + dy) * n + x + dx];
          if (!isnan(value))
            sum += value * kernel[(dy + r) * (2 * r + 1) + dx + r];
        }
      ((double *)out)[y * n + x] = sum;
    }
}

const AstroCleanMethod astro_clean_exact = {
  .is_double = TRUE, .cycle = cycle, .subtract = subtract, .peak = peak, .smooth = smooth
};

static void read_image(const AstroCleanConfig *config, gconstpointer data, gsize at, gsize n,
                       double *values)
{
  for (gsize i = 0; i < n; i++)
    values[i] = astro_clean_get(config, data, at + i);
}

/* Reads only the middle of an image. */
static void read_middle(const AstroCleanConfig *config, gconstpointer data, gsize at,
                        double *values)
{
  const gsize n = (gsize)config->size * config->size;
  g_autofree gpointer middle = g_malloc(n * sizeof(double));
  astro_clean_crop(config, data, at, middle);
  read_image(config, middle, 0, n, values);
}

/* Values rounded to the image's format; to be freed. */
static gpointer rounded(const AstroCleanConfig *config, const double *values)
{
  gsize n = (gsize)config->size * config->size;
  gpointer to = g_malloc(n * sizeof(double));
  for (gsize i = 0; i < n; i++)
    astro_clean_set(config, to, i, values[i]);
  return to;
}

/* The planes of a product that are cleaned together, from a channel on. */
typedef struct {
  gconstpointer in;
  gpointer out;
  guint channel, product;
  const AstroCleanBeam *beam;
  const AstroCleanArguments *arguments;
} Call;

static gboolean clean_planes(const AstroCleanConfig *config, const Call *call,
                             AstroCleanResult *results, GError **error)
{
  const guint planes = astro_clean_planes(config);
  const gsize image = (gsize)config->size * config->size;
  const gsize wide = (gsize)config->in_size * config->in_size;
  g_autofree double *psf = g_new(double, planes *wide), *left = g_new(double, planes *image),
                    *found = g_new0(double, planes *image), *mean = g_new(double, image);
  AstroCleanWork work = {
    .config = config, .psf = psf, .psf_step = wide, .residual = left, .model = found
  };
  for (guint plane = 0; plane < planes; plane++) {
    const guint channel = call->channel + plane;
    read_image(config, call->in, astro_clean_in(config, channel, config->products), wide,
               psf + plane * wide);
    read_middle(config, call->in, astro_clean_in(config, channel, call->product),
                left + plane * image);
  }
  work.search = config->joined ? mean : left;
  g_autoptr(AstroCleanJoin) join = NULL;
  if (config->joined && !(join = astro_clean_join_new(&astro_clean_exact, &work, call->product,
                                                      call->arguments->weights, error)))
    return FALSE;
  work.join = join;
  const AstroCleanResult cleaned = astro_clean_image(&astro_clean_exact, &work, call->arguments);
  if (results)
    astro_clean_tell(&astro_clean_exact, &work, call->channel, call->product, &cleaned, results);
  for (guint plane = 0; plane < planes; plane++) {
    const guint channel = call->channel + plane;
    g_autofree gpointer model = rounded(config, found + plane * image);
    g_autofree gpointer residual = rounded(config, left + plane * image);
    astro_clean_finish_model(config, channel, call->product, call->arguments, model);
    astro_clean_write(config, channel, call->product, call->beam, call->in, model, residual,
                      call->out);
  }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const AstroCleanConfig *config = &((Reference *)instance)->config;
  const AstroCleanArguments *arguments = given;

  if (!astro_clean_check_call(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  AstroCleanBeam beam = astro_clean_beam(config, arguments);
  for (guint channel = 0; channel < config->channels; channel += astro_clean_planes(config))
    for (guint product = 0; product < config->products; product++) {
      const Call call = { in->data, out->data, channel, product, &beam, arguments };
      if (!clean_planes(config, &call, result ? result->cleaned : NULL, error))
        return FALSE;
    }
  return TRUE;
}

const AstroBackend astro_clean_reference = {
  .stage = "clean",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroCleanConfig),
  .shape = astro_clean_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
