/* Boxes of blocks on a fake device: each sample comes to its place, and nothing else changes. */
#include "core/memory/box.h"

#include "core/memory/faces.h"
#include "tests/core/box.h"
#include "tests/core/memory/memory.h"

static GstBuffer *new_block(gsize bytes, AstroDevice *device, AstroQueue *queue, guint32 seed)
{
  GstBuffer *buffer = astro_buffer_new(bytes, device);
  test_device_fill(gst_buffer_peek_memory(buffer, 0), device, queue, seed, FALSE);
  return buffer;
}

static void test_random(void)
{
  AstroDevice *device = fake_device_new(3);
  test_random_boxes(device);
  astro_memory_reap();
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void test_simplify(void)
{
  AstroBox box = { 4, { 3, 1, 5, 7 }, { 35, 35, 7, 1 }, { 70, 70, 14, 1 }, 0, 0, 1 };
  AstroBox whole = { 3, { 3, 5, 7 }, { 35, 7, 1 }, { 35, 7, 1 }, 0, 0, 1 };
  AstroBox scattered = { 3, { 300, 300, 7 }, { 4200, 14, 2 }, { 9030, 30, 4 }, 0, 0, 1 };
  astro_box_simplify(&box);
  g_assert_cmpuint(box.n_axes, ==, 1);
  g_assert_cmpuint(box.n[0], ==, 15);
  g_assert_cmpuint(box.bytes, ==, 7);
  astro_box_simplify(&whole);
  g_assert_cmpuint(whole.n_axes, ==, 0);
  g_assert_cmpuint(whole.bytes, ==, 105);
  astro_box_simplify(&scattered);
  g_assert_false(astro_box_is_simple(&scattered));
}

/* ---- where ---- */

static void test_place(void)
{
  AstroDevice *device = fake_device_new(4), *other = fake_device_new(5);
  AstroQueue *queue = device->funcs->queue_new(device, NULL),
             *there = other->funcs->queue_new(other, NULL);
  GstBuffer *on_host = astro_buffer_new(TEST_KILO, device),
            *on_device = new_block(TEST_KILO, device, queue, 1),
            *elsewhere = new_block(TEST_KILO, other, there, 2);
  GstBuffer *mixed[] = { on_host, on_device }, *both[] = { on_device, elsewhere };
  AstroBoxPlace place = { 0 };
  test_host_fill(gst_buffer_peek_memory(on_host, 0), 3);

  g_assert_false(astro_box_place_choose(&place, &on_host, 1, NULL));
  g_assert_false(astro_box_place_choose(&place, &on_host, 1, device));
  g_assert_false(astro_box_place_choose(&place, mixed, 2, NULL));
  g_assert_null(place.device);
  g_assert_true(astro_box_place_choose(&place, mixed, 2, device));
  g_assert_true(place.device == device);
  g_assert_true(astro_box_place_choose(&place, both, 2, other));
  g_assert_true(place.device == other);
  g_assert_false(astro_box_place_choose(&place, both, 2, NULL));
  g_assert_true(astro_box_place_choose(&place, &on_device, 1, NULL));
  g_assert_true(place.device == device);
  test_host_compare(gst_buffer_peek_memory(on_device, 0), 1); /* now the host has it too */
  g_assert_false(astro_box_place_choose(&place, &on_device, 1, device));

  astro_box_place_clear(&place);
  gst_buffer_unref(on_host);
  gst_buffer_unref(on_device);
  gst_buffer_unref(elsewhere);
  astro_memory_reap();
  device->funcs->queue_free(device, queue);
  other->funcs->queue_free(other, there);
  astro_device_unref(device);
  astro_device_unref(other);
  fake_check_nothing_left();
}

/* ---- what fails ---- */

static void test_failures(void)
{
  static const FakeCall calls[] = { FAKE_COPY, FAKE_RECORD, FAKE_QUEUE_WAIT, FAKE_QUEUE_NEW };
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
    AstroDevice *device = fake_device_new(6);
    AstroQueue *queue = device->funcs->queue_new(device, NULL);
    fake_hold(queue, TRUE); /* the copy has to wait for the block to be filled */
    GstBuffer *from = new_block(TEST_KILO, device, queue, 1),
              *out = astro_buffer_new(TEST_KILO, device);
    const AstroBox box = { .bytes = TEST_KILO };
    AstroBoxPlace place = { 0 };
    g_autoptr(GError) error = NULL;
    fake_fail(device, calls[i], 1);
    const gboolean chosen = astro_box_place_choose(&place, &from, 1, NULL);
    g_assert_cmpint(chosen, ==, calls[i] != FAKE_QUEUE_NEW);
    if (chosen) {
      g_assert_false(astro_box_copy(&place, &from, &box, 1, out, FALSE, &error));
      g_assert_nonnull(error);
    }
    fake_hold(queue, FALSE);
    gst_buffer_unref(from);
    gst_buffer_unref(out);
    astro_box_place_clear(&place);
    astro_memory_reap();
    device->funcs->queue_free(device, queue);
    astro_device_unref(device);
    fake_check_nothing_left();
  }
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/box/random", test_random);
  g_test_add_func("/box/simplify", test_simplify);
  g_test_add_func("/box/place", test_place);
  g_test_add_func("/box/failures", test_failures);
  return g_test_run();
}
