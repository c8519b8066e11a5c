/* The pool: never more blocks than allowed, and none that queued work still touches. */
#include "core/backend/device.h"
#include "core/memory/faces.h"
#include "core/memory/pool.h"
#include "core/stream/validity.h"
#include "tests/core/memory/memory.h"

#define BYTES 4096

static void stop(GstBufferPool *pool)
{
  g_assert_true(gst_buffer_pool_set_active(pool, FALSE));
  gst_object_unref(pool);
}

static GstBuffer *acquire(GstBufferPool *pool)
{
  GstBuffer *buffer = NULL;
  g_assert_cmpint(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), ==, GST_FLOW_OK);
  return buffer;
}

static GstFlowReturn try_acquire(GstBufferPool *pool, GstBuffer **buffer)
{
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  return gst_buffer_pool_acquire_buffer(pool, buffer, &params);
}

static void device_change(GstBuffer *buffer, AstroDevice *device, AstroQueue *queue)
{
  gpointer face;
  g_autoptr(GError) error = NULL;
  astro_buffer_acquire(&buffer, device, queue, GST_MAP_READWRITE, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, queue, fake_kernel_change, face, BYTES, GUINT_TO_POINTER(1), NULL);
  astro_buffer_release(buffer, queue, GST_MAP_READWRITE, TRUE, &error);
  g_assert_no_error(error);
}

static void test_configuration(void)
{
  GstBufferPool *pool = astro_buffer_pool_new(NULL);
  GstAllocationParams params = { .align = 1023, .prefix = 100, .padding = 10 };
  g_autoptr(GstAllocator) asked = gst_allocator_find(GST_ALLOCATOR_SYSMEM);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, NULL, BYTES, 2, 3);
  gst_buffer_pool_config_set_allocator(config, asked, &params);
  g_assert_true(gst_buffer_pool_set_config(pool, config));
  g_assert_true(gst_buffer_pool_set_active(pool, TRUE));
  g_assert_cmpuint(test_count().blocks, ==, 2);

  GstBuffer *buffers[3];
  for (guint i = 0; i < 3; i++) {
    buffers[i] = acquire(pool);
    gsize offset;
    g_assert_cmpuint(gst_buffer_get_sizes(buffers[i], &offset, NULL), ==, BYTES);
    g_assert_cmpuint(offset, ==, 1024);
    g_assert_true(astro_memory_is(gst_buffer_peek_memory(buffers[i], 0)));
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffers[i], &map, GST_MAP_WRITE));
    g_assert_cmpuint((guintptr)map.data & 1023, ==, 0);
    memset(map.data, 1, map.size);
    gst_buffer_unmap(buffers[i], &map);
  }
  GstBuffer *none = NULL;
  g_assert_cmpint(try_acquire(pool, &none), ==, GST_FLOW_EOS);
  g_assert_cmpuint(test_count().blocks, ==, 3);

  /* However a buffer was cut, it comes back whole. */
  gst_buffer_resize(buffers[0], -50, 70);
  gst_buffer_unref(buffers[0]);
  buffers[0] = acquire(pool);
  gsize offset;
  g_assert_cmpuint(gst_buffer_get_sizes(buffers[0], &offset, NULL), ==, BYTES);
  g_assert_cmpuint(offset, ==, 1024);
  g_assert_cmpuint(test_count().blocks, ==, 3);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref(buffers[i]);
  stop(pool);

  g_assert_null(astro_buffer_pool_new_active(NULL, NULL, BYTES, 3, 2));
  fake_check_nothing_left();
}

/* Blocks come out again only with nothing queued on them, and a pool with none left waits. */
static void test_reuse_waits_for_the_device(void)
{
  AstroDevice *device = fake_device_new(1);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  GstBufferPool *pool =
      astro_buffer_pool_new_active(device, NULL, BYTES, ASTRO_POOL_DEPTH, ASTRO_POOL_DEPTH);
  const AstroMemoryCounters before = test_count();
  g_assert_cmpuint(before.locked, ==, ASTRO_POOL_DEPTH * BYTES);
  for (guint32 i = 0; i < 300; i++) {
    GstBuffer *buffer = acquire(pool);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    g_assert_false(fake_host_busy(device, map.data, map.size));
    test_fill(map.data, map.size, i);
    gst_buffer_unmap(buffer, &map);
    device_change(buffer, device, queue);
    if (i % 3 == 0)
      device_change(buffer, device, device->up);
    if (i % 7 == 0) {
      g_autofree guint8 *expected = g_malloc(BYTES);
      test_fill(expected, BYTES, i);
      fake_kernel_change(expected, BYTES, GUINT_TO_POINTER(1));
      if (i % 3 == 0)
        fake_kernel_change(expected, BYTES, GUINT_TO_POINTER(1));
      g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
      g_assert_cmpmem(map.data, map.size, expected, BYTES);
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
    g_assert_cmpuint(test_count().blocks, ==, before.blocks);
  }
  g_assert_cmpuint(test_count().device_bytes, ==, ASTRO_POOL_DEPTH * BYTES);
  stop(pool);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* A queue between threads made of what ThreadSanitizer knows. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  GstBuffer *slots[8];
  guint n;
  gboolean closed;
  GstBufferPool *pool;
  AstroDevice *device;
  AstroQueue *queue;
  guint count;
} Link;

static void link_push(Link *link, GstBuffer *buffer)
{
  pthread_mutex_lock(&link->lock);
  while (link->n == G_N_ELEMENTS(link->slots))
    pthread_cond_wait(&link->changed, &link->lock);
  link->slots[link->n++] = buffer;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->lock);
}

