/* A folder of a test's own, with a file in it, both gone at the end. */
#pragma once

#include "tests/tests.h"
#include <glib/gstdio.h>

static inline char *test_folder(void)
{
  GError *error = NULL;
  char *folder = g_dir_make_tmp("astro-fits-XXXXXX", &error);
  g_assert_no_error(error);
  return folder;
}

static inline void test_remove(char *path)
{
  g_assert_cmpint(g_remove(path), ==, 0);
  g_free(path);
}

typedef struct {
  char *folder, *path;
} TestPlace;

static inline void test_place_set_up(TestPlace *place, gconstpointer data)
{
  place->folder = test_folder();
  place->path = g_build_filename(place->folder, "file.fits", NULL);
}

static inline void test_place_tear_down(TestPlace *place, gconstpointer data)
{
  g_unlink(place->path);
  g_assert_cmpint(g_rmdir(place->folder), ==, 0);
  g_free(place->folder);
  g_free(place->path);
}

typedef struct {
  const char *name;
  void (*test)(TestPlace *, gconstpointer);
} TestPlaceCase;

static inline void test_add_places(const char *prefix, const TestPlaceCase *cases, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    g_autofree char *path = g_strconcat(prefix, cases[i].name, NULL);
    g_test_add(path, TestPlace, NULL, test_place_set_up, cases[i].test, test_place_tear_down);
  }
}
