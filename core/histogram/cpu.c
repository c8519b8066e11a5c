/* The cpu backend walks two trees at once. Two cells whose pairs all fall between the same two
 * edges are counted as a whole. Two leaves are compared only with the edges within the range of
 * their separations: first in single precision, then in double if that cannot tell. */
#include "core/backend/threads.h"
#include "core/histogram/check.h"
#include "core/histogram/count.h"
#include "core/histogram/fields.h"
#include "core/histogram/space-cpu.h"

#include <math.h>

typedef struct {
  const Counter *counter;
  const AstroPoints *a, *b;
  gboolean brute;
  guint64 places[ASTRO_HISTOGRAM_MAX_EDGES + 1];
  double weights[ASTRO_HISTOGRAM_MAX_EDGES + 1];
} Walk;

/* Adds pairs to their places: total in all, of which below[k] lie below edge first + k, for n
 * edges. */
static void tally(Walk *walk, guint first, guint n, guint64 total, const guint64 *below)
{
  guint64 before = 0;
  for (guint k = 0; k <= n; k++) {
    guint64 up_to = k < n ? below[k] : total;
    walk->places[first + k] += up_to - before;
    before = up_to;
  }
}

/* Counts and weighs the pairs of two different leaves, for n edges. */
static void weigh_leaves(Walk *walk, const Cell *a, const Cell *b, guint first, guint n)
{
  static const double ones[LEAF_POINTS] = { [0 ... LEAF_POINTS - 1] = 1 };
  const AstroPoints *as = walk->a, *bs = walk->b;
  const double *wa = as->weights ? as->weights + (gsize)a->first_leaf * LEAF_POINTS : ones,
               *wb = bs->weights ? bs->weights + (gsize)b->first_leaf * LEAF_POINTS : ones;
  guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES + 1];
  double sums[ASTRO_HISTOGRAM_MAX_EDGES + 1];
  walk->counter->kernels->weighted(&as->positions[a->first_leaf], wa, (guint)a->n,
                                   &bs->positions[b->first_leaf], wb,
                                   walk->counter->squares + first, n, counts, sums);
  for (guint k = 0; k <= n; k++) {
    walk->places[first + k] += counts[k];
    walk->weights[first + k] += sums[k];
  }
}

/* Counts the pairs of two different leaves in single precision; FALSE if that cannot tell. */
static gboolean below_in_single(const Walk *walk, const Cell *a, const Cell *b, guint first,
                                guint n, guint64 *below)
{
  const Counter *counter = walk->counter;
  const double *squares = counter->squares + first;
  if (isinf(squares[0])) /* the bins begin above 180 degrees */
    return FALSE;
  double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
  double square = dx * dx + dy * dy + dz * dz, reach = a->chord + b->chord;
  double distance = sqrt(square);
  double doubt = single_doubt(square, distance, reach, squares[0]);
  /* How much the square of the distance of a's points changes from b's middle to its furthest
   * point. */
  double lower = 2 * (distance + a->chord) * b->chord, raise = lower + b->chord * b->chord;
  LeafShift shift = { (float)(2 * dx),        (float)(2 * dy),
                      (float)(2 * dz),        (float)(square - squares[0]),
                      (float)(lower + doubt), (float)(-raise - doubt) };
  float limits[ASTRO_HISTOGRAM_MAX_EDGES];
  for (guint k = 0; k < n; k++)
    limits[k] = (float)(squares[k] - squares[0]);
  gboolean is_sure = counter->kernels->below_single(&walk->a->offsets[a->first_leaf], (guint)a->n,
                                                    &walk->b->offsets[b->first_leaf], (guint)b->n,
                                                    &shift, limits, n, (float)doubt, below);
  return is_sure || (counter->config.precision == ASTRO_PRECISION_SINGLE &&
                     doubt <= SINGLE_TOLERANCE * squares[0]);
}

