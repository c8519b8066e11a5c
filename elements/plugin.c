/* The plugin "astro": registers every element. */
#include "config.h"
#include <gst/gst.h>

#include "elements/astroadd.h"
#include "elements/astrobeamform.h"
#include "elements/astrocalibrate.h"
#include "elements/astrocatsrc.h"
#include "elements/astrochannelizer.h"
#include "elements/astroclean.h"
#include "elements/astroconvert.h"
#include "elements/astrocorrelator.h"
#include "elements/astrodedisperse.h"
#include "elements/astrodegridder.h"
#include "elements/astrodelay.h"
#include "elements/astrodepay.h"
#include "elements/astrofft.h"
#include "elements/astrofitssink.h"
#include "elements/astrofitssrc.h"
#include "elements/astrofold.h"
#include "elements/astroflag.h"
#include "elements/astrogridder.h"
#include "elements/astrohistogram.h"
#ifdef HAVE_SOUP
#include "elements/astrohttpsink.h"
#endif
#include "elements/astroimage.h"
#include "elements/astrojoin.h"
#include "elements/astromeasure.h"
#include "elements/astroobserve.h"
#include "elements/astroopen.h"
#include "elements/astropay.h"
#include "elements/astrorecordsrc.h"
#include "elements/astrorecordsink.h"
#include "elements/astropower.h"
#include "elements/astroprimarybeam.h"
#include "elements/astrorender.h"
#include "elements/astroring.h"
#include "elements/astrophaseshift.h"
#include "elements/astrosearch.h"
#include "elements/astrosave.h"
#include "elements/astroselect.h"
#include "elements/astrosideband.h"
#include "elements/astroskysrc.h"
#include "elements/astroterms.h"
#include "elements/astrotpacf.h"
#include "elements/astrotranspose.h"
#include "elements/astroudpsrc.h"
#include "elements/astrovissrc.h"

#define PACKAGE "gst-astro"
#define GST_PLUGIN_ORIGIN "Unknown package origin"

static gboolean plugin_init(GstPlugin *plugin)
{
  gboolean ok = TRUE;
  ok &= GST_ELEMENT_REGISTER(astroadd, plugin);
  ok &= GST_ELEMENT_REGISTER(astrocatsrc, plugin);
  ok &= GST_ELEMENT_REGISTER(astrochannelizer, plugin);
  ok &= GST_ELEMENT_REGISTER(astroclean, plugin);
  ok &= GST_ELEMENT_REGISTER(astroconvert, plugin);
  ok &= GST_ELEMENT_REGISTER(astrocorrelator, plugin);
  ok &= GST_ELEMENT_REGISTER(astrodegridder, plugin);
  ok &= GST_ELEMENT_REGISTER(astrodelay, plugin);
  ok &= GST_ELEMENT_REGISTER(astrodepay, plugin);
  ok &= GST_ELEMENT_REGISTER(astrofft, plugin);
  ok &= GST_ELEMENT_REGISTER(astrofitssink, plugin);
  ok &= GST_ELEMENT_REGISTER(astrofitssrc, plugin);
  ok &= GST_ELEMENT_REGISTER(astrofold, plugin);
  ok &= GST_ELEMENT_REGISTER(astroflag, plugin);
  ok &= GST_ELEMENT_REGISTER(astrogridder, plugin);
  ok &= GST_ELEMENT_REGISTER(astrohistogram, plugin);
#ifdef HAVE_SOUP
  ok &= GST_ELEMENT_REGISTER(astrohttpsink, plugin);
#endif
  ok &= GST_ELEMENT_REGISTER(astroimage, plugin);
  ok &= GST_ELEMENT_REGISTER(astrojoin, plugin);
  ok &= GST_ELEMENT_REGISTER(astromeasure, plugin);
  ok &= GST_ELEMENT_REGISTER(astroobserve, plugin);
  ok &= GST_ELEMENT_REGISTER(astroopen, plugin);
  ok &= GST_ELEMENT_REGISTER(astropay, plugin);
  ok &= GST_ELEMENT_REGISTER(astrorecordsrc, plugin);
  ok &= GST_ELEMENT_REGISTER(astrorecordsink, plugin);
  ok &= GST_ELEMENT_REGISTER(astropower, plugin);
  ok &= GST_ELEMENT_REGISTER(astrodedisperse, plugin);
  ok &= GST_ELEMENT_REGISTER(astroprimarybeam, plugin);
  ok &= GST_ELEMENT_REGISTER(astrorender, plugin);
  ok &= GST_ELEMENT_REGISTER(astroring, plugin);
  ok &= GST_ELEMENT_REGISTER(astrosearch, plugin);
  ok &= GST_ELEMENT_REGISTER(astrosave, plugin);
  ok &= GST_ELEMENT_REGISTER(astroselect, plugin);
  ok &= GST_ELEMENT_REGISTER(astrosideband, plugin);
  ok &= GST_ELEMENT_REGISTER(astrophaseshift, plugin);
  ok &= GST_ELEMENT_REGISTER(astrocalibrate, plugin);
  ok &= GST_ELEMENT_REGISTER(astrobeamform, plugin);
  ok &= GST_ELEMENT_REGISTER(astroskysrc, plugin);
  ok &= GST_ELEMENT_REGISTER(astroterms, plugin);
  ok &= GST_ELEMENT_REGISTER(astrotpacf, plugin);
  ok &= GST_ELEMENT_REGISTER(astrotranspose, plugin);
  ok &= GST_ELEMENT_REGISTER(astroudpsrc, plugin);
  ok &= GST_ELEMENT_REGISTER(astrovissrc, plugin);
  return ok;
}

/* The sources are under the LGPL; the built plugin links to FFTW, which is under the GPL. */
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, astro,
                  "Radio telescopes and sky catalogues as pipelines", plugin_init, PACKAGE_VERSION,
                  "GPL", "gst-astro", GST_PLUGIN_ORIGIN)
