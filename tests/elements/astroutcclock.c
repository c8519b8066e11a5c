/* Which clocks know UTC, and what is said of them. */
#include "tests/elements/elements.h"

#include "elements/base/astroutcclock.h"

#include <math.h>

static GstClock *new_clock(GstClockType type)
{
  return gst_object_ref_sink(g_object_new(GST_TYPE_SYSTEM_CLOCK, "clock-type", type, NULL));
}

static void test_kinds(void)
{
  g_autoptr(GstClock) realtime = new_clock(GST_CLOCK_TYPE_REALTIME);
  g_autoptr(GstClock) monotonic = new_clock(GST_CLOCK_TYPE_MONOTONIC);
  g_autoptr(GstClock) tai = new_clock(GST_CLOCK_TYPE_TAI);
  g_autoptr(GstClock) usual = gst_system_clock_obtain();
  g_assert_cmpint(astro_utc_clock_kind(realtime), ==, ASTRO_UTC_REALTIME);
  g_assert_cmpint(astro_utc_clock_kind(monotonic), ==, ASTRO_UTC_NONE);
  g_assert_cmpint(astro_utc_clock_kind(tai), ==, ASTRO_UTC_NONE);
  g_assert_cmpint(astro_utc_clock_kind(usual), ==, ASTRO_UTC_NONE);
  g_assert_cmpint(astro_utc_clock_kind(NULL), ==, ASTRO_UTC_NONE);
  g_assert_cmpint(astro_utc_clock_ahead(realtime), ==, 0);
}

/* The kernel is believed if it was told; TAI - UTC is 37 s since 2017 where it was told nothing. */
static void test_tai(void)
{
  g_assert_cmpuint(astro_utc_tai_offset(0), ==, 37);
  g_assert_cmpuint(astro_utc_tai_offset(38), ==, 38);
}

static void test_told(void)
{
  g_autoptr(GstClock) realtime = new_clock(GST_CLOCK_TYPE_REALTIME);
  GstStructure *told = astro_utc_clock_tell(realtime, "astro-start");
  double clock_error;
  gboolean is_synchronised;
  g_assert_true(gst_structure_has_name(told, "astro-start"));
  g_assert_cmpstr(gst_structure_get_string(told, "clock"), ==, "realtime");
  g_assert_true(gst_structure_get_boolean(told, "synchronised", &is_synchronised));
  g_assert_true(gst_structure_get_double(told, "clock-error", &clock_error));
  g_assert_true(isfinite(clock_error) && clock_error >= 0);
  gst_structure_free(told);
}

static void add_tests(void)
{
  g_test_add_func("/utcclock/kinds", test_kinds);
  g_test_add_func("/utcclock/tai", test_tai);
  g_test_add_func("/utcclock/told", test_told);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
