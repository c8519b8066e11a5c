/* Ranges of values, and tables from values to colours. */
#include "core/render/stretch.h"
#include "core/kit/enum.h"

#include <math.h>
#include <string.h>

#define ASINH_AT_END 100.0
#define LOG_AT_END 1000.0
#define SAMPLES 16384       /* values sampled to find the range of most of them */
#define QUARTILES 1.349     /* from one to the other, of a normal distribution, in sigma */
#define LINEAR_WITHIN 3     /* sigma */
#define LEAST_SOFTNESS 3e-4 /* of the range: steps of the table resolve values down to this */
#define HALF_KEYS 65536     /* values of half the bits of a float */

ASTRO_ENUM_TYPE(
    astro_stretch_get_type, "AstroStretch", { ASTRO_STRETCH_LINEAR, "Linear", "linear" },
    { ASTRO_STRETCH_ASINH, "Inverse hyperbolic sine: linear for small values", "asinh" },
    { ASTRO_STRETCH_LOG, "Logarithm, over three decades", "log" },
    { ASTRO_STRETCH_PERCENTILE, "By rank: as many pixels in every colour", "percentile" },
    { ASTRO_STRETCH_AUTO,
      "Images and spectra by inverse hyperbolic sine about the median, linear within three times "
      "the noise; all others linear",
      "auto" })

double astro_stretch(AstroStretch stretch, double t)
{
  switch (stretch) {
  case ASTRO_STRETCH_ASINH:
    return asinh(ASINH_AT_END * t) / asinh(ASINH_AT_END);
  case ASTRO_STRETCH_LOG:
    return log1p(LOG_AT_END * t) / log1p(LOG_AT_END);
  default:
    return t;
  }
}

/* ---- ranges ---- */

/* Many minima in parallel, since the compiler may not reorder the comparisons of one. */
#define LANES 32

typedef struct {
  float least[LANES], most[LANES];
  guint32 finite[LANES];
} Extremes;

static void add_lanes(Extremes *e, const float *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    float v = values[i];
    gboolean good = v - v == 0;
    float low = good ? v : INFINITY, high = good ? v : -INFINITY;
    e->least[i] = low < e->least[i] ? low : e->least[i];
    e->most[i] = high > e->most[i] ? high : e->most[i];
    e->finite[i] += good ? 1 : 0;
  }
}

static gsize find_extremes(const float *values, gsize n, float *low, float *high)
{
  Extremes e;
  gsize finite = 0, i = 0;
  for (guint lane = 0; lane < LANES; lane++) {
    e.least[lane] = INFINITY;
    e.most[lane] = -INFINITY;
    e.finite[lane] = 0;
  }
  for (; i + LANES <= n; i += LANES)
    add_lanes(&e, values + i, LANES);
  if (i < n)
    add_lanes(&e, values + i, (guint)(n - i));
  *low = INFINITY;
  *high = -INFINITY;
  for (guint lane = 0; lane < LANES; lane++) {
    *low = MIN(*low, e.least[lane]);
    *high = MAX(*high, e.most[lane]);
    finite += e.finite[lane];
  }
  return finite;
}

