/* Values of keywords that must be there, as CFITSIO reads them. */
#pragma once

#include <fitsio.h>
#include <glib.h>

static inline double test_key_number(fitsfile *f, const char *key)
{
  double value = 0;
  int status = 0;
  fits_read_key(f, TDOUBLE, key, &value, NULL, &status);
  if (status)
    g_test_message("no number %s", key);
  g_assert_cmpint(status, ==, 0);
  return value;
}

static inline void test_key_text(fitsfile *f, const char *key, const char *expected)
{
  char value[FLEN_VALUE] = "";
  int status = 0;
  fits_read_key(f, TSTRING, key, value, NULL, &status);
  if (status)
    g_test_message("no text %s", key);
  g_assert_cmpint(status, ==, 0);
  g_assert_cmpstr(value, ==, expected);
}
