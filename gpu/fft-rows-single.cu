#define ROW float2
#include "gpu/fft-rows.h"

gboolean astro_fft_rows_single(const AstroFftRowsPass *pass, guint32 n_rows, cudaStream_t stream, GError **error)
{
  return launch<ROW>(pass, n_rows, stream, error);
}
