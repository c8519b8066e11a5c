/* Looks through the rows of PSRFITS: when each begins, and what weights there are. */
#include "config.h"
#include "core/fits/psrfits/read.h"

#include <math.h>
#include <string.h>

#define PARTS 1000 /* a weight of other files that is not 0 or the most is told to a thousandth */
#define MOST_SECONDS 3e8

/* ---- values without the whole row ---- */

static gboolean look(const AstroPsrfitsReader *r, guint64 row, const AstroFitsColumn *column,
                     guint8 *room, const guint8 **bytes, GError **error)
{
  *bytes = astro_fits_file_look(r->file,
                                r->table.header->data + row * r->table.row_bytes + column->offset,
                                astro_fits_column_bytes(column), room, error);
  return *bytes != NULL;
}

/* ---- times ---- */

/* Where rows begin if there are no times: one behind the other, behind those of the files before.
 */
static guint64 step_without_time(const AstroPsrfitsReader *r, guint64 row)
{
  gint64 before = 0;
  astro_fits_get_integer(r->table.header, "NSUBOFFS", &before);
  return (CLAMP(before, 0, G_MAXINT) + row) * r->block;
}

/* A time that rounding or a clock has moved by less than a step is that of the row before's end. */
static gboolean place_row(AstroPsrfitsReader *r, guint64 row, double middle, GError **error)
{
  const guint64 next = row ? r->first[row - 1] + r->block : 0;
  const double step = middle * r->rate - (double)r->block / 2;
  if (!(fabs(middle) < MOST_SECONDS))
    return astro_fits_wrong(r->file, error,
                            "OFFS_SUB of row %" G_GUINT64_FORMAT " is %g s, expected the time from "
                            "the start to the middle of the row",
                            row + 1, middle);
  if (step < (double)next - 1)
    return astro_fits_wrong(r->file, error,
                            "row %" G_GUINT64_FORMAT " begins %.9g s after the start (OFFS_SUB), "
                            "%.9g s before the end of the row before it",
                            row + 1, step / r->rate, ((double)next - step) / r->rate);
  r->first[row] = MAX((guint64)llrint(MAX(step, 0)), next);
  return TRUE;
}

static gboolean read_times(AstroPsrfitsReader *r, GError **error)
{
  const AstroFitsColumn *column = r->columns.times;
  gboolean are_told = FALSE;
  guint8 room[8];
  const guint8 *bytes;
  g_autofree double *times = g_new0(double, MAX(r->table.n_rows, 1));
  for (guint64 row = 0; column && row < r->table.n_rows; row++) {
    if (!look(r, row, column, room, &bytes, error))
      return FALSE;
    times[row] = astro_fits_column_number(column, bytes, 0);
    are_told = are_told || times[row] != 0;
  }
  for (guint64 row = 0; row < r->table.n_rows; row++) {
    if (!are_told)
      r->first[row] = step_without_time(r, row);
    else if (!place_row(r, row, times[row], error))
      return FALSE;
  }
  const double end = (double)(r->first[r->table.n_rows - 1] + r->block) / r->rate;
  return end < MOST_SECONDS ||
         astro_fits_wrong(r->file, error,
                          "the last row ends %g s after the start, which is no observation", end);
}

/* NSTOT tells where the samples end within the last row. */
static void read_end(AstroPsrfitsReader *r, AstroFitsContents *contents)
{
  const guint64 has = r->table.n_rows * r->block;
  gint64 told = 0;
  r->last_steps = r->block;
  if (!astro_fits_get_integer(r->table.header, "NSTOT", &told) || told <= 0)
    return;
  if ((guint64)told <= has && has - (guint64)told < r->block)
    r->last_steps = r->block - (has - (guint64)told);
  else
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "NSTOT announces %" G_GINT64_FORMAT " samples of each channel, but "
                             "the rows have %" G_GUINT64_FORMAT ", which are all read",
                             told, has);
}

/* ---- weights ---- */

typedef struct {
  double most;
  gboolean has_lost, has_parts; /* weights of 0; and between 0 and the most */
} Weights;