static void visit_leaves(Walk *walk, const Cell *a, const Cell *b, Edges edges)
{
  const HistogramKernels *kernels = walk->counter->kernels;
  guint first = edges.first, n = edges.last - edges.first;
  if (n == 0) { /* brute force computes pairs though it is known where they fall */
    first = first > 0 ? first - 1 : 0;
    n = 1;
  }
  if (walk->counter->config.weighted) {
    weigh_leaves(walk, a, b, first, n);
    return;
  }
  guint64 below[ASTRO_HISTOGRAM_MAX_EDGES];
  if (!below_in_single(walk, a, b, first, n, below))
    kernels->below(&walk->a->positions[a->first_leaf], (guint)a->n,
                   &walk->b->positions[b->first_leaf], walk->counter->squares + first, n, below);
  tally(walk, first, n, a->n * b->n, below);
}

/* The pairs within a leaf: those of all points with all, less each point with itself, halved. */
static void visit_leaf(Walk *walk, const Cell *cell, Edges edges)
{
  const Counter *counter = walk->counter;
  guint n = edges.last - edges.first;
  guint64 below[ASTRO_HISTOGRAM_MAX_EDGES];
  const LeafPositions *at = &walk->a->positions[cell->first_leaf];
  if (!counter->config.weighted) {
    counter->kernels->below(at, (guint)cell->n, at, counter->squares + edges.first, n, below);
    for (guint k = 0; k < n; k++)
      below[k] = (below[k] - (counter->squares[edges.first + k] > 0 ? cell->n : 0)) / 2;
    tally(walk, edges.first, n, cell->n * (cell->n - 1) / 2, below);
    return;
  }
  const double *weights =
      walk->a->weights ? walk->a->weights + (gsize)cell->first_leaf * LEAF_POINTS : NULL;
  for (guint i = 0; i < cell->n; i++)
    for (guint j = i + 1; j < cell->n; j++) {
      double dx = at->x[i] - at->x[j], dy = at->y[i] - at->y[j], dz = at->z[i] - at->z[j];
      double square = (dx * dx + dy * dy) + dz * dz;
      guint place = edges.first;
      while (place < edges.last && square >= counter->squares[place])
        place++;
      walk->places[place]++;
      walk->weights[place] += weights ? weights[i] * weights[j] : 1;
    }
}

static void visit(Walk *walk, const Cell *a, const Cell *b, Edges edges)
{
  edges = narrow(walk->counter->squares, a, b, edges);
  if (edges.first == edges.last && !walk->brute) {
    walk->places[edges.first] += a->n * b->n;
    walk->weights[edges.first] += a->weight * b->weight;
    return;
  }
  if (!a->left && !b->left) {
    visit_leaves(walk, a, b, edges);
    return;
  }
  /* Cells of similar size are both split. */
  gboolean split_a = a->left && (!b->left || 2 * a->chord > b->chord),
           split_b = b->left && (!a->left || 2 * b->chord > a->chord);
  const Cell *as = split_a ? &walk->a->cells[a->left] : a,
             *bs = split_b ? &walk->b->cells[b->left] : b;
  for (guint i = 0; i <= (guint)split_a; i++)
    for (guint j = 0; j <= (guint)split_b; j++)
      visit(walk, as + i, bs + j, edges);
}

static void visit_self(Walk *walk, const Cell *cell, Edges edges)
{
  if (!cell->left) {
    visit_leaf(walk, cell, edges);
    return;
  }
  const Cell *left = &walk->a->cells[cell->left];
  visit_self(walk, left, edges);
  visit_self(walk, left + 1, edges);
  visit(walk, left, left + 1, edges);
}

typedef struct {
  Count count;
  gboolean alone;
  guint64 n_places;
  double *task_weights; /* n_places a task, so that they are always summed in the same order */
} Tasks;

