/* Tables of taps from their transform: the taper times exp(-2 pi i w (n - 1)), sampled at the
 * middles of `samples` pixels across the padded field. About the phase centre that is even in l and
 * in m, and so are the functions: sets on one side of the middle are those on the other, backwards.
 */
#include "config.h"
#include "core/backend/threads.h"
#include "core/lib/fft/planner.h"
#include "core/gridder/wprojection/taps.h"
#include "core/lib/spread/taper.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>

typedef double complex Complex;

#define MAX_SAMPLES 2048

/* The function that is transformed for a plane. */
typedef struct {
  const AstroGrid *grid;
  double w, w_step;
  double field;                    /* radians, of the whole padded grid */
  double height, slope_l, slope_m; /* n - 1 in the middle of the image, and its slope there */
} Screen;

static double n_minus_1(double l, double m)
{
  double r2 = MIN(l * l + m * m, 1);
  return -r2 / (1 + sqrt(1 - r2));
}

static double sinc(double x)
{
  return fabs(x) < 1e-8 ? 1 : sin(G_PI * x) / (G_PI * x);
}

/* Rounding w to the nearest plane (or interpolating between two) damps the image by this factor at
 * each pixel, which the function is divided by; it is kept from being too small. */
static double w_loss(const Screen *screen, double height)
{
  double loss = sinc(MIN(fabs(screen->w_step * height), 0.5));
  return screen->grid->spread.interpolated ? loss * loss : loss;
}

static void screen_init(Screen *screen, const AstroTapsConfig *config, double w, double w_step)
{
  const AstroGrid *grid = config->grid;
  double n = sqrt(MAX(1 - grid->centre_l * grid->centre_l - grid->centre_m * grid->centre_m, 1e-4));
  *screen = (Screen){ .grid = grid,
                      .w = w,
                      .w_step = w_step,
                      .field = 1 / grid->cell,
                      .height = n_minus_1(grid->centre_l, grid->centre_m),
                      .slope_l = -grid->centre_l / n,
                      .slope_m = -grid->centre_m / n };
}

/* n less its tangent plane in the middle of the image. The slope is left to (u,v), where it moves
 * the function, and the height to the phase of visibilities. */
static double bulge(const Screen *screen, double l, double m)
{
  double height = n_minus_1(screen->grid->centre_l + l, screen->grid->centre_m + m);
  return height - screen->height - screen->slope_l * l - screen->slope_m * m;
}

/* At x, y of the padded field, each from -1/2 to 1/2. */
static Complex screen_at(const Screen *screen, double x, double y, double taper)
{
  double height = bulge(screen, x * screen->field, y * screen->field), turns = screen->w * height;
  return taper / w_loss(screen, height) * cexp(-2 * G_PI * I * (turns - floor(turns)));
}

static double middle(guint i, guint samples)
{
  return (i + 0.5) / samples - 0.5;
}

static double *new_tapers(const AstroGrid *grid, guint samples)
{
  double *tapers = g_new(double, samples);
  for (guint i = 0; i < samples; i++)
    tapers[i] = middle(i, samples);
  astro_tapers(grid->spread.kind, grid->spread.beta, tapers, samples);
  return tapers;
}

static guint good_samples(double at_least)
{
  static const guint sizes[] = { 32,  48,  64,  80,  96,  128, 160,  192,  240,
                                 320, 384, 480, 640, 768, 960, 1280, 1536, MAX_SAMPLES };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    if (sizes[i] >= at_least)
      return sizes[i];
  return MAX_SAMPLES;
}

/* A row of samples that is transformed in place. */
typedef struct {
  fftw_plan plan;
  Complex *samples;
} Row;

static Row new_row(guint samples)
{
  fftw_complex *room = fftw_alloc_complex(samples);
  astro_fft_planner_lock();
  fftw_plan plan = fftw_plan_dft_1d((int)samples, room, room, FFTW_BACKWARD, FFTW_ESTIMATE);
  astro_fft_planner_unlock();
  return (Row){ plan, (Complex *)room };
}

static void free_row(Row *row)
{
  astro_fft_planner_lock();
  fftw_destroy_plan(row->plan);
  astro_fft_planner_unlock();
  fftw_free(row->samples);
}

/* How many cells the function can be spread over, by the slope of the phase in the field's corner.
 */
