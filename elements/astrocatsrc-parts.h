/* The parts of the element astrocatsrc, which its files share. */
#pragma once

#include "core/histogram/regions.h"
#include "core/lib/catalogue/mask.h"
#include "elements/astrocatsrc-points.h"
#include "elements/astrocatsrc.h"
#include "elements/base/astrodeadline.h"

G_BEGIN_DECLS

typedef struct {
  guint64 points, seed;
  guint catalogues, regions;
  char *footprint;
  double footprint_cell;      /* degrees; 0: chosen from the number of points */
  AstroClustering clustering; /* slope 0: no clustering */
  char *location;
  char *ra_column, *dec_column, *weight_column, *region_column;
  char *distance_column, *redshift_column, *k_column, *g1_column, *g2_column;
  char *bitweight_columns;
  double omega_m, min_distance, max_distance;
  AstroWorkChoice work;
} AstroCatSrcSettings;

struct _AstroCatSrc {
  GstPushSrc parent;
  AstroCatSrcSettings settings;

  /* from start to stop */
  AstroCatSrcSettings now; /* the properties at the start */
  gint length;             /* catalogues, atomic: queries come from any thread; 0: stopped */
  AstroFootprint footprint;
  AstroMask *mask; /* of a footprint that comes from a file */
  AstroRegions *regions;
  AstroCatalogue file; /* with a location: the points of all catalogues in the file */
  GArray *ends;        /* where each of those catalogues ends, in points (guint64) */
  guint next;
  AstroEvenPoints even; /* closed for points that are not */
  AstroDeadline deadline;
};

/* ---- what it reads, at the start ---- */

/* Reads all catalogues of the file, in place of simulated ones. */
gboolean astro_cat_src_read_file(AstroCatSrc *self, GError **error);
gboolean astro_cat_src_find_footprint(AstroCatSrc *self, GError **error);

/* ---- simulated catalogues ---- */

gboolean astro_cat_src_lay_out_regions(AstroCatSrc *self, GError **error);
/* Posts what a correlation function should find: the slope, and between which angles (arcmin). */
void astro_cat_src_tell_mock(AstroCatSrc *self);
/* A view of a catalogue with these columns, whose values are not there yet. */
AstroCatalogue astro_cat_src_empty_mock(const AstroCatSrc *self);
GstBuffer *astro_cat_src_make_mock(AstroCatSrc *self, GError **error);
/* Returns FALSE. */
gboolean astro_cat_src_refuse_size(guint64 points, guint columns, GError **error);

G_END_DECLS
