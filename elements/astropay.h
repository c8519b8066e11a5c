/* astropay: voltages and spectra to packets. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_PAY astro_pay_get_type()
G_DECLARE_FINAL_TYPE(AstroPay, astro_pay, ASTRO, PAY, GstElement)
GST_ELEMENT_REGISTER_DECLARE(astropay);

G_END_DECLS
