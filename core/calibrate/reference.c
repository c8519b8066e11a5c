/* The reference backend: the formula. It keeps all visibilities of an interval, and goes through
 * all of them in every pass. */
#include "config.h"
#include "core/calibrate/apply.h"
#include "core/calibrate/solve.h"
#include "core/calibrate/solved.h"

#include "core/backend/instance.h"

#include <math.h>
#include <string.h>

typedef struct {
  guint channel, i, j; /* j < i */
  complex double v[4], m[4];
  double w[4];
} Sample;

typedef struct {
  AstroCalibrateConfig config;
  AstroCalibrateSize size;
  guint reference; /* of the solution in progress */
  GArray *samples;
} Reference;

/* A group of channels, in one polarisation or all of them. */
typedef struct {
  const Reference *self;
  guint group, pol;
  gboolean is_full;
  AstroCalibrateGraph graph;
  complex double (*jones)[4]; /* other types use [0] alone */
  double *delays, *weight;
} Cell;

static double power_of(complex double z)
{
  return creal(z) * creal(z) + cimag(z) * cimag(z);
}

/* ---- one sample ---- */

static const Sample *sample_of(const Cell *cell, guint k)
{
  const Sample *sample = &g_array_index(cell->self->samples, Sample, k);
  return sample->channel / astro_calibrate_step(&cell->self->config) == cell->group ? sample : NULL;
}

static double weight_of(const Cell *cell, const Sample *s)
{
  if (!cell->is_full)
    return s->w[cell->pol * cell->self->size.pols + cell->pol];
  return MIN(MIN(s->w[0], s->w[1]), MIN(s->w[2], s->w[3]));
}

/* The elements of V or M that the cell is about, as the baseline from i to the other station. */
static void take(const Cell *cell, const Sample *s, guint i, const complex double from[4],
                 complex double to[4])
{
  memset(to, 0, 4 * sizeof *to);
  if (!cell->is_full) {
    const complex double value = from[cell->pol * cell->self->size.pols + cell->pol];
    to[0] = i == s->i ? value : conj(value);
    return;
  }
  for (guint a = 0; a < 2; a++)
    for (guint b = 0; b < 2; b++)
      to[2 * a + b] = i == s->i ? from[2 * a + b] : conj(from[2 * b + a]);
}

static double offset_of(const Cell *cell, guint channel)
{
  const AstroCalibrateSize *size = &cell->self->size;
  return (channel - (size->channels - 1) / 2.) * cell->self->config.in.bandwidth / size->channels;
}

static void gain_at(const Cell *cell, guint station, guint channel, complex double to[4])
{
  memcpy(to, cell->jones[station], 4 * sizeof *to);
  to[0] *= cexp(-2 * G_PI * I * cell->delays[station] * offset_of(cell, channel));
}

/* ---- a station, with all others held ---- */

/* Sums of V Z^H and Z Z^H over samples, with Z = M J_j^H, and the sum of V Z^H in each channel. */
static void meet(const Cell *cell, guint i, complex double x[4], complex double y[4],
                 complex double *spectrum)
{
  memset(x, 0, 4 * sizeof *x);
  memset(y, 0, 4 * sizeof *y);
  memset(spectrum, 0, cell->self->size.channels * sizeof *spectrum);
  for (guint k = 0; k < cell->self->samples->len; k++) {
    const Sample *s = sample_of(cell, k);
    complex double v[4], m[4], gain[4], z[4], vz[4], zz[4];
    const double w = s && (s->i == i || s->j == i) ? weight_of(cell, s) : 0;
    if (w == 0)
      continue;
    take(cell, s, i, s->v, v);
    take(cell, s, i, s->m, m);
    gain_at(cell, s->i == i ? s->j : s->i, s->channel, gain);
    astro_jones_multiply_adjoint(m, gain, z);
    astro_jones_multiply_adjoint(v, z, vz);
    astro_jones_multiply_adjoint(z, z, zz);
    for (guint n = 0; n < 4; n++) {
      x[n] += w * vz[n];
      y[n] += w * zz[n];
    }
    spectrum[s->channel] += w * vz[0];
  }
}

