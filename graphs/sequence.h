/* The command gst-astro run. */
#pragma once

#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_run(const AstroArguments *arguments);

G_END_DECLS
