/* The lines in which elements are compared with their references, and timed. Sources have noise, so
 * that no two values are alike, and losses where they can. */
#include "graphs/qualify-elements.h"

#define WHEN "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 "
#define VOLTAGES(format)                                                                           \
  "astroskysrc stations={1-9} pols={1|2} noise=5 bandwidth=1e6 block-steps={64-3000} "             \
  "seed={1-900} "                                                                                  \
  "duration=0.01 " WHEN "! application/x-astro-voltages,format=" format " "
#define MANY_VOLTAGES(format, duration)                                                            \
  "astroskysrc stations=16 noise=5 bandwidth=4e6 repeat=1 duration=" duration " " WHEN             \
  "! application/x-astro-voltages,format=" format " "
#define SPECTRA "! astrochannelizer channels={2-32} taps={1-4} backend=reference "
#define VISIBILITIES                                                                               \
  "astrovissrc stations={3-12} noise=1 channels={1-7} integration=60 duration={60-420} "           \
  "seed={1-900} loss=0.2 sky=0,0,1;0.004,-0.003,2 " WHEN
#define MANY_VISIBILITIES                                                                          \
  "astrovissrc stations=32 noise=1 channels=8 integration=10 duration=200 loss=0.2 " WHEN
/* Few, so that grids are made quickly: only the last element is looked at. Those before it are on
 * the CPU, which adds up in the same order each time. */
#define FEW_VISIBILITIES                                                                           \
  "astrovissrc stations={3-7} noise=1 channels={1-3} integration=60 duration={60-120} "            \
  "seed={1-900} loss=0.2 sky=0,0,1;0.004,-0.003,2 " WHEN
#define GRIDS                                                                                      \
  FEW_VISIBILITIES                                                                                 \
  "! astrogridder size={16|18|30} cell={60-200} interval={1-2} accuracy={1e-2|1e-4} "              \
  "per-channel={true|false} backend=cpu ! astrofft backend=cpu "
#define MANY_GRIDS MANY_VISIBILITIES "! astrogridder size=256 cell=60 "
#define IMAGES GRIDS "! astroimage backend=cpu "
#define CUBES                                                                                      \
  FEW_VISIBILITIES                                                                                 \
  "! astrogridder size={16|18|30} cell=120 per-channel=true backend=cpu ! astrofft backend=cpu "   \
  "! astroimage backend=cpu "
#define CATALOGUES                                                                                 \
  "astrocatsrc points={1-400} catalogues={1-4} seed={1-900} footprint={band:0,20,-10,10|cap:9,"    \
  "80,5} "