static double length_at(const Cell *cell, const complex double *spectrum, double delay,
                        complex double *sum)
{
  *sum = 0;
  for (guint c = 0; c < cell->self->size.channels; c++)
    *sum += spectrum[c] * cexp(2 * G_PI * I * delay * offset_of(cell, c));
  return cabs(*sum);
}

#define TRIES 8 /* within the resolution of the band */

/* The delay of the longest sum: first of many in turn, then by halving the steps about it. */
static double best_delay(const Cell *cell, const complex double *spectrum, complex double *sum)
{
  const guint n = TRIES * cell->self->size.channels;
  const double range = cell->self->size.channels / cell->self->config.in.bandwidth;
  double best = 0, step = range / n, most = -1;
  for (guint k = 0; k < n; k++) {
    const double delay = ((double)k / n - 0.5) * range,
                 length = length_at(cell, spectrum, delay, sum);
    if (length > most) {
      most = length;
      best = delay;
    }
  }
  for (; step > 1e-12 * range; step /= 2)
    for (int sign = -1; sign <= 1; sign += 2)
      if (length_at(cell, spectrum, best + sign * step, sum) > most) {
        most = length_at(cell, spectrum, best + sign * step, sum);
        best += sign * step;
      }
  length_at(cell, spectrum, best, sum);
  return best;
}

/* FALSE: the model does not determine it. */
static gboolean solve_station(const Cell *cell, guint i)
{
  const AstroGainsType type = cell->self->config.type;
  g_autofree complex double *spectrum = g_new(complex double, cell->self->size.channels);
  complex double x[4], y[4], inverse[4], sum;
  meet(cell, i, x, y, spectrum);
  cell->weight[i] = creal(y[0]);
  if (cell->is_full) {
    if (!astro_jones_invert(y, inverse))
      return FALSE;
    astro_jones_multiply(x, inverse, cell->jones[i]);
    cell->weight[i] = 1 / creal(inverse[0] + inverse[3]);
  } else if (type == ASTRO_GAINS_DELAY) {
    cell->delays[i] = best_delay(cell, spectrum, &sum);
    cell->jones[i][0] = cabs(sum) > 0 ? sum / cabs(sum) : 1;
  } else if (cabs(x[0]) == 0) {
    cell->jones[i][0] = 0;
  } else {
    cell->jones[i][0] = x[0] / (type == ASTRO_GAINS_PHASE ? cabs(x[0]) : creal(y[0]));
  }
  return TRUE;
}

/* ---- all stations ---- */

static double weigh(gconstpointer data, guint i, guint j)
{
  const Cell *cell = data;
  double sum = 0;
  for (guint k = 0; k < cell->self->samples->len; k++) {
    const Sample *s = sample_of(cell, k);
    if (!s || s->i != MAX(i, j) || s->j != MIN(i, j))
      continue;
    complex double m[4];
    take(cell, s, s->i, s->m, m);
    for (guint n = 0; n < 4; n++)
      sum += weight_of(cell, s) * power_of(m[n]);
  }
  return sum;
}

static double amplitude_of(const Cell *cell)
{
  double sum = 0, weight = 0;
  for (guint k = 0; k < cell->self->samples->len; k++) {
    const Sample *s = sample_of(cell, k);
    complex double v[4], m[4];
    if (!s)
      continue;
    take(cell, s, s->i, s->v, v);
    take(cell, s, s->i, s->m, m);
    for (guint n = 0; n < 4; n += 3) {
      sum += weight_of(cell, s) * cabs(v[n] * m[n]);
      weight += weight_of(cell, s) * power_of(m[n]);
    }
  }
  return weight > 0 ? sqrt(sum / weight) : 0;
}

