#include "config.h"
#include "core/gridder/sorted.h"

#include <math.h>
#include <string.h>
#include "core/backend/threads.h"

/* Parts of the rows, counted and dealt out side by side; as many whatever the threads. */
#define PARTS 64
#define MAX_PLANES 32768

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  const AstroPlanes *planes;
  AstroSorted *sorted;
  guint first, channels;
  guint64 *starts; /* of each band and part, then where the next of them goes */
  guint32 *order;  /* visibilities, row * channels + channel, by band */
} Sorting;

static gboolean is_zero(const AstroGridRows *rows, guint64 at)
{
  if (rows->is_double) {
    const double *value = (const double *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  } else {
    const float *value = (const float *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  }
  return TRUE;
}

/* Cells from the grid's first to the first that a visibility is spread over; inside is -1 to 1. */
static inline guint first_cell(double position, guint support, double *inside)
{
  const double edge = position - support / 2.0, first = ceil(edge);
  *inside = 2 * (first - edge) - 1;
  return (guint)first;
}

static inline double cells(const AstroGrid *grid, double wavelengths)
{
  return wavelengths / grid->cell + grid->size / 2;
}

/* ---- planes ---- */

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  double least[PARTS], greatest[PARTS];
} Range;

static void part_of(guint64 rows, guint64 part, guint64 *from, guint64 *to)
{
  *from = rows * part / PARTS;
  *to = rows * (part + 1) / PARTS;
}

static void find_range(gpointer data, guint64 part)
{
  Range *range = data;
  const AstroGridRows *rows = range->rows;
  double least = INFINITY, greatest = 0;
  guint64 from, to;
  part_of(rows->rows, part, &from, &to);
  for (guint64 row = from; row < to; row++) {
    const double *uvw = rows->uvw + 3 * row;
    for (guint c = 0; c < rows->channels; c++) {
      const double per = rows->wavenumbers[c], w = uvw[2] * per;
      if ((w < least || w > greatest) && !is_zero(rows, row * rows->channels + c) &&
          astro_grid_holds(range->grid, uvw[0] * per, uvw[1] * per)) {
        least = MIN(least, w);
        greatest = MAX(greatest, w);
      }
    }
  }
  range->least[part] = least;
  range->greatest[part] = greatest;
}

gboolean astro_planes_choose(AstroPlanes *planes, const AstroGridderConfig *config,
                             const AstroGrid *grid, const AstroGridRows *rows, GError **error)
{
  Range range = { .rows = rows, .grid = grid };
  double least = INFINITY, greatest = 0, n_least, n_greatest;

  if (!astro_grid_n_range(grid, &n_least, &n_greatest, error))
    return FALSE;
  astro_parallel(PARTS, config->threads, find_range, &range);
  for (guint part = 0; part < PARTS; part++) {
    least = MIN(least, range.least[part]);
    greatest = MAX(greatest, range.greatest[part]);
  }
  least = MIN(least, greatest);
  const double half_n = (n_greatest - n_least) / 2, half_w = (greatest - least) / 2;
  *planes = (AstroPlanes){ .first = (least + greatest) / 2,
                           .support = grid->spread.support,
                           .n = 1,
                           .n_middle = (n_greatest + n_least) / 2 };
  /* All w are as good as one where no phase in the image differs by what matters. */
  if (2 * G_PI * half_n * half_w < config->accuracy / 10)
    return TRUE;
  planes->step = 1 / (2 * MIN((double)grid->size / grid->image_size, 2) * half_n);
  planes->first = least - planes->step * planes->support / 2.0;
  const double n = (greatest - least) / planes->step + planes->support + 2;
  if (n <= MAX_PLANES) {
    double inside;
    planes->n = planes->support +
                first_cell((greatest - planes->first) / planes->step, planes->support, &inside);
    return TRUE;
  }
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
              "w from %.0f to %.0f wavelengths over this field needs %.0f planes, at most %d are "
              "possible: a smaller field, or shorter baselines",
              least, greatest, n, MAX_PLANES);
  return FALSE;
}

/* ---- into bands ---- */

static guint band_of(const Sorting *s, guint64 row, double per)
{
  double inside;
  return first_cell(cells(s->grid, s->rows->uvw[3 * row + 1] * per), s->grid->spread.support,
                    &inside) /
         ASTRO_BAND_ROWS;
}

static gboolean is_used(const Sorting *s, guint64 row, guint channel)
{
  const double per = s->rows->wavenumbers[channel], *uvw = s->rows->uvw + 3 * row;
  return astro_grid_holds(s->grid, uvw[0] * per, uvw[1] * per) &&
         !is_zero(s->rows, row * s->rows->channels + channel);
}

static void count_part(gpointer data, guint64 part)
{
  Sorting *s = data;
  guint64 from, to;
  part_of(s->rows->rows, part, &from, &to);
  for (guint64 row = from; row < to; row++)
    for (guint c = s->first; c < s->first + s->channels; c++)
      if (is_used(s, row, c))
        s->starts[band_of(s, row, s->rows->wavenumbers[c]) * PARTS + part]++;
}

