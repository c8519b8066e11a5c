/* Frames of 1920 x 1080 that one core draws in a second, beside the 30 that are required, and
 * compared with copying such a frame. */
#include "core/render/render.h"
#include "tests/bench/bench.h"
#include "tests/tests.h"

#include <math.h>

#define WIDTH 1920
#define HEIGHT 1080
#define ROUNDS 9

static guint8 *frame, *other;

typedef struct {
  AstroRenderer *render;
  gpointer data[2]; /* used alternately, so that numbers beside the colour bar change */
  gsize bytes;
  guint next;
} Picture;

static void draw(gpointer data)
{
  Picture *p = data;
  const AstroRenderTarget target = { frame, WIDTH * 4, WIDTH, HEIGHT, FALSE };
  GError *error = NULL;
  p->next++;
  const AstroRenderMoment moment = { p->next * GST_SECOND, GST_SECOND, NULL };
  if (!astro_renderer_frame(p->render, p->data[p->next % 2], p->bytes, &moment, &target, &error))
    g_error("%s", error->message);
}

static void copy(gpointer data)
{
  memcpy(other, frame, (gsize)WIDTH * HEIGHT * 4);
}

/* Noise in floats from 0 to 1, or to 2. */
static void begin(Picture *p, const char *text, gsize bytes, AstroStretch stretch, double percent,
                  AstroScaling scaling)
{
  AstroRenderStyle style = {
    .percent = percent,
    .low = NAN,
    .high = NAN,
    .axes = TRUE,
    .grid = TRUE,
    .colour_bar = TRUE,
    .channel = -1,
    .rows = 256,
    .stretch = stretch,
    .marks = TRUE,
    .view = ASTRO_VIEW_AUTO,
    .scaling = scaling,
  };
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  GError *error = NULL;
  o->has_phase_centre = o->has_start = TRUE;
  o->start_mjd = 61000;
  o->phase_dec = 0.9;
  p->render = astro_renderer_new(caps, &style, o, &error);
  if (!p->render)
    g_error("%s", error->message);
  p->bytes = bytes;
  p->next = 0;
  for (guint k = 0; k < 2; k++) {
    float *values = p->data[k] = g_malloc(bytes);
    test_fill(values, bytes, k);
    for (gsize i = 0; i < bytes / sizeof *values; i++)
      values[i] = (float)((const guint32 *)p->data[k])[i] * 0x1p-32f * (float)(k + 1);
  }
}

static void end(Picture *p)
{
  astro_renderer_free(p->render);
  g_free(p->data[0]);
  g_free(p->data[1]);
}

/* Frames that come before are not timed. */
static void show_after(guint before, const char *what, const char *caps, gsize bytes,
                       AstroStretch stretch, double percent, AstroScaling scaling)
{
  Picture p;
  double seconds, copying;
  begin(&p, caps, bytes, stretch, percent, scaling);
  for (guint i = 0; i < before; i++)
    draw(&p);
  bench_pair(draw, &p, copy, NULL, ROUNDS, &seconds, &copying);
  g_autofree char *text = g_strdup_printf("%s (a copy: %.0f)", what, 1 / copying);
  bench_row(text, 1 / seconds, 30, "frames/s", 1);
  end(&p);
}

static void show(const char *what, const char *caps, gsize bytes, AstroStretch stretch,
                 double percent, AstroScaling scaling)
{
  show_after(0, what, caps, bytes, stretch, percent, scaling);
}

#define IMAGE(n)                                                                                   \
  "application/x-astro-image,format=F32LE,layout=pol:y:x,pols=1,pixel=(double)1e-4,width=" #n      \
  ",height=" #n
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=1,pols=1,"   \
  "channels=4096,frequency=(double)1e8,bandwidth=(double)1e6"
#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=16,"    \
  "baselines=2080,pols=2"

#define ONE_STATION                                                                                \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=4096,"  \
  "baselines=1,pols=2,frequency=(double)1e8,bandwidth=(double)1e6"
#define TWO_STATIONS                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=256,"   \
  "baselines=3,pols=2,frequency=(double)1e8,bandwidth=(double)1e6"

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  frame = g_malloc0((gsize)WIDTH * HEIGHT * 4);
  other = g_malloc0((gsize)WIDTH * HEIGHT * 4);
  bench_head("astrorender, 1920 x 1080, one core");
  const AstroScaling exact = ASTRO_SCALING_EXACT, smooth = ASTRO_SCALING_SMOOTH;
  show("image of 512 x 512, linear", IMAGE(512), 512 * 512 * 4, ASTRO_STRETCH_LINEAR, 100, exact);
  show("image of 1024 x 1024, asinh", IMAGE(1024), 1024 * 1024 * 4, ASTRO_STRETCH_ASINH, 100,
       exact);
  show("image of 1024 x 1024, asinh, smooth", IMAGE(1024), 1024 * 1024 * 4, ASTRO_STRETCH_ASINH,
       100, smooth);
  show("image of 1024 x 1024, asinh, 99.5 percent", IMAGE(1024), 1024 * 1024 * 4,
       ASTRO_STRETCH_ASINH, 99.5, exact);
  show("image of 1024 x 1024, percentile", IMAGE(1024), 1024 * 1024 * 4, ASTRO_STRETCH_PERCENTILE,
       100, exact);
  show("image of 256 x 256, smooth, as it comes", IMAGE(256), 256 * 256 * 4, ASTRO_STRETCH_AUTO,
       100, smooth);
  show("image of 2048 x 2048, smooth, as it comes", IMAGE(2048), 2048 * 2048 * 4,
       ASTRO_STRETCH_AUTO, 100, smooth);
  show("image of 4096 x 4096, as it comes", IMAGE(4096), 4096 * 4096 * 4, ASTRO_STRETCH_AUTO, 100,
       smooth);
  show("image of 4096 x 4096, linear", IMAGE(4096), 4096 * 4096 * 4, ASTRO_STRETCH_LINEAR, 100,
       exact);
  /* A waterfall grows to 256 rows, and its axis is drawn again with each. */
  show("waterfall of 4096 channels, 64 spectra a buffer", SPECTRA, 64 * 4096 * 8,
       ASTRO_STRETCH_LINEAR, 100, exact);
  show_after(256, "the same, when it is full", SPECTRA, 64 * 4096 * 8, ASTRO_STRETCH_LINEAR, 100,
             exact);
  show("waterfall of 4096 channels, as it comes", SPECTRA, 64 * 4096 * 8, ASTRO_STRETCH_AUTO, 100,
       smooth);
  show("spectrum of one station, 4096 channels", ONE_STATION, 4096 * 4 * 8, ASTRO_STRETCH_LINEAR,
       100, exact);
  show("fringe of two stations, 256 channels", TWO_STATIONS, 256 * 3 * 4 * 8, ASTRO_STRETCH_LINEAR,
       100, exact);
  show("visibilities of 64 stations, 16 channels", VISIBILITIES, 16 * 2080 * 4 * 8,
       ASTRO_STRETCH_LINEAR, 100, exact);
  g_free(frame);
  g_free(other);
  return 0;
}
