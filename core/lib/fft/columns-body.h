/* The kernels of the transforms of columns, the same source for both precisions: the including file
 * defines REAL, INTEGER (of the same size) and NAME(name). */
typedef REAL NAME(Vector) __attribute__((vector_size(LEVEL_BYTES)));
typedef struct {
  NAME(Vector) re, im;
} NAME(Complex);
#define Vector NAME(Vector)
#define Complex NAME(Complex)

#define COLUMNS (ASTRO_FFT_COLUMNS_BYTES / sizeof(REAL))
#define SAMPLE (2 * COLUMNS)
#define LANES (LEVEL_BYTES / sizeof(REAL))

/* ---- transforms of a few samples ---- */

static INLINE void NAME(dft2)(Complex *x)
{
  Complex a = x[0], b = x[1];
  x[0] = (Complex){ a.re + b.re, a.im + b.im };
  x[1] = (Complex){ a.re - b.re, a.im - b.im };
}

static INLINE void NAME(dft4)(Complex *x)
{
  Complex a = { x[0].re + x[2].re, x[0].im + x[2].im },
          b = { x[0].re - x[2].re, x[0].im - x[2].im };
  Complex c = { x[1].re + x[3].re, x[1].im + x[3].im },
          d = { x[1].re - x[3].re, x[1].im - x[3].im };
  x[0] = (Complex){ a.re + c.re, a.im + c.im };
  x[1] = (Complex){ b.re + d.im, b.im - d.re };
  x[2] = (Complex){ a.re - c.re, a.im - c.im };
  x[3] = (Complex){ b.re - d.im, b.im + d.re };
}

static INLINE void NAME(dft8)(Complex *x)
{
  const REAL half = (REAL)0.70710678118654752440;
  Complex a[4] = { x[0], x[2], x[4], x[6] }, b[4] = { x[1], x[3], x[5], x[7] };
  NAME(dft4)(a);
  NAME(dft4)(b);
  b[1] = (Complex){ (b[1].re + b[1].im) * half, (b[1].im - b[1].re) * half };
  b[2] = (Complex){ b[2].im, -b[2].re };
  b[3] = (Complex){ (b[3].im - b[3].re) * half, -(b[3].re + b[3].im) * half };
  UNROLL for (guint k = 0; k < 4; k++)
  {
    x[k] = (Complex){ a[k].re + b[k].re, a[k].im + b[k].im };
    x[k + 4] = (Complex){ a[k].re - b[k].re, a[k].im - b[k].im };
  }
}

/* Takes samples in pairs around the first: the sums of pairs are multiplied by the cosines, their
 * differences by the sines. */
static INLINE void NAME(dft_odd)(Complex *x, const guint n, const double *cosines,
                                 const double *sines)
{
  Complex sum[3], difference[3], all = x[0], first = x[0];
  UNROLL for (guint q = 0; q < n / 2; q++)
  {
    sum[q] = (Complex){ x[q + 1].re + x[n - 1 - q].re, x[q + 1].im + x[n - 1 - q].im };
    difference[q] = (Complex){ x[q + 1].re - x[n - 1 - q].re, x[q + 1].im - x[n - 1 - q].im };
    all = (Complex){ all.re + sum[q].re, all.im + sum[q].im };
  }
  x[0] = all;
  UNROLL for (guint k = 1; k <= n / 2; k++)
  {
    Complex even = first, odd = { 0 };
    UNROLL for (guint q = 0; q < n / 2; q++)
    {
      const REAL c = (REAL)cosines[(q + 1) * k % n], s = (REAL)sines[(q + 1) * k % n];
      even = (Complex){ even.re + c * sum[q].re, even.im + c * sum[q].im };
      odd = (Complex){ odd.re + s * difference[q].re, odd.im + s * difference[q].im };
    }
    x[k] = (Complex){ even.re + odd.im, even.im - odd.re };
    x[n - k] = (Complex){ even.re - odd.im, even.im + odd.re };
  }
}