/* Passes until nothing changes. */
static void solve_cell(Cell *cell, AstroCalibrateFound *found)
{
  const AstroCalibrateGraph *graph = &cell->graph;
  const AstroGainsType type = cell->self->config.type;
  const gboolean is_unit = type == ASTRO_GAINS_PHASE || type == ASTRO_GAINS_DELAY;
  const double scale = cell->self->config.in.bandwidth;
  cell->jones[graph->order[0]][0] = is_unit ? 1 : amplitude_of(cell);
  if (cell->is_full)
    cell->jones[graph->order[0]][3] = cell->jones[graph->order[0]][0];
  for (guint k = 1; k < graph->n && !found->undetermined; k++)
    found->undetermined = !solve_station(cell, graph->order[k]);
  while (!found->undetermined && !found->converged &&
         found->iterations++ < ASTRO_CALIBRATE_MAX_ITERATIONS && !astro_is_given_up()) {
    double change = 0, all = 0;
    for (guint k = 0; k < graph->n && !found->undetermined; k++) {
      const guint i = graph->order[k];
      const double delay = cell->delays[i];
      complex double before[4];
      memcpy(before, cell->jones[i], sizeof before);
      found->undetermined = !solve_station(cell, i);
      for (guint n = 0; n < 4; n++) {
        change += power_of(cell->jones[i][n] - before[n]);
        all += power_of(cell->jones[i][n]);
      }
      change += pow((cell->delays[i] - delay) * scale, 2);
    }
    found->converged = change <= all * pow(ASTRO_CALIBRATE_TOLERANCE, 2);
  }
}

/* ---- what comes of it ---- */

static void add_squares(const Cell *cell, AstroCalibrateFound *found, double moments[4][4],
                        guint *channels)
{
  guint last = G_MAXUINT;
  for (guint k = 0; k < cell->self->samples->len; k++) {
    const Sample *s = sample_of(cell, k);
    const double w =
        s && cell->graph.joined[s->i] && cell->graph.joined[s->j] ? weight_of(cell, s) : 0;
    complex double v[4], m[4], a[4], b[4], half[4], seen[4];
    if (w == 0)
      continue;
    take(cell, s, s->i, s->v, v);
    take(cell, s, s->i, s->m, m);
    gain_at(cell, s->i, s->channel, a);
    gain_at(cell, s->j, s->channel, b);
    astro_jones_multiply(a, m, half);
    astro_jones_multiply_adjoint(half, b, seen);
    for (guint n = 0; n < 4; n++) {
      found->squares += w * power_of(v[n] - seen[n]);
      found->energy += w * power_of(v[n]);
    }
    found->values += cell->is_full ? 4 : 1;
    *channels += s->channel != last;
    last = s->channel;
    const complex double parts[4] = { (m[0] + m[3]) / 2, (m[0] - m[3]) / 2, (m[1] + m[2]) / 2,
                                      I * (m[1] - m[2]) / 2 };
    for (guint x = 0; x < 4; x++)
      for (guint y = 0; y < 4; y++)
        moments[x][y] += w * creal(parts[x] * conj(parts[y]));
  }
}

static void turn(Cell *cell, AstroCalibrateFound *found, double moments[4][4])
{
  const AstroCalibrateGraph *graph = &cell->graph;
  const guint reference = graph->reference;
  const complex double own = cell->jones[reference][0];
  const double delay = cell->delays[reference];
  if (cell->is_full) {
    found->free_angles =
        astro_calibrate_turn(cell->jones, cell->self->size.stations, reference, moments);
    return;
  }
  for (guint k = 0; k < graph->n; k++) {
    const guint i = graph->order[k];
    cell->jones[i][0] = i == reference ? cabs(own) : cell->jones[i][0] * conj(own) / cabs(own);
    cell->delays[i] -= delay;
  }
}

/* The numbers of two parts that were solved. */
static double solved_of(const Cell *cell, guint free_angles)
{
  const double n = cell->graph.n;
  switch (cell->self->config.type) {
  case ASTRO_GAINS_PHASE:
    return (n - 1) / 2;
  case ASTRO_GAINS_DELAY:
    return n - 1;
  case ASTRO_GAINS_FULL:
    return (8 * n - 1 - free_angles) / 2;
  default:
    return (2 * n - 1) / 2;
  }
}

