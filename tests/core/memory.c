/* The two faces of AstroMemory, held against a plain model of the bytes on a device that does
 * everything late and in its own order. */
#include "tests/may-fail.h"
#include "tests/tests.h"
#include "tests/core/fake-device.h"

#define KILO 1024

static void host_fill(GstMemory *memory, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_WRITE));
  test_fill(map.data, map.size, seed);
  gst_memory_unmap(memory, &map);
}

static void host_compare(GstMemory *memory, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_READ));
  g_autofree guint8 *expected = g_malloc(map.size);
  test_fill(expected, map.size, seed);
  g_assert_cmpmem(map.data, map.size, expected, map.size);
  gst_memory_unmap(memory, &map);
}

static void device_fill(GstMemory *memory, AstroDevice *device, AstroQueue *queue, guint32 seed,
                        gboolean copy_down)
{
  g_autoptr(GError) error = NULL;
  gpointer face;
  astro_memory_acquire(memory, device, queue, GST_MAP_WRITE, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, queue, fake_kernel_fill, face, memory->size, GUINT_TO_POINTER(seed),
                    NULL);
  astro_memory_release(memory, queue, GST_MAP_WRITE, copy_down, &error);
  g_assert_no_error(error);
}

static void device_compare(GstMemory *memory, AstroDevice *device, AstroQueue *queue, guint32 seed)
{
  g_autoptr(GError) error = NULL;
  gpointer face;
  guint8 *expected = g_malloc(memory->size);
  test_fill(expected, memory->size, seed);
  astro_memory_acquire(memory, device, queue, GST_MAP_READ, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, queue, fake_kernel_compare, face, memory->size, expected, g_free);
  astro_memory_release(memory, queue, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
}

static AstroMemoryCounters count(void)
{
  AstroMemoryCounters counters;
  astro_memory_counters(&counters);
  return counters;
}

static void test_sizes_and_alignment(void)
{
  static const gsize sizes[] = {
    0, 1, 63, 64, 100, 4097, ASTRO_MEMORY_HUGE - 1, ASTRO_MEMORY_HUGE, ASTRO_MEMORY_HUGE + 5
  };
  static const gsize aligns[] = { 0, 15, 255, 8191 };
  static const gsize edges[] = { 0, 1, 64, 100 };
  g_autoptr(GstAllocator) allocator = astro_allocator_get();
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS(aligns); j++)
      for (guint k = 0; k < G_N_ELEMENTS(edges); k++) {
        GstAllocationParams params = { .align = aligns[j],
                                       .prefix = edges[k],
                                       .padding = edges[G_N_ELEMENTS(edges) - 1 - k],
                                       .flags = GST_MEMORY_FLAG_ZERO_PREFIXED |
                                                GST_MEMORY_FLAG_ZERO_PADDED };
        GstMemory *memory = gst_allocator_alloc(allocator, sizes[i], &params);
        g_assert_true(astro_memory_is(memory));
        g_assert_true(gst_memory_is_type(memory, ASTRO_MEMORY_TYPE));
        gsize offset, maxsize;
        g_assert_cmpuint(gst_memory_get_sizes(memory, &offset, &maxsize), ==, sizes[i]);
        g_assert_cmpuint(offset, ==, astro_memory_prefix(&params));
        g_assert_cmpuint(offset, >=, params.prefix);
        g_assert_cmpuint(maxsize, ==, offset + sizes[i] + params.padding);
        GstMapInfo map;
        g_assert_true(gst_memory_map(memory, &map, GST_MAP_READWRITE));
        g_assert_cmpuint((guintptr)map.data & (aligns[j] | 63), ==, 0);
        if (maxsize >= ASTRO_MEMORY_HUGE)
          g_assert_cmpuint((guintptr)(map.data - offset) & (ASTRO_MEMORY_HUGE - 1), ==, 0);
        for (gsize b = 1; b <= offset; b++)
          g_assert_cmpint(*(map.data - b), ==, 0);
        for (gsize b = 0; b < params.padding; b++)
          g_assert_cmpint(map.data[sizes[i] + b], ==, 0);
        memset(map.data, 1, map.maxsize);
        gst_memory_unmap(memory, &map);
        gst_memory_unref(memory);
      }

  GstAllocationParams large = { .prefix = G_MAXSIZE - 10, .padding = 100 };
  g_assert_null(astro_memory_new_full(1, &large, NULL));
  large.prefix = 0;
  g_assert_null(astro_memory_new_full(G_MAXSIZE - 10, &large, NULL));
  g_assert_null(astro_memory_new((gsize)1 << 60, NULL));
  fake_check_nothing_left();
}

