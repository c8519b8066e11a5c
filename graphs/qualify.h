/* The command gst-astro qualify. */
#pragma once

#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_qualify(const AstroArguments *arguments);

G_END_DECLS
