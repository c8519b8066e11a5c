/* The cpu backend. A task makes a row of the image in all products, a strip of pixels at a time:
 * what is computed once a pixel (the phase of w) serves all products, and the pixels on the other
 * sides of the phase centre. Where planes are yet to be transformed along v, a task takes a few
 * columns of them in all products, and their transforms stay in its caches. */
#include "config.h"
#include "core/image/check.h"

#include <string.h>

#include "core/backend/threads.h"
#include "core/fft/lines.h"
#include "core/image/kernels.h"

static const struct {
  const AstroImageKernels *image;
  const AstroTransposeKernels *transpose;
} variants[] = { { &astro_image_kernels_avx512, &astro_transpose_kernels_avx512 },
                 { &astro_image_kernels_avx2, &astro_transpose_kernels_avx2 },
                 { &astro_image_kernels_c, &astro_transpose_kernels_c } };

/* Columns of a task: whole cache lines of pixels, too. */
#define COLUMNS 16

typedef struct {
  AstroImageConfig config;
  const AstroImageKernels *kernels;
  guint threads;
  double *inverse;
  double w_step; /* that the series is for */
  AstroImageSeries series;
  /* With transforms_v. */
  const AstroFftPrecision *precision;
  AstroFftPass pass;
  AstroFftLines *lines;
  guint8 *blank; /* [channel][v] */
  GMutex lock;
  GSList *rooms;
} Cpu;

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  if (self->lines)
    self->precision->destroy(self->lines);
  g_slist_free_full(self->rooms, g_aligned_free);
  g_mutex_clear(&self->lock);
  g_free(self->blank);
  g_free(self->inverse);
  g_free(self);
}

static gboolean make_lines(Cpu *self, const AstroTransposeKernels *kernels, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const guint64 size = config->grid.size;

  self->precision = config->from == ASTRO_FORMAT_CF64LE ? &astro_fft_double : &astro_fft_single;
  self->pass = (AstroFftPass){ .outer = 1,
                               .inner = size,
                               .period = size,
                               .n_lines = size,
                               .wanted = size / 2 - config->grid.image_size / 2,
                               .n_wanted = config->grid.image_size,
                               .n = size,
                               .n_in = size,
                               .n_out = size,
                               .origin_in = size / 2,
                               .origin_out = size / 2 };
  self->blank = g_new(guint8, config->channels * size);
  self->lines = self->precision->create(&self->pass, FALSE, kernels, error);
  return self->lines != NULL;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroImageConfig *)config;
  self->threads = place->threads;
  AstroCpuLevel level = astro_cpu_level();
  guint picked = 0;
  while (variants[picked].image->variant.level > level)
    picked++;
  self->kernels = variants[picked].image;
  self->inverse = astro_image_inverse(&self->config.grid);
  g_mutex_init(&self->lock);
  if (self->config.transforms_v && !make_lines(self, variants[picked].transpose, error)) {
    destroy(self);
    return NULL;
  }
  *variant = self->kernels->variant.name;
  return self;
}

/* ---- the work ---- */

typedef struct {
  Cpu *cpu;
  const AstroImageArguments *arguments;
  const guint8 *in, *blank;
  guint8 *out;
} Call;

/* Transformed samples: from the first pixel of a strip in row 0 of the image and product 0 on,
 * bytes from row to row and from product to product. */
typedef struct {
  const guint8 *at;
  gsize row, product;
} Samples;

/* Pixels of a strip are counted along l, which is against x. */
static void load(const Call *call, gsize end, gsize n, double *sums)
{
  if (call->cpu->config.to == ASTRO_FORMAT_F64LE)
    for (gsize i = 0; i < n; i++)
      sums[i] = ((const double *)call->out)[end - i];
  else
    for (gsize i = 0; i < n; i++)
      sums[i] = ((const float *)call->out)[end - i];
}

static void store(const Call *call, gsize end, gsize n, const double *sums)
{
  if (call->cpu->config.to == ASTRO_FORMAT_F64LE)
    for (gsize i = 0; i < n; i++)
      ((double *)call->out)[end - i] = sums[i];
  else
    for (gsize i = 0; i < n; i++)
      ((float *)call->out)[end - i] = (float)sums[i];
}

/* What the pixels of a strip are multiplied by, whatever their product. */
typedef struct {
  double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP], minus_re[ASTRO_IMAGE_STRIP];
  double correction[ASTRO_IMAGE_STRIP];
} Factors;

/* The imaginary part is the real one of what is turned back by a quarter. */
static void add_term(const Call *call, guint channel, const AstroImageTerm *term, gconstpointer in,
                     gsize n, double *sums, const Factors *by)
{
  const AstroImageConfig *config = &call->cpu->config;
  const AstroImageKernels *kernels = call->cpu->kernels;
  double scale = astro_image_scale(config, call->arguments, channel, term);
  const double *a = term->imaginary ? by->im : by->re, *b = term->imaginary ? by->minus_re : by->im;

  if (config->from == ASTRO_FORMAT_CF64LE)
    kernels->add_double(sums, in, n, a, b, scale);
  else
    kernels->add_single(sums, in, n, a, b, scale);
}

