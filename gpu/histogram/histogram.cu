/* Pair counts on a device. The host plans a count in slices. A slice is a set of pairs of cells
 * whose pairs of leaves fit the lists even if no cells are counted as a whole. The device works
 * through it in a series of kernels; the host is at most two slices ahead, so that a count can be
 * cancelled. When submit returns, the last slices are still being counted, so that the host can
 * prepare the next catalogue meanwhile; drain fetches the counts. */
#include "gpu/histogram/copies.h"
#include "gpu/histogram/near.h"

#include "core/histogram/check.h"
#include "core/histogram/deal.h"
#include "core/histogram/fields.h"

#define MOST_LEAF_PAIRS ((guint64)1 << 23)  /* of a slice: 400 MB of lists */
#define LEAST_LEAF_PAIRS ((guint64)1 << 14) /* if memory is short */
#define MOST_SEEDS 32768                    /* pairs of cells that a slice begins with */
#define FEW_LEAF_PAIRS 1024                 /* of a pair of cells that is not worth another look */
#define COUNTERS 65536                      /* about this many values in all copies together */
#define MOST_COPIES 32
#define BYTES_A_LEAF_PAIR (3 * sizeof(HistogramPair))

/* Lengths of lists, which precede the seeds that are sent up. */
enum { N_SEEDS, N_SURE, SURE_TAKEN, N_EXACT, EXACT_TAKEN, N_SPLIT, NUMBERS = 64 };

struct Seeds {
  guint32 numbers[NUMBERS];
  HistogramPair pairs[MOST_SEEDS];
};

/* Kept on the device for all counts of an instance. */
struct Fixed {
  double squares[ASTRO_HISTOGRAM_MAX_EDGES]; /* of chords, or of separations in space */
  double columns[ASTRO_HISTOGRAM_MAX_COLUMNS];
  Seeds seeds;
};

struct Job {
  Count count;
  AstroHistogramCall call;
  gboolean alone;
  guint64 *counts; /* on the device */
  double *sums;
  double *table; /* of weights of pairs, on the device: squares, then weights */
  guint table_room;
  cudaEvent_t done;
};

/* Being counted on the device, or free. */
struct Slice {
  Seeds *seeds;
  cudaEvent_t done;
  Job *job; /* NULL if free */
  guint64 pairs;
};

enum { SLICES = 2 };

struct CudaCounter {
  Counter *counter;
  AstroDevice *device;
  AstroQueue *queue;
  guint blocks;
  gsize values, n_sums;
  guint copies_of_values;
  HistogramCopies copies;
  Fixed *fixed;         /* on the device */
  double *of_bits;      /* weights of common bits, on the device, or NULL */
  Seeds *seeds;         /* of the slices, page-locked */
  HistogramPair *lists; /* two for half the leaf pairs, two for all */
  guint64 leaf_pairs;
  Slice slices[SLICES];
  guint next;
  GQueue jobs;     /* submitted, oldest first */
  GPtrArray *idle; /* jobs that are done, with their memory */
};

static cudaStream_t stream_of(const CudaCounter *self)
{
  return astro_cuda_stream(self->queue);
}

/* ---- jobs ---- */

static void job_free(CudaCounter *self, Job *job)
{
  if (job->counts)
    self->device->funcs->free(self->device, job->counts);
  if (job->sums)
    self->device->funcs->free(self->device, job->sums);
  if (job->table)
    self->device->funcs->free(self->device, job->table);
  if (job->done)
    cudaEventDestroy(job->done);
  g_free(job);
}

static Job *job_new(CudaCounter *self, GError **error)
{
  if (self->idle->len > 0)
    return (Job *)g_ptr_array_steal_index_fast(self->idle, self->idle->len - 1);
  Job *job = g_new0(Job, 1);
  const gsize bytes = self->values * self->copies_of_values * sizeof(guint64),
              sum_bytes = self->n_sums * self->copies_of_values * sizeof(double);
  if (self->device->funcs->alloc(self->device, bytes, (gpointer *)&job->counts, error) &&
      (sum_bytes == 0 ||
       self->device->funcs->alloc(self->device, sum_bytes, (gpointer *)&job->sums, error)) &&
      CUDA_TRY(cudaEventCreateWithFlags(&job->done, cudaEventDisableTiming)))
    return job;
  job_free(self, job);
  return NULL;
}

