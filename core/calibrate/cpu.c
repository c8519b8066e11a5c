/* The cpu backend: sums over an interval first, then passes over the sums. */
#include "config.h"
#include "core/calibrate/apply.h"
#include "core/calibrate/solve.h"
#include "core/calibrate/solved.h"

#include "core/backend/instance.h"
#include "core/backend/threads.h"

typedef struct {
  AstroCalibrateConfig config;
  guint threads;
  guint reference; /* of the solution in progress */
  AstroCalibrateSums *sums;
} Calibrate;

/* ---- solving ---- */

/* A cell of the solution, with room of its own, so that cells are solved side by side. */
typedef struct {
  AstroCalibrateGraph graph;
  AstroCalibrateCell cell;
  complex double *gains;
  double *delays, *weight;
} Solution;

typedef struct {
  Calibrate *self;
  Solution *solutions;
} Solving;

/* For delays, all channels of a polarisation are one cell. */
static guint cells_of(const AstroCalibrateSums *sums)
{
  return sums->config.type == ASTRO_GAINS_DELAY ? sums->size.pols : sums->cells;
}

static double weigh(gconstpointer data, guint i, guint j)
{
  const AstroCalibrateCell *cell = data;
  const AstroCalibrateSums *sums = cell->sums;
  double sum = 0;
  if (sums->config.type != ASTRO_GAINS_DELAY)
    return astro_calibrate_sums_weight(sums, cell->cell, i, j);
  for (guint c = 0; c < sums->size.channels; c++)
    sum += astro_calibrate_sums_weight(sums, c * sums->size.pols + cell->cell, i, j);
  return sum;
}

static void mirror(AstroCalibrateSums *sums, guint cell)
{
  if (sums->config.type != ASTRO_GAINS_DELAY) {
    astro_calibrate_sums_mirror(sums, cell);
    return;
  }
  for (guint c = 0; c < sums->size.channels; c++)
    astro_calibrate_sums_mirror(sums, c * sums->size.pols + cell);
}

static void solve_cell(gpointer data, guint64 task)
{
  Solving *solving = data;
  AstroCalibrateSums *sums = solving->self->sums;
  Solution *solution = &solving->solutions[task];
  AstroCalibrateCell *cell = &solution->cell;
  const gsize n = sums->size.stations;
  solution->gains = g_new0(complex double, n *(sums->jones ? 4 : 1));
  solution->delays = g_new0(double, n);
  solution->weight = g_new0(double, n);
  *cell = (AstroCalibrateCell){ .sums = sums,
                                .cell = (guint)task,
                                .graph = &solution->graph,
                                .gains = solution->gains,
                                .delays = solution->delays,
                                .weight = solution->weight };
  mirror(sums, (guint)task);
  astro_calibrate_graph_init(&solution->graph, (guint)n, solving->self->reference, weigh, cell);
  if (solution->graph.n == 0)
    return;
  if (sums->jones)
    astro_calibrate_solve_full(cell);
  else if (sums->config.type == ASTRO_GAINS_DELAY)
    astro_calibrate_solve_delay(cell);
  else
    astro_calibrate_solve_alone(cell);
}

static double energy_of(const AstroCalibrateSums *sums, guint task)
{
  const gboolean is_delay = sums->config.type == ASTRO_GAINS_DELAY;
  double sum = 0;
  for (guint c = 0; c < (is_delay ? sums->size.channels : 1); c++)
    for (guint i = 0; i < sums->size.stations; i++)
      sum +=
          sums->energy[(gsize)(is_delay ? c * sums->size.pols + task : task) * sums->size.stations +
                       i];
  return sum;
}

static void tell(const Calibrate *self, const Solution *solution, guint task,
                 AstroCalibrateSolved *solved)
{
  const AstroCalibrateSums *sums = self->sums;
  const AstroCalibrateCell *cell = &solution->cell;
  const guint pols = sums->jones ? 1 : sums->size.pols;
  const AstroCalibrateFound found = {
    .group = task / pols,
    .pol = task % pols,
    .reference = self->reference,
    .graph = &solution->graph,
    .gains = solution->gains,
    .delays = solution->delays,
    .weight = solution->weight,
    .converged = cell->converged,
    .undetermined = cell->undetermined,
    .iterations = cell->iterations,
    .free_angles = cell->free_angles,
    .squares = cell->squares,
    .freedom = cell->freedom,
    .energy = energy_of(sums, task),
    .values = cell->values,
    .scatter = cell->scatter,
  };
  astro_calibrate_solved_add(&self->config, &found, solved);
}

