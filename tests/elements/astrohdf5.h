/* Catalogues in HDF5 for tests, written by HDF5 itself. */
#pragma once

#include "tests/elements/elements.h"

#include <glib/gstdio.h>
#include <hdf5.h>

#define H5_POINTS 30000
#define H5_FILE "catalogue.h5"

typedef struct {
  double ra[H5_POINTS], dec[H5_POINTS], z[H5_POINTS];
  float weight[H5_POINTS];
  guint64 bits[2 * H5_POINTS];
  guint16 flag[H5_POINTS];
  char class[H5_POINTS][4];
} H5Points;

static inline H5Points *h5_points_new(void)
{
  H5Points *points = g_new0(H5Points, 1);
  for (guint i = 0; i < H5_POINTS; i++) {
    points->ra[i] = 360. * i / H5_POINTS;
    points->dec[i] = (i * 7919 % 18001) / 100. - 90;
    points->z[i] = 0.1 + i % 97 / 100.;
    points->weight[i] = 0.1f + (float)(i % 13);
    points->bits[2 * i] = (guint64)i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    points->bits[2 * i + 1] = ~points->bits[2 * i];
    points->flag[i] = (guint16)(i % 5);
    memcpy(points->class[i], i % 3 ? "STAR" : "QSO ", 4);
  }
  return points;
}

typedef struct {
  const char *unit; /* NULL: none */
  hsize_t chunk;    /* rows; 0: in one piece */
  int deflate;      /* 0: not packed */
  hid_t stored_as;  /* 0: as in memory */
  hsize_t across;   /* values in a row; 0: one axis */
} H5How;

static inline hid_t h5_create(void)
{
  const hid_t file = H5Fcreate(H5_FILE, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  g_assert_cmpint(file, >=, 0);
  return file;
}

static inline void h5_put_unit(hid_t set, const char *unit)
{
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(unit));
  const hid_t attribute = H5Acreate2(set, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, unit);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

/* type: of the values in memory. values NULL: they are not written. */
static inline void h5_put(hid_t where, const char *name, hid_t type, hsize_t n, const void *values,
                          const H5How *how)
{
  const hsize_t shape[2] = { n, how->across }, chunk[2] = { how->chunk, MAX(how->across, 1) };
  const int n_axes = how->across ? 2 : 1;
  const hsize_t most[2] = { H5S_UNLIMITED, how->across };
  const hid_t space = H5Screate_simple(n_axes, shape, how->chunk > n ? most : NULL),
              plist = H5Pcreate(H5P_DATASET_CREATE);
  if (how->chunk)
    H5Pset_chunk(plist, n_axes, chunk);
  if (how->deflate) {
    H5Pset_shuffle(plist);
    H5Pset_deflate(plist, (unsigned)how->deflate);
  }
  const hid_t set = H5Dcreate2(where, name, how->stored_as ? how->stored_as : type, space,
                               H5P_DEFAULT, plist, H5P_DEFAULT);
  g_assert_cmpint(set, >=, 0);
  if (values)
    g_assert_cmpint(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), >=, 0);
  if (how->unit)
    h5_put_unit(set, how->unit);
  H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
}

static inline hid_t h5_group(hid_t file, const char *name)
{
  return H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* RA and DEC of some points at the root. */
static inline void h5_put_positions(hid_t where, const H5Points *points, hsize_t n)
{
  static const H5How plain = { 0 };
  h5_put(where, "RA", H5T_NATIVE_DOUBLE, n, points->ra, &plain);
  h5_put(where, "DEC", H5T_NATIVE_DOUBLE, n, points->dec, &plain);
}
