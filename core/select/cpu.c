/* The CPU backend. A row is one combination of indices along the axes before the last axis that is
 * cut. Along that axis a row has segments: runs of values that are contiguous in the input too. A
 * plan has the tables for that. If some pairs are reversed, a row consists of single values. A task
 * handles some rows, or part of a long one; it makes them in scratch memory and writes them to the
 * output past the caches, as writing through the caches would first read what is overwritten. */
#include "config.h"
#include "core/select/check.h"

#include <string.h>

#include "core/kit/copy-rows.h"
#include "core/backend/instance.h"
#include "core/backend/scratch.h"
#include "core/backend/threads.h"
#include "core/lib/transpose/kernels.h"

#define TASK_BYTES ((gsize)128 << 10) /* of the output, upper limit */
/* Larger blocks are no longer in the caches when they are read. */
#define PAST_CACHES ((gsize)4 << 20)

typedef struct {
  guint64 first, n; /* position along the output's axis, and length */
  guint64 from;     /* position along the input's axis */
  gboolean is_reversed;
} Segment;

typedef struct {
  AstroSelectAxes axes;
  guint last;                                                /* the axis with segments */
  guint64 straight[ASTRO_MAX_AXES], swapped[ASTRO_MAX_AXES]; /* strides in bytes */
  gsize inner;                                               /* bytes per index of that axis */
  GArray *segments;
  guint64 even;    /* number of rows at a constant distance in the input */
  gsize even_step; /* that distance */
  gsize unit;      /* bytes per segment, if all are equal and small; else 0 */
  guint64 rows;
  gsize row_bytes;       /* in the output */
  gboolean fits_aside;   /* every task's part fits in scratch memory */
  guint64 pieces, piece; /* pieces per row, and segments per piece; if pieces is 1, rows per task */
} Plan;

typedef struct {
  AstroSelectConfig config;
  guint64 *indices[ASTRO_MAX_AXES];
  guint threads;
  guint64 steps; /* for which the plan was made; 0: there is no plan */
  Plan plan;
  AstroScratch *scratch; /* output of tasks */
} Select;

typedef struct {
  const Select *self;
  const guint8 *in;
  guint8 *out;
  gboolean is_past_caches;
} Work;

/* ---- the plan ---- */

static void add_segments(Plan *plan, guint64 longest)
{
  const AstroSelectPick *pick = &plan->axes.pick[plan->last];
  const guint64 n = plan->axes.out.extents[plan->last];
  for (guint64 i = 0; i < n;) {
    Segment s = { i, 1, astro_select_from(pick, i), astro_select_is_reversed(pick, i) };
    while (!s.is_reversed && s.n < longest && i + s.n < n &&
           astro_select_from(pick, i + s.n) == s.from + s.n &&
           !astro_select_is_reversed(pick, i + s.n))
      s.n++;
    g_array_append_val(plan->segments, s);
    i += s.n;
  }
}

static void find_unit(Plan *plan)
{
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  const gsize bytes = segments[0].n * plan->inner;
  for (guint i = 0; i < plan->segments->len; i++)
    if (segments[i].n * plan->inner != bytes || segments[i].is_reversed)
      return;
  if (bytes <= 64 && (bytes & (bytes - 1)) == 0)
    plan->unit = bytes;
}

/* The largest number of bytes that a task makes: segments may have different sizes. */
static gsize find_largest(const Plan *plan)
{
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  gsize largest = plan->piece * plan->row_bytes;
  if (plan->pieces == 1)
    return largest;
  largest = 0;
  for (guint64 first = 0; first < plan->segments->len; first += plan->piece) {
    const Segment *last = &segments[MIN(first + plan->piece, plan->segments->len) - 1];
    largest = MAX(largest, (last->first + last->n - segments[first].first) * plan->inner);
  }
  return largest;
}

