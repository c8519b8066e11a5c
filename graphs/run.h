/* Runs one pipeline of a graph. */
#pragma once

#include "graphs/arguments.h"
#include "graphs/passes.h"

G_BEGIN_DECLS

/* Says what is wrong with a pipeline before it starts; NULL: nothing that shows by then. */
char *astro_pass_check(const AstroPass *pass);

/* Plays it to its end and returns the exit status. passing: a folder that is removed afterwards, so
 * that its files are not told as results, or NULL. Ctrl-C stays watched when it returns. */
int astro_pass_run(const AstroPass *pass, const char *passing, const AstroArguments *arguments);

G_END_DECLS
