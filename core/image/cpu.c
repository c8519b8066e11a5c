/* The CPU backend. A task makes a row of the image in all products, a strip of pixels at a time:
 * the phases for w are computed once per pixel and used for all products, and for the pixels on the
 * other sides of the phase centre. Planes that are still to be transformed along v are handled in
 * columns (core/image/columns.h). */
#include "config.h"
#include "core/image/check.h"

#include <string.h>

#include "core/backend/threads.h"
#include "core/image/columns.h"

static const struct {
  AstroVariant variant;
  const AstroImageKernels *image;
  const AstroFftColumnsKernels *transforms;
} variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_image_kernels_avx512, astro_fft_columns_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_image_kernels_avx2, astro_fft_columns_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, &astro_image_kernels_c, astro_fft_columns_c },
};

typedef struct {
  AstroImageConfig config;
  const AstroImageKernels *kernels;
  guint threads;
  double *inverse;
  double w_step; /* for which the series was made */
  AstroImageSeries series;
  AstroImageColumns *columns; /* with transforms_v */
} Cpu;

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  astro_image_columns_free(self->columns);
  g_free(self->inverse);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroImageConfig *)config;
  self->threads = place->threads;
  const typeof(variants[0]) *picked = ASTRO_VARIANT_PICK(variants);
  self->kernels = picked->image;
  self->inverse = astro_image_inverse(&self->config.grid);
  if (self->config.transforms_v)
    self->columns = astro_image_columns_new(&self->config, self->kernels, picked->transforms);
  *variant = picked->variant.name;
  return self;
}

/* ---- the work ---- */

typedef struct {
  const Cpu *cpu;
  const AstroImageArguments *arguments;
  const guint8 *in;
  guint8 *out;
} Call;

/* Pixels of a strip are counted along l, opposite to x. */
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

/* Factors for the pixels of a strip, the same for all products. */
typedef struct {
  double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP], minus_re[ASTRO_IMAGE_STRIP];
  double correction[ASTRO_IMAGE_STRIP];
} Factors;

/* The imaginary part is the real part after a rotation by -90 degrees. */
static void add_term(const Call *call, guint channel, const AstroImageTerm *term, gsize at, gsize n,
                     double *sums, const Factors *by)
{
  const AstroImageConfig *config = &call->cpu->config;
  const AstroImageKernels *kernels = call->cpu->kernels;
  double scale = astro_image_scale(config, call->arguments, channel, term);
  const double *a = term->imaginary ? by->im : by->re, *b = term->imaginary ? by->minus_re : by->im;

  if (config->from == ASTRO_FORMAT_CF64LE)
    kernels->add_double(sums, (const double *)call->in + 2 * at, n, a, b, scale);
  else
    kernels->add_single(sums, (const float *)call->in + 2 * at, n, a, b, scale);
}

