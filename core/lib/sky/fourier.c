/* Transforms by Stockham's method: passes of radix 4, and a last one of radix 2 if one is left. */
#include "config.h"
#include "core/lib/sky/fourier.h"

#include <math.h>
#include <string.h>

struct AstroFourier {
  gsize n;
  float *cosines, *sines; /* of 2 pi k / n */
};

typedef struct {
  float *re, *im;
} Parts;

AstroFourier *astro_fourier_new(gsize n)
{
  AstroFourier *fourier = g_new(AstroFourier, 1);
  fourier->n = n;
  fourier->cosines = g_new(float, n);
  fourier->sines = g_new(float, n);
  for (gsize k = 0; k < n; k++) {
    const double angle = 2 * G_PI * (double)k / (double)n;
    fourier->cosines[k] = (float)cos(angle);
    fourier->sines[k] = (float)sin(angle);
  }
  return fourier;
}

void astro_fourier_free(AstroFourier *fourier)
{
  g_free(fourier->cosines);
  g_free(fourier->sines);
  g_free(fourier);
}

/* One group of butterflies, whose samples are stride apart in the input: those of one twiddle. */
static void pass4(const AstroFourier *fourier, Parts in, Parts out, gsize group, gsize groups,
                  gsize stride)
{
  const gsize quarter = groups * stride, at = group * stride;
  const float c1 = fourier->cosines[at], s1 = -fourier->sines[at];
  const float c2 = fourier->cosines[2 * at], s2 = -fourier->sines[2 * at];
  const float c3 = fourier->cosines[3 * at], s3 = -fourier->sines[3 * at];
  const float *restrict re = in.re + at, *restrict im = in.im + at;
  float *restrict to_re = out.re + 4 * at, *restrict to_im = out.im + 4 * at;
  for (gsize q = 0; q < stride; q++) {
    const float a_re = re[q] + re[q + 2 * quarter], a_im = im[q] + im[q + 2 * quarter];
    const float b_re = re[q] - re[q + 2 * quarter], b_im = im[q] - im[q + 2 * quarter];
    const float c_re = re[q + quarter] + re[q + 3 * quarter],
                c_im = im[q + quarter] + im[q + 3 * quarter];
    /* i times the difference */
    const float d_re = im[q + 3 * quarter] - im[q + quarter],
                d_im = re[q + quarter] - re[q + 3 * quarter];
    const float x_re = b_re - d_re, x_im = b_im - d_im, y_re = a_re - c_re, y_im = a_im - c_im,
                z_re = b_re + d_re, z_im = b_im + d_im;
    to_re[q] = a_re + c_re;
    to_im[q] = a_im + c_im;
    to_re[q + stride] = x_re * c1 - x_im * s1;
    to_im[q + stride] = x_re * s1 + x_im * c1;
    to_re[q + 2 * stride] = y_re * c2 - y_im * s2;
    to_im[q + 2 * stride] = y_re * s2 + y_im * c2;
    to_re[q + 3 * stride] = z_re * c3 - z_im * s3;
    to_im[q + 3 * stride] = z_re * s3 + z_im * c3;
  }
}

static void pass2(Parts in, Parts out, gsize half)
{
  for (gsize q = 0; q < half; q++) {
    out.re[q] = in.re[q] + in.re[q + half];
    out.im[q] = in.im[q] + in.im[q + half];
    out.re[q + half] = in.re[q] - in.re[q + half];
    out.im[q + half] = in.im[q] - in.im[q + half];
  }
}

void astro_fourier_run(const AstroFourier *fourier, float *re, float *im, float *work)
{
  const gsize n = fourier->n;
  Parts in = { re, im }, out = { work, work + n };
  gsize stride = 1, left = n;
  for (; left >= 4; left /= 4, stride *= 4) {
    for (gsize group = 0; group < left / 4; group++)
      pass4(fourier, in, out, group, left / 4, stride);
    const Parts next = in;
    in = out;
    out = next;
  }
  if (left == 2) {
    pass2(in, out, n / 2);
    in = out;
  }
  if (in.re != re) {
    memcpy(re, in.re, n * sizeof *re);
    memcpy(im, in.im, n * sizeof *im);
  }
}
