/* The element astrorecordsrc: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrofilesrc.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_RECORD_SRC astro_record_src_get_type()
G_DECLARE_FINAL_TYPE(AstroRecordSrc, astro_record_src, ASTRO, RECORD_SRC, AstroFileSrc)

GST_ELEMENT_REGISTER_DECLARE(astrorecordsrc)

G_END_DECLS
