/* Arranges rows to integrations. */
#include "core/lib/rows/rows.h"

#include <math.h>

#include "core/kit/units.h"

/* Rows of one integration may differ by this part of its length. */
#define SAME_TIME 1000
#define UNTOLD_NS 1000000000

G_DEFINE_QUARK(astro - rows - error - quark, astro_rows_error)

AstroRows *astro_rows_new(guint64 n)
{
  AstroRows *rows = g_new0(AstroRows, 1);
  rows->n = n;
  rows->told_start_ns = G_MININT64;
  rows->middle_ns = g_try_new0(gint64, n);
  rows->length_ns = g_try_new0(gint64, n);
  rows->station[0] = g_try_new0(guint, n);
  rows->station[1] = g_try_new0(guint, n);
  rows->order = g_try_new(guint64, n);
  rows->frame = g_try_new(guint64, n + 1);
  if (n > 0 && n <= G_MAXINT32 && rows->middle_ns && rows->length_ns && rows->station[0] &&
      rows->station[1] && rows->order && rows->frame)
    return rows;
  astro_rows_free(rows);
  return NULL;
}

void astro_rows_free(AstroRows *rows)
{
  g_free(rows->middle_ns);
  g_free(rows->length_ns);
  g_free(rows->station[0]);
  g_free(rows->station[1]);
  g_free(rows->order);
  g_free(rows->frame);
  g_free(rows);
}

/* ---- order ---- */

static int by_time(gconstpointer one, gconstpointer two, gpointer data)
{
  const AstroRows *rows = data;
  const guint64 a = *(const guint64 *)one, b = *(const guint64 *)two;
  const gint64 at = rows->middle_ns[a], bt = rows->middle_ns[b];
  return at != bt ? (at > bt) - (at < bt) : (a > b) - (a < b);
}

/* Most files are in order of time already. */
static void sort(AstroRows *rows)
{
  gboolean is_sorted = TRUE;
  for (guint64 i = 0; i < rows->n; i++) {
    rows->order[i] = i;
    is_sorted = is_sorted && (i == 0 || rows->middle_ns[i] >= rows->middle_ns[i - 1]);
  }
  if (!is_sorted)
    g_qsort_with_data(rows->order, (gint)rows->n, sizeof *rows->order, by_time, rows);
}

/* ---- integrations ---- */

static gint64 slack_of(const AstroRows *rows, guint64 row)
{
  return MAX(rows->rounding_ns, rows->length_ns[row] / SAME_TIME);
}

static gboolean refuse_again(const AstroRows *rows, guint64 row, GError **error)
{
  const guint a = rows->station[0][row], b = rows->station[1][row];
  return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT,
                    "row %" G_GUINT64_FORMAT " is the second one for stations %s and %s at one "
                    "time, expected each baseline once",
                    row + 1, rows->names[MIN(a, b)], rows->names[MAX(a, b)]);
}

/* Where baselines are averaged over different times, their rows seldom have the same middle, and
 * make integrations of their own: their (u,v,w) belong to their own times. */
static gboolean find_frames(AstroRows *rows, gint64 *other_ns, GError **error)
{
  g_autofree guint64 *seen = g_try_new0(guint64, astro_rows_baselines(rows));
  guint64 first = 0;
  rows->n_frames = 0;
  *other_ns = 0;
  if (!seen)
    return astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT,
                      "%u stations have too many baselines for the memory", rows->n_stations);
  for (guint64 i = 0; i < rows->n; i++) {
    const guint64 row = rows->order[i];
    guint64 *before = &seen[astro_rows_baseline(rows, row)];
    if (i == 0 || rows->middle_ns[row] - rows->middle_ns[first] > slack_of(rows, first)) {
      rows->frame[rows->n_frames++] = i;
      first = row;
    }
    if (*before == rows->n_frames)
      return refuse_again(rows, row, error);
    *before = rows->n_frames;
    if (ABS(rows->length_ns[row] - rows->length_ns[first]) > slack_of(rows, first))
      *other_ns = rows->length_ns[row];
  }
  rows->frame[rows->n_frames] = rows->n;
  return TRUE;
}

