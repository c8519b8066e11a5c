/* For tests of several devices: fake ones where there is no GPU, else the GPUs there are. */
#pragma once

#include "tests/core/fake-device.h"

static inline gboolean test_has_gpu(void)
{
  return g_file_test("/dev/nvidiactl", G_FILE_TEST_EXISTS);
}

/* Before GStreamer starts. */
static inline void test_fake_devices(const char *n)
{
  const char *build = g_getenv("G_TEST_BUILDDIR");
  if (!build || test_has_gpu())
    return;
  g_autofree char *module = g_build_filename(build, "tests/elements/.libs/fake-module.so", NULL);
  g_setenv("ASTRO_CUDA_MODULE", module, TRUE);
  g_setenv("ASTRO_FAKE_DEVICES", n, TRUE);
}

/* Installed tests have no fake module. */
static inline gboolean test_has_devices(void)
{
  return g_getenv("ASTRO_CUDA_MODULE") || test_has_gpu();
}

static inline gboolean test_devices_are_fake(void)
{
  return g_getenv("ASTRO_FAKE_DEVICES") != NULL;
}

/* A value of devices that makes several share the work, even where one GPU has to be all. On a host
 * with several GPUs, ASTRO_TEST_DEVICES=0,1 says which. */
static inline const char *test_several_devices(void)
{
  const char *told = g_getenv("ASTRO_TEST_DEVICES");
  if (test_devices_are_fake())
    return "all";
  return told ? told : "0,0,0";
}