static void deal_part(gpointer data, guint64 part)
{
  Sorting *s = data;
  guint64 from, to;
  part_of(s->rows->rows, part, &from, &to);
  for (guint64 row = from; row < to; row++)
    for (guint c = s->first; c < s->first + s->channels; c++)
      if (is_used(s, row, c))
        s->order[s->starts[band_of(s, row, s->rows->wavenumbers[c]) * PARTS + part]++] =
            (guint32)(row * s->rows->channels + c);
}

static void counts_to_starts(Sorting *s)
{
  AstroSorted *sorted = s->sorted;
  guint64 at = 0;
  for (guint band = 0; band < sorted->n_bands; band++) {
    sorted->bands[band].start = at;
    for (guint part = 0; part < PARTS; part++) {
      const guint64 n = s->starts[band * PARTS + part];
      s->starts[band * PARTS + part] = at;
      at += n;
    }
    sorted->bands[band].n = at - sorted->bands[band].start;
  }
  sorted->n = at;
}

/* ---- in a band ---- */

/* Where one visibility goes. */
typedef struct {
  guint32 from;  /* visibility of the rows */
  guint32 group; /* block * ASTRO_BAND_ROWS + row in the band */
  guint16 plane;
  guint8 offset;
  double u, v, w; /* inside the edges */
} Place;

static void find_place(const Sorting *s, guint64 band, guint32 from, Place *place)
{
  const AstroGridRows *rows = s->rows;
  const AstroPlanes *planes = s->planes;
  const double *uvw = rows->uvw + 3 * (guint64)(from / rows->channels);
  const double per = rows->wavenumbers[from % rows->channels];
  const guint support = s->grid->spread.support, block = astro_sorted_block(rows->is_double);
  const guint u = first_cell(cells(s->grid, uvw[0] * per), support, &place->u);
  const guint v = first_cell(cells(s->grid, uvw[1] * per), support, &place->v);
  place->from = from;
  place->group = u / block * ASTRO_BAND_ROWS + (v - (guint)band * ASTRO_BAND_ROWS);
  place->offset = u % block;
  place->plane = 0;
  place->w = 0;
  if (planes->step > 0)
    place->plane =
        first_cell((uvw[2] * per - planes->first) / planes->step, planes->support, &place->w);
}

/* order[i] becomes the i-th of those in from by their key; stable. counts has n_keys + 1 places. */
static void sort_by(const guint32 *from, guint32 *to, guint64 n, const guint32 *keys,
                    guint32 *counts, guint n_keys)
{
  memset(counts, 0, (n_keys + 1) * sizeof *counts);
  for (guint64 i = 0; i < n; i++)
    counts[keys[from[i]] + 1]++;
  for (guint k = 0; k < n_keys; k++)
    counts[k + 1] += counts[k];
  for (guint64 i = 0; i < n; i++)
    to[counts[keys[from[i]]]++] = from[i];
}

static void turn(double *re, double *im, double angle)
{
  const double c = cos(angle), s = sin(angle), a = *re;
  *re = a * c - *im * s;
  *im = a * s + *im * c;
}

static void put(const Sorting *s, guint64 at, const Place *place)
{
  AstroSorted *sorted = s->sorted;
  const AstroGridRows *rows = s->rows;
  const guint products = rows->products;
  const guint64 from = (guint64)place->from * products;
  const double w = rows->uvw[3 * (guint64)(place->from / rows->channels) + 2] *
                   rows->wavenumbers[place->from % rows->channels];
  const double turns = -w * s->planes->n_middle, angle = 2 * G_PI * (turns - rint(turns));

  sorted->first_planes[at] = place->plane;
  sorted->offsets[at] = place->offset;
  for (guint p = 0; p < products; p++) {
    double re, im;
    if (rows->is_double) {
      re = ((const double *)rows->values)[2 * (from + p)];
      im = ((const double *)rows->values)[2 * (from + p) + 1];
    } else {
      re = ((const float *)rows->values)[2 * (from + p)];
      im = ((const float *)rows->values)[2 * (from + p) + 1];
    }
    turn(&re, &im, angle);
    if (rows->is_double) {
      ((double *)sorted->values)[2 * (at * products + p)] = re;
      ((double *)sorted->values)[2 * (at * products + p) + 1] = im;
    } else {
      ((float *)sorted->values)[2 * (at * products + p)] = (float)re;
      ((float *)sorted->values)[2 * (at * products + p) + 1] = (float)im;
    }
  }
  if (rows->is_double) {
    ((double *)sorted->u)[at] = place->u;
    ((double *)sorted->v)[at] = place->v;
    ((double *)sorted->w)[at] = place->w;
  } else {
    ((float *)sorted->u)[at] = (float)place->u;
    ((float *)sorted->v)[at] = (float)place->v;
    ((float *)sorted->w)[at] = (float)place->w;
  }
}

