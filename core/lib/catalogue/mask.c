/* The sky is cut into rows of declination, and these into cells that are about square. Cells of the
 * mask are those with a point. */
#include "core/lib/catalogue/mask.h"
#include "core/kit/units.h"

#include <math.h>
#include <stdlib.h>

#define COARSEST 32.
#define FINEST (1. / 32)
/* The least mean number of points per cell, so that few cells within the footprint are empty. */
#define POINTS_A_CELL 16

typedef struct {
  guint32 row, column;
} Place;

struct _AstroMask {
  double cell; /* degrees: the height of a row */
  gsize n;
  Place *places;           /* of the cells in the mask, in order */
  AstroMaskBounds *bounds; /* of each cell */
  double *area;            /* of each cell and all before it, in steradians */
};

static guint columns_of(double cell, guint row)
{
  double middle = MIN((row + 0.5) * cell, 180) - 90;
  return (guint)MAX(round(360 * cos(middle / ASTRO_DEGREES) / cell), 1);
}

static Place place_of(double cell, double ra, double dec)
{
  guint rows = (guint)ceil(180 / cell);
  guint row = MIN((guint)((dec + 90) / cell), rows - 1), columns = columns_of(cell, row);
  double cycle = ra / 360 - floor(ra / 360);
  return (Place){ row, MIN((guint)(cycle * columns), columns - 1) };
}

static int compare_places(gconstpointer a, gconstpointer b)
{
  const Place *p = a, *q = b;
  return p->row != q->row ? (p->row > q->row) - (p->row < q->row)
                          : (p->column > q->column) - (p->column < q->column);
}

static AstroMaskBounds bounds_of(const AstroMask *mask, Place place)
{
  guint columns = columns_of(mask->cell, place.row);
  double bottom = place.row * mask->cell - 90, top = MIN(bottom + mask->cell, 90), low, high,
         unused;
  astro_sin_cos(bottom, &low, &unused);
  astro_sin_cos(top, &high, &unused);
  return (AstroMaskBounds){ low, high, (double)place.column / columns,
                            (place.column + 1.) / columns };
}

static AstroMask *mask_of_cells(const double *ra, const double *dec, guint64 n, double cell)
{
  AstroMask *mask = g_new0(AstroMask, 1);
  mask->cell = cell;
  mask->places = g_new(Place, n);
  for (guint64 i = 0; i < n; i++)
    mask->places[i] = place_of(cell, ra[i], dec[i]);
  qsort(mask->places, n, sizeof(Place), compare_places);
  for (guint64 i = 0; i < n; i++)
    if (i == 0 || compare_places(&mask->places[i], &mask->places[i - 1]) != 0)
      mask->places[mask->n++] = mask->places[i];
  mask->places = g_renew(Place, mask->places, mask->n);
  mask->area = g_new(double, mask->n);
  mask->bounds = g_new(AstroMaskBounds, mask->n);
  for (gsize c = 0; c < mask->n; c++) {
    const AstroMaskBounds bounds = mask->bounds[c] = bounds_of(mask, mask->places[c]);
    mask->area[c] = (c ? mask->area[c - 1] : 0) +
                    (bounds.high - bounds.low) * (bounds.east - bounds.west) * 2 * G_PI;
  }
  return mask;
}

AstroMask *astro_mask_new(const double *ra, const double *dec, guint64 n, double cell,
                          GError **error)
{
  if (n == 0 || !(cell == 0 || (cell >= FINEST && cell <= COARSEST))) {
    g_set_error(
        error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT,
        "a footprint of %" G_GUINT64_FORMAT " points in cells of %g degrees: expected one "
        "point or more, and cells of %g to %g degrees, or 0 for as fine as the points allow",
        n, cell, FINEST, COARSEST);
    return NULL;
  }
  if (cell > 0)
    return mask_of_cells(ra, dec, n, cell);
  AstroMask *mask = mask_of_cells(ra, dec, n, COARSEST);
  for (cell = COARSEST / 2; cell >= FINEST; cell /= 2) {
    AstroMask *finer = mask_of_cells(ra, dec, n, cell);
    if (finer->n * POINTS_A_CELL > n) {
      astro_mask_free(finer);
      break;
    }
    astro_mask_free(mask);
    mask = finer;
  }
  return mask;
}

void astro_mask_free(AstroMask *mask)
{
  if (!mask)
    return;
  g_free(mask->places);
  g_free(mask->bounds);
  g_free(mask->area);
  g_free(mask);
}

gboolean astro_mask_contains(const AstroMask *mask, double ra, double dec)
{
  Place place = place_of(mask->cell, ra, dec);
  return bsearch(&place, mask->places, mask->n, sizeof place, compare_places) != NULL;
}

double astro_mask_area(const AstroMask *mask)
{
  return mask->area[mask->n - 1] * ASTRO_DEGREES * ASTRO_DEGREES;
}

double astro_mask_cell(const AstroMask *mask)
{
  return mask->cell;
}

void astro_mask_place(const AstroMask *mask, AstroPlacing *placing)
{
  placing->n_cells = mask->n;
  placing->area = mask->area;
  placing->cells = mask->bounds;
}

static void middle_of(const AstroMask *mask, gsize c, double at[3])
{
  const AstroMaskBounds bounds = mask->bounds[c];
  double sine = (bounds.low + bounds.high) / 2, cosine = sqrt(1 - sine * sine),
         angle = (bounds.west + bounds.east) * G_PI;
  at[0] = cosine * cos(angle);
  at[1] = cosine * sin(angle);
  at[2] = sine;
}

void astro_mask_cap(const AstroMask *mask, AstroFootprint *cap)
{
  double at[3], sum[3] = { 0, 0, 0 }, furthest = 0;
  for (gsize c = 0; c < mask->n; c++) {
    middle_of(mask, c, at);
    for (guint axis = 0; axis < 3; axis++)
      sum[axis] += at[axis];
  }
  double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  for (guint axis = 0; axis < 3; axis++)
    sum[axis] = length > 0 ? sum[axis] / length : axis == 2;
  for (gsize c = 0; c < mask->n; c++) {
    middle_of(mask, c, at);
    double cosine = at[0] * sum[0] + at[1] * sum[1] + at[2] * sum[2];
    furthest = MAX(furthest, acos(CLAMP(cosine, -1, 1)) * ASTRO_DEGREES);
  }
  /* no corner is further away than a cell and a half from the centre of its cell, even for the wide
   * cells at a pole */
  *cap = (AstroFootprint){ .shape = ASTRO_FOOTPRINT_CAP,
                           .ra = atan2(sum[1], sum[0]) * ASTRO_DEGREES,
                           .dec = asin(CLAMP(sum[2], -1, 1)) * ASTRO_DEGREES,
                           .radius = MIN(furthest + 1.5 * mask->cell, 180) };
}
