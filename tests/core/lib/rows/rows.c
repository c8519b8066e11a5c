/* Rows of files become integrations, whatever their order. */
#include "core/lib/rows/rows.h"
#include "core/kit/units.h"
#include "tests/tests.h"

#define STATIONS 3
#define BASELINES 6
#define FRAMES 4
#define STEP_NS 2000000000LL
#define BEGIN_NS 7200000000000LL

static const char *const names[] = { "A", "B", "C", NULL };

/* All baselines of all integrations, the last row first, and stations of a pair in any order. */
static AstroRows *new_rows(void)
{
  AstroRows *rows = astro_rows_new(BASELINES * FRAMES);
  g_assert_nonnull(rows);
  rows->n_stations = STATIONS;
  rows->names = names;
  rows->day = 60000;
  rows->rounding_ns = 45000;
  for (guint64 row = 0; row < rows->n; row++) {
    const guint64 k = rows->n - 1 - row, frame = k / BASELINES, b = k % BASELINES;
    const guint i = b >= 3 ? 2 : b >= 1, j = (guint)b - i * (i + 1) / 2;
    rows->middle_ns[row] = BEGIN_NS + (gint64)frame * STEP_NS + STEP_NS / 2;
    rows->length_ns[row] = STEP_NS;
    rows->station[row % 2][row] = i;
    rows->station[1 - row % 2][row] = j;
  }
  return rows;
}

static void arrange(AstroRows *rows)
{
  g_autofree char *note = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(astro_rows_arrange(rows, &note, &error));
  g_assert_no_error(error);
  g_assert_cmpstr(note, ==, NULL);
}

static void test_order(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  arrange(rows);
  g_assert_cmpuint(rows->n_frames, ==, FRAMES);
  g_assert_cmpint(rows->start_ns, ==, BEGIN_NS);
  g_assert_cmpint(rows->step_ns, ==, STEP_NS);
  for (guint64 f = 0; f < FRAMES; f++) {
    guint seen = 0;
    g_assert_cmpint(astro_rows_middle(rows, f), ==, (gint64)f * STEP_NS + STEP_NS / 2);
    for (guint64 k = rows->frame[f]; k < rows->frame[f + 1]; k++)
      seen |= 1u << astro_rows_baseline(rows, rows->order[k]);
    g_assert_cmpuint(seen, ==, (1u << BASELINES) - 1);
  }
  g_assert_cmpuint(astro_rows_duration(rows), ==, FRAMES * (guint64)STEP_NS);
}

/* Times that a double of days has rounded are regular again; those further off are not touched. */
static void test_rounding(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  for (guint64 row = 0; row < rows->n; row++)
    rows->middle_ns[row] += (gint64)(row / BASELINES) * 9000 - 13000;
  for (guint64 row = 0; row < BASELINES; row++) /* of the last integration */
    rows->middle_ns[row] += 5000000;
  rows->told_start_ns = BEGIN_NS;
  arrange(rows);
  g_assert_cmpint(rows->start_ns, ==, BEGIN_NS);
  for (guint64 f = 0; f + 1 < FRAMES; f++)
    g_assert_cmpint(astro_rows_middle(rows, f), ==, (gint64)f * STEP_NS + STEP_NS / 2);
  g_assert_cmpint(astro_rows_middle(rows, FRAMES - 1), ==,
                  (FRAMES - 1) * (gint64)STEP_NS + STEP_NS / 2 + 5000000 - 13000);
}

/* The first integration begins before the midnight of its middle. */
static void test_midnight(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  for (guint64 row = 0; row < rows->n; row++)
    rows->middle_ns[row] -= BEGIN_NS + STEP_NS;
  arrange(rows);
  g_assert_cmpint(rows->day, ==, 59999);
  g_assert_cmpint(rows->start_ns, ==, (gint64)ASTRO_NS_PER_DAY - STEP_NS);
  g_assert_cmpint(astro_rows_middle(rows, 0), ==, STEP_NS / 2);
}

static void test_again(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  g_autofree char *note = NULL;
  g_autoptr(GError) error = NULL;
  for (guint k = 0; k < 2; k++)
    rows->station[k][1] = rows->station[k][0];
  g_assert_false(astro_rows_arrange(rows, &note, &error));
  g_assert_error(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT);
  test_says(error->message, "row 2 is the second one for stations C and C");
}

/* A longer row at the time of others is told of; where its middle differs it stands alone. */
static void test_lengths(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  g_autofree char *note = NULL;
  g_autoptr(GError) error = NULL;
  rows->length_ns[3] = 2 * STEP_NS;
  g_assert_true(astro_rows_arrange(rows, &note, &error));
  test_says(note, "integration times of 2 s and others, as 4 s");

  g_autoptr(AstroRows) apart = new_rows();
  apart->middle_ns[3] += STEP_NS / 2;
  arrange(apart);
  g_assert_cmpuint(apart->n_frames, ==, FRAMES + 1);
}

static void test_untold(void)
{
  g_autoptr(AstroRows) rows = new_rows();
  g_autofree char *note = NULL;
  for (guint64 row = 0; row < rows->n; row++) {
    rows->length_ns[row] = 0;
    rows->middle_ns[row] = BEGIN_NS;
  }
  rows->n = 1;
  g_assert_true(astro_rows_arrange(rows, &note, NULL));
  test_says(note, "unknown length: taken as 1 s");
  g_assert_cmpint(rows->step_ns, ==, 1000000000);
}

static void add_tests(void)
{
  g_test_add_func("/rows/order", test_order);
  g_test_add_func("/rows/rounding", test_rounding);
  g_test_add_func("/rows/midnight", test_midnight);
  g_test_add_func("/rows/again", test_again);
  g_test_add_func("/rows/lengths", test_lengths);
  g_test_add_func("/rows/untold", test_untold);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
