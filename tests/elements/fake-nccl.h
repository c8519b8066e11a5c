/* Has ranks with fake devices find the fake NCCL, as they would find a user's own. */
#pragma once

#include <glib/gstdio.h>
#include <unistd.h>

#include "tests/elements/fake-devices.h"

/* Commands of a shell for each rank, which end with a space; empty where devices are real. folder:
 * for this alone, until test_forget_fake_nccl. */
static inline char *test_fake_nccl(const char *folder)
{
  if (!test_devices_are_fake())
    return g_strdup("");
  g_autofree char *library = g_build_filename(folder, "libnccl.so.2", NULL);
  g_autofree char *fake =
      g_build_filename(g_getenv("G_TEST_BUILDDIR"), "tests/elements/.libs/fake-nccl.so", NULL);
  g_assert_cmpint(symlink(fake, library), ==, 0);
  /* devices, and the threads of fake ones, are kept to the end of a process */
  return g_strdup_printf("export LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH "
                         "TSAN_OPTIONS=$TSAN_OPTIONS:report_thread_leaks=0; ",
                         folder);
}

static inline void test_forget_fake_nccl(const char *folder)
{
  g_autofree char *library = g_build_filename(folder, "libnccl.so.2", NULL);
  g_unlink(library);
}
