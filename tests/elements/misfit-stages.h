/* Each element that takes a stream, with a good stream for it: several buffers, all with OFFSET,
 * times and counts as our own sources and stages give them. */
#pragma once

#include "config.h"
#include <glib.h>

typedef struct {
  const char *element;  /* its name, and its settings as in gst-launch */
  const char *stream;   /* a line that makes its input */
  const char *pad;      /* its sink pad; NULL: sink */
  const char *wanted;   /* caps that downstream takes; NULL: any */
  const char *location; /* for a sink: the ending of its file's name; NULL: it has a source pad */
  gboolean each_alone;  /* each buffer stands for itself */
  gboolean has_model;   /* it needs a model of the sky */
} TestMisfitStage;

#define MISFIT_SKY                                                                                 \
  "astroskysrc stations=4 pols=2 noise=5 frequency=1.5e8 bandwidth=1e6 block-steps=2048 "          \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 duration=0.012288"
#define MISFIT_VOLTAGES MISFIT_SKY " ! application/x-astro-voltages,format=CF32LE"
#define MISFIT_VOLTAGES_8 MISFIT_SKY " ! application/x-astro-voltages,format=CI8"
/* Buffers of 2048 steps, each of which is a frame of VDIF with 8 bits. */
#define MISFIT_FRAMES                                                                              \
  "astroskysrc stations=4 pols=2 noise=5 frequency=1.5e8 bandwidth=1048576 block-steps=2048 "      \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 duration=0.01171875 ! "                    \
  "application/x-astro-voltages,format=CF32LE"
#define MISFIT_SPECTRA                                                                             \
  MISFIT_VOLTAGES " ! astrodelay backend=cpu ! astrochannelizer channels=16 taps=2 backend=cpu"
/* All their samples are good. */
#define MISFIT_DELAYED_SPECTRA                                                                     \
  MISFIT_VOLTAGES " ! astrochannelizer channels=16 taps=2 backend=cpu ! astrodelay backend=cpu"
#define MISFIT_POWER MISFIT_SPECTRA " ! astropower integration=4 backend=cpu"
#define MISFIT_VISIBILITIES                                                                        \
  "astrovissrc stations=6 pols=2 noise=1 frequency=1.5e8 bandwidth=1e6 channels=4 integration=60 " \
  "duration=360 phase-centre=246.5,38 start-time=2026-11-20T12:00:00"
#define MISFIT_GRIDS                                                                               \
  MISFIT_VISIBILITIES " ! astrogridder size=32 cell=120 interval=1 accuracy=1e-2 backend=cpu"
#define MISFIT_IMAGES                                                                              \
  MISFIT_GRIDS " ! astrofft backend=cpu ! astroimage backend=cpu ! application/x-astro-image,psf=" \
               "(boolean)true"
#define MISFIT_CUBES                                                                               \
  MISFIT_VISIBILITIES " ! astrogridder size=32 cell=120 interval=1 accuracy=1e-2 "                 \
                      "per-channel=true backend=cpu ! astrofft backend=cpu ! astroimage "          \
                      "backend=cpu"
#define MISFIT_CATALOGUES                                                                          \
  "astrocatsrc points=300 catalogues=6 seed=3 footprint=band:0,20,-10,10 ! "                       \
  "application/x-astro-catalogue"

static const TestMisfitStage test_misfit_stages[] = {
  { "astroconvert backend=cpu", MISFIT_VOLTAGES, NULL, "application/x-astro-voltages,format=CI8" },
  { "astrotranspose layout=channel:station:pol:time backend=cpu", MISFIT_SPECTRA },
  { "astroselect stations=2,0 backend=cpu", MISFIT_VOLTAGES },
  { "astrojoin backend=cpu", MISFIT_VOLTAGES, "sink_0" },
  { "astroadd backend=cpu", MISFIT_VISIBILITIES, "sink_0" },
  { "astrosideband backend=cpu", MISFIT_VOLTAGES },
  { "astrochannelizer channels=16 taps=2 backend=cpu", MISFIT_VOLTAGES },
  { "astrodelay backend=cpu", MISFIT_VOLTAGES },
  { "astrocorrelator integration=100 backend=cpu", MISFIT_SPECTRA " ! astrotranspose" },
  { "astropower integration=100 backend=cpu", MISFIT_SPECTRA },
  { "astrodedisperse dm=0,1 backend=cpu", MISFIT_POWER },
  { "astrofold period=0.001 interval=0.0025 bins=8 backend=cpu", MISFIT_POWER },
  { "astroflag block=100 backend=cpu", MISFIT_SPECTRA },
  { "astrobeamform beams=0,0;0.01,0 backend=cpu", MISFIT_DELAYED_SPECTRA },
  { "astrophaseshift centre=246.6,38.1 backend=cpu", MISFIT_VISIBILITIES },
  { "astrocalibrate sky=0,0,1 interval=120 backend=cpu", MISFIT_VISIBILITIES },
  /* By the formula, whose bits do not depend on what is predicted together. */
  { "astrodegridder subtract=true backend=reference", MISFIT_VISIBILITIES, .has_model = TRUE },
  { "astrogridder size=32 cell=120 accuracy=1e-2 backend=cpu", MISFIT_VISIBILITIES },
  { "astrofft backend=cpu", MISFIT_GRIDS, .each_alone = TRUE },
  { "astroimage backend=cpu", MISFIT_GRIDS " ! astrofft backend=cpu" },
  { "astroclean iterations=5", MISFIT_IMAGES, .each_alone = TRUE },
  { "astroprimarybeam diameter=25 backend=cpu", MISFIT_IMAGES, .each_alone = TRUE },
  { "astroterms backend=cpu", MISFIT_CUBES, .each_alone = TRUE },
  { "astromeasure", MISFIT_IMAGES, .each_alone = TRUE },
  { "astrorender width=64 height=64", MISFIT_IMAGES, .each_alone = TRUE },
  { "astroobserve", MISFIT_VOLTAGES },
  { "astrosearch widths=1,2 window=64 threshold=3 backend=cpu",
    MISFIT_SPECTRA " ! astropower channel-step=16 integration=2 backend=cpu" },
  { "astroring trigger-at=0.006", MISFIT_VOLTAGES },
  { "astrohistogram", MISFIT_CATALOGUES, "data" },
  { "astropay packet=vdif packet-steps=400", MISFIT_VOLTAGES_8 },
  { "astrofitssink", MISFIT_VISIBILITIES, .location = "misfit.uvfits" },
  { "astrorecordsink format=vdif bits=8 rms=3", MISFIT_FRAMES, .location = "misfit.vdif" },
#ifdef HAVE_HDF5
  { "astrouvh5sink", MISFIT_VISIBILITIES, .location = "misfit.uvh5" },
#endif
#ifdef HAVE_CASACORE
  { "astromssink", MISFIT_VISIBILITIES, .location = "misfit.ms" },
#endif
#ifdef HAVE_MPI
  { "astroreduce", MISFIT_VISIBILITIES },
  { "astroalltoall", MISFIT_SPECTRA },
#endif
};
