/* Pads of the elements that stand between ranks. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GstPad *mpi_add_pad(GstElement *element, const char *name, GstPadDirection direction,
                    GstCaps *caps);

/* An event function of a source pad: a seek here would leave the other ranks where they are. */
gboolean mpi_drop_seek(GstPad *pad, GstObject *parent, GstEvent *event);

G_END_DECLS
