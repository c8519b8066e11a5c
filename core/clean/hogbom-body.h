/* Hogbom's minor cycles, as one text for both precisions: the including file defines REAL, SUBTRACT
 * and METHOD.
 *
 * The cycles run only over the part inside the border, where peaks are searched. The part outside
 * is brought up to date once at the end, with the total of each pixel of the model. That is far
 * less work than doing it in every cycle, since cycles come back to the same few pixels. */
#include "core/clean/join.h"
#include "core/clean/method.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"
#include "core/clean/stop.h"

/* The smallest amount of work for a task. */
#define TASK_PIXELS (64 * 1024)

typedef struct {
  const AstroCleanConfig *config;
  const AstroCleanKernels *kernels;
  guint threads;
  const AstroCleanWork *work;
  const REAL *weight;
  REAL *search;
  REAL *greatest;    /* of each row inside the border: the largest absolute value x weight */
  guint rows_a_task; /* rows per task */

  guint x, y;   /* position of the peak */
  double *flux; /* of the component, for each plane */
} Run;

static gsize pixels_of(const Run *run)
{
  return (gsize)run->config->size * run->config->size;
}

static REAL *residual_of(const Run *run, guint plane)
{
  return (REAL *)run->work->residual + plane * pixels_of(run);
}

static REAL *model_of(const Run *run, guint plane)
{
  return (REAL *)run->work->model + plane * pixels_of(run);
}

/* Subtracts the row of a plane's point-spread function from columns begin to end of a row of an
 * image, as far as it covers them. */
static REAL subtract(const Run *run, REAL *image, guint plane, guint row, guint begin, guint end,
                     guint x, guint y, REAL flux)
{
  const REAL *psf = (const REAL *)run->work->psf + plane * run->work->psf_step;
  gint size = (gint)run->config->in_size;
  gint from_row = (gint)row - (gint)y + size / 2, shift = size / 2 - (gint)x;
  gint first = MAX((gint)begin, -shift), last = MIN((gint)end, size - shift);

  if (from_row < 0 || from_row >= size || first >= last)
    return 0;
  return run->kernels->SUBTRACT(image + (gsize)row * run->config->size + first,
                                psf + (gsize)from_row * size + first + shift, (gsize)(last - first),
                                flux);
}

/* Subtracts the component from a row of all planes, and of the mean; returns the largest absolute
 * value left in the search's row. */
static REAL subtract_component(const Run *run, guint row, guint begin, guint end)
{
  const AstroCleanJoin *join = run->work->join;
  REAL most = 0;
  if (!join)
    return subtract(run, run->search, 0, row, begin, end, run->x, run->y, (REAL)run->flux[0]);
  for (guint plane = 0; plane < join->planes; plane++) {
    if (!(join->share[plane] > 0))
      continue;
    const double part = join->share[plane] * run->flux[plane];
    subtract(run, residual_of(run, plane), plane, row, begin, end, run->x, run->y,
             (REAL)run->flux[plane]);
    most = subtract(run, run->search, plane, row, begin, end, run->x, run->y, (REAL)part);
  }
  return most;
}

static REAL greatest_of(const REAL *values, gsize n)
{
  REAL most = 0;
  for (gsize i = 0; i < n; i++) {
    REAL size = values[i] < 0 ? -values[i] : values[i];
    most = size > most ? size : most;
  }
  return most;
}

static REAL greatest_of_row(const Run *run, guint row)
{
  const guint size = run->config->size, border = run->config->border, n = size - 2 * border;
  const gsize at = (gsize)row * size + border;
  REAL most = 0;
  if (!run->weight)
    return greatest_of(run->search + at, n);
  for (gsize i = at; i < at + n; i++) {
    REAL value = run->search[i] * run->weight[i], great = value < 0 ? -value : value;
    most = great > most ? great : most;
  }
  return most;
}

/* Whether the point-spread function covers all columns inside the border. */
static gboolean reaches(const Run *run)
{
  guint size = run->config->size, border = run->config->border;
  gint psf = (gint)run->config->in_size, shift = psf / 2 - (gint)run->x;
  return (gint)border + shift >= 0 && (gint)(size - border) + shift <= psf;
}

