/* Transforms of columns: every instruction set and precision compared with the sums, for lengths of
 * every radix and for primes without a kernel, in one pass, with two and three radices a step. */
#include "core/lib/fft/columns.h"

#include <complex.h>
#include <math.h>

#include "tests/tests.h"

static const guint lengths[] = { 1,  2,  3,  4,   5,   6,   7,   8,   9,   10,  11,  12,  26,  49,
                                 81, 97, 99, 100, 121, 144, 169, 343, 350, 480, 720, 840, 1024 };

typedef struct {
  AstroFftColumns *fft;
  const AstroFftColumnsKernels *kernels;
  AstroFftColumnsFrom from;
  gint width; /* of the plane, cells */
} Case;

static double complex cell(const Case *c, guint row, gint column)
{
  const gssize at = (gssize)row * c->width + column;
  if (c->from.blank && c->from.blank[row])
    return 0;
  return c->fft->is_double ? ((const double complex *)c->from.at)[at]
                           : ((const float complex *)c->from.at)[at];
}

/* One bin of a column, with row number `origin` first. */
static double complex bin(const Case *c, gint column, guint origin, guint k)
{
  const guint n = c->fft->n;
  double complex sum = 0;
  for (guint j = 0; j < n; j++)
    sum +=
        cell(c, (origin + j) % n, column) * cexp(-2 * G_PI * I * (double)((guint64)j * k % n) / n);
  return sum;
}

static void check(const Case *c, guint origin)
{
  const guint n1 = c->fft->steps[0].m, n2 = c->fft->steps[1].m, columns = c->fft->columns;
  const guint few = MAX(1, 2000 / (c->fft->n * c->from.columns)); /* bins are compared of a long
                                                                   * column */
  const gsize room_bytes = astro_fft_columns_room_bytes(c->fft);
  const gsize work_bytes = astro_fft_columns_work_bytes(c->fft);
  const gsize made_bytes = n2 * 2 * ASTRO_FFT_COLUMNS_BYTES;
  gpointer room = test_alloc(room_bytes), work = test_alloc(work_bytes);
  gpointer made = test_alloc(made_bytes);
  double wrong = 0, sum = 0;

  c->kernels->gather(c->fft, &c->from, origin, room);
  c->kernels->begin(c->fft, room, work);
  for (guint k1 = 0; k1 < n1; k1++) {
    memset(made, 0xa5, made_bytes);
    c->kernels->finish(c->fft, k1, room, made, work);
    for (guint k2 = 0; k2 < n2; k2++)
      for (guint i = 0; i < columns; i++) {
        const gsize at = (gsize)k2 * 2 * columns + i;
        const double complex got = c->fft->is_double
                                       ? ((double *)made)[at] + I * ((double *)made)[at + columns]
                                       : ((float *)made)[at] + I * ((float *)made)[at + columns];
        if (i >= c->from.columns) {
          g_assert_true(got == 0);
          continue;
        }
        g_assert_true(isfinite(creal(got)) && isfinite(cimag(got)));
        if ((k1 + k2 + i) % (1 + 16 / few))
          continue;
        const gint column = (gint)(c->from.columns - 1 - i);
        const gint at_end = column < (gint)c->from.before ? 0 : c->width;
        const double complex expected = bin(c, column - at_end, origin, k1 + n1 * k2);
        wrong += pow(cabs(got - expected), 2);
        sum += pow(cabs(expected), 2);
      }
  }
  test_check_guard(room, room_bytes);
  test_check_guard(work, work_bytes);
  test_check_guard(made, made_bytes);
  g_assert_cmpfloat(sqrt(wrong), <=, (c->fft->is_double ? 1e-14 : 5e-7) * sqrt(sum));
  test_free(room);
  test_free(work);
  test_free(made);
}

/* Whole strips, a few columns, and some from the beginning of the rows; no row blank, or every
 * third, which then holds NaN. */
static void check_length(const AstroFftColumnsKernels *kernels, gboolean is_double, guint n)
{
  AstroFftColumns *fft = astro_fft_columns_new(n, is_double);
  const guint columns = fft->columns, width = 2 * columns + 3;
  const gsize real = is_double ? sizeof(double) : sizeof(float), row = 2 * width * real;
  const guint places[][3] = { { 5, columns, columns }, { width - 3, 3, 3 }, { width - 2, 5, 2 } };
  g_autofree gint16 *random = g_new(gint16, n * width * 2);
  g_autofree guint8 *blank = g_malloc(n);
  guint8 *plane = test_alloc(n * row);

  test_fill(random, (gsize)n * width * 4, n);
  for (guint mapped = 0; mapped < 2; mapped++) {
    for (gsize i = 0; i < (gsize)n * width * 2; i++) {
      blank[i / 2 / width] = mapped && (i / 2 / width) % 3 == 1;
      const double value = blank[i / 2 / width] ? NAN : random[i] / 32768.0;
      if (is_double)
        ((double *)plane)[i] = value;
      else
        ((float *)plane)[i] = (float)value;
    }
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
      const Case c = { fft,
                       kernels,
                       { plane + places[i][0] * 2 * real, row, mapped ? blank : NULL, places[i][1],
                         places[i][2] },
                       (gint)width };
      check(&c, i == 0 ? n / 2 : (n - 1) * (i - 1));
    }
  }
  test_free(plane);
  astro_fft_columns_free(fft);
}

static void test_level(gconstpointer data)
{
  const AstroFftColumnsKernels *kernels = data;
  if (kernels->variant.level > astro_cpu_level()) {
    g_test_skip("this machine has no such instructions");
    return;
  }
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++)
      check_length(&kernels[is_double], is_double, lengths[i]);
}

static void add_tests(void)
{
  g_test_add_data_func("/fft/columns/c", astro_fft_columns_c, test_level);
#ifdef ASTRO_X86_KERNELS
  g_test_add_data_func("/fft/columns/avx2", astro_fft_columns_avx2, test_level);
  g_test_add_data_func("/fft/columns/avx512", astro_fft_columns_avx512, test_level);
#endif
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