static void make_plan(Select *self, guint64 steps)
{
  Plan *plan = &self->plan;
  const gsize sample = astro_stream_sample_bytes(&self->config.in);

  g_clear_pointer(&plan->segments, g_array_unref);
  memset(plan, 0, sizeof *plan);
  AstroSelectAxes *axes = &plan->axes;
  astro_select_axes(&self->config, steps, axes);
  astro_layout_strides(&axes->in, plan->straight);
  for (guint i = 0; i < axes->in.n_axes; i++) {
    plan->straight[i] *= sample;
    if (axes->pick[i].n || axes->has_reversed)
      plan->last = i;
  }
  astro_select_swap(axes, plan->straight, plan->swapped);
  plan->inner = plan->straight[plan->last];
  plan->rows = 1;
  for (guint i = 0; i < plan->last; i++)
    plan->rows *= axes->out.extents[i];
  plan->even = 1;
  for (guint i = plan->last; i-- > 0 && !axes->pick[i].n && !axes->has_reversed;)
    plan->even *= axes->out.extents[i];
  plan->even_step = plan->last > 0 ? plan->straight[plan->last - 1] : 0;
  plan->row_bytes = axes->out.extents[plan->last] * plan->inner;
  plan->segments = g_array_new(FALSE, FALSE, sizeof(Segment));
  add_segments(plan, MAX(TASK_BYTES / plan->inner, 1));
  find_unit(plan);
  plan->pieces = 1;
  plan->piece = MAX(TASK_BYTES / plan->row_bytes, 1);
  if (plan->row_bytes > TASK_BYTES) {
    const gsize segment = MAX(plan->row_bytes / plan->segments->len, 1);
    plan->piece = MAX(TASK_BYTES / segment, 1);
    plan->pieces = (plan->segments->len + plan->piece - 1) / plan->piece;
  }
  plan->fits_aside = find_largest(plan) <= 2 * TASK_BYTES;
  self->steps = steps;
}

/* ---- rows ---- */

/* Where a row is in the input, with the polarisations in either order. */
typedef struct {
  gsize straight, swapped;
  gboolean is_reversed;
} Row;

static Row find_row(const Plan *plan, guint64 number)
{
  const AstroSelectAxes *axes = &plan->axes;
  Row row = { 0 };
  for (guint i = plan->last; i-- > 0; number /= axes->out.extents[i]) {
    const guint64 index = number % axes->out.extents[i];
    const guint64 from = astro_select_from(&axes->pick[i], index);
    row.straight += from * plan->straight[i];
    row.swapped += from * plan->swapped[i];
    row.is_reversed |= (gint)i == axes->baseline && astro_select_is_reversed(&axes->pick[i], index);
  }
  return row;
}

/* Copies small segments with loads and stores of their size. */
#define GATHER(name, bytes)                                                                        \
  static void name(const Segment *segments, guint64 n, gsize stride, const guint8 *in,             \
                   guint8 *out)                                                                    \
  {                                                                                                \
    for (guint64 i = 0; i < n; i++, out += (bytes))                                                \
      memcpy(out, in + segments[i].from * stride, (bytes));                                        \
  }

GATHER(gather1, 1)
GATHER(gather2, 2)
GATHER(gather4, 4)
GATHER(gather8, 8)
GATHER(gather16, 16)
GATHER(gather32, 32)
GATHER(gather64, 64)

static void copy_units(const Plan *plan, const Segment *segments, guint64 n, const guint8 *in,
                       guint8 *out)
{
  static void (*const gather[])(const Segment *, guint64, gsize, const guint8 *,
                                guint8 *) = { gather1,  gather2,  gather4, gather8,
                                              gather16, gather32, gather64 };
  out += segments->first * plan->inner;
  gather[__builtin_ctzl(plan->unit)](segments, n, plan->inner, in, out);
}

static void conjugate_segment(const Work *work, const Segment *s, const guint8 *in, guint8 *out)
{
  const Plan *plan = &work->self->plan;
  for (guint64 i = 0; i < s->n; i++)
    astro_select_conjugate(work->self->config.in.format, out + (s->first + i) * plan->inner,
                           in + (s->from + i) * plan->swapped[plan->last]);
}

/* to: where the first of the segments goes. */
static void copy_row(const Work *work, guint64 number, const Segment *segments, guint64 n,
                     guint8 *to)
{
  const Plan *plan = &work->self->plan;
  const Row row = find_row(plan, number);
  guint8 *out = to - segments->first * plan->inner;
  if (plan->unit && !row.is_reversed) {
    copy_units(plan, segments, n, work->in + row.straight, out);
    return;
  }
  for (guint64 i = 0; i < n; i++) {
    const Segment *s = &segments[i];
    if (row.is_reversed || s->is_reversed)
      conjugate_segment(work, s, work->in + row.swapped, out);
    else
      memcpy(out + s->first * plan->inner, work->in + row.straight + s->from * plan->inner,
             s->n * plan->inner);
  }
}