static void cycle_rows(gpointer data, guint64 task)
{
  const Run *run = data;
  guint size = run->config->size, border = run->config->border, end = size - border;
  guint first = border + (guint)task * run->rows_a_task;
  gint psf = (gint)run->config->in_size;
  gboolean whole = reaches(run) && !run->weight;

  for (guint row = first; row < MIN(end, first + run->rows_a_task); row++) {
    gint from_row = (gint)row - (gint)run->y + psf / 2;
    REAL most = subtract_component(run, row, border, end);
    if (from_row < 0 || from_row >= psf)
      continue;
    run->greatest[row] = whole ? most : greatest_of_row(run, row);
  }
}

static REAL weighted(const Run *run, gsize at)
{
  return run->weight ? run->search[at] * run->weight[at] : run->search[at];
}

/* Finds the first of the highest pixels; returns its value times its weight, 0 if there are only
 * masked pixels. */
static REAL find_peak(Run *run)
{
  guint size = run->config->size, border = run->config->border, best = border;

  for (guint row = border; row < size - border; row++)
    if (run->greatest[row] > run->greatest[best])
      best = row;
  const gsize row = (gsize)best * size;
  run->y = best;
  for (run->x = border; run->x < size - border - 1; run->x++)
    if ((REAL)fabs(weighted(run, row + run->x)) == run->greatest[best])
      break;
  return run->greatest[best] > 0 ? weighted(run, row + run->x) : 0;
}

/* ---- the whole image, with all of the model ---- */

typedef struct {
  Run run;
  guint plane;
  guint *components; /* indices of the nonzero pixels of the plane's model */
  guint n_components;
  gboolean only_outside;
} Whole;

static void subtract_row(gpointer data, guint64 number)
{
  const Whole *whole = data;
  const Run *run = &whole->run;
  guint row = (guint)number, size = run->config->size, border = run->config->border;
  gboolean parted = whole->only_outside && row >= border && row < size - border;
  REAL *residual = residual_of(run, whole->plane);
  const REAL *model = model_of(run, whole->plane);

  for (guint i = 0; i < whole->n_components; i++) {
    guint x = whole->components[i] % size, y = whole->components[i] / size;
    REAL flux = model[whole->components[i]];
    if (parted) {
      subtract(run, residual, whole->plane, row, 0, border, x, y, flux);
      subtract(run, residual, whole->plane, row, size - border, size, x, y, flux);
    } else {
      subtract(run, residual, whole->plane, row, 0, size, x, y, flux);
    }
  }
}

static Run run_of(const AstroCleanWork *work, gconstpointer weight)
{
  return (Run){ .config = work->config,
                .kernels = work->kernels,
                .threads = work->threads,
                .work = work,
                .weight = weight,
                .search = work->search };
}

static void subtract_plane(const AstroCleanWork *work, guint plane, gboolean only_outside)
{
  const Run run = run_of(work, NULL);
  const guint n = work->config->size * work->config->size;
  const REAL *model = model_of(&run, plane);
  g_autoptr(GArray) components = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < n; i++)
    if (model[i] != 0)
      g_array_append_val(components, i);
  Whole whole = { run, plane, (guint *)components->data, components->len, only_outside };
  const AstroStop *before = astro_stop_set(NULL);
  if (components->len && (work->config->border || !only_outside))
    astro_parallel(work->config->size, work->threads, subtract_row, &whole);
  astro_stop_set(before);
}

static void subtract_model(const AstroCleanWork *work, gboolean only_outside)
{
  for (guint plane = 0; plane < astro_clean_planes_of(work); plane++)
    if (astro_clean_share(work, plane) > 0)
      subtract_plane(work, plane, only_outside);
}

/* ---- cycles ---- */

/* The component at the peak goes into the model of each plane. Returns its flux in the mean. */
static double take_component(const Run *run)
{
  const gsize at = (gsize)run->y * run->config->size + run->x;
  const guint planes = astro_clean_planes_of(run->work);
  double sum = 0;
  for (guint plane = 0; plane < planes; plane++)
    run->flux[plane] = (double)residual_of(run, plane)[at];
  astro_clean_component(run->work, run->flux);
  for (guint plane = 0; plane < planes; plane++) {
    const REAL flux = (REAL)(run->config->gain * run->flux[plane]);
    run->flux[plane] = (double)flux;
    model_of(run, plane)[at] += flux;
    sum += astro_clean_share(run->work, plane) * (double)flux;
  }
  return sum;
}

