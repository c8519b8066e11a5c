/* The cpu backend. A task makes a row of the image in all products, a strip of pixels at a time:
 * what is computed once a pixel (the phase of w) serves all products. */
#include "config.h"
#include "core/image/check.h"

#include <string.h>

#include "core/backend/threads.h"
#include "core/image/kernels.h"

static const AstroImageKernels *const variants[] = { &astro_image_kernels_avx512,
                                                     &astro_image_kernels_avx2,
                                                     &astro_image_kernels_c };

typedef struct {
  AstroImageConfig config;
  const AstroImageKernels *kernels;
  guint threads;
  double *inverse;
  double w_step; /* that the series is for */
  AstroImageSeries series;
} Cpu;

static void destroy(gpointer instance)
{
  g_free(((Cpu *)instance)->inverse);
  g_free(instance);
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
  for (guint i = G_N_ELEMENTS(variants); i-- > 0;)
    if (variants[i]->variant.level <= level)
      self->kernels = variants[i];
  self->inverse = astro_image_inverse(&self->config.grid);
  *variant = self->kernels->variant.name;
  return self;
}

/* ---- the work ---- */

typedef struct {
  const Cpu *cpu;
  const AstroImageArguments *arguments;
  const guint8 *in;
  guint8 *out;
} Call;

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

/* The imaginary part is the real one of what is turned back by a quarter. */
static void add_term(const Call *call, guint channel, const AstroImageTerm *term, gsize at, gsize n,
                     double *sums, const double *re, const double *im, const double *minus_re)
{
  const AstroImageConfig *config = &call->cpu->config;
  const AstroImageKernels *kernels = call->cpu->kernels;
  double scale = astro_image_scale(config, call->arguments, channel, term);
  const double *a = term->imaginary ? im : re, *b = term->imaginary ? minus_re : im;

  if (config->from == ASTRO_FORMAT_CF64LE)
    kernels->add_double(sums, (const double *)call->in + 2 * at, n, a, b, scale);
  else
    kernels->add_single(sums, (const float *)call->in + 2 * at, n, a, b, scale);
}

/* Pixels first to first + n - 1 along l of row y, whose cells lie from u on in the grid's row v. */
static void make_strip(const Call *call, guint channel, guint y, gsize first, gsize n, gsize u)
{
  const Cpu *cpu = call->cpu;
  const AstroImageConfig *config = &cpu->config;
  const AstroGrid *grid = &config->grid;
  gsize size = grid->size, image = grid->image_size, half = image / 2, v = size / 2 - half + y;
  double lowest = (double)half - (double)(image - 1); /* l of x = image - 1, in pixels */
  AstroImageStrip strip = { .l = grid->centre_l + (lowest + (double)first) * grid->pixel,
                            .pixel = grid->pixel,
                            .m = grid->centre_m + ((double)y - (double)half) * grid->pixel,
                            .n = n };
  double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP], minus_re[ASTRO_IMAGE_STRIP];
  double sums[ASTRO_IMAGE_STRIP];

  cpu->kernels->phases(&strip, call->arguments->w, re, im);
  for (gsize i = 0; i < n; i++)
    minus_re[i] = -re[i];
  for (guint product = 0; product < config->n_out; product++) {
    const AstroImageProduct *made = &config->products[product];
    gsize end = ((channel * config->n_out + product) * image + y) * image + image - 1 - first;
    memset(sums, 0, sizeof sums);
    if (!call->arguments->first)
      load(call, end, n, sums);
    for (guint i = 0; i < made->n_terms; i++)
      add_term(call, channel, &made->terms[i],
               ((channel * config->n_in + made->terms[i].product) * size + v) * size + u, n, sums,
               re, im, minus_re);
    if (call->arguments->last)
      cpu->kernels->correct(sums, &strip, cpu->inverse + (gint64)lowest + (gint64)(half + first),
                            cpu->inverse[y], &cpu->series);
    store(call, end, n, sums);
  }
}

static void task(gpointer data, guint64 number)
{
  const Call *call = data;
  const AstroGrid *grid = &call->cpu->config.grid;
  gsize size = grid->size, image = grid->image_size;
  gsize begin = size / 2 + image / 2 + 1 - image; /* the cell of the least l */
  guint channel = (guint)(number / image), y = (guint)(number % image);

  for (gsize first = 0, n; first < image; first += n) {
    /* The grid repeats itself, where the image is as large as it. */
    gsize u = (begin + first) % size;
    n = MIN(MIN(image - first, size - u), ASTRO_IMAGE_STRIP);
    make_strip(call, channel, y, first, n, u);
  }
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
  astro_parallel((guint64)self->config.channels * self->config.grid.image_size, self->threads, task,
                 &call);
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
