# Pictures for browsers.
core_sources += core/serve/pictures.c core/serve/pictures.h
element_sources += elements/astrohttpsink.c elements/astrohttpsink.h