static void count_tops(gpointer data, guint64 task)
{
  Tasks *tasks = data;
  Count *count = &tasks->count;
  const Counter *counter = count->counter;
  guint64 ta = task / count->b->n_tops, tb = task % count->b->n_tops;
  if (count_is_cancelled(count) || !count_takes(count, &ta, &tb) || (tasks->alone && tb < ta))
    return;
  task = ta * count->b->n_tops + tb;
  const Top *top_a = &count->a->tops[ta], *top_b = &count->b->tops[tb];
  const Cell *a = &count->a->cells[top_a->cell], *b = &count->b->cells[top_b->cell];
  Walk walk;
  walk.counter = counter;
  walk.a = count->a;
  walk.b = count->b;
  walk.brute = counter->config.method == ASTRO_PAIR_METHOD_BRUTE;
  memset(walk.places, 0, tasks->n_places * sizeof *walk.places);
  memset(walk.weights, 0, tasks->n_places * sizeof *walk.weights);
  Edges edges = { 0, counter->config.n_edges };
  gboolean is_self = tasks->alone && ta == tb;
  if (is_self)
    visit_self(&walk, a, edges);
  else
    visit(&walk, a, b, edges);
  count_add(count, top_a->region, top_b->region, walk.places, NULL);
  if (tasks->task_weights)
    memcpy(tasks->task_weights + task * tasks->n_places, walk.weights,
           tasks->n_places * sizeof *walk.weights);
  count_report(count, is_self ? a->n * (a->n - 1) / 2 : a->n * b->n);
}

static void sum_weights(Tasks *tasks, guint64 n_tasks)
{
  Count *count = &tasks->count;
  guint64 none[ASTRO_HISTOGRAM_MAX_EDGES + 1] = { 0 };
  for (guint64 task = 0; task < n_tasks; task++)
    count_add(count, count->a->tops[task / count->b->n_tops].region,
              count->b->tops[task % count->b->n_tops].region, none,
              tasks->task_weights + task * tasks->n_places);
}

/* Near leaves are walked through (walk.h). */
static gboolean count_near(Count *count, gboolean alone, GError **error)
{
  const gboolean counted =
      count->counter->rule ? space_count(count, alone, error) : fields_count(count, alone, error);
  return count_end(count, counted ? error : NULL) && counted;
}

static gboolean cpu_submit(gpointer instance, const AstroBlock *in, guint n_in,
                           const AstroBlock *out, guint n_out, gconstpointer arguments,
                           AstroResult *result, GError **error)
{
  const Counter *counter = instance;
  Tasks tasks = { .alone = n_in == 1, .n_places = counter->config.n_edges + 1 };
  if (!count_begin(&tasks.count, counter, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (count_is_near(&tasks.count))
    return count_near(&tasks.count, tasks.alone, error);
  guint64 n_tasks = (guint64)tasks.count.a->n_tops * tasks.count.b->n_tops;
  if (counter->config.weighted)
    tasks.task_weights = g_new0(double, n_tasks *tasks.n_places);
  astro_parallel(n_tasks, counter->threads, count_tops, &tasks);
  if (tasks.task_weights)
    sum_weights(&tasks, n_tasks);
  g_free(tasks.task_weights);
  return count_end(&tasks.count, error);
}

typedef struct {
  AstroVariant variant;
  const HistogramKernels *kernels;
} Variant;

static const Variant variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_histogram_kernels_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_histogram_kernels_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, &astro_histogram_kernels_c },
};

static gpointer cpu_create(gconstpointer config, const AstroPlace *place, const char **variant,
                           GError **error)
{
  const Variant *picked = ASTRO_VARIANT_PICK(variants);
  *variant = picked->variant.name;
  return histogram_create(config, place, picked->kernels, error);
}

const AstroBackend astro_histogram_cpu = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroHistogramConfig),
  .shape = astro_histogram_shape,
  .create = cpu_create,
  .submit = cpu_submit,
  .destroy = histogram_destroy,
};

const AstroBackend *const astro_histogram_backends[] = { &astro_histogram_reference,
                                                         &astro_histogram_cpu, NULL };