static void test_parts_and_copies(void)
{
  GstMemory *memory = astro_memory_new(1000, NULL);
  host_fill(memory, 1);
  GstMemory *left = gst_memory_share(memory, 0, 300);
  GstMemory *right = gst_memory_share(left, 300, 700); /* a part's part counts from its parent's */
  g_assert_true(right->parent == memory);
  gsize offset = 0;
  g_assert_true(gst_memory_is_span(left, right, &offset));
  g_assert_cmpuint(offset, ==, 0);
  g_assert_false(gst_memory_is_span(right, left, NULL));

  GstMapInfo map, whole;
  g_assert_false(gst_memory_map(right, &map, GST_MAP_WRITE));
  g_assert_true(gst_memory_map(right, &map, GST_MAP_READ));
  g_assert_true(gst_memory_map(memory, &whole, GST_MAP_READ));
  g_assert_true(map.data == whole.data + 300);
  GstMemory *copy = gst_memory_copy(right, 10, -1);
  g_assert_cmpuint(copy->size, ==, 690);
  g_assert_null(copy->parent);
  GstMapInfo copied;
  g_assert_true(gst_memory_map(copy, &copied, GST_MAP_READWRITE));
  g_assert_cmpmem(copied.data, copied.size, whole.data + 310, 690);
  memset(copied.data, 0, copied.size);
  gst_memory_unmap(copy, &copied);
  gst_memory_unmap(memory, &whole);
  gst_memory_unmap(right, &map);
  host_compare(memory, 1);

  gst_memory_unref(memory); /* the parts keep it */
  host_compare(left, 1);
  gst_memory_unref(left);
  gst_memory_unref(right);
  gst_memory_unref(copy);
  fake_check_nothing_left();
}

