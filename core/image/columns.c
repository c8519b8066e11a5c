/* Transforms planes along v in columns, and adds them to the image. */
#include "config.h"
#include "core/image/columns.h"

#include <string.h>

#include "core/backend/scratch.h"
#include "core/backend/threads.h"
#include "core/image/check.h"

/* Strips of columns per task: rows of the image are then accessed by several cache lines at a time.
 */
#define STRIPS 4
#define SUMS_BYTES (STRIPS * ASTRO_FFT_COLUMNS_BYTES)
#define CACHE_LINE 64
/* How many rows ahead to prefetch, to the second-level cache: rows are so far apart that the
 * processor does not prefetch them, and they would evict each other from the L1 cache. */
#define FETCH 16
#define NEXT_CACHE 2

struct AstroImageColumns {
  AstroImageConfig config;
  const AstroImageKernels *kernels;
  const AstroFftColumnsKernels *transforms;
  AstroFftColumns *fft;
  gboolean from_double, to_double;
  /* With the phase centre in the middle, rows on both sides have the same phases: bin -k has those
   * of bin k. */
  gboolean is_even;
  guint8 *blank; /* [channel][v] */
  AstroScratch *rooms;
};

/* A task's scratch memory, divided into consecutive parts. */
typedef struct {
  guint8 *samples; /* columns between the steps of their transform */
  guint8 *work;    /* scratch memory of the transform */
  guint8 *made;    /* bins k1 + n1 k2 for all k2 */
  guint8 *phases;  /* [k1][k2][re, im][column] */
  guint8 *sums;    /* [image product][y][column of all strips] */
  gsize bytes;
} Room;

static guint8 *part(guint8 *base, gsize *bytes, gsize more)
{
  guint8 *at = base + *bytes;
  *bytes += (more + 63) / 64 * 64;
  return at;
}

static Room room_at(const AstroImageColumns *self, guint8 *base)
{
  const AstroFftColumns *fft = self->fft;
  const gsize n2 = fft->steps[1].m;
  const gsize bins = (self->is_even ? fft->steps[0].m / 2 + 1 : fft->steps[0].m) * n2;
  Room room = { 0 };

  room.samples = part(base, &room.bytes, astro_fft_columns_room_bytes(fft));
  room.work = part(base, &room.bytes, astro_fft_columns_work_bytes(fft));
  room.made = part(base, &room.bytes, n2 * 2 * ASTRO_FFT_COLUMNS_BYTES);
  room.phases = part(base, &room.bytes, bins * 2 * ASTRO_FFT_COLUMNS_BYTES);
  room.sums = part(base, &room.bytes,
                   (gsize)self->config.n_out * self->config.grid.image_size * SUMS_BYTES);
  return room;
}

AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config,
                                           const AstroImageKernels *kernels,
                                           const AstroFftColumnsKernels *transforms)
{
  AstroImageColumns *self = g_new0(AstroImageColumns, 1);

  self->config = *config;
  self->kernels = kernels;
  self->from_double = config->from == ASTRO_FORMAT_CF64LE;
  self->to_double = config->to == ASTRO_FORMAT_F64LE;
  self->transforms = &transforms[self->from_double];
  self->fft = astro_fft_columns_new(config->grid.size, self->from_double);
  self->is_even = config->grid.centre_m == 0;
  self->blank = g_new(guint8, (gsize)config->channels * config->grid.size);
  self->rooms = astro_scratch_new(room_at(self, NULL).bytes);
  return self;
}

guint64 astro_image_columns_bytes(const AstroImageConfig *config, guint threads)
{
  const gboolean is_double = config->from == ASTRO_FORMAT_CF64LE;
  AstroFftColumns *fft = astro_fft_columns_new(config->grid.size, is_double);
  const AstroImageColumns columns = { .config = *config, .fft = fft };
  const gsize room = room_at(&columns, NULL).bytes;
  astro_fft_columns_free(fft);
  return (guint64)threads * room;
}

void astro_image_columns_free(AstroImageColumns *self)
{
  if (!self)
    return;
  astro_scratch_free(self->rooms);
  astro_fft_columns_free(self->fft);
  g_free(self->blank);
  g_free(self);
}

/* ---- a task ---- */

typedef struct {
  AstroImageColumns *self;
  const AstroImageColumnsCall *call;
  Room room;
  guint channel;
  guint x, columns; /* a strip: pixels x to x + columns - 1 of all rows */
  guint8 *sums;     /* start of the strip's sums */
} Task;

/* The row of the image for a bin; the image size or more if there is none. */
static guint row_of(const AstroImageColumns *self, guint k1, guint k2)
{
  const guint size = self->config.grid.size, half = self->config.grid.image_size / 2;
  const guint bin = k1 + self->fft->steps[0].m * k2;
  return bin + half < size ? bin + half : bin + half - size;
}

static void set_reals(const AstroImageColumns *self, guint8 *to, gsize at, const double *values)
{
  for (guint i = 0; i < self->fft->columns; i++)
    if (self->from_double)
      ((double *)to)[at + i] = values[i];
    else
      ((float *)to)[at + i] = (float)values[i];
}

