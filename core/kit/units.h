/* Factors between units: the code calculates in radians, users and files use degrees. */
#pragma once

#include <glib.h>

#define ASTRO_DEGREES (180 / G_PI) /* in a radian */
#define ASTRO_DEGREE (G_PI / 180)  /* in radians */
#define ASTRO_NS_PER_SECOND 1e9
#define ASTRO_NS_PER_DAY 86400e9
