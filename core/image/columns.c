#include "config.h"
#include "core/image/columns.h"

#include <string.h>

#include "core/backend/threads.h"
#include "core/image/check.h"

struct AstroImageColumns {
  AstroImageConfig config;
  const AstroImageKernels *kernels;
  const AstroFftColumnsKernels *transforms;
  AstroFftColumns *fft;
  gboolean from_double, to_double;
  /* About the phase centre rows have the same phases on both sides: bin -k has those of bin k. */
  gboolean is_even;
  guint8 *blank; /* [channel][v] */
  GMutex lock;
  GSList *rooms;
};

/* What a task works in, one behind the other. */
typedef struct {
  guint8 *samples;     /* of columns between the steps of their transform */
  guint8 *work;        /* of the transform */
  guint8 *made[2];     /* bins k1 + n1 k2 of all k2, and those of -k1 */
  guint8 *phases;      /* [k1][k2][re, im][column] */
  guint8 *corrections; /* [k1][k2][column] */
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
  for (guint i = 0; i < 2; i++)
    room.made[i] = part(base, &room.bytes, n2 * 2 * ASTRO_FFT_COLUMNS_BYTES);
  room.phases = part(base, &room.bytes, bins * 2 * ASTRO_FFT_COLUMNS_BYTES);
  room.corrections = part(base, &room.bytes, bins * ASTRO_FFT_COLUMNS_BYTES);
  return room;
}

static guint8 *take_room(AstroImageColumns *self)
{
  g_mutex_lock(&self->lock);
  GSList *link = self->rooms;
  self->rooms = link ? link->next : NULL;
  g_mutex_unlock(&self->lock);
  if (!link)
    return g_aligned_alloc(1, room_at(self, NULL).bytes, 4096);
  guint8 *room = link->data;
  g_slist_free_1(link);
  return room;
}

static void give_room(AstroImageColumns *self, guint8 *room)
{
  g_mutex_lock(&self->lock);
  self->rooms = g_slist_prepend(self->rooms, room);
  g_mutex_unlock(&self->lock);
}

AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config,
                                           const AstroImageKernels *kernels,
                                           const AstroFftColumnsKernels *transforms)
{
  AstroImageColumns *self = g_new0(AstroImageColumns, 1);

  g_mutex_init(&self->lock);
  self->config = *config;
  self->kernels = kernels;
  self->from_double = config->from == ASTRO_FORMAT_CF64LE;
  self->to_double = config->to == ASTRO_FORMAT_F64LE;
  self->transforms = &transforms[self->from_double];
  self->fft = astro_fft_columns_new(config->grid.size, self->from_double);
  self->is_even = config->grid.centre_m == 0;
  self->blank = g_new(guint8, (gsize)config->channels * config->grid.size);
  return self;
}

void astro_image_columns_free(AstroImageColumns *self)
{
  if (!self)
    return;
  g_slist_free_full(self->rooms, g_aligned_free);
  g_mutex_clear(&self->lock);
  astro_fft_columns_free(self->fft);
  g_free(self->blank);
  g_free(self);
}

/* ---- a task ---- */

typedef struct {
  AstroImageColumns *self;
  const AstroImageColumnsCall *call;
  Room room;
  guint channel, x, columns; /* pixels x to x + columns - 1 of all rows */
} Task;

/* The row of the image that a bin is; none: the image's size or more. */
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

/* Of a row, to where those of bin number `bin` are. */
static void find_factors(const Task *task, guint y, gsize bin)
{
  const AstroImageColumns *self = task->self;
  const AstroImageColumnsCall *call = task->call;
  const AstroGrid *grid = &self->config.grid;
  const guint half = grid->image_size / 2, n = self->fft->columns;
  const AstroImageStrip strip = { .l = grid->centre_l +
                                       ((double)half - (double)task->x) * grid->pixel,
                                  .pixel = -grid->pixel,
                                  .m = grid->centre_m + ((double)y - (double)half) * grid->pixel,
                                  .n = n };
  double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP], by[ASTRO_IMAGE_STRIP];

  self->kernels->phases(&strip, call->arguments->w, re, im);
  set_reals(self, task->room.phases, bin * 2 * n, re);
  set_reals(self, task->room.phases, (bin * 2 + 1) * n, im);
  if (!call->arguments->last)
    return;
  for (guint i = 0; i < n; i++) /* a column that there is not has the last one's */
    by[i] = call->inverse[2 * half - MIN(task->x + i, grid->image_size - 1)] * call->inverse[y];
  self->kernels->corrections(&strip, by, call->series, re);
  set_reals(self, task->room.corrections, bin * n, re);
}

