/* Plans the transforms of columns: radices, passes and twiddles. */
#include "config.h"
#include "core/lib/fft/columns.h"

#include <math.h>

/* Radices with a kernel of their own, by which a step is done in as few passes as possible. */
static const guint radices[] = { 12, 10, 9, 8, 7, 6, 5, 4, 3, 2 };

/* The smallest number of passes for m, at most `most`; 0: there is none. */
static guint find_passes(guint m, guint most, guint *found)
{
  if (most == 0)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS(radices); i++)
    if (m == radices[i]) {
      found[0] = m;
      return 1;
    }
  guint best = 0;
  for (guint i = 0; i < G_N_ELEMENTS(radices) && most > 1; i++) {
    guint rest[32];
    guint n = m % radices[i] ? 0 : find_passes(m / radices[i], most - 1, rest);
    if (!n)
      continue;
    best = n + 1;
    most = n; /* only fewer passes are of interest from here on */
    found[0] = radices[i];
    for (guint k = 0; k < n; k++)
      found[k + 1] = rest[k];
  }
  return best;
}

/* Other primes are passes too, but slow; so is 1. */
static guint find_all_passes(guint m, guint *found)
{
  guint n = 0, smooth = 1;

  for (guint p = 2; p <= m; p++)
    while (m % p == 0) {
      m /= p;
      if (p > 7)
        found[n++] = p;
      else
        smooth *= p;
    }
  if (smooth > 1 || n == 0) {
    guint made = smooth > 1 ? find_passes(smooth, 16, found + n) : 0;
    if (!made)
      found[n] = smooth;
    n += MAX(made, 1);
  }
  return n;
}

static void set_root(gpointer to, gboolean is_double, gsize at, guint64 k, guint64 n)
{
  double angle = -2 * G_PI * (double)(k % n) / (double)n;
  if (is_double) {
    ((double *)to)[2 * at] = cos(angle);
    ((double *)to)[2 * at + 1] = sin(angle);
  } else {
    ((float *)to)[2 * at] = (float)cos(angle);
    ((float *)to)[2 * at + 1] = (float)sin(angle);
  }
}

static gpointer new_roots(gboolean is_double, gsize n)
{
  return g_malloc_n(n, is_double ? 2 * sizeof(double) : 2 * sizeof(float));
}

static void set_step(AstroFftStep *step, guint m, gboolean is_double)
{
  guint left = m;

  step->m = m;
  step->n_passes = find_all_passes(m, step->radices);
  for (guint p = 0; p < step->n_passes; p++) {
    const guint radix = step->radices[p], whole = left;
    left /= radix;
    step->twiddles[p] = new_roots(is_double, (gsize)left * (radix - 1) + radix);
    for (guint i = 0; i < left; i++)
      for (guint j = 1; j < radix; j++)
        set_root(step->twiddles[p], is_double, (gsize)i * (radix - 1) + j - 1, (guint64)i * j,
                 whole);
    for (guint i = 0; i < radix; i++)
      set_root(step->twiddles[p], is_double, (gsize)left * (radix - 1) + i, i, radix);
  }
}

AstroFftColumns *astro_fft_columns_new(guint n, gboolean is_double)
{
  AstroFftColumns *self = g_new0(AstroFftColumns, 1);
  guint n1 = 1;

  for (guint i = 1; (guint64)i * i <= n; i++)
    if (n % i == 0)
      n1 = i;
  self->n = n;
  self->is_double = is_double;
  self->columns = ASTRO_FFT_COLUMNS_BYTES / (is_double ? sizeof(double) : sizeof(float));
  set_step(&self->steps[0], n1, is_double);
  set_step(&self->steps[1], n / n1, is_double);
  /* An odd pitch spreads the samples of the first step's transforms over the cache. */
  self->pitch = n / n1 | 1;
  self->between = new_roots(is_double, n);
  for (guint j = 0; j < n / n1; j++)
    for (guint k = 0; k < n1; k++)
      set_root(self->between, is_double, (gsize)j * n1 + k, (guint64)j * k, n);
  return self;
}

void astro_fft_columns_free(AstroFftColumns *self)
{
  if (!self)
    return;
  for (guint s = 0; s < 2; s++)
    for (guint p = 0; p < self->steps[s].n_passes; p++)
      g_free(self->steps[s].twiddles[p]);
  g_free(self->between);
  g_free(self);
}

gsize astro_fft_columns_room_bytes(const AstroFftColumns *self)
{
  return self->steps[0].m * self->pitch * 2 * ASTRO_FFT_COLUMNS_BYTES;
}

gsize astro_fft_columns_work_bytes(const AstroFftColumns *self)
{
  return 2 * (gsize)MAX(self->steps[0].m, self->steps[1].m) * 2 * ASTRO_FFT_COLUMNS_BYTES;
}
