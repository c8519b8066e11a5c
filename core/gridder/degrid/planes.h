/* Planes of a model: its images, rotated to some w and transformed. */
#pragma once

#include "core/gridder/gridder.h"
#include "core/gridder/sorted.h"

G_BEGIN_DECLS

/* The images of one channel, divided by the transform of the spreading function:
 * [product][y][pixel from the last to the first of a row, so that l rises], with alternating signs,
 * which put the origin of the transform in the middle. Single or double. NULL: there is no
 * memory. Free with free(). */
gpointer astro_degrid_correct(const AstroGriddingConfig *config, const AstroGrid *grid,
                              double w_step, guint products, gconstpointer images);

typedef struct AstroDegridPlanes AstroDegridPlanes;

AstroDegridPlanes *astro_degrid_planes_new(const AstroGriddingConfig *config, const AstroGrid *grid,
                                           guint products, GError **error);
void astro_degrid_planes_free(AstroDegridPlanes *planes);

/* Makes the plane at w of corrected images. needed[band]: whether any visibility reaches the 16
 * rows of the grid; other rows are undefined. Returns [product][v][u]. */
gconstpointer astro_degrid_planes_make(AstroDegridPlanes *planes, gconstpointer corrected, double w,
                                       const guint8 *needed);

guint64 astro_degrid_planes_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                                  guint products);
/* Bytes of a thread, at most. */
guint64 astro_degrid_planes_scratch(const AstroGriddingConfig *config, const AstroGrid *grid);

G_END_DECLS
