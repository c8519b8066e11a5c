/* Adds visibilities and their model up. */
#include "config.h"
#include "core/calibrate/sums.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"
#include "core/calibrate/complex.h"

static gsize pairs_of(const AstroCalibrateSums *sums)
{
  return (gsize)sums->size.stations * (sums->size.stations - 1) / 2;
}

static gboolean make_room(AstroCalibrateSums *sums)
{
  const gsize cells = sums->cells, rows = cells * sums->size.stations;
  sums->energy = g_try_new0(double, rows);
  sums->values = g_try_new0(guint64, rows);
  if (sums->config.type == ASTRO_GAINS_FULL) {
    sums->jones = g_try_new0(AstroJonesSums, MAX(cells * pairs_of(sums), 1));
    return sums->energy && sums->values && sums->jones;
  }
  sums->re = g_try_new0(double, cells * sums->square);
  sums->im = g_try_new0(double, cells * sums->square);
  sums->b = g_try_new0(double, cells * sums->square);
  return sums->energy && sums->values && sums->re && sums->im && sums->b;
}

AstroCalibrateSums *astro_calibrate_sums_new(const AstroCalibrateConfig *config, GError **error)
{
  AstroCalibrateSums *sums = g_new0(AstroCalibrateSums, 1);
  const gboolean is_full = config->type == ASTRO_GAINS_FULL;
  sums->config = *config;
  sums->size = astro_calibrate_size(config);
  sums->step = config->type == ASTRO_GAINS_DELAY ? 1 : astro_calibrate_step(config);
  sums->groups = (sums->size.channels + sums->step - 1) / sums->step;
  sums->cells = sums->groups * (is_full ? 1 : sums->size.pols);
  sums->square = (gsize)sums->size.stations * sums->size.stations;
  if (make_room(sums))
    return sums;
  astro_backend_no_memory(error, "no memory for the sums of %u groups of %u stations", sums->groups,
                          sums->size.stations);
  astro_calibrate_sums_free(sums);
  return NULL;
}

void astro_calibrate_sums_free(AstroCalibrateSums *sums)
{
  g_free(sums->re);
  g_free(sums->im);
  g_free(sums->b);
  g_free(sums->jones);
  g_free(sums->energy);
  g_free(sums->values);
  g_free(sums);
}

void astro_calibrate_sums_clear(AstroCalibrateSums *sums)
{
  const gsize cells = sums->cells, rows = cells * sums->size.stations;
  memset(sums->energy, 0, rows * sizeof *sums->energy);
  memset(sums->values, 0, rows * sizeof *sums->values);
  if (sums->jones) {
    memset(sums->jones, 0, cells * pairs_of(sums) * sizeof *sums->jones);
    return;
  }
  memset(sums->re, 0, cells * sums->square * sizeof *sums->re);
  memset(sums->im, 0, cells * sums->square * sizeof *sums->im);
  memset(sums->b, 0, cells * sums->square * sizeof *sums->b);
}

/* ---- adding ---- */

typedef struct {
  AstroCalibrateSums *sums;
  const AstroCalibrateArguments *arguments;
  const AstroBlock *in;
} Work;

/* A baseline of a channel: values and counts of its products. */
typedef struct {
  const complex double *v, *m;
  const double *w;
} Baseline;

/* Baselines of a station with those before it, of one polarisation of a channel. Where there is no
 * model, nothing can be said about gains. */
static void add_alone(AstroCalibrateSums *sums, guint cell, guint i,
                      const AstroCalibrateChannel *at, const complex double *model,
                      complex double *values, double *counts)
{
  const guint p = cell % sums->size.pols, product = p * sums->size.pols + p,
              products = sums->size.products;
  const gsize to = cell * sums->square + (gsize)i * sums->size.stations,
              row = (gsize)cell * sums->size.stations + i;
  double *re = sums->re + to, *im = sums->im + to, *b = sums->b + to, energy = 0;
  guint64 n = 0;
  astro_calibrate_column(at, i, product, values, counts);
  for (guint j = 0; j < i; j++) {
    const complex double given = model[(gsize)j * products + product];
    const gboolean is_known = isfinite(creal(given)) && isfinite(cimag(given));
    const complex double m = is_known ? given : 0, a = astro_times_conj(values[j], m);
    const double w = is_known ? counts[j] : 0;
    re[j] += w * creal(a);
    im[j] += w * cimag(a);
    b[j] += w * astro_power(m);
    energy += w * astro_power(values[j]);
    n += w > 0;
  }
  sums->energy[row] += energy;
  sums->values[row] += n;
}

