/* Prints a plan. */
#pragma once

#include "graphs/plan-roofs.h"

#include <stdio.h>

G_BEGIN_DECLS

/* The name of the roof that holds a stage, such as "memory". */
const char *astro_plan_roof_name(const AstroPlanRow *row);
void astro_plan_print(const AstroPlanShapes *shapes, const AstroPlanRoofs *roofs,
                      const AstroMachine *machine, FILE *out);

G_END_DECLS
