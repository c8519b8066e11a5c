/* Finds and fits the peaks of an image. */
#include "config.h"
#include "core/measure/measure.h"

#include <math.h>

#include "core/kit/noise.h"

void astro_plane_init(AstroPlane *plane, const AstroStream *stream, gconstpointer block,
                      guint channel, guint product)
{
  gsize size = astro_stream_extent(stream, ASTRO_AXIS_X), n = size * size;
  gsize from = (channel * astro_stream_extent(stream, ASTRO_AXIS_POL) + product) * n;
  plane->size = (guint)size;
  plane->border = 0;
  plane->values = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    plane->values[i] = stream->format == ASTRO_FORMAT_F64LE ? ((const double *)block)[from + i]
                                                            : ((const float *)block)[from + i];
}

void astro_plane_clear(AstroPlane *plane)
{
  g_clear_pointer(&plane->values, g_free);
}

static double at(const AstroPlane *plane, guint x, guint y)
{
  return plane->values[(gsize)y * plane->size + x];
}

/* The first of equal neighbours is taken as the peak. */
static gboolean is_peak(const AstroPlane *plane, guint x, guint y)
{
  double value = at(plane, x, y);
  if (x < 1 || y < 1 || x + 1 >= plane->size || y + 1 >= plane->size || !(value > 0))
    return FALSE;
  for (gint v = -1; v <= 1; v++)
    for (gint u = -1; u <= 1; u++) {
      double other = at(plane, (guint)((gint)x + u), (guint)((gint)y + v));
      if (v < 0 || (v == 0 && u < 0) ? !(other < value) : !(other <= value))
        return FALSE;
    }
  return TRUE;
}

/* The Gaussian through a pixel and its eight neighbours: a quadratic function fitted by least
 * squares to their logarithms, or to the values themselves if one is not above 0. */
static void fit(const AstroPlane *plane, guint x, guint y, AstroPeak *peak)
{
  double f[3][3], sum = 0, u1 = 0, v1 = 0, u2 = 0, v2 = 0, uv = 0;
  gboolean is_gaussian = TRUE;
  for (guint v = 0; v < 3; v++)
    for (guint u = 0; u < 3; u++)
      is_gaussian &= (f[v][u] = at(plane, x + u - 1, y + v - 1)) > 0;
  for (gint v = -1; v <= 1; v++)
    for (gint u = -1; u <= 1; u++) {
      double value = is_gaussian ? log(f[v + 1][u + 1]) : f[v + 1][u + 1];
      sum += value / 9;
      u1 += u * value / 6;
      v1 += v * value / 6;
      uv += u * v * value / 4;
      u2 += (u * u - 2. / 3) * value / 2;
      v2 += (v * v - 2. / 3) * value / 2;
    }
  /* sum + u1 u + v1 v + u2 (u^2 - 2/3) + v2 (v^2 - 2/3) + uv u v, greatest where both derivatives
   * are 0. */
  double determinant = 4 * u2 * v2 - uv * uv;
  double du = 0, dv = 0;
  if (u2 < 0 && determinant > 0) {
    du = CLAMP((uv * v1 - 2 * v2 * u1) / determinant, -1, 1);
    dv = CLAMP((uv * u1 - 2 * u2 * v1) / determinant, -1, 1);
  }
  double top =
      sum - (u2 + v2) * 2 / 3 + u1 * du + v1 * dv + u2 * du * du + v2 * dv * dv + uv * du * dv;
  *peak = (AstroPeak){ x + du, y + dv, is_gaussian ? exp(top) : top };
}

gboolean astro_peak_near(const AstroPlane *plane, double x, double y, double reach, AstroPeak *peak)
{
  double last = plane->size - 1.0, best = -HUGE_VAL;
  guint best_x = 0, best_y = 0;
  if (!(x >= -reach && y >= -reach && x <= last + reach && y <= last + reach))
    return FALSE;
  guint from_y = (guint)MAX(ceil(y - reach), 0), to_y = (guint)MAX(MIN(floor(y + reach), last), 0);
  guint from_x = (guint)MAX(ceil(x - reach), 0), to_x = (guint)MAX(MIN(floor(x + reach), last), 0);
  for (guint v = from_y; v <= to_y; v++)
    for (guint u = from_x; u <= to_x; u++)
      if (at(plane, u, v) > best && hypot(u - x, v - y) <= reach) {
        best = at(plane, u, v);
        best_x = u;
        best_y = v;
      }
  if (!is_peak(plane, best_x, best_y))
    return FALSE;
  fit(plane, best_x, best_y, peak);
  return TRUE;
}

static gint compare_peaks(gconstpointer a, gconstpointer b)
{
  double x = ((const AstroPeak *)a)->value, y = ((const AstroPeak *)b)->value;
  return (x < y) - (x > y);
}

/* The peaks that are kept, sorted into square cells, so that close ones are in the same or in
 * neighbouring cells: an image of noise has a peak per dozen pixels, too many to compare all pairs.
 */
