/* The commands gst-astro list, show and print. */
#pragma once

#include "graphs/arguments.h"

G_BEGIN_DECLS

int astro_list(const AstroArguments *arguments);
/* Prints the description and the parameters alone. */
int astro_explain(const AstroArguments *arguments);
int astro_show(const AstroArguments *arguments);
int astro_print(const AstroArguments *arguments);

G_END_DECLS