const AstroQualifyElement astro_qualify_elements[] = {
  { "astrodelay", VOLTAGES("{CI8|CF32LE|CI16LE|CI4}") "! STAGE",
    MANY_VOLTAGES("CI8", "0.3") "! STAGE", 4e-6, 4e-6 },
  { "astrosideband", VOLTAGES("{CI8|CF32LE|CI16LE|CI4}") "! STAGE",
    MANY_VOLTAGES("CI8", "0.5") "! STAGE" },
  { "astroselect", VISIBILITIES "! STAGE stations={2,0|0-1|1} pols={0|1|0-1}",
    MANY_VOLTAGES("CI8", "0.5") "! STAGE stations=3-12" },
  { "astrojoin",
    "tee name=t ! queue ! astroselect stations=0 ! it.sink_0 t. ! queue ! astroselect stations=1- "
    "! it.sink_1 astroskysrc stations={2-9} bandwidth=1e6 noise=5 duration=0.01 "
    "block-steps={64-3000} ! application/x-astro-voltages,format={CI8|CI4|CF32LE} ! t. STAGE",
    "tee name=t ! queue ! astroselect stations=0-7 ! it.sink_0 t. ! queue ! astroselect "
    "stations=8- ! it.sink_1 " MANY_VOLTAGES("CI8", "0.5") "! t. STAGE" },
  { "astroadd",
    VISIBILITIES "! tee name=t ! queue ! it.sink_0 t. ! queue ! astroconvert ! it.sink_1 STAGE",
    MANY_VISIBILITIES "! tee name=t ! queue ! it.sink_0 t. ! queue ! it.sink_1 STAGE", 2e-7, 2e-7 },
  { "astroflag",
    VOLTAGES("CF32LE") SPECTRA
    "! STAGE method={kurtosis|threshold} block={64-200} threshold={3-5} false-alarm=0.01",
    MANY_VOLTAGES("CI8", "0.1") "! astrochannelizer channels=64 ! STAGE block=256" },
  { "astrosearch",
    "astroskysrc stations=1 noise=5 bandwidth=1e6 seed={1-900} duration=0.02 " WHEN
    "! application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=16 backend=reference "
    "! astropower channel-step=16 integration=2 backend=reference "
    "! STAGE widths={1,2|1|2,3,5} window={160-300} threshold={2-4}",
    "astroskysrc stations=16 noise=5 bandwidth=4e6 repeat=1 duration=0.1 "
    "! astrochannelizer channels=16 ! astropower channel-step=16 integration=4 ! STAGE "
    "widths=1,2,4,8,16" },
  { "astrogridder",
    VISIBILITIES
    "! STAGE size={16|18|30|64} cell={60-200} interval={0-3} accuracy={1e-2|1e-4|1e-7} "
    "algorithm={wstacking|wprojection} weighting={natural|uniform|briggs} per-channel={true|false}",
    MANY_VISIBILITIES "! STAGE size=256 cell=60", 2e-5, 2e-5, 0.05 },
  { "astrodegridder", VISIBILITIES "! STAGE model=$MODEL accuracy=1e-7 subtract={true|false}",
    MANY_VISIBILITIES "! STAGE model=$MODEL", 2e-6, 2e-6, 0,
    "astrovissrc stations=8 channels=4 integration=60 duration=300 sky=0,0,1;0.004,-0.003,2 " WHEN
    "! astrogridder size=64 cell=120 ! astrofft ! astroimage "
    "! application/x-astro-image,psf=(boolean)true ! astroclean iterations=200 output=model" },
  { "astroimage", GRIDS "! STAGE", MANY_GRIDS "! astrofft ! STAGE", 2e-6, 2e-6 },
  { "astroclean",
    IMAGES "! application/x-astro-image,psf=(boolean)true ! STAGE iterations={1-40} "
           "output={restored|model|residual} scales={0|0,2} gain=0.1",
    MANY_GRIDS "! astrofft ! astroimage ! application/x-astro-image,psf=(boolean)true "
               "! STAGE iterations=20",
    1e-4, 1e-4 },
  { "astroprimarybeam", IMAGES "! STAGE diameter={10-40}",
    MANY_GRIDS "interval=1 ! astrofft ! astroimage ! STAGE diameter=25", 1e-5, 1e-5 },
  { "astroterms", CUBES "! STAGE terms={1-2}",
    MANY_GRIDS "per-channel=true ! astrofft ! astroimage ! STAGE", 1e-5, 1e-5 },
  { "astrocalibrate",
    VISIBILITIES "phase-error=20 gain-error=0.1 ! STAGE sky=0,0,1 interval={60-300} mode={both|"
                 "solve} type={phase|gain|full|bandpass}",
    MANY_VISIBILITIES "phase-error=20 ! STAGE sky=0,0,1 interval=60 mode=both", 1e-5, 1e-5 },
  { "astrohistogram",
    CATALOGUES "! it.random astrocatsrc points={1-400} seed={1-900} ! it.data STAGE "
               "method={tree|brute|auto} min-angle={1-60}",
    "astrocatsrc points=20000 catalogues=2 seed=2 ! it.random astrocatsrc points=20000 ! it.data "
    "STAGE" },
  { "astrocatsrc",
    "STAGE points={1-3000} catalogues={1-4} seed={1-900} footprint={band:0,20,-10,10|cap:9,80,5}",
    "STAGE points=1000000" },
  { NULL },
};
