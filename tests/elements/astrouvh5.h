/* Files of uvh5 for tests: how one is written, and changed by HDF5 as other programs may have it.
 */
#pragma once

#include <hdf5.h>

#include "core/stream/observation.h"
#include "tests/core/fits/place.h"
#include "tests/elements/pulled.h"

#define TEST_UVH5_STATIONS 4
#define TEST_UVH5_BASELINES 10
#define TEST_UVH5_FRAMES 3
#define TEST_UVH5_ROWS (TEST_UVH5_BASELINES * TEST_UVH5_FRAMES)
/* A polarised source: all products differ. */
#define TEST_UVH5_SOURCE                                                                           \
  "astrovissrc stations=4 channels=4 num-buffers=3 seed=5 loss=0.3 "                               \
  "sky=0.01,0.02,3,q=0.3,u=0.2,v=0.1"

typedef struct {
  char *folder, *path;
} TestUvh5;

static inline void test_uvh5_set_up(TestUvh5 *place, gconstpointer data)
{
  place->folder = test_folder();
  place->path = g_build_filename(place->folder, "v.uvh5", NULL);
  g_autofree char *line =
      g_strdup_printf(TEST_UVH5_SOURCE " ! astrouvh5sink location=%s", place->path);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
}

static inline void test_uvh5_tear_down(TestUvh5 *place, gconstpointer data)
{
  g_unlink(place->path);
  g_assert_cmpint(g_rmdir(place->folder), ==, 0); /* no part is left */
  g_free(place->folder);
  g_free(place->path);
}

static inline hid_t test_uvh5_edit(const TestUvh5 *place)
{
  const hid_t file = H5Fopen(place->path, H5F_ACC_RDWR, H5P_DEFAULT);
  g_assert_cmpint(file, >=, 0);
  return file;
}

static inline hsize_t test_uvh5_count(hid_t set)
{
  const hid_t space = H5Dget_space(set);
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  return (hsize_t)n;
}

/* A dataset in another order of its rows: from[new] = old. Fewer rows than before are kept where
 * n is less. */
static inline void test_uvh5_reorder(hid_t file, const char *path, const guint *from, guint n)
{
  const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), type = H5Dget_type(set);
  const gsize row = test_uvh5_count(set) / TEST_UVH5_ROWS * H5Tget_size(type);
  g_autofree guint8 *before = g_malloc(row * TEST_UVH5_ROWS);
  g_autofree guint8 *after = g_malloc(row * TEST_UVH5_ROWS);
  hsize_t extent[3];
  H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, before);
  for (guint i = 0; i < n; i++)
    memcpy(after + i * row, before + from[i] * row, row);
  const hid_t space = H5Dget_space(set);
  H5Sget_simple_extent_dims(space, extent, NULL);
  H5Sclose(space);
  extent[0] = n;
  H5Dset_extent(set, extent);
  g_assert_cmpint(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, after), >=, 0);
  H5Tclose(type);
  H5Dclose(set);
}

static const char *const test_uvh5_columns[] = {
  "Data/visdata",
  "Data/flags",
  "Data/nsamples",
  "Header/time_array",
  "Header/integration_time",
  "Header/lst_array",
  "Header/ant_1_array",
  "Header/ant_2_array",
  "Header/uvw_array",
  "Header/phase_center_id_array",
};

static inline void test_uvh5_reorder_all(const TestUvh5 *place, const guint *from, guint n)
{
  const hid_t file = test_uvh5_edit(place);
  for (guint i = 0; i < G_N_ELEMENTS(test_uvh5_columns); i++)
    test_uvh5_reorder(file, test_uvh5_columns[i], from, n);
  H5Fclose(file);
}

/* The whole of a dataset of that type, changed by a function, and written back. */
static inline void test_uvh5_change(const TestUvh5 *place, const char *path, hid_t type,
                                    gsize bytes, void (*change)(gpointer data, gsize n))
{
  const hid_t file = test_uvh5_edit(place), set = H5Dopen2(file, path, H5P_DEFAULT);
  const gsize n = test_uvh5_count(set);
  g_autofree guint8 *data = g_malloc(n * bytes);
  g_assert_cmpint(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), >=, 0);
  change(data, n);
  g_assert_cmpint(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), >=, 0);
  H5Dclose(set);
  H5Fclose(file);
}

static inline void test_uvh5_delete(const TestUvh5 *place, const char *path)
{
  const hid_t file = test_uvh5_edit(place);
  g_assert_cmpint(H5Ldelete(file, path, H5P_DEFAULT), >=, 0);
  H5Fclose(file);
}

static inline void test_uvh5_put_text(const TestUvh5 *place, const char *path, const char *text)
{
  const hid_t file = test_uvh5_edit(place), space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  if (H5Lexists(file, path, H5P_DEFAULT) > 0)
    H5Ldelete(file, path, H5P_DEFAULT);
  H5Tset_size(type, MAX(strlen(text), 1));
  const hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  g_assert_cmpint(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text), >=, 0);
  H5Dclose(set);
  H5Tclose(type);
  H5Sclose(space);
  H5Fclose(file);
}

/* The integrations that a line of elements gives. */
static inline GPtrArray *test_uvh5_pull(const char *line)
{
  GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  TestPulled pulled = test_pulled_run(line, "application/x-astro-visibilities");
  for (GstBuffer *buffer; (buffer = test_pull(&pulled));)
    g_ptr_array_add(all, buffer);
  test_pulled_end(&pulled);
  return all;
}

static inline GPtrArray *test_uvh5_read(const TestUvh5 *place, const char *settings)
{
  g_autofree char *line = g_strdup_printf("astrouvh5src location=%s %s", place->path, settings);
  return test_uvh5_pull(line);
}
