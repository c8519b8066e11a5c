/* Memory used at random, compared with a plain model of the bytes, and by several threads at
 * once. */
#include "tests/core/memory/memory.h"
#include "core/backend/device.h"

/* The random test: memories, each with the bytes that it should have. */
typedef struct {
  guint holders;
  guint8 bytes[];
} Model;

typedef struct {
  GstMemory *memory;
  Model *model; /* of the whole block */
} Item;

typedef struct {
  guint32 seed;
  guint operations;
  AstroDevice *devices[2];
  AstroQueue *queues[2][3];
  GArray *items;
  GRand *random;
} Session;

static void add_item(Session *session, GstMemory *memory, Model *model)
{
  const Item item = { memory, model };
  model->holders++;
  g_array_append_val(session->items, item);
}

static void add_new(Session *session)
{
  const gsize bytes = (gsize)g_rand_int_range(session->random, 1, 3000);
  GstAllocationParams params = { .prefix = g_rand_boolean(session->random) ? 0 : 10 };
  GstMemory *memory = astro_memory_new_full(
      bytes, &params, g_rand_boolean(session->random) ? session->devices[0] : NULL);
  Model *model = g_malloc0(sizeof(Model) + memory->maxsize);
  GstMapInfo map;
  gst_memory_resize(memory, -(gssize)memory->offset, memory->maxsize);
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data, 0, map.size);
  gst_memory_unmap(memory, &map);
  add_item(session, memory, model);
}

static void drop_item(Session *session, guint index)
{
  Item *item = &g_array_index(session->items, Item, index);
  gst_memory_unref(item->memory);
  if (--item->model->holders == 0)
    g_free(item->model);
  g_array_remove_index_fast(session->items, index);
}

/* Parts are read-only, and so is a memory with several parts. */
static gboolean can_write(GstMemory *memory)
{
  return !GST_MEMORY_IS_READONLY(memory) && gst_memory_is_writable(memory);
}

static void random_host(Session *session, Item *item, GstMapFlags flags)
{
  GstMapInfo map;
  guint8 *expected = item->model->bytes + item->memory->offset;
  const guint32 seed = g_rand_int(session->random);
  if ((flags & GST_MAP_WRITE) && !can_write(item->memory)) {
    g_assert_false(gst_memory_map(item->memory, &map, flags));
    return;
  }
  g_assert_true(gst_memory_map(item->memory, &map, flags));
  if (flags & GST_MAP_READ)
    g_assert_cmpmem(map.data, map.size, expected, map.size);
  if (flags == GST_MAP_READWRITE) {
    const gsize start = map.size / 3;
    test_fill(map.data + start, map.size - start, seed);
    test_fill(expected + start, map.size - start, seed);
  } else if (flags & GST_MAP_WRITE) {
    test_fill(map.data, map.size, seed);
    test_fill(expected, map.size, seed);
  }
  gst_memory_unmap(item->memory, &map);
}

static void random_device(Session *session, Item *item, GstMapFlags flags)
{
  const guint which = g_rand_int_range(session->random, 0, 8) == 0;
  AstroDevice *device = session->devices[which];
  AstroQueue *queue = session->queues[which][g_rand_int_range(session->random, 0, 3)];
  guint8 *expected = item->model->bytes + item->memory->offset;
  const gsize bytes = item->memory->size;
  const gpointer seed = GUINT_TO_POINTER(g_rand_int(session->random));
  gpointer face;
  g_autoptr(GError) error = NULL;
  if ((flags & GST_MAP_WRITE) && !can_write(item->memory)) {
    g_assert_false(astro_memory_acquire(item->memory, device, queue, flags, &face, &error));
    g_assert_nonnull(error);
    return;
  }
  astro_memory_acquire(item->memory, device, queue, flags, &face, &error);
  g_assert_no_error(error);
  if (flags & GST_MAP_READ)
    fake_queue_kernel(device, queue, fake_kernel_compare, face, bytes, g_memdup2(expected, bytes),
                      g_free);
  if (flags == GST_MAP_READWRITE) {
    fake_queue_kernel(device, queue, fake_kernel_change, face, bytes, seed, NULL);
    fake_kernel_change(expected, bytes, seed);
  } else if (flags & GST_MAP_WRITE) {
    fake_queue_kernel(device, queue, fake_kernel_fill, face, bytes, seed, NULL);
    fake_kernel_fill(expected, bytes, seed);
  }
  astro_memory_release(item->memory, queue, flags, g_rand_boolean(session->random), &error);
  g_assert_no_error(error);
}

