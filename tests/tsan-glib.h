/* ThreadSanitizer with libraries that are not built for it: GLib's locks are its own futexes, and
 * GStreamer counts references with instructions that the sanitizer does not see. Here a test
 * program overrides the functions that order threads and tells the sanitizer what they order, so
 * that what it reports are real races. To be included once, by the file with main. */
#pragma once

#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#include <gst/gst.h>
#include <pthread.h>
#include <sanitizer/tsan_interface.h>

/* Looks a function up only once, because every lock goes through here. */
#define TSAN_FIND(name)                                                                            \
  static __typeof__(name) *found;                                                                  \
  __typeof__(name) *real = __atomic_load_n(&found, __ATOMIC_RELAXED);                              \
  if (!real)                                                                                       \
  __atomic_store_n(&found, real = dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED)

#define TSAN_LOCK(name, type)                                                                      \
  void name(type *lock)                                                                            \
  {                                                                                                \
    TSAN_FIND(name);                                                                               \
    real(lock);                                                                                    \
    __tsan_acquire(lock);                                                                          \
  }
#define TSAN_TRYLOCK(name, type)                                                                   \
  gboolean name(type *lock)                                                                        \
  {                                                                                                \
    TSAN_FIND(name);                                                                               \
    const gboolean locked = real(lock);                                                            \
    if (locked)                                                                                    \
      __tsan_acquire(lock);                                                                        \
    return locked;                                                                                 \
  }
#define TSAN_UNLOCK(name, type)                                                                    \
  void name(type *lock)                                                                            \
  {                                                                                                \
    TSAN_FIND(name);                                                                               \
    __tsan_release(lock);                                                                          \
    real(lock);                                                                                    \
  }

/* Whoever sees that something was made once also sees what was made: through the number that is
 * written here after GLib's own, where the sanitizer sees it. */
#undef g_once_init_enter
gboolean g_once_init_enter(volatile void *location)
{
  TSAN_FIND(g_once_init_enter);
  const gboolean is_first = real(location);
  __tsan_acquire((void *)location);
  return is_first;
}

#undef g_once_init_leave
void g_once_init_leave(volatile void *location, gsize result)
{
  TSAN_FIND(g_once_init_leave);
  __tsan_release((void *)location);
  real(location, result);
  __atomic_fetch_add((gsize *)location, 0, __ATOMIC_SEQ_CST);
}

/* clang-format off */
TSAN_LOCK(g_mutex_lock, GMutex)
TSAN_TRYLOCK(g_mutex_trylock, GMutex)
TSAN_UNLOCK(g_mutex_unlock, GMutex)
TSAN_LOCK(g_rec_mutex_lock, GRecMutex)
TSAN_TRYLOCK(g_rec_mutex_trylock, GRecMutex)
TSAN_UNLOCK(g_rec_mutex_unlock, GRecMutex)
TSAN_LOCK(g_rw_lock_reader_lock, GRWLock)
TSAN_UNLOCK(g_rw_lock_reader_unlock, GRWLock)
TSAN_LOCK(g_rw_lock_writer_lock, GRWLock)
TSAN_UNLOCK(g_rw_lock_writer_unlock, GRWLock)
/* clang-format on */

void g_cond_wait(GCond *cond, GMutex *mutex)
{
  TSAN_FIND(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time)
{
  TSAN_FIND(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

/* Whoever drops the last reference frees the object: all that others did comes before. */
void gst_mini_object_unref(GstMiniObject *object)
{
  TSAN_FIND(gst_mini_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}

void g_object_unref(gpointer object)
{
  TSAN_FIND(g_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}

gpointer gst_object_ref(gpointer object)
{
  TSAN_FIND(gst_object_ref);
  __tsan_acquire(object);
  return real(object);
}

void gst_object_unref(gpointer object)
{
  TSAN_FIND(gst_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}

/* Blocks returned to a pool go to whoever acquires next. */
GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                             GstBufferPoolAcquireParams *params)
{
  TSAN_FIND(gst_buffer_pool_acquire_buffer);
  const GstFlowReturn flow = real(pool, buffer, params);
  __tsan_acquire(pool);
  return flow;
}

void gst_buffer_pool_release_buffer(GstBufferPool *pool, GstBuffer *buffer)
{
  TSAN_FIND(gst_buffer_pool_release_buffer);
  __tsan_release(pool);
  real(pool, buffer);
}

gboolean gst_bus_post(GstBus *bus, GstMessage *message)
{
  TSAN_FIND(gst_bus_post);
  __tsan_release(bus);
  return real(bus, message);
}

GstMessage *gst_bus_timed_pop_filtered(GstBus *bus, GstClockTime timeout, GstMessageType types)
{
  TSAN_FIND(gst_bus_timed_pop_filtered);
  GstMessage *message = real(bus, timeout, types);
  __tsan_acquire(bus);
  return message;
}

void g_async_queue_push(GAsyncQueue *queue, gpointer data)
{
  TSAN_FIND(g_async_queue_push);
  __tsan_release(queue);
  real(queue, data);
}

void g_async_queue_push_front(GAsyncQueue *queue, gpointer data)
{
  TSAN_FIND(g_async_queue_push_front);
  __tsan_release(queue);
  real(queue, data);
}

gpointer g_async_queue_try_pop(GAsyncQueue *queue)
{
  TSAN_FIND(g_async_queue_try_pop);
  gpointer data = real(queue);
  __tsan_acquire(queue);
  return data;
}

gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout)
{
  TSAN_FIND(g_async_queue_timeout_pop);
  gpointer data = real(queue, timeout);
  __tsan_acquire(queue);
  return data;
}

/* Names are kept by whoever was first to ask for their numbers, and compared by all. */
#define TSAN_QUARK(name)                                                                           \
  GQuark name(const char *text)                                                                    \
  {                                                                                                \
    TSAN_FIND(name);                                                                               \
    pthread_mutex_lock(&tsan_quarks);                                                              \
    const GQuark quark = real(text);                                                               \
    pthread_mutex_unlock(&tsan_quarks);                                                            \
    return quark;                                                                                  \
  }

static pthread_mutex_t tsan_quarks = PTHREAD_MUTEX_INITIALIZER;

/* clang-format off */
TSAN_QUARK(g_quark_from_string)
TSAN_QUARK(g_quark_from_static_string)
TSAN_QUARK(g_quark_try_string)
/* clang-format on */

/* A task of a pool sees what came before it was handed over. */
typedef struct {
  GFunc run;
  gpointer data;
} TsanPool;

static void tsan_run_task(gpointer task, gpointer data)
{
  const TsanPool *pool = data;
  __tsan_acquire(task);
  pool->run(task, pool->data);
}

/* GStreamer's pools of threads live to the end of the process. */
GThreadPool *g_thread_pool_new(GFunc run, gpointer data, gint most, gboolean exclusive,
                               GError **error)
{
  TSAN_FIND(g_thread_pool_new);
  TsanPool *pool = g_new(TsanPool, 1);
  *pool = (TsanPool){ run, data };
  return real(tsan_run_task, pool, most, exclusive, error);
}

gboolean g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error)
{
  TSAN_FIND(g_thread_pool_push);
  __tsan_release(pool);
  __tsan_release(data);
  return real(pool, data, error);
}
#endif