/* The factors of baselines, for delays of each channel. */
static void add_scatter(const Cell *cell, AstroCalibrateFound *found)
{
  const gboolean is_delay = cell->self->config.type == ASTRO_GAINS_DELAY;
  const gsize n = cell->self->size.stations, square = n * n,
              places = square * (is_delay ? cell->self->size.channels : 1);
  g_autofree complex double *a = g_new0(complex double, places);
  g_autofree double *b = g_new0(double, places);
  for (guint k = 0; k < cell->self->samples->len; k++) {
    const Sample *s = sample_of(cell, k);
    complex double v[4], m[4];
    if (!s || !cell->graph.joined[s->i] || !cell->graph.joined[s->j] || weight_of(cell, s) == 0)
      continue;
    take(cell, s, s->i, s->v, v);
    take(cell, s, s->i, s->m, m);
    const gsize at = (is_delay ? s->channel * square : 0) + s->i * n + s->j;
    a[at] += weight_of(cell, s) * v[0] * conj(m[0]);
    b[at] += weight_of(cell, s) * power_of(m[0]);
  }
  found->scatter.squares = found->energy;
  for (gsize k = 0; k < places; k++)
    if (b[k] > 0) {
      found->scatter.squares -= power_of(a[k]) / b[k];
      found->scatter.factors++;
    }
}

static void finish(Cell *cell, AstroCalibrateFound *found)
{
  const AstroGainsType type = cell->self->config.type;
  const gboolean is_unit = type == ASTRO_GAINS_PHASE || type == ASTRO_GAINS_DELAY;
  double moments[4][4] = { 0 };
  guint channels = 0;
  add_squares(cell, found, moments, &channels);
  turn(cell, found, moments);
  if (!cell->is_full)
    add_scatter(cell, found);
  found->freedom = (double)found->values - solved_of(cell, found->free_angles);
  found->undetermined |= found->freedom <= 0 || (!is_unit && !cell->graph.has_odd_circle) ||
                         (type == ASTRO_GAINS_DELAY && channels < 2);
}

static void solve_group(const Reference *self, guint group, guint pol, AstroCalibrateSolved *solved)
{
  const gsize n = self->size.stations;
  const gboolean is_full = self->config.type == ASTRO_GAINS_FULL;
  g_autofree complex double *jones = g_new0(complex double, 4 * n),
                            *gains = g_new0(complex double, 4 * n);
  g_autofree double *numbers = g_new0(double, 2 * n);
  Cell cell = { .self = self,
                .group = group,
                .pol = pol,
                .is_full = is_full,
                .jones = (complex double(*)[4])jones,
                .delays = numbers,
                .weight = numbers + n };
  AstroCalibrateFound found = { .group = group, .pol = pol, .reference = self->reference };
  astro_calibrate_graph_init(&cell.graph, (guint)n, self->reference, weigh, &cell);
  if (cell.graph.n) {
    solve_cell(&cell, &found);
    finish(&cell, &found);
  }
  for (gsize i = 0; i < n; i++)
    for (guint k = 0; k < (is_full ? 4 : 1); k++)
      gains[is_full ? 4 * i + k : i] = cell.jones[i][k];
  found.graph = &cell.graph;
  found.gains = gains;
  found.delays = cell.delays;
  found.weight = cell.weight;
  astro_calibrate_solved_add(&self->config, &found, solved);
  astro_calibrate_graph_clear(&cell.graph);
}

static void solve(Reference *self, AstroCalibrateSolved *solved)
{
  const guint pols = self->config.type == ASTRO_GAINS_FULL ? 1 : self->size.pols;
  astro_calibrate_solved_begin(&self->config, solved);
  for (guint group = 0; group < astro_calibrate_groups(&self->config); group++)
    for (guint pol = 0; pol < pols; pol++)
      solve_group(self, group, pol, solved);
  g_array_set_size(self->samples, 0);
}

