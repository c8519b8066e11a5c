/* Visibilities become records: neighbouring channels of a row that lie at the same point of the
 * taps' lattice are one record. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection/places.h"
#include "core/gridder/wprojection/records.h"

#include <string.h>

typedef struct {
  AstroWProjection *self;
  const AstroGridRows *rows;
  guint first, n;         /* channels */
  gboolean ordered;       /* their frequencies ascend or descend */
  guint64 row, rows_each; /* first row of the first piece; rows of each piece */
  guint64 room;           /* records that a piece has room for */
  guint64 n_records[ASTRO_PIECES], gridded[ASTRO_PIECES], outside[ASTRO_PIECES];
} Collect;

/* The records of a piece of the rows. */
typedef struct {
  const Collect *work;
  guint64 *keys;
  guint8 *values;
  double *sums; /* of neighbouring channels: corners x products, complex */
  guint64 n, gridded, outside;
} Piece;

static inline double real_at(gconstpointer values, gsize at, gboolean is_double)
{
  return is_double ? ((const double *)values)[at] : ((const float *)values)[at];
}

static gboolean any_value(gconstpointer values, gsize at, guint reals, gboolean is_double)
{
  gboolean any = FALSE;
  for (guint i = 0; i < reals; i++)
    any |= real_at(values, at + i, is_double) != 0;
  return any;
}

/* The keys of a point's corners; FALSE: one of them is outside. */
static gboolean find_keys(const AstroWProjection *self, const AstroTapsPoint *point,
                          guint n_corners, guint64 *keys)
{
  const AstroTaps *taps = self->config.taps;
  const guint n = taps->oversampling;
  for (guint corner = 0; corner < n_corners; corner++) {
    AstroTapsPoint at = astro_taps_corner(point, corner);
    AstroTapsPlace u, v;
    if (!astro_taps_inside(&self->config, &at, &u, &v))
      return FALSE;
    guint set = (at.plane * n + v.set) * n + u.set;
    keys[corner] = KEY(self->class_of_plane[at.plane], u.cell, v.cell, set);
  }
  return TRUE;
}

/* How many channels from this one on lie at the same point. All coordinates rise together, so that
 * the last one can be searched for. */
static guint run_length(const Collect *work, const AstroTapsLine *line, guint channel,
                        const AstroTapsPoint *point)
{
  const double *wavenumbers = work->rows->wavenumbers;
  const gboolean interpolated = work->self->config.taps->interpolated;
  guint same = channel, other = work->first + work->n;
  AstroTapsPoint at;
  double unused[3];

  if (!work->ordered)
    return 1;
  for (guint probe = other - 1; other - same > 1; probe = (same + other) / 2) {
    if (probe == same)
      break;
    if (astro_taps_point(line, wavenumbers[probe], interpolated, &at, unused) &&
        astro_taps_same(&at, point))
      same = probe;
    else
      other = probe;
  }
  return same + 1 - channel;
}

/* Sums of the values of neighbouring channels, each with its phase and, where there are corners,
 * its weight. */
static inline __attribute__((always_inline)) void add_plain(double *sums, gconstpointer values,
                                                            gsize at, guint n, const guint reals,
                                                            const gboolean is_double)
{
  for (guint k = 0; k < n; k++, at += reals)
    for (guint i = 0; i < reals; i++)
      sums[i] += real_at(values, at + i, is_double);
}

static void add_weighted(const Collect *work, const AstroTapsLine *line, guint channel, gsize at,
                         guint n_corners, double *sums)
{
  const AstroGridRows *rows = work->rows;
  const guint products = rows->products;
  double wavenumber = rows->wavenumbers[channel], turns = line->turns * wavenumber;
  double sine, cosine, fractions[3] = { 0 };
  AstroTapsPoint point;

  sincos(-2 * G_PI * (turns - floor(turns)), &sine, &cosine);
  astro_taps_point(line, wavenumber, n_corners > 1, &point, fractions);
  for (guint corner = 0; corner < n_corners; corner++) {
    double weight = n_corners > 1 ? astro_taps_corner_weight(fractions, corner) : 1;
    double by_real = weight * cosine, by_imaginary = weight * sine;
    for (guint p = 0; p < products; p++, sums += 2) {
      double real = real_at(rows->values, at + 2 * p, rows->is_double);
      double imaginary = real_at(rows->values, at + 2 * p + 1, rows->is_double);
      sums[0] += real * by_real - imaginary * by_imaginary;
      sums[1] += real * by_imaginary + imaginary * by_real;
    }
  }
}

static void add_run(const Collect *work, const AstroTapsLine *line, guint channel, gsize at,
                    guint n, guint n_corners, double *sums)
{
  const AstroGridRows *rows = work->rows;
  const guint reals = 2 * rows->products;

  memset(sums, 0, sizeof *sums * reals * n_corners);
  if (n_corners > 1 || line->turns != 0)
    for (guint k = 0; k < n; k++)
      add_weighted(work, line, channel + k, at + (gsize)k * reals, n_corners, sums);
  else if (rows->is_double)
    add_plain(sums, rows->values, at, n, reals, TRUE);
  else if (reals == 8)
    add_plain(sums, rows->values, at, n, 8, FALSE);
  else
    add_plain(sums, rows->values, at, n, reals, FALSE);
}