/* A matrix has one weight, the least of those of its elements. */
static void add_jones(AstroCalibrateSums *sums, guint group, guint i, guint j, const Baseline *at)
{
  const guint n = sums->size.products;
  AstroJonesSums *to = &sums->jones[group * pairs_of(sums) + (gsize)i * (i - 1) / 2 + j];
  double weight = at->w[0], energy = 0;
  for (guint k = 0; k < n; k++) {
    weight = MIN(weight, at->w[k]);
    energy += astro_power(at->v[k]);
  }
  if (weight == 0)
    return;
  for (guint ab = 0; ab < n; ab++) {
    const complex double v = weight * at->v[ab], m = weight * at->m[ab];
    for (guint cd = 0; cd < n; cd++) {
      to->s[4 * ab + cd] += astro_times_conj(v, at->m[cd]);
      to->t[4 * ab + cd] += astro_times_conj(m, at->m[cd]);
    }
  }
  sums->energy[(gsize)group * sums->size.stations + i] += weight * energy;
  sums->values[(gsize)group * sums->size.stations + i] += n;
}

static void drop_unknown(const complex double *model, gsize n, double *counts)
{
  for (gsize k = 0; k < n; k++)
    if (!isfinite(creal(model[k])) || !isfinite(cimag(model[k])))
      counts[k] = 0;
}

static void add_matrices(AstroCalibrateSums *sums, guint group, guint i,
                         const AstroCalibrateChannel *at, const complex double *model,
                         complex double *values, double *counts)
{
  astro_calibrate_row(at, i, values, counts);
  drop_unknown(model, (gsize)(i + 1) * sums->size.products, counts);
  for (guint j = 0; j < i; j++) {
    const gsize k = (gsize)j * sums->size.products;
    const Baseline baseline = { values + k, model + k, counts + k };
    add_jones(sums, group, i, j, &baseline);
  }
}

/* Baselines of a station with those before it, in a group. */
static void add_row(gpointer data, guint64 task)
{
  const Work *work = data;
  AstroCalibrateSums *sums = work->sums;
  const AstroCalibrateSize *size = &sums->size;
  const guint group = (guint)(task / size->stations), i = (guint)(task % size->stations);
  const guint first = group * sums->step, last = MIN(first + sums->step, size->channels);
  const gsize row = (gsize)(i + 1) * size->products;
  g_autofree complex double *values = g_new(complex double, row);
  g_autofree double *counts = g_new(double, row);
  AstroCalibrateChannel at;
  astro_calibrate_channel_init(&at, &sums->config, work->arguments, work->in);
  for (at.step = 0; at.step < work->arguments->steps && !astro_is_given_up(); at.step++)
    for (at.channel = first; at.channel < last; at.channel++) {
      const complex double *model =
          work->arguments->model +
          ((at.step * size->channels + at.channel) * size->baselines + (gsize)i * (i + 1) / 2) *
              size->products;
      if (sums->jones)
        add_matrices(sums, group, i, &at, model, values, counts);
      for (guint p = 0; p < size->pols && !sums->jones; p++)
        add_alone(sums, group * size->pols + p, i, &at, model, values, counts);
    }
}

void astro_calibrate_sums_add(AstroCalibrateSums *sums, const AstroCalibrateArguments *arguments,
                              const AstroBlock *in, guint threads)
{
  Work work = { sums, arguments, in };
  astro_parallel((guint64)sums->groups * sums->size.stations, threads, add_row, &work);
}

/* ---- reading ---- */

void astro_calibrate_sums_mirror(AstroCalibrateSums *sums, guint cell)
{
  const gsize n = sums->size.stations, at = cell * sums->square;
  if (sums->jones)
    return;
  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < i; j++) {
      sums->re[at + j * n + i] = sums->re[at + i * n + j];
      sums->im[at + j * n + i] = -sums->im[at + i * n + j];
      sums->b[at + j * n + i] = sums->b[at + i * n + j];
    }
}

double astro_calibrate_sums_weight(const AstroCalibrateSums *sums, guint cell, guint i, guint j)
{
  const guint high = MAX(i, j), low = MIN(i, j);
  if (i == j)
    return 0;
  if (!sums->jones)
    return sums->b[cell * sums->square + (gsize)high * sums->size.stations + low];
  const complex double *t =
      sums->jones[cell * pairs_of(sums) + (gsize)high * (high - 1) / 2 + low].t;
  return creal(t[0] + t[5] + t[10] + t[15]);
}

void astro_calibrate_sums_scatter(const AstroCalibrateSums *sums, guint cell, guint i, guint j,
                                  AstroCalibrateScatter *scatter)
{
  const gsize at = cell * sums->square + (gsize)i * sums->size.stations + j;
  const double re = sums->re[at], im = sums->im[at];
  if (sums->b[at] == 0)
    return;
  scatter->squares -= (re * re + im * im) / sums->b[at];
  scatter->factors++;
}
