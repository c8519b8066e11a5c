/* confdefs.h */
#define PACKAGE_NAME "gst-astro"
#define PACKAGE_TARNAME "gst-astro"
#define PACKAGE_VERSION "0.1.0"
#define PACKAGE_STRING "gst-astro 0.1.0"
#define PACKAGE_BUGREPORT ""
#define PACKAGE_URL ""
#define PACKAGE "gst-astro"
#define VERSION "0.1.0"
/* end confdefs.h.  */

int
main (void)
{

  ;
  return 0;
}