static double reach(const Screen *screen)
{
  double l = fabs(screen->grid->centre_l) + screen->field / 2;
  double m = fabs(screen->grid->centre_m) + screen->field / 2;
  double n = sqrt(MAX(1 - l * l - m * m, 1e-2));
  double slope = MAX(l / n - fabs(screen->slope_l), m / n - fabs(screen->slope_m));
  return 2 * screen->w * slope / screen->grid->cell;
}

/* Adds the power of the function along one axis, at distance 0, 1, ... from its middle, summed over
 * the other axis: slices of the screen are transformed one by one. */
static void add_power(const Screen *screen, gboolean along_v, guint samples, const Row *row,
                      double *power)
{
  enum { SLICES = 24 };
  g_autofree double *tapers = new_tapers(screen->grid, samples);
  g_autofree double *across = new_tapers(screen->grid, SLICES);

  for (guint slice = 0; slice < SLICES; slice++) {
    double y = middle(slice, SLICES);
    for (guint i = 0; i < samples; i++) {
      double x = middle(i, samples), taper = tapers[i] * across[slice];
      row->samples[i] = along_v ? screen_at(screen, y, x, taper) : screen_at(screen, x, y, taper);
    }
    fftw_execute(row->plan);
    for (guint i = 0; i < samples; i++)
      power[MIN(i, samples - i)] += creal(row->samples[i] * conj(row->samples[i]));
  }
}

/* Rounds up to one of a few sizes, so that visibilities of many planes can be spread together. */
static guint round_support(guint cells)
{
  guint step = cells <= 16 ? 2 : cells <= 64 ? 4 : 8;
  return MAX((cells + step - 1) / step * step, ASTRO_TAPS_MIN_SUPPORT);
}

static guint measure_support(const Screen *screen, double accuracy)
{
  guint samples = good_samples(1.5 * reach(screen) + 32);
  g_autofree double *power = g_new0(double, samples / 2 + 1);
  Row row = new_row(samples);
  double total = 0, left;
  guint distance = 0;

  add_power(screen, FALSE, samples, &row, power);
  add_power(screen, TRUE, samples, &row, power);
  free_row(&row);
  for (guint i = 0; i <= samples / 2; i++)
    total += power[i];
  /* total is of both axes, each of which has all of the power. */
  for (left = total - power[0]; left > accuracy * accuracy * total / 2; left -= power[++distance])
    if (distance >= samples / 2)
      break;
  return round_support(2 * (distance + 1));
}

guint astro_taps_planes(const AstroTapsConfig *config)
{
  const AstroGrid *grid = config->grid;
  if (config->planes)
    return config->planes;
  const double half = 0.5 * grid->image_size * grid->pixel;
  double deepest = 0;
  Screen screen;
  screen_init(&screen, config, 0, 0);
  for (gint corner = 0; corner < 4; corner++)
    deepest =
        MAX(deepest, fabs(bulge(&screen, corner & 1 ? half : -half, corner & 2 ? half : -half)));
  /* At the image's corner a step in w matters a quarter as much as one in u or v at its side: short
   * baselines all round to the first plane, so that the error in w does not average out. */
  double step = 0.125 * grid->image_size / grid->size / grid->spread.oversampling / deepest;
  return (guint)CLAMP(ceil(config->w_max / step), 1, 4094) + 2;
}

static double w_step(const AstroTapsConfig *config)
{
  guint planes = astro_taps_planes(config);
  guint steps = config->grid->spread.interpolated ? planes - 1 : planes;
  return MAX(config->w_max, 1e-3) * (1 + 1e-9) / MAX(steps - 0.5, 0.5);
}

typedef struct {
  const AstroTapsConfig *config;
  guint first;
  guint *supports;
} Supports;

static void support_of_plane(gpointer data, guint64 task)
{
  const Supports *work = data;
  Screen screen;
  double step = w_step(work->config);
  screen_init(&screen, work->config, (work->first + task) * step, step);
  work->supports[task] = measure_support(&screen, work->config->accuracy);
}