static void test_page_locking(void)
{
  AstroDevice *device = fake_device_new(1);
  GstMemory *memory = astro_memory_new(5000, device);
  g_assert_true(astro_memory_is_locked(memory));
  g_assert_cmpuint(count().locked, ==, 5000);
  fake_fail(device, FAKE_LOCK, 1);
  GstMemory *slow = astro_memory_new(3000, device);
  g_assert_nonnull(slow);
  g_assert_false(astro_memory_is_locked(slow));
  g_assert_cmpuint(count().locked, ==, 5000);
  g_assert_cmpuint(count().bytes, ==, 8000);
  device_fill(slow, device, device->up, 3, TRUE);
  host_compare(slow, 3);
  gst_memory_unref(slow);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Which moves between faces are made, and that no others are. */
static void test_copies_only_where_needed(void)
{
  AstroDevice *device = fake_device_new(2);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  GstMemory *memory = astro_memory_new(4 * KILO, device);
  const AstroMemoryCounters before = count();
#define EXPECT_COPIES(up, down)                                                                    \
  g_assert_cmpuint(count().copies_up - before.copies_up, ==, up);                                  \
  g_assert_cmpuint(count().copies_down - before.copies_down, ==, down)

  host_fill(memory, 1);
  device_compare(memory, device, queue, 1);
  device_compare(memory, device, queue, 1);
  host_compare(memory, 1);
  EXPECT_COPIES(1, 0);
  device_fill(memory, device, queue, 2, FALSE);
  EXPECT_COPIES(1, 0);
  host_compare(memory, 2);
  host_compare(memory, 2);
  device_compare(memory, device, queue, 2);
  EXPECT_COPIES(1, 1);
  device_fill(memory, device, queue, 3, FALSE);
  host_fill(memory, 4); /* all of it: what the device wrote is of no use */
  EXPECT_COPIES(1, 1);
  device_fill(memory, device, queue, 5, FALSE); /* and the other way round */
  EXPECT_COPIES(1, 1);
  device_fill(memory, device, queue, 6, TRUE);
  EXPECT_COPIES(1, 2);
  host_compare(memory, 6);
  EXPECT_COPIES(1, 2);

  /* Writing a part keeps the rest, on either side. */
  device_fill(memory, device, queue, 7, FALSE);
  gst_memory_resize(memory, 1000, 500);
  host_fill(memory, 8);
  EXPECT_COPIES(1, 3);
  gst_memory_resize(memory, 1000, 300);
  device_fill(memory, device, queue, 9, FALSE);
  EXPECT_COPIES(2, 3);
  host_compare(memory, 9);
  gst_memory_resize(memory, -1000, 500);
  host_compare(memory, 8);
  EXPECT_COPIES(2, 4);

  /* Bytes without a meaning are not carried. */
  gst_memory_resize(memory, 0, 100);
  device_fill(memory, device, queue, 10, FALSE);
  astro_memory_forget(memory);
  host_fill(memory, 11);
  astro_memory_forget(memory);
  device_fill(memory, device, queue, 12, FALSE);
  EXPECT_COPIES(2, 4);
  host_compare(memory, 12);
  EXPECT_COPIES(2, 5);
  g_assert_cmpuint(device->bytes_up, ==, 2 * 4 * KILO);
  g_assert_cmpuint(device->bytes_down, ==, 5 * 4 * KILO);

  gst_memory_unref(memory);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* With every queue standing still, a chain of device work is queued all the same, eager copies down
 * too; the host waits where it maps, once. */
static void test_device_work_never_waits(void)
{
  AstroDevice *device = fake_device_new(3);
  AstroQueue *queues[] = { device->up, device->down, device->funcs->queue_new(device, NULL),
                           device->funcs->queue_new(device, NULL) };
  GstMemory *memory = astro_memory_new(KILO, device);
  host_fill(memory, 1);
  for (guint i = 0; i < G_N_ELEMENTS(queues); i++)
    fake_hold(queues[i], TRUE);
  for (guint32 i = 1; i < 40; i++) {
    device_compare(memory, device, queues[2 + i % 2], i);
    device_fill(memory, device, queues[3 - i % 2], i + 1, i % 3 == 0);
    GstMemory *part = gst_memory_share(memory, 0, -1);
    device_compare(part, device, queues[3], i + 1);
    gst_memory_unref(part);
  }
  g_assert_cmpuint(device->host_waits, ==, 0);
  for (guint i = G_N_ELEMENTS(queues); i-- > 0;)
    fake_hold(queues[i], FALSE);
  host_compare(memory, 40);
  g_assert_cmpuint(device->host_waits, <=, 1);
  device_fill(memory, device, queues[2], 50, TRUE);
  g_assert_true(astro_memory_settle(memory, NULL));
  const gsize waits = device->host_waits;
  host_compare(memory, 50);
  g_assert_cmpuint(device->host_waits, ==, waits);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Dropping memory never waits, and what is queued on it still has its faces. */
static void test_freed_with_work_pending(void)
{
  AstroDevice *device = fake_device_new(4);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  fake_hold(queue, TRUE);
  for (guint32 i = 0; i < 20; i++) {
    GstMemory *memory = astro_memory_new(KILO + i, i % 2 ? device : NULL);
    host_fill(memory, i);
    device_compare(memory, device, queue, i);
    device_fill(memory, device, queue, i + 1, i % 3 == 0);
    gst_memory_unref(memory);
  }
  g_assert_cmpuint(count().blocks, ==, 20);
  fake_hold(queue, FALSE);
  astro_device_unref(device); /* the blocks hold it */
  fake_check_nothing_left();
}

static void test_mapped_memory_is_not_touched(void)
{
  AstroDevice *device = fake_device_new(5);
  GstMemory *memory = astro_memory_new(KILO, device);
  GstMapInfo map;
  gpointer face;
  g_autoptr(GError) error = NULL;
  host_fill(memory, 1);
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_READ));
  g_assert_false(astro_memory_acquire(memory, device, device->up, GST_MAP_WRITE, &face, &error));
  g_assert_nonnull(error);
  device_compare(memory, device, device->up, 1); /* reading together is fine */
  gst_memory_unmap(memory, &map);
  g_assert_true(astro_memory_acquire(memory, device, device->up, GST_MAP_READ, &face, NULL));
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_WRITE));
  g_assert_true(astro_memory_release(memory, device->up, GST_MAP_READ, FALSE, NULL));
  host_fill(memory, 2);
  host_compare(memory, 2);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void test_two_devices(void)
{
  AstroDevice *devices[] = { fake_device_new(6), fake_device_new(7) };
  GstMemory *memory = astro_memory_new(KILO, devices[0]);
  host_fill(memory, 1);
  for (guint32 i = 1; i < 50; i++) {
    AstroDevice *device = devices[i % 2];
    device_compare(memory, device, device->up, i);
    device_fill(memory, device, device->down, i + 1, i % 3 == 0);
    g_assert_cmpuint(count().device_bytes, ==, KILO);
  }
  host_compare(memory, 50);
  gst_memory_unref(memory);
  astro_device_unref(devices[0]);
  astro_device_unref(devices[1]);
  fake_check_nothing_left();
}

