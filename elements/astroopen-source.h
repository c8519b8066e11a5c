/* Makes the source that reads an input, and tells it the properties of astroopen. */
#pragma once

#include "elements/astroopen-find.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* A floating element with a pad "src"; NULL: an error of the element has been posted. fields: the
 * element's properties that go to sources, by their names. */
GstElement *astro_open_source_new(GstElement *self, const AstroOpenFound *found,
                                  const AstroField *fields);

G_END_DECLS
