/* A kernel such as the JPL makes, whose coefficients are of any smooth positions. */
#pragma once

#include "core/lib/ephemeris/kernel.h"

#include <math.h>
#include <string.h>

enum { TEST_KERNEL_COEFFICIENTS = 14, TEST_KERNEL_RECORDS = 3 };
#define TEST_KERNEL_DAYS 8.0
#define TEST_KERNEL_SIZE (2 + 3 * TEST_KERNEL_COEFFICIENTS)
#define TEST_KERNEL_SEGMENT (TEST_KERNEL_RECORDS * TEST_KERNEL_SIZE + 4)
#define TEST_KERNEL_BYTES (1024 * 3 + 3 * 8 * TEST_KERNEL_SEGMENT)

static inline void test_put_int(guint8 *at, gint32 value)
{
  const guint32 bits = GUINT32_TO_LE((guint32)value);
  memcpy(at, &bits, sizeof bits);
}

static inline void test_put_double(guint8 *at, double value)
{
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE(bits);
  memcpy(at, &bits, sizeof bits);
}

/* The position of a body, km, that many seconds after J2000: 0 is the barycentre of Earth and Moon,
 * 1 the Earth from it, 2 the Sun. */
typedef void (*TestPlace)(guint body, double seconds, double place[3]);

/* Chebyshev coefficients of a record, by the values at the zeros of the last polynomial. */
static inline void test_put_record(guint8 *at, guint body, double middle, double radius,
                                   TestPlace place_of)
{
  enum { N = TEST_KERNEL_COEFFICIENTS };
  double places[N][3];
  test_put_double(at, middle);
  test_put_double(at + 8, radius);
  for (guint j = 0; j < N; j++)
    place_of(body, middle + radius * cos(G_PI * (j + 0.5) / N), places[j]);
  for (guint axis = 0; axis < 3; axis++)
    for (guint k = 0; k < N; k++) {
      double sum = 0;
      for (guint j = 0; j < N; j++)
        sum += places[j][axis] * cos(G_PI * k * (j + 0.5) / N);
      test_put_double(at + 8 * (2 + axis * N + k), sum * (k ? 2.0 : 1.0) / N);
    }
}

/* Fills TEST_KERNEL_BYTES. from: s after J2000. */
static inline void test_make_kernel(guint8 *bytes, double from, TestPlace place_of)
{
  static const gint32 targets[] = { 3, 399, 10 }, centres[] = { 0, 3, 0 };
  const double length = TEST_KERNEL_DAYS * 86400;
  memset(bytes, 0, TEST_KERNEL_BYTES);
  memcpy(bytes, "DAF/SPK ", 8);
  test_put_int(bytes + 8, 2);
  test_put_int(bytes + 12, 6);
  test_put_int(bytes + 76, 2);
  test_put_int(bytes + 80, 2);
  memcpy(bytes + 88, "LTL-IEEE", 8);
  guint8 *list = bytes + 1024;
  test_put_double(list + 16, 3);
  for (guint b = 0; b < 3; b++) {
    guint8 *summary = list + 24 + 40 * b, *segment = bytes + 3072 + 8 * b * TEST_KERNEL_SEGMENT;
    const gint32 first = 1 + 384 + (gint32)(b * TEST_KERNEL_SEGMENT);
    const gint32 ints[] = { targets[b], centres[b], 1, 2, first, first + TEST_KERNEL_SEGMENT - 1 };
    test_put_double(summary, from);
    test_put_double(summary + 8, from + length * TEST_KERNEL_RECORDS);
    for (guint i = 0; i < 6; i++)
      test_put_int(summary + 16 + 4 * i, ints[i]);
    for (guint r = 0; r < TEST_KERNEL_RECORDS; r++)
      test_put_record(segment + 8 * r * TEST_KERNEL_SIZE, b, from + length * (r + 0.5), length / 2,
                      place_of);
    guint8 *last = segment + 8 * TEST_KERNEL_RECORDS * TEST_KERNEL_SIZE;
    test_put_double(last, from);
    test_put_double(last + 8, length);
    test_put_double(last + 16, TEST_KERNEL_SIZE);
    test_put_double(last + 24, TEST_KERNEL_RECORDS);
  }
}