/* Copies rows at a constant distance, segment by segment if there are fewer segments than rows. */
static void copy_even(const Work *work, guint64 number, guint64 n, guint8 *to)
{
  const Plan *plan = &work->self->plan;
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  const guint8 *in = work->in + find_row(plan, number).straight;
  for (guint i = 0; i < plan->segments->len; i++) {
    const AstroLines lines = { to + segments[i].first * plan->inner,
                               in + segments[i].from * plan->inner, plan->row_bytes,
                               plan->even_step, n };
    astro_lines_copy(&lines, segments[i].n * plan->inner);
  }
}

static void copy_rows(const Work *work, guint64 first, guint64 end, guint8 *to)
{
  const Plan *plan = &work->self->plan;
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  for (guint64 row = first, n; row < end; row += n, to += n * plan->row_bytes) {
    n = MIN(plan->even - row % plan->even, end - row);
    if (n > plan->segments->len) {
      copy_even(work, row, n, to);
      continue;
    }
    n = 1;
    copy_row(work, row, segments, plan->segments->len, to);
  }
}

/* ---- tasks ---- */

/* Makes part of a row, or some rows, at to; returns how many bytes. */
static gsize fill(const Work *work, guint64 task, guint8 *to)
{
  const Plan *plan = &work->self->plan;
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  if (plan->pieces == 1) {
    const guint64 first = task * plan->piece, end = MIN(first + plan->piece, plan->rows);
    copy_rows(work, first, end, to);
    return (end - first) * plan->row_bytes;
  }
  const guint64 first = task % plan->pieces * plan->piece,
                n = MIN(plan->piece, plan->segments->len - first);
  const Segment *last = &segments[first + n - 1];
  copy_row(work, task / plan->pieces, segments + first, n, to);
  return (last->first + last->n - segments[first].first) * plan->inner;
}

static guint8 *place_of(const Work *work, guint64 task)
{
  const Plan *plan = &work->self->plan;
  const Segment *segments = (const Segment *)(gconstpointer)plan->segments->data;
  if (plan->pieces == 1)
    return work->out + task * plan->piece * plan->row_bytes;
  return work->out + task / plan->pieces * plan->row_bytes +
         segments[task % plan->pieces * plan->piece].first * plan->inner;
}

static void do_task(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroTransposeKernels *kernels = astro_transpose_kernels();
  guint8 *to = place_of(work, task);
  if (!work->is_past_caches) {
    fill(work, task, to);
    return;
  }
  guint8 *aside = astro_scratch_take(work->self->scratch);
  kernels->stream(to, aside, fill(work, task, aside));
  kernels->fence();
  astro_scratch_give(work->self->scratch, aside);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Select *self = instance;
  const AstroSelectArguments *arguments = data;
  Work work = { self, in->data, out->data, FALSE };
  if (!astro_select_check(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (self->steps != arguments->steps)
    make_plan(self, arguments->steps);
  const Plan *plan = &self->plan;
  const guint64 tasks =
      plan->pieces > 1 ? plan->rows * plan->pieces : (plan->rows + plan->piece - 1) / plan->piece;
  work.is_past_caches = plan->rows * plan->row_bytes >= PAST_CACHES && plan->fits_aside;
  astro_parallel(tasks, self->threads, do_task, &work);
  return TRUE;
}

/* ---- instances ---- */

static gpointer create(gconstpointer data, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Select *self = astro_instance_new(&astro_select_cpu, sizeof *self, data, error);
  if (!self)
    return NULL;
  self->threads = place->threads;
  self->scratch = astro_scratch_new(2 * TASK_BYTES);
  for (guint i = 0; i < ASTRO_MAX_AXES; i++) {
    AstroSelectPick *pick = &self->config.pick[i];
    self->indices[i] = g_memdup2(pick->index, pick->n * sizeof *pick->index);
    pick->index = self->indices[i];
  }
  *variant = astro_transpose_kernels()->variant.name;
  return self;
}

static void destroy(gpointer instance)
{
  Select *self = instance;
  g_clear_pointer(&self->plan.segments, g_array_unref);
  astro_scratch_free(self->scratch);
  for (guint i = 0; i < ASTRO_MAX_AXES; i++)
    g_free(self->indices[i]);
  g_free(self);
}

const AstroBackend astro_select_cpu = {
  .stage = "select",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroSelectConfig),
  .shape = astro_select_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_select_backends[] = { &astro_select_cpu, &astro_select_reference,
                                                      NULL };
