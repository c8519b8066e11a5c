/* A CUDA or OpenCL backend for tests with host pointers: blocks are copied to the device with their
 * garbage and a guard behind them, and results are copied back. One stage a test program. */
#pragma once

#include "core/backend/module.h"
#include "tests/device.h"
#include "tests/tests.h"

typedef struct {
  gpointer face;
  gsize bytes;
} TestFace;

#define TEST_MAX_IN 3
#define TEST_MAX_OUT 2
typedef struct {
  const AstroBackend *backend;
  AstroPlace place;
  gpointer instance;
  TestFace in[TEST_MAX_IN], out[TEST_MAX_OUT];
} TestOnDevice;

/* By kind. */
static const AstroBackend *test_device_backends[ASTRO_BACKEND_OPENCL + 1];

static inline void test_face_need(TestOnDevice *self, TestFace *face, gsize bytes)
{
  if (face->bytes >= bytes)
    return;
  GError *error = NULL;
  if (face->face)
    self->place.device->funcs->free(self->place.device, face->face);
  self->place.device->funcs->alloc(self->place.device, bytes, &face->face, &error);
  g_assert_no_error(error);
  face->bytes = bytes;
}

static inline void test_face_copy(TestOnDevice *self, AstroCopyDirection direction, gpointer to,
                                  gconstpointer from, gsize bytes)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  GError *error = NULL;
  if (bytes)
    funcs->queue_copy(self->place.device, self->place.queue, direction, to, from, bytes, &error);
  g_assert_no_error(error);
  AstroEvent *event = funcs->event_record(self->place.device, self->place.queue, &error);
  g_assert_no_error(error);
  funcs->event_wait(self->place.device, event, &error);
  g_assert_no_error(error);
  funcs->event_free(self->place.device, event);
}

static inline gpointer test_device_create(AstroBackendKind kind, gconstpointer config,
                                          const AstroPlace *place, const char **variant,
                                          GError **error)
{
  const char *name;
  TestOnDevice *self = g_new0(TestOnDevice, 1);
  self->backend = test_device_backends[kind];
  self->place.device = astro_device_open_of(kind, 0, NULL);
  self->place.queue = self->place.device->funcs->queue_new(self->place.device, NULL);
  self->instance = self->backend->create(config, &self->place, variant ? variant : &name, error);
  if (self->instance)
    return self;
  self->place.device->funcs->queue_free(self->place.device, self->place.queue);
  astro_device_unref(self->place.device);
  g_free(self);
  return NULL;
}

static inline gboolean test_device_host_out(gpointer instance)
{
  TestOnDevice *self = instance;
  return self->backend->host_out && self->backend->host_out(self->instance);
}

/* The contents of the host's block, with a guard behind them. */
static inline AstroBlock test_face_fill(TestOnDevice *self, TestFace *face, const AstroBlock *host)
{
  guint8 guard[TEST_GUARD];
  memset(guard, 0x5a, sizeof guard);
  test_face_need(self, face, host->bytes + TEST_GUARD);
  test_face_copy(self, ASTRO_COPY_UP, face->face, host->data, host->bytes);
  test_face_copy(self, ASTRO_COPY_UP, (guint8 *)face->face + host->bytes, guard, sizeof guard);
  return (AstroBlock){ face->face, host->bytes };
}

static inline void test_face_bring(TestOnDevice *self, const TestFace *face, const AstroBlock *host)
{
  guint8 guard[TEST_GUARD];
  test_face_copy(self, ASTRO_COPY_DOWN, host->data, face->face, host->bytes);
  test_face_copy(self, ASTRO_COPY_DOWN, guard, (guint8 *)face->face + host->bytes, sizeof guard);
  for (guint i = 0; i < sizeof guard; i++)
    g_assert_cmphex(guard[i], ==, 0x5a);
}

