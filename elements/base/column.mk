# Base classes of elements, and code that elements share. Files that elements outside the tree use too are
# in libgstastro-1.0.
library_sources += elements/base/astrostage.c elements/base/astrostage.h elements/base/astrostage-parts.h \
  elements/base/astrostage-backend.c elements/base/astrostage-lanes.c elements/base/astrolanes.h elements/base/astrostage-handout.c elements/base/astrohandout.h elements/base/astrostage-input.c elements/base/astrostage-output.c \
  elements/base/astrostage-caps.c elements/base/astrostage-counts.c elements/base/astrostage-events.c elements/base/astrostage-properties.c \
  elements/base/astrosteps.c elements/base/astrosteps.h elements/base/astromerge.c elements/base/astromerge.h \
  elements/base/astromerge-parts.h elements/base/astromerge-align.c elements/base/astromerge-axis.c elements/base/astromerge-agree.c elements/base/astromerge-plan.c \
  elements/base/astromerge-output.c elements/base/astromergepad.c elements/base/astromergepad.h \
  elements/base/astroincoming.c elements/base/astroincoming.h elements/base/astroinputs.c elements/base/astroinputs.h \
  elements/base/astroonce.c elements/base/astroonce.h \
  elements/base/astrooutgoing.c elements/base/astrooutgoing.h elements/base/astrodeadline.c \
  elements/base/astrodeadline.h elements/base/astrofields.c elements/base/astrofields.h elements/base/astrowork.c elements/base/astrowork.h elements/base/astrolog.c elements/base/astrolog.h elements/base/astroreader.c \
  elements/base/astroreader.h elements/base/astronumberorauto.c elements/base/astronumberorauto.h \
  elements/base/astrofilesrc.c elements/base/astrofilesrc.h elements/base/astroplan.c elements/base/astroplan.h \
  elements/base/astromemory.c elements/base/astromemory.h elements/base/astroblocklength.c elements/base/astroblocklength.h elements/base/astroboxes.c elements/base/astroboxes.h elements/base/astroshares.c elements/base/astroshares.h
element_tests += tests/elements/boxes
element_sources += elements/base/astroimagefile.c elements/base/astroimagefile.h \
  elements/base/astroscene.c elements/base/astroscene.h elements/base/astrosimulator.c \
  elements/base/astrosimulator.h elements/base/astroliveclock.c elements/base/astroliveclock.h elements/base/astroearth.c \
  elements/base/astroearth.h elements/base/astrostamps.c elements/base/astrostamps.h elements/base/astrohorizon.c elements/base/astrohorizon.h elements/base/astromeans.c elements/base/astromeans.h \
  elements/base/astrointegrations.c elements/base/astrointegrations.h elements/base/astrosteptimes.c elements/base/astrosteptimes.h elements/base/astrointegration.c \
  elements/base/astrolength.c elements/base/astrolength.h elements/base/astrointegration.h elements/base/astrorowsrc.c elements/base/astrorowsrc.h
