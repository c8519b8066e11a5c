/* astrofft: Fourier transforms along any axes. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_FFT astro_fft_get_type()
G_DECLARE_FINAL_TYPE(AstroFft, astro_fft, ASTRO, FFT, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrofft)

G_END_DECLS
