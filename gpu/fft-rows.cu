/* How rows of n samples are transformed: the stages, where points lie in between, twiddles. */
#include "gpu/fft-rows.h"

#include <math.h>
#include <string.h>

static const guint32 radices[] = { 16, 15, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2 };

/* n as so many radices in descending order, of least sum: none of them is above most, and their sum is below
 * that of the best that was found. */
static void split(guint64 n, guint stages, guint32 most, guint32 sum, guint32 *now, guint32 *best, guint32 *least)
{
  if (stages == 0 && n == 1 && sum < *least) {
    *least = sum;
    memcpy(best, now - FFT_ROWS_STAGES, FFT_ROWS_STAGES * sizeof *best);
  }
  for (guint i = 0; stages && i < G_N_ELEMENTS(radices); i++)
    if (radices[i] <= most && n % radices[i] == 0) {
      *now = radices[i];
      split(n / radices[i], stages - 1, radices[i], sum + radices[i], now + 1, best, least);
    }
}

/* Returns the first stage of as few as can be, those before it have radix 1; FFT_ROWS_STAGES where n is no
 * product of radices. */
static guint find_radices(guint64 n, guint32 found[FFT_ROWS_STAGES])
{
  for (guint first = FFT_ROWS_STAGES - 3;; first--) {
    guint32 now[FFT_ROWS_STAGES] = { 1, 1, 1, 1 }, least = G_MAXUINT32;
    split(n, FFT_ROWS_STAGES - first, radices[0], 0, now + first, found, &least);
    if (least < G_MAXUINT32)
      return first;
    if (first == 0)
      return FFT_ROWS_STAGES;
  }
}

/* Points that neighbouring threads access together shall lie in different banks: those of one digit of the result
 * where the stride of that is odd, and those of both last digits where the stride of the next is that of the last
 * but one, modulo the banks. */
static void find_strides(const guint32 *radix, guint first, guint banks, guint32 strides[FFT_ROWS_STAGES])
{
  strides[3] = 1;
  strides[2] = radix[3];
  strides[1] = radix[2] * radix[3];
  strides[1] += first ? strides[1] % 2 == 0 : (radix[3] + banks - strides[1] % banks) % banks;
  strides[0] = radix[1] * strides[1];
  strides[0] += strides[0] % 2 == 0;
}

static guint32 threads_of(const AstroFftRowsPass *pass, guint32 blocks)
{
  const guint32 least = CLAMP(768 / blocks, FFT_ROWS_LEAST_THREADS, FFT_ROWS_THREADS);
  guint32 best = 0;
  guint64 least_work = G_MAXUINT64;

  for (guint32 threads = FFT_ROWS_THREADS; threads >= least; threads -= 32) {
    guint64 work = 0;
    for (guint i = pass->first; i < FFT_ROWS_STAGES; i++) {
      const AstroFftRowsStage *stage = &pass->stages[i];
      work += (guint64)((stage->transforms + threads - 1) / threads) * threads * stage->radix;
    }
    if (work < least_work) {
      least_work = work;
      best = threads;
    }
  }
  return best;
}

gboolean astro_fft_rows_plan(guint64 n, gboolean is_double, gsize most_bytes, AstroFftRowsPass *pass)
{
  const gsize sample_bytes = is_double ? sizeof(double2) : sizeof(float2);
  guint32 radix[FFT_ROWS_STAGES], strides[FFT_ROWS_STAGES], below = 1, twiddles = 0;

  *pass = {};
  if (n * sample_bytes > most_bytes)
    return FALSE;
  pass->n = (guint32)n;
  pass->first = find_radices(n, radix);
  if (pass->first == FFT_ROWS_STAGES)
    return FALSE;
  find_strides(radix, pass->first, (guint)(128 / sample_bytes), strides);
  for (guint i = FFT_ROWS_STAGES; i-- > 0; below *= radix[i]) {
    const gboolean is_last = i + 1 == FFT_ROWS_STAGES;
    AstroFftRowsStage *stage = &pass->stages[i];
    guint digits[3], k = 0;
    /* The last stage's digits are those of the result. */
    for (guint d = 0; d < FFT_ROWS_STAGES; d++) {
      const guint digit = is_last ? (pass->first + d) % FFT_ROWS_STAGES : FFT_ROWS_STAGES - 1 - d;
      if (digit != i)
        digits[k++] = digit;
    }
    stage->radix = radix[i];
    stage->stride = strides[i];
    stage->transforms = pass->n / radix[i];
    for (k = 0; k < 3; k++) {
      if (k < 2)
        stage->extents[k] = AstroDivisor(radix[digits[k]]);
      stage->strides[k] = strides[digits[k]];
    }
    stage->period = AstroDivisor(below);
    stage->twiddles = twiddles;
    if (!is_last && i >= pass->first)
      twiddles += below;
  }
  pass->room_bytes = (pass->first ? radix[1] * strides[1] : radix[0] * strides[0]) * sample_bytes;
  pass->threads = threads_of(pass, (guint32)MAX(most_bytes / pass->room_bytes, 1));
  return pass->room_bytes <= most_bytes;
}

template <typename C> static C root(guint64 j, guint64 n)
{
  const double angle = 2 * G_PI * (double)j / (double)n;
  return C{ (decltype(C::x))cos(angle), (decltype(C::x))-sin(angle) };
}

template <typename C> static void fill_tables(const AstroFftRowsPass *pass, FftTwiddle<C> *tables)
{
  for (guint i = pass->first; i + 1 < FFT_ROWS_STAGES; i++) {
    const AstroFftRowsStage *stage = &pass->stages[i];
    const guint64 n = (guint64)stage->radix * stage->period.by;
    for (guint32 j = 0; j < stage->period.by; j++)
      tables[stage->twiddles + j] = { root<C>(j, n), root<C>(4 * (guint64)j, n) };
  }
}

gsize astro_fft_rows_tables(const AstroFftRowsPass *pass, gboolean is_double, gpointer tables)
{
  gsize n = 0;
  for (guint i = pass->first; i + 1 < FFT_ROWS_STAGES; i++)
    n += pass->stages[i].period.by;
  if (tables && is_double)
    fill_tables(pass, (FftTwiddle<double2> *)tables);
  else if (tables)
    fill_tables(pass, (FftTwiddle<float2> *)tables);
  return n * (is_double ? sizeof(FftTwiddle<double2>) : sizeof(FftTwiddle<float2>));
}
