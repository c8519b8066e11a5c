/* The CPU backend: the passes of a transform one after another. */
#include "config.h"
#include "core/lib/fft/check.h"
#include "core/lib/fft/lines.h"

typedef struct {
  AstroFftConfig config;
  const AstroFftPrecision *precision;
  guint threads, n_passes;
  AstroFftLines *lines[ASTRO_MAX_AXES];
  gpointer between; /* intermediate complex values of several passes to real samples */
  gsize between_bytes;
  /* A grid of visibilities is mostly empty, with whole rows of zeros. These need not be
   * transformed, written and read again if the lines of the first pass are the rows of the second.
   */
  gboolean skips_blank;
  guint8 *blank;
  gsize n_blank;
} Cpu;

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  for (guint i = 0; i < self->n_passes; i++)
    if (self->lines[i])
      self->precision->destroy(self->lines[i]);
  g_aligned_free(self->between);
  g_free(self->blank);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_fft_check(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  const AstroTransposeKernels *kernels = astro_transpose_kernels();
  AstroFftPass passes[ASTRO_MAX_AXES];

  self->config = *(const AstroFftConfig *)config;
  self->precision =
      astro_format_is_double(self->config.from) ? &astro_fft_double : &astro_fft_single;
  self->threads = place->threads;
  /* With two steps: an axis after the free one counts as contiguous only if it is the last. */
  self->n_passes = astro_fft_passes(&self->config, 2, passes);
  self->skips_blank = self->n_passes > 1 && passes[0].inner == 1 && passes[1].inner > 1 &&
                      passes[1].inner == passes[0].n_out;
  for (guint i = 0; i < self->n_passes; i++) {
    self->lines[i] = self->precision->create(&passes[i], passes[i].inner == 1, kernels, error);
    if (!self->lines[i]) {
      destroy(self);
      return NULL;
    }
  }
  *variant = kernels->variant.name;
  return self;
}

/* Several passes to real samples cannot keep complex intermediate values in the output. */
static gpointer room_between(Cpu *self, const AstroFftPass *pass, const AstroBlock *out)
{
  if (self->n_passes == 1 || astro_format_info(self->config.to)->is_complex)
    return out->data;
  gsize bytes =
      pass->outer * pass->n_out * pass->inner * astro_format_info(self->config.from)->bytes;
  if (bytes > self->between_bytes) {
    g_aligned_free(self->between);
    self->between = g_aligned_alloc(1, bytes, 4096);
    self->between_bytes = bytes;
  }
  return self->between;
}

static guint8 *room_for_blank(Cpu *self, guint64 lines)
{
  if (!self->skips_blank)
    return NULL;
  if (lines > self->n_blank) {
    g_free(self->blank);
    self->blank = g_malloc(lines);
    self->n_blank = lines;
  }
  return self->blank;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const guint64 *steps = arguments;
  AstroFftPass passes[ASTRO_MAX_AXES];
  AstroFftTouched touched;

  if (!astro_fft_check_call(&self->config, in, n_in, out, n_out, steps, error))
    return FALSE;
  astro_fft_passes(&self->config, *steps, passes);
  gpointer between = room_between(self, &passes[0], out);
  guint8 *blank = room_for_blank(self, passes[0].outer);
  const gboolean has_map = astro_fft_touched(&self->config, in, n_in, &touched);
  for (guint i = 0; i < self->n_passes; i++)
    self->precision->run(self->lines[i], &passes[i], i ? between : in->data,
                         i + 1 < self->n_passes ? between : out->data, i == 1 ? blank : NULL,
                         i == 0 ? blank : NULL, i == 0 && has_map ? &touched : NULL, self->threads);
  return TRUE;
}

const AstroBackend astro_fft_cpu = {
  .stage = "fft",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroFftConfig),
  .shape = astro_fft_check,
  .create = create,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend *const astro_fft_backends[] = { &astro_fft_cpu, &astro_fft_reference, NULL };
