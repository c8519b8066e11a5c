/* The GPU, for tests that need one. */
#pragma once

#include "core/backend/backend.h"

/* The device, or the test is skipped. */
static inline AstroDevice *test_open_device(void)
{
  g_autoptr(GError) error = NULL;
  AstroDevice *device = astro_device_open(0, &error);
  if (!device)
    g_test_skip(error->message);
  return device;
}