/* The random test: memories, each with the bytes that it should hold. */
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

/* Parts are read-only, and so is what has more than one. */
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

/* Several threads at one block: they read it by every way there is, on both devices. */
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
      host_compare(part, round);
      break;
    case 1:
      copy = gst_memory_copy(part, 0, -1);
      host_compare(copy, round);
      gst_memory_unref(copy);
      break;
    default:
      device_compare(part, reader->device, reader->queue, round);
    }
    device_compare(part, reader->device, reader->queue, round);
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
  GstMemory *memory = astro_memory_new(2 * KILO, devices[0]);
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
      host_fill(memory, round);
    else
      device_fill(memory, devices[round % 5 == 0], devices[round % 5 == 0]->up, round,
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

/* Threads drop and read parts of blocks that others let go: the last one out frees. */
static gpointer read_and_drop(gpointer data)
{
  GstMemory *part = data;
  host_compare(part, 5);
  gst_memory_unref(part);
  return NULL;
}

static void test_threads_let_go(void)
{
  AstroDevice *device = fake_device_new(14);
  for (guint round = 0; round < 20; round++) {
    GstMemory *memory = astro_memory_new(KILO, device);
    pthread_t threads[3];
    device_fill(memory, device, device->up, 5, FALSE);
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

/* A run in which one call of a device fails. Whatever can still be read is right. */
typedef struct {
  AstroDevice *devices[2];
  GstMemory *memory;
  guint8 expected[KILO];
  FakeCall call;
} Script;

static void check_error(Script *script, const GError *error)
{
  static const char *const names[] = { "alloc",      "lock_host",    "queue_new", "queue_copy",
                                       "queue_wait", "event_record", "event_wait" };
  g_assert_nonnull(error);
  /* The call itself, or later that the bytes went with it. */
  g_assert_true(strstr(error->message, names[script->call]) || strstr(error->message, "lost"));
  g_assert_cmpuint(fake_failures(script->devices[0]) + fake_failures(script->devices[1]), >, 0);
}

static void script_host(Script *script, GstMapFlags flags, guint32 seed)
{
  GstMapInfo map;
  if (!gst_memory_map(script->memory, &map, flags)) {
    g_assert_cmpuint(fake_failures(script->devices[0]) + fake_failures(script->devices[1]), >, 0);
    return;
  }
  if (flags & GST_MAP_READ)
    g_assert_cmpmem(map.data, map.size, script->expected, map.size);
  if (flags & GST_MAP_WRITE) {
    test_fill(map.data, map.size, seed);
    test_fill(script->expected, map.size, seed);
  }
  gst_memory_unmap(script->memory, &map);
}

static void script_device(Script *script, guint which, GstMapFlags flags, guint32 seed,
                          gboolean copy_down)
{
  AstroDevice *device = script->devices[which];
  g_autoptr(GError) error = NULL;
  gpointer face;
  if (!astro_memory_acquire(script->memory, device, device->down, flags, &face, &error)) {
    check_error(script, error);
    return;
  }
  if (flags & GST_MAP_READ)
    fake_queue_kernel(device, device->down, fake_kernel_compare, face, KILO,
                      g_memdup2(script->expected, KILO), g_free);
  if (flags & GST_MAP_WRITE) {
    fake_queue_kernel(device, device->down, fake_kernel_fill, face, KILO, GUINT_TO_POINTER(seed),
                      NULL);
    test_fill(script->expected, KILO, seed);
  }
  if (!astro_memory_release(script->memory, device->down, flags, copy_down, &error))
    check_error(script, error);
}

static void test_failing_calls(void)
{
  for (FakeCall call = 0; call < FAKE_N_CALLS; call++) {
    guint failures = 0;
    for (guint nth = 1; nth < 24; nth++) {
      Script script = { .devices = { fake_device_new(nth), fake_device_new(~nth) }, .call = call };
      fake_fail(script.devices[0], call, nth);
      fake_fail(script.devices[1], call, nth);
      script.memory = astro_memory_new(KILO, script.devices[0]);
      script_host(&script, GST_MAP_WRITE, 1);
      for (guint32 i = 0; i < 2; i++) {
        script_device(&script, 0, GST_MAP_READ, 0, FALSE);
        script_device(&script, 0, GST_MAP_WRITE, 2 + i, FALSE);
        script_host(&script, GST_MAP_READ, 0);
        script_device(&script, 0, GST_MAP_READWRITE, 4 + i, TRUE);
        script_host(&script, GST_MAP_READ, 0);
        script_host(&script, GST_MAP_READWRITE, 5 + i);
        script_device(&script, 1, GST_MAP_READ, 0, FALSE);
        script_device(&script, 1, GST_MAP_READWRITE, 6 + i, FALSE);
        script_host(&script, GST_MAP_WRITE, 7 + i);
        script_device(&script, 1, GST_MAP_WRITE, 8 + i, i == 0);
        astro_memory_settle(script.memory, NULL);
      }
      script_host(&script, GST_MAP_READ, 0);
      AstroQueue *queue = script.devices[0]->funcs->queue_new(script.devices[0], NULL);
      g_assert_true(queue != NULL || call == FAKE_QUEUE_NEW);
      failures += fake_failures(script.devices[0]) + fake_failures(script.devices[1]);
      gst_memory_unref(script.memory);
      astro_device_unref(script.devices[0]);
      astro_device_unref(script.devices[1]);
      fake_check_nothing_left();
    }
    g_assert_cmpuint(failures, >, 0);
  }
}

/* A copy down that failed is not taken for done, and can be made again. */
static void test_failing_copy_down(void)
{
  AstroDevice *device = fake_device_new(15);
  GstMemory *memory = astro_memory_new(KILO, device);
  GstMapInfo map;
  host_fill(memory, 1);
  device_fill(memory, device, device->up, 2, FALSE);
  fake_hold(device->down, TRUE);
  fake_fail(device, FAKE_EVENT_WAIT, 1);
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_READ));
  fake_fail(device, FAKE_COPY, 1);
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_READ));
  fake_hold(device->down, FALSE);
  host_compare(memory, 2);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Nobody can tell when a copy up ends that no event was recorded behind: what it reads is not
 * written, and its block does not go round again. */