/* Waits for the slice's kernels. */
static gboolean retire(Slice *slice, GError **error)
{
  Job *job = slice->job;
  slice->job = NULL;
  if (!job)
    return TRUE;
  if (!CUDA_TRY(cudaEventSynchronize(slice->done)))
    return FALSE;
  if (!count_is_cancelled(&job->count))
    count_report(&job->count, slice->pairs);
  return TRUE;
}

static gboolean retire_all(CudaCounter *self, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < SLICES; i++)
    ok = retire(&self->slices[(self->next + i) % SLICES], ok ? error : NULL) && ok;
  return ok;
}

/* ---- lists ---- */

/* Makes room for a count of that many pairs of leaves, or for as many as memory allows. */
static gboolean make_lists(CudaCounter *self, guint64 wanted, GError **error)
{
  guint64 room = LEAST_LEAF_PAIRS;
  while (room < wanted && room < MOST_LEAF_PAIRS)
    room *= 2;
  if (self->leaf_pairs >= room)
    return TRUE;
  if (!retire_all(self, error) || !CUDA_TRY(cudaStreamSynchronize(stream_of(self))))
    return FALSE;
  if (self->lists)
    self->device->funcs->free(self->device, self->lists);
  self->leaf_pairs = 0;
  for (self->lists = NULL; !self->lists && room >= LEAST_LEAF_PAIRS; room /= 2) {
    GError **says = room == LEAST_LEAF_PAIRS ? error : NULL;
    if (self->device->funcs->alloc(self->device, room * BYTES_A_LEAF_PAIR, (gpointer *)&self->lists,
                                   says))
      self->leaf_pairs = room;
  }
  return self->lists != NULL;
}

static HistogramList list_of(const CudaCounter *self, HistogramPair *pairs, guint number)
{
  guint32 *numbers = self->fixed->seeds.numbers;
  return { pairs, numbers + number, numbers + number + 1 };
}

/* ---- slices ---- */

struct Plan {
  CudaCounter *self;
  Job *job;
  HistogramCount count;
  HistogramNear near; /* where the rule says that pairs are looked at one by one */
  CellRule rule;      /* with the squares on the host */
  const Cell *a, *b;  /* cells on the host */
  Slice *slice;
  guint64 leaf_pairs; /* of the slice */
  guint64 most_leaves;
  GError **error;
};

static guint64 leaves_of(const Cell *cell)
{
  return (cell->n + LEAF_POINTS - 1) / LEAF_POINTS;
}

static guint levels_of(guint64 leaves)
{
  guint levels = 0;
  while ((guint64)1 << levels < leaves)
    levels++;
  return levels;
}

static gboolean slice_begin(Plan *plan)
{
  CudaCounter *self = plan->self;
  plan->slice = &self->slices[self->next];
  if (!retire(plan->slice, plan->error))
    return FALSE;
  memset(plan->slice->seeds->numbers, 0, sizeof plan->slice->seeds->numbers);
  plan->slice->pairs = 0;
  plan->leaf_pairs = plan->most_leaves = 0;
  return TRUE;
}

static gboolean slice_run(Plan *plan)
{
  CudaCounter *self = plan->self;
  Slice *slice = plan->slice;
  GError **error = plan->error;
  guint n = slice->seeds->numbers[N_SEEDS], levels = levels_of(plan->most_leaves);
  gsize bytes = sizeof slice->seeds->numbers + n * sizeof(HistogramPair);
  HistogramPair *lists[2] = { self->lists, self->lists + self->leaf_pairs / 2 };
  slice->job = plan->job;
  self->next = (self->next + 1) % SLICES;
  if (!CUDA_TRY(cudaMemcpyAsync(&self->fixed->seeds, slice->seeds, bytes, cudaMemcpyHostToDevice,
                                stream_of(self))))
    return FALSE;
  HistogramList from = list_of(self, lists[0], N_SPLIT);
  histogram_visit(plan->count, false, list_of(self, self->fixed->seeds.pairs, N_SEEDS), from,
                  self->blocks, stream_of(self));
  for (guint level = 1; level <= levels; level++) {
    HistogramList to = list_of(self, lists[level % 2], N_SPLIT + level);
    histogram_visit(plan->count, true, from, to, self->blocks, stream_of(self));
    from = to;
  }
  if (plan->rule.is_near)
    histogram_near(plan->count, plan->near, self->blocks, stream_of(self));
  else
    histogram_leaves(plan->count, self->blocks, stream_of(self));
  return CUDA_TRY(cudaGetLastError()) && CUDA_TRY(cudaEventRecord(slice->done, stream_of(self)));
}