static void random_part(Session *session, Item *item)
{
  const gsize size = item->memory->size;
  const gsize offset = (gsize)g_rand_int_range(session->random, 0, (gint)size + 1);
  const gsize bytes = (gsize)g_rand_int_range(session->random, 0, (gint)(size - offset) + 1);
  add_item(session, gst_memory_share(item->memory, (gssize)offset, (gssize)bytes), item->model);
}

static void random_copy(Session *session, Item *item)
{
  GstMemory *copy = gst_memory_copy(item->memory, 0, -1);
  g_assert_cmpuint(copy->size, ==, item->memory->size);
  Model *model = g_malloc0(sizeof(Model) + copy->size);
  memcpy(model->bytes, item->model->bytes + item->memory->offset, copy->size);
  add_item(session, copy, model);
}

static void random_resize(Session *session, Item *item)
{
  GstMemory *memory = item->memory;
  if (!gst_memory_is_writable(memory))
    return;
  const gsize offset = g_rand_boolean(session->random)
                           ? 0
                           : (gsize)g_rand_int_range(session->random, 0, (gint)memory->maxsize + 1);
  const gsize size = offset == 0 ? memory->maxsize
                                 : (gsize)g_rand_int_range(session->random, 0,
                                                           (gint)(memory->maxsize - offset) + 1);
  gst_memory_resize(memory, (gssize)offset - (gssize)memory->offset, size);
}

static gpointer run_session(gpointer data)
{
  static const GstMapFlags flags[] = { GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE };
  Session *session = data;
  session->random = g_rand_new_with_seed(session->seed);
  session->items = g_array_new(FALSE, FALSE, sizeof(Item));
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < 3; j++)
      session->queues[i][j] = session->devices[i]->funcs->queue_new(session->devices[i], NULL);

  for (guint i = 0; i < session->operations; i++) {
    if (session->items->len == 0 ||
        (session->items->len < 12 && g_rand_int(session->random) < 1u << 26))
      add_new(session);
    const guint index = (guint)g_rand_int_range(session->random, 0, (gint)session->items->len);
    Item item = g_array_index(session->items, Item, index);
    const GstMapFlags access = flags[g_rand_int_range(session->random, 0, 3)];
    const gint choice = g_rand_int_range(session->random, 0, 100);
    if (choice < 30)
      random_host(session, &item, access);
    else if (choice < 80)
      random_device(session, &item, access);
    else if (choice < 84 && session->items->len < 16)
      random_part(session, &item);
    else if (choice < 87 && session->items->len < 16)
      random_copy(session, &item);
    else if (choice < 92)
      random_resize(session, &item);
    else if (choice < 93)
      g_assert_true(astro_memory_settle(item.memory, NULL));
    else if (choice < 98)
      drop_item(session, index);
  }
  while (session->items->len > 0)
    drop_item(session, 0);
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < 3; j++)
      session->devices[i]->funcs->queue_free(session->devices[i], session->queues[i][j]);
  g_array_unref(session->items);
  g_rand_free(session->random);
  return NULL;
}

static void test_random(void)
{
  for (guint32 seed = 0; seed < 6; seed++) {
    Session session = { .seed = seed,
                        .operations = 2000,
                        .devices = { fake_device_new(seed), fake_device_new(~seed) } };
    run_session(&session);
    astro_device_unref(session.devices[0]);
    astro_device_unref(session.devices[1]);
    fake_check_nothing_left();
  }
}

