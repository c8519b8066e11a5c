/* Hits with one cause become one candidate, whatever their order. */
#include "core/search/groups.h"
#include "tests/tests.h"

static const AstroSearchHit hits[] = {
  /* one pulse, over several trials and widths; the best is at trial 10 */
  { 0, 8, 1000, 16, 1000, 1030, 7 },
  { 0, 9, 1004, 8, 998, 1020, 9 },
  { 0, 10, 1006, 4, 1000, 1016, 12 },
  { 0, 12, 1004, 8, 1000, 1020, 8 },
  /* another in the same beam, later; and one of a trial far away */
  { 0, 10, 1300, 4, 1298, 1310, 8 },
  { 0, 20, 1004, 4, 1004, 1008, 6.5 },
  /* the same in another beam */
  { 1, 10, 1006, 4, 1000, 1016, 11 },
};

static void test_friends(void)
{
  const guint n = G_N_ELEMENTS(hits);
  for (guint turn = 0; turn < n; turn++) {
    AstroSearchGroups *groups = astro_search_groups_new(32);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(AstroSearchCandidate));
    for (guint i = 0; i < n; i++)
      astro_search_groups_add(groups, &hits[(i * 3 + turn) % n]);
    astro_search_groups_take(groups, 1041, found);
    g_assert_cmpuint(found->len, ==, 1); /* the far trial ended first */
    g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 0).peak.dm, ==, 20);
    astro_search_groups_take(groups, G_MAXUINT64, found);
    g_assert_cmpuint(found->len, ==, 4);
    const AstroSearchCandidate *best = &g_array_index(found, AstroSearchCandidate, 1);
    g_assert_cmpuint(best->peak.dm, ==, 10);
    g_assert_cmpuint(best->peak.station, ==, 0);
    g_assert_cmpfloat(best->peak.snr, >=, 12);
    g_assert_cmpuint(best->n, ==, 4);
    g_assert_cmpuint(best->dm_low, ==, 8);
    g_assert_cmpuint(best->dm_high, ==, 12);
    g_assert_cmpuint(best->begin, ==, 998);
    g_assert_cmpuint(best->end, ==, 1030);
    g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 2).peak.station, ==, 1);
    g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 3).peak.first, ==, 1300);
    astro_search_groups_free(groups);
  }
}

/* Interference without dispersion lies along a line of time against dispersion measure. A pulse
 * beside that line is no part of it, though it is within its extent in both. */
static void test_line(void)
{
  AstroSearchGroups *groups = astro_search_groups_new(32);
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(AstroSearchCandidate));
  const AstroSearchHit pulse = { 0, 30, 1000, 4, 998, 1010, 9 };
  for (guint dm = 0; dm < 100; dm++) {
    const guint64 at = 1200 - 3 * dm;
    astro_search_groups_add(groups, &(AstroSearchHit){ 0, dm, at, 16, at, at + 20, 100 + dm });
    if (dm == 50)
      astro_search_groups_add(groups, &pulse);
  }
  astro_search_groups_take(groups, G_MAXUINT64, found);
  g_assert_cmpuint(found->len, ==, 2);
  g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 0).n, ==, 100);
  g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 1).n, ==, 1);
  g_assert_cmpuint(g_array_index(found, AstroSearchCandidate, 1).peak.dm, ==, 30);
  astro_search_groups_free(groups);
}

/* A group waits for hits that may still join it. */
static void test_waits(void)
{
  AstroSearchGroups *groups = astro_search_groups_new(32);
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(AstroSearchCandidate));
  astro_search_groups_add(groups, &hits[0]);
  astro_search_groups_take(groups, 1062, found);
  g_assert_cmpuint(found->len, ==, 0);
  astro_search_groups_take(groups, 1063, found);
  g_assert_cmpuint(found->len, ==, 1);
  astro_search_groups_add(groups, &hits[0]);
  astro_search_groups_clear(groups);
  astro_search_groups_take(groups, G_MAXUINT64, found);
  g_assert_cmpuint(found->len, ==, 1);
  astro_search_groups_free(groups);
}

static void add_tests(void)
{
  g_test_add_func("/groups/friends", test_friends);
  g_test_add_func("/groups/line", test_line);
  g_test_add_func("/groups/waits", test_waits);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