static GstBuffer *link_pop(Link *link)
{
  GstBuffer *buffer = NULL;
  pthread_mutex_lock(&link->lock);
  while (link->n == 0 && !link->closed)
    pthread_cond_wait(&link->changed, &link->lock);
  if (link->n > 0) {
    buffer = link->slots[0];
    memmove(link->slots, link->slots + 1, --link->n * sizeof link->slots[0]);
    pthread_cond_broadcast(&link->changed);
  }
  pthread_mutex_unlock(&link->lock);
  return buffer;
}

static gpointer consume(gpointer data)
{
  Link *link = data;
  GstBuffer *buffer;
  g_autofree guint8 *expected = g_malloc(BYTES);
  for (guint32 i = 0; (buffer = link_pop(link)) != NULL; i++) {
    GstMapInfo map;
    test_fill(expected, BYTES, i);
    fake_kernel_change(expected, BYTES, GUINT_TO_POINTER(1));
    if (i % 4 == 1) {
      gpointer face;
      g_assert_true(
          astro_buffer_acquire(&buffer, link->device, link->queue, GST_MAP_READ, &face, NULL));
      fake_queue_kernel(link->device, link->queue, fake_kernel_compare, face, BYTES,
                        g_memdup2(expected, BYTES), g_free);
      g_assert_true(astro_buffer_release(buffer, link->queue, GST_MAP_READ, FALSE, NULL));
    } else if (i % 4 > 1) { /* the others are dropped unread, with work still queued on them */
      g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
      g_assert_cmpmem(map.data, map.size, expected, BYTES);
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
    link->count++;
  }
  return NULL;
}

/* A source, a device stage and a sink in two threads: only the pool holds the source back. */
static void test_back_pressure_in_threads(void)
{
  AstroDevice *device = fake_device_new(2);
  Link link = { .device = device, .queue = device->funcs->queue_new(device, NULL) };
  pthread_t thread;
  pthread_mutex_init(&link.lock, NULL);
  pthread_cond_init(&link.changed, NULL);
  GstBufferPool *pool = astro_buffer_pool_new_active(device, NULL, BYTES, 0, ASTRO_POOL_DEPTH);
  g_assert_cmpint(pthread_create(&thread, NULL, consume, &link), ==, 0);
  for (guint32 i = 0; i < 500; i++) {
    GstBuffer *buffer = acquire(pool);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    test_fill(map.data, map.size, i);
    gst_buffer_unmap(buffer, &map);
    device_change(buffer, device, device->up);
    link_push(&link, buffer);
    g_assert_cmpuint(test_count().blocks, <=, ASTRO_POOL_DEPTH);
  }
  pthread_mutex_lock(&link.lock);
  link.closed = TRUE;
  pthread_cond_broadcast(&link.changed);
  pthread_mutex_unlock(&link.lock);
  pthread_join(thread, NULL);
  g_assert_cmpuint(link.count, ==, 500);
  stop(pool);
  astro_device_unref(device);
  pthread_cond_destroy(&link.changed);
  pthread_mutex_destroy(&link.lock);
  fake_check_nothing_left();
}

typedef struct {
  GstBufferPool *pool;
  GstFlowReturn flow;
  gint started, ended;
} Waiter;

static gpointer wait_for_buffer(gpointer data)
{
  Waiter *waiter = data;
  GstBuffer *buffer = NULL;
  __atomic_store_n(&waiter->started, 1, __ATOMIC_SEQ_CST);
  waiter->flow = gst_buffer_pool_acquire_buffer(waiter->pool, &buffer, NULL);
  __atomic_store_n(&waiter->ended, 1, __ATOMIC_SEQ_CST);
  if (buffer != NULL)
    gst_buffer_unref(buffer);
  return NULL;
}

static pthread_t start_waiter(Waiter *waiter, GstBufferPool *pool)
{
  pthread_t thread;
  *waiter = (Waiter){ .pool = pool };
  g_assert_cmpint(pthread_create(&thread, NULL, wait_for_buffer, waiter), ==, 0);
  while (!__atomic_load_n(&waiter->started, __ATOMIC_SEQ_CST))
    g_usleep(100);
  g_usleep(5000);
  g_assert_cmpint(__atomic_load_n(&waiter->ended, __ATOMIC_SEQ_CST), ==, 0);
  return thread;
}

static void test_empty_pool_waits(void)
{
  GstBufferPool *pool = astro_buffer_pool_new_active(NULL, NULL, BYTES, 1, 1);
  Waiter waiter;
  GstBuffer *buffer = acquire(pool);
  pthread_t thread = start_waiter(&waiter, pool);
  gst_buffer_unref(buffer);
  pthread_join(thread, NULL);
  g_assert_cmpint(waiter.flow, ==, GST_FLOW_OK);

  buffer = acquire(pool);
  thread = start_waiter(&waiter, pool);
  gst_buffer_pool_set_flushing(pool, TRUE);
  pthread_join(thread, NULL);
  g_assert_cmpint(waiter.flow, ==, GST_FLOW_FLUSHING);
  gst_buffer_pool_set_flushing(pool, FALSE);
  gst_buffer_unref(buffer);
  gst_buffer_unref(acquire(pool));
  stop(pool);
  fake_check_nothing_left();
}

/* Flushed or stopped while it waits for a buffer: no buffer is given out, none is lost. */
static void test_flush_while_settling(void)
{
  for (guint stopped = 0; stopped < 2; stopped++) {
    AstroDevice *device = fake_device_new(3);
    AstroQueue *queue = device->funcs->queue_new(device, NULL);
    GstBufferPool *pool = astro_buffer_pool_new_active(device, NULL, BYTES, 1, 1);
    GstBuffer *buffer = acquire(pool);
    fake_hold(queue, TRUE);
    device_change(buffer, device, queue);
    gst_buffer_unref(buffer);
    Waiter waiter;
    pthread_t thread = start_waiter(&waiter, pool);
    if (stopped)
      gst_buffer_pool_set_active(pool, FALSE);
    else
      gst_buffer_pool_set_flushing(pool, TRUE);
    fake_hold(queue, FALSE);
    pthread_join(thread, NULL);
    g_assert_cmpint(waiter.flow, ==, GST_FLOW_FLUSHING);
    if (stopped)
      gst_buffer_pool_set_active(pool, TRUE);
    else
      gst_buffer_pool_set_flushing(pool, FALSE);
    gst_buffer_unref(acquire(pool));
    g_assert_cmpuint(test_count().blocks, ==, 1);
    stop(pool);
    astro_device_unref(device);
    fake_check_nothing_left();
  }
}

/* The pool may go before its buffers, and the device before the pool. */
static void test_buffers_outlive_the_pool(void)
{
  AstroDevice *device = fake_device_new(4);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  GstBufferPool *pool = astro_buffer_pool_new_active(device, NULL, BYTES, 2, 3);
  GstBuffer *first = acquire(pool), *second = acquire(pool);
  fake_hold(queue, TRUE);
  device_change(first, device, queue);
  astro_device_unref(device);
  stop(pool);
  gst_buffer_unref(first);
  fake_hold(queue, FALSE);
  gst_buffer_unref(second);
  fake_check_nothing_left();
}

/* A buffer that comes back shared, or with other memory, is neither given out again nor leaked. */
static void test_changed_buffers_are_dropped(void)
{
  GstBufferPool *pool = astro_buffer_pool_new_active(NULL, NULL, BYTES, 1, 1);
  GstBuffer *buffer = acquire(pool);
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  GstBuffer *part = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 10, 100);
  gst_buffer_unref(buffer);
  buffer = acquire(pool);
  g_assert_true(gst_buffer_peek_memory(buffer, 0) != memory);
  g_assert_cmpuint(test_count().blocks, ==, 2);
  gst_buffer_unref(part);
  g_assert_cmpuint(test_count().blocks, ==, 1);

  gst_buffer_replace_all_memory(buffer, gst_allocator_alloc(NULL, BYTES, NULL));
  gst_buffer_unref(buffer);
  g_assert_cmpuint(test_count().blocks, ==, 0);
  buffer = acquire(pool);
  g_assert_true(astro_memory_is(gst_buffer_peek_memory(buffer, 0)));
  gst_buffer_unref(buffer);
  stop(pool);
  fake_check_nothing_left();
}

