#include "config.h"
#include "core/delay/instance.h"

float *astro_delay_window_at(const AstroDelayWindow *window, guint input, gint64 sample, float **im)
{
  float *re = window->samples + 2 * (gsize)input * window->capacity + (sample - window->start);
  *im = re + window->capacity;
  return re;
}

static void load_ci4(const guint8 *in, gsize stride, gsize n, float *re, float *im)
{
  for (gsize i = 0; i < n; i++) {
    gint8 sample = (gint8)in[i * stride];
    re[i] = (float)(sample >> 4);
    im[i] = (float)((gint8)(guint8)((guint8)sample << 4) >> 4);
  }
}

#define LOAD(name, Component)                                                                      \
  static void name(const Component *in, gsize stride, gsize n, float *re, float *im)               \
  {                                                                                                \
    for (gsize i = 0; i < n; i++) {                                                                \
      re[i] = in[2 * i * stride];                                                                  \
      im[i] = in[2 * i * stride + 1];                                                              \
    }                                                                                              \
  }

LOAD(load_ci8, gint8)
LOAD(load_ci16, gint16)
LOAD(load_cf32, float)

void astro_delay_load(AstroFormat format, gconstpointer in, gsize stride, gsize n, float *re,
                      float *im)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    load_ci4(in, stride, n, re, im);
    break;
  case ASTRO_FORMAT_CI8:
    load_ci8(in, stride, n, re, im);
    break;
  case ASTRO_FORMAT_CI16LE:
    load_ci16(in, stride, n, re, im);
    break;
  default:
    load_cf32(in, stride, n, re, im);
  }
}