static INLINE void NAME(dft_prime)(Complex *x, const guint n)
{
  if (n == 2)
    NAME(dft2)(x);
  else if (n == 3)
    NAME(dft_odd)(x, 3, cosines3, sines3);
  else if (n == 4)
    NAME(dft4)(x);
  else if (n == 5)
    NAME(dft_odd)(x, 5, cosines5, sines5);
  else if (n == 7)
    NAME(dft_odd)(x, 7, cosines7, sines7);
}

/* For two coprime factors: a transform along two axes, without twiddles between them. */
static INLINE void NAME(dft_coprime)(Complex *x, const guint a, const guint b)
{
  Complex rows[5][4], column[5];
  UNROLL for (guint i = 0; i < b; i++)
  {
    UNROLL for (guint j = 0; j < a; j++) rows[i][j] = x[(b * j + a * i) % (a * b)];
    NAME(dft_prime)(rows[i], a);
  }
  UNROLL for (guint j = 0; j < a; j++)
  {
    UNROLL for (guint i = 0; i < b; i++) column[i] = rows[i][j];
    NAME(dft_prime)(column, b);
    UNROLL for (guint i = 0; i < b; i++) rows[i][j] = column[i];
  }
  UNROLL for (guint k = 0; k < a * b; k++) x[k] = rows[k % b][k % a];
}

static INLINE Complex NAME(times)(Complex x, REAL re, REAL im)
{
  return (Complex){ x.re * re - x.im * im, x.re * im + x.im * re };
}

static INLINE void NAME(dft9)(Complex *x)
{
  Complex rows[3][3], column[3];
  UNROLL for (guint i = 0; i < 3; i++)
  {
    UNROLL for (guint j = 0; j < 3; j++) rows[i][j] = x[3 * j + i];
    NAME(dft_prime)(rows[i], 3);
    UNROLL for (guint j = 1; i && j < 3; j++) rows[i][j] =
        NAME(times)(rows[i][j], (REAL)cosines9[i * j], (REAL)-sines9[i * j]);
  }
  UNROLL for (guint j = 0; j < 3; j++)
  {
    UNROLL for (guint i = 0; i < 3; i++) column[i] = rows[i][j];
    NAME(dft_prime)(column, 3);
    UNROLL for (guint i = 0; i < 3; i++) x[j + 3 * i] = column[i];
  }
}

static INLINE void NAME(dft)(Complex *x, const guint n)
{
  if (n == 6)
    NAME(dft_coprime)(x, 2, 3);
  else if (n == 8)
    NAME(dft8)(x);
  else if (n == 9)
    NAME(dft9)(x);
  else if (n == 10)
    NAME(dft_coprime)(x, 2, 5);
  else if (n == 12)
    NAME(dft_coprime)(x, 4, 3);
  else
    NAME(dft_prime)(x, n);
}

/* ---- a pass ---- */

static INLINE Complex NAME(get)(const REAL *at)
{
  return (Complex){ *(const Vector *)at, *(const Vector *)(at + COLUMNS) };
}

static INLINE void NAME(put)(REAL *at, Complex x)
{
  *(Vector *)at = x.re;
  *(Vector *)(at + COLUMNS) = x.im;
}

/* From [done][radix][left] samples to [radix][done][left], which sorts the result on the way. The
 * last pass, where left is 1, may multiply its results by twiddles, one each. */
typedef struct {
  const REAL *in;
  REAL *out;
  gsize in_pitch, out_pitch;
  guint done, left;
  const REAL *twiddles;
} NAME(Pass);
#define Pass NAME(Pass)