static void test_failed_device(void)
{
  AstroDevice *device = fake_device_new(5);
  GstBufferPool *pool = astro_buffer_pool_new_active(device, NULL, BYTES, 1, 1);
  GstBuffer *buffer = acquire(pool);
  gpointer face;
  g_assert_true(astro_buffer_acquire(&buffer, device, device->up, GST_MAP_WRITE, &face, NULL));
  fake_fail(device, FAKE_RECORD, 1);
  g_assert_false(astro_buffer_release(buffer, device->up, GST_MAP_WRITE, FALSE, NULL));
  gst_buffer_unref(buffer);
  g_assert_cmpint(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), ==, GST_FLOW_ERROR);
  gst_buffer_unref(acquire(pool)); /* a new block */
  stop(pool);
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void test_counts_are_cleared_and_kept(void)
{
  GstBufferPool *pool = astro_buffer_pool_new_active(NULL, NULL, BYTES, 1, 1);
  const AstroLayout shape = { 1, { ASTRO_AXIS_TIME }, { 64 } };
  GstBuffer *buffer = acquire(pool);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 7);
  meta->counts[3] = 1;
  g_autoptr(GstCaps) clock = gst_caps_new_empty_simple("timestamp/x-test");
  gst_buffer_add_reference_timestamp_meta(buffer, clock, 1, 1);
  const gsize capacity = meta->capacity;
  gst_buffer_unref(buffer);

  buffer = acquire(pool);
  g_assert_null(astro_buffer_get_validity(buffer));
  g_assert_true(gst_buffer_get_meta(buffer, ASTRO_VALIDITY_META_API) == (GstMeta *)meta);
  g_assert_cmpuint(meta->capacity, ==, capacity);
  g_assert_null(gst_buffer_get_reference_timestamp_meta(buffer, NULL));
  g_assert_true(astro_buffer_add_validity(buffer, &shape, 9) == meta);
  g_assert_cmpuint(meta->counts[3], ==, 9);
  gst_buffer_unref(buffer);
  stop(pool);
  fake_check_nothing_left();
}