static void test_random_in_threads(void)
{
  AstroDevice *devices[] = { fake_device_new(10), fake_device_new(11) };
  Session sessions[4];
  pthread_t threads[4];
  for (guint i = 0; i < 4; i++) {
    sessions[i] =
        (Session){ .seed = 100 + i, .operations = 800, .devices = { devices[0], devices[1] } };
    g_assert_cmpint(pthread_create(&threads[i], NULL, run_session, &sessions[i]), ==, 0);
  }
  for (guint i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  astro_device_unref(devices[0]);
  astro_device_unref(devices[1]);
  fake_check_nothing_left();
}

/* Several threads read one block in every way there is, on both devices. */
typedef struct {
  AstroDevice *device;
  AstroQueue *queue;
  GstMemory *memory;
  pthread_barrier_t *barrier;
  guint rounds, index;
} Reader;

static gpointer read_rounds(gpointer data)
{
  Reader *reader = data;
  for (guint32 round = 0; round < reader->rounds; round++) {
    pthread_barrier_wait(reader->barrier);
    GstMemory *part = gst_memory_share(reader->memory, 0, -1), *copy;
    switch ((round + reader->index) % 4) {
    case 0:
      test_host_compare(part, round);
      break;
    case 1:
      copy = gst_memory_copy(part, 0, -1);
      test_host_compare(copy, round);
      gst_memory_unref(copy);
      break;
    default:
      test_device_compare(part, reader->device, reader->queue, round);
    }
    test_device_compare(part, reader->device, reader->queue, round);
    gst_memory_unref(part);
    pthread_barrier_wait(reader->barrier);
  }
  return NULL;
}

static void test_threads_share_a_block(void)
{
  AstroDevice *devices[] = { fake_device_new(12), fake_device_new(13) };
  Reader readers[4];
  pthread_t threads[4];
  pthread_barrier_t barrier;
  GstMemory *memory = astro_memory_new(2 * TEST_KILO, devices[0]);
  pthread_barrier_init(&barrier, NULL, 5);
  for (guint i = 0; i < 4; i++) {
    AstroDevice *device = devices[i == 3];
    readers[i] = (Reader){ .device = device,
                           .queue = device->funcs->queue_new(device, NULL),
                           .memory = memory,
                           .barrier = &barrier,
                           .rounds = 60,
                           .index = i };
    g_assert_cmpint(pthread_create(&threads[i], NULL, read_rounds, &readers[i]), ==, 0);
  }
  for (guint32 round = 0; round < 60; round++) {
    if (round % 3 == 0)
      test_host_fill(memory, round);
    else
      test_device_fill(memory, devices[round % 5 == 0], devices[round % 5 == 0]->up, round,
                       round % 2 == 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  for (guint i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&barrier);
  gst_memory_unref(memory);
  astro_device_unref(devices[0]);
  astro_device_unref(devices[1]);
  fake_check_nothing_left();
}

/* Threads drop and read parts of blocks that others release: the last one frees. */
static gpointer read_and_drop(gpointer data)
{
  GstMemory *part = data;
  test_host_compare(part, 5);
  gst_memory_unref(part);
  return NULL;
}

static void test_threads_let_go(void)
{
  AstroDevice *device = fake_device_new(14);
  for (guint round = 0; round < 20; round++) {
    GstMemory *memory = astro_memory_new(TEST_KILO, device);
    pthread_t threads[3];
    test_device_fill(memory, device, device->up, 5, FALSE);
    for (guint i = 0; i < 3; i++)
      g_assert_cmpint(
          pthread_create(&threads[i], NULL, read_and_drop, gst_memory_share(memory, 0, -1)), ==, 0);
    gst_memory_unref(memory);
    for (guint i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
  }
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void add_tests(void)
{
  g_test_add_func("/memory/random", test_random);
  g_test_add_func("/memory/random-in-threads", test_random_in_threads);
  g_test_add_func("/memory/threads-share-a-block", test_threads_share_a_block);
  g_test_add_func("/memory/threads-let-go", test_threads_let_go);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
