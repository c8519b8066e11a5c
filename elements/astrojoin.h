/* The element astrojoin: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astromerge.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_JOIN astro_join_get_type()
G_DECLARE_FINAL_TYPE(AstroJoin, astro_join, ASTRO, JOIN, AstroMerge)
GST_ELEMENT_REGISTER_DECLARE(astrojoin)

G_END_DECLS