/* Blocks above 4 GiB, such as the visibilities of 1024 stations in 256 channels, are used again as
 * others are, whole, also after someone has cut one. Only their ends are touched. */
static void test_above_4_gib(void)
{
  const gsize bytes = ((gsize)G_MAXUINT + 1) + 4096;
  gpointer first = NULL, room = g_try_malloc(bytes);
  if (!room) {
    g_test_skip("so much memory may not be asked for here");
    return;
  }
  g_free(room);
  GstBufferPool *pool = astro_buffer_pool_new_active(NULL, NULL, bytes, 1, 0);
  GstBuffer *buffer = NULL;
  g_assert_nonnull(pool);
  for (guint i = 0; i < 3; i++) {
    GstMapInfo map;
    g_assert_cmpint(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), ==, GST_FLOW_OK);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, bytes);
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    g_assert_cmpuint(map.size, ==, bytes);
    map.data[0] = map.data[bytes - 1] = (guint8)i;
    first = i == 0 ? map.data : first;
    g_assert_true(map.data == first);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_resize(buffer, 64 * i, 128);
    gst_clear_buffer(&buffer);
  }
  g_assert_cmpuint(astro_buffer_pool_made(pool), ==, 1);
  astro_buffer_pool_clear(&pool);
}

/* Pools grow by blocks for a device at work, unless they are to keep few. */
static void test_keep_few(void)
{
  const gsize bytes = (gsize)1 << 20;
  g_assert_cmpuint(astro_pool_most_busy(bytes), >, 4);
  astro_pools_keep_few(TRUE);
  g_assert_cmpuint(astro_pool_most_busy(bytes), ==, 0);
  astro_pools_keep_few(FALSE);
  g_assert_cmpuint(astro_pool_most_busy(bytes), >, 4);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pool/above-4-gib", test_above_4_gib);
  g_test_add_func("/pool/configuration", test_configuration);
  g_test_add_func("/pool/reuse-waits-for-the-device", test_reuse_waits_for_the_device);
  g_test_add_func("/pool/back-pressure-in-threads", test_back_pressure_in_threads);
  g_test_add_func("/pool/empty-pool-waits", test_empty_pool_waits);
  g_test_add_func("/pool/flush-while-settling", test_flush_while_settling);
  g_test_add_func("/pool/buffers-outlive-the-pool", test_buffers_outlive_the_pool);
  g_test_add_func("/pool/changed-buffers-are-dropped", test_changed_buffers_are_dropped);
  g_test_add_func("/pool/failed-device", test_failed_device);
  g_test_add_func("/pool/counts-are-cleared-and-kept", test_counts_are_cleared_and_kept);
  g_test_add_func("/pool/keep-few", test_keep_few);
  return g_test_run();
}
