/* Points may carry more than weights, a scalar such as the convergence (k) or a shear (g), and sums
 * over pairs follow from it; those of points alone have an n.
 *
 * A histogram of them has several planes a kind of pairs, each named in its caps: "dd" is the sum
 * of the products of weights, as ever, and dd_r, dd_xip and so on are the others. The last one,
 * dd_var, is the sum of the squares of what each pair adds, averaged over the directions of shears:
 * the variance that shapes alone give the sums. */
#pragma once

#include <glib-object.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef enum {
  ASTRO_PAIR_FIELDS_NONE,
  ASTRO_PAIR_FIELDS_KK, /* a scalar with a scalar */
  ASTRO_PAIR_FIELDS_NK, /* a scalar around points */
  ASTRO_PAIR_FIELDS_NG, /* a shear around points */
  ASTRO_PAIR_FIELDS_GG, /* a shear with a shear */
} AstroPairFields;
#define ASTRO_TYPE_PAIR_FIELDS astro_pair_fields_get_type()
GType astro_pair_fields_get_type(void);

#define ASTRO_PAIR_MOST_PLANES 7
#define ASTRO_PAIR_PLANE_WEIGHT 0 /* sum of the products of weights */
#define ASTRO_PAIR_PLANE_R 1      /* the same times the angle, arcmin */
#define ASTRO_PAIR_PLANE_FIRST 2  /* the first plane of products of fields */

/* The points of one side carry this. */
typedef enum { ASTRO_CARRIED_NOTHING, ASTRO_CARRIED_SCALAR, ASTRO_CARRIED_SHEAR } AstroCarried;

const char *astro_pair_fields_name(AstroPairFields fields); /* "gg" */
AstroCarried astro_pair_fields_carried(AstroPairFields fields, gboolean second);
/* Planes a kind of pairs: 1 if nothing is carried. */
guint astro_pair_fields_planes(AstroPairFields fields);
/* "xip", and NULL for the plane of weights, which has the name of the kind alone. */
const char *astro_pair_fields_plane(AstroPairFields fields, guint plane);
/* Those of a histogram whose caps name these kinds: "dd:dd_r:dd_xi:dd_var". */
AstroPairFields astro_pair_fields_of_kinds(const char *kinds);

ASTRO_END_DECLS