static void find_all_factors(const Task *task)
{
  const AstroImageColumns *self = task->self;
  const guint image = self->config.grid.image_size, half = image / 2;
  const guint n1 = self->fft->steps[0].m, n2 = self->fft->steps[1].m;

  for (guint k1 = 0; k1 < (self->is_even ? n1 / 2 + 1 : n1); k1++)
    for (guint k2 = 0; k2 < n2; k2++) {
      guint y = row_of(self, k1, k2);
      /* The first row of an image of even size has no other, but is on the other side of one. */
      if (y == 2 * half && y == image)
        y = 0;
      if (y < image)
        find_factors(task, y, (gsize)k1 * n2 + k2);
    }
}

/* Its place among the terms of a product, which are added product of the grid by product. */
static guint place_of(const AstroImageProduct *product, guint term)
{
  guint place = 0;
  for (guint i = 0; i < product->n_terms; i++)
    if (i < term ? product->terms[i].product <= product->terms[term].product
                 : product->terms[i].product < product->terms[term].product)
      place++;
  return place;
}

/* Rows of bins k2 to end - 1 to a product of the image; their factors are those from bin number
 * factors on, step by step. */
static void add_rows(const Task *task, const guint8 *made, guint k1, guint k2, guint end,
                     gsize factors, gssize step, guint product, guint term)
{
  const AstroImageColumns *self = task->self;
  const AstroImageArguments *arguments = task->call->arguments;
  const AstroImageProduct *image_product = &self->config.products[product];
  const gsize image = self->config.grid.image_size;
  const gsize pixel = self->to_double ? sizeof(double) : sizeof(float);
  const gsize first =
      ((task->channel * self->config.n_out + product) * image + row_of(self, k1, k2)) * image +
      task->x;
  const guint place = place_of(image_product, term);
  const gboolean is_last = arguments->last && place + 1 == image_product->n_terms;
  const AstroImageRows rows = {
    .rows = end - k2,
    .columns = task->columns,
    .samples = made + k2 * 2 * ASTRO_FFT_COLUMNS_BYTES,
    .phases = task->room.phases + factors * 2 * ASTRO_FFT_COLUMNS_BYTES,
    .corrections = is_last ? task->room.corrections + factors * ASTRO_FFT_COLUMNS_BYTES : NULL,
    .step = step,
    .pixels = task->call->out + first * pixel,
    .pitch = self->fft->steps[0].m * image * pixel,
    .scale =
        astro_image_scale(&self->config, arguments, task->channel, &image_product->terms[term]),
    .imaginary = image_product->terms[term].imaginary,
    .first = arguments->first && place == 0
  };

  self->kernels->add_rows[self->from_double][self->to_double](&rows);
}

/* Bins k1 + n1 k2 of a product of the grid, which the image has from the middle on and up to it,
 * to all products of the image that have a part of it. */
static void add_bins(const Task *task, const guint8 *made, guint k1, guint product)
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
          add_rows(task, made, k1, begin, end, (gsize)(n1 - k1) * n2 + n2 - 1 - begin, -1, out, t);
        else
          add_rows(task, made, k1, begin, end, (gsize)k1 * n2 + begin, 1, out, t);
      }
}

static void make_product(const Task *task, guint product)
{
  const AstroImageColumns *self = task->self;
  const AstroFftColumnsKernels *transforms = self->transforms;
  const gsize size = self->config.grid.size, half = self->config.grid.image_size / 2;
  const gsize cell = self->from_double ? 2 * sizeof(double) : 2 * sizeof(float);
  /* Pixels go against the columns. The grid repeats itself, where the image is as large as it. */
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
    transforms->finish(self->fft, k1, task->room.samples, task->room.made[0], task->room.work);
    add_bins(task, task->room.made[0], k1, product);
  }
}

static guint64 strips(const AstroImageColumns *self)
{
  return (self->config.grid.image_size + self->fft->columns - 1) / self->fft->columns;
}

typedef struct {
  AstroImageColumns *self;
  const AstroImageColumnsCall *call;
} Add;

static void run_task(gpointer data, guint64 number)
{
  const Add *add = data;
  AstroImageColumns *self = add->self;
  const guint image = self->config.grid.image_size, columns = self->fft->columns;
  guint8 *base = take_room(self);
  Task task = { self, add->call, room_at(self, base), (guint)(number / strips(self)),
                (guint)(number % strips(self)) * columns };

  task.columns = MIN(columns, image - task.x);
  find_all_factors(&task);
  for (guint product = 0; product < self->config.n_in; product++)
    make_product(&task, product);
  give_room(self, base);
}

void astro_image_columns_add(AstroImageColumns *self, const AstroImageColumnsCall *call,
                             guint threads)
{
  Add add = { self, call };

  if (call->map)
    astro_image_find_blank(&self->config, call->map, self->blank);
  astro_parallel(self->config.channels * strips(self), threads, run_task, &add);
}