/* Integers in the same order as their floats. */
static guint32 key_of(float value)
{
  guint32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float value_of(guint32 key)
{
  guint32 bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The index of the count that contains the value of that rank; rank becomes its rank within that
 * count. */
static guint32 find_rank(const guint32 *counts, gsize *rank)
{
  guint32 k = 0;
  while (*rank >= counts[k])
    *rank -= counts[k++];
  return k;
}

/* The value of that rank among the finite ones, found by the upper and then the lower half of the
 * bits. */
static float select_rank(const float *values, gsize n, const guint32 *upper, guint32 *lower,
                         gsize rank)
{
  guint32 half = find_rank(upper, &rank);
  memset(lower, 0, HALF_KEYS * sizeof *lower);
  for (gsize i = 0; i < n; i++) {
    guint32 key = key_of(values[i]);
    if (key >> 16 == half && values[i] - values[i] == 0)
      lower[key & 0xffff]++;
  }
  return value_of(half << 16 | find_rank(lower, &rank));
}

gboolean astro_range_find(const float *values, gsize n, double percent, float *low, float *high)
{
  gsize finite = find_extremes(values, n, low, high);
  if (finite == 0) {
    *low = 0;
    *high = 1;
    return FALSE;
  }
  gsize cut = (gsize)((double)(finite - 1) * (100 - percent) / 200);
  if (cut == 0)
    return TRUE;
  g_autofree guint32 *upper = g_new0(guint32, HALF_KEYS), *lower = g_new(guint32, HALF_KEYS);
  for (gsize i = 0; i < n; i++)
    if (values[i] - values[i] == 0)
      upper[key_of(values[i]) >> 16]++;
  *low = select_rank(values, n, upper, lower, cut);
  *high = select_rank(values, n, upper, lower, finite - 1 - cut);
  return TRUE;
}

/* ---- tables ---- */

/* A step's level is the fraction of the values below it plus half of those in it. */
static void rank_levels(AstroColouring *c, const float *values, gsize n)
{
  g_autofree guint32 *counts = g_new0(guint32, ASTRO_STRETCH_STEPS + 1);
  gsize below = 0, all = 0;
  for (gsize i = 0; i < n; i++)
    counts[astro_colouring_step(c, values[i])]++;
  for (guint s = 0; s < ASTRO_STRETCH_STEPS; s++)
    all += counts[s];
  for (guint s = 0; s < ASTRO_STRETCH_STEPS; s++) {
    c->level[s] = all ? (float)(((double)below + counts[s] * 0.5) / (double)all) : 0;
    below += counts[s];
  }
}

/* Most values are noise: their quartiles measure it and are not affected by sources. If the
 * quartiles are equal (models are mostly zeros) a fraction of the range is used. */
static void find_softness(AstroColouring *c, const float *values, gsize n)
{
  const gsize step = n / SAMPLES | 1; /* odd, or it would sample only a few columns of an image */
  const gsize samples = (n + step - 1) / step;
  const double least = LEAST_SOFTNESS * ((double)c->high - c->low);
  g_autofree float *some = g_new(float, MAX(samples, 1));
  float low, high, ignored;
  for (gsize i = 0; i < samples; i++)
    some[i] = values[i * step];
  astro_range_find(some, samples, 50, &low, &high);
  const double quartiles = (double)high - low;
  astro_range_find(some, samples, 0, &low, &ignored);
  c->centre = low;
  c->softness = quartiles > 0 ? fmax(LINEAR_WITHIN * quartiles / QUARTILES, least) : 10 * least;
  if (!(c->softness > 0)) /* all values are the same */
    c->softness = 1;
}

double astro_stretch_auto(const AstroColouring *c, double value)
{
  return (asinh((value - c->centre) / c->softness) - c->at_low) * c->scale_auto;
}

static void auto_levels(AstroColouring *c, const float *values, gsize n)
{
  const double span = (double)c->high - c->low;
  find_softness(c, values, n);
  c->at_low = asinh((c->low - c->centre) / c->softness);
  c->scale_auto = span > 0 ? 1 / (asinh((c->high - c->centre) / c->softness) - c->at_low) : 0;
  for (guint s = 0; s < ASTRO_STRETCH_STEPS; s++)
    c->level[s] =
        (float)CLAMP(astro_stretch_auto(c, c->low + span * s / (ASTRO_STRETCH_STEPS - 1.0)), 0, 1);
}

static void function_levels(AstroColouring *c, AstroStretch stretch)
{
  if (c->is_set && c->stretch == stretch)
    return;
  for (guint s = 0; s < ASTRO_STRETCH_STEPS; s++)
    c->level[s] = (float)astro_stretch(stretch, s / (ASTRO_STRETCH_STEPS - 1.0));
}

void astro_colouring_set(AstroColouring *c, AstroColormap colormap, AstroStretch stretch, float low,
                         float high, const float *values, gsize n, guint32 blank,
                         gboolean red_first)
{
  const guint32 *colours = astro_colormap_colours[colormap];
  double span = (double)high - low;
  c->low = low;
  c->high = high;
  c->scale = span > 0 ? (float)((ASTRO_STRETCH_STEPS - 1) / span) : 0;
  gboolean is_same = c->is_set && c->stretch == stretch && c->colormap == colormap &&
                     c->blank == blank && c->red_first == red_first;
  if (is_same && stretch != ASTRO_STRETCH_PERCENTILE && stretch != ASTRO_STRETCH_AUTO)
    return;
  if (stretch == ASTRO_STRETCH_PERCENTILE)
    rank_levels(c, values, n);
  else if (stretch == ASTRO_STRETCH_AUTO)
    auto_levels(c, values, n);
  else
    function_levels(c, stretch);
  for (guint s = 0; s < ASTRO_STRETCH_STEPS; s++) {
    guint level = (guint)(c->level[s] * (ASTRO_COLORMAP_LEVELS - 1) + 0.5f);
    c->pixels[s] = astro_colour_pixel(colours[level], red_first);
  }
  c->pixels[ASTRO_STRETCH_STEPS] = astro_colour_pixel(blank, red_first);
  c->is_set = TRUE;
  c->stretch = stretch;
  c->colormap = colormap;
  c->blank = blank;
  c->red_first = red_first;
}