static void test_failing_record(void)
{
  AstroDevice *device = fake_device_new(17);
  GstAllocator *allocator = astro_allocator_new(device);
  GstMemory *memory[6];
  GstMapInfo map;
  gpointer face;
  for (guint i = 0; i < G_N_ELEMENTS(memory); i++)
    memory[i] = gst_allocator_alloc(allocator, KILO, NULL);
  host_fill(memory[0], 1);
  fake_hold(device->up, TRUE);
  fake_fail(device, FAKE_RECORD, 1);
  g_assert_false(astro_memory_acquire(memory[0], device, device->up, GST_MAP_READ, &face, NULL));
  g_assert_false(gst_memory_map(memory[0], &map, GST_MAP_WRITE));
  host_compare(memory[0], 1);
  for (guint i = 0; i < G_N_ELEMENTS(memory); i++)
    gst_memory_unref(memory[i]);
  fake_hold(device->up, FALSE);
  memory[0] = gst_allocator_alloc(allocator, KILO, NULL);
  device_fill(memory[0], device, device->up, 2, FALSE);
  host_compare(memory[0], 2);
  gst_memory_unref(memory[0]);
  gst_object_unref(allocator);
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void buffer_compare(GstBuffer **buffer, AstroDevice *device, guint32 seed)
{
  const gsize bytes = gst_buffer_get_size(*buffer);
  guint8 *expected = g_malloc(bytes);
  gpointer face;
  g_autoptr(GError) error = NULL;
  test_fill(expected, bytes, seed);
  astro_buffer_acquire(buffer, device, device->up, GST_MAP_READ, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, device->up, fake_kernel_compare, face, bytes, expected, g_free);
  astro_buffer_release(*buffer, device->up, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
}

static void buffer_fill(GstBuffer **buffer, AstroDevice *device, guint32 seed)
{
  gpointer face;
  g_autoptr(GError) error = NULL;
  astro_buffer_acquire(buffer, device, device->up, GST_MAP_WRITE, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, device->up, fake_kernel_fill, face, gst_buffer_get_size(*buffer),
                    GUINT_TO_POINTER(seed), NULL);
  astro_buffer_release(*buffer, device->up, GST_MAP_WRITE, FALSE, &error);
  g_assert_no_error(error);
}

static void buffer_host_compare(GstBuffer *buffer, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_autofree guint8 *expected = g_malloc(map.size);
  test_fill(expected, map.size, seed);
  g_assert_cmpmem(map.data, map.size, expected, map.size);
  gst_buffer_unmap(buffer, &map);
}

static void test_buffers(void)
{
  AstroDevice *device = fake_device_new(16);
  g_autofree guint8 *bytes = g_malloc(3000);
  test_fill(bytes, 3000, 1);
  const guint64 before = count().host_copies;

  /* Foreign memory, one or several: one copy, in the buffer's place. */
  GstBuffer *buffer = gst_buffer_new_memdup(bytes, 1000);
  gst_buffer_append_memory(buffer, gst_memory_new_wrapped(0, bytes, 3000, 1000, 2000, NULL, NULL));
  GST_BUFFER_OFFSET(buffer) = 77;
  GstBuffer *other = gst_buffer_ref(buffer);
  buffer_compare(&buffer, device, 1);
  g_assert_true(buffer != other);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 77);
  g_assert_cmpuint(gst_buffer_n_memory(buffer), ==, 1);
  g_assert_cmpuint(gst_buffer_n_memory(other), ==, 2);
  g_assert_cmpuint(count().host_copies - before, ==, 1);
  gst_buffer_unref(other);
  buffer_compare(&buffer, device, 1);
  g_assert_cmpuint(count().host_copies - before, ==, 1);

  /* Parts that lie side by side are one again without a copy. */
  GstBuffer *left = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 0, 1234);
  GstBuffer *right = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 1234, -1);
  GstBuffer *both = gst_buffer_append(left, right);
  g_assert_cmpuint(gst_buffer_n_memory(both), ==, 2);
  buffer_compare(&both, device, 1);
  g_assert_cmpuint(count().host_copies - before, ==, 1);

  /* Who writes what others hold gets a block of his own: with the bytes, where he reads them. */
  gpointer face;
  g_assert_true(astro_buffer_acquire(&both, device, device->up, GST_MAP_READWRITE, &face, NULL));
  fake_queue_kernel(device, device->up, fake_kernel_compare, face, 3000, g_memdup2(bytes, 3000),
                    g_free);
  fake_queue_kernel(device, device->up, fake_kernel_fill, face, 3000, GUINT_TO_POINTER(2), NULL);
  g_assert_true(astro_buffer_release(both, device->up, GST_MAP_READWRITE, TRUE, NULL));
  g_assert_cmpuint(count().host_copies - before, ==, 2);
  buffer_host_compare(both, 2);
  buffer_host_compare(buffer, 1);
  gst_buffer_unref(both);

  other = gst_buffer_ref(buffer);
  buffer_fill(&buffer, device, 3);
  g_assert_true(buffer != other);
  g_assert_cmpuint(count().host_copies - before, ==, 2);
  buffer_host_compare(other, 1);
  buffer_host_compare(buffer, 3);
  gst_buffer_unref(other);

  /* The buffer's own memory is written in place. */
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  buffer_fill(&buffer, device, 4);
  g_assert_true(gst_buffer_peek_memory(buffer, 0) == memory);
  buffer_host_compare(buffer, 4);

  /* A host element that writes to a shared buffer copies what the device wrote. */
  other = gst_buffer_copy(buffer);
  GstMapInfo map;
  g_assert_true(gst_buffer_map(other, &map, GST_MAP_READWRITE));
  memset(map.data, 0, map.size);
  gst_buffer_unmap(other, &map);
  gst_buffer_unref(other);
  buffer_compare(&buffer, device, 4);
  gst_buffer_unref(buffer);

  buffer = gst_buffer_new();
  buffer_compare(&buffer, device, 1);
  gst_buffer_unref(buffer);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* A part that begins within a sample gets a block of its own, and no other part does. */
