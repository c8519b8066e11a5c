/* The OpenCL module's devices, addresses, programs and failures. Skipped without an OpenCL device.
 */
#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "core/transpose/transpose.h"
#include "tests/core/box.h"
#include "tests/device.h"
#include "tests/remove-all.h"
#include "tests/tests.h"

#include <glib/gstdio.h>

static const AstroTransposeConfig config = { 2, { 40, 50 }, { 1, 0 }, 4 };
#define BYTES (40 * 50 * 4)

/* Opens a stage at a place of its own; NULL, with an error, if its create fails. */
static gpointer open_transpose(AstroDevice *device, const AstroTransposeConfig *of,
                               AstroPlace *place, GError **error)
{
  const AstroBackend *backend = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "transpose");
  const char *variant;
  *place = (AstroPlace){ .device = device, .queue = device->funcs->queue_new(device, NULL) };
  return backend->create(of, place, &variant, error);
}

static void transpose(AstroDevice *device, gpointer in, gpointer out)
{
  const AstroBackend *backend = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "transpose");
  g_autoptr(GError) error = NULL;
  AstroPlace place;
  gpointer instance = open_transpose(device, &config, &place, &error);
  g_assert_no_error(error);
  const AstroBlock from = { in, BYTES }, to = { out, BYTES };
  backend->submit(instance, &from, 1, &to, 1, NULL, NULL, &error);
  g_assert_no_error(error);
  AstroEvent *event = device->funcs->event_record(device, place.queue, &error);
  g_assert_true(device->funcs->event_wait(device, event, &error));
  g_assert_true(device->funcs->event_done(device, event));
  device->funcs->event_free(device, event);
  backend->destroy(instance);
  device->funcs->queue_free(device, place.queue);
}

/* Blocks of the memory go up, through two stages and down again; of the copies between, there are
 * none. */
static void test_chain(void)
{
  g_autoptr(GError) error = NULL;
  AstroDevice *device = test_find_opencl(&error);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  const AstroBackend *backend = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "transpose");
  const AstroTransposeConfig back = { 2, { 50, 40 }, { 1, 0 }, 4 };
  const AstroTransposeConfig *steps[] = { &config, &back };
  GstMemory *blocks[3];
  AstroMemoryCounters before, after;
  GstMapInfo map;
  guint8 expected[BYTES];

  test_fill(expected, BYTES, 7);
  for (guint i = 0; i < 3; i++)
    blocks[i] = astro_memory_new(BYTES, device);
  gst_memory_map(blocks[0], &map, GST_MAP_WRITE);
  memcpy(map.data, expected, BYTES);
  gst_memory_unmap(blocks[0], &map);
  astro_memory_counters(&before);
  for (guint i = 0; i < 2; i++) {
    AstroPlace place = { .device = device, .queue = queue };
    const char *variant;
    gpointer instance = backend->create(steps[i], &place, &variant, &error);
    AstroBlock in = { NULL, BYTES }, out = { NULL, BYTES };
    g_assert_true(
        astro_memory_acquire(blocks[i], device, queue, GST_MAP_READ, &in.data, &error) &&
        astro_memory_acquire(blocks[i + 1], device, queue, GST_MAP_WRITE, &out.data, &error) &&
        backend->submit(instance, &in, 1, &out, 1, NULL, NULL, &error) &&
        astro_memory_release(blocks[i + 1], queue, GST_MAP_WRITE, FALSE, &error) &&
        astro_memory_release(blocks[i], queue, GST_MAP_READ, FALSE, &error));
    backend->destroy(instance);
  }
  astro_memory_counters(&after);
  g_assert_cmpuint(after.copies_up - before.copies_up, ==, 1);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, 0);
  g_assert_cmpuint(after.host_waits - before.host_waits, ==, 0);
  gint index;
  gpointer face = blocks;
  g_assert_true(astro_memory_look(blocks[2], &index, &face, &error));
  g_assert_null(face); /* such an address is of no use to other libraries */
  gst_memory_map(blocks[2], &map, GST_MAP_READ);
  g_assert_cmpmem(map.data, BYTES, expected, BYTES);
  gst_memory_unmap(blocks[2], &map);
  for (guint i = 0; i < 3; i++)
    gst_memory_unref(blocks[i]);
  astro_memory_reap();
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
}

/* Allocations of many sizes, freed in another order: an offset into one of them is never taken for
 * another. */