static gboolean add_seed(Plan *plan, const HistogramPair *pair, guint64 leaf_pairs, guint64 pairs)
{
  guint32 *n = &plan->slice->seeds->numbers[N_SEEDS];
  if (*n == MOST_SEEDS || plan->leaf_pairs + leaf_pairs > plan->self->leaf_pairs) {
    if (!slice_run(plan) || !slice_begin(plan))
      return FALSE;
    n = &plan->slice->seeds->numbers[N_SEEDS];
  }
  plan->slice->seeds->pairs[(*n)++] = *pair;
  plan->slice->pairs += pairs;
  plan->leaf_pairs += leaf_pairs;
  return !count_is_cancelled(&plan->job->count);
}

static void add_whole(Plan *plan, const HistogramPair *pair, const Cell *a, const Cell *b)
{
  Count *count = &plan->job->count;
  guint n_bins = plan->rule.n_edges - 1;
  plan->slice->pairs += a->n * b->n;
  if (pair->first < 1 || pair->first > n_bins)
    return;
  gsize value =
      ((gsize)pair->region_a * plan->count.n_regions + pair->region_b) * n_bins + pair->first - 1;
  count->counts[value] += a->n * b->n;
  if (count->sums)
    count->sums[value] += a->weight * b->weight;
}

/* Whether the cells reach far beyond every edge that their pairs may lie on both sides of. Then
 * most of their leaves are too far from each other, and are better left out before they fill a
 * slice. */
static gboolean is_wide(const Plan *plan, const Cell *a, const Cell *b, Edges edges)
{
  const double reach = a->chord + b->chord;
  if (plan->rule.in_space)
    return reach > 4 * plan->rule.reach.most;
  return edges.last > 0 && reach * reach > 16 * plan->rule.squares[edges.last - 1];
}

/* Adds the pair to this slice, or else to the next one. */
static gboolean plan_seed(Plan *plan, const HistogramPair *pair, const Cell *a, const Cell *b,
                          gboolean is_self)
{
  guint64 most = MAX(leaves_of(a), leaves_of(b));
  /* Before it is known whether this slice takes the pair: extra levels do no harm. */
  plan->most_leaves = MAX(plan->most_leaves, most);
  gboolean ok = add_seed(plan, pair, leaves_of(a) * leaves_of(b),
                         is_self ? a->n * (a->n - 1) / 2 : a->n * b->n);
  plan->most_leaves = MAX(plan->most_leaves, most);
  return ok;
}

/* Returns FALSE on an error, or if the count was cancelled. */
static gboolean plan_pair(Plan *plan, HistogramPair pair)
{
  const Cell *a = &plan->a[pair.a], *b = &plan->b[pair.b];
  const guint64 leaf_pairs = leaves_of(a) * leaves_of(b);
  const gboolean is_self = plan->count.alone && pair.a == pair.b,
                 fits = leaf_pairs <= plan->self->leaf_pairs;
  if (fits && (leaf_pairs <= FEW_LEAF_PAIRS || plan->rule.is_brute))
    return plan_seed(plan, &pair, a, b, is_self);
  Edges edges = { pair.first, pair.last };
  const gboolean is_whole = cells_are_whole(&plan->rule, a, b, &edges);
  if (!is_self) {
    pair.first = (guint16)edges.first;
    pair.last = (guint16)edges.last;
    if (is_whole) {
      add_whole(plan, &pair, a, b);
      return TRUE;
    }
  }
  if (fits && !is_wide(plan, a, b, edges))
    return plan_seed(plan, &pair, a, b, is_self);
  for (guint i = 0; i <= (guint)(a->left > 0); i++)
    for (guint j = is_self ? i : 0; j <= (guint)(b->left > 0); j++) {
      HistogramPair child = pair;
      child.a = a->left ? a->left + i : pair.a;
      child.b = b->left ? b->left + j : pair.b;
      if (!plan_pair(plan, child))
        return FALSE;
    }
  return TRUE;
}

static gboolean plan_top(Plan *plan, const Top *a, const Top *b)
{
  return plan_pair(plan, { a->cell, b->cell, 0, (guint16)plan->rule.n_edges, (guint16)a->region,
                           (guint16)b->region });
}

