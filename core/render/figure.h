/* A page with panels: the parts that do not change from frame to frame are drawn once and kept. */
#pragma once

#include "core/render/panel.h"
#include "core/render/pixels.h"

G_BEGIN_DECLS

typedef struct _AstroFigure AstroFigure;

AstroFigure *astro_figure_new(const AstroRenderStyle *style);
void astro_figure_free(AstroFigure *figure);

/* Draws what has changed since the previous frame, and copies the page. colouring: of each panel.
 */
void astro_figure_draw(AstroFigure *figure, const AstroPanel *panels, guint n_panels,
                       AstroColouring *const *colouring, const char *title,
                       const AstroRenderTarget *target);

/* The rectangle of a panel's pixels in the frame that was drawn last. */
void astro_figure_place(const AstroFigure *figure, guint panel, const AstroRenderTarget *target,
                        AstroRectangle *place);
/* Draws grid lines over the pixels of all panels, beams, and points. */
void astro_figure_finish(AstroFigure *figure, const AstroPanel *panels, guint n_panels,
                         const AstroRenderTarget *target);

guint32 astro_figure_blank(const AstroRenderStyle *style); /* 0xRRGGBB of NaN */

G_END_DECLS
