/* Transforms of rows in double precision. */
#define ROW double2
#include "gpu/lib/fft/rows.h"

gboolean astro_fft_rows_double(const AstroFftRowsPass *pass, guint32 n_rows, cudaStream_t stream,
                               GError **error)
{
  return launch<ROW, FFT_ROWS_16>(pass, n_rows, stream, error);
}
