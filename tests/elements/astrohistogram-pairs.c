/* Weights of pairs from files to sums. */
#include "tests/elements/catalogues.h"

#include <glib/gstdio.h>

/* Two points a degree apart: 2 bits in common of b, and 1 more of c. */
#define TWO "ra,dec,b,c\n10,0,-1,8\n11,0,6,9223372036854775816\n"

typedef struct {
  char *folder, *points, *table;
} Place;

static void place_make(Place *place, const char *table)
{
  place->folder = g_dir_make_tmp("astro-XXXXXX", NULL);
  place->points = g_build_filename(place->folder, "points.csv", NULL);
  place->table = g_build_filename(place->folder, "weights.txt", NULL);
  g_assert_true(g_file_set_contents(place->points, TWO, -1, NULL));
  g_assert_true(g_file_set_contents(place->table, table, -1, NULL));
}

static void place_clear(Place *place)
{
  g_unlink(place->points);
  g_unlink(place->table);
  g_rmdir(place->folder);
  g_free(place->points);
  g_free(place->table);
  g_free(place->folder);
}

static double sum_of(const Place *place, const char *source, const char *columns,
                     const char *settings, gboolean has_table, char **message)
{
  g_autofree char *line = g_strdup_printf(
      "astrohistogram name=h edges=40,90 %s dd-twopoint-weights=%s ! appsink name=out "
      "%s location=%s ra-column=ra dec-column=dec bitweight-columns=%s ! h.data",
      settings, has_table ? place->table : "\"\"", source, place->points, columns);
  g_autoptr(GPtrArray) samples = test_samples(line, message);
  gsize bytes;
  if (*message)
    return 0;
  g_assert_cmpuint(samples->len, ==, 1);
  g_autofree double *sums = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, sizeof *sums);
  return sums[0];
}

static const struct {
  const char *columns, *settings;
  gboolean has_table;
  double sum;
} cases[] = { { "b", "", FALSE, 65 / 3.0 },
              { "b,c", "", FALSE, 129 / 4.0 },
              { "b", "nrealizations=100 noffset=0", FALSE, 50 },
              { "b", "backend=reference", TRUE, 65 / 3.0 * 2 },
              { "\"\"", "", TRUE, 2 } };

static void test_values(void)
{
  static const char *const sources[] = { "astrocatsrc", "astrofitssrc" };
  Place place;
  place_make(&place, "0.5 2\n3 2\n");
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
      g_autofree char *message = NULL;
      const double sum = sum_of(&place, sources[s], cases[c].columns, cases[c].settings,
                                cases[c].has_table, &message);
      g_assert_cmpstr(message, ==, NULL);
      g_assert_cmpfloat_with_epsilon(sum, cases[c].sum, 1e-12);
    }
  place_clear(&place);
}

static void add_tests(void)
{
  g_test_add_func("/astrohistogram-pairs/values", test_values);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
