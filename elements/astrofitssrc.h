/* The element astrofitssrc: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrofilesrc.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_FITS_SRC astro_fits_src_get_type()
G_DECLARE_FINAL_TYPE(AstroFitsSrc, astro_fits_src, ASTRO, FITS_SRC, AstroFileSrc)

GST_ELEMENT_REGISTER_DECLARE(astrofitssrc)

G_END_DECLS
