/* The table of the CUDA module, which the core library loads. */
#include "core/backend/module.h"
#include "gpu/runtime/cuda.h"

static gint n_devices(GError **error)
{
  int n = 0;
  cudaError_t status = cudaGetDeviceCount(&n);

  if (status == cudaErrorNoDevice) {
    cudaGetLastError();
    return 0;
  }
  if (astro_cuda_ok(status, "cudaGetDeviceCount", NULL))
    return n;
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "there is no NVIDIA driver on this machine");
  else if (driver < runtime)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "the NVIDIA driver is for CUDA %d.%d, this build needs %d.%d or newer",
                driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "CUDA: cudaGetDeviceCount: %s", cudaGetErrorString(status));
  return -1;
}

static char *describe(gint index)
{
  cudaDeviceProp p;
  size_t had = 0, whole = 0;

  if (cudaGetDeviceProperties(&p, index) != cudaSuccess || cudaSetDevice(index) != cudaSuccess ||
      cudaMemGetInfo(&had, &whole) != cudaSuccess) {
    cudaGetLastError();
    return NULL;
  }
  return g_strdup_printf("%s, compute capability %d.%d, %d multiprocessors, %.1f of %.1f GiB free",
                         p.name, p.major, p.minor, p.multiProcessorCount, had / 1073741824.0,
                         whole / 1073741824.0);
}

static const AstroBackend *const backends[] = {
  &astro_cuda_convert, &astro_cuda_transpose, &astro_cuda_channelizer, &astro_cuda_correlator,
  &astro_cuda_delay,   &astro_cuda_sideband,  &astro_cuda_beamform,    &astro_cuda_gridder,
  &astro_cuda_fft,     &astro_cuda_image,     &astro_cuda_histogram,   &astro_cuda_power,
  &astro_cuda_flag,    &astro_cuda_degridder, &astro_cuda_uniform,     NULL,
};

extern "C" __attribute__((visibility("default"))) const AstroModule astro_module = {
  .abi = ASTRO_MODULE_ABI,
  .bytes = sizeof(AstroModule),
  .version = PACKAGE_VERSION,
  .n_devices = n_devices,
  .open = astro_cuda_device_new,
  .describe = describe,
  .backends = backends,
};
