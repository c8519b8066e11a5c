# The web site, in site/ of the build tree, and the Debian packages, in packages/.
site_environment = here=`pwd`; export GST_PLUGIN_PATH_1_0=$$here/elements/.libs ASTRO_GRAPHS=`cd $(srcdir)/graphs && pwd` \
  GST_REGISTRY_1_0=$$here/site.registry PYTHONDONTWRITEBYTECODE=1; \
  site_python=$(PYTHON_GI); test "$$site_python" != no || site_python=python3
.PHONY: site check-site deb check-deb
site: all
	@if test -e core/api/GstAstro-1.0.gir && command -v gi-docgen >/dev/null; then $(MAKE) $(AM_MAKEFLAGS) api-pages; \
	  else echo 'site: without pages of the API, for which gi-docgen or the typelib is missing'; fi
	@$(site_environment); $$site_python $(srcdir)/doc/site/make-site $(srcdir) . site
# Pages have to fit a telephone.
check-site: site
	@$(site_environment); $$site_python $(srcdir)/doc/site/check-narrow site

deb:
	$(MAKE) $(AM_MAKEFLAGS) distdir
	rm -rf packages && mkdir packages && mv $(distdir) packages/source
	cd packages/source && DEB_BUILD_OPTIONS="parallel=`nproc` $$DEB_BUILD_OPTIONS" NVCC='$(NVCC)' NVCC_ARCH='$(NVCC_ARCH)' \
	  dpkg-buildpackage -us -uc -b $(if $(NVCC),-Ppkg.gst-astro.cuda)
	rm -rf packages/source
	@ls packages/*.deb
	@test -n '$(NVCC)' || echo 'deb: without gst-astro-cuda, as configure was not given nvcc or found none'
# Installs and tries them where nothing else is installed.
check-deb: deb
	$(srcdir)/debian/try packages
CLEANFILES += site.registry
.PHONY: clean-local-site
clean-local-site:
	rm -rf site packages
clean-local: clean-local-site

dist_files += doc/site/make-site doc/site/check-narrow doc/site/style.css doc/site/pictures.txt
dist_files += debian/changelog debian/control debian/copyright debian/rules debian/source/format debian/try \
  debian/gst-astro.lintian-overrides debian/gst-astro.install debian/gst-astro-cuda.install debian/gst-astro-dev.install debian/gst-astro-doc.install \
  debian/gst-astro-ms.install debian/gst-astro-mpi.install debian/python3-gst-astro.install
