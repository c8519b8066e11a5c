/* gst-astro qualify catches defects in kernels. This program has a kernel of power of its own,
 * which is compiled with defects to choose from (core/backend/plant.h). */
#include "core/backend/plant.h"
#include "core/machine/machine.h"
#include "graphs/qualify-exact.h"

#include <gst/gst.h>
#include <string.h>

AstroPlanted astro_planted; /* the kernel asks */

#define SEED 1
#define CASES 20 /* of each kind of shape */

static const AstroQualifyStage *power_stage(void)
{
  for (const AstroQualifyStage *stage = astro_qualify_stages; stage->stage; stage++)
    if (g_str_equal(stage->stage, "power"))
      return stage;
  g_assert_not_reached();
}

/* The rows that a report has of the kernels at all levels of this machine, with the defect. */
static GPtrArray *look(AstroPlanted planted)
{
  GPtrArray *results = g_ptr_array_new_with_free_func(astro_qualify_result_free);
  astro_planted = planted;
  astro_qualify_exact(power_stage(), CASES, SEED, results);
  astro_planted = ASTRO_PLANTED_NOTHING;
  return results;
}

/* Each row of the host is in that state, and its remark has these words. */
static void assert_rows(const GPtrArray *results, AstroQualifyState state, const char *const *words)
{
  guint rows = 0;
  for (guint i = 0; i < results->len; i++) {
    const AstroQualifyResult *result = results->pdata[i];
    if (!strstr(result->subject, " cpu"))
      continue;
    g_test_message("%s: %s", result->subject, result->remark);
    g_assert_cmpint(result->state, ==, state);
    for (guint k = 0; words[k]; k++)
      g_assert_nonnull(strstr(result->remark, words[k]));
    rows++;
  }
  g_assert_cmpuint(rows, >, 0);
}

static void test_none(void)
{
  static const char *const words[] = { "60 shapes", NULL };
  g_autoptr(GPtrArray) results = look(ASTRO_PLANTED_NOTHING);
  assert_rows(results, ASTRO_QUALIFY_PASS, words);
}

static void test_off_by_one(void)
{
  static const char *const words[] = { " 13 channels", "differs from the reference", NULL };
  g_autoptr(GPtrArray) results = look(ASTRO_PLANTED_OFF_BY_ONE);
  assert_rows(results, ASTRO_QUALIFY_SHORT, words);
}

static void test_lost_count(void)
{
  static const char *const words[] = { "counts of good samples differ", NULL };
  g_autoptr(GPtrArray) results = look(ASTRO_PLANTED_LOST_COUNT);
  assert_rows(results, ASTRO_QUALIFY_SHORT, words);
}

/* On a machine that is like two cores of a server. The kernel sleeps for a tenth of a second, where
 * the machine allows about a millisecond. */
static AstroQualifyResult *time_it(AstroPlanted planted)
{
  const AstroMachine machine = { .host = { .bandwidth = 2e10,
                                           .operations = { [ASTRO_ARITHMETIC_FLOAT] = 1e11 } } };
  g_autoptr(GPtrArray) results = g_ptr_array_new();
  astro_planted = planted;
  astro_qualify_rate(power_stage(), &machine, SEED, results);
  astro_planted = ASTRO_PLANTED_NOTHING;
  g_assert_cmpuint(results->len, ==, 1);
  AstroQualifyResult *result = results->pdata[0];
  g_test_message("%s: %g of %g, %s", result->subject, result->value, result->limit, result->remark);
  return result;
}

static void test_slow(void)
{
  AstroQualifyResult *slow = time_it(ASTRO_PLANTED_SLOW);
  g_assert_cmpstr(slow->subject, ==, "power cpu");
  g_assert_cmpint(slow->state, ==, ASTRO_QUALIFY_SHORT);
  g_assert_cmpfloat(slow->value, >, 0);
  astro_qualify_result_free(slow);
#ifndef __SANITIZE_ADDRESS__ /* with which all kernels are slow */
  AstroQualifyResult *good = time_it(ASTRO_PLANTED_NOTHING);
  g_assert_cmpint(good->state, ==, ASTRO_QUALIFY_PASS);
  astro_qualify_result_free(good);
#endif
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  g_test_add_func("/planted/none", test_none);
  g_test_add_func("/planted/off-by-one", test_off_by_one);
  g_test_add_func("/planted/lost-count", test_lost_count);
  g_test_add_func("/planted/slow", test_slow);
  return g_test_run();
}
