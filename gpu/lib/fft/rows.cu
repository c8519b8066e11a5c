/* Plans transforms of rows of n samples: stages, the places of points in between, twiddles. */
#include "gpu/lib/fft/rows.h"

#include <math.h>
#include <string.h>

enum { LIST_THREADS = 256 };

static const guint32 radices[N_FFT_ROWS][14] = {
  { 16, 15, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2 },
  { 24, 21, 20, 18, 16, 15, 14, 12 },
  { 32, 30, 28, 27, 25, 24, 21, 20, 18, 16, 15, 14, 12 },
};

/* Writes n as a product of `stages` radices in descending order, none above `most`, and keeps the
 * product with the smallest sum. */
static void split(const guint32 *radices, guint64 n, guint stages, guint32 most, guint32 sum,
                  guint32 *now, guint32 *best, guint32 *least)
{
  if (stages == 0 && n == 1 && sum < *least) {
    *least = sum;
    memcpy(best, now - FFT_ROWS_STAGES, FFT_ROWS_STAGES * sizeof *best);
  }
  for (; stages && *radices; radices++)
    if (*radices <= most && n % *radices == 0) {
      *now = *radices;
      split(radices, n / *radices, stages - 1, *radices, sum + *radices, now + 1, best, least);
    }
}

/* Returns the first of that many stages (those before it have radix 1), or FFT_ROWS_STAGES if n is
 * not a product of radices. */
static guint find_radices(const guint32 *radices, guint64 n, guint stages,
                          guint32 found[FFT_ROWS_STAGES])
{
  const guint first = FFT_ROWS_STAGES - stages;
  guint32 now[FFT_ROWS_STAGES] = { 1, 1, 1, 1 }, least = G_MAXUINT32;
  split(radices, n, stages, radices[0], 0, now + first, found, &least);
  return least < G_MAXUINT32 ? first : FFT_ROWS_STAGES;
}

/* As few stages as possible, with as few points; in double precision registers hold at most 16. */
static guint choose_radices(guint64 n, gboolean is_double, guint32 found[FFT_ROWS_STAGES],
                            FftRowsKind *kind)
{
  guint first;

  for (guint i = 0; i < (is_double ? 1 : N_FFT_ROWS); i++)
    if ((first = find_radices(radices[i], n, 3, found)) < FFT_ROWS_STAGES) {
      *kind = (FftRowsKind)i;
      return first;
    }
  *kind = FFT_ROWS_16;
  return find_radices(radices[FFT_ROWS_16], n, FFT_ROWS_STAGES, found);
}

/* Points that neighbouring threads access together should be in different banks. Those of one digit
 * of the result are if its stride is odd; those of both last digits, if the stride of the next
 * digit equals that of the last but one, modulo the number of banks. */
static void find_strides(const guint32 *radix, guint first, guint banks,
                         guint32 strides[FFT_ROWS_STAGES])
{
  strides[3] = 1;
  strides[2] = radix[3];
  strides[1] = radix[2] * radix[3];
  strides[1] += first ? strides[1] % 2 == 0 : (radix[3] + banks - strides[1] % banks) % banks;
  strides[0] = radix[1] * strides[1];
  strides[0] += strides[0] % 2 == 0;
}

/* If instructions are the limit, enough threads to fill a multiprocessor, with as few of them idle
 * as possible; if memory latency is, as few iterations as possible. */
static guint32 threads_of(const AstroFftRowsPass *pass, guint32 blocks)
{
  const gboolean is_wide = pass->kind != FFT_ROWS_16;
  const guint32 most = FFT_ROWS_THREADS[pass->kind],
                least = is_wide ? most / 2 : CLAMP(768 / blocks, 32, most);
  guint32 best = 0;
  guint64 least_work = G_MAXUINT64;

  for (guint32 threads = most; threads >= least; threads -= 32) {
    guint64 work = 0;
    for (guint i = pass->first; i < FFT_ROWS_STAGES; i++) {
      const guint64 turns = (pass->stages[i].transforms + threads - 1) / threads;
      work += is_wide ? turns : turns * threads * pass->stages[i].radix;
    }
    if (work < least_work || (is_wide && work == least_work)) {
      least_work = work;
      best = threads;
    }
  }
  return best;
}

gboolean astro_fft_rows_plan(guint64 n, gboolean is_double, gsize most_bytes,
                             AstroFftRowsPass *pass)
{
  const gsize sample_bytes = is_double ? sizeof(double2) : sizeof(float2);
  guint32 radix[FFT_ROWS_STAGES], strides[FFT_ROWS_STAGES], below = 1, twiddles = 0;

  *pass = {};
  if (n * sample_bytes > most_bytes)
    return FALSE;
  pass->n = (guint32)n;
  pass->first = choose_radices(n, is_double, radix, &pass->kind);
  if (pass->first == FFT_ROWS_STAGES)
    return FALSE;
  find_strides(radix, pass->first, (guint)(128 / sample_bytes), strides);
  for (guint i = FFT_ROWS_STAGES; i-- > 0; below *= radix[i]) {
    const gboolean is_last = i + 1 == FFT_ROWS_STAGES;
    AstroFftRowsStage *stage = &pass->stages[i];
    guint digits[3], k = 0;
    /* The last stage's digits are in the order of the result. */
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
      tables[stage->twiddles + j] = { root<C>(j, n), root<C>(4 * (guint64)j, n),
                                      root<C>(8 * (guint64)j, n), root<C>(16 * (guint64)j, n) };
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

/* Lists rows of tiles with a touched one, a warp a row of tiles. Their order does not matter. */
static __global__ void __launch_bounds__(LIST_THREADS)
    list_rows(const guint8 *touched, guint32 tiles, guint32 tile_rows, guint32 *listed)
{
  const guint32 row = (blockIdx.x * LIST_THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
  bool any = false;
  if (row >= tile_rows)
    return;
  for (guint32 i = lane; i < tiles; i += 32)
    any |= touched[(gsize)row * tiles + i] != 0;
  if (__any_sync(~0u, any) && lane == 0)
    listed[1 + atomicAdd(listed, 1)] = row;
}

gboolean astro_fft_rows_list(const AstroFftRowsPass *pass, guint32 maps, guint32 *listed,
                             cudaStream_t stream, GError **error)
{
  const guint32 tile_rows = maps * pass->tile_rows.by;
  if (!CUDA_TRY(cudaMemsetAsync(listed, 0, sizeof *listed, stream)))
    return FALSE;
  list_rows<<<(tile_rows * 32 + LIST_THREADS - 1) / LIST_THREADS, LIST_THREADS, 0, stream>>>(
      pass->touched, pass->tiles, tile_rows, listed);
  return CUDA_TRY(cudaGetLastError());
}
