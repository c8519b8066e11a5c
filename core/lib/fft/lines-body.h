/* Transforms the lines of a pass, the same source for both precisions: the including file defines
 * REAL, FFTW() and PRECISION. */
#include "core/lib/fft/lines.h"

#include <fftw3.h>
#include <string.h>

#include "core/backend/scratch.h"
#include "core/backend/threads.h"
#include "core/lib/fft/planner.h"

/* Lines across a block are taken in groups this many bytes wide if there are enough: two whole
 * cache lines. */
#define ACROSS_BYTES 128
/* Their samples go through a stage of this many rows, which stays in the L1 cache. */
#define STAGE_ROWS 64u
/* Several small transforms are done at once, always a whole batch. */
#define BATCH_SAMPLES 512
/* The samples of a task with lines along a block. */
#define TASK_SAMPLES (32 * 1024)
/* Lines at multiples of this many bytes would share few lines of the L1 cache. */
#define ALIAS_BYTES 4096
#define CACHE_LINE 64
/* Rows that are prefetched: they are so far apart that the hardware does not predict them. */
#define AHEAD 8
/* Larger blocks are written past the caches, which saves reading each cache line before it is
 * written. */
#define STREAM_BYTES ((gsize)16 << 20)
/* The memory of a task at most, unless a few lines need more. */
#define ROOM_BYTES ((gsize)8 << 20)
/* Seconds; measuring transforms of large primes would take longer. */
#define PLANNING_TIME 2.0

struct AstroFftLines {
  const AstroTransposeKernels *kernels;
  gboolean along;
  gboolean signs;            /* the output's origin is moved by changing signs of the input */
  guint width_in, width_out; /* components of a sample */
  guint batch;               /* lines transformed by a plan */
  FFTW(plan) plan;
  gsize pitch_in, pitch_out; /* between lines in the memory of a task, components */

  gsize room_in, room_out, room_bytes;
  AstroScratch *rooms;
};

static void destroy(AstroFftLines *self)
{
  astro_fft_planner_lock();
  if (self->plan)
    FFTW(destroy_plan)(self->plan);
  astro_fft_planner_unlock();
  astro_scratch_free(self->rooms);
  g_free(self);
}

