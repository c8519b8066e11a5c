/* Fourier transforms of a power of two of samples, for the filters of simulated signals. They are
 * not those of core/lib/fft because their roundings must not depend on what FFTW has measured: the
 * same seed gives the same samples in every process. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct AstroFourier AstroFourier;

/* n: a power of two, at least 4. */
AstroFourier *astro_fourier_new(gsize n);
void astro_fourier_free(AstroFourier *fourier);

/* The sums over j of x[j] exp(-2 pi i j k / n). The result is in re and im; work holds 2 n. With re
 * and im exchanged the sign is the other one. */
void astro_fourier_run(const AstroFourier *fourier, float *re, float *im, float *work);

G_END_DECLS
