/* A folder that stands for /sys, so that tests know what a host has. */
#pragma once

#include <glib/gstdio.h>

#include "tests/remove-all.h"

static inline char *test_host_path(const char *name)
{
  return g_build_filename(g_get_tmp_dir(), "a-host", name, NULL);
}

/* Writes a file of it, and has programs read this folder. */
static inline void test_host_say(const char *name, const char *text)
{
  g_autofree char *path = test_host_path(name), *parent = g_path_get_dirname(path),
                  *root = test_host_path(NULL);
  g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_setenv("ASTRO_SYS", root, TRUE);
}

static inline void test_host_remove(void)
{
  g_autofree char *root = test_host_path(NULL);
  test_remove_all(root);
  g_unsetenv("ASTRO_SYS");
}
