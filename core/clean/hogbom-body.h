/* Hogbom's minor cycles, as one text for both precisions: the including file defines REAL, SUBTRACT
 * and HOGBOM.
 *
 * The cycles run only over the part inside the border, where peaks are searched. The part outside
 * is brought up to date once at the end, with the total of each pixel of the model. That is far
 * less work than doing it in every cycle, since cycles come back to the same few pixels. */
#include "core/clean/hogbom.h"

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
  const REAL *psf;
  REAL *residual, *model;
  REAL *greatest;    /* of each row inside the border: the largest absolute value */
  guint rows_a_task; /* rows per task */

  guint x, y; /* position of the peak */
  REAL flux;

  guint *components; /* indices of the nonzero pixels of the model */
  guint n_components;
} Run;

/* Subtracts the point-spread function's row from columns begin to end of a row of the image, as far
 * as it covers them. */
static REAL subtract(const Run *run, guint row, guint begin, guint end, guint x, guint y, REAL flux)
{
  gint size = (gint)run->config->in_size;
  gint from_row = (gint)row - (gint)y + size / 2, shift = size / 2 - (gint)x;
  gint first = MAX((gint)begin, -shift), last = MIN((gint)end, size - shift);

  if (from_row < 0 || from_row >= size || first >= last)
    return 0;
  return run->kernels->SUBTRACT(run->residual + (gsize)row * run->config->size + first,
                                run->psf + (gsize)from_row * size + first + shift,
                                (gsize)(last - first), flux);
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
  gboolean whole = reaches(run);

  for (guint row = first; row < MIN(end, first + run->rows_a_task); row++) {
    gint from_row = (gint)row - (gint)run->y + psf / 2;
    REAL most = subtract(run, row, border, end, run->x, run->y, run->flux);
    if (from_row < 0 || from_row >= psf)
      continue;
    run->greatest[row] =
        whole ? most : greatest_of(run->residual + (gsize)row * size + border, end - border);
  }
}

/* Finds the first of the highest pixels; 0 if nothing is left, or only masked pixels. */
static REAL find_peak(Run *run)
{
  guint size = run->config->size, border = run->config->border, best = border;

  for (guint row = border; row < size - border; row++)
    if (run->greatest[row] > run->greatest[best])
      best = row;
  const REAL *row = run->residual + (gsize)best * size;
  run->y = best;
  for (run->x = border; run->x < size - border - 1; run->x++)
    if ((REAL)fabs(row[run->x]) == run->greatest[best])
      break;
  return run->greatest[best] > 0 ? row[run->x] : 0;
}

static void outside_row(gpointer data, guint64 number)
{
  const Run *run = data;
  guint row = (guint)number, size = run->config->size, border = run->config->border;
  gboolean inside = row >= border && row < size - border;

  for (guint i = 0; i < run->n_components; i++) {
    guint x = run->components[i] % size, y = run->components[i] / size;
    REAL flux = run->model[run->components[i]];
    if (inside) {
      subtract(run, row, 0, border, x, y, flux);
      subtract(run, row, size - border, size, x, y, flux);
    } else {
      subtract(run, row, 0, size, x, y, flux);
    }
  }
}

static gboolean is_finite(const REAL *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (!isfinite(values[i]))
      return FALSE;
  return TRUE;
}

/* Pixels that are NaN or infinite become NaN, which stays NaN and compares as not greater, so that
 * no peak is found there. FALSE if there is no other pixel inside the border. */
static gboolean mask(const Run *run)
{
  guint size = run->config->size, border = run->config->border;
  gboolean any = FALSE;
  for (guint y = 0; y < size; y++)
    for (guint x = 0; x < size; x++) {
      REAL *value = &run->residual[(gsize)y * size + x];
      if (!isfinite(*value))
        *value = NAN;
      else
        any |= MIN(x, y) >= border && MAX(x, y) < size - border;
    }
  return any;
}

static AstroCleanResult cycle(Run *run)
{
  const AstroCleanConfig *config = run->config;
  AstroCleanResult result = { 0 };
  guint rows = config->size - 2 * config->border;
  AstroCleanStop stop;

  run->rows_a_task = MAX(TASK_PIXELS / rows, 1);
  for (guint row = config->border; row < config->size - config->border; row++)
    run->greatest[row] =
        greatest_of(run->residual + (gsize)row * config->size + config->border, rows);
  astro_clean_stop_init(&stop, config, run->residual, sizeof(REAL) == sizeof(double));
  for (;; result.iterations++) {
    REAL peak = find_peak(run);
    if (astro_clean_stop(&stop, fabs((double)peak), &result))
      break;
    run->flux = (REAL)(config->gain * (double)peak);
    run->model[run->y * config->size + run->x] += run->flux;
    result.flux += (double)run->flux;
    /* Cycles always run to their end; the loop asks between them whether to stop. */
    const AstroStop *before = astro_stop_set(NULL);
    astro_parallel((rows + run->rows_a_task - 1) / run->rows_a_task, run->threads, cycle_rows, run);
    astro_stop_set(before);
  }
  astro_clean_stop_clear(&stop);
  return result;
}

AstroCleanResult HOGBOM(const AstroCleanConfig *config, const AstroCleanKernels *kernels,
                        guint threads, gconstpointer psf, gpointer residual, gpointer model)
{
  gsize n = (gsize)config->size * config->size, in = (gsize)config->in_size * config->in_size;
  Run run = { .config = config,
              .kernels = kernels,
              .threads = threads,
              .psf = psf,
              .residual = residual,
              .model = model };
  AstroCleanResult result = { .end = ASTRO_CLEAN_EMPTY };

  memset(model, 0, n * sizeof(REAL));
  if (!is_finite(psf, in) || !mask(&run))
    return result;
  run.greatest = g_new0(REAL, config->size);
  result = cycle(&run);
  g_autoptr(GArray) components = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < n; i++)
    if (run.model[i] != 0)
      g_array_append_val(components, i);
  run.components = (guint *)components->data;
  run.n_components = components->len;
  if (config->border && run.n_components && result.end != ASTRO_CLEAN_INTERRUPTED)
    astro_parallel(config->size, threads, outside_row, &run);
  g_free(run.greatest);
  return result;
}
