/* Sets up both passes of the transforms of columns, and their tables. */
#include "gpu/lib/fft/columns.h"

#include <math.h>

#define POINTS(r1, r2) r1 *r2
static const guint32 points[] = { ASTRO_FFT_COLUMNS(POINTS) };

gint astro_fft_columns_kernel(guint64 n)
{
  for (guint i = 0; i < G_N_ELEMENTS(points); i++)
    if (points[i] == n)
      return (gint)i;
  return -1;
}

/* Splits n into two factors that are as near to each other as possible. */
guint32 astro_fft_columns_first(guint64 n)
{
  for (guint i = 0; i < G_N_ELEMENTS(points); i++)
    if (n % points[i] == 0 && points[i] >= n / points[i] &&
        astro_fft_columns_kernel(n / points[i]) >= 0)
      return points[i];
  return 0;
}

template <typename C> static void fill_tables(guint32 n, double scale, C *tables)
{
  const guint32 n1 = astro_fft_columns_first(n), n2 = n / n1;
  const auto root = [](guint64 k, guint32 n, double scale = 1) {
    const double angle = 2 * G_PI * (double)k / n;
    return C{ (decltype(C::x))(scale * cos(angle)), (decltype(C::x))(-scale * sin(angle)) };
  };
  for (guint64 other = 0; other < n2; other++)
    for (guint64 k = 0; k < n1; k++)
      *tables++ = root(other * k, n, scale);
  for (guint32 k = 0; k < n1; k++)
    *tables++ = root(k, n1);
  for (guint32 k = 0; k < n2; k++)
    *tables++ = root(k, n2);
}

gsize astro_fft_columns_tables(guint32 n, double scale, gboolean is_double, gpointer tables)
{
  const guint32 n1 = astro_fft_columns_first(n), n2 = n / n1;
  if (tables && is_double)
    fill_tables(n, scale, (double2 *)tables);
  else if (tables)
    fill_tables(n, scale, (float2 *)tables);
  return ((gsize)n + n1 + n2) * (is_double ? sizeof(double2) : sizeof(float2));
}

void astro_fft_columns_passes(const AstroFftColumns *c, AstroFftColumnsPass *first,
                              AstroFftColumnsPass *second)
{
  const guint32 n1 = astro_fft_columns_first(c->n), n2 = c->n / n1;
  const guint32 sample = c->is_double ? sizeof(double2) : sizeof(float2);
  *first = {
    .n = c->n,
    .width = c->width,
    .transforms = n2,
    .in_row = c->in_row * sample,
    .out_row = c->between_row * sample,
    .from = n2,
    .from_other = 1,
    .from_roll = c->origin_in,
    .to = n2,
    .to_other = 1,
    .n_wanted = c->n,
    .roots = c->n,
    .has_twists = TRUE,
    .width_roll = c->width_roll,
    .flip = c->flip,
    .im_in = c->conjugate_in ? -1.0f : 1.0f,
    .im_out = 1,
    .in = c->in,
    .tables = c->tables,
    .blank = c->blank,
    .out = c->between,
  };
  *second = {
    .n = c->n,
    .width = c->width,
    .transforms = n1,
    .in_row = c->between_row * sample,
    .out_row = c->in_row * sample,
    .from = 1,
    .from_other = n2,
    .to = n1,
    .to_other = 1,
    .to_roll = (c->origin_out + c->n - c->wanted) % c->n,
    .n_wanted = c->n_wanted,
    .roots = (gsize)c->n + n1,
    .im_in = 1,
    .im_out = c->conjugate ? -1.0f : 1.0f,
    .in = c->between,
    .tables = c->tables,
    .out = (guint8 *)c->out + (gsize)c->wanted * c->in_row * sample,
  };
}

gboolean astro_fft_columns(const AstroFftColumns *c, cudaStream_t stream, GError **error)
{
  const AstroFftColumnsFunc *kernels =
      c->is_double ? astro_fft_columns_double : astro_fft_columns_single;
  AstroFftColumnsPass first, second;

  astro_fft_columns_passes(c, &first, &second);
  return kernels[astro_fft_columns_kernel(second.transforms)](&first, c->planes, stream, error) &&
         kernels[astro_fft_columns_kernel(first.transforms)](&second, c->planes, stream, error);
}