static void test_addresses(void)
{
  AstroDevice *device = test_find_opencl(NULL);
  AstroDeviceMemory before, now;
  guint8 *faces[20];
  device->funcs->memory(device, &before, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    g_assert_true(
        device->funcs->alloc(device, 2 * BYTES + 4096 * i + i, (gpointer *)&faces[i], NULL));
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    for (guint k = 0; k < i; k++)
      g_assert_true(faces[i] + 2 * BYTES + 4096 * i + i < faces[k] ||
                    faces[k] + 2 * BYTES + 4096 * k + k < faces[i]);
  guint32 in[BYTES / 4], out[BYTES / 4];
  test_fill(in, BYTES, 3);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(faces); i += 7) {
    guint8 *face = faces[i];
    g_assert_true(device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, face, in, BYTES, NULL));
    AstroEvent *event = device->funcs->event_record(device, queue, NULL);
    g_assert_true(device->funcs->event_wait(device, event, NULL));
    device->funcs->event_free(device, event);
    transpose(device, face, face + BYTES);
    g_assert_true(
        device->funcs->queue_copy(device, queue, ASTRO_COPY_DOWN, out, face + BYTES, BYTES, NULL));
    event = device->funcs->event_record(device, queue, NULL);
    g_assert_true(device->funcs->event_wait(device, event, NULL));
    device->funcs->event_free(device, event);
    for (guint k = 0; k < BYTES / 4; k++)
      g_assert_cmphex(out[k], ==, in[k % 40 * 50 + k / 40]);
  }
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    device->funcs->free(device, faces[(i * 7) % G_N_ELEMENTS(faces)]);
  device->funcs->memory(device, &now, NULL);
  g_assert_cmpuint(now.ours, ==, before.ours);
  g_autoptr(GError) error = NULL;
  g_assert_false(device->funcs->queue_copy(device, queue, ASTRO_COPY_DOWN, out, in, 4, &error));
  test_says(error->message, "is no address of memory on");
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
}

/* Blocks' host faces are the driver's, on pages of their own, and go back to it. One that is too
 * large for it is ordinary memory. */
static void test_host(void)
{
  g_autoptr(GError) error = NULL;
  AstroDevice *device = test_find_opencl(&error);
  static const gsize sizes[] = { 1, 100, 4096, 4097, 1 << 20, (3 << 20) + 5 };
  GstMemory *blocks[G_N_ELEMENTS(sizes)];
  AstroMemoryCounters before, during, after;
  gsize whole = 0;
  astro_memory_counters(&before);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstMapInfo map;
    blocks[i] = astro_memory_new(sizes[i], device);
    g_assert_true(astro_memory_is_locked(blocks[i]));
    g_assert_true(gst_memory_map(blocks[i], &map, GST_MAP_WRITE));
    g_assert_cmpuint((guintptr)map.data % 4096, ==, 0);
    test_fill(map.data, map.size, i);
    gst_memory_unmap(blocks[i], &map);
    whole += sizes[i];
  }
  astro_memory_counters(&during);
  g_assert_cmpuint(during.locked - before.locked, ==, whole);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree guint8 *expected = g_malloc(sizes[i]);
    GstMapInfo map;
    test_fill(expected, sizes[i], i);
    g_assert_true(gst_memory_map(blocks[i], &map, GST_MAP_READ));
    g_assert_cmpmem(map.data, map.size, expected, sizes[i]);
    gst_memory_unmap(blocks[i], &map);
    gst_memory_unref(blocks[i]);
  }
  astro_memory_reap();
  astro_memory_counters(&after);
  g_assert_cmpuint(after.locked, ==, before.locked);
  g_assert_null(device->funcs->alloc_host(device, G_MAXSIZE / 2, 4096, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  test_says(error->message, " bytes of the host");
  astro_device_unref(device);
}

static void test_no_room(void)
{
  AstroDevice *device = test_find_opencl(NULL);
  static const struct {
    const char *limit;
    gsize bytes;
    const char *says;
  } cases[] = {
    { "1M", 2 << 20, "a block needs 2097152 bytes of " },
    { "1M", 2 << 20, " of 1048576 are free" },
    { NULL, G_MAXSIZE / 2, "the largest that " },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    gpointer face;
    if (cases[i].limit)
      g_setenv("ASTRO_OPENCL_MEMORY", cases[i].limit, TRUE);
    g_assert_false(device->funcs->alloc(device, cases[i].bytes, &face, &error));
    g_unsetenv("ASTRO_OPENCL_MEMORY");
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
    test_says(error->message, cases[i].says);
    g_assert_null(face);
  }
  astro_device_unref(device);
}

/* ---- programs ---- */

static void test_compiler_fails(void)
{
  AstroDevice *device = test_find_opencl(NULL);
  const AstroTransposeConfig other = { 2, { 4, 5 }, { 1, 0 }, 1 };
  static const char *const options[] = { "-Dreturn=if", "--no-such-option" };
  for (guint i = 0; i < G_N_ELEMENTS(options); i++) {
    g_autoptr(GError) error = NULL;
    AstroPlace place;
    g_setenv("ASTRO_OPENCL_OPTIONS", options[i], TRUE);
    g_assert_null(open_transpose(device, &other, &place, &error));
    g_unsetenv("ASTRO_OPENCL_OPTIONS");
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE);
    /* Some compilers complain of an option by name, others refuse it by a code alone. */
    const gboolean is_code = i == 1 && !strstr(error->message, options[i]);
    test_says(error->message,
              is_code ? "CL_INVALID_BUILD_OPTIONS" : "does not compile transpose: ");
    test_says(error->message, device->name);
    device->funcs->queue_free(device, place.queue);
  }
  astro_device_unref(device);
}

static char *folder; /* the cache of this program */