static gboolean plan_all(Plan *plan)
{
  const AstroPoints *a = plan->job->count.a, *b = plan->job->count.b;
  for (guint32 i = 0; i < a->n_tops; i++)
    for (guint32 j = plan->count.alone ? i : 0; j < b->n_tops; j++)
      if (!plan_top(plan, &a->tops[i], &b->tops[j]))
        return FALSE;
  return TRUE;
}

/* The host plans faster than a device counts. So a device first ends what is its own, and takes
 * from slower ones what they have not planned by then. */
static gboolean plan_dealt(Plan *plan, AstroHistogramDeal *deal, guint lane)
{
  const Count *count = &plan->job->count;
  guint64 i, j;
  gboolean is_own, was_own = TRUE;
  while (histogram_deal_take(deal, lane, &i, &j, &is_own)) {
    if (was_own && !is_own &&
        ((plan->slice->seeds->numbers[N_SEEDS] > 0 && !(slice_run(plan) && slice_begin(plan))) ||
         !retire_all(plan->self, plan->error)))
      return FALSE;
    was_own = is_own;
    if (!plan_top(plan, &count->a->tops[i], &count->b->tops[j]))
      return FALSE;
  }
  return TRUE;
}

/* Cells above the tops are not measured. */
static gboolean plan_tops(Plan *plan)
{
  const AstroHistogramCall *call = plan->job->count.call;
  return (call && call->deal ? plan_dealt(plan, call->deal, call->lane) : plan_all(plan)) &&
         (plan->slice->seeds->numbers[N_SEEDS] == 0 || slice_run(plan));
}

/* ---- the backend ---- */

/* The host may free its table when this returns. */
static gboolean send_table(CudaCounter *self, Job *job, const PairTable *table, GError **error)
{
  const gsize bytes = table->n * sizeof(double);
  if (job->table_room < table->n) {
    if (job->table)
      self->device->funcs->free(self->device, job->table);
    job->table = NULL;
    job->table_room = 0;
    if (!self->device->funcs->alloc(self->device, 2 * bytes, (gpointer *)&job->table, error))
      return FALSE;
    job->table_room = table->n;
  }
  return CUDA_TRY(cudaMemcpyAsync(job->table, table->squares, bytes, cudaMemcpyHostToDevice,
                                  stream_of(self))) &&
         CUDA_TRY(cudaMemcpyAsync(job->table + table->n, table->weights, bytes,
                                  cudaMemcpyHostToDevice, stream_of(self)));
}

/* How pairs are looked at one by one, if they are. */
static gboolean plan_near(Plan *plan)
{
  CudaCounter *self = plan->self;
  Job *job = plan->job;
  const PairTable *table = job->count.call ? job->count.call->table : NULL;
  PairTable there = {};
  if (!plan->rule.is_near)
    return TRUE;
  if (table) {
    if (!send_table(self, job, table, plan->error))
      return FALSE;
    there = { table->n, job->table, job->table + table->n };
  }
  plan->near = histogram_near_of(&job->count, plan->count, self->fixed->squares,
                                 self->fixed->columns, self->of_bits, there);
  return TRUE;
}

static gboolean run(CudaCounter *self, Job *job, GError **error)
{
  const gboolean alone = job->alone;
  const AstroHistogramConfig *config = &self->counter->config;
  Count *count = &job->count;
  cudaStream_t stream = stream_of(self);
  const gsize bytes = self->values * self->copies_of_values * sizeof(guint64),
              sum_bytes = self->n_sums * self->copies_of_values * sizeof(double);
  HistogramCopy *a = histogram_copies_get(&self->copies, count->a, NULL, error),
                *b = a && !alone ? histogram_copies_get(&self->copies, count->b, a, error) : a;
  guint64 leaf_pairs = (guint64)count->a->n_leaves * count->b->n_leaves;
  if (!b || !make_lists(self, leaf_pairs, error) ||
      !CUDA_TRY(cudaStreamWaitEvent(stream, a->ready, 0)) ||
      !CUDA_TRY(cudaStreamWaitEvent(stream, b->ready, 0)) ||
      !CUDA_TRY(cudaMemsetAsync(job->counts, 0, bytes, stream)) ||
      (job->sums && !CUDA_TRY(cudaMemsetAsync(job->sums, 0, sum_bytes, stream))))
    return FALSE;
  Plan plan = { .self = self,
                .job = job,
                .rule = count_cell_rule(count),
                .a = histogram_copy_cells(a, count->a),
                .b = histogram_copy_cells(b, count->b),
                .error = error };
  plan.count = { .a = histogram_copy_tree(a),
                 .b = histogram_copy_tree(b),
                 .rule = plan.rule,
                 .counts = job->counts,
                 .sums = job->sums,
                 .values = self->values,
                 .n_sums = self->n_sums,
                 .copies = self->copies_of_values,
                 .n_regions = astro_histogram_regions(config),
                 .alone = (bool)alone,
                 .single = config->precision == ASTRO_PRECISION_SINGLE,
                 .sure = list_of(self, self->lists + self->leaf_pairs, N_SURE),
                 .exact = list_of(self, self->lists + 2 * self->leaf_pairs, N_EXACT) };
  plan.count.rule.squares = self->fixed->squares;
  gboolean ok = plan_near(&plan) && slice_begin(&plan) && plan_tops(&plan);
  if (ok) {
    /* Pairs that the host counted after the last slice, or without any. */
    if (plan.slice->job != job && plan.slice->pairs > 0)
      count_report(count, plan.slice->pairs);
    histogram_sum(plan.count, stream);
  }
  /* Even if the count failed, as queued kernels still read. */
  return CUDA_TRY(cudaEventRecord(a->used, stream)) && CUDA_TRY(cudaEventRecord(b->used, stream)) &&
         ok && CUDA_TRY(cudaGetLastError()) && CUDA_TRY(cudaEventRecord(job->done, stream));
}

