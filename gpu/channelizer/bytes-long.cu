/* Launches of the kernel for bytes in three passes. */
#include "gpu/channelizer/bytes-long.h"
#include "gpu/channelizer/bytes-kernel.h"

gboolean astro_channelizer_bytes_long(AstroFormat from, const ChannelizerRun *run,
                                      BytesFactors factors, cudaStream_t stream, GError **error)
{
  switch (run->n) {
  case 512:
    return launch(from, run, BytesFixed<BytesLong, 8, 8, 8>(), stream, error);
  case 1024:
    return launch(from, run, BytesFixed<BytesLong, 8, 8, 16>(), stream, error);
  default:
    return run->n <= 1024 ? launch_any<BytesLong>(from, run, factors, stream, error)
                          : launch_any<BytesLongest>(from, run, factors, stream, error);
  }
}