/* Checks the programs that were kept, each behind its checksum, and damages them: other bytes in
 * the middle, or an early end. Returns how many. */
static guint damage(gboolean cut)
{
  g_autofree char *path = g_build_filename(folder, "gst-astro", "opencl", NULL);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  guint n = 0;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_autofree char *text = NULL;
    gsize bytes;
    g_assert_true(g_file_get_contents(file, &text, &bytes, NULL));
    g_autofree char *checksum =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *)text + 64, bytes - 64);
    g_assert_true(g_str_has_prefix(text, checksum));
    text[bytes / 2] ^= 1;
    g_assert_true(g_file_set_contents(file, text, (gssize)(cut ? bytes / 2 : bytes), NULL));
    n++;
  }
  return n;
}

/* Another process finds the cache as this one has left it, damaged. */
static void test_damaged_cache(void)
{
  if (g_test_subprocess()) {
    AstroDevice *device = test_find_opencl(NULL);
    g_autoptr(GError) error = NULL;
    AstroPlace place;
    gpointer instance = open_transpose(device, &config, &place, &error);
    g_assert_no_error(error);
    astro_module_backend_of(ASTRO_BACKEND_OPENCL, "transpose")->destroy(instance);
    device->funcs->queue_free(device, place.queue);
    astro_device_unref(device);
    return;
  }
  for (guint round = 0; round < 3; round++) {
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
    g_assert_cmpuint(damage(round == 1), ==, 1);
  }
}

static void test_doubles(void)
{
  const AstroBackend *convert = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "convert");
  const struct {
    gint from, to;
  } pair = { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CI8 };
  if (g_test_subprocess()) {
    g_setenv("ASTRO_OPENCL_DOUBLES", "no", TRUE);
    AstroDevice *device = test_find_opencl(NULL);
    AstroPlace place = { .device = device, .queue = device->funcs->queue_new(device, NULL) };
    g_autoptr(GError) error = NULL;
    const char *variant;
    g_assert_null(convert->create(&pair, &place, &variant, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    test_says(error->message, "convert computes in double precision, which ");
    device->funcs->queue_free(device, place.queue);
    astro_device_unref(device);
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

/* ---- without a device ---- */

static void test_no_platform(void)
{
  if (g_test_subprocess()) {
    g_autoptr(GError) error = NULL;
    g_setenv("ASTRO_TEST_OPENCL_VENDORS", "/nowhere", TRUE);
    g_assert_null(test_find_opencl(&error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE);
    test_says(error->message, "OpenCL");
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

/* A CPU is no choice of auto's, and the reason says so. */
static void test_auto(void)
{
  const AstroBackend *opencl = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "transpose");
  const AstroModule *module = astro_module_of(ASTRO_BACKEND_OPENCL, NULL);
  g_autoptr(GError) why_not = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *why = NULL;
  AstroDevice *device = NULL;
  const gboolean is_taken = module->is_for_auto(0, &why_not);
  const AstroBackend *chosen = astro_backend_choose(
      "transpose", astro_transpose_backends, ASTRO_BACKEND_AUTO, 0, &config, &device, &why, &error);
  g_assert_no_error(error);
  if (chosen->kind == ASTRO_BACKEND_CPU) {
    g_assert_false(is_taken);
    test_says(why, "auto takes cpu: ");
    test_says(why, why_not->message);
  } else if (chosen->kind == ASTRO_BACKEND_OPENCL) {
    g_assert_true(is_taken && chosen == opencl);
    test_says(why, "auto takes opencl on device 0: ");
  }
  g_clear_pointer(&device, astro_device_unref);
}

static void test_boxes(void)
{
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  test_random_boxes(device);
}

static void skip(void)
{
  g_test_skip("there is no OpenCL device");
}

int main(int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc func;
  } tests[] = {
    { "/opencl/chain", test_chain },
    { "/opencl/addresses", test_addresses },
    { "/opencl/host", test_host },
    { "/opencl/no-room", test_no_room },
    { "/opencl/compiler-fails", test_compiler_fails },
    { "/opencl/doubles", test_doubles },
    { "/opencl/damaged-cache", test_damaged_cache },
    { "/opencl/auto", test_auto },
    { "/opencl/boxes", test_boxes },
  };
  g_autoptr(GError) error = NULL;
  const char *above =
      g_getenv("ASTRO_TEST_OPENCL_CACHE"); /* of the program that started this one */
  folder = above ? g_strdup(above) : g_dir_make_tmp("astro-opencl-XXXXXX", NULL);
  g_setenv("ASTRO_TEST_OPENCL_CACHE", folder, TRUE);
  g_setenv("XDG_CACHE_HOME", folder, TRUE);
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/opencl/no-platform", test_no_platform);
  const gboolean asks = !g_test_subprocess();
  g_autoptr(AstroDevice) device = asks ? test_find_opencl(&error) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add_func(tests[i].path, device || !asks ? tests[i].func : skip);
  const int status = g_test_run();
  if (!above)
    test_remove_all(folder);
  g_free(folder);
  return status;
}