/* Pixels l to l + n - 1 (from the image's middle) of row y. */
static void make_strip(const Call *call, const Samples *from, guint channel, gsize y, gint64 l,
                       gsize n, const Factors *by)
{
  const Cpu *cpu = call->cpu;
  const AstroImageConfig *config = &cpu->config;
  gsize image = config->grid.image_size, half = image / 2;
  double sums[ASTRO_IMAGE_STRIP];

  for (guint product = 0; product < config->n_out; product++) {
    const AstroImageProduct *made = &config->products[product];
    gsize end = ((channel * config->n_out + product) * image + y) * image + (gsize)(half - l);
    memset(sums, 0, n * sizeof *sums);
    if (!call->arguments->first)
      load(call, end, n, sums);
    for (guint i = 0; i < made->n_terms; i++)
      add_term(call, channel, &made->terms[i],
               from->at + made->terms[i].product * from->product + y * from->row, n, sums, by);
    if (call->arguments->last)
      for (gsize i = 0; i < n; i++)
        sums[i] *= by->correction[i] * cpu->inverse[y];
    store(call, end, n, sums);
  }
}

static void find_factors(const Call *call, gsize y, gint64 l, gsize n, Factors *by)
{
  const Cpu *cpu = call->cpu;
  const AstroGrid *grid = &cpu->config.grid;
  gint64 half = grid->image_size / 2;
  AstroImageStrip strip = { .l = grid->centre_l + (double)l * grid->pixel,
                            .pixel = grid->pixel,
                            .m = grid->centre_m + ((double)y - (double)half) * grid->pixel,
                            .n = n };

  cpu->kernels->phases(&strip, call->arguments->w, by->re, by->im);
  for (gsize i = 0; i < n; i++)
    by->minus_re[i] = -by->re[i];
  if (call->arguments->last)
    cpu->kernels->corrections(&strip, cpu->inverse + half + l, &cpu->series, by->correction);
}

static void turn_round(const Factors *by, gsize n, gboolean last, Factors *round)
{
  for (gsize i = 0; i < n; i++) {
    round->re[i] = by->re[n - 1 - i];
    round->im[i] = by->im[n - 1 - i];
    round->minus_re[i] = by->minus_re[n - 1 - i];
  }
  for (gsize i = 0; last && i < n; i++)
    round->correction[i] = by->correction[n - 1 - i];
}

/* About the phase centre, n - 1 is the same on all four sides. */
static gboolean is_even(double centre)
{
  return centre == 0;
}

static guint64 rows_of_tasks(const AstroGrid *grid)
{
  return is_even(grid->centre_m) ? grid->image_size / 2 + 1 : grid->image_size;
}

/* Of a strip that begins at l, in a plane as it came. */
static Samples samples_of(const Call *call, guint channel, gint64 l)
{
  const AstroImageConfig *config = &call->cpu->config;
  const gsize cell = astro_format_info(config->from)->bytes, size = config->grid.size;
  const gsize v = size / 2 - config->grid.image_size / 2;
  const gsize u = (gsize)((gint64)(size / 2) + l) % size;

  return (Samples){ call->in + ((channel * config->n_in * size + v) * size + u) * cell, size * cell,
                    size * size * cell };
}

/* A row, and the one on the other side of the middle where that has the same factors. */
static void row_task(gpointer data, guint64 number)
{
  const Call *call = data;
  const AstroGrid *grid = &call->cpu->config.grid;
  const gint64 size = grid->size, image = grid->image_size, half = image / 2;
  const gint64 lowest = half - (image - 1); /* l of x = image - 1 */
  const guint64 rows = rows_of_tasks(grid);
  const guint channel = (guint)(number / rows);
  const gint64 y = (gint64)(number % rows), other = 2 * half - y;
  const gboolean has_other = is_even(grid->centre_m) && other != y && other < image;
  Factors by, round;

  for (gint64 l = is_even(grid->centre_l) ? 0 : lowest, n; l <= half; l += n) {
    /* The grid repeats itself, where the image is as large as it. */
    const gint64 end = size - size / 2;
    n = MIN(MIN(half + 1 - l, l < end ? end - l : half + 1 - l), ASTRO_IMAGE_STRIP);
    Samples from = samples_of(call, channel, l);
    find_factors(call, (gsize)y, l, (gsize)n, &by);
    make_strip(call, &from, channel, (gsize)y, l, (gsize)n, &by);
    if (has_other)
      make_strip(call, &from, channel, (gsize)other, l, (gsize)n, &by);
    if (!is_even(grid->centre_l))
      continue;
    /* From the least l that there is to the one next to the middle. */
    const gint64 begin = MAX(-(l + n - 1), lowest), to = MIN(-l, -1);
    if (begin > to)
      continue;
    from = samples_of(call, channel, begin);
    turn_round(&by, (gsize)(1 - l - begin), call->arguments->last, &round);
    make_strip(call, &from, channel, (gsize)y, begin, (gsize)(to - begin + 1), &round);
    if (has_other)
      make_strip(call, &from, channel, (gsize)other, begin, (gsize)(to - begin + 1), &round);
  }
}