static gint64 middle_of(const AstroRows *rows, guint64 frame)
{
  return rows->middle_ns[rows->order[rows->frame[frame]]];
}

/* The shortest time between integrations; 0: there is only one. */
static gint64 shortest_step(const AstroRows *rows)
{
  gint64 step = 0;
  for (guint64 f = 1; f < rows->n_frames; f++) {
    const gint64 found = middle_of(rows, f) - middle_of(rows, f - 1);
    step = step == 0 ? found : MIN(step, found);
  }
  return step;
}

/* The length that most integrations have, which a cut one at the end has not. */
static gint64 longest(const AstroRows *rows)
{
  gint64 length = 0;
  for (guint64 f = 0; f < rows->n_frames; f++)
    length = MAX(length, rows->length_ns[rows->order[rows->frame[f]]]);
  return length;
}

/* Times are rounded, while integrations follow each other without gaps: those that are as near to a
 * regular time as the rounding permits have that time. */
static void make_regular(AstroRows *rows)
{
  gint64 first = middle_of(rows, 0);
  const gint64 half = astro_rows_length(rows, 0) / 2, told = rows->told_start_ns;
  if (told != G_MININT64 && told <= first - half + rows->rounding_ns &&
      first - told < (gint64)ASTRO_NS_PER_DAY) {
    const gint64 steps = llround((double)(first - half - told) / (double)rows->step_ns);
    const gint64 exact = told + half + steps * rows->step_ns;
    rows->start_ns = told;
    first = ABS(exact - first) <= rows->rounding_ns ? exact : first;
  } else {
    rows->start_ns = first - half;
  }
  for (guint64 f = 0; f < rows->n_frames; f++) {
    const gint64 at = middle_of(rows, f);
    const gint64 steps = llround((double)(at - first) / (double)rows->step_ns);
    const gint64 exact = first + steps * rows->step_ns;
    if (ABS(exact - at) <= 2 * rows->rounding_ns)
      rows->middle_ns[rows->order[rows->frame[f]]] = exact;
  }
}

gboolean astro_rows_arrange(AstroRows *rows, char **note, GError **error)
{
  gint64 other_ns;
  *note = NULL;
  sort(rows);
  if (!find_frames(rows, &other_ns, error))
    return FALSE;
  const gint64 length = longest(rows), step = shortest_step(rows);
  rows->step_ns = length > 0 ? length : step > 0 ? step : UNTOLD_NS;
  if (length == 0 && step == 0)
    *note = g_strdup("one integration of unknown length: taken as 1 s");
  else if (other_ns)
    *note = g_strdup_printf("rows of one time have integration times of %g s and others, as %g s: "
                            "each integration is taken to be as long as its first row",
                            (double)length / ASTRO_NS_PER_SECOND,
                            (double)other_ns / ASTRO_NS_PER_SECOND);
  make_regular(rows);
  for (; rows->start_ns < 0; rows->day--) { /* the first integration began before midnight */
    rows->start_ns += (gint64)ASTRO_NS_PER_DAY;
    for (guint64 i = 0; i < rows->n; i++)
      rows->middle_ns[i] += (gint64)ASTRO_NS_PER_DAY;
  }
  return TRUE;
}

gint64 astro_rows_middle(const AstroRows *rows, guint64 frame)
{
  return middle_of(rows, frame) - rows->start_ns;
}

gint64 astro_rows_length(const AstroRows *rows, guint64 frame)
{
  const gint64 own = rows->length_ns[rows->order[rows->frame[frame]]];
  return own > 0 ? own : rows->step_ns;
}

guint64 astro_rows_begin(const AstroRows *rows)
{
  return (guint64)MAX(astro_rows_middle(rows, 0) - astro_rows_length(rows, 0) / 2, 0);
}

guint64 astro_rows_duration(const AstroRows *rows)
{
  const gint64 length = astro_rows_length(rows, rows->n_frames - 1);
  return (guint64)MAX(astro_rows_middle(rows, rows->n_frames - 1) + (length - length / 2), 0);
}