static void solve(Calibrate *self, AstroCalibrateSolved *solved)
{
  const guint n = cells_of(self->sums);
  g_autofree Solution *solutions = g_new0(Solution, n);
  Solving solving = { self, solutions };
  astro_calibrate_solved_begin(&self->config, solved);
  astro_parallel(n, self->threads, solve_cell, &solving);
  for (guint k = 0; k < n; k++) {
    if (solutions[k].weight)
      tell(self, &solutions[k], k, solved);
    if (solutions[k].graph.order)
      astro_calibrate_graph_clear(&solutions[k].graph);
    g_free(solutions[k].gains);
    g_free(solutions[k].delays);
    g_free(solutions[k].weight);
  }
  astro_calibrate_sums_clear(self->sums);
}

/* ---- applying ---- */

typedef struct {
  const Calibrate *self;
  const AstroCalibrateArguments *arguments;
  const AstroBlock *in, *out;
  AstroCalibrateSize size;
} Applying;

/* A channel of a step. */
static void apply_channel(gpointer data, guint64 task)
{
  const Applying *work = data;
  const AstroCalibrateSize *size = &work->size;
  const AstroCalibrateArguments *arguments = work->arguments;
  const AstroFormat format = work->self->config.out.format;
  g_autofree AstroCalibrateInverse *inverse = g_new(AstroCalibrateInverse, size->stations);
  const gsize row = (gsize)size->stations * size->products;
  g_autofree complex double *values = g_new(complex double, row);
  g_autofree double *counts = g_new(double, row);
  gboolean mixes = FALSE;
  AstroCalibrateChannel at;
  astro_calibrate_channel_init(&at, &work->self->config, arguments, work->in);
  at.step = task / size->channels;
  at.channel = (guint)(task % size->channels);
  for (guint i = 0; i < size->stations; i++) {
    const AstroGainsAt *gains = &arguments->gains[task * size->stations + i];
    mixes |= gains->jones[1] != 0 || gains->jones[2] != 0;
    astro_calibrate_invert(gains, size->pols, &inverse[i]);
  }
  gsize to = task * size->baselines * size->products;
  for (guint i = 0; i < size->stations; i++) {
    astro_calibrate_row(&at, i, values, counts);
    for (guint j = 0; j <= i; j++, to += size->products) {
      const gsize k = (gsize)j * size->products;
      complex double corrected[4];
      astro_calibrate_correct(&inverse[i], &inverse[j], mixes, size->pols, values + k, counts + k,
                              arguments->count_scale, corrected, arguments->counts + to);
      astro_calibrate_write(format, work->out->data, to, corrected, size->products);
    }
  }
}

static void apply(const Calibrate *self, const AstroCalibrateArguments *arguments,
                  const AstroBlock *in, const AstroBlock *out)
{
  Applying work = { self, arguments, in, out, astro_calibrate_size(&self->config) };
  astro_parallel(arguments->steps * work.size.channels, self->threads, apply_channel, &work);
}

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Calibrate *self = instance;
  g_clear_pointer(&self->sums, astro_calibrate_sums_free);
  g_free(self);
}

/* Sums are made when something is added: an instance that only applies needs none. */
static gboolean add(Calibrate *self, const AstroCalibrateArguments *arguments, const AstroBlock *in,
                    GError **error)
{
  if (!self->sums)
    self->sums = astro_calibrate_sums_new(&self->config, error);
  if (!self->sums)
    return FALSE;
  astro_calibrate_sums_add(self->sums, arguments, in, self->threads);
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Calibrate *self = instance;
  const AstroCalibrateArguments *arguments = data;
  if (!astro_calibrate_check(&self->config, in, n_in, n_out, arguments, result, error))
    return FALSE;
  switch (arguments->work) {
  case ASTRO_CALIBRATE_ADD:
    return add(self, arguments, in, error);
  case ASTRO_CALIBRATE_APPLY:
    apply(self, arguments, in, out);
    return TRUE;
  case ASTRO_CALIBRATE_SOLVE:
    self->reference = arguments->reference;
    if (self->sums)
      solve(self, result->own);
    else
      astro_calibrate_solved_begin(&self->config, result->own);
    return TRUE;
  case ASTRO_CALIBRATE_FORGET:
    if (self->sums)
      astro_calibrate_sums_clear(self->sums);
    return TRUE;
  }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Calibrate *self = astro_instance_new(&astro_calibrate_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->threads = place->threads;
  *variant = "c";
  return self;
}

const AstroBackend astro_calibrate_cpu = {
  .stage = "calibrate",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroCalibrateConfig),
  .shape = astro_calibrate_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_calibrate_backends[] = { &astro_calibrate_cpu,
                                                         &astro_calibrate_reference, NULL };