static void look_at_rows(Run *run)
{
  for (guint row = run->config->border; row < run->config->size - run->config->border; row++)
    run->greatest[row] = greatest_of_row(run, row);
}

static double peak_of(const AstroCleanWork *work, gconstpointer weight)
{
  Run run = run_of(work, weight);
  g_autofree REAL *greatest = run.greatest = g_new0(REAL, work->config->size);
  look_at_rows(&run);
  return fabs((double)find_peak(&run));
}

static AstroCleanResult cycle(const AstroCleanWork *work, const AstroCleanLimits *limits)
{
  const AstroCleanConfig *config = work->config;
  AstroCleanResult result = { 0 };
  Run run = run_of(work, limits->weight);
  guint rows = config->size - 2 * config->border;
  AstroCleanStop stop;

  g_autofree REAL *greatest = run.greatest = g_new0(REAL, config->size);
  g_autofree double *flux = run.flux = g_new(double, astro_clean_planes_of(work));
  run.rows_a_task = MAX(TASK_PIXELS / rows, 1);
  look_at_rows(&run);
  astro_clean_stop_init(&stop, work, limits, sizeof(REAL) == sizeof(double));
  for (;; result.iterations++) {
    REAL peak = find_peak(&run);
    if (astro_clean_stop(&stop, fabs((double)peak), &result))
      break;
    result.flux += take_component(&run);
    /* Cycles always run to their end; the loop asks between them whether to stop. */
    const AstroStop *before = astro_stop_set(NULL);
    astro_parallel((rows + run.rows_a_task - 1) / run.rows_a_task, run.threads, cycle_rows, &run);
    astro_stop_set(before);
  }
  astro_clean_stop_clear(&stop);
  return result;
}

/* ---- smoothing: along rows, then along columns ---- */

typedef struct {
  const REAL *in;
  REAL *rows, *out;
  const double *kernel; /* from its middle to the radius */
  guint size, radius;
} Smooth;

static void smooth_along_row(gpointer data, guint64 y)
{
  const Smooth *smooth = data;
  const gsize size = smooth->size, radius = smooth->radius;
  REAL *out = smooth->rows + y * size;
  g_autofree REAL *padded = g_new0(REAL, size + 2 * radius);
  for (gsize x = 0; x < size; x++) {
    const REAL value = smooth->in[y * size + x];
    padded[radius + x] = isnan(value) ? 0 : value;
  }
  memset(out, 0, size * sizeof(REAL));
  for (gsize k = 0; k <= 2 * radius; k++) {
    const REAL factor = (REAL)smooth->kernel[k > radius ? k - radius : radius - k];
    for (gsize x = 0; x < size; x++)
      out[x] += factor * padded[x + k];
  }
}

static void smooth_across_rows(gpointer data, guint64 y)
{
  const Smooth *smooth = data;
  const gsize size = smooth->size, radius = smooth->radius;
  REAL *out = smooth->out + y * size;
  memset(out, 0, size * sizeof(REAL));
  for (gsize row = y - MIN(y, radius); row < MIN(size, y + radius + 1); row++) {
    const REAL factor = (REAL)smooth->kernel[row > y ? row - y : y - row];
    const REAL *in = smooth->rows + row * size;
    for (gsize x = 0; x < size; x++)
      out[x] += factor * in[x];
  }
}

static void smooth(gconstpointer in, guint size, double width, guint radius, guint threads,
                   gpointer out)
{
  g_autofree double *kernel = g_new(double, radius + 1);
  g_autofree REAL *rows = g_new(REAL, (gsize)size * size);
  double sum = -1;
  for (guint i = 0; i <= radius; i++) {
    kernel[i] = exp(-0.5 * i * i / (width * width));
    sum += 2 * kernel[i];
  }
  for (guint i = 0; i <= radius; i++)
    kernel[i] /= sum;
  Smooth work = { in, rows, out, kernel, size, radius };
  const AstroStop *before = astro_stop_set(NULL);
  astro_parallel(size, threads, smooth_along_row, &work);
  astro_parallel(size, threads, smooth_across_rows, &work);
  astro_stop_set(before);
}

const AstroCleanMethod METHOD = { .is_double = sizeof(REAL) == sizeof(double),
                                  .cycle = cycle,
                                  .subtract = subtract_model,
                                  .peak = peak_of,
                                  .smooth = smooth };
