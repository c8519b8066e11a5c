/* Copies boxes of samples one by one, and compares with that the copies of a device. */
#pragma once

#include "core/backend/device.h"
#include "core/memory/box.h"
#include "core/memory/memory.h"
#include "tests/tests.h"

#include <string.h>

static inline void test_copy_box(const AstroBox *box, guint8 *to, const guint8 *from)
{
  guint64 samples = 1;
  for (guint i = 0; i < box->n_axes; i++)
    samples *= box->n[i];
  for (guint64 k = 0; k < samples; k++) {
    gsize to_at = box->to, from_at = box->from;
    guint64 rest = k;
    for (guint i = 0; i < box->n_axes; rest /= box->n[i++]) {
      to_at += rest % box->n[i] * box->to_step[i];
      from_at += rest % box->n[i] * box->from_step[i];
    }
    memcpy(to + to_at, from + from_at, box->bytes);
  }
}

#define TEST_MOST_AXES 4

/* Two arrays with the same axes, of which a part of each is copied, along some every few. */
typedef struct {
  AstroBox box;
  gsize from_bytes, to_bytes;
} TestBoxes;

static inline TestBoxes test_new_boxes(GRand *rand)
{
  TestBoxes c = { .box = { .n_axes = (guint)g_rand_int_range(rand, 0, TEST_MOST_AXES + 1),
                           .bytes = (gsize)g_rand_int_range(rand, 1, 9) } };
  AstroBox *box = &c.box;
  c.from_bytes = c.to_bytes = box->bytes;
  for (guint i = box->n_axes; i-- > 0;) {
    const guint64 n = (guint64)g_rand_int_range(rand, 1, 6),
                  every = (guint64)g_rand_int_range(rand, 1, 3),
                  skipped = (guint64)g_rand_int_range(rand, 0, 2),
                  at = (guint64)g_rand_int_range(rand, 0, 2);
    box->n[i] = n;
    box->from += skipped * c.from_bytes;
    box->from_step[i] = every * c.from_bytes;
    c.from_bytes *= n * every + skipped;
    box->to += at * c.to_bytes;
    box->to_step[i] = c.to_bytes;
    c.to_bytes *= n + at;
  }
  return c;
}

static inline GstBuffer *test_box_block(gsize bytes, guint32 seed)
{
  GstBuffer *buffer = astro_buffer_new(bytes, NULL);
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  test_fill(map.data, map.size, seed);
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

/* Takes the bytes to the device, so that its face is not garbage. */
static inline void test_box_send(const AstroBoxPlace *place, GstBuffer *buffer)
{
  g_autoptr(GError) error = NULL;
  gpointer face;
  astro_buffer_acquire(&buffer, place->device, place->queue, GST_MAP_READ, &face, &error);
  g_assert_no_error(error);
  astro_buffer_release(buffer, place->queue, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
}

/* The bytes around the box are those that were there before. */
static inline void test_check_boxes(GstBuffer *buffer, const TestBoxes *c)
{
  g_autofree guint8 *expected = g_malloc(c->to_bytes), *in = g_malloc(c->from_bytes);
  GstMapInfo map;
  test_fill(expected, c->to_bytes, 99);
  test_fill(in, c->from_bytes, 1);
  test_copy_box(&c->box, expected, in);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpmem(map.data, map.size, expected, c->to_bytes);
  gst_buffer_unmap(buffer, &map);
}

static inline void test_boxes_on(const AstroBoxPlace *place, const TestBoxes *c, gboolean copy_down)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstBuffer) from = test_box_block(c->from_bytes, 1),
                       out = test_box_block(c->to_bytes, 99);
  AstroBox simple = c->box;
  astro_box_simplify(&simple);
  g_assert_true(astro_box_is_simple(&simple));
  test_box_send(place, out);
  astro_box_copy(place, &from, &simple, 1, out, copy_down, &error);
  g_assert_no_error(error);
  test_check_boxes(out, c);
}

/* Rows, of which a device may take several words at once, at addresses that are multiples of theirs
 * or not, and more rows than it may take at once. */
static const TestBoxes test_rows[] = {
  { { 1, { 300 }, { 4096 }, { 8192 }, 0, 4096, 4096 }, 300 * 8192, 300 * 4096 },
  { { 1, { 300 }, { 4100 }, { 8196 }, 4, 8, 4100 }, 301 * 8196, 301 * 4100 },
  { { 1, { 77 }, { 1040 }, { 1048 }, 16, 8, 1032 }, 78 * 1048, 78 * 1040 },
  { { 1, { 77 }, { 1042 }, { 2098 }, 2, 1046, 1034 }, 78 * 2098, 78 * 1042 },
  { { 1, { 41 }, { 9001 }, { 9001 }, 1, 0, 8999 }, 42 * 9001, 42 * 9001 },
  { { 1, { 300000 }, { 5 }, { 7 }, 3, 2, 3 }, 300001 * 7, 300001 * 5 },
  { { 1, { 70000 }, { 16 }, { 48 }, 0, 32, 16 }, 70000 * 48, 70000 * 16 },
  { { 1, { 2 }, { 1048592 }, { 2097168 }, 0, 16, 1048576 }, 2 * 2097168, 2 * 1048592 },
  { { 1, { 1 }, { 1 }, { 1 }, 7, 3, 1048573 }, 1048576, 1048580 },
};

static inline void test_random_boxes(AstroDevice *device)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(47);
  g_autoptr(GError) error = NULL;
  AstroBoxPlace place = { astro_device_ref(device), device->funcs->queue_new(device, &error) };
  g_assert_no_error(error);
  for (guint i = 0; i < 200; i += TEST_STEP) {
    const TestBoxes c = test_new_boxes(rand);
    test_boxes_on(&place, &c, g_rand_boolean(rand));
  }
  for (guint i = 0; i < G_N_ELEMENTS(test_rows); i++)
    test_boxes_on(&place, &test_rows[i], i % 2 == 0);
  astro_box_place_clear(&place);
}