static inline gboolean test_device_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                          const AstroBlock *out, guint n_out,
                                          gconstpointer arguments, AstroResult *result,
                                          GError **error)
{
  TestOnDevice *self = instance;
  AstroBlock from[TEST_MAX_IN] = { 0 }, to[TEST_MAX_OUT] = { 0 };
  const gboolean on_device = !test_device_host_out(instance);

  g_assert_cmpuint(n_in, <=, TEST_MAX_IN);
  g_assert_cmpuint(n_out, <=, TEST_MAX_OUT);
  for (guint i = 0; i < n_in; i++) {
    test_face_need(self, &self->in[i], in[i].bytes + 1);
    test_face_copy(self, ASTRO_COPY_UP, self->in[i].face, in[i].data, in[i].bytes);
    from[i] = (AstroBlock){ self->in[i].face, in[i].bytes };
  }
  for (guint i = 0; i < n_out; i++)
    to[i] = on_device ? test_face_fill(self, &self->out[i], &out[i]) : out[i];
  gboolean ok =
      self->backend->submit(self->instance, from, n_in, to, n_out, arguments, result, error);
  if (self->backend->drain)
    ok = self->backend->drain(self->instance, result, ok ? error : NULL) && ok;
  for (guint i = 0; i < n_out && on_device; i++)
    test_face_bring(self, &self->out[i], &out[i]);
  return ok;
}

static inline void test_device_destroy(gpointer instance)
{
  TestOnDevice *self = instance;
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  self->backend->destroy(self->instance);
  for (guint i = 0; i < TEST_MAX_IN; i++)
    if (self->in[i].face)
      funcs->free(self->place.device, self->in[i].face);
  for (guint i = 0; i < TEST_MAX_OUT; i++)
    if (self->out[i].face)
      funcs->free(self->place.device, self->out[i].face);
  funcs->queue_free(self->place.device, self->place.queue);
  astro_device_unref(self->place.device);
  g_free(self);
}

#define TEST_DEVICE_KIND(name, KIND)                                                               \
  static inline gpointer test_##name##_create(gconstpointer config, const AstroPlace *place,       \
                                              const char **variant, GError **error)                \
  {                                                                                                \
    return test_device_create(KIND, config, place, variant, error);                                \
  }                                                                                                \
  static inline gboolean test_##name##_shape(gconstpointer config, GError **error)                 \
  {                                                                                                \
    return test_device_backends[KIND]->shape(config, error);                                       \
  }                                                                                                \
  static const AstroBackend test_##name##_backend = {                                              \
    .stage = "test",                                                                               \
    .kind = KIND,                                                                                  \
    .shape = test_##name##_shape,                                                                  \
    .create = test_##name##_create,                                                                \
    .submit = test_device_submit,                                                                  \
    .destroy = test_device_destroy,                                                                \
    .host_out = test_device_host_out,                                                              \
  };
TEST_DEVICE_KIND(cuda, ASTRO_BACKEND_CUDA)
TEST_DEVICE_KIND(opencl, ASTRO_BACKEND_OPENCL)

/* That backend, of a device; NULL: there is no device. */
static inline const AstroBackend *test_backend_on_device(const AstroBackend *(*find)(void))
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroDevice) device = test_find_device(&error);
  if (!device) {
    g_test_message("no device: %s", error->message);
    return NULL;
  }
  test_device_backends[ASTRO_BACKEND_CUDA] = find();
  return test_device_backends[ASTRO_BACKEND_CUDA] ? &test_cuda_backend : NULL;
}

static const char *test_device_stage;

static inline const AstroBackend *test_find_stage(void)
{
  return astro_module_backend(test_device_stage);
}

/* The stage's CUDA backend; NULL: there is none, or no device. */
static inline const AstroBackend *test_on_device(const char *stage)
{
  test_device_stage = stage;
  return test_backend_on_device(test_find_stage);
}

/* The same of an OpenCL device. */
static inline const AstroBackend *test_backend_on_opencl(const AstroBackend *(*find)(void))
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroDevice) device = test_find_opencl(&error);
  if (!device) {
    g_test_message("no device: %s", error->message);
    return NULL;
  }
  test_device_backends[ASTRO_BACKEND_OPENCL] = find();
  return test_device_backends[ASTRO_BACKEND_OPENCL] ? &test_opencl_backend : NULL;
}

static inline const AstroBackend *test_find_stage_of_opencl(void)
{
  return astro_module_backend_of(ASTRO_BACKEND_OPENCL, test_device_stage);
}

/* The stage's OpenCL backend; NULL: there is none, or no device. */
static inline const AstroBackend *test_on_opencl(const char *stage)
{
  test_device_stage = stage;
  return test_backend_on_opencl(test_find_stage_of_opencl);
}

static inline void test_is_skipped(gconstpointer data)
{
  g_test_skip("there is no such device");
}

/* A test of the device, which is skipped if there is none. */
static inline void test_add_on_device(const char *path, const AstroBackend *on_device,
                                      GTestDataFunc func)
{
  g_test_add_data_func(path, on_device, on_device ? func : test_is_skipped);
}
