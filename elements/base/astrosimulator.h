/* The base of sources of simulated streams: properties of the scene, start and stop, caps, memory,
 * times, the events that it sends downstream, and the clock of a live source.
 *
 * A subclass implements take, describe, agree and make. */
#pragma once

#include <gst/base/gstpushsrc.h>
#include "core/backend/handles.h"
#include "core/lib/sky/scene.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroscene.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_SIMULATOR astro_simulator_get_type()
G_DECLARE_DERIVABLE_TYPE(AstroSimulator, astro_simulator, ASTRO, SIMULATOR, GstPushSrc)

struct _AstroSimulatorClass {
  GstPushSrcClass parent_class;

  const char *made;   /* for errors: "voltages" */
  const char *blocks; /* for errors: "blocks" */

  /* scene: rows of the scene whose help differs between sources: ASTRO_SCENE_BANDWIDTH,
   * ASTRO_SCENE_NOISE and ASTRO_SIMULATOR_IS_LIVE. fields: rows for the struct of the
   * subclass's properties in the instance, and for its copy, which take and all later methods
   * read. */
  const AstroField *scene, *fields;
  gsize settings, now, settings_bytes;

  /* At the start: checks settings and scene, and says how many time steps there are a second. */
  gboolean (*take)(AstroSimulator *self, gint *rate_n, gint *rate_d, GError **error);
  /* Adds resolved sources to the sky, before it is checked. NULL: there are no others. */
  gboolean (*add_sources)(AstroSimulator *self, AstroSky *sky, GError **error);
  /* The values that the subclass's own caps fields can have. */
  void (*describe)(AstroSimulator *self, GstCaps *caps);
  /* Steps of a buffer of the agreed stream. NULL: one step, which is known from the start. */
  guint64 (*block_steps)(AstroSimulator *self);
  /* Whether blocks may be longer or shorter than that, because no user has set their length and no
   * sample depends on it. NULL: they may not. */
  gboolean (*may_choose_block)(AstroSimulator *self);
  /* Steps for which the sky is computed, if the stream has that many (G_MAXUINT64: not known yet).
   * NULL: all of them. */
  guint64 (*sky_steps)(AstroSimulator *self, guint64 steps);
  /* A stream was agreed on: prepare to make it. forget is called before the next one and at the
   * stop. */
  gboolean (*agree)(AstroSimulator *self, GError **error);
  void (*forget)(AstroSimulator *self);
  /* Makes the next steps. An error means that there is no memory. */
  GstFlowReturn (*make)(AstroSimulator *self, guint64 steps, GstBuffer **block);
};

/* From start to stop. */
typedef struct {
  AstroScene scene; /* as the properties were at the start */
  AstroObservation *observation;
  AstroSky *sky;
  gint rate_n, rate_d; /* time steps a second */
  AstroStream stream;  /* the agreed one */
  guint64 block;       /* steps of a buffer; 0: not known yet */
  guint64 next;        /* step */
  AstroDevice *reader; /* reads the blocks; NULL: the host does */
} AstroSimulation;

const AstroSimulation *astro_simulator_simulation(AstroSimulator *self);

/* A block from the source's own pool, since only the source knows their size. NULL: there is no
 * memory. */
GstBuffer *astro_simulator_new_block(AstroSimulator *self, gsize bytes);
GstClockTime astro_simulator_time(AstroSimulator *self, guint64 step);
/* Whether the stream is being stopped, or a user has waited long enough: long work is to be given
 * up. While a block is made astro_is_given_up() says the same. */
gboolean astro_simulator_is_stopping(AstroSimulator *self);

/* The row of the property is-live, which every source has. */
#define ASTRO_SIMULATOR_IS_LIVE(its_help)                                                          \
  {                                                                                                \
    ASTRO_FIELD_SAYS(BOOLEAN, "is-live", "Is live", its_help), .get = astro_simulator_get_live,    \
                                                               .set = astro_simulator_set_live     \
  }
void astro_simulator_get_live(GObject *object, GValue *value);
void astro_simulator_set_live(GObject *object, const GValue *value);

/* For class_init, after the members above are set: installs the properties of the scene and those
 * of the class. */
void astro_simulator_install_properties(AstroSimulatorClass *klass);

G_END_DECLS
