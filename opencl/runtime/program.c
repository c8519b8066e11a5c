/* Compiles programs in OpenCL C, or takes them from the cache. */
#include "config.h"
#include "opencl/runtime/opencl.h"

#include "opencl/runtime/cache.h"
#include "opencl/runtime/platforms.h"

static const char common[] =
#include "opencl/runtime/common.cl.h"
    ;

#define MOST_OF_LOG 2000 /* bytes of a compiler's complaint that an error repeats */

/* ASTRO_OPENCL_OPTIONS: more options for a device's compiler. */
static char *all_options(const AstroOpenclDevice *self, const char *options)
{
  const char *more = g_getenv("ASTRO_OPENCL_OPTIONS");
  return g_strjoin(" ", "-cl-std=CL1.2", self->has_double ? "-DASTRO_DOUBLE" : "",
                   self->rounds_division ? "-cl-fp32-correctly-rounded-divide-sqrt" : "", options,
                   more ? more : "", NULL);
}

static char *key_of(const AstroOpenclDevice *self, const char *text, const char *options)
{
  g_autofree char *all = g_strjoin("\n", self->identity, options, common, text, NULL);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
}

static gboolean build(AstroOpenclDevice *self, cl_program program, const char *name,
                      const char *options, GError **error)
{
  const AstroDevice *device = &self->base;
  const cl_int status = clBuildProgram(program, 1, &self->id, options, NULL, NULL);
  if (status == CL_SUCCESS)
    return TRUE;
  if (status != CL_BUILD_PROGRAM_FAILURE)
    return astro_opencl_ok(device, status, "clBuildProgram", error) ||
           (g_prefix_error(error, "%s: ", name), FALSE);
  size_t bytes = 0;
  clGetProgramBuildInfo(program, self->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  g_autofree char *log = g_malloc0(bytes + 1);
  clGetProgramBuildInfo(program, self->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
  g_autofree char *valid = g_utf8_make_valid(g_strstrip(log), -1);
  return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                    "the compiler of %s does not compile %s: %.*s", device->name, name, MOST_OF_LOG,
                    *valid ? valid : "it does not say why");
}

/* A program from a binary that was kept; NULL: the driver does not take it, so it is made anew. */
static cl_program load(AstroOpenclDevice *self, const char *key, const char *name,
                       const char *options)
{
  g_autoptr(GBytes) kept = astro_opencl_cache_read(key);
  cl_int status, of_binary;
  if (!kept)
    return NULL;
  size_t bytes;
  const unsigned char *binary = g_bytes_get_data(kept, &bytes);
  cl_program program =
      clCreateProgramWithBinary(self->context, 1, &self->id, &bytes, &binary, &of_binary, &status);
  if (status != CL_SUCCESS)
    return NULL;
  if (build(self, program, name, options, NULL))
    return program;
  clReleaseProgram(program);
  return NULL;
}

static void keep(AstroOpenclDevice *self, cl_program program, const char *key)
{
  size_t bytes = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) !=
          CL_SUCCESS ||
      bytes == 0)
    return;
  g_autofree unsigned char *binary = g_malloc(bytes);
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
    astro_opencl_cache_write(key, binary, bytes);
}

static cl_program compile(AstroOpenclDevice *self, const AstroOpenclProgram *wanted,
                          const char *options, const char *key, GError **error)
{
  const char *texts[] = { common, wanted->text };
  cl_int status;
  cl_program program =
      clCreateProgramWithSource(self->context, G_N_ELEMENTS(texts), texts, NULL, &status);
  if (!astro_opencl_ok(&self->base, status, "clCreateProgramWithSource", error))
    return NULL;
  if (build(self, program, wanted->name, options, error)) {
    keep(self, program, key);
    return program;
  }
  clReleaseProgram(program);
  return NULL;
}

/* The lock is held while the compiler runs: another thread is likely to want the same program. */
static cl_program find(AstroOpenclDevice *self, const AstroOpenclProgram *wanted,
                       const char *options, GError **error)
{
  static GMutex lock;
  g_autofree char *all = all_options(self, options);
  g_autofree char *key = key_of(self, wanted->text, all);
  g_mutex_lock(&lock);
  cl_program program = g_hash_table_lookup(self->programs, key);
  if (!program && ((program = load(self, key, wanted->name, all)) ||
                   (program = compile(self, wanted, all, key, error))))
    g_hash_table_insert(self->programs, g_strdup(key), program);
  g_mutex_unlock(&lock);
  return program;
}

static cl_program compiled(AstroDevice *device, const AstroOpenclProgram *program,
                           const char *options, GError **error)
{
  AstroOpenclDevice *self = astro_opencl_device(device);
  if (!program->needs_double || self->has_double)
    return find(self, program, options, error);
  astro_backend_refuse(error, "%s computes in double precision, which %s does not have",
                       program->name, device->name);
  return NULL;
}

gboolean astro_opencl_compiles(AstroDevice *device, const AstroOpenclProgram *program,
                               const char *options, GError **error)
{
  return compiled(device, program, options, error) != NULL;
}

cl_kernel astro_opencl_kernel(AstroDevice *device, const AstroOpenclProgram *program,
                              const char *options, const char *name, GError **error)
{
  cl_int status;
  cl_program found = compiled(device, program, options, error);
  if (!found)
    return NULL;
  cl_kernel kernel = clCreateKernel(found, name, &status);
  if (astro_opencl_ok(device, status, "clCreateKernel", error))
    return kernel;
  g_prefix_error(error, "%s: %s: ", program->name, name);
  return NULL;
}

gboolean astro_opencl_kernels(AstroDevice *device, const AstroOpenclProgram *program,
                              const char *options, const char *const *names, guint n,
                              cl_kernel *kernels, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!(kernels[i] = astro_opencl_kernel(device, program, options, names[i], error)))
      return FALSE;
  return TRUE;
}

void astro_opencl_kernels_release(cl_kernel *kernels, guint n)
{
  for (guint i = 0; i < n; i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
}
