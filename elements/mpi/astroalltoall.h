/* The element astroalltoall: its type, and its registration for the plugin. */
#pragma once

#include "elements/mpi/exchange.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_ALLTOALL astro_alltoall_get_type()
G_DECLARE_FINAL_TYPE(AstroAlltoall, astro_alltoall, ASTRO, ALLTOALL, MpiExchange)
GST_ELEMENT_REGISTER_DECLARE(astroalltoall)

G_END_DECLS
