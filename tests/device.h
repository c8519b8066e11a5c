/* Opens the GPU, or an OpenCL device, for tests that need one. */
#pragma once

#include "core/backend/module.h"

#include <fcntl.h>
#include <sys/file.h>

/* Programs share the card, except those that look at how full it is: they hold it alone, from this
 * call to their end. */
static inline void test_hold_card(gboolean alone)
{
  static const char *const is_held =
      "ASTRO_TEST_CARD"; /* by this program, or by the one that started it */
  const char *folder = g_getenv("G_TEST_SRCDIR");
  static int lock = -1;
  if (g_getenv(is_held))
    return;
  if (lock < 0)
    lock = open(folder ? folder : ".", O_RDONLY | O_CLOEXEC);
  if (flock(lock, alone ? LOCK_EX : LOCK_SH) == 0 && alone)
    g_setenv(is_held, "alone", TRUE);
}

static inline AstroDevice *test_find_device(GError **error)
{
  AstroDevice *device = astro_device_open(0, error);
  if (device)
    test_hold_card(FALSE);
  return device;
}

/* Opens the device; if there is none, the test is skipped. */
static inline AstroDevice *test_open_device(void)
{
  g_autoptr(GError) error = NULL;
  AstroDevice *device = test_find_device(&error);
  if (!device)
    g_test_skip(error->message);
  return device;
}

/* OpenCL's device 0. Other tests look for none (tests/environment), as loading the drivers takes
 * long: this is to be called before anything else asks for one. */
static inline AstroDevice *test_find_opencl(GError **error)
{
  const char *vendors = g_getenv("ASTRO_TEST_OPENCL_VENDORS");
  if (vendors)
    g_setenv("OCL_ICD_VENDORS", vendors, TRUE);
  return astro_device_open_of(ASTRO_BACKEND_OPENCL, 0, error);
}