/* Adds the counts of the device to those of the host. */
static gboolean fetch(CudaCounter *self, Job *job, GError **error)
{
  const AstroHistogramConfig *config = &self->counter->config;
  g_autofree guint64 *values = g_new(guint64, MAX(self->values, self->n_sums));
  if (!CUDA_TRY(cudaEventSynchronize(job->done)) ||
      !CUDA_TRY(
          cudaMemcpy(values, job->counts, self->values * sizeof *values, cudaMemcpyDeviceToHost)))
    return FALSE;
  for (gsize k = 0; k < self->values; k++)
    job->count.counts[k] += values[k];
  if (!job->sums)
    return TRUE;
  if (!CUDA_TRY(
          cudaMemcpy(values, job->sums, self->n_sums * sizeof(double), cudaMemcpyDeviceToHost)))
    return FALSE;
  for (gsize k = 0; k < self->n_sums; k++)
    job->count.sums[k] += ((const double *)values)[k];
  if (job->alone && config->fields != ASTRO_PAIR_FIELDS_NONE)
    fields_forget_order(config, job->count.sums);
  return TRUE;
}

static gboolean cuda_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gconstpointer arguments,
                            AstroResult *result, GError **error)
{
  CudaCounter *self = (CudaCounter *)instance;
  GError *cause = NULL;
  if (!astro_cuda_enter(self->device, error))
    return FALSE;
  Job *job = job_new(self, error);
  if (!job)
    return FALSE;
  if (!count_begin(&job->count, self->counter, in, n_in, out, n_out, arguments, error)) {
    g_ptr_array_add(self->idle, job);
    return FALSE;
  }
  if (arguments) {
    job->call = *(const AstroHistogramCall *)arguments;
    job->count.call = &job->call;
  }
  job->alone = n_in == 1;
  if (run(self, job, &cause)) {
    g_queue_push_tail(&self->jobs, job);
    return TRUE;
  }
  cudaStreamSynchronize(stream_of(self));
  retire_all(self, NULL);
  if (cause) {
    count_end(&job->count, NULL);
    g_propagate_error(error, cause);
  } else {
    count_end(&job->count, error);
  }
  g_ptr_array_add(self->idle, job);
  return FALSE;
}

static gboolean cuda_drain(gpointer instance, AstroResult *result, GError **error)
{
  CudaCounter *self = (CudaCounter *)instance;
  gboolean ok = astro_cuda_enter(self->device, error);
  ok = retire_all(self, ok ? error : NULL) && ok;
  for (Job *job; (job = (Job *)g_queue_pop_head(&self->jobs));) {
    ok = ok && fetch(self, job, error);
    ok = count_end(&job->count, ok ? error : NULL) && ok;
    g_ptr_array_add(self->idle, job);
  }
  return ok;
}

