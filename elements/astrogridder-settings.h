/* The properties of astrogridder, and the grids that follow from them. */
#pragma once

#include "core/gridder/backend.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

typedef enum { ASTRO_STOKES_I, ASTRO_STOKES_IQUV } AstroStokes;
typedef enum {
  ASTRO_ALGORITHM_WSTACKING,
  ASTRO_ALGORITHM_WPROJECTION,
  ASTRO_ALGORITHM_DIRECT
} AstroAlgorithm;
typedef enum { ASTRO_TAPS_NEAREST, ASTRO_TAPS_INTERPOLATED } AstroTapsKind;

GType astro_stokes_get_type(void);
GType astro_algorithm_get_type(void);
GType astro_weighting_get_type(void);
GType astro_taps_kind_get_type(void);
GType astro_taper_get_type(void);

typedef struct {
  guint size;   /* 0: from the data (elements/astrogridder-auto.h) */
  double cell;  /* arcsec; 0: from field and size, or the data */
  double field; /* degrees */
  char *pols;   /* NULL: those of stokes */
  AstroStokes stokes;
  AstroWeighting weighting;
  double robust;
  gboolean per_channel, cumulative, deterministic;
  guint interval;
  AstroAlgorithm algorithm;
  double accuracy, padding, smearing;
  gboolean asks_accuracy; /* it was set by the user */
  guint support;
  guint oversampling, w_planes; /* these two, kernel and taper: of wprojection */
  AstroTapsKind kernel;
  AstroSpreadKind taper;
  char *centre; /* "l,m", NULL: 0,0 */
  char *earth_orientation;
  char *max_memory;
  char *share; /* RANK/RANKS */
} AstroGridderSettings;

const AstroGridAlgorithm *astro_gridder_settings_algorithm(const AstroGridderSettings *settings);

/* Whether they can give a grid, in any precision; the error names the property. */
gboolean astro_gridder_settings_check(const AstroGridderSettings *settings, GError **error);

/* Properties of a grid that caps agree on, beside the settings. */
typedef struct {
  gboolean is_double;
  gboolean psf;
  gboolean wide_psf; /* twice as large as the user's image, with the PSF: core/stream/grid.h */
} AstroGridChoice;

/* The algorithm's configuration and the grid, with the PSF among its products or without. Clear the
 * grid with astro_grid_clear(). */
gboolean astro_gridder_settings_choose(const AstroGridderSettings *settings,
                                       const AstroGridChoice *choice, AstroGriddingConfig *config,
                                       AstroGrid *grid, GError **error);

/* Caps of the grids of visibilities with those caps; NULL: that choice is impossible. */
GstStructure *astro_gridder_settings_caps(const AstroGridderSettings *settings,
                                          const GstStructure *from, const AstroGridChoice *choice);

extern const AstroField astro_gridder_settings_fields[];
/* The settings at this moment, since properties may be set at any time. Clear the copy. */
void astro_gridder_settings_copy(gconstpointer element, AstroGridderSettings *to,
                                 const AstroGridderSettings *from);
void astro_gridder_settings_clear(AstroGridderSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroGridderSettings, astro_gridder_settings_clear)

G_END_DECLS
