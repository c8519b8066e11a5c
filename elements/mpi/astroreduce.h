/* The element astroreduce: its type, and its registration for the plugin. */
#pragma once

#include "elements/mpi/exchange.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_REDUCE astro_reduce_get_type()
G_DECLARE_FINAL_TYPE(AstroReduce, astro_reduce, ASTRO, REDUCE, MpiExchange)
GST_ELEMENT_REGISTER_DECLARE(astroreduce)

G_END_DECLS