/* Makes pixels l to l + n - 1 (relative to the image's middle) of row y. */
static void make_strip(const Call *call, guint channel, gsize y, gint64 l, gsize n,
                       const Factors *by)
{
  const Cpu *cpu = call->cpu;
  const AstroImageConfig *config = &cpu->config;
  gsize size = config->grid.size, image = config->grid.image_size, half = image / 2;
  gsize v = size / 2 - half + y, u = (gsize)((gint64)(size / 2) + l) % size;
  double sums[ASTRO_IMAGE_STRIP];

  for (guint product = 0; product < config->n_out; product++) {
    const AstroImageProduct *made = &config->products[product];
    gsize end = ((channel * config->n_out + product) * image + y) * image + (gsize)(half - l);
    memset(sums, 0, sizeof sums);
    if (!call->arguments->first)
      load(call, end, n, sums);
    for (guint i = 0; i < made->n_terms; i++)
      add_term(call, channel, &made->terms[i],
               ((channel * config->n_in + made->terms[i].product) * size + v) * size + u, n, sums,
               by);
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

static void mirror(const Factors *by, gsize n, gboolean last, Factors *mirrored)
{
  for (gsize i = 0; i < n; i++) {
    mirrored->re[i] = by->re[n - 1 - i];
    mirrored->im[i] = by->im[n - 1 - i];
    mirrored->minus_re[i] = by->minus_re[n - 1 - i];
  }
  for (gsize i = 0; last && i < n; i++)
    mirrored->correction[i] = by->correction[n - 1 - i];
}

/* If the phase centre is in the middle, n - 1 is the same on all four sides. */
static gboolean is_even(double centre)
{
  return centre == 0;
}

static guint64 rows_of_tasks(const AstroGrid *grid)
{
  return is_even(grid->centre_m) ? grid->image_size / 2 + 1 : grid->image_size;
}

/* Makes a row, and the row on the other side of the middle if it has the same factors. */
static void task(gpointer data, guint64 number)
{
  const Call *call = data;
  const AstroGrid *grid = &call->cpu->config.grid;
  const gint64 size = grid->size, image = grid->image_size, half = image / 2;
  const gint64 lowest = half - (image - 1); /* l of x = image - 1 */
  const guint64 rows = rows_of_tasks(grid);
  const guint channel = (guint)(number / rows);
  const gint64 y = (gint64)(number % rows), other = 2 * half - y;
  const gboolean has_other = is_even(grid->centre_m) && other != y && other < image;
  Factors by, mirrored;

  for (gint64 l = is_even(grid->centre_l) ? 0 : lowest, n; l <= half; l += n) {
    /* If the image is as large as the grid, columns wrap around. */
    const gint64 end = size - size / 2;
    n = MIN(MIN(half + 1 - l, l < end ? end - l : half + 1 - l), ASTRO_IMAGE_STRIP);
    find_factors(call, (gsize)y, l, (gsize)n, &by);
    make_strip(call, channel, (gsize)y, l, (gsize)n, &by);
    if (has_other)
      make_strip(call, channel, (gsize)other, l, (gsize)n, &by);
    if (!is_even(grid->centre_l))
      continue;
    /* From the lowest l that exists to the one next to the middle. */
    const gint64 from = MAX(-(l + n - 1), lowest), to = MIN(-l, -1);
    if (from > to)
      continue;
    mirror(&by, (gsize)(1 - l - from), call->arguments->last, &mirrored);
    make_strip(call, channel, (gsize)y, from, (gsize)(to - from + 1), &mirrored);
    if (has_other)
      make_strip(call, channel, (gsize)other, from, (gsize)(to - from + 1), &mirrored);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  Call call = { .cpu = self, .arguments = arguments };

  if (!astro_image_check_call(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (call.arguments->adds_image) {
    astro_image_add(&self->config, in->data, out->data);
    return TRUE;
  }
  call.in = in->data;
  call.out = out->data;
  if (call.arguments->last && call.arguments->w_step != self->w_step) {
    self->w_step = call.arguments->w_step;
    astro_image_series_set(&self->series, &self->config.grid, self->w_step);
  }
  if (self->columns) {
    const AstroImageColumnsCall columns = { .arguments = arguments,
                                            .in = in->data,
                                            .map = n_in > 1 ? in[1].data : NULL,
                                            .out = out->data,
                                            .inverse = self->inverse,
                                            .series = &self->series };
    astro_image_columns_add(self->columns, &columns, self->threads);
  } else {
    astro_parallel(self->config.channels * rows_of_tasks(&self->config.grid), self->threads, task,
                   &call);
  }
  astro_image_copy_middle(&self->config, call.arguments, out->data, result);
  return TRUE;
}

/* The middle of a point-spread function is copied for the beam's fit, and its pixels are marked. */
guint64 astro_image_memory(gconstpointer configuration, guint threads)
{
  const AstroImageConfig *config = configuration;
  const guint64 pixels = (guint64)config->grid.image_size * config->grid.image_size;
  const guint workers = threads ? threads : astro_threads();
  return (config->transforms_v ? astro_image_columns_bytes(config, workers) : 0) +
         config->grid.image_size * sizeof(double) + pixels * (sizeof(double) + 1);
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

const AstroBackend *const astro_image_backends[] = { &astro_image_cpu, &astro_image_reference,
                                                     NULL };