/* The strip of n pixels of row y from pixel x on. */
static AstroImageStrip strip_at(const AstroGrid *grid, guint x, guint y, guint n)
{
  const double half = grid->image_size / 2;
  return (AstroImageStrip){ .l = grid->centre_l + (half - x) * grid->pixel,
                            .pixel = -grid->pixel,
                            .m = grid->centre_m + (y - half) * grid->pixel,
                            .n = n };
}

/* Computes the phases of a row, and stores them as those of bin number `bin`. */
static void find_phases(const Task *task, guint y, gsize bin)
{
  const AstroImageColumns *self = task->self;
  const guint n = self->fft->columns;
  const AstroImageStrip strip = strip_at(&self->config.grid, task->x, y, n);
  double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP];

  self->kernels->phases(&strip, task->call->arguments->w, re, im);
  set_reals(self, task->room.phases, bin * 2 * n, re);
  set_reals(self, task->room.phases, (bin * 2 + 1) * n, im);
}

static void find_all_phases(const Task *task)
{
  const AstroImageColumns *self = task->self;
  const guint image = self->config.grid.image_size, half = image / 2;
  const guint n1 = self->fft->steps[0].m, n2 = self->fft->steps[1].m;

  for (guint k1 = 0; k1 < (self->is_even ? n1 / 2 + 1 : n1); k1++)
    for (guint k2 = 0; k2 < n2; k2++) {
      guint y = row_of(self, k1, k2);
      /* The first row of an image of even size has no opposite row, but is itself the opposite of
       * one. */
      if (y == 2 * half && y == image)
        y = 0;
      if (y < image)
        find_phases(task, y, (gsize)k1 * n2 + k2);
    }
}

/* Whether a term is the first to be added to its product: terms are added in the order of the
 * grid's products. */
static gboolean is_first(const AstroImageProduct *product, guint term)
{
  for (guint i = 0; i < product->n_terms; i++)
    if (i < term ? product->terms[i].product <= product->terms[term].product
                 : product->terms[i].product < product->terms[term].product)
      return FALSE;
  return TRUE;
}

/* Adds rows of bins k2 to end - 1, times their phases, to the sums of a product of the image; the
 * phases start at those of bin number `phases` and move on by step. */
static void rotate_rows(const Task *task, const guint8 *made, guint k1, guint k2, guint end,
                        gsize phases, gssize step, guint product, guint term)
{
  const AstroImageColumns *self = task->self;
  const AstroImageProduct *made_of = &self->config.products[product];
  const gsize y = (gsize)product * self->config.grid.image_size + row_of(self, k1, k2);
  const AstroImageRows rows = { .rows = end - k2,
                                .samples = made + k2 * 2 * ASTRO_FFT_COLUMNS_BYTES,
                                .phases = task->room.phases + phases * 2 * ASTRO_FFT_COLUMNS_BYTES,
                                .sums = task->sums + y * SUMS_BYTES,
                                .phases_step = step,
                                .sums_step = self->fft->steps[0].m * SUMS_BYTES,
                                .scale = astro_image_scale(&self->config, task->call->arguments,
                                                           task->channel, &made_of->terms[term]),
                                .imaginary = made_of->terms[term].imaginary,
                                .first = is_first(made_of, term) };

  self->kernels->rotate_rows[self->from_double](&rows);
}

/* Adds bins k1 + n1 k2 of a product of the grid to all products of the image that use it. In the
 * image these bins are in two runs, from the middle on and up to the middle. */
static void rotate_bins(const Task *task, const guint8 *made, guint k1, guint product)
{
  const AstroImageColumns *self = task->self;
  const guint image = self->config.grid.image_size, size = self->config.grid.size;
  const guint n1 = self->fft->steps[0].m, n2 = self->fft->steps[1].m;
  const guint above = image - image / 2, below = size - image / 2;
  const guint runs[2][2] = { { 0, k1 < above ? (above - k1 + n1 - 1) / n1 : 0 },
                             { k1 < below ? (below - k1 + n1 - 1) / n1 : 0, n2 } };
  const gboolean other = self->is_even && 2 * k1 > n1;

  for (guint out = 0; out < self->config.n_out; out++)
    for (guint t = 0; t < self->config.products[out].n_terms; t++)
      for (guint r = 0; r < 2; r++) {
        const guint begin = runs[r][0], end = MIN(runs[r][1], n2);
        if (self->config.products[out].terms[t].product != product || begin >= end)
          continue;
        if (other)
          rotate_rows(task, made, k1, begin, end, (gsize)(n1 - k1) * n2 + n2 - 1 - begin, -1, out,
                      t);
        else
          rotate_rows(task, made, k1, begin, end, (gsize)k1 * n2 + begin, 1, out, t);
      }
}