gboolean astro_taps_supports(const AstroTapsConfig *config, guint first, guint n, guint *supports)
{
  Supports work = { config, first, supports };
  gboolean all = TRUE;
  if (!config->support)
    astro_parallel(n, config->threads, support_of_plane, &work);
  const gboolean given_up = astro_is_given_up(); /* some were not measured */
  for (guint i = 0; i < n; i++) {
    supports[i] = config->support ? config->support
                  : given_up      ? ASTRO_TAPS_MIN_SUPPORT
                                  : supports[i];
    all = all && supports[i] <= ASTRO_TAPS_MAX_SUPPORT;
    supports[i] = MIN(supports[i], ASTRO_TAPS_MAX_SUPPORT);
  }
  return all;
}

typedef struct {
  AstroTaps *taps;
  const AstroTapsConfig *config;
} Build;

/* Factors that all sets of a plane share, along either axis. */
typedef struct {
  guint samples, support;
  Row row;
  Complex *turns; /* of each set: exp(2 pi i x fraction of a cell) at the samples, divided by their
                     number */
  Complex *offsets; /* of each set and tap: the phase for where the first sample is */
  guint *firsts;    /* of each set: the sample that tap 0 is, modulo their number */
} Axis;

static void axis_init(Axis *axis, const AstroTaps *taps, guint plane, guint samples)
{
  const guint n = taps->oversampling, support = taps->planes[plane].support;
  *axis = (Axis){ samples,
                  support,
                  new_row(samples),
                  g_new(Complex, (gsize)n * samples),
                  g_new(Complex, (gsize)n * support),
                  g_new(guint, n) };
  for (guint set = 0; set < n; set++) {
    double position = astro_taps_position(taps, plane, set), cell = floor(position);
    axis->firsts[set] = (guint)((gint64)cell + samples);
    for (guint i = 0; i < samples; i++)
      axis->turns[set * samples + i] =
          cexp(2 * G_PI * I * (position - cell) * middle(i, samples)) / samples;
    for (guint k = 0; k < support; k++)
      axis->offsets[set * support + k] = cexp(G_PI * I * (cell + k) * (1.0 / samples - 1));
  }
}

static void axis_clear(Axis *axis)
{
  free_row(&axis->row);
  g_free(axis->turns);
  g_free(axis->offsets);
  g_free(axis->firsts);
}

/* Transforms a row of samples and picks the taps of a set. */
static void take_taps(const Axis *axis, guint set, const Complex *in, Complex *out, gsize step)
{
  const Complex *turns = axis->turns + (gsize)set * axis->samples;
  const Complex *offsets = axis->offsets + (gsize)set * axis->support;
  const guint n = axis->samples;

  for (guint i = 0; i < n; i++)
    axis->row.samples[i] = in[i] * turns[i];
  fftw_execute(axis->row.plan);
  for (guint k = 0, at = axis->firsts[set]; k < axis->support; k++, at++)
    out[k * step] = axis->row.samples[at < n ? at : at - n] * offsets[k];
}

static void store_row(const AstroTapsPlane *plane, gsize at, gboolean is_double, const Complex *row)
{
  for (guint x = 0; x < plane->support; x++)
    if (is_double)
      ((Complex *)plane->taps)[at + x] = row[x];
    else
      ((float complex *)plane->taps)[at + x] = (float complex)row[x];
}

/* ---- mirror images ---- */

/* The mirror image of a set (its taps in opposite order), if it has a smaller number; else set
 * itself, which has to be computed. */
static guint source_of(const Build *build, guint plane, guint set)
{
  const AstroGrid *grid = build->config->grid;
  const gint n = (gint)build->taps->oversampling;
  const gint support = (gint)build->taps->planes[plane].support;
  const gint mirror = n * support / 2 * 2 - (gint)set - n * (support - 1);
  const gboolean is_even = grid->centre_l == 0 && grid->centre_m == 0;
  return is_even && mirror >= 0 && mirror < (gint)set ? (guint)mirror : set;
}

/* Copies a set from its mirror image: rows in opposite order with over_v, each backwards with
 * over_u. */
static void copy_mirrored(const AstroTaps *taps, const AstroTapsPlane *plane, gsize to, gsize from,
                          gboolean over_v, gboolean over_u)
{
  const guint last = plane->support - 1;
  for (guint y = 0; y <= last; y++) {
    const gsize row = to + (gsize)y * plane->stride;
    const gsize other = from + (gsize)(over_v ? last - y : y) * plane->stride;
    for (guint x = 0; x <= last; x++)
      if (taps->is_double)
        ((Complex *)plane->taps)[row + x] =
            ((Complex *)plane->taps)[other + (over_u ? last - x : x)];
      else
        ((float complex *)plane->taps)[row + x] =
            ((float complex *)plane->taps)[other + (over_u ? last - x : x)];
  }
}

