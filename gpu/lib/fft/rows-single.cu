/* Transforms of rows in single precision. */
#define ROW float2
#include "gpu/lib/fft/rows.h"

gboolean astro_fft_rows_single(const AstroFftRowsPass *pass, guint32 n_rows, cudaStream_t stream,
                               GError **error)
{
  static const AstroFftRowsFunc kernels[N_FFT_ROWS] = { launch<ROW, FFT_ROWS_16>,
                                                        launch<ROW, FFT_ROWS_24>,
                                                        launch<ROW, FFT_ROWS_32> };
  return kernels[pass->kind](pass, n_rows, stream, error);
}
