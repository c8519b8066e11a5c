/* Fits the beam to the main lobe of a point-spread function. */
#include "config.h"
#include "core/image/image.h"

#include <math.h>

/* Levels relative to the peak: pixels above the first are the main lobe; the second is for lobes
 * with too few pixels. */
static const double levels[] = { 0.35, 0.1 };
#define LEAST_PIXELS 6 /* for three unknowns */
#define MOST_PIXELS 65536
#define ITERATIONS 100

typedef struct {
  double x, y, value; /* position relative to the peak, in pixels; value relative to the peak */
} Pixel;

typedef struct {
  AstroFormat format;
  gconstpointer data;
  guint size;
} Psf;

static double value_at(const Psf *psf, guint x, guint y)
{
  gsize at = (gsize)y * psf->size + x;
  return psf->format == ASTRO_FORMAT_F64LE ? ((const double *)psf->data)[at]
                                           : ((const float *)psf->data)[at];
}

/* Finds the pixels above a level that are connected with the peak. */
static GArray *find_lobe(const Psf *psf, double level, gboolean *cut)
{
  guint middle = psf->size / 2;
  double peak = value_at(psf, middle, middle);
  g_autofree guint8 *seen = g_malloc0((gsize)psf->size * psf->size);
  g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(gsize));
  GArray *lobe = g_array_new(FALSE, FALSE, sizeof(Pixel));
  gsize start = (gsize)middle * psf->size + middle;

  g_array_append_val(open, start);
  seen[start] = 1;
  while (open->len && lobe->len < MOST_PIXELS) {
    gsize at = g_array_index(open, gsize, open->len - 1);
    guint x = (guint)(at % psf->size), y = (guint)(at / psf->size);
    Pixel pixel = { (double)x - middle, (double)y - middle, value_at(psf, x, y) / peak };
    g_array_set_size(open, open->len - 1);
    if (!(pixel.value >= level))
      continue;
    g_array_append_val(lobe, pixel);
    gsize next[] = { at - 1, at + 1, at - psf->size, at + psf->size };
    gboolean inside[] = { x > 0, x + 1 < psf->size, y > 0, y + 1 < psf->size };
    *cut |= !inside[0] || !inside[1] || !inside[2] || !inside[3];
    for (guint i = 0; i < G_N_ELEMENTS(next); i++)
      if (inside[i] && !seen[next[i]]) {
        seen[next[i]] = 1;
        g_array_append_val(open, next[i]);
      }
  }
  return lobe;
}

/* a x^2 + 2 b x y + c y^2 */
typedef struct {
  double p[3];
} Form;

/* Solves the normal equations for three unknowns. */
static gboolean solve(double m[3][4], double x[3])
{
  for (guint i = 0; i < 3; i++) {
    if (!(fabs(m[i][i]) > 1e-300))
      return FALSE;
    for (guint r = 0; r < 3; r++)
      for (guint k = 3; r != i && k + 1 > i; k--)
        m[r][k] -= m[i][k] * m[r][i] / m[i][i];
  }
  for (guint i = 0; i < 3; i++)
    x[i] = m[i][3] / m[i][i];
  return TRUE;
}

static void add_equation(double m[3][4], const double by[3], double rest)
{
  for (guint i = 0; i < 3; i++) {
    for (guint k = 0; k < 3; k++)
      m[i][k] += by[i] * by[k];
    m[i][3] += by[i] * rest;
  }
}

/* One Gauss-Newton step; the first step fits logarithms, which need no initial values. */
static gboolean improve(const GArray *lobe, gboolean first, Form *form)
{
  double m[3][4] = { { 0 } }, step[3];

  for (guint i = 0; i < lobe->len; i++) {
    const Pixel *pixel = &g_array_index(lobe, Pixel, i);
    double squares[3] = { pixel->x * pixel->x, 2 * pixel->x * pixel->y, pixel->y * pixel->y };
    double sum = 0, by[3];
    for (guint k = 0; k < 3; k++)
      sum += form->p[k] * squares[k];
    double model = first ? pixel->value : exp(-sum);
    for (guint k = 0; k < 3; k++)
      by[k] = -squares[k] * model;
    add_equation(m, by, first ? pixel->value * log(pixel->value) : pixel->value - model);
  }
  if (!solve(m, step))
    return FALSE;
  for (guint k = 0; k < 3; k++)
    form->p[k] += step[k];
  return TRUE;
}

static gboolean is_lobe(const Form *form)
{
  return form->p[0] > 0 && form->p[0] * form->p[2] > form->p[1] * form->p[1];
}

static gboolean fit(const GArray *lobe, Form *form)
{
  *form = (Form){ { 0 } };
  if (lobe->len < LEAST_PIXELS || !improve(lobe, TRUE, form) || !is_lobe(form))
    return FALSE;
  for (guint i = 0; i < ITERATIONS; i++) {
    Form before = *form;
    if (!improve(lobe, FALSE, form) || !is_lobe(form))
      return FALSE;
    if (fabs(before.p[0] - form->p[0]) + fabs(before.p[2] - form->p[2]) <
        1e-12 * (form->p[0] + form->p[2]))
      break;
  }
  return TRUE;
}

gboolean astro_image_fit_beam(AstroFormat format, gconstpointer data, guint size, double pixel,
                              double *major, double *minor, double *angle, gboolean *cut)
{
  Psf psf = { format, data, size };
  gboolean found = FALSE, ends = FALSE;
  Form form;

  if (cut)
    *cut = FALSE;
  if (size == 0 || !(value_at(&psf, size / 2, size / 2) > 0))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(levels) && !found; i++) {
    g_autoptr(GArray) lobe = find_lobe(&psf, levels[i], &ends);
    found = fit(lobe, &form);
  }
  if (cut)
    *cut = ends;
  if (!found)
    return FALSE;
  /* East is toward negative x. */
  double a = form.p[0], b = form.p[1], c = form.p[2];
  double middle = (a + c) / 2, apart = hypot((a - c) / 2, b);
  *major = 2 * sqrt(G_LN2 / (middle - apart)) * pixel;
  *minor = 2 * sqrt(G_LN2 / (middle + apart)) * pixel;
  *angle = atan2(b, (a - c) / 2) / 2;
  return TRUE;
}