static void make_product(const Task *task, guint product)
{
  const AstroImageColumns *self = task->self;
  const AstroFftColumnsKernels *transforms = self->transforms;
  const gsize size = self->config.grid.size, half = self->config.grid.image_size / 2;
  const gsize cell = self->from_double ? 2 * sizeof(double) : 2 * sizeof(float);
  /* Pixels run opposite to columns. If the image is as large as the grid, columns wrap around. */
  const gsize end = size / 2 + half + 1 - task->x, u = end - task->columns;
  const AstroFftColumnsFrom from = {
    .at = task->call->in + ((task->channel * self->config.n_in + product) * size * size + u) * cell,
    .pitch = size * cell,
    .blank = task->call->map ? self->blank + task->channel * size : NULL,
    .columns = task->columns,
    .before = (guint)(MIN(end, size) - u),
  };
  const guint n1 = self->fft->steps[0].m;

  transforms->gather(self->fft, &from, (guint)(size / 2), task->room.samples);
  transforms->begin(self->fft, task->room.samples, task->room.work);
  for (guint k1 = 0; k1 < n1; k1++) {
    transforms->finish(self->fft, k1, task->room.samples, task->room.made, task->room.work);
    rotate_bins(task, task->room.made, k1, product);
  }
}

/* Adds the sums of n pixels from x on to the image, for all rows. */
static void add_sums(const Task *task, guint x, guint n)
{
  const AstroImageColumns *self = task->self;
  const AstroImageColumnsCall *call = task->call;
  const AstroGrid *grid = &self->config.grid;
  const gsize image = grid->image_size, pixel = self->to_double ? sizeof(double) : sizeof(float);
  const guint half = grid->image_size / 2;
  guint8 *out = call->out + (task->channel * self->config.n_out * image * image + x) * pixel;
  double by[ASTRO_IMAGE_STRIP], corrections[ASTRO_IMAGE_STRIP];

  for (guint y = 0; y < image; y++) {
    if (call->arguments->last) {
      const AstroImageStrip strip = strip_at(grid, x, y, n);
      for (guint i = 0; i < n; i++)
        by[i] = call->inverse[2 * half - (x + i)] * call->inverse[y];
      self->kernels->corrections(&strip, by, call->series, corrections);
    }
    for (guint product = 0; product < self->config.n_out; product++) {
      guint8 *row = out + (product * image + y) * image * pixel;
      for (gsize at = 0; y + FETCH < image && at < n * pixel; at += CACHE_LINE)
        __builtin_prefetch(row + FETCH * image * pixel + at, 1, NEXT_CACHE);
      self->kernels->add_row[self->from_double][self->to_double](
          row, task->room.sums + (product * image + y) * SUMS_BYTES, n,
          call->arguments->last ? corrections : NULL, call->arguments->first);
    }
  }
}

/* The number of columns in the first strip: strips end at cache lines of the plane. */
static guint first_strip(const AstroImageColumns *self)
{
  const AstroGrid *grid = &self->config.grid;
  return MIN((grid->size / 2 + grid->image_size / 2) % self->fft->columns + 1, grid->image_size);
}

static guint begin_of(const AstroImageColumns *self, guint64 strip)
{
  const guint64 x = strip ? first_strip(self) + (strip - 1) * self->fft->columns : 0;
  return (guint)MIN(x, self->config.grid.image_size);
}

static guint64 tasks_of(const AstroImageColumns *self)
{
  const guint columns = self->fft->columns;
  const guint rest = self->config.grid.image_size - first_strip(self);
  return (1 + (rest + columns - 1) / columns + STRIPS - 1) / STRIPS;
}

typedef struct {
  AstroImageColumns *self;
  const AstroImageColumnsCall *call;
} Add;

static void run_task(gpointer data, guint64 number)
{
  const Add *add = data;
  AstroImageColumns *self = add->self;
  guint8 *base = astro_scratch_take(self->rooms);
  Task task = { self, add->call, room_at(self, base), (guint)(number / tasks_of(self)) };
  const guint64 first = number % tasks_of(self) * STRIPS;
  const guint x = begin_of(self, first), end = begin_of(self, first + STRIPS);
  const gsize real = self->from_double ? sizeof(double) : sizeof(float);

  for (guint64 strip = first; begin_of(self, strip) < end; strip++) {
    task.x = begin_of(self, strip);
    task.columns = begin_of(self, strip + 1) - task.x;
    /* Unused columns of a strip write into the next strip's sums, which overwrite them later. */
    task.sums = task.room.sums + (task.x - x) * real;
    find_all_phases(&task);
    for (guint product = 0; product < self->config.n_in; product++)
      make_product(&task, product);
  }
  add_sums(&task, x, end - x);
  astro_scratch_give(self->rooms, base);
}

void astro_image_columns_add(AstroImageColumns *self, const AstroImageColumnsCall *call,
                             guint threads)
{
  Add add = { self, call };

  if (call->map)
    astro_image_find_blank(&self->config, call->map, self->blank);
  astro_parallel(self->config.channels * tasks_of(self), threads, run_task, &add);
}
