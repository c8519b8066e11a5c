/* The stage "degridder": visibilities in, what a model of the sky predicts for them out, or what is
 * left of them without it. Planes are made of the model for many dumps together, so that dumps are
 * added first, predicted together, and then taken. */
#pragma once

#include "core/gridder/degrid/degrid.h"
#include "core/gridder/dumps.h"

G_BEGIN_DECLS

typedef struct {
  AstroPrepareConfig visibilities; /* keep_weights is not used */
  AstroGriddingConfig gridder; /* channels: of the model, 1 or as many as the visibilities have */
  AstroGrid grid;              /* as astro_wstacking.choose left it; products of the model */
  /* [channel][product][y][x] in the precision of gridder, Jy/pixel; the caller's, and stays. */
  gconstpointer model;
  double scale; /* what the model's unit is in that of the visibilities */
  gboolean subtract;
  guint64 budget; /* the most bytes of its memory that a device may plan with; 0: no limit */
} AstroDegridderConfig;

typedef enum {
  /* Before the first dump and whenever the observation changes; forgets all dumps. */
  ASTRO_DEGRID_OBSERVE,
  ASTRO_DEGRID_FORGET,  /* all dumps that were added */
  ASTRO_DEGRID_ADD,     /* a dump of which middle_ns or uvw are known */
  ASTRO_DEGRID_PREDICT, /* all dumps that were added */
  ASTRO_DEGRID_TAKE,    /* dumps from `first` on: block in, block out, which may be the same */
} AstroDegridCall;

typedef struct {
  AstroDegridCall call;
  AstroObservation *observation; /* OBSERVE; NULL is an error */
  gint64 middle_ns;              /* ADD: after the observation's start */
  const double *uvw; /* ADD: metres, 3 a baseline, in place of those of the stations; or NULL */
  guint64 first, at, dumps; /* TAKE: so many, `first` of those that were predicted on, to dump
                               number `at` of the blocks on */
} AstroDegridArguments;

extern const AstroBackend astro_degridder_reference, astro_degridder_cpu;
extern const AstroBackend *const astro_degridder_backends[];

/* Pairs of different stations, of the baselines of a dump; bytes of a dump of the blocks. These and
 * the next functions are for all backends. */
guint64 astro_degridder_pairs(const AstroDegridderConfig *config);
gsize astro_degridder_dump_bytes(const AstroDegridderConfig *config);
/* Whether model and visibilities have channels that go together. */
gboolean astro_degridder_check(const AstroDegridderConfig *config, GError **error);
/* predicted: dumps. */
gboolean astro_degridder_check_take(const AstroDegridderConfig *config, guint64 predicted,
                                    const AstroBlock *in, const AstroBlock *out,
                                    const AstroDegridArguments *arguments, GError **error);
/* The sums of the model's images, [channel][product]: what it predicts for a station with itself.
 * To be freed. */
double *astro_degridder_totals(const AstroDegridderConfig *config);

/* Bytes that predicting so many dumps together needs, beside the model and the blocks. */
guint64 astro_degridder_bytes(const AstroDegridderConfig *config, guint64 dumps);
/* The most dumps that can be predicted together, whatever the memory. */
guint64 astro_degridder_most_dumps(const AstroDegridderConfig *config);

/* The wanted products of a model: each visibility's correlations must follow from them. basis: of
 * the stream. */
gboolean astro_degridder_check_products(char **products, const char *basis, guint pols,
                                        GError **error);

G_END_DECLS