static INLINE void NAME(pass)(const Pass *pass, const guint radix, const gboolean last)
{
  for (guint k = 0; k < pass->done; k++)
    for (guint i = 0; i < (last ? 1 : pass->left); i++) {
      const guint left = last ? 1 : pass->left;
      const REAL *in = pass->in + (i + (gsize)left * radix * k) * pass->in_pitch;
      REAL *out = pass->out + (i + (gsize)left * k) * pass->out_pitch;
      const gsize in_step = left * pass->in_pitch;
      const gsize out_step = (gsize)left * pass->done * pass->out_pitch;
      Complex x[12];
      UNROLL for (guint q = 0; q < radix; q++) x[q] = NAME(get)(in + q * in_step);
      NAME(dft)(x, radix);
      if (last && pass->twiddles)
        UNROLL for (guint j = 0; j < radix; j++)
        {
          const REAL *by = pass->twiddles + 2 * (k + (gsize)pass->done * j);
          NAME(put)(out + j * out_step, NAME(times)(x[j], by[0], by[1]));
        }
      else
        UNROLL for (guint j = 0; j < radix; j++)
        {
          if (!last && j > 0) {
            const REAL *by = pass->twiddles + 2 * ((gsize)(radix - 1) * i + j - 1);
            x[j] = NAME(times)(x[j], by[0], by[1]);
          }
          NAME(put)(out + j * out_step, x[j]);
        }
    }
}

/* Any radix, by its roots of unity. */
static void NAME(pass_any)(const Pass *pass, guint radix, gboolean last, const REAL *roots)
{
  for (guint k = 0; k < pass->done; k++)
    for (guint i = 0; i < pass->left; i++) {
      const REAL *in = pass->in + (i + (gsize)pass->left * radix * k) * pass->in_pitch;
      REAL *out = pass->out + (i + (gsize)pass->left * k) * pass->out_pitch;
      for (guint j = 0; j < radix; j++) {
        Complex sum = { 0 };
        for (guint q = 0, at = 0; q < radix; q++) {
          Complex x = NAME(times)(NAME(get)(in + (gsize)q * pass->left * pass->in_pitch),
                                  roots[2 * at], roots[2 * at + 1]);
          sum = (Complex){ sum.re + x.re, sum.im + x.im };
          at += j;
          at -= at >= radix ? radix : 0;
        }
        if (last ? pass->twiddles != NULL : j > 0) {
          const REAL *by = pass->twiddles +
                           2 * (last ? k + (gsize)pass->done * j : (gsize)(radix - 1) * i + j - 1);
          sum = NAME(times)(sum, by[0], by[1]);
        }
        NAME(put)(out + (gsize)j * pass->left * pass->done * pass->out_pitch, sum);
      }
    }
}

static void NAME(make_pass)(const Pass *pass, guint radix, gboolean last, const REAL *roots)
{
  switch (radix) {
#define RADIX(n)                                                                                   \
  case n:                                                                                          \
    if (last)                                                                                      \
      NAME(pass)(pass, n, TRUE);                                                                   \
    else                                                                                           \
      NAME(pass)(pass, n, FALSE);                                                                  \
    break
    RADIX(2);
    RADIX(3);
    RADIX(4);
    RADIX(5);
    RADIX(6);
    RADIX(7);
    RADIX(8);
    RADIX(9);
    RADIX(10);
    RADIX(12);
#undef RADIX
  default:
    NAME(pass_any)(pass, radix, last, roots);
  }
}

/* ---- a step ---- */

/* A transform of the step; the last pass multiplies by `twiddles` if there are any. */
static void NAME(transform)(const AstroFftStep *step, const REAL *in, gsize in_pitch, REAL *out,
                            gsize out_pitch, const REAL *twiddles, REAL *work)
{
  REAL *const works[2] = { work, work + step->m * SAMPLE };
  Pass pass = { .in = in, .in_pitch = in_pitch, .done = 1, .left = step->m };

  /* Only a single pass that is done in registers can be in place. */
  if (step->n_passes == 1 && in == out) {
    for (guint i = 0; i < step->m; i++)
      NAME(put)(work + i * SAMPLE, NAME(get)(in + i * in_pitch));
    pass.in = work;
    pass.in_pitch = SAMPLE;
  }

  for (guint p = 0; p < step->n_passes; p++) {
    const gboolean last = p + 1 == step->n_passes;
    pass.left /= step->radices[p];
    pass.out = last ? out : works[p % 2];
    pass.out_pitch = last ? out_pitch : SAMPLE;
    const REAL *own = step->twiddles[p];
    pass.twiddles = last ? twiddles : own;
    NAME(make_pass)
    (&pass, step->radices[p], last, own + 2 * (gsize)pass.left * (step->radices[p] - 1));
    pass.done *= step->radices[p];
    pass.in = pass.out;
    pass.in_pitch = pass.out_pitch;
  }
}