static gboolean add_weight(const AstroPsrfitsReader *r, Weights *weights, guint64 row, guint c,
                           double weight, GError **error)
{
  if (!(weight >= 0) || !isfinite(weight))
    return astro_fits_wrong(r->file, error,
                            "DAT_WTS of row %" G_GUINT64_FORMAT ", channel %u is %g, expected a "
                            "weight of 0 or more",
                            row + 1, c, weight);
  if (weight == 0)
    weights->has_lost = TRUE;
  else if (weights->most != 0 && weight != weights->most)
    weights->has_parts = TRUE;
  weights->most = MAX(weights->most, weight);
  return TRUE;
}

static gboolean look_through(const AstroPsrfitsReader *r, Weights *weights, GError **error)
{
  const AstroFitsColumn *column = r->columns.weights;
  g_autofree guint8 *room = g_malloc(astro_fits_column_bytes(column));
  const guint8 *bytes;
  for (guint64 row = 0; row < r->table.n_rows; row++) {
    if (!look(r, row, column, room, &bytes, error))
      return FALSE;
    for (guint c = 0; c < r->channels; c++)
      if (!add_weight(r, weights, row, c, astro_fits_column_number(column, bytes, c), error))
        return FALSE;
  }
  return TRUE;
}

/* Our own files say what count a weight of 1 stands for. */
static gboolean read_weights(AstroPsrfitsReader *r, AstroFitsContents *contents, GError **error)
{
  Weights weights = { 0 };
  gint64 full = 0;
  const gboolean is_told = astro_fits_get_integer(r->table.header, ASTRO_PSRFITS_FULL, &full) &&
                           full >= 1 && full <= G_MAXUINT32;
  if (!r->columns.weights)
    return TRUE;
  if (!look_through(r, &weights, error))
    return FALSE;
  r->most_weight = is_told || weights.most == 0 ? 1 : weights.most;
  if (is_told && weights.most > 1)
    return astro_fits_wrong(r->file, error,
                            "DAT_WTS has a weight of %g, expected at most 1 where %s is given",
                            weights.most, ASTRO_PSRFITS_FULL);
  r->has_counts = is_told || weights.has_lost || weights.has_parts;
  r->full = is_told ? (guint32)full : weights.has_parts ? PARTS : 1;
  if (weights.has_parts && !is_told)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "weights between 0 and %g (DAT_WTS) are taken as the part of samples "
                             "that are good, in thousandths",
                             weights.most);
  return TRUE;
}

void astro_psrfits_count_all(AstroPsrfitsReader *r)
{
  r->has_counts = TRUE;
  r->full = 1;
}

/* ---- frequencies ---- */

static gboolean check_frequencies(const AstroPsrfitsReader *r, GError **error)
{
  const AstroFitsColumn *column = r->columns.frequencies;
  if (!column || r->table.n_rows == 0)
    return TRUE;
  const guint64 size = astro_fits_column_bytes(column);
  g_autofree guint8 *first = g_malloc(size), *room = g_malloc(size);
  const guint8 *bytes;
  if (!look(r, 0, column, room, &bytes, error))
    return FALSE;
  memcpy(first, bytes, size);
  const double width = r->stream.bandwidth / r->channels / 1e6;
  for (guint64 row = 1; row < r->table.n_rows; row++) {
    if (!look(r, row, column, room, &bytes, error))
      return FALSE;
    if (memcmp(bytes, first, size) == 0)
      continue;
    for (guint c = 0; c < r->channels; c++)
      if (!(fabs(astro_fits_column_number(column, bytes, c) -
                 astro_fits_column_number(column, first, c)) < 0.05 * width))
        return astro_fits_wrong(r->file, error,
                                "channel %u of DAT_FREQ is at %.9g MHz in row 1 and at %.9g MHz in "
                                "row %" G_GUINT64_FORMAT ", expected the same",
                                c, astro_fits_column_number(column, first, c),
                                astro_fits_column_number(column, bytes, c), row + 1);
  }
  return TRUE;
}

gboolean astro_psrfits_scan(AstroPsrfitsReader *r, AstroFitsContents *contents, GError **error)
{
  if (r->table.n_rows == 0)
    return astro_fits_wrong(r->file, error, "the table SUBINT has no rows");
  r->first = g_new(guint64, r->table.n_rows);
  read_end(r, contents);
  return read_times(r, error) && read_weights(r, contents, error) && check_frequencies(r, error);
}

guint64 astro_psrfits_row_steps(const AstroPsrfitsReader *r, guint64 row)
{
  return row + 1 == r->table.n_rows ? r->last_steps : r->block;
}