static void test_alignment(void)
{
  static const gsize offsets[] = { 1, 2, 4, 7, 8, 12, 16 };
  AstroDevice *device = fake_device_new(17);
  guint8 expected[3000] __attribute__((aligned(16)));
  test_fill(expected, sizeof expected, 1);
  for (guint i = 0; i < G_N_ELEMENTS(offsets); i++)
    for (gsize unit = 1; unit <= 16; unit *= 2) {
      const gsize offset = offsets[i];
      const gboolean lies_well = offset % unit == 0;
      const guint64 before = count().host_copies;
      GstBuffer *whole = gst_buffer_new();
      gst_buffer_append_memory(whole, astro_memory_new(sizeof expected + offset, device));
      gst_buffer_fill(whole, offset, expected, sizeof expected);
      GstBuffer *part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, offset, -1);
      GST_BUFFER_OFFSET(part) = 77;
      GstMemory *memory = gst_buffer_peek_memory(part, 0);
      g_assert_true(astro_buffer_align(&part, device, unit, NULL));
      g_assert_true((gst_buffer_peek_memory(part, 0) == memory) == lies_well);
      g_assert_cmpuint(count().host_copies - before, ==, !lies_well);
      g_assert_cmpuint(GST_BUFFER_OFFSET(part), ==, 77);
      buffer_compare(&part, device, 1);
      gst_buffer_unref(part);
      gst_buffer_unref(whole);
    }
  GstBuffer *foreign =
      gst_buffer_new_wrapped_full(0, expected, sizeof expected, 1, sizeof expected - 1, NULL, NULL);
  g_assert_true(astro_buffer_align(&foreign, device, 16, NULL));
  g_assert_true(astro_memory_is(gst_buffer_peek_memory(foreign, 0)));
  g_assert_cmpuint(gst_buffer_get_size(foreign), ==, sizeof expected - 1);
  g_assert_cmpint(gst_buffer_memcmp(foreign, 0, expected + 1, sizeof expected - 1), ==, 0);
  gst_buffer_unref(foreign);
  astro_memory_reap();
  astro_device_unref(device);
}