static void NAME(begin)(const AstroFftColumns *self, gpointer room, gpointer work)
{
  const AstroFftStep *step = &self->steps[0];

  for (guint j = 0; j < self->steps[1].m && step->m > 1; j++)
    for (guint at = 0; at < COLUMNS; at += LANES) {
      REAL *samples = (REAL *)room + j * SAMPLE + at;
      NAME(transform)
      (step, samples, self->pitch * SAMPLE, samples, self->pitch * SAMPLE,
       (const REAL *)self->between + 2 * (gsize)j * step->m, (REAL *)work + at);
    }
}

static void NAME(finish)(const AstroFftColumns *self, guint k1, gconstpointer room, gpointer made,
                         gpointer work)
{
  for (guint at = 0; at < COLUMNS; at += LANES)
    NAME(transform)
  (&self->steps[1], (const REAL *)room + k1 * self->pitch * SAMPLE + at, SAMPLE, (REAL *)made + at,
   SAMPLE, NULL, (REAL *)work + at);
}

/* ---- reading a plane ---- */

/* Separates the real and imaginary parts of contiguous samples, and reverses their order. */
static INLINE void NAME(split)(const REAL *samples, REAL *to)
{
  typedef REAL Unaligned
      __attribute__((vector_size(LEVEL_BYTES), aligned(sizeof(REAL)), may_alias));
  typedef INTEGER Indices __attribute__((vector_size(LEVEL_BYTES)));
  const Vector a = (Vector) * (const Unaligned *)samples;
  const Vector b = (Vector) * (const Unaligned *)(samples + LANES);
  Indices real;
  UNROLL for (guint i = 0; i < LANES; i++) real[i] = (INTEGER)(2 * (LANES - 1 - i));
  *(Vector *)to = ASTRO_SHUFFLE_TWO(a, b, real);
  *(Vector *)(to + COLUMNS) = ASTRO_SHUFFLE_TWO(a, b, real + 1);
}

static void NAME(gather)(const AstroFftColumns *self, const AstroFftColumnsFrom *from, guint origin,
                         gpointer room)
{
  const guint n2 = self->steps[1].m;

  for (guint j = 0, row = origin; j < self->n; j++, row = row + 1 < self->n ? row + 1 : 0) {
    REAL *to = (REAL *)room + ((gsize)(j / n2) * self->pitch + j % n2) * SAMPLE;
    const REAL *samples = (const REAL *)(from->at + row * from->pitch);
    if (row + FETCH < self->n && !(from->blank && from->blank[row + FETCH]))
      for (gsize at = 0; at < SAMPLE * sizeof(REAL); at += CACHE_LINE)
        __builtin_prefetch(from->at + (row + FETCH) * from->pitch + at, 0, NEXT_CACHE);
    if (from->blank && from->blank[row]) {
      memset(to, 0, SAMPLE * sizeof(REAL));
      continue;
    }
    if (from->before < COLUMNS) {
      memset(to, 0, SAMPLE * sizeof(REAL));
      for (guint i = 0; i < from->columns; i++) {
        const REAL *sample = samples + 2 * i - (i < from->before ? 0 : from->pitch / sizeof(REAL));
        to[from->columns - 1 - i] = sample[0];
        to[COLUMNS + from->columns - 1 - i] = sample[1];
      }
      continue;
    }
    UNROLL for (guint at = 0; at < COLUMNS; at += LANES)
        NAME(split)(samples + 2 * at, to + COLUMNS - at - LANES);
  }
}

#undef Vector
#undef Complex
#undef Pass
#undef COLUMNS
#undef SAMPLE
#undef LANES
