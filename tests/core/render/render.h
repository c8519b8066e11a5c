/* Shared by tests of pictures: styles, streams of each kind, and frames drawn inside memory that
 * must not change. */
#pragma once

#include "core/render/render.h"
#include "tests/tests.h"

#include <math.h>

#define TEST_GAP 12 /* bytes behind a row that stay as they are */

static const AstroRenderStyle test_plain = { .percent = 100,
                                             .low = NAN,
                                             .high = NAN,
                                             .axes = TRUE,
                                             .grid = TRUE,
                                             .colour_bar = TRUE,
                                             .channel = -1,
                                             .rows = 8 };

#define TEST_IMAGE "application/x-astro-image,format=F32LE,layout=pol:y:x,"
#define TEST_SPECTRA                                                                               \
  "application/x-astro-spectra,layout=station:pol:time:channel,stations=2,pols=1,"
#define TEST_VISIBILITIES                                                                          \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
#define TEST_CORRELATION "application/x-astro-correlation-function,format=F64LE,layout=column:bin,"

static inline AstroObservation *test_new_observation(void)
{
  AstroObservation *o = astro_observation_new(3);
  o->done.scale = 1;
  o->has_phase_centre = TRUE;
  o->phase_ra = 2;
  o->phase_dec = 0.9;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T21:30:09", NULL));
  return o;
}

static inline AstroRenderer *test_new_render(const char *text, const AstroRenderStyle *style)
{
  GError *error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(AstroObservation) o = test_new_observation();
  AstroRenderer *render = astro_renderer_new(caps, style, o, &error);
  g_assert_no_error(error);
  return render;
}

static const AstroRenderMoment test_five = { 5 * GST_SECOND, GST_SECOND, NULL };

static inline guint8 *test_draw_moment(AstroRenderer *render, gconstpointer data, gsize bytes,
                                       const AstroRenderMoment *moment, guint width, guint height,
                                       gboolean red_first)
{
  GError *error = NULL;
  gsize stride = width * 4 + TEST_GAP, size = stride * height;
  guint8 *frame = test_alloc(size);
  const AstroRenderTarget target = { frame, stride, width, height, red_first };
  g_assert_true(astro_renderer_frame(render, data, bytes, moment, &target, &error));
  g_assert_no_error(error);
  test_check_guard(frame, size);
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++)
      g_assert_cmphex(frame[y * stride + x * 4 + 3], ==, 0xff);
    for (guint i = 0; i < TEST_GAP; i++)
      g_assert_cmphex(frame[y * stride + width * 4 + i], ==, 0xa5);
  }
  return frame;
}

static inline guint8 *test_draw_frame(AstroRenderer *render, gconstpointer data, gsize bytes,
                                      guint width, guint height, gboolean red_first)
{
  return test_draw_moment(render, data, bytes, &test_five, width, height, red_first);
}

/* The pixel of a bare frame, 0xRRGGBB. */
static inline guint32 test_pixel_at(const guint8 *frame, guint width, guint x, guint y)
{
  const guint8 *p = frame + y * (width * 4 + TEST_GAP) + x * 4;
  return (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0];
}

/* Degrees of "19ʰ26ᵐ30.5ˢ" (of_ra) or "−30°15′". */
static inline double test_read_sexagesimal(const char *text, gboolean of_ra)
{
  const double sign = g_str_has_prefix(text, "−") ? -1 : 1;
  double value = 0, unit = of_ra ? 15 : 1;
  while (*text) {
    char *end;
    if (!g_ascii_isdigit(*text)) {
      text = g_utf8_next_char(text);
      continue;
    }
    value += g_ascii_strtod(text, &end) * unit;
    unit /= 60;
    text = end;
  }
  return sign * value;
}
