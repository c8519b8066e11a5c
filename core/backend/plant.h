/* Defects in kernels, in a build for the test that `gst-astro qualify` finds them, which chooses
 * one at a time; elsewhere there are none. */
#pragma once

typedef enum {
  ASTRO_PLANTED_NOTHING,
  ASTRO_PLANTED_OFF_BY_ONE, /* in one shape */
  ASTRO_PLANTED_LOST_COUNT,
  ASTRO_PLANTED_SLOW
} AstroPlanted;

#define ASTRO_PLANTED_SLOW_US 100000

#ifdef ASTRO_PLANTS_DEFECTS
extern AstroPlanted astro_planted;
#define ASTRO_PLANT(which, defect)                                                                 \
  do {                                                                                             \
    if (astro_planted == (which))                                                                  \
      (void)(defect);                                                                              \
  } while (0)
#else
#define ASTRO_PLANT(which, defect) ((void)0)
#endif