/* ---- planes to be transformed along v ---- */

static gpointer take_room(Cpu *self)
{
  g_mutex_lock(&self->lock);
  GSList *link = self->rooms;
  self->rooms = link ? link->next : NULL;
  g_mutex_unlock(&self->lock);
  if (!link)
    return g_aligned_alloc(self->config.n_in * self->config.grid.image_size,
                           COLUMNS * astro_format_info(self->config.from)->bytes, 4096);
  gpointer room = link->data;
  g_slist_free_1(link);
  return room;
}

static void give_room(Cpu *self, gpointer room)
{
  g_mutex_lock(&self->lock);
  self->rooms = g_slist_prepend(self->rooms, room);
  g_mutex_unlock(&self->lock);
}

/* Of all products, columns l to l + n - 1 from the middle, transformed, to the room. */
static void transform(const Call *call, guint channel, gint64 l, guint n, guint8 *room)
{
  const Cpu *cpu = call->cpu;
  const AstroImageConfig *config = &cpu->config;
  const gsize cell = astro_format_info(config->from)->bytes;
  const guint64 size = config->grid.size;
  const guint64 u = (guint64)((gint64)(size / 2) + l);
  /* The grid repeats itself, where the image is as large as it. */
  const guint before = (guint)(u < size ? MIN(n, size - u) : 0);

  for (guint product = 0; product < config->n_in; product++) {
    const guint8 *plane = call->in + (channel * config->n_in + product) * size * size * cell;
    const guint8 *blank = call->blank ? call->blank + channel * size : NULL;
    guint8 *to = room + product * config->grid.image_size * COLUMNS * cell;
    if (before)
      cpu->precision->take(cpu->lines, &cpu->pass, plane, blank, u, before, to, COLUMNS);
    if (before < n)
      cpu->precision->take(cpu->lines, &cpu->pass, plane, blank, (u + before) % size, n - before,
                           to + before * cell, COLUMNS);
  }
}

static guint64 columns_of_tasks(const AstroGrid *grid)
{
  return (grid->image_size + COLUMNS - 1) / COLUMNS;
}

/* Some columns of the image. */
static void columns_task(gpointer data, guint64 number)
{
  const Call *call = data;
  const AstroImageConfig *config = &call->cpu->config;
  const gint64 image = config->grid.image_size, half = image / 2;
  const guint64 tasks = columns_of_tasks(&config->grid);
  const guint channel = (guint)(number / tasks);
  const gint64 x = (gint64)(number % tasks) * COLUMNS, end = MIN(x + COLUMNS, image);
  const gint64 l = half - (end - 1);
  const gsize n = (gsize)(end - x), cell = astro_format_info(config->from)->bytes;
  const gint64 rows = (gint64)rows_of_tasks(&config->grid);
  guint8 *room = take_room(call->cpu);
  const Samples from = { room, COLUMNS * cell, (gsize)image * COLUMNS * cell };
  Factors by;

  transform(call, channel, l, (guint)n, room);
  for (gint64 y = 0; y < rows; y++) {
    const gint64 other = 2 * half - y;
    find_factors(call, (gsize)y, l, n, &by);
    make_strip(call, &from, channel, (gsize)y, l, n, &by);
    if (is_even(config->grid.centre_m) && other != y && other < image)
      make_strip(call, &from, channel, (gsize)other, l, n, &by);
  }
  give_room(call->cpu, room);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer arguments, GError **error)
{
  Cpu *self = instance;
  Call call = { .cpu = self, .arguments = arguments };

  if (!astro_image_check_call(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  call.in = in->data;
  call.out = out->data;
  if (call.arguments->last && call.arguments->w_step != self->w_step) {
    self->w_step = call.arguments->w_step;
    astro_image_series_set(&self->series, &self->config.grid, self->w_step);
  }
  const AstroGrid *grid = &self->config.grid;
  const guint64 channels = self->config.channels;
  if (n_in > 1) {
    astro_image_find_blank(&self->config, in[1].data, self->blank);
    call.blank = self->blank;
  }
  if (self->config.transforms_v)
    astro_parallel(channels * columns_of_tasks(grid), self->threads, columns_task, &call);
  else
    astro_parallel(channels * rows_of_tasks(grid), self->threads, row_task, &call);
  astro_image_copy_middle(&self->config, call.arguments, out->data);
  return TRUE;
}

const AstroBackend astro_image_cpu = {
  .stage = "image",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroImageConfig),
  .shape = astro_image_check,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