static void fill_mirrored(const Build *build, guint index)
{
  const AstroTaps *taps = build->taps;
  for (guint v = 0; v < taps->oversampling; v++)
    for (guint u = 0; u < taps->oversampling; u++) {
      const guint from_v = source_of(build, index, v), from_u = source_of(build, index, u);
      if (from_v != v || from_u != u)
        copy_mirrored(taps, &taps->planes[index], astro_taps_offset(taps, index, v, u),
                      astro_taps_offset(taps, index, from_v, from_u), from_v != v, from_u != u);
    }
}

/* ---- planes ---- */

/* Makes a set from columns that are transformed along v. */
static void build_set(const AstroTaps *taps, guint index, guint v, guint u, const Axis *axis,
                      const Complex *rows, Complex *row)
{
  const AstroTapsPlane *plane = &taps->planes[index];
  const gsize first = astro_taps_offset(taps, index, v, u);
  for (guint y = 0; y < plane->support; y++) {
    take_taps(axis, u, rows + (gsize)y * axis->samples, row, 1);
    store_row(plane, first + (gsize)y * plane->stride, taps->is_double, row);
  }
}

static void build_plane(gpointer data, guint64 task)
{
  const Build *build = data;
  const AstroTaps *taps = build->taps;
  const guint index = (guint)task;
  const AstroTapsPlane *plane = &taps->planes[index];
  Screen screen;
  Axis axis;

  screen_init(&screen, build->config, index * taps->w_step, taps->w_step);
  const gsize n = good_samples(MAX(1.25 * reach(&screen), 1.5 * plane->support) + 8);
  g_autofree double *tapers = new_tapers(screen.grid, (guint)n);
  g_autofree Complex *columns = g_new(Complex, n * n); /* of the screen, one after the other */
  g_autofree Complex *rows = g_new(Complex, plane->support * n);
  g_autofree Complex *row = g_new(Complex, plane->support);
  axis_init(&axis, taps, index, (guint)n);

  for (guint x = 0; x < n && !astro_is_given_up(); x++)
    for (guint y = 0; y < n; y++)
      columns[x * n + y] =
          screen_at(&screen, middle(x, (guint)n), middle(y, (guint)n), tapers[x] * tapers[y]);
  for (guint v = 0; v < taps->oversampling && !astro_is_given_up(); v++) {
    if (source_of(build, index, v) != v)
      continue;
    for (guint x = 0; x < n; x++)
      take_taps(&axis, v, columns + x * n, rows + x, n);
    for (guint u = 0; u < taps->oversampling; u++)
      if (source_of(build, index, u) == u)
        build_set(taps, index, v, u, &axis, rows, row);
  }
  axis_clear(&axis);
  fill_mirrored(build, index);
}

guint64 astro_taps_bytes(const AstroTapsConfig *config)
{
  guint planes = astro_taps_planes(config);
  g_autofree guint *supports = g_new(guint, planes);
  astro_taps_supports(config, 0, planes, supports);
  return astro_taps_bytes_of(config->grid->spread.oversampling, planes, supports,
                             config->is_double);
}

AstroTaps *astro_taps_build(const AstroTapsConfig *config, GError **error)
{
  const AstroGrid *grid = config->grid;
  guint planes = astro_taps_planes(config);
  g_autofree guint *supports = g_new(guint, planes);
  Screen screen;

  astro_taps_supports(config, 0, planes, supports);
  AstroTaps *taps =
      astro_taps_new(grid->spread.oversampling, planes, supports, config->is_double, error);
  if (!taps)
    return NULL;
  screen_init(&screen, config, 0, 0);
  taps->interpolated = grid->spread.interpolated;
  taps->w_step = w_step(config);
  taps->u_per_w = screen.slope_l;
  taps->v_per_w = screen.slope_m;
  taps->turns_per_w = screen.height;
  astro_parallel(planes, config->threads, build_plane, &(Build){ taps, config });
  return taps;
}
