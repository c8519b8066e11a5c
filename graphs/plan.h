/* The command gst-astro plan. */
#pragma once

#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_plan(const AstroArguments *arguments);

G_END_DECLS
