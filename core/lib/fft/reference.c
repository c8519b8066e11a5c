/* The reference backend: the sums as written in the formula, in double precision. */
#include "config.h"
#include "core/lib/fft/check.h"

#include <complex.h>
#include <math.h>

typedef struct {
  AstroFftConfig config;
} Reference;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_fft_check(config, error))
    return NULL;
  Reference *self = g_new(Reference, 1);
  self->config = *(const AstroFftConfig *)config;
  *variant = "dft";
  return self;
}

static double complex read_sample(AstroFormat format, gconstpointer data, guint64 i)
{
  switch (format) {
  case ASTRO_FORMAT_F32LE:
    return ((const float *)data)[i];
  case ASTRO_FORMAT_F64LE:
    return ((const double *)data)[i];
  case ASTRO_FORMAT_CF32LE:
    return ((const float complex *)data)[i];
  default:
    return ((const double complex *)data)[i];
  }
}

static void write_sample(AstroFormat format, gpointer data, guint64 i, double complex value)
{
  switch (format) {
  case ASTRO_FORMAT_F32LE:
    ((float *)data)[i] = (float)creal(value);
    break;
  case ASTRO_FORMAT_F64LE:
    ((double *)data)[i] = creal(value);
    break;
  case ASTRO_FORMAT_CF32LE:
    ((float complex *)data)[i] = (float complex)value;
    break;
  default:
    ((double complex *)data)[i] = value;
  }
}

/* A line's samples one after another. The bins that are omitted in the transform of a real line are
 * conjugates of those that are there. */
static void read_line(const AstroFftPass *pass, const double complex *in, double complex *line)
{
  for (guint64 j = 0; j < pass->n; j++)
    line[j] = j < pass->n_in ? in[j * pass->inner] : conj(in[(pass->n - j) * pass->inner]);
}

static void transform_line(const AstroFftPass *pass, const double complex *roots,
                           const double complex *line, double complex *out)
{
  for (guint64 k = 0; k < pass->n_out; k++) {
    guint64 step = (k + pass->n - pass->origin_out) % pass->n;
    guint64 at = (pass->n - pass->origin_in) % pass->n * step % pass->n;
    double complex sum = 0;
    for (guint64 j = 0; j < pass->n; j++) {
      sum += line[j] * roots[at];
      at += step;
      at -= at >= pass->n ? pass->n : 0;
    }
    out[k * pass->inner] = pass->inverse ? sum / (double)pass->n : sum;
  }
}

/* Returns the samples after a pass; takes ownership of those before it. */
static double complex *make_pass(const AstroFftPass *pass, double complex *in)
{
  double complex *out = g_new(double complex, pass->outer * pass->n_out * pass->inner);
  g_autofree double complex *roots = g_new(double complex, pass->n);
  g_autofree double complex *line = g_new(double complex, pass->n);

  for (guint64 i = 0; i < pass->n; i++) {
    double angle = 2 * G_PI * (double)i / (double)pass->n;
    roots[i] = cos(angle) + (pass->inverse ? I : -I) * sin(angle);
  }
  for (guint64 o = 0; o < pass->outer; o++)
    for (guint64 i = 0; i < pass->inner; i++) {
      read_line(pass, in + o * pass->n_in * pass->inner + i, line);
      transform_line(pass, roots, line, out + o * pass->n_out * pass->inner + i);
    }
  g_free(in);
  return out;
}

/* Untouched tiles count as zeros, whatever they hold. */
static void blank_untouched(const AstroFftTouched *touched, double complex *samples, guint64 lines,
                            guint64 n)
{
  for (guint64 line = 0; line < lines; line++) {
    const guint8 *tiles = astro_fft_touched_line(touched, line);
    for (guint64 i = 0; i < n; i++)
      if (!tiles[i / ASTRO_GRID_TILE])
        samples[line * n + i] = 0;
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const AstroFftConfig *config = &((Reference *)instance)->config;
  const guint64 *steps = arguments;
  AstroFftPass passes[ASTRO_MAX_AXES];
  AstroFftTouched touched;

  if (!astro_fft_check_call(config, in, n_in, out, n_out, steps, error))
    return FALSE;
  guint n_passes = astro_fft_passes(config, *steps, passes);
  guint64 n = passes[0].outer * passes[0].n_in * passes[0].inner;
  double complex *samples = g_new(double complex, n);
  for (guint64 i = 0; i < n; i++)
    samples[i] = read_sample(config->from, in->data, i);
  if (astro_fft_touched(config, in, n_in, &touched))
    blank_untouched(&touched, samples, passes[0].outer, passes[0].n_in);
  for (guint i = 0; i < n_passes; i++)
    samples = make_pass(&passes[i], samples);
  n = passes[n_passes - 1].outer * passes[n_passes - 1].n_out * passes[n_passes - 1].inner;
  for (guint64 i = 0; i < n; i++)
    write_sample(config->to, out->data, i, samples[i]);
  g_free(samples);
  return TRUE;
}

const AstroBackend astro_fft_reference = {
  .stage = "fft",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroFftConfig),
  .shape = astro_fft_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
  .in_place = TRUE,
};