/* Writes a record for each corner, unless its sum is zero. */
static void put_run(Piece *piece, const guint64 *keys, guint n_corners)
{
  const AstroWProjection *self = piece->work->self;
  const gboolean is_double = self->config.taps->is_double;
  const guint reals = 2 * self->config.products;
  const double *sums = piece->sums;

  for (guint corner = 0; corner < n_corners; corner++, sums += reals) {
    guint8 *value = piece->values + piece->n * self->value_bytes;
    gboolean any = FALSE;
    for (guint i = 0; i < reals; i++) {
      any |= sums[i] != 0;
      if (is_double)
        ((double *)value)[i] = sums[i];
      else
        ((float *)value)[i] = (float)sums[i];
    }
    piece->keys[piece->n] = keys[corner];
    piece->n += any;
  }
}

static void collect_row(Piece *piece, guint64 row)
{
  const Collect *work = piece->work;
  const AstroWProjection *self = work->self;
  const AstroGridRows *rows = work->rows;
  const gboolean interpolated = self->config.taps->interpolated;
  const guint n_corners = interpolated ? 8 : 1, reals = 2 * rows->products;
  const guint end = work->first + work->n;
  AstroTapsLine line = astro_taps_line(&self->config, rows->uvw + 3 * row);

  for (guint channel = work->first, n; channel < end; channel += n) {
    gsize at = (row * rows->channels + channel) * reals;
    AstroTapsPoint point;
    double fractions[3];
    guint64 keys[8];
    if (astro_taps_point(&line, rows->wavenumbers[channel], interpolated, &point, fractions) &&
        find_keys(self, &point, n_corners, keys)) {
      n = run_length(work, &line, channel, &point);
      add_run(work, &line, channel, at, n, n_corners, piece->sums);
      put_run(piece, keys, n_corners);
      piece->gridded += n;
    } else {
      n = 1;
      piece->outside += any_value(rows->values, at, reals, rows->is_double);
    }
  }
}

static void collect_piece(gpointer data, guint64 index)
{
  Collect *work = data;
  const AstroWProjection *self = work->self;
  guint64 row = work->row + index * work->rows_each;
  guint64 end = MIN(row + work->rows_each, work->rows->rows);
  g_autofree double *sums = g_new(double, 16 * self->config.products);
  Piece piece = { .work = work,
                  .keys = self->piece_keys + index * work->room,
                  .values = self->piece_values + index * work->room * self->value_bytes,
                  .sums = sums };

  for (; row < end; row++)
    collect_row(&piece, row);
  work->n_records[index] = piece.n;
  work->gridded[index] = piece.gridded;
  work->outside[index] = piece.outside;
}

static gboolean is_ordered(const double *numbers, guint n)
{
  gboolean up = TRUE, down = TRUE;
  for (guint i = 1; i < n; i++) {
    up = up && numbers[i] >= numbers[i - 1];
    down = down && numbers[i] <= numbers[i - 1];
  }
  return up || down;
}

/* Appends the records of a piece to those that wait, which are spread when there is no more room.
 */
static void take_piece(AstroWProjection *self, const Collect *work, guint64 piece, gpointer grid)
{
  const guint64 *keys = self->piece_keys + piece * work->room;
  const guint8 *values = self->piece_values + piece * work->room * self->value_bytes;
  guint64 n = work->n_records[piece];

  for (guint64 from = 0, some; from < n; from += some) {
    if (self->n == self->capacity)
      astro_wprojection_flush(self, grid);
    some = MIN(n - from, self->capacity - self->n);
    memcpy(self->keys + self->n, keys + from, some * sizeof *keys);
    memcpy(self->values + self->n * self->value_bytes, values + from * self->value_bytes,
           some * self->value_bytes);
    self->n += some;
  }
  self->counts.gridded += work->gridded[piece];
  self->counts.outside += work->outside[piece];
}

void astro_wprojection_add(AstroWProjection *self, const AstroGridRows *rows, guint first, guint n,
                           gpointer grid)
{
  const guint64 of_row = MAX((guint64)n * (self->config.taps->interpolated ? 8 : 1), 1);
  Collect work = { .self = self,
                   .rows = rows,
                   .first = first,
                   .n = n,
                   .ordered = is_ordered(rows->wavenumbers + first, n) };

  work.rows_each = MAX(ASTRO_PIECE_RECORDS / of_row, 1);
  work.room = work.rows_each * of_row;
  if (self->room < work.room) {
    self->room = work.room;
    self->piece_keys = g_renew(guint64, self->piece_keys, ASTRO_PIECES * work.room);
    self->piece_values =
        g_realloc(self->piece_values, ASTRO_PIECES * work.room * self->value_bytes);
  }
  for (; work.row < rows->rows; work.row += ASTRO_PIECES * work.rows_each) {
    guint64 pieces =
        MIN((rows->rows - work.row + work.rows_each - 1) / work.rows_each, ASTRO_PIECES);
    astro_parallel(pieces, self->config.threads, collect_piece, &work);
    if (astro_is_given_up()) /* pieces that were not collected have no counts */
      return;
    for (guint64 i = 0; i < pieces; i++)
      take_piece(self, &work, i, grid);
  }
}
