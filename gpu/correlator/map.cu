/* Maps of samples for the bulk copy engine, whose encoding is the driver's. */
#include "gpu/correlator/hopper.h"

static PFN_cuTensorMapEncodeTiled_v12000 encode_map;

/* Another correlator may be using the driver's function, so it is set only once it is known. */
gboolean astro_correlator_map_init(GError **error)
{
  cudaDriverEntryPointQueryResult result;
  void *found = NULL;
  if (!CUDA_TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                 cudaEnableDefault, &result)))
    return FALSE;
  if (!found) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                "CUDA: the driver has no cuTensorMapEncodeTiled (%d)", (int)result);
    return FALSE;
  }
  g_atomic_pointer_set(&encode_map, (PFN_cuTensorMapEncodeTiled_v12000)found);
  return TRUE;
}

gboolean astro_correlator_map(CUtensorMap *map, const CorrelatorRun *run, guint64 row_bytes,
                              GError **error)
{
  cuuint64_t extents[] = { row_bytes, run->inputs, (cuuint64_t)run->channels * run->planes };
  cuuint64_t strides[] = { run->in.row, run->in.channel };
  cuuint32_t box[] = { CHUNK, TILE, 1 }, steps[] = { 1, 1, 1 };
  CUresult result =
      encode_map(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, (void *)run->in.data, extents, strides, box,
                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
              "CUDA: cuTensorMapEncodeTiled: error %d", (int)result);
  return FALSE;
}
