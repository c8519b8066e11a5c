/* What every source of a simulated stream needs once: properties of the scene, from start to stop,
 * caps, memory, times, what it tells downstream, and a live source's clock.
 *
 * A subclass says what it makes of the scene: take, describe, agree and make. */
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

  /* Rows of the scene that each says in its own words: ASTRO_SCENE_BANDWIDTH, ASTRO_SCENE_NOISE and
   * ASTRO_SIMULATOR_IS_LIVE. And those of a struct of properties in the instance, and its copy,
   * which take and all that comes after it read. */
  const AstroField *scene, *fields;
  gsize settings, now, settings_bytes;

  /* At the start: checks settings and scene, and says how many time steps a second has. */
  gboolean (*take)(AstroSimulator *self, gint *rate_n, gint *rate_d, GError **error);
  /* What the fields of caps can be that are its own. */
  void (*describe)(AstroSimulator *self, GstCaps *caps);
  /* Steps of a buffer of the stream that is agreed on. NULL: one, which is known from the start. */
  guint64 (*block_steps)(AstroSimulator *self);
  /* Steps of which the sky is made where the stream has that many (G_MAXUINT64: not known yet).
   * NULL: all of them. */
  guint64 (*sky_steps)(AstroSimulator *self, guint64 steps);
  /* A stream was agreed on: gets ready to make it. Before the next and at the stop: forget. */
  gboolean (*agree)(AstroSimulator *self, GError **error);
  void (*forget)(AstroSimulator *self);
  /* The next steps. An error: there is no memory. */
  GstFlowReturn (*make)(AstroSimulator *self, guint64 steps, GstBuffer **block);
};

/* From start to stop. */
typedef struct {
  AstroScene scene; /* as properties said at the start */
  AstroObservation *observation;
  AstroSky *sky;
  gint rate_n, rate_d; /* time steps a second */
  AstroStream stream;  /* that was agreed on */
  guint64 block;       /* steps of a buffer; 0: not known yet */
  guint64 next;        /* step */
  AstroDevice *reader; /* of the blocks; NULL: the host */
} AstroSimulation;

const AstroSimulation *astro_simulator_simulation(AstroSimulator *self);

/* Blocks come from a pool of our own: nobody else knows their size. NULL where memory is out. */
GstBuffer *astro_simulator_new_block(AstroSimulator *self, gsize bytes);
GstClockTime astro_simulator_time(AstroSimulator *self, guint64 step);
/* The stream is being stopped, or a user has had to wait: making what takes long is to be given up.
 * While a block is made astro_is_given_up() says the same. */
gboolean astro_simulator_is_stopping(AstroSimulator *self);

/* A row of scene that is every source's: what is-live gives. */
#define ASTRO_SIMULATOR_IS_LIVE(its_help)                                                          \
  {                                                                                                \
    ASTRO_FIELD_SAYS(BOOLEAN, "is-live", "Is live", its_help), .get = astro_simulator_get_live,    \
                                                               .set = astro_simulator_set_live     \
  }
void astro_simulator_get_live(GObject *object, GValue *value);
void astro_simulator_set_live(GObject *object, const GValue *value);

/* For class_init, once what is above stands: the properties of the scene, and the class's own. */
void astro_simulator_install_properties(AstroSimulatorClass *klass);

G_END_DECLS