static void cuda_destroy(gpointer instance)
{
  CudaCounter *self = (CudaCounter *)instance;
  const AstroDeviceFuncs *funcs = self->device->funcs;
  astro_cuda_enter(self->device, NULL);
  if (self->queue)
    cudaStreamSynchronize(stream_of(self));
  for (Job *job; (job = (Job *)g_queue_pop_head(&self->jobs));) {
    count_end(&job->count, NULL);
    job_free(self, job);
  }
  for (guint i = 0; i < self->idle->len; i++)
    job_free(self, (Job *)self->idle->pdata[i]);
  g_ptr_array_unref(self->idle);
  for (guint i = 0; i < SLICES; i++)
    if (self->slices[i].done)
      cudaEventDestroy(self->slices[i].done);
  if (self->seeds)
    cudaFreeHost(self->seeds);
  if (self->copies.device)
    histogram_copies_clear(&self->copies);
  if (self->fixed)
    funcs->free(self->device, self->fixed);
  if (self->of_bits)
    funcs->free(self->device, self->of_bits);
  if (self->lists)
    funcs->free(self->device, self->lists);
  if (self->queue)
    funcs->queue_free(self->device, self->queue);
  histogram_destroy(self->counter);
  g_free(self);
}

/* On our queue, which does not wait for others. */
static gboolean send(CudaCounter *self, double *to, const double *from, gsize n, GError **error)
{
  return CUDA_TRY(
      cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyHostToDevice, stream_of(self)));
}

/* The bin rule: squares of edges, and weights of pairs by how many bits they have in common. */
static gboolean send_rule(CudaCounter *self, GError **error)
{
  const Counter *counter = self->counter;
  const AstroHistogramConfig *config = &counter->config;
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const gsize n_bits = 32 * config->bits.n_words + 1;
  return send(self, self->fixed->squares, in_space ? counter->rule->rows : counter->squares,
              config->n_edges, error) &&
         (!in_space || send(self, self->fixed->columns, counter->rule->columns,
                            counter->rule->n_columns, error)) &&
         (!counter->bits_weights ||
          (self->device->funcs->alloc(self->device, n_bits * sizeof(double),
                                      (gpointer *)&self->of_bits, error) &&
           send(self, self->of_bits, counter->bits_weights, n_bits, error)));
}

static gboolean prepare(CudaCounter *self, const AstroPlace *place, GError **error)
{
  const AstroDeviceFuncs *funcs = self->device->funcs;
  const AstroHistogramConfig *config = &self->counter->config;
  int processors = 0;
  if (!astro_cuda_enter(self->device, error) ||
      !(self->queue = funcs->queue_new(self->device, error)) ||
      !histogram_copies_init(&self->copies, place, error) || !histogram_leaves_prepare(error) ||
      !histogram_tree_prepare(error) || !histogram_near_prepare(config, error) ||
      !CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                                       self->device->index)) ||
      !funcs->alloc(self->device, sizeof(Fixed), (gpointer *)&self->fixed, error) ||
      !send_rule(self, error) ||
      !CUDA_TRY(cudaMallocHost((void **)&self->seeds, SLICES * sizeof(Seeds))))
    return FALSE;
  for (guint i = 0; i < SLICES; i++) {
    self->slices[i].seeds = &self->seeds[i];
    if (!CUDA_TRY(cudaEventCreateWithFlags(&self->slices[i].done, cudaEventDisableTiming)))
      return FALSE;
  }
  self->blocks = 4 * (guint)processors;
  self->values = astro_histogram_values(config);
  self->n_sums = config->weighted ? astro_histogram_sums(config) : 0;
  self->copies_of_values = (guint)CLAMP(COUNTERS / self->values, 1, MOST_COPIES);
  return TRUE;
}

static gpointer cuda_create(gconstpointer config, const AstroPlace *place, const char **variant,
                            GError **error)
{
  Counter *counter = (Counter *)histogram_create(config, place, NULL, error);
  if (!counter)
    return NULL;
  CudaCounter *self = g_new0(CudaCounter, 1);
  self->counter = counter;
  self->device = place->device;
  self->idle = g_ptr_array_new();
  g_queue_init(&self->jobs);
  if (!prepare(self, place, error)) {
    cuda_destroy(self);
    return NULL;
  }
  *variant = "lists";
  return self;
}

static const AstroHistogramParts parts = { .orders_points = TRUE };

extern const AstroBackend astro_cuda_histogram = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroHistogramConfig),
  .shape = astro_histogram_shape,
  .create = cuda_create,
  .submit = cuda_submit,
  .drain = cuda_drain,
  .destroy = cuda_destroy,
  .parts = &parts,
};