static void note_groups(const Sorting *s, guint64 number, const Place *places, const guint32 *order)
{
  AstroSortedBand *band = &s->sorted->bands[number];
  for (guint64 i = 0; i < band->n; i++)
    band->n_groups += i == 0 || places[order[i]].group != places[order[i - 1]].group;
  band->groups = g_new(AstroSortedGroup, band->n_groups);
  AstroSortedGroup *group = band->groups - 1;
  for (guint64 i = 0; i < band->n; i++) {
    const guint32 key = places[order[i]].group;
    if (i == 0 || key != places[order[i - 1]].group)
      *++group =
          (AstroSortedGroup){ .start = band->start + i,
                              .row = (guint32)number * ASTRO_BAND_ROWS + key % ASTRO_BAND_ROWS,
                              .block = key / ASTRO_BAND_ROWS };
    group->n++;
  }
}

static void sort_band(gpointer data, guint64 number)
{
  Sorting *s = data;
  AstroSortedBand *band = &s->sorted->bands[number];
  const guint blocks = s->grid->size / astro_sorted_block(s->rows->is_double);
  const guint n_groups = blocks * ASTRO_BAND_ROWS, n_keys = MAX(n_groups, s->sorted->planes);
  const guint64 n = band->n;

  if (n == 0)
    return;
  g_autofree Place *places = g_new(Place, n);
  g_autofree guint32 *keys = g_new(guint32, n), *one = g_new(guint32, n), *two = g_new(guint32, n);
  g_autofree guint32 *counts = g_new(guint32, n_keys + 1);
  for (guint64 i = 0; i < n; i++) {
    find_place(s, number, s->order[band->start + i], &places[i]);
    keys[i] = places[i].plane;
    one[i] = (guint32)i;
  }
  sort_by(one, two, n, keys, counts, s->sorted->planes);
  for (guint64 i = 0; i < n; i++)
    keys[i] = places[i].group;
  sort_by(two, one, n, keys, counts, n_groups);
  for (guint64 i = 0; i < n; i++)
    put(s, band->start + i, &places[one[i]]);
  note_groups(s, number, places, one);
}

/* ---- all of it ---- */

static gboolean allocate(AstroSorted *sorted, GError **error)
{
  const gsize bytes = sorted->is_double ? sizeof(double) : sizeof(float), n = MAX(sorted->n, 1);
  sorted->first_planes = g_try_malloc(n * sizeof *sorted->first_planes);
  sorted->offsets = g_try_malloc(n);
  sorted->u = g_try_malloc(n * bytes);
  sorted->v = g_try_malloc(n * bytes);
  sorted->w = g_try_malloc(n * bytes);
  sorted->values = g_try_malloc(n * 2 * bytes * sorted->products);
  if (sorted->first_planes && sorted->offsets && sorted->u && sorted->v && sorted->w &&
      sorted->values)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "no memory for %" G_GUINT64_FORMAT " visibilities of %u products", sorted->n,
              sorted->products);
  return FALSE;
}

AstroSorted *astro_sorted_new(const AstroGridRows *rows, guint first, guint n,
                              const AstroGrid *grid, const AstroPlanes *planes, guint threads,
                              GError **error)
{
  if (rows->rows * rows->channels > G_MAXUINT32) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "%" G_GUINT64_FORMAT " visibilities are more than %u: use an interval",
                rows->rows * rows->channels, G_MAXUINT32);
    return NULL;
  }
  AstroSorted *sorted = g_new0(AstroSorted, 1);
  Sorting s = { rows, grid, planes, sorted, first, n, NULL, NULL };
  sorted->products = rows->products;
  sorted->is_double = rows->is_double;
  sorted->n_bands = (grid->size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  sorted->bands = g_new0(AstroSortedBand, sorted->n_bands);
  sorted->planes = planes->n;
  s.starts = g_new0(guint64, (gsize)sorted->n_bands * PARTS);
  astro_parallel(PARTS, threads, count_part, &s);
  counts_to_starts(&s);
  s.order = g_try_new(guint32, MAX(sorted->n, 1));
  if (s.order && allocate(sorted, error)) {
    astro_parallel(PARTS, threads, deal_part, &s);
    astro_parallel(sorted->n_bands, threads, sort_band, &s);
  } else {
    if (!s.order)
      g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                  "no memory to sort %" G_GUINT64_FORMAT " visibilities", sorted->n);
    g_clear_pointer(&sorted, astro_sorted_free);
  }
  g_free(s.order);
  g_free(s.starts);
  return sorted;
}

void astro_sorted_free(AstroSorted *sorted)
{
  for (guint band = 0; band < sorted->n_bands; band++)
    g_free(sorted->bands[band].groups);
  g_free(sorted->bands);
  g_free(sorted->first_planes);
  g_free(sorted->offsets);
  g_free(sorted->u);
  g_free(sorted->v);
  g_free(sorted->w);
  g_free(sorted->values);
  g_free(sorted);
}