static void test_buffer_failures(void)
{
  AstroDevice *device = fake_device_new(17);
  GstBuffer *buffer = gst_buffer_new_memdup("0123456789", 10);
  gpointer face;
  g_autoptr(GError) error = NULL;
  fake_fail(device, FAKE_ALLOC, 1);
  g_assert_false(astro_buffer_acquire(&buffer, device, device->up, GST_MAP_READ, &face, &error));
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, "10 bytes"));
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpmem(map.data, map.size, "0123456789", 10);
  gst_buffer_unmap(buffer, &map);
  gst_buffer_unref(buffer);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Bytes at any address are copied to an aligned block with what the buffer says of them; those that
 * lie well stay where they are, without a device's coming down to be looked at. */
static void test_aligning(void)
{
  static const guint8 bytes[40] = { 1, 2, 3, 4, 5 };
  AstroMemoryCounters before, after;
  for (guint shift = 0; shift <= 8; shift++)
    for (guint ours = 0; ours < 2; ours++) {
      GstBuffer *whole = gst_buffer_new();
      gst_buffer_append_memory(whole, ours ? astro_memory_new(64, NULL)
                                           : gst_allocator_alloc(NULL, 64, NULL));
      gst_buffer_fill(whole, shift, bytes, sizeof bytes);
      GstBuffer *part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, shift, sizeof bytes),
                *held = gst_buffer_ref(part);
      GstMapInfo map, original;
      GST_BUFFER_PTS(part) = 7;
      g_assert_true(gst_buffer_map(held, &original, GST_MAP_READ));
      astro_memory_counters(&before);
      g_assert_true(astro_buffer_align(&part, NULL, ASTRO_SAMPLES_ALIGN, NULL));
      astro_memory_counters(&after);
      g_assert_cmpuint(after.host_copies - before.host_copies, ==,
                       ((gsize)original.data & 7) != 0 ? 1 : 0);
      g_assert_true((part == held) == (((gsize)original.data & 7) == 0));
      g_assert_true(gst_buffer_map(part, &map, GST_MAP_READ));
      g_assert_cmpuint((gsize)map.data & 7, ==, 0);
      g_assert_cmpmem(map.data, map.size, bytes, sizeof bytes);
      g_assert_cmpuint(GST_BUFFER_PTS(part), ==, 7);
      gst_buffer_unmap(part, &map);
      gst_buffer_unmap(held, &original);
      gst_buffer_unref(part);
      gst_buffer_unref(held);
      gst_buffer_unref(whole);
    }
  GstBuffer *empty = gst_buffer_new();
  g_assert_true(astro_buffer_align(&empty, NULL, ASTRO_SAMPLES_ALIGN, NULL));
  gst_buffer_unref(empty);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/memory/sizes-and-alignment", test_sizes_and_alignment);
  g_test_add_func("/memory/parts-and-copies", test_parts_and_copies);
  g_test_add_func("/memory/page-locking", test_page_locking);
  g_test_add_func("/memory/copies-only-where-needed", test_copies_only_where_needed);
  g_test_add_func("/memory/device-work-never-waits", test_device_work_never_waits);
  g_test_add_func("/memory/freed-with-work-pending", test_freed_with_work_pending);
  g_test_add_func("/memory/mapped-memory-is-not-touched", test_mapped_memory_is_not_touched);
  g_test_add_func("/memory/two-devices", test_two_devices);
  g_test_add_func("/memory/random", test_random);
  g_test_add_func("/memory/random-in-threads", test_random_in_threads);
  g_test_add_func("/memory/threads-share-a-block", test_threads_share_a_block);
  g_test_add_func("/memory/threads-let-go", test_threads_let_go);
  g_test_add_func("/memory/failing-calls", test_failing_calls);
  g_test_add_func("/memory/failing-copy-down", test_failing_copy_down);
  g_test_add_func("/memory/failing-record", test_failing_record);
  g_test_add_func("/memory/buffers", test_buffers);
  g_test_add_func("/memory/alignment", test_alignment);
  g_test_add_func("/memory/buffer-failures", test_buffer_failures);
  g_test_add_func("/memory/aligning", test_aligning);
  return g_test_run();
}
