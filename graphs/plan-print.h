/* Prints a plan. */
#pragma once

#include "graphs/plan-roofs.h"

#include <stdio.h>

G_BEGIN_DECLS

void astro_plan_print(const AstroPlanShapes *shapes, const AstroPlanRoofs *roofs,
                      const AstroMachine *machine, FILE *out);

G_END_DECLS