/* ---- blocks ---- */

static void add_channel(Reference *self, const AstroCalibrateChannel *at,
                        const complex double *model)
{
  for (guint i = 0; i < self->size.stations; i++)
    for (guint j = 0; j <= i; j++, model += self->size.products) {
      Sample sample = { .channel = at->channel, .i = i, .j = j };
      for (guint k = 0; k < self->size.products; k++) {
        sample.v[k] = astro_calibrate_value(at, (guint64)i * (i + 1) / 2 + j, k, &sample.w[k]);
        const gboolean is_known = isfinite(creal(model[k])) && isfinite(cimag(model[k]));
        sample.m[k] = is_known ? model[k] : 0;
        sample.w[k] = is_known ? sample.w[k] : 0;
      }
      if (i != j)
        g_array_append_val(self->samples, sample);
    }
}

static void apply_channel(Reference *self, const AstroCalibrateChannel *at,
                          const AstroCalibrateArguments *arguments, gpointer out)
{
  const AstroCalibrateSize *size = &self->size;
  const gsize cell = at->step * size->channels + at->channel;
  const AstroGainsAt *gains = arguments->gains + cell * size->stations;
  gboolean mixes = FALSE;
  gsize to = cell * size->baselines * size->products;
  for (guint i = 0; i < size->stations; i++)
    mixes |= gains[i].jones[1] != 0 || gains[i].jones[2] != 0;
  for (guint i = 0; i < size->stations; i++)
    for (guint j = 0; j <= i; j++, to += size->products) {
      AstroCalibrateInverse a, b;
      complex double from[4], corrected[4];
      double counts[4];
      for (guint k = 0; k < size->products; k++)
        from[k] = astro_calibrate_value(at, (guint64)i * (i + 1) / 2 + j, k, &counts[k]);
      astro_calibrate_invert(&gains[i], size->pols, &a);
      astro_calibrate_invert(&gains[j], size->pols, &b);
      astro_calibrate_correct(&a, &b, mixes, size->pols, from, counts, arguments->count_scale,
                              corrected, arguments->counts + to);
      astro_calibrate_write(self->config.out.format, out, to, corrected, size->products);
    }
}

static void go_through(Reference *self, const AstroCalibrateArguments *arguments,
                       const AstroBlock *in, gpointer out)
{
  const AstroCalibrateSize *size = &self->size;
  AstroCalibrateChannel at;
  astro_calibrate_channel_init(&at, &self->config, arguments, in);
  for (at.step = 0; at.step < arguments->steps; at.step++)
    for (at.channel = 0; at.channel < size->channels; at.channel++)
      if (out)
        apply_channel(self, &at, arguments, out);
      else
        add_channel(self, &at,
                    arguments->model +
                        (at.step * size->channels + at.channel) * size->baselines * size->products);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroCalibrateArguments *arguments = data;
  if (!astro_calibrate_check(&self->config, in, n_in, n_out, arguments, result, error))
    return FALSE;
  if (n_in)
    go_through(self, arguments, in, n_out ? out->data : NULL);
  self->reference = arguments->reference;
  if (arguments->work == ASTRO_CALIBRATE_SOLVE)
    solve(self, result->own);
  if (arguments->work == ASTRO_CALIBRATE_FORGET)
    g_array_set_size(self->samples, 0);
  return TRUE;
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  g_array_unref(self->samples);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Reference *self = astro_instance_new(&astro_calibrate_reference, sizeof *self, config, error);
  (void)place;
  if (!self)
    return NULL;
  self->size = astro_calibrate_size(&self->config);
  self->samples = g_array_new(FALSE, FALSE, sizeof(Sample));
  *variant = "c";
  return self;
}

const AstroBackend astro_calibrate_reference = {
  .stage = "calibrate",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroCalibrateConfig),
  .shape = astro_calibrate_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