typedef struct {
  double side;
  guint n;        /* cells per side */
  guint *last;    /* per cell: 1 + the index of its latest peak; 0: none */
  GArray *before; /* guint, per peak: the previous one in its cell, in the same way */
  GArray *peaks;
} Kept;

static Kept kept_new(const AstroPlane *plane, double reach)
{
  Kept kept = { .before = g_array_new(FALSE, FALSE, sizeof(guint)),
                .peaks = g_array_new(FALSE, FALSE, sizeof(AstroPeak)) };
  /* A little wider, so that rounding cannot put peaks within reach two cells apart. */
  kept.side = MAX(reach, 1) * (1 + 1e-9);
  kept.n = (guint)(plane->size / kept.side) + 1;
  kept.last = g_new0(guint, (gsize)kept.n * kept.n);
  return kept;
}

static GArray *kept_finish(Kept *kept)
{
  g_free(kept->last);
  g_array_unref(kept->before);
  return kept->peaks;
}

/* NaN is close to nothing, so its cell does not matter. */
static guint cell_of(const Kept *kept, double x)
{
  return x > 0 ? (guint)MIN(x / kept->side, kept->n - 1.0) : 0;
}

static gboolean is_near_one_in(const Kept *kept, guint last, const AstroPeak *peak, double reach)
{
  for (guint k = last; k; k = g_array_index(kept->before, guint, k - 1)) {
    const AstroPeak *other = &g_array_index(kept->peaks, AstroPeak, k - 1);
    if (hypot(peak->x - other->x, peak->y - other->y) < reach)
      return TRUE;
  }
  return FALSE;
}

static void keep_apart(Kept *kept, const AstroPeak *peak, double reach)
{
  guint x = cell_of(kept, peak->x), y = cell_of(kept, peak->y), last = kept->n - 1;
  for (guint v = y ? y - 1 : 0; v <= MIN(y + 1, last); v++)
    for (guint u = x ? x - 1 : 0; u <= MIN(x + 1, last); u++)
      if (is_near_one_in(kept, kept->last[(gsize)v * kept->n + u], peak, reach))
        return;
  guint *cell = &kept->last[(gsize)y * kept->n + x];
  g_array_append_val(kept->before, *cell);
  g_array_append_val(kept->peaks, *peak);
  *cell = kept->peaks->len;
}

/* The first pixel that counts, along an axis: at least one or two pixels remain. */
static guint border_of(const AstroPlane *plane)
{
  return MIN(plane->border, (plane->size - 1) / 2);
}

GArray *astro_peaks_find(const AstroPlane *plane, double threshold, double reach, guint max)
{
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(AstroPeak));
  const guint from = MAX(border_of(plane), 1), to = plane->size - MIN(from, plane->size);
  for (guint y = from; y < to; y++)
    for (guint x = from; x < to; x++)
      if (at(plane, x, y) > threshold && is_peak(plane, x, y)) {
        AstroPeak peak;
        fit(plane, x, y, &peak);
        g_array_append_val(all, peak);
      }
  g_array_sort(all, compare_peaks);
  Kept kept = kept_new(plane, reach);
  for (guint i = 0; i < all->len && kept.peaks->len < max; i++)
    keep_apart(&kept, &g_array_index(all, AstroPeak, i), reach);
  return kept_finish(&kept);
}

/* Between pixels a sidelobe is a little higher than at pixels, and noise adds to it. */
#define MARGIN 1.1

double astro_peaks_trust(GArray *peaks, const AstroSidelobes *sidelobes)
{
  double sum = 0, last = HUGE_VAL;
  for (guint i = 0; i < peaks->len; i++) {
    const double value = g_array_index(peaks, AstroPeak, i).value;
    if (i > 0 && value <= MARGIN * sidelobes->sidelobe * sum) {
      g_array_set_size(peaks, i);
    } else {
      sum += MIN(value, sidelobes->left);
      last = value;
    }
  }
  return MIN(MARGIN * sidelobes->sidelobe * sum, last);
}

double astro_plane_depth(const AstroPlane *plane)
{
  const guint from = border_of(plane), to = plane->size - from;
  double lowest = 0;
  for (guint y = from; y < to; y++)
    for (guint x = from; x < to; x++)
      lowest = at(plane, x, y) < lowest ? at(plane, x, y) : lowest;
  return -lowest;
}

double astro_plane_rms(const AstroPlane *plane)
{
  const guint from = border_of(plane), side = plane->size - 2 * from;
  gsize n = (gsize)side * side, used = 0;
  /* Enough values to give the median to a thousandth. */
  gsize step = MAX(n / 1000003, 1) | 1;
  g_autofree double *sizes = g_new(double, n / step + 1);
  for (gsize i = 0; i < n; i += step) {
    double value = at(plane, from + (guint)(i % side), from + (guint)(i / side));
    if (isfinite(value))
      sizes[used++] = fabs(value);
  }
  return astro_noise_of_sizes(sizes, used);
}