static gsize whole_lines(gsize bytes)
{
  return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static gsize pitch_of(guint64 samples, guint width)
{
  gsize bytes = whole_lines(samples * width * sizeof(REAL));
  return (bytes % ALIAS_BYTES ? bytes : bytes + CACHE_LINE) / sizeof(REAL);
}

static void set_sizes(AstroFftLines *self, const AstroFftPass *pass)
{
  guint least = self->along ? 1 : ACROSS_BYTES / (2 * sizeof(REAL));

  self->pitch_in = pitch_of(pass->n_in, self->width_in);
  /* Lines along a block may be written directly to their place, one after another. */
  self->pitch_out =
      self->along ? pass->n_out * self->width_out : pitch_of(pass->n_out, self->width_out);
  self->batch = 1;
  while (self->batch < least || self->batch * 2 * pass->n <= BATCH_SAMPLES)
    self->batch *= 2;
  while (self->batch > 1 &&
         self->batch * (self->pitch_in + self->pitch_out) * sizeof(REAL) > ROOM_BYTES)
    self->batch /= 2;
  self->room_in = self->batch * self->pitch_in;
  self->room_out = whole_lines(self->batch * self->pitch_out * sizeof(REAL)) / sizeof(REAL);
  self->room_bytes = (self->room_in + self->room_out) * sizeof(REAL) + ASTRO_TRANSPOSE_SLACK +
                     STAGE_ROWS * self->batch * 2 * sizeof(REAL);
  self->rooms = astro_scratch_new(self->room_bytes);
}

static FFTW(plan) plan_of(const AstroFftLines *self, const AstroFftPass *pass, REAL *in, REAL *out,
                          unsigned flags)
{
  const int n = (int)pass->n, batch = (int)self->batch;
  const int pitch_in = (int)(self->pitch_in / self->width_in);
  const int pitch_out = (int)(self->pitch_out / self->width_out);

  if (pass->real_in)
    return FFTW(plan_many_dft_r2c)(1, &n, batch, in, NULL, 1, pitch_in, (FFTW(complex) *)out, NULL,
                                   1, pitch_out, flags);
  if (pass->real_out)
    return FFTW(plan_many_dft_c2r)(1, &n, batch, (FFTW(complex) *)in, NULL, 1, pitch_in, out, NULL,
                                   1, pitch_out, flags);
  return FFTW(plan_many_dft)(1, &n, batch, (FFTW(complex) *)in, NULL, 1, pitch_in,
                             (FFTW(complex) *)out, NULL, 1, pitch_out,
                             pass->inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
}

static gboolean make_plan(AstroFftLines *self, const AstroFftPass *pass, GError **error)
{
  REAL *in = astro_scratch_take(self->rooms), *out = in + self->room_in;

  astro_fft_planner_lock();
  FFTW(set_timelimit)(PLANNING_TIME);
  ASTRO_FFT_PLAN(self->plan, FFTW_MEASURE | FFTW_DESTROY_INPUT,
                 plan_of(self, pass, in, out, flags));
  FFTW(set_timelimit)(FFTW_NO_TIMELIMIT);
  astro_fft_planner_unlock();
  memset(in, 0, self->room_bytes);
  astro_scratch_give(self->rooms, in);
  if (!self->plan)
    astro_backend_no_memory(error, "FFTW cannot plan %d transforms of %d samples", (int)self->batch,
                            (int)pass->n);
  return self->plan != NULL;
}

static AstroFftLines *create(const AstroFftPass *pass, gboolean along,
                             const AstroTransposeKernels *kernels, GError **error)
{
  AstroFftLines *self = g_new0(AstroFftLines, 1);

  self->kernels = kernels;
  self->along = along;
  self->width_in = pass->real_in ? 1 : 2;
  self->width_out = pass->real_out ? 1 : 2;
  /* Changing the sign of every second sample moves the output by half its length. */
  self->signs = along && !pass->real_in && pass->n % 2 == 0 && pass->origin_out == pass->n / 2;
  set_sizes(self, pass);
  if (make_plan(self, pass, error))
    return self;
  destroy(self);
  return NULL;
}

/* ---- the copies ---- */

/* Copies samples, multiplied by a and b alternately. */
static void copy(REAL *to, const REAL *from, gsize n, guint width, REAL a, REAL b)
{
  gsize i = 0;
  if (a == 1 && b == 1) {
    memcpy(to, from, n * width * sizeof(REAL));
    return;
  }
  if (width == 1) {
    for (; i + 2 <= n; i += 2) {
      to[i] = from[i] * a;
      to[i + 1] = from[i + 1] * b;
    }
    if (i < n)
      to[i] = from[i] * a;
    return;
  }
  for (; i + 2 <= n; i += 2) {
    to[2 * i] = from[2 * i] * a;
    to[2 * i + 1] = from[2 * i + 1] * a;
    to[2 * i + 2] = from[2 * i + 2] * b;
    to[2 * i + 3] = from[2 * i + 3] * b;
  }
  if (i < n) {
    to[2 * i] = from[2 * i] * a;
    to[2 * i + 1] = from[2 * i + 1] * a;
  }
}

typedef struct {
  AstroFftLines *lines;
  const AstroFftPass *pass;
  const REAL *in;
  REAL *out;
  const guint8 *blank_in; /* rows that are zeros; NULL: unknown */
  guint8 *blank_out;
  const AstroFftTouched *touched; /* NULL: all tiles are touched */
  guint64 n_lines, per_task;
  gboolean stream;
  REAL scale;
} Run;

/* A line that is not all zeros is only read up to its first other sample. */
static gboolean is_blank(const REAL *line, gsize n)
{
  gsize i = 0;
  for (; i + 32 <= n; i += 32) {
    REAL any = 0;
    for (guint k = 0; k < 32; k++)
      any += line[i + k] == 0 ? 0 : 1;
    if (any > 0)
      return FALSE;
  }
  while (i < n && line[i] == 0)
    i++;
  return i == n;
}

/* Returns how many of n samples of a line are wanted, and moves room_from and to, the indices of
 * the first in the task's memory and in the line, to the first wanted one. */
static guint64 clip(const AstroFftPass *pass, guint64 *to, guint64 *room_from, guint64 n)
{
  guint64 begin = MAX(*to, pass->wanted), end = MIN(*to + n, pass->wanted + pass->n_wanted);
  if (begin >= end)
    return 0;
  *room_from += begin - *to;
  *to = begin;
  return end - begin;
}

/* Copies the samples of a line from `at` to end to index `to` on; tiles: those that are touched
 * (NULL: all), others are filled with zeros. */
static void gather_part(const Run *run, const REAL *line, guint64 at, guint64 end,
                        const guint8 *tiles, REAL *room, guint64 to)
{
  const guint width = run->lines->width_in;
  REAL a = run->scale, b = run->lines->signs ? -a : a;
  guint64 next;

  for (; at < end; to += next - at, at = next) {
    const gboolean read = !tiles || tiles[at / ASTRO_GRID_TILE];
    for (next = tiles ? at : end; next < end && tiles[next / ASTRO_GRID_TILE] == read;)
      next = MIN(end, (next / ASTRO_GRID_TILE + 1) * ASTRO_GRID_TILE);
    if (read)
      copy(room + to * width, line + at * width, next - at, width, to % 2 ? b : a, to % 2 ? a : b);
    else
      memset(room + to * width, 0, (next - at) * width * sizeof(REAL));
  }
}

/* From the origin to the end, then from the start. */
static void gather_along(const Run *run, guint64 line, REAL *room)
{
  const AstroFftPass *pass = run->pass;
  const REAL *from = run->in + line * pass->n_in * run->lines->width_in;
  const guint8 *tiles = run->touched ? astro_fft_touched_line(run->touched, line) : NULL;

  gather_part(run, from, pass->origin_in, pass->n_in, tiles, room, 0);
  gather_part(run, from, 0, pass->origin_in, tiles, room, pass->n_in - pass->origin_in);
}

static void scatter_along_part(const Run *run, guint64 line, const REAL *room, guint64 to,
                               guint64 room_from, guint64 n)
{
  const AstroFftLines *self = run->lines;
  guint64 wanted = clip(run->pass, &to, &room_from, n);
  void (*put)(guint8 *, const guint8 *, gsize) =
      run->stream ? self->kernels->stream : self->kernels->copy;

  if (wanted)
    put((guint8 *)(run->out + (line * run->pass->n_out + to) * self->width_out),
        (const guint8 *)(room + room_from * self->width_out),
        wanted * self->width_out * sizeof(REAL));
}

static void scatter_along(const Run *run, guint64 line, const REAL *room)
{
  const AstroFftPass *pass = run->pass;
  guint64 shift = run->lines->signs ? 0 : pass->origin_out, first = pass->n_out - shift;

  scatter_along_part(run, line, room, shift, 0, first);
  scatter_along_part(run, line, room, 0, first, shift);
}

static gboolean is_untouched(const AstroFftTouched *touched, guint64 begin, guint64 end)
{
  for (guint64 i = begin; i < end; i++) {
    const guint8 *tiles = astro_fft_touched_line(touched, i);
    for (guint k = 0; k < touched->tiles; k++)
      if (tiles[k])
        return FALSE;
  }
  return TRUE;
}

/* Whether all lines from begin to end are zeros, so that their transforms are too; marks them in
 * blank_out. */
static gboolean pass_blank(const Run *run, guint64 begin, guint64 end)
{
  gsize line = run->pass->n_in * run->lines->width_in;

  if (!run->blank_out && !run->touched)
    return FALSE;
  gboolean blank = run->touched ? is_untouched(run->touched, begin, end)
                                : is_blank(run->in + begin * line, (end - begin) * line);
  if (run->blank_out)
    memset(run->blank_out + begin, blank, end - begin);
  return blank;
}

static void execute(const AstroFftLines *self, const AstroFftPass *pass, REAL *in, REAL *out)
{
  if (pass->real_in)
    FFTW(execute_dft_r2c)(self->plan, in, (FFTW(complex) *)out);
  else if (pass->real_out)
    FFTW(execute_dft_c2r)(self->plan, (FFTW(complex) *)in, out);
  else
    FFTW(execute_dft)(self->plan, (FFTW(complex) *)in, (FFTW(complex) *)out);
}

static void run_along(const Run *run, guint64 begin, guint64 end, REAL *room)
{
  const AstroFftLines *self = run->lines;
  const AstroFftPass *pass = run->pass;
  REAL *out = room + self->room_in;
  REAL *there = run->out + begin * pass->n_out * self->width_out;
  gboolean direct = !run->stream && end - begin == self->batch &&
                    (self->signs || !pass->origin_out) &&
                    FFTW(alignment_of)(there) == FFTW(alignment_of)(out);

  if (pass_blank(run, begin, end))
    return;
  for (guint64 i = begin; i < end; i++)
    gather_along(run, i, room + (i - begin) * self->pitch_in);
  if (direct)
    out = there;
  execute(self, pass, room, out);
  for (guint64 i = begin; !direct && i < end; i++)
    scatter_along(run, i, out + (i - begin) * self->pitch_out);
}

static guint unit_log(gsize unit)
{
  return (guint)__builtin_ctzl(unit);
}

static void copy_row(guint8 *to, const guint8 *from, gsize bytes)
{
  typedef guint8 Line __attribute__((vector_size(CACHE_LINE), aligned(1), may_alias));

  if (bytes % CACHE_LINE) {
    memcpy(to, from, bytes);
    return;
  }
  for (gsize i = 0; i < bytes; i += CACHE_LINE)
    *(Line *)(to + i) = *(const Line *)(from + i);
}

/* Copies rows to the stage. */
static void stage_rows(const guint8 *from, gsize row, guint rows, guint ahead, gsize bytes,
                       const guint8 *blank, guint8 *stage)
{
  for (guint i = 0; i < rows; i++) {
    if (blank && blank[i]) {
      memset(stage + i * bytes, 0, bytes);
      continue;
    }
    for (gsize at = 0; i < ahead && at < bytes; at += CACHE_LINE)
      __builtin_prefetch(from + (i + AHEAD) * row + at);
    copy_row(stage + i * bytes, from + i * row, bytes);
  }
}

/* Transposes samples [j][line] of a range of rows to [line][j]. */
static void gather_rows(const AstroFftLines *self, const REAL *from, gsize row, guint64 rows,
                        const guint8 *blank, guint lines, REAL *to, REAL *stage)
{
  gsize unit = self->width_in * sizeof(REAL), bytes = lines * unit;
  guint32 columns[BATCH_SAMPLES]; /* room for the largest batch, of lines with one sample */

  for (guint i = 0; i < lines; i++)
    columns[i] = (guint32)(i * self->pitch_in * sizeof(REAL));
  for (guint64 begin = 0; begin < rows; begin += STAGE_ROWS) {
    AstroTransposePlane plane = { .out = (guint8 *)(to + begin * self->width_in),
                                  .in = (const guint8 *)stage,
                                  .column_to = columns,
                                  .in_pitch = bytes,
                                  .rows = MIN(rows - begin, STAGE_ROWS),
                                  .columns = lines,
                                  .times = 1,
                                  .unit = unit };
    guint64 left = rows - begin;
    if (blank && !memchr(blank + begin, FALSE, plane.rows)) {
      for (guint i = 0; i < lines; i++)
        memset(plane.out + columns[i], 0, plane.rows * unit);
      continue;
    }
    stage_rows((const guint8 *)(from + begin * row), row * sizeof(REAL), (guint)plane.rows,
               left > AHEAD ? (guint)MIN(left - AHEAD, STAGE_ROWS) : 0, bytes,
               blank ? blank + begin : NULL, (guint8 *)stage);
    self->kernels->transpose[unit_log(unit)](&plane);
  }
}

/* The reverse: transposes lines of the task's memory to a range of rows, directly or through the
 * stage and past the caches. */
static void scatter_rows(const AstroFftLines *self, REAL *to, gsize row, guint64 rows, guint lines,
                         const REAL *from, guint8 *stage)
{
  gsize unit = self->width_out * sizeof(REAL), bytes = lines * unit, far = row * sizeof(REAL);
  gsize step = stage ? bytes : far;
  guint most = (guint)CLAMP(G_MAXUINT32 / step, 1, STAGE_ROWS);
  guint32 columns[STAGE_ROWS];

  for (guint i = 0; i < most; i++)
    columns[i] = (guint32)(i * step);
  for (guint64 begin = 0; begin < rows; begin += most) {
    guint8 *there = (guint8 *)(to + begin * row);
    AstroTransposePlane plane = { .out = stage ? stage : there,
                                  .in = (const guint8 *)(from + begin * self->width_out),
                                  .column_to = columns,
                                  .in_pitch = self->pitch_out * sizeof(REAL),
                                  .rows = lines,
                                  .columns = MIN(rows - begin, most),
                                  .times = 1,
                                  .unit = unit };
    self->kernels->transpose[unit_log(unit)](&plane);
    for (guint i = 0; stage && i < plane.columns; i++)
      self->kernels->stream(there + i * far, stage + i * bytes, bytes);
  }
}

/* The outer and inner index of line number i. */
static guint64 place_of(const AstroFftPass *pass, guint64 i, guint64 *inner)
{
  guint64 at = i / pass->n_lines * pass->period + pass->first_line + i % pass->n_lines;
  *inner = at % pass->inner;
  return at / pass->inner;
}

/* Lines from begin to end are contiguous and have the same outer index. */
static void gather_across(const Run *run, guint64 begin, guint lines, REAL *room, REAL *stage)
{
  const AstroFftLines *self = run->lines;
  const AstroFftPass *pass = run->pass;
  gsize row = pass->inner * self->width_in;
  guint64 inner, outer = place_of(pass, begin, &inner);
  const REAL *from = run->in + outer * pass->n_in * row + inner * self->width_in;
  const guint8 *blank = run->blank_in ? run->blank_in + outer * pass->n_in : NULL;
  guint64 first = pass->n_in - pass->origin_in;

  gather_rows(self, from + pass->origin_in * row, row, first,
              blank ? blank + pass->origin_in : NULL, lines, room, stage);
  gather_rows(self, from, row, pass->origin_in, blank, lines, room + first * self->width_in, stage);
  for (guint i = 0; run->scale != 1 && i < lines; i++) {
    REAL *line = room + i * self->pitch_in;
    for (gsize k = 0; k < pass->n_in * self->width_in; k++)
      line[k] *= run->scale;
  }
}

static void scatter_across(const Run *run, guint64 begin, guint lines, const REAL *room,
                           REAL *stage)
{
  const AstroFftLines *self = run->lines;
  const AstroFftPass *pass = run->pass;
  gsize row = pass->inner * self->width_out;
  guint64 inner, outer = place_of(pass, begin, &inner);
  REAL *to = run->out + outer * pass->n_out * row + inner * self->width_out;
  guint8 *through = run->stream ? (guint8 *)stage : NULL;
  /* The memory holds the samples from the output's origin on, then those before it. */
  guint64 first = pass->n_out - pass->origin_out;
  const guint64 parts[2][3] = { { pass->origin_out, 0, first }, { 0, first, pass->origin_out } };

  for (guint i = 0; i < 2; i++) {
    guint64 at = parts[i][0], room_from = parts[i][1], n = clip(pass, &at, &room_from, parts[i][2]);
    scatter_rows(self, to + at * row, row, n, lines, room + room_from * self->width_out, through);
  }
}

static void run_across(const Run *run, guint64 begin, guint64 end, REAL *room)
{
  AstroFftLines *self = run->lines;
  const AstroFftPass *pass = run->pass;
  REAL *out = room + self->room_in, *stage = out + self->room_out;
  guint64 next;

  for (guint64 i = begin; i < end; i = next) {
    next = MIN(end, (i / pass->n_lines + 1) * pass->n_lines);
    gather_across(run, i, (guint)(next - i), room + (i - begin) * self->pitch_in, stage);
  }
  execute(self, pass, room, out);
  for (guint64 i = begin; i < end; i = next) {
    next = MIN(end, (i / pass->n_lines + 1) * pass->n_lines);
    scatter_across(run, i, (guint)(next - i), out + (i - begin) * self->pitch_out, stage);
  }
}

/* ---- tasks ---- */

static void task(gpointer data, guint64 number)
{
  const Run *run = data;
  AstroFftLines *self = run->lines;
  REAL *room = astro_scratch_take(self->rooms);
  guint64 begin = number * run->per_task, end = MIN(begin + run->per_task, run->n_lines), next;

  for (guint64 i = begin; i < end; i = next) {
    next = MIN(i + self->batch, end);
    (self->along ? run_along : run_across)(run, i, next, room);
  }
  if (run->stream)
    self->kernels->fence();
  astro_scratch_give(self->rooms, room);
}

/* Rows must be whole cache lines, as only these are written past the caches. */
static gboolean can_stream(const AstroFftLines *self, const AstroFftPass *pass, gconstpointer out)
{
  gsize row = (self->along ? pass->n_out : pass->inner) * self->width_out * sizeof(REAL);
  gsize rows = pass->outer * (self->along ? 1 : pass->n_out);

  return row * rows > STREAM_BYTES && row % CACHE_LINE == 0 && (guintptr)out % CACHE_LINE == 0;
}

static void run_pass(AstroFftLines *self, const AstroFftPass *pass, gconstpointer in, gpointer out,
                     const guint8 *blank_in, guint8 *blank_out, const AstroFftTouched *touched,
                     guint threads)
{
  Run run = { .lines = self,
              .pass = pass,
              .in = in,
              .out = out,
              .blank_in = blank_in,
              .blank_out = blank_out,
              .touched = touched,
              .n_lines = pass->outer * pass->inner / pass->period * pass->n_lines,
              .per_task = self->batch,
              .stream = can_stream(self, pass, out),
              .scale = pass->inverse ? (REAL)(1 / (double)pass->n) : 1 };

  while (run.per_task * pass->n < TASK_SAMPLES)
    run.per_task += self->batch;
  astro_parallel((run.n_lines + run.per_task - 1) / run.per_task, threads, task, &run);
}

const AstroFftPrecision PRECISION = { create, run_pass, destroy };
